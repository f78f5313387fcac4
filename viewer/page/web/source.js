// Reads the run of this page from its sections, each with a length and a checksum.

// Longest time for which decoding blocks the page [ms].
const SLICE = 7;

class Damaged extends Error {}

// Return a function that lets the page draw and react after each slice of time.
function makePacer() {
  let end = performance.now() + SLICE;
  const channel = new MessageChannel();
  return async () => {
    if (performance.now() < end) return;
    await new Promise((resolve) => { channel.port1.onmessage = resolve; channel.port2.postMessage(0); });
    end = performance.now() + SLICE;
  };
}

const CHECKSUMS = new Int32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

async function fromBase64(text, size, pace) {
  text = text.trim();
  if (Math.ceil(size / 3) * 4 !== text.length) return null;
  const out = new Uint8Array(size), step = 1 << 18;
  let at = 0;
  try {
    for (let i = 0; i < text.length; i += step) {
      const piece = text.slice(i, i + step);
      if (Uint8Array.fromBase64) {
        const bytes = Uint8Array.fromBase64(piece);
        out.set(bytes, at);
        at += bytes.length;
      } else for (let bytes = atob(piece), k = 0; k < bytes.length; k++) out[at++] = bytes.charCodeAt(k);
      await pace();
    }
  } catch { return null; }
  return at === size ? out : null;
}

async function checksum(bytes, pace) {
  let sum = -1;
  for (let i = 0; i < bytes.length;) {
    for (const end = Math.min(i + (1 << 17), bytes.length); i < end;
      i++) sum = CHECKSUMS[(sum ^ bytes[i]) & 255] ^ (sum >>> 8);
    await pace();
  }
  return ~sum >>> 0;
}

async function unzip(bytes, size, pace) {
  const out = new Uint8Array(size),
    reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  let at = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    if (at + value.length > size) return null;
    out.set(value, at);
    at += value.length;
    await pace();
  }
  return at === size ? out : null;
}

const ARRAYS = { i4: Int32Array, i2: Int16Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array, f4: Float32Array,
  f8: Float64Array };

// Return the bytes of values from planes: all lowest bytes, all second bytes, ...
async function unplane(bytes, width, pace) {
  const count = bytes.length / width, out = new Uint8Array(bytes.length);
  for (let i = 0; i < count;) {
    const end = Math.min(i + (1 << 16), count);
    for (let k = 0; k < width; k++) for (let j = i, from = k * count + i, to = i * width + k; j < end;
      j++, from++, to += width) out[to] = bytes[from];
    i = end;
    await pace();
  }
  return out;
}

// Sum along rows, in place: integers, or the bits of other numbers as integers.
async function sumUp(buffer, width, row, pace) {
  const values = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Uint32Array }[width](buffer);
  const count = buffer.byteLength / width;
  for (let start = 0; start < count; start += row) {
    const end = Math.min(start + row, count);
    for (let i = start + 1; i < end;) {
      const stop = Math.min(i + (1 << 16), end);
      if (width < 8) for (; i < stop; i++) values[i] += values[i - 1];
      else for (; i < stop; i++) {
        const low = values[2 * i] + values[2 * i - 2];
        values[2 * i] = low;
        values[2 * i + 1] += values[2 * i - 1] + (low > 0xffffffff ? 1 : 0);
      }
      if (stop - start > 4096) await pace();
    }
    if (row <= 4096 && start % (16 * row) === 0) await pace();
  }
}

class PageFile {
  constructor() {
    const element = document.getElementById("cv-manifest");
    try {
      this.manifest = JSON.parse(element.textContent);
    } catch { throw new Damaged("This file is damaged: the description of the run cannot be read."); }
    const { format } = this.manifest;
    if (format !== 1) throw new Damaged(`This page has format ${format}, which its own script cannot read.`);
    this.pace = makePacer();
    this.read = 0;
    this.size = Object.values(this.manifest.sections).reduce((sum, each) => sum + each.bytes, 0);
    // Called with the share of the page that has been read.
    this.onRead = () => {};
  }

  has(name) { return name in this.manifest.sections; }

