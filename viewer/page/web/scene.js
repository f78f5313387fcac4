// Draws a scene of MuJoCo's shapes with WebGL2: MuJoCo's lights, one soft shadow, textures, sky and haze.

const MOST_LIGHTS = 8;
// Numbers of an instance that never change: scale and shift, colour, material, mapping of the texture.
const STILL = 16;
const SHADOW_SIZES = [0, 1024, 2048];

const SCENE_VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec4 corner;
layout(location=1) in vec3 normal;
layout(location=2) in vec2 coordinate;
layout(location=3) in vec4 row0;
layout(location=4) in vec4 row1;
layout(location=5) in vec4 row2;
layout(location=6) in vec4 size;
layout(location=7) in vec4 color;
layout(location=8) in vec4 look;
layout(location=9) in vec4 mapping;
uniform mat4 toClip;
uniform mat4 toShadow;
uniform int kind;
uniform float lift;           // along the normal, so that a surface does not shade itself [m]
out vec3 place;
out vec3 facing;
out vec3 texel;
out vec4 tint;
out vec3 shine;
out vec4 shaded;
void main() {
  vec3 local = corner.xyz * size.xyz + vec3(0.0, 0.0, corner.w * size.w);
  vec4 at = vec4(local, 1.0);
  place = vec3(dot(row0, at), dot(row1, at), dot(row2, at));
  vec3 n = normal / size.xyz;
  facing = vec3(dot(row0.xyz, n), dot(row1.xyz, n), dot(row2.xyz, n));
  // A flat texture lies on the side of the shape that faces this way. It repeats per side, or per two metres.
  vec3 side = abs(normal);
  bool isTop = side.z >= max(side.x, side.y);
  vec2 p = isTop ? local.xy : side.x > side.y ? local.yz : local.xz;
  vec2 h = isTop ? size.xy : side.x > side.y ? size.yz : size.xz;
  vec2 half_turns = mapping.w > 0.5 ? mapping.xy * p * vec2(1.0, -1.0) + 1.0
    : mapping.xy * (mapping.z > 0.5 ? h + p * vec2(1.0, -1.0) : 1.0 + p / h * vec2(1.0, -1.0));
  texel = kind == 1 ? vec3(0.5 * half_turns, 0.0) : kind == 2 ? vec3(coordinate, 0.0) : local * mapping.xyz;
  tint = color;
  shine = look.xyz;
  shaded = toShadow * vec4(place + lift * normalize(facing), 1.0);
  gl_Position = toClip * vec4(place, 1.0);
}`;

const SCENE_FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2DShadow;
in vec3 place;
in vec3 facing;
in vec3 texel;
in vec4 tint;
in vec3 shine;
in vec4 shaded;
uniform int kind;
uniform sampler2D flat_texture;
uniform samplerCube cube;
uniform sampler2DShadow shadow;
uniform float shadowTexel;    // 0 without shadows
uniform vec3 eye;
uniform vec3 ahead;           // of a camera without perspective, else 0
uniform int lights;
uniform vec4 light[6 * ${MOST_LIGHTS}];
uniform vec4 haze;            // colour, distance at which it is complete; 0 without
uniform float backside;       // opacity of a plane seen from below
uniform float exposure;
out vec4 pixel;
float lit() {
  vec3 p = shaded.xyz / shaded.w;
  if (abs(p.x) > 1.0 || abs(p.y) > 1.0 || p.z > 1.0) return 1.0;
  p = 0.5 * p + 0.5;
  float sum = 0.0;
  for (int x = -1; x <= 1; x++) for (int y = -1; y <= 1; y++)
    sum += texture(shadow, p + vec3(shadowTexel * vec2(x, y), 0.0));
  // Towards the edge of the map it fades.
  vec2 edge = smoothstep(0.38, 0.5, abs(p.xy - 0.5));
  return mix(sum / 9.0, 1.0, max(edge.x, edge.y));
}
void main() {
  vec4 base = tint;
  if (kind == 1 || kind == 2) base *= texture(flat_texture, texel.xy);
  if (kind == 3) base *= texture(cube, texel);
  vec3 toEye = normalize(dot(ahead, ahead) > 0.0 ? -ahead : eye - place);
  vec3 n = normalize(facing);
  if (!gl_FrontFacing) { n = -n; base.a *= backside; }
  vec3 sum = shine.x * base.rgb, gloss = vec3(0.0);
  for (int i = 0; i < lights; i++) {
    vec4 a = light[6 * i], b = light[6 * i + 1], c = light[6 * i + 2], d = light[6 * i + 3], e = light[6 * i + 4];
    vec3 way = a.w > 0.5 ? a.xyz - place : -b.xyz;
    float far = length(way);
    vec3 to = way / max(far, 1e-9);
    float strength = 1.0;
    if (a.w > 0.5) {
      vec3 fade = light[6 * i + 5].xyz;
      strength /= max(fade.x + far * (fade.y + far * fade.z), 1e-6);
      if (b.w > -0.5) {
        float cone = dot(-to, b.xyz);
        strength *= cone < b.w ? 0.0 : pow(max(cone, 0.0), c.w);
      }
    }
    float front = max(dot(n, to), 0.0);
    float seen = e.w > 0.5 && shadowTexel > 0.0 && front > 0.0 ? lit() : 1.0;
    sum += base.rgb * (strength * e.rgb + strength * seen * front * c.rgb);
    float bright = pow(max(dot(n, normalize(to + toEye)), 0.0), max(128.0 * shine.z, 1.0));
    if (shine.y > 0.0 && front > 0.0) gloss += strength * seen * shine.y * bright * d.rgb;
  }
  vec3 color = sum + gloss;
  if (haze.w > 0.0) color = mix(color, haze.rgb, smoothstep(0.35, 1.0, distance(eye, place) / haze.w));
  pixel = vec4(color * exposure, base.a);
}`;

