// Contacts as spheres and arrows: their sizes, their drawing, and the one under the pointer.

const BAR = 100, LIFT = 1.05, SHAFT_PER_SPHERE = 0.44, SPHERE = [6, 15], SHAFT = [3.2, 5], NEAREST_TO_ENDLESS = 0.3;
const HIDDEN_ARROWS = 0.45, HIDDEN_SPHERES = 0.3, IN_FRONT = 1.1, DIMMED = 0.3, BRIGHT_SIZE = 1.4, BRIGHT_LIGHT = 0.3,
  INSET = 6, MARK = 15, MARK_STEP = 9;

const bounded = (size, pixel, unit, [low, high]) => clamp(size, Math.max(low * unit, low) * pixel,
  Math.max(high * unit, low) * pixel);

// Spheres and arrows of the contacts of a frame.
class Glyphs {
  // `shown`: whether a sensor is, by its number; `layers`: flags of points, forces, normal, tangents, total and torque.
  constructor(source, frame, camera, unit, shown, layers, highlight) {
    const { scale, palette } = source.manifest;
    Object.assign(this, { source, camera, unit, layers, scale, palette, spheres: [], arrows: [] });
    const [from, to] = source.rows(frame), rows = [];
    for (let row = from; row < to; row++) {
      if (!(source.rowFlags[row] & FILLED) || !shown[source.rowSensor[row]]) continue;
      const pos = source.vector("pos", row);
      if (pos.every((v) => Math.abs(v) < 1e15)) rows.push([row, pos]);
    }
    const middle = (axis) => { const v = rows.map(([, pos]) => pos[axis]).sort((a, b) => a - b), h = v.length >> 1;
      return v.length % 2 ? v[h] : 0.5 * (v[h - 1] + v[h]); };
    const anchor = rows.length ? [0, 1, 2].map(middle) : camera.focus,
      pixel = Math.max(camera.pixelSize(anchor), 1e-12);
    this.sphere = bounded(scale.sphere * unit * pixel, pixel, unit, SPHERE);
    this.depth = Math.max(BAR * unit * pixel, scale.reach || 0);
    for (const [row, pos] of rows) this.add(row, pos);
    if (highlight) this.highlight(highlight);
    this.marks = this.arrows.flatMap((arrow) => this.mark(arrow));
  }