  // Return a section: an array, JSON, or the bytes of a file.
  async section(name) {
    const about = this.manifest.sections[name], element = document.getElementById("cv-" + name), { pace } = this;
    const damaged = () => new Damaged(
      `This file is damaged: section “${name}” is incomplete or was changed. Save the run's page again.`);
    if (!about || !element) throw damaged();
    const packed = await fromBase64(element.textContent, about.bytes, pace);
    element.remove();
    if (!packed || await checksum(packed, pace) !== about.crc32) throw damaged();
    this.onRead((this.read += about.bytes) / this.size);
    if (about.dtype === "file") return packed;
    const raw = await unzip(packed, about.raw, pace).catch(() => null);
    if (!raw) throw damaged();
    if (about.dtype === "json") return JSON.parse(new TextDecoder().decode(raw));
    const kind = ARRAYS[about.dtype], width = kind.BYTES_PER_ELEMENT;
    if (raw.length % width || raw.length / width !== about.shape.reduce((a, b) => a * b, 1)) throw damaged();
    const bytes = about.planes && width > 1 ? await unplane(raw, width, pace) : raw;
    if (about.delta) await sumUp(bytes.buffer, width, about.shape[about.shape.length - 1], pace);
    return new kind(bytes.buffer);
  }
}

// Flags of a row: it holds a contact; the contact is turned; its force has world axes; it has none along them.
const FILLED = 1, TURNED = 2, IN_WORLD = 4, NO_WORLD = 8;

// Frames of a run. Another source, such as one that gets them from a server, has the same methods. Contacts are rows, by
// frame, sensor and slot.
class FileSource extends PageFile {
  constructor() {
    super();
    this.count = this.manifest.frames.count;
    this.bodies = this.manifest.bodies.length;
    this.turns = new Float64Array(9 * this.bodies);
    this.places = new Float64Array(3 * this.bodies);
    this.hasContacts = false;
  }

  async readMotion() {
    [this.times, this.steps, this.positions, this.quaternions] = [
      await this.section("times"), await this.section("steps"), await this.section("positions"),
        await this.section("quaternions"),
    ];
  }

  async readCurves() {
    const values = await this.section("curves");
    this.curves = this.manifest.curves.map((curve, i) => ({ ...curve, values: values.subarray(i * this.count,
      (i + 1) * this.count) }));
    this.events = await this.section("events");
    this.findings = this.has("findings") ? await this.section("findings") : [];
  }

  async readContacts() {
    const { contacts, sensors } = this.manifest;
    const read = (name) => this.section(name);
    const counts = await read("frame_rows");
    [this.rowSensor, this.rowSlot, this.rowFlags, this.rowFound] = [
      await read("row_sensor"), await read("row_slot"), await read("row_flags"), await read("row_found"),
    ];
    [this.rowGeom1, this.rowGeom2] = [await read("row_geom1"), await read("row_geom2")];
    const values = await read("values"), total = contacts.values, rows = contacts.rows;
    this.columns = Object.fromEntries(contacts.columns.map((name, i) => [name,
      values.subarray(i * total, (i + 1) * total)]));
    this.firstRow = new Uint32Array(counts.length + 1);
    for (let i = 0; i < counts.length; i++) this.firstRow[i + 1] = this.firstRow[i] + counts[i];
    // Values are sorted by sensor and slot, then by frame.
    const slots = 1 + sensors.reduce((most, sensor) => Math.max(most, sensor.slots), 0);
    const next = new Uint32Array(sensors.length * slots + 1);
    this.rowValue = new Int32Array(rows).fill(-1);
    const key = (row) => this.rowSensor[row] * slots + this.rowSlot[row];
    for (let row = 0; row < rows; row++) {
      if (this.rowFlags[row] & FILLED) next[key(row) + 1]++;
      if (!(row & 0xffff)) await this.pace();
    }
    for (let i = 1; i < next.length; i++) next[i] += next[i - 1];
    for (let row = 0; row < rows; row++) {
      if (this.rowFlags[row] & FILLED) this.rowValue[row] = next[key(row)]++;
      if (!(row & 0xffff)) await this.pace();
    }
    this.round = contacts.precision === 32 ? Math.fround : (value) => value;
    this.hasContacts = true;
  }

  time(frame) { return this.times[frame]; }

  // Return the frame at a time, or the last one before it.
  frameAt(time) { return lastOf(this.count, (i) => this.times[i] <= time + 1e-9); }

