// Vectors, rotations and matrices: plain arrays of numbers. Matrices of four rows are stored by column, as WebGL has them.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, factor = 1) => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const size = length(a) || 1; return [a[0] / size, a[1] / size, a[2] / size]; };
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// A vector rotated by nine numbers, by row.
const rotated = (t, v) => [0, 3, 6].map((r) => t[r] * v[0] + t[r + 1] * v[1] + t[r + 2] * v[2]);

// The last of `count` numbers from 0 that passes a test, which all numbers before it pass too; 0 if none passes.
function lastOf(count, passes) {
  let low = 0, high = count - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (passes(middle)) low = middle; else high = middle - 1; }
  return low;
}

// The rotation of a quaternion w, x, y, z: nine numbers, by row.
function turnOf(w, x, y, z) {
  const s = 2 / (w * w + x * x + y * y + z * z || 1);
  return [
    1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
    s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
    s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y),
  ];
}

// Functions from the frame of a body, or of the world (-1), to the world: of a direction, and of a point.
function poseOf(body, turns, places) {
  if (body < 0) return { turn: (v) => v, at: (v) => v };
  const turn = (v) => rotated(turns.subarray(9 * body, 9 * body + 9), v);
  return { turn, at: (v) => plus(turn(v), places.subarray(3 * body, 3 * body + 3)) };
}

function product(a, b) {
  const out = new Float64Array(16);
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let i = 0; i < 4; i++) sum += a[4 * i + row] * b[4 * column + i];
      out[4 * column + row] = sum;
    }
  return out;
}

// The matrix from the world to the eye, from the eye's position and its axes.
function viewMatrix(place, right, up, back) {
  return new Float64Array([
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, place), -dot(up, place), -dot(back, place), 1,
  ]);
}

function boxProjection(left, right, bottom, top, near, far, orthographic) {
  const w = right - left, h = top - bottom, d = far - near, out = new Float64Array(16);
  out[0] = (orthographic ? 2 : 2 * near) / w;
  out[5] = (orthographic ? 2 : 2 * near) / h;
  if (orthographic) {
    out[10] = -2 / d; out[12] = -(right + left) / w; out[13] = -(top + bottom) / h; out[14] = -(far + near) / d;
      out[15] = 1;
  } else {
    out[8] = (right + left) / w; out[9] = (top + bottom) / h; out[10] = -(far + near) / d; out[11] = -1;
    out[14] = -2 * far * near / d;
  }
  return out;
}