  // Return two white heads at the edge of the picture, where an arrow that starts inside it goes on.
  mark({ start, vector, nearer }) {
    const { camera, unit } = this, [across, up] = [camera.width,
      camera.height].map((size) => 1 - 2 * INSET * unit / size), m = camera.toClip;
    const edges = (p) => {
      const [x, y, w] = [0, 1, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
      return [across * w + x, across * w - x, up * w + y, up * w - y, w - 1e-9];
    };
    const inside = edges(start), rest = edges(plus(start, vector));
    if (rest.every((v) => v >= 0) || !inside.every((v) => v > 0)) return [];
    const share = Math.min(...inside.map((v, i) => rest[i] < 0 ? v / (v - rest[i]) : 1)),
      tip = plus(start, vector, share);
    const measure = camera.pixelSize(tip) * unit, along = unit3(vector, length(vector) / measure);
    return [MARK, MARK + MARK_STEP].map((back) => ({
      start: plus(tip, along, -back), width: MARK * measure, vector: along.map((v) => MARK * v),
        nearer: IN_FRONT * nearer, color: [1, 1, 1, 1],
    }));
  }

  add(row, pos) {
    const { source, camera, unit, layers, palette, scale } = this, flags = source.rowFlags[row], net = flags & IN_WORLD;
    const pixel = camera.pixelSize(pos), diameter = bounded(this.sphere, pixel, unit, SPHERE), radius = 0.5 * diameter;
    const width = bounded(SHAFT_PER_SPHERE * diameter, pixel, unit, SHAFT), away = camera.recession(pos);
    const perNewton = BAR * unit * pixel / scale.newtons, smallest = 0.5 / BAR * scale.newtons;
    const owner = { row, sensor: source.rowSensor[row], slot: source.rowSlot[row] };
    const arrow = (kind, start, axis, signed, color) => {
      const size = signed / Math.max(1 - signed * dot(axis, away), NEAREST_TO_ENDLESS);
      const vector = axis.map((v) => v * size), longest = Math.max(...vector.map(Math.abs));
      if (longest > 1e-15 && longest < 1e15) this.arrows.push({ ...owner, kind, start, vector, width, color,
        nearer: Math.max(Math.abs(size), this.depth) });
    };
    const whole = (kind, vector, factor, color) => {
      const size = vector && length(vector);
      if (size && size * factor >= 0.5 * unit * pixel) arrow(kind, pos, unit3(vector, size), size * factor, color);
    };
    const force = source.along("force", row);
    if (net && !force.some((v) => v !== 0)) return;
    if (layers.points) this.spheres.push({ ...owner, pos, radius, color: palette.point });
    if (!layers.forces) return;
    if (layers.total || net) whole(net ? "net" : "total", source.world("force", row), perNewton, palette.total);
    if (!net) {
      // The force on object 2, as the window draws it; of a turned contact, the force on object 1.
      const sign = flags & TURNED ? -1 : 1, [normal, t0] = ["normal", "tangent0"].map((name) =>
        source.vector(name, row).map((v) => sign * v));
      const along = [force[0], force[1], sign * force[2]], lifted = plus(pos, normal, LIFT * radius);
      [["normal", pos, normal, layers.normal], ["tangent0", lifted, t0, layers.tangents],
        ["tangent1", lifted, source.tangent1(row), layers.tangents]].forEach(([kind, start, axis, on], i) => {
        if (on && Math.abs(along[i]) >= smallest) arrow(kind, start, axis, along[i] * perNewton, palette[kind]);
      });
    }
    if (layers.torque) whole("torque", source.world("torque", row), perNewton * scale.torque, palette.torque);
  }

  // Draw one contact larger and brighter, and dim all others.
  highlight({ sensor, slot }) {
    const is = (each) => each.sensor === sensor && each.slot === slot;
    if (!this.spheres.some(is) && !this.arrows.some(is)) return;
    for (const each of [...this.spheres, ...this.arrows]) {
      const [r, g, b, a] = each.color;
      each.color = is(each) ? [r, g, b].map((v) => v + BRIGHT_LIGHT * (1 - v)).concat(a) : [r, g, b, a * DIMMED];
      if (is(each)) each.width ? each.width *= BRIGHT_SIZE : each.radius *= BRIGHT_SIZE;
    }
    for (const list of [this.spheres, this.arrows]) list.sort((a, b) => b.color[3] - a.color[3]);
  }

  // Return the glyph within a tolerance of a point [CSS px]; of several, the one nearest to the eye.
  at(x, y, tolerance) {
    const { camera } = this;
    let best = null;
    const offer = (gap, depth, owner) => {
      if (!(gap <= tolerance) || depth <= 0) return;
      gap = Math.max(gap, 0);
      if (!best || gap < best.gap || gap === best.gap && depth < best.depth) best = { gap, depth, owner };
    };
    for (const each of this.spheres) {
      const p = camera.project(each.pos);
      if (p) offer(Math.hypot(p[0] - x, p[1] - y) - each.radius / camera.pixelSize(each.pos), p[2], each);
    }
    for (const each of this.arrows) {
      const a = camera.project(each.start), b = camera.project(plus(each.start, each.vector));
      if (!a || !b) continue;
      const dx = b[0] - a[0], dy = b[1] - a[1],
        t = clamp(((x - a[0]) * dx + (y - a[1]) * dy) / Math.max(dx * dx + dy * dy, 1e-9), 0, 1);
      offer(Math.hypot(a[0] + t * dx - x, a[1] + t * dy - y) - 0.5 * each.width / camera.pixelSize(each.start),
        a[2] + t * (b[2] - a[2]), each);
    }
    return best && best.owner;
  }
}

const unit3 = (vector, size) => vector.map((v) => v / size);

class GizmoDrawer {
  constructor(gl, shaders) {
    this.gl = gl;
    const shaft = [-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0, -1, 0, 1, 1, 0, 1, 0, 1, 1],
      square = [-1, -1, 1, -1, 1, 1, -1, 1];
    this.kinds = [
      this.kind(shaders, "arrow", 3, shaft, [0, 1, 2, 0, 2, 3, 4, 5, 6], [["origin", 4], ["span", 4], ["color", 4]],
        HIDDEN_ARROWS),
      this.kind(shaders, "sphere", 2, square, [0, 1, 2, 0, 2, 3], [["sphere", 4], ["color", 4], ["nearer", 1]],
        HIDDEN_SPHERES),
    ];
  }