const SHADOW_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;

const SKY_VERTEX = `#version 300 es
uniform mat4 fromClip;
out vec3 way;
void main() {
  vec2 at = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  vec4 far = fromClip * vec4(at, 1.0, 1.0);
  way = far.xyz / far.w;
  gl_Position = vec4(at, 1.0, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in vec3 way;
uniform vec3 low;
uniform vec3 high;
out vec4 pixel;
void main() {
  pixel = vec4(mix(low, high, smoothstep(0.0, 0.8, normalize(way).z)), 1.0);
}`;

// Let an attribute read floats of a buffer; sizes in bytes. `divisor`: 1 for an attribute of instances.
function attribute(gl, buffer, place, size, stride, offset, divisor = 0) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
  gl.vertexAttribDivisor(place, divisor);
}

function compile(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  const places = {};
  return {
    program,
    use() {
      if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
        throw new Error("a shader was refused: " + gl.getProgramInfoLog(program)
          + gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader)));
      gl.useProgram(program);
      this.use = () => gl.useProgram(program);
    },
    at: (name) => name in places ? places[name] : (places[name] = gl.getUniformLocation(program, name)),
  };
}

// Return the description of a run with what the renderer adds: names of triangles, and the radius of every geom.
function sceneModel(manifest) {
  const reach = 40 * (manifest.extent || 1);
  const geoms = manifest.geoms.map((geom) => {
    const [a, b, c] = geom.size, { type } = geom, mesh = manifest.meshes[geom.mesh];
    const shape = { box: "box", plane: "plane", cylinder: "cylinder", mesh: "mesh" + geom.mesh,
      hfield: "field" + geom.hfield }[type] || "ball";
    const radius = type === "sphere" ? a : type === "capsule" ? a + b : type === "cylinder" ? Math.hypot(a, b)
      : mesh ? 0.5 * 65535 * length(mesh.step) : Math.hypot(a, b, c);
    return { ...geom, shape, radius };
  });
  return { ...manifest, geoms, reach, hasCoordinates: (shape) => !!manifest.meshes[+shape.slice(4)]?.texcoord };
}

class Scene {
  // `gl`: a WebGL2 context; `model`: from `sceneModel`.
  constructor(gl, model) {
    this.gl = gl;
    this.model = model;
    this.program = compile(gl, SCENE_VERTEX, SCENE_FRAGMENT);
    this.caster = compile(gl, SCENE_VERTEX, SHADOW_FRAGMENT);
    this.sky = compile(gl, SKY_VERTEX, SKY_FRAGMENT);
    this.nothing = gl.createVertexArray();
    this.textures = model.textures.map(() => null);
    this.shadowMap = null;
    this.shapes = new Map();
    this.white2 = this.texture2(new Uint8Array(4).fill(255), 1, 1);
    this.whiteCube = this.cubeTexture(Array(6).fill(new Uint8Array([255, 255, 255, 255])), 1);
    this.build();
  }