  // Decode the poses of the bodies into `turns`, nine numbers each, and `places`.
  pose(frame) {
    const { positions, quaternions, count, turns, places } = this, { unit: step } = this.manifest.poses;
    for (let body = 0; body < this.bodies; body++) {
      for (let i = 0; i < 3; i++) places[3 * body + i] = step * positions[(3 * body + i) * count + frame];
      const at = 4 * body * count + frame;
      const turn = turnOf(quaternions[at], quaternions[at + count], quaternions[at + 2 * count],
        quaternions[at + 3 * count]);
      for (let i = 0; i < 9; i++) turns[9 * body + i] = turn[i];
    }
  }

  // Return the number of the kept contacts that are shown at a frame, and their first and last row.
  contactFrame(frame) { return Math.floor(frame / this.manifest.contacts.every); }
  rows(frame) {
    const at = this.contactFrame(frame);
    return this.hasContacts ? [this.firstRow[at], this.firstRow[at + 1]] : [0, 0];
  }

  // Return three numbers of a row that holds a contact.
  vector(prefix, row, names = ["x", "y", "z"]) {
    return names.map((name) => this.columns[prefix + "_" + name][this.rowValue[row]]);
  }

  // Return force or torque along the axes of the contact, or of the world for a row that is IN_WORLD.
  along(kind, row) { return this.vector(kind, row, ["normal", "tangent0", "tangent1"]); }

  tangent1(row) {
    const n = this.vector("normal", row), t = this.vector("tangent0", row), r = this.round;
    return [
      r(r(n[1] * t[2]) - r(n[2] * t[1])), r(r(n[2] * t[0]) - r(n[0] * t[2])), r(r(n[0] * t[1]) - r(n[1] * t[0])),
    ];
  }

  // Return force or torque along the axes of the world; null if the engine does not report it.
  world(kind, row, t1 = this.tangent1(row)) {
    const flags = this.rowFlags[row], f = this.along(kind, row), r = this.round;
    if (flags & IN_WORLD) return f;
    if (flags & NO_WORLD) return null;
    const n = this.vector("normal", row), t = this.vector("tangent0", row);
    return [0, 1, 2].map((i) => r(r(r(f[0] * n[i]) + r(f[1] * t[i])) + r(f[2] * t1[i])));
  }

  // Return rows as lines of the table of `contact-viewer export`.
  csvLines(from, to) {
    const { manifest, rowFlags } = this, names = manifest.sensors.map((sensor) => csvText(sensor.name));
    const geoms = manifest.contacts.geoms.map(csvText), nothing = ["NaN", "NaN", "NaN"], { columns } = manifest.csv;
    const every = manifest.contacts.every, lines = [];
    let frame = lastOf(this.firstRow.length - 1, (i) => this.firstRow[i] <= from);
    const texts = (vector) => vector ? vector.map(exactText) : nothing;
    for (let row = from; row < to; row++) {
      while (this.firstRow[frame + 1] <= row) frame++;
      const flags = rowFlags[row], filled = flags & FILLED, local = filled && !(flags & IN_WORLD);
      const t1 = local ? this.tangent1(row) : undefined, cells = {};
      const put = (prefix, axes, vector) => texts(vector).forEach((text, i) => { cells[prefix + axes[i]] = text; });
      cells.step = String(this.steps[frame * every]);
      cells.time = exactText(this.times[frame * every]);
      cells.sensor = names[this.rowSensor[row]];
      cells.slot = String(this.rowSlot[row]);
      cells.found = exactText(this.rowFound[row]);
      for (const kind of ["force", "torque"]) {
        put(kind + "_", ["normal", "tangent0", "tangent1"], local ? this.along(kind, row) : null);
        put(kind + "_", "xyz", filled ? this.world(kind, row, t1) : null);
      }
      cells.dist = filled ? exactText(this.columns.dist[this.rowValue[row]]) : "NaN";
      put("pos_", "xyz", filled ? this.vector("pos", row) : null);
      for (const axis of ["normal", "tangent0"]) put(axis + "_", "xyz", local ? this.vector(axis, row) : null);
      put("tangent1_", "xyz", t1);
      cells.geom1 = geoms[this.rowGeom1[row]];
      cells.geom2 = geoms[this.rowGeom2[row]];
      lines.push(columns.map((name) => cells[name]).join());
    }
    return lines.length ? lines.join("\n") + "\n" : "";
  }

  get csvHeading() { return this.manifest.csv.columns.map(csvText).join() + "\n"; }
}