  kind(shaders, stem, width, corners, triangles, columns, opacity) {
    const gl = this.gl, hide = (text) => text.replace("\n", "\n#define HIDDEN\n"),
      row = columns.reduce((sum, [, size]) => sum + size, 0);
    const texts = [shaders[stem + ".vert"], shaders[stem + ".frag"]];
    const make = (data, target) => { const buffer = gl.createBuffer(); gl.bindBuffer(target, buffer);
      if (data) gl.bufferData(target, data, gl.STATIC_DRAW); return buffer; };
    const instances = gl.createBuffer(), mesh = make(new Float32Array(corners), gl.ARRAY_BUFFER);
    const drawn = texts.map((_, hidden) => {
      const program = compile(gl, ...(hidden ? texts.map(hide) : texts)), array = gl.createVertexArray();
      gl.bindVertexArray(array);
      const read = (name, buffer, ...about) => {
        const place = gl.getAttribLocation(program.program, name);
        if (place >= 0) attribute(gl, buffer, place, ...about);
      };
      read("corner", mesh, width, 4 * width, 0);
      let offset = 0;
      for (const [name, size] of columns) { read(name, instances, size, 4 * row, 4 * offset, 1); offset += size; }
      make(new Uint16Array(triangles), gl.ELEMENT_ARRAY_BUFFER);
      gl.bindVertexArray(null);
      return { program, array };
    });
    return { drawn, instances, row, count: triangles.length, opacity, room: 0, rows: 0 };
  }

  // Draw over a scene in the bound framebuffer.
  draw(glyphs, size) {
    const gl = this.gl, { camera } = glyphs, [arrows, spheres] = this.kinds;
    const nearer = IN_FRONT * glyphs.arrows.reduce((most, arrow) => Math.max(most, arrow.nearer), 0);
    const arrow = (a) => [...a.start, a.width, ...a.vector, a.nearer, ...a.color];
    this.upload(arrows, glyphs.arrows, arrow);
    this.upload(spheres, glyphs.spheres, (s) => [...s.pos, s.radius, ...s.color, nearer]);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.enable(gl.CULL_FACE);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    const draw = (kind, hidden) => {
      if (!kind.rows) return;
      const { program, array } = kind.drawn[hidden];
      program.use();
      gl.uniformMatrix4fv(program.at("view"), false, new Float32Array(camera.view));
      gl.uniformMatrix4fv(program.at("projection"), false, new Float32Array(camera.projection));
      gl.uniform1f(program.at("orthographic"), camera.orthographic ? 1 : 0);
      gl.uniform1f(program.at("pixel_size"), 2 / (camera.projection[5] * size[1]));
      gl.uniform2f(program.at("depth_range"), 0.5, 0.5);
      gl.uniform1f(program.at("opacity"), hidden ? kind.opacity : 1);
      gl.bindVertexArray(array);
      gl.drawElementsInstanced(gl.TRIANGLES, kind.count, gl.UNSIGNED_SHORT, 0, kind.rows);
    };
    // Parts behind geometry first, dimmed: what is in front then covers them.
    for (const hidden of [1, 0]) {
      gl.depthFunc(hidden ? gl.GREATER : gl.LEQUAL);
      gl.depthMask(!hidden);
      for (const kind of this.kinds) draw(kind, hidden);
    }
    gl.depthFunc(gl.ALWAYS);
    this.upload(arrows, glyphs.marks, arrow);
    draw(arrows, 0);
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
    gl.bindVertexArray(null);
  }

  upload(kind, glyphs, numbers) {
    const gl = this.gl, data = new Float32Array(kind.row * glyphs.length);
    glyphs.forEach((glyph, i) => data.set(numbers(glyph), kind.row * i));
    kind.rows = glyphs.length;
    gl.bindBuffer(gl.ARRAY_BUFFER, kind.instances);
    if (data.length > kind.room) { kind.room = 2 * data.length; gl.bufferData(gl.ARRAY_BUFFER, 4 * kind.room,
      gl.DYNAMIC_DRAW); }
    if (data.length) gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
  }
}
