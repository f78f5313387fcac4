// Triangles of MuJoCo's shapes. A vertex has seven numbers: position, share of a capsule's length that moves it along z,
// normal. Texture coordinates of meshes are an array of their own.

const ROUND = 40;

function shape(vertices, triangles, coordinates = null) {
  return { vertices: new Float32Array(vertices), triangles: new Uint32Array(triangles), coordinates };
}

function boxShape() {
  const vertices = [], triangles = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [-1, 1]) {
      const first = vertices.length / 7, normal = [0, 0, 0];
      normal[axis] = side;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const place = [0, 0, 0];
        place[axis] = side; place[(axis + 1) % 3] = u; place[(axis + 2) % 3] = v;
        vertices.push(...place, 0, ...normal);
      }
      const [a, b, c, d] = side > 0 ? [0, 1, 2, 3] : [0, 3, 2, 1];
      triangles.push(first + a, first + b, first + c, first + a, first + c, first + d);
    }
  return shape(vertices, triangles);
}

// Rings of vertices about z, from (radius, height, shift, normal's radius, normal's height), bottom first.
function turned(rings) {
  const vertices = [], triangles = [], row = ROUND + 1;
  rings.forEach(([radius, height, shift, out, up], ring) => {
    for (let i = 0; i <= ROUND; i++) {
      const angle = 2 * Math.PI * i / ROUND, x = Math.cos(angle), y = Math.sin(angle);
      vertices.push(radius * x, radius * y, height, shift, out * x, out * y, up);
      if (ring && i) {
        const a = (ring - 1) * row + i - 1, b = ring * row + i - 1;
        triangles.push(a, a + 1, b + 1, a, b + 1, b);
      }
    }
  });
  return shape(vertices, triangles);
}

// Sphere and capsule: a sphere is a capsule without length.
function ballShape() {
  const rings = [];
  for (const side of [-1, 1])
    for (let i = 0; i <= ROUND / 4; i++) {
      const angle = Math.PI / 2 * (side < 0 ? i / (ROUND / 4) - 1 : i / (ROUND / 4));
      rings.push([Math.cos(angle), Math.sin(angle), side, Math.cos(angle), Math.sin(angle)]);
    }
  return turned(rings);
}

function cylinderShape() {
  return turned([[0, -1, 0, 0, -1], [1, -1, 0, 0, -1], [1, -1, 0, 1, 0], [1, 1, 0, 1, 0], [1, 1, 0, 0, 1],
    [0, 1, 0, 0, 1]]);
}

function planeShape() {
  return shape([-1, -1, 0, 0, 0, 0, 1, 1, -1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, -1, 1, 0, 0, 0, 0, 1],
    [0, 1, 2, 0, 2, 3]);
}

// A height field: its surface and four walls down to the base. Heights in metres, row by row.
function fieldShape(heights, rows, columns, [halfX, halfY, , base], pace) {
  const points = [], triangles = [];
  const at = (row, column, z) => [halfX * (2 * column / (columns - 1) - 1), halfY * (2 * row / (rows - 1) - 1), z];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      points.push(at(row, column, heights[row * columns + column]));
      if (!row || !column) continue;
      const b = row * columns + column, a = b - columns;
      triangles.push(a - 1, a, b, a - 1, b, b - 1);
    }
  const edge = [];
  for (let i = 0; i < columns; i++) edge.push([0, i]);
  for (let i = 1; i < rows; i++) edge.push([i, columns - 1]);
  for (let i = columns - 2; i >= 0; i--) edge.push([rows - 1, i]);
  for (let i = rows - 2; i >= 0; i--) edge.push([i, 0]);
  edge.forEach(([row, column], i) => {
    points.push(at(row, column, heights[row * columns + column]), at(row, column, -base));
    if (!i) return;
    const b = points.length - 2;
    triangles.push(b - 2, b - 1, b + 1, b - 2, b + 1, b);
  });
  return meshShape(new Float32Array(points.flat()), new Uint32Array(triangles), null, 0.9, pace);
}

// Normals of a mesh: smooth where triangles meet at less than about 40 degrees, else an edge. Vertices that differ in
// their texture coordinates alone share theirs.
async function meshShape(points, triangles, coordinates, crease, pace) {
  const count = points.length / 3, corners = triangles.length, places = new Map();
  const same = new Uint32Array(count), normals = new Float32Array(corners), first = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const key = coordinates ? points.subarray(3 * i, 3 * i + 3).join() : i;
    if (coordinates && places.has(key)) same[i] = places.get(key);
    else { same[i] = i; if (coordinates) places.set(key, i); }
    if (coordinates && !(i & 1023)) await pace();
  }
  for (let face = 0; face < corners; face += 3) {
    const a = 3 * triangles[face], b = 3 * triangles[face + 1], c = 3 * triangles[face + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    normals[face] = uy * vz - uz * vy;
    normals[face + 1] = uz * vx - ux * vz;
    normals[face + 2] = ux * vy - uy * vx;
    for (let i = 0; i < 3; i++) first[same[triangles[face + i]] + 1]++;
    if (!(face & 0xfff)) await pace();
  }
  for (let i = 0; i < count; i++) first[i + 1] += first[i];
  const next = first.slice(0, count), around = new Uint32Array(corners);
  for (let i = 0; i < corners; i++) {
    around[next[same[triangles[i]]]++] = i;
    if (!(i & 0xffff)) await pace();
  }
  // A vertex becomes as many as there are groups of faces about it that look the same way.
  let vertices = new Float32Array(14 * count), uv = coordinates && new Float32Array(4 * count), made = 0;
  const out = new Uint32Array(corners);
  for (let point = 0; point < count; point++) {
    const groups = [];
    for (let i = first[point]; i < first[point + 1]; i++) {
      const corner = around[i], face = corner - corner % 3, x = normals[face], y = normals[face + 1],
        z = normals[face + 2];
      const size = Math.sqrt(x * x + y * y + z * z);
      const meets = (g) =>
        x * g.x + y * g.y + z * g.z >= crease * size * Math.sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
      let group = groups.find(meets);
      if (!group) groups.push(group = { x: 0, y: 0, z: 0, corners: [] });
      group.x += x; group.y += y; group.z += z;
      group.corners.push(corner);
    }
    for (const group of groups) {
      const size = Math.sqrt(group.x * group.x + group.y * group.y + group.z * group.z) || 1, own = new Map();
      for (const corner of group.corners) {
        const vertex = triangles[corner];
        if (!own.has(vertex)) {
          if (7 * made + 7 > vertices.length) {
            const wider = new Float32Array(2 * vertices.length);
            wider.set(vertices);
            vertices = wider;
            if (uv) { const widened = new Float32Array(2 * uv.length); widened.set(uv); uv = widened; }
          }
          vertices.set([points[3 * vertex], points[3 * vertex + 1], points[3 * vertex + 2], 0, group.x / size,
            group.y / size, group.z / size], 7 * made);
          if (uv) { uv[2 * made] = coordinates[vertex]; uv[2 * made + 1] = coordinates[count + vertex]; }
          own.set(vertex, made++);
        }
        out[corner] = own.get(vertex);
      }
    }
    if (!(point & 255)) await pace();
  }
  return { vertices: vertices.subarray(0, 7 * made), triangles: out, coordinates: uv && uv.subarray(0, 2 * made) };
}