  texture2(pixels, width, height) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    this.image(gl.TEXTURE_2D, pixels, width, height);
    this.filtered(gl.TEXTURE_2D);
    return texture;
  }

  image(target, pixels, width, height) {
    const gl = this.gl;
    if (pixels instanceof Uint8Array) gl.texImage2D(target, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE,
      pixels);
    else gl.texImage2D(target, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  }

  cubeTexture(faces, size) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_CUBE_MAP, texture);
    faces.forEach((pixels, i) => this.image(gl.TEXTURE_CUBE_MAP_POSITIVE_X + i, pixels, size, size));
    this.filtered(gl.TEXTURE_CUBE_MAP);
    return texture;
  }

  filtered(target) {
    const gl = this.gl, sharp = gl.getExtension("EXT_texture_filter_anisotropic");
    gl.generateMipmap(target);
    gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    if (sharp && target === gl.TEXTURE_2D) gl.texParameterf(target, sharp.TEXTURE_MAX_ANISOTROPY_EXT, 8);
  }

  // Take the pictures of a texture: one, or six of a cube.
  setTexture(number, pictures) {
    this.textures[number] = pictures.length === 1 ? this.texture2(pictures[0]) : this.cubeTexture(pictures);
  }

  // Take the triangles of a shape.
  setShape(name, triangles) {
    const gl = this.gl;
    const entry = { count: triangles.triangles.length, coordinates: !!triangles.coordinates, buffers: [] };
    entry.vertices = this.buffer(gl.ARRAY_BUFFER, triangles.vertices);
    if (triangles.coordinates) entry.uv = this.buffer(gl.ARRAY_BUFFER, triangles.coordinates);
    entry.indices = this.buffer(gl.ELEMENT_ARRAY_BUFFER, triangles.triangles);
    this.shapes.set(name, entry);
    for (const group of this.groups) if (group.shape === name) this.layOut(group);
  }

  buffer(target, data) {
    const gl = this.gl, buffer = gl.createBuffer();
    gl.bindVertexArray(null);
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, data, gl.STATIC_DRAW);
    return buffer;
  }

  // Group the geoms by shape and texture: a group is one call.
  build() {
    const gl = this.gl, groups = new Map();
    for (const geom of this.model.geoms) {
      const material = this.model.materials[geom.material] || {}, texture = material.texture ?? -1;
      const kind = texture < 0 ? 0 : this.model.textures[texture].type !== "2d" ? 3
        : geom.shape.startsWith("mesh") && this.model.hasCoordinates(geom.shape) ? 2 : 1;
      const clear = geom.rgba[3] < 1, isFlat = geom.type === "plane";
      const key = [geom.shape, texture, kind, clear].join();
      if (!groups.has(key)) groups.set(key, { shape: geom.shape, texture, kind, clear, isFlat, geoms: [] });
      groups.get(key).geoms.push({ ...geom, material });
    }
    const rank = (group) => (group.clear ? 2 : 0) + (group.isFlat ? 1 : 0);
    this.groups = [...groups.values()].sort((a, b) => rank(a) - rank(b));
    this.order = this.groups.flatMap((group) => group.geoms);
    this.rows = new Float32Array(12 * this.order.length);
    const still = new Float32Array(STILL * this.order.length);
    this.order.forEach((geom, i) => this.putStill(geom, still, STILL * i));
    this.rowBuffer = this.buffer(gl.ARRAY_BUFFER, this.rows);
    this.stillBuffer = this.buffer(gl.ARRAY_BUFFER, still);
    let first = 0;
    for (const group of this.groups) { group.first = first; first += group.geoms.length; }
    for (const [name, make] of [["box", boxShape], ["ball", ballShape], ["cylinder", cylinderShape],
      ["plane", planeShape]])
      if (this.groups.some((group) => group.shape === name)) this.setShape(name, make());
    this.locals = this.order.map((geom) => ({ turn: turnOf(...geom.quat), pos: geom.pos, body: geom.body }));
    this.endless = this.order.flatMap((geom, i) => geom.type === "plane" && !(geom.size[0] > 0 && geom.size[1] > 0)
      ? [i] : []);
    this.casters = this.groups.filter((group) => !group.isFlat && !group.shape.startsWith("field"));
  }

  putStill(geom, out, at) {
    const [a, b, c] = geom.size, { material } = geom, repeat = material.repeat || [1, 1];
    const far = this.model.reach;
    const size = {
      plane: [a > 0 ? a : far, b > 0 ? b : far, 1, 0], box: [a, b, c, 0], sphere: [a, a, a, 0], capsule: [a, a, a, b],
      ellipsoid: [a, b, c, 0], cylinder: [a, a, b, 0],
    }[geom.type] || [1, 1, 1, 0];
    const own = geom.type === "capsule" ? [a, a, b] : size, isMesh = geom.type === "mesh" || geom.type === "hfield";
    out.set(size, at);
    out.set(geom.rgba, at + 4);
    out.set([material.emission || 0, material.specular ?? 0.5, material.shininess ?? 0.5, 0], at + 8);
    if (material.texture >= 0 && this.model.textures[material.texture].type === "2d") {
      out.set([repeat[0], /^(plane|box)$/.test(geom.type) ? repeat[1] : -repeat[1], material.uniform || isMesh ? 1 : 0,
        geom.type === "plane" && !(a > 0 && b > 0) ? 1 : 0], at + 12);
    } else out.set(material.uniform || isMesh ? [1, 1, 1, 0] : [1 / own[0], 1 / own[1], 1 / own[2], 0], at + 12);
  }

  layOut(group) {
    const gl = this.gl, shape = this.shapes.get(group.shape);
    if (!shape || group.array) return;
    group.array = gl.createVertexArray();
    group.count = shape.count;
    gl.bindVertexArray(group.array);
    attribute(gl, shape.vertices, 0, 4, 28, 0);
    attribute(gl, shape.vertices, 1, 3, 28, 16);
    if (shape.uv) attribute(gl, shape.uv, 2, 2, 8, 0);
    for (let i = 0; i < 3; i++) attribute(gl, this.rowBuffer, 3 + i, 4, 48, 48 * group.first + 16 * i, 1);
    for (let i = 0; i < 4; i++)
      attribute(gl, this.stillBuffer, 6 + i, 4, 4 * STILL, 4 * STILL * group.first + 16 * i, 1);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, shape.indices);
    gl.bindVertexArray(null);
  }

  // Compute the pose of every geom from those of the bodies.
  place(turns, places, camera) {
    const rows = this.rows;
    this.locals.forEach(({ turn, pos, body }, i) => {
      const at = 12 * i;
      if (body < 0) {
        for (let r = 0; r < 3; r++) {
          rows[at + 4 * r] = turn[3 * r]; rows[at + 4 * r + 1] = turn[3 * r + 1];
            rows[at + 4 * r + 2] = turn[3 * r + 2];
          rows[at + 4 * r + 3] = pos[r];
        }
        return;
      }
      const t = 9 * body;
      for (let r = 0; r < 3; r++) {
        const a = turns[t + 3 * r], b = turns[t + 3 * r + 1], c = turns[t + 3 * r + 2];
        rows[at + 4 * r] = a * turn[0] + b * turn[3] + c * turn[6];
        rows[at + 4 * r + 1] = a * turn[1] + b * turn[4] + c * turn[7];
        rows[at + 4 * r + 2] = a * turn[2] + b * turn[5] + c * turn[8];
        rows[at + 4 * r + 3] = a * pos[0] + b * pos[1] + c * pos[2] + places[3 * body + r];
      }
    });
    // An infinite plane follows the camera, in steps of its texture.
    for (const i of this.endless) {
      const at = 12 * i, material = this.order[i].material, repeat = material.repeat || [1, 1];
      for (let axis = 0; axis < 2; axis++) {
        const along = [rows[at + axis], rows[at + 4 + axis], rows[at + 8 + axis]];
        const start = [rows[at + 3], rows[at + 7], rows[at + 11]];
        const step = 2 / repeat[axis], shift = Math.round(dot(plus(camera.place, start, -1), along) / step) * step;
        if (isFinite(shift)) for (let r = 0; r < 3; r++) rows[at + 4 * r + 3] += shift * along[r];
      }
    }
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.rowBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, rows);
  }

  // Return the lights of the scene and of the camera as numbers for the shader, and their count.
  lightNumbers(turns, places, camera) {
    const out = new Float32Array(24 * MOST_LIGHTS), { lights, headlight } = this.model;
    let count = 0;
    this.shadowLight = null;
    const put = (place, direction, each, point, shadowed) => {
      if (count === MOST_LIGHTS) return;
      const cone = point && each.cutoff < 180 ? Math.cos(each.cutoff * Math.PI / 180) : -1;
      out.set([...place, point ? 1 : 0, ...direction, cone, ...each.diffuse, each.exponent || 0, ...each.specular, 0,
        ...each.ambient, shadowed ? 1 : 0, ...(each.attenuation || [1, 0, 0]), 0], 24 * count++);
    };
    if (headlight)
      put(camera.place, camera.ahead, { ...headlight, cutoff: 180 }, false, false);
    for (const each of lights) {
      const { turn, at } = poseOf(each.body, turns, places), place = at(each.pos), direction = turn(unit(each.dir));
      const shadowed = each.shadow && !this.shadowLight;
      if (shadowed) this.shadowLight = { place, direction, each };
      put(place, direction, each, !each.directional, shadowed);
    }
    return [out, count];
  }

  // Return the light's view of the moving geoms near the middle of the picture.
  shadowMatrix(camera) {
    const { place, direction, each } = this.shadowLight, rows = this.rows, depths = [];
    // The middle is as far away as the moving geoms.
    for (let i = 0, step = Math.ceil(this.order.length / 100); i < this.order.length; i += step)
      if (this.order[i].body >= 0) depths.push(dot(plus([rows[12 * i + 3], rows[12 * i + 7], rows[12 * i + 11]],
        camera.place, -1), camera.ahead));
    const seen = depths.filter((depth) => depth > 0).sort((a, b) => a - b),
      depth = seen.length ? seen[seen.length >> 1] : camera.distance;
    const middle = plus(camera.place, camera.ahead, depth), reach = 1.6 * camera.height * camera.pixelSize(middle);
    const side = unit(cross(direction, Math.abs(direction[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0])),
      up = cross(side, direction);
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (const group of this.casters)
      for (let i = group.first; i < group.first + group.geoms.length; i++) {
        const at = [rows[12 * i + 3] - middle[0], rows[12 * i + 7] - middle[1], rows[12 * i + 11] - middle[2]];
        const radius = Math.min(this.order[i].radius ?? 0, reach);
        [side, up].forEach((axis, k) => {
          const s = dot(at, axis);
          if (Math.abs(s) > reach || !isFinite(s)) return;
          low[k] = Math.min(low[k], s - radius); high[k] = Math.max(high[k], s + radius);
        });
      }
    low = low.map((v) => isFinite(v) ? Math.max(v, -reach) : -reach); high = high.map((v) => isFinite(v) ? Math.min(v,
      reach) : reach);
    // Size and place change in steps: the edges of shadows do not swim while bodies move.
    const half = 2 ** (Math.ceil(4 * Math.log2(0.55 * Math.max(high[0] - low[0], high[1] - low[1], 0.05 * reach))) / 4);
    const grid = half / 64, at = [0, 1].map((k) => Math.round(0.5 * (low[k] + high[k]) / grid) * grid);
    const center = plus(plus(middle, side, at[0]), up, at[1]);
    if (each.directional) {
      const back = 6 * Math.max(half, reach);
      return product(boxProjection(-half, half, -half, half, 0, 2 * back, true),
        viewMatrix(plus(center, direction, -back), side, up, direction.map((v) => -v)));
    }
    // A lamp looks at the same square.
    const gap = plus(center, place, -1), far = Math.max(length(gap), 1e-3), to = unit(gap),
      right = unit(cross(to, Math.abs(to[2]) < 0.99 ? [0, 0, 1] : [0, 1, 0]));
    const near = Math.max(far - 4 * half, 0.05 * far), wide = Math.min(near * 1.3 * half / far, near * 3);
    return product(boxProjection(-wide, wide, -wide, wide, near, far + 8 * half),
      viewMatrix(place, right, cross(right, to), to.map((v) => -v)));
  }

  drawShadow(matrix, size) {
    const gl = this.gl;
    if (this.shadowMap?.size !== size) {
      if (this.shadowMap) { gl.deleteTexture(this.shadowMap.texture); gl.deleteFramebuffer(this.shadowMap.frame); }
      const texture = gl.createTexture(), frame = gl.createFramebuffer();
      gl.activeTexture(gl.TEXTURE2);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
      for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side,
        gl.CLAMP_TO_EDGE);
      for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side,
        gl.LINEAR);
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
      this.shadowMap = { texture, frame, size };
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowMap.frame);
    gl.viewport(0, 0, size, size);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.8, 4);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
    this.caster.use();
    gl.uniformMatrix4fv(this.caster.at("toClip"), false, new Float32Array(matrix));
    for (const group of this.casters) this.drawGroup(group);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawGroup(group) {
    if (!group.array) return;
    this.gl.bindVertexArray(group.array);
    this.gl.drawElementsInstanced(this.gl.TRIANGLES, group.count, this.gl.UNSIGNED_INT, 0, group.geoms.length);
  }

  // Draw into a framebuffer of a size [px]. `shadow`: index into SHADOW_SIZES. `ground`: colours of sky and haze.
  draw(turns, places, camera, frame, [width, height], shadow, ground) {
    const gl = this.gl, { program } = this;
    this.place(turns, places, camera);
    const [numbers, count] = this.lightNumbers(turns, places, camera);
    const size = this.shadowLight ? SHADOW_SIZES[shadow] : 0, toShadow = size ? this.shadowMatrix(camera) : null;
    if (size) this.drawShadow(toShadow, size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.viewport(0, 0, width, height);
    gl.clearColor(...ground.low, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
    program.use();
    const set = program.at;
    gl.uniformMatrix4fv(set("toClip"), false, new Float32Array(camera.toClip));
    gl.uniformMatrix4fv(set("toShadow"), false, new Float32Array(toShadow || camera.toClip));
    gl.uniform1f(set("shadowTexel"), size ? 1 / size : 0);
    gl.uniform3fv(set("eye"), camera.place);
    gl.uniform3fv(set("ahead"), camera.orthographic ? camera.ahead : [0, 0, 0]);
    gl.uniform1i(set("lights"), count);
    gl.uniform4fv(set("light"), numbers);
    gl.uniform1f(set("exposure"), ground.light);
    gl.uniform1f(set("lift"), size ? 3 / size / Math.hypot(toShadow[0], toShadow[4], toShadow[8]) : 0);
    ["flat_texture", "cube", "shadow"].forEach((name, i) => gl.uniform1i(set(name), i));
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, size ? this.shadowMap.texture : this.emptyShadow());
    for (const group of this.groups) {
      if (group.clear && !this.skyDrawn) { this.drawSky(camera, ground); program.use(); this.skyDrawn = true; }
      const texture = this.textures[group.texture];
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, group.kind !== 3 && texture || this.white2);
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_CUBE_MAP, group.kind === 3 && texture || this.whiteCube);
      gl.uniform1i(set("kind"), texture ? group.kind : 0);
      const isOpen = group.isFlat || group.shape.startsWith("field"), endless = group.isFlat && group.geoms.some((g) =>
        !(g.size[0] > 0 && g.size[1] > 0));
      const isBelow = group.isFlat && this.isBelow(group.first, camera);
      gl.uniform1f(set("backside"), group.isFlat ? 0.3 : 1);
      gl.uniform4f(set("haze"), ...ground.haze, endless ? this.model.reach * 0.98 : 0);
      gl[isOpen ? "disable" : "enable"](gl.CULL_FACE);
      gl[group.isFlat || group.clear ? "enable" : "disable"](gl.BLEND);
      gl.depthMask(!group.clear && !isBelow);
      this.drawGroup(group);
    }
    gl.depthMask(true);
    if (!this.skyDrawn) this.drawSky(camera, ground);
    this.skyDrawn = false;
  }

  emptyShadow() {
    return this.noShadow ??= (() => {
      const gl = this.gl, texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, 1, 1);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      return texture;
    })();
  }

  isBelow(i, camera) {
    const rows = this.rows, normal = [rows[12 * i + 2], rows[12 * i + 6], rows[12 * i + 10]];
    return dot(plus(camera.place, [rows[12 * i + 3], rows[12 * i + 7], rows[12 * i + 11]], -1), normal) < 0;
  }

  drawSky(camera, ground) {
    const gl = this.gl, { sky } = this;
    sky.use();
    gl.uniformMatrix4fv(sky.at("fromClip"), false, new Float32Array(camera.skyFromClip));
    gl.uniform3fv(sky.at("low"), ground.low.map((v) => v * ground.light));
    gl.uniform3fv(sky.at("high"), ground.high.map((v) => v * ground.light));
    gl.depthMask(false);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }
}
