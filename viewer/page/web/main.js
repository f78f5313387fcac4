// The page of a run: opens it, plays it, and draws scene, curves and tables.

const $ = (id) => document.getElementById("ui-" + id);
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
// Quality, best first: index into SHADOW_SIZES, samples per pixel, most pixels per CSS pixel.
const LEVELS = [[2, 4, 2], [1, 4, 2], [0, 4, 2], [0, 0, 2], [0, 0, 1], [0, 0, 0.7], [0, 0, 0.5]];
const TOO_SLOW = 42, SHOWN_ROWS = 200, SHOWN_EVENTS = 400, MOST_SENSORS = 400, MOST_LINES = 60, MOST_BARS = 16;
const NO_WEBGL =
  "This browser has no WebGL 2: the scene stays the picture of the start. Curves, events and tables work.";
const EVENTS = { begin: "begins", end: "ends", slip_begin: "slides", slip_end: "holds", creep_begin: "creeps",
  creep_end: "creeps no more" };
const LINE_COLORS = [
  [0.98, 0.6, 0.22], [0.25, 0.8, 0.94], [0.76, 0.6, 0.99], [0.96, 0.86, 0.32], [0.98, 0.5, 0.8], [0.66, 0.42, 0.24],
    [0.22, 0.62, 0.6], [0.8, 0.24, 0.8],
  [0.62, 0.7, 0.18], [0.48, 0.54, 0.62],
];
const MARKS = {
  previous: "M4 3h2v10H4zM13 3v10L6.5 8z", back: "M11 3v10L4.5 8z", play: "M4 2.5v11L13.5 8z",
    pause: "M4 3h3v10H4zM9 3h3v10H9z",
  step: "M5 3v10l6.5-5z", next: "M10 3h2v10h-2zM3 3v10l6.5-5z",
};
const KEYS = [
  ["Space", "play or pause"], ["← →", "one step"], ["Shift ← →", "ten steps"],
    ["N, Shift N", "next, previous event"],
    ["− =", "slower, faster"],
  ["Backspace", "to the start"], ["C", "contact points"], ["F", "contact forces"], ["P", "components or total"],
    ["S", "shadows"],
  ["[ ]", "camera of the scene"], ["Home", "first view"], ["Esc", "free camera, close the numbers"], ["Drag", "orbit"],
    ["Right drag", "pan (two fingers)"],
  ["Wheel", "zoom (pinch)"], ["Click", "pin a contact, copy its numbers"],
];

function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function makeButton(text, act) {
  return Object.assign(make("button", text), { type: "button", onclick: act });
}

function makeOptions(names, first = 0) {
  return names.map((name, i) => Object.assign(make("option", name), { value: i + first }));
}

function drawing(path, size = 16, color = "currentColor") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    shape = document.createElementNS(svg.namespaceURI, "path");
  for (const [name, value] of [["viewBox", "0 0 16 16"], ["width", size], ["height", size],
    ["aria-hidden", "true"]]) svg.setAttribute(name, value);
  shape.setAttribute("d", path);
  shape.setAttribute("fill", color);
  svg.append(shape);
  return svg;
}

async function copyText(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* in a frame it may be forbidden */ }
  const area = make("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  let done = false;
  try { done = document.execCommand("copy"); } catch { /* as above */ }
  area.remove();
  return done;
}

class Page {
  constructor(source) {
    this.source = source;
    const manifest = this.manifest = source.manifest;
    this.frame = clamp(manifest.start || 0, 0, source.count - 1);
    this.playing = false;
    this.speed = 1;
    this.clock = 0;
    this.shown = manifest.sensors.map(() => true);
    this.layers = { forces: true, ...manifest.layers };
    this.camera = new Camera(manifest);
    this.pinned = this.pointed = null;
    this.level = 0;
    this.shadows = true;
    this.intervals = [];
    this.dirty = true;
    this.digits = Math.max(3, stepDigits(manifest.timestep));
    this.poster = document.getElementById("cv-poster");
    this.showTexts();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    matchMedia("(prefers-color-scheme: dark)").addEventListener?.("change",
      (event) => this.setTheme(event.matches ? "dark" : "light"));
  }

  async open() {
    const { source } = this;
    source.onRead = (share) => this.progress(share);
    this.progress(0);
    await source.readMotion();
    const asked = this.askedTime();
    if (asked !== null) this.frame = source.frameAt(asked);
    source.pose(this.frame);
    this.camera.turnAbout(source.places);
    this.startPlayback();
    await source.readCurves();
    this.startCurves();
    this.showEvents();
    this.markEvent();
    this.showFindings();
    this.openScene();
    if (this.scene) await this.readGeometry();
    this.hasGeometry = !!this.scene;
    this.change();
    await source.readContacts();
    this.progress(1);
    this.reveal();
    this.change();
    $("download").disabled = $("copy").disabled = false;
  }

  progress(share) {
    $("progress").hidden = share >= 1;
    $("progress").firstElementChild.style.transform = `scaleX(${share})`;
  }

  // ---- Texts that never change

  showTexts() {
    const { manifest } = this, { versions } = manifest, last = manifest.frames.count;
    document.title = manifest.title;
    $("title").textContent = manifest.title;
    $("subtitle").textContent = [manifest.program !== manifest.title && manifest.program,
      `${last.toLocaleString("en")} ${manifest.frames.stride > 1 ? "frames" : "steps"}`,
      `${shortText(1e3 * manifest.timestep)} ms a step`, versions.engine].filter(Boolean).join(" · ");
    $("versions").textContent = [`contact-viewer ${versions.viewer}`, versions.engine,
      versions.mujoco && !versions.engine?.includes("MuJoCo") && `pictures and arrays: MuJoCo ${versions.mujoco}`]
      .filter(Boolean).join(" · ");
    for (const note of manifest.notes || []) $("notes").append(make("li", note));
    $("notes").hidden = !manifest.notes?.length;
    if (manifest.command) {
      const code = make("code"), copy = makeButton("Copy", () => this.copy(code.textContent, "the command"));
      $("command").append(make("span", "Open this step in contact-viewer:", "quiet"), code, copy);
      this.commandText = code;
    }
    for (const name of ["previous", "back", "play", "step", "next"]) $(name).append(drawing(MARKS[name]));
    $("speed").append(...makeOptions(SPEEDS.map((speed) => `${speed} ×`)));
    this.faster(0);
    $("camera").append(...makeOptions(["free camera", ...manifest.cameras.map((each) => each.name)], -1));
    $("camera").hidden = !manifest.cameras.length;
    for (const [keys, does] of KEYS) {
      const line = make("div"), kinds = make("span");
      kinds.append(make("kbd", keys));
      line.append(kinds, make("span", does));
      $("help").append(line);
    }
    $("keys").onclick = () => { $("help").hidden = !$("help").hidden;
      $("keys").setAttribute("aria-expanded", String(!$("help").hidden)); };
    $("theme").onclick = () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    $("download").disabled = $("copy").disabled = true;
    this.showLayers();
    this.showSensors();
    this.showLegend();
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = theme === "dark" ? "Light" : "Dark";
    this.colors = null;
    if (this.chart) this.drawCurves();
    this.change();
    this.sensorRows?.forEach(({ swatch }, i) => { swatch.style.background = this.sensorColor(i); });
    this.showContacts?.();
  }

  sensorColor(i) { return readable(this.manifest.sensors[i].color, document.documentElement.dataset.theme !== "dark"); }

  async copy(text, name) {
    this.say(await copyText(text) ? `Copied ${name}.` : "Copying is not allowed here.");
  }

  say(text) { this.note(text, 2500); }

  // Show a message for some time, or a text about the quality while there is no message.
  note(text, milliseconds = 0) {
    if (!milliseconds && this.noteTimer) return;
    clearTimeout(this.noteTimer);
    $("quality").textContent = $("status").textContent = text;
    $("quality").hidden = !text;
    this.noteTimer = milliseconds && setTimeout(() => { this.noteTimer = 0; this.note(this.qualityText()); },
      milliseconds);
  }

  showLayers() {
    const split = () => !this.layers.total, has = this.manifest.sensors.some((sensor) => !sensor.net);
    const buttons = [
      ["Points", "C", () => this.layers.points, () => { this.layers.points = !this.layers.points; }],
      ["Forces", "F", () => this.layers.forces, () => { this.layers.forces = !this.layers.forces; }],
      ["Total", "P", () => !split(), () => this.split(), has],
      ["Torque", "", () => this.layers.torque, () => { this.layers.torque = !this.layers.torque; },
        this.manifest.contacts.torques],
      ["Shadows", "S", () => this.shadows, () => { this.shadows = !this.shadows; }],
    ];
    this.layerButtons = buttons.filter((each) => each[4] !== false).map(([name, key, state, act]) => {
      const button = makeButton(name + " ", () => { act(); this.change(); this.showLegend(); });
      if (key) button.append(make("kbd", key));
      $("layers").append(button);
      return { button, state, key, act };
    });
    this.markLayers();
  }

  markLayers() { for (const { button, state } of this.layerButtons) button.setAttribute("aria-pressed",
    String(!!state())); }

  split() {
    const { layers } = this;
    layers.total = !layers.total;
    layers.normal = layers.tangents = !layers.total;
  }

  showLegend() {
    const { palette, scale, sensors } = this.manifest, { layers } = this, legend = $("legend");
    legend.replaceChildren();
    const entry = (text, color, path) => {
      const line = make("div");
      line.append(drawing(path, 16, rgb(color)), make("span", text));
      legend.append(line);
    };
    const arrow = "M0 7h9V4.2L16 8l-7 3.8V9H0z", shown = sensors.filter((_, i) => this.shown[i]),
      net = shown.some((s) => s.net), own = shown.some((s) => !s.net);
    if (layers.points) entry("contact", palette.point, "M8 4a4 4 0 1 0 .01 0z");
    if (layers.forces) {
      if (layers.normal && own) entry("normal force", palette.normal, arrow);
      if (layers.tangents && own) { entry("tangent 0", palette.tangent0, arrow);
        entry("tangent 1", palette.tangent1, arrow); }
      if (layers.total || net) entry(layers.total ? "total force" : "net force", palette.total, arrow);
      if (layers.torque) entry("torque", palette.torque, arrow);
      const line = make("div", "", "bar"), bar = make("i");
      this.legendBar = bar;
      line.append(bar, make("span", forceText(scale.newtons)));
      legend.append(line);
    }
    legend.hidden = !legend.childElementCount;
    this.markLayers();
    this.sizeBar();
  }

  sizeBar() { if (this.legendBar) this.legendBar.style.width = BAR * this.unit + "px"; }
  get unit() { return Math.max((this.size?.[1] || 0) / 720, 0.75); }

  showSensors() {
    const { sensors } = this.manifest;
    const list = $("sensor-list");
    this.sensorRows = sensors.slice(0, MOST_SENSORS).map((sensor, i) => {
      const row = make("label"), box = make("input"), swatch = make("i"), value = make("span", "", "number");
      box.type = "checkbox";
      box.checked = true;
      box.onchange = () => { this.shown[i] = box.checked; this.change(); this.drawCurves(); this.showLegend(); };
      swatch.style.background = this.sensorColor(i);
      row.append(box, swatch, make("b", sensor.name), value);
      if (sensor.label) row.append(make("small", sensor.label));
      row.title = sensor.label ? `${sensor.name}: ${sensor.label}` : sensor.name;
      list.append(row);
      return { box, swatch, value };
    });
    if (sensors.length > MOST_SENSORS) list.append(make("p",
      `and ${sensors.length - MOST_SENSORS} more, which are shown and hidden with all`, "quiet"));
    if (!sensors.length) list.append(make("p", "This scene has no contact sensors.", "quiet"));
    if (sensors.length > 3) {
      const row = make("div", "", "row");
      for (const [name, on] of [["Show all", true], ["Hide all", false]]) {
        row.append(makeButton(name, () => {
          this.shown.fill(on);
          for (const { box } of this.sensorRows) box.checked = on;
          this.change(); this.drawCurves(); this.showLegend();
        }));
      }
      list.before(row);
    }
  }

  showEvents() {
    const { events } = this.source, list = $("events").querySelector("ol");
    this.firstEvent = -1;
    if (!events.length) list.replaceWith(make("p", "No contact begins or ends in this run.", "quiet"));
    const count = events.length + this.manifest.events.left_out;
    $("events-title").append(make("span", count ? ` ${count.toLocaleString("en")}` : "", "quiet"));
  }

  // List some events before and after one: a list of all events makes the page slow.
  listEvents(at) {
    const { events } = this.source, first = this.firstEvent = Math.max(at - SHOWN_EVENTS / 4, 0),
      end = this.endEvent = Math.min(first + SHOWN_EVENTS, events.length);
    const row = (text, frame, time, why) => {
      const item = make("li"), button = makeButton("", () => { this.pause(); this.go(frame); });
      button.append(make("span", time, "number"), make("span", text));
      if (why) button.title = why;
      item.append(button);
      return item;
    };
    const rows = events.slice(first, end).map((event) =>
      row(`${event.geoms.join(" × ")} ${EVENTS[event.kind] || event.kind}`, event.frame,
        event.time.toFixed(this.digits), event.why));
    const left = events.length - end + this.manifest.events.left_out;
    $("events").querySelector("ol").replaceChildren(...first ? [row(`${first} earlier`, events[first - 1].frame, "…")]
      : [], ...rows,
      ...left ? [row(`${left} later`, events[Math.min(end, events.length - 1)].frame, "…")] : []);
    this.eventRows = rows;
  }

  showFindings() {
    const { findings } = this.source;
    if (!findings.length) return;
    $("findings").hidden = false;
    for (const finding of findings) {
      const row = make("li", "", finding.severity);
      const title = make("p");
      title.append(make("b", finding.severity + " "), make("span", finding.rule, "number quiet"));
      row.append(title, make("p", finding.message));
      if (finding.detail) row.append(make("p", finding.detail, "quiet"));
      $("findings").querySelector("ul").append(row);
    }
  }

  // ---- Time

  askedTime() {
    let hash = "";
    try { hash = location.hash; } catch { /* a page without an address */ }
    const found = /[#&]t=([-+.\deE]+)/.exec(hash), time = found ? Number(found[1]) : NaN;
    return isFinite(time) ? time : null;
  }

  get time() { return this.source.time(this.frame); }

  startPlayback() {
    const { source } = this, line = $("timeline");
    line.max = source.count - 1;
    line.value = this.frame;
    line.oninput = () => { this.pause(); this.go(+line.value); };
    $("play").onclick = () => this.toggle();
    $("back").onclick = () => { this.pause(); this.go(this.frame - 1); };
    $("step").onclick = () => { this.pause(); this.go(this.frame + 1); };
    $("next").onclick = () => this.goToEvent(1);
    $("previous").onclick = () => this.goToEvent(-1);
    $("speed").onchange = () => { this.speed = SPEEDS[$("speed").value]; };
    $("camera").onchange = () => { this.camera.chosen = +$("camera").value; this.change(); };
    $("reset").onclick = () => { this.camera.reset(); this.change(); };
    $("copy").onclick = () => this.copyRows();
    $("download").onclick = () => this.download();
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("click",
      (event) => { if (event.detail && event.target.closest?.("button")) event.target.closest("button").blur(); });
    addEventListener("hashchange", () => { const time = this.askedTime();
      if (time !== null) { this.pause(); this.go(source.frameAt(time)); } });
    addEventListener("resize", () => this.resized());
    new ResizeObserver(() => this.resized()).observe($("scene"));
    const see = ([{ isIntersecting }]) => { this.tableHidden = !isIntersecting; this.showContacts(); };
    new IntersectionObserver(see).observe($("contacts"));
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.afterPrint());
    this.started = true;
    this.resized();
    this.showMoment(true);
    this.request();
  }

  go(frame) {
    frame = clamp(Math.round(frame), 0, this.source.count - 1);
    if (frame === this.frame) return;
    this.frame = frame;
    this.reveal();
    this.change();
    this.remember();
  }

  toggle() { this.playing ? this.pause() : this.play(); }

  play() {
    if (this.frame >= this.source.count - 1) this.frame = 0;
    this.playing = true;
    this.clock = this.time;
    this.before = 0;
    this.reveal();
    this.markPlay();
    this.note(this.qualityText());
    this.request();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.markPlay();
    this.change();
    this.remember();
    this.showMoment(true);
    $("status").textContent = `Paused at ${this.time.toFixed(this.digits)} s.`;
  }

  markPlay() {
    $("play").replaceChildren(drawing(this.playing ? MARKS.pause : MARKS.play));
    $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  goToEvent(way) {
    const { events } = this.source, found = way > 0 ? events.find((e) => e.frame > this.frame)
      : events.findLast((e) => e.frame < this.frame);
    this.pause();
    if (found) this.go(found.frame); else this.say(way > 0 ? "No later event." : "No earlier event.");
  }

  remember() {
    clearTimeout(this.hashTimer);
    this.hashTimer = setTimeout(() => {
      try { history.replaceState(null, "", "#t=" + this.timeText()); } catch { /* a page without an address */ }
    }, 150);
  }

  timeText() { return this.time.toFixed(this.digits); }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target, shiftKey } = event, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (/^(SELECT|TEXTAREA)$/.test(target.tagName) || key === " " && target.closest?.("button, label")) return;
    const jump = (count) => { this.pause(); this.go(this.frame + count * (shiftKey ? 10 : 1)); };
    const layer = this.layerButtons.find((each) => each.key.toLowerCase() === key);
    const acts = {
      " ": () => this.toggle(), ArrowLeft: () => jump(-1), ArrowRight: () => jump(1),
        n: () => this.goToEvent(shiftKey ? -1 : 1),
      "-": () => this.faster(-1), "=": () => this.faster(1), "+": () => this.faster(1),
        Backspace: () => { this.pause(); this.go(0); },
      Home: () => { this.camera.reset(); this.change(); }, "[": () => this.nextCamera(-1),
        "]": () => this.nextCamera(1),
      Escape: () => { this.camera.chosen = -1; this.unpin(); this.change(); }, "?": () => $("keys").click(),
    };
    const act = acts[key] || layer && (() => { layer.act(); this.change(); this.showLegend(); });
    if (!act) return;
    event.preventDefault();
    act();
  }

  faster(way) {
    this.speed = SPEEDS[clamp(SPEEDS.indexOf(this.speed) + way, 0, SPEEDS.length - 1)];
    $("speed").value = SPEEDS.indexOf(this.speed);
  }

  nextCamera(way) {
    const count = this.manifest.cameras.length + 1;
    this.camera.chosen = (this.camera.chosen + 1 + way + count) % count - 1;
    this.change();
  }

  // ---- Drawing

  change() { this.dirty = true; this.request(); }

  request() {
    if (this.requested || !this.started) return;
    this.requested = true;
    requestAnimationFrame((now) => { this.requested = false; this.tick(now); });
  }

  tick(now) {
    const begun = performance.now(), passed = this.before ? now - this.before : 0;
    this.before = now;
    if (this.playing) {
      this.clock += Math.min(passed / 1000, 0.25) * this.speed;
      const frame = this.source.frameAt(this.clock);
      if (frame !== this.frame) { this.frame = frame; this.dirty = true; }
      if (this.clock >= this.source.time(this.source.count - 1)) { this.frame = this.source.count - 1; this.pause();
        this.dirty = true; }
    }
    if (this.dirty) {
      if (this.lastDrawn && passed && passed < 1500) this.measure(passed);
      this.dirty = false;
      this.lastDrawn = true;
      this.draw(this.level);
      this.showMoment(!this.playing);
      this.stillAt = now;
    } else this.lastDrawn = false;
    if (this.playing || this.dirty || this.dragging) this.request();
    else { this.before = 0; this.settle(); }
    this.cost = performance.now() - begun;
  }

  // Draw at the best quality once nothing moves.
  settle() {
    clearTimeout(this.settleTimer);
    if (this.level) this.settleTimer = setTimeout(() => { if (!this.playing && !this.dragging) { this.draw(0);
      this.note(this.qualityText()); } }, 500);
  }

  measure(passed) {
    const count = this.intervals.push(passed);
    if (count < 8 && (count < 3 || this.intervals.reduce((sum, each) => sum + each, 0) < 800)) return;
    const median = this.intervals.sort((a, b) => a - b)[count >> 1];
    this.intervals = [];
    if (median < TOO_SLOW || this.level === LEVELS.length - 1) return;
    this.level = Math.min(this.level + (median > 250 ? 3 : median > 110 ? 2 : 1), LEVELS.length - 1);
    // Some levels are the same on a screen with one pixel per CSS pixel.
    while (this.level < LEVELS.length - 1 && this.ratio(this.level) === this.ratio(this.level - 1)
      && LEVELS[this.level][1] === LEVELS[this.level - 1][1] && this.level > 3) this.level++;
    this.note(this.qualityText());
  }

  qualityText() {
    const [shadow, samples, ratio] = LEVELS[this.level];
    const parts = [!shadow && "no shadows", !samples && "no smooth edges",
      ratio < 1 && `${100 * ratio} % of the pixels`].filter(Boolean);
    return this.level && this.playing | this.dragging && parts.length
      ? `While it moves: ${parts.join(", ")}, to keep up` : "";
  }

  ratio(level) { return Math.min(window.devicePixelRatio || 1, LEVELS[level][2]); }

  openScene() {
    const canvas = $("canvas");
    let gl = null;
    try { gl = canvas.getContext("webgl2", { antialias: false, alpha: true, depth: true,
      powerPreference: "high-performance" }); } catch { /* none */ }
    if (!gl) return this.withoutPicture(NO_WEBGL);
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.scene = this.gizmos = null;
      this.note("The browser took the graphics away; reload the page to have the scene back.");
    });
    this.gl = gl;
    // A renderer on the processor starts without shadows.
    const about = gl.getExtension("WEBGL_debug_renderer_info");
    const name = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
    if (/SwiftShader|llvmpipe|Basic Render|Software/i.test(name)) this.level = 2;
    this.scene = new Scene(gl, sceneModel(this.manifest));
    this.gizmos = new GizmoDrawer(gl, this.manifest.shaders);
    this.listenToScene(canvas);
  }

  withoutPicture(text) {
    $("canvas").hidden = true;
    $("legend").hidden = true;
    this.note(text);
    this.qualityText = () => text;
  }

  async readGeometry() {
    const { source, manifest, scene } = this, { pace } = source;
    for (let i = 0; i < manifest.textures.length; i++) {
      const { section, type, width, mime } = manifest.textures[i], bytes = await source.section(section),
        options = { premultiplyAlpha: "none", colorSpaceConversion: "none" };
      const whole = new Blob([bytes], { type: mime });
      const parts = type === "2d" ? [await createImageBitmap(whole, options)]
        : await Promise.all([0, 1, 2, 3, 4, 5].map((face) => createImageBitmap(whole, 0, face * width,
          width, width, options)));
      scene.setTexture(i, parts);
      await pace();
    }
    for (let i = 0; i < manifest.meshes.length; i++) {
      const { low, step, vertices, texcoord } = manifest.meshes[i], packed = await source.section(`mesh${i}_v`),
        corners = await source.section(`mesh${i}_t`);
      const triangles = new Uint32Array(corners.length), count = corners.length / 3;
      for (let j = 0; j < count; j++) for (let k = 0; k < 3; k++) triangles[3 * j + k] = corners[k * count + j];
      const points = new Float32Array(3 * vertices);
      for (let axis = 0; axis < 3; axis++) for (let j = 0; j < vertices;
        j++) points[3 * j + axis] = low[axis] + step[axis] * packed[axis * vertices + j];
      scene.setShape("mesh" + i, await meshShape(points, triangles, texcoord ? await source.section(`mesh${i}_uv`)
        : null, 0.76, pace));
    }
    for (let i = 0; i < manifest.hfields.length; i++) {
      const { rows, cols, size } = manifest.hfields[i],
        heights = Float32Array.from(await source.section("hfield" + i), (h) => size[2] * h / 65535);
      scene.setShape("field" + i, await fieldShape(heights, rows, cols, size, pace));
    }
  }

  // Show the scene in place of the poster.
  reveal() {
    if (!this.hasGeometry || this.revealed) return;
    this.revealed = true;
    this.draw(this.level);
    if (this.poster) this.poster.hidden = true;
  }

  draw(level) {
    const { source } = this;
    if (!this.scene || !this.hasGeometry || !this.revealed && !source.hasContacts) return;
    const canvas = $("canvas"), [width, height] = this.size, [shadow, samples] = LEVELS[level],
      ratio = this.ratio(level);
    if (!width || !height) return;
    const size = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)], gl = this.gl;
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    source.pose(this.frame);
    const picture = this.picture = this.camera.picture(width, height, source.turns, source.places);
    const frame = this.frameBuffer(samples, size), ground = this.ground();
    this.scene.draw(source.turns, source.places, picture, frame, size, this.shadows ? shadow : 0, ground);
    this.glyphs = new Glyphs(source, this.frame, picture, this.unit, this.shown, this.layers,
      this.pinned || this.pointed);
    this.gizmos.draw(this.glyphs, size);
    if (frame) {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, frame);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
      gl.blitFramebuffer(0, 0, ...size, 0, 0, ...size, gl.COLOR_BUFFER_BIT, gl.NEAREST);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }
    this.movePin();
  }

  ground() {
    const sky = this.manifest.sky || [[0.03, 0.03, 0.035], [0.07, 0.07, 0.075]];
    const haze = this.manifest.haze || sky[1], glares = document.documentElement.dataset.theme === "dark"
      && dot(haze, [0.3, 0.6, 0.1]) > 0.5;
    return { high: sky[0], low: sky[1], haze, light: glares ? 0.8 : 1 };
  }

  frameBuffer(samples, size) {
    if (!samples) return null;
    const gl = this.gl, key = [samples, ...size].join(), { made } = this;
    if (made?.key === key) return made.frame;
    if (made) { gl.deleteFramebuffer(made.frame); made.parts.forEach((part) => gl.deleteRenderbuffer(part)); }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const parts = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]].map(([format,
      place]) => {
      const part = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, part);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, Math.min(samples, gl.getParameter(gl.MAX_SAMPLES)), format,
        ...size);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, part);
      return part;
    });
    this.made = { key, frame, parts };
    return frame;
  }

  // Sizes are read only here, because reading them makes the browser compute the layout.
  resized() { this.size = [$("scene").clientWidth, $("scene").clientHeight]; this.sizeBar(); this.change();
    clearTimeout(this.sizeTimer); this.sizeTimer = setTimeout(() => this.drawCurves(), 60); }

  print() {
    this.themeBefore = document.documentElement.dataset.theme;
    this.tableHidden = false;
    this.setTheme("light");
    if (!this.scene || !this.revealed) return;
    this.draw(0);
    const picture = this.printed = make("img");
    picture.src = $("canvas").toDataURL();
    picture.alt = `The scene at ${this.timeText()} s`;
    $("canvas").after(picture);
  }

  afterPrint() {
    this.printed?.remove();
    this.setTheme(this.themeBefore);
    this.change();
  }

  // ---- Mouse, touch

  listenToScene(canvas) {
    const touches = new Map();
    let moved = 0, start = null;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone */ }
      touches.set(event.pointerId, [event.clientX, event.clientY]);
      moved = 0;
      start = event.button;
      this.dragging = true;
      canvas.classList.add("dragged");
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = touches.get(event.pointerId), here = [event.clientX, event.clientY];
      if (!last) { this.hover(event); return; }
      const height = canvas.clientHeight, dx = (here[0] - last[0]) / height, dy = (here[1] - last[1]) / height;
      moved += Math.abs(dx) + Math.abs(dy);
      if (touches.size === 2) {
        const other = [...touches].find(([id]) => id !== event.pointerId)[1],
          gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.camera.zoom(Math.log(Math.max(gap(here), 1) / Math.max(gap(last), 1)) / ZOOM);
        this.camera.pan(0.5 * dx, 0.5 * dy);
      } else if (start === 2 || event.shiftKey) this.camera.pan(dx, dy);
      else if (start === 1) this.camera.zoom(-dy);
      else this.camera.orbit(dx, dy);
      touches.set(event.pointerId, here);
      this.reveal();
      this.change();
    });
    const end = (event) => {
      if (!touches.delete(event.pointerId)) return;
      this.dragging = touches.size > 0;
      canvas.classList.remove("dragged");
      if (event.type === "pointerup" && moved < 0.008 && start === 0) this.pin(event);
      this.change();
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => { if (!this.dragging) this.point(null); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect(), x = 2 * (event.clientX - box.left) / box.width - 1,
        y = 1 - 2 * (event.clientY - box.top) / box.height;
      this.camera.zoom(-clamp(event.deltaY * (event.deltaMode ? 30 : 1), -300, 300) / 2000, [x, y],
        box.width / box.height);
      this.reveal();
      this.change();
    }, { passive: false });
  }

  found(event, tolerance) {
    const box = $("canvas").getBoundingClientRect();
    return this.glyphs?.at(event.clientX - box.left, event.clientY - box.top, tolerance) || null;
  }

  hover(event) { if (!this.playing || !this.pinned) this.point(this.found(event, 6), event); }

  point(owner, event = null) {
    const before = this.pointed;
    this.pointed = owner && { sensor: owner.sensor, slot: owner.slot, kind: owner.kind };
    $("canvas").classList.toggle("pointed", !!owner);
    if (!this.pinned) {
      $("tip").hidden = !owner;
      if (owner && event) { $("tip").replaceChildren(...this.contactTexts(owner.row, owner.kind));
        this.placeTip(event); }
      if (before?.sensor !== owner?.sensor || before?.slot !== owner?.slot) this.change();
    }
  }

  placeTip(event) {
    const box = $("scene").getBoundingClientRect(), tip = $("tip"), x = event.clientX - box.left,
      y = event.clientY - box.top;
    const left = x + 16 + tip.offsetWidth > box.width ? x - 14 - tip.offsetWidth : x + 16;
    tip.style.left = clamp(left, 6, Math.max(box.width - tip.offsetWidth - 6, 6)) + "px";
    tip.style.top = clamp(y - 12, 6, Math.max(box.height - tip.offsetHeight - 6, 6)) + "px";
  }

  pin(event) {
    const owner = this.found(event, event.pointerType === "touch" ? 18 : 6);
    this.unpin();
    if (!owner) return;
    this.pinned = { sensor: owner.sensor, slot: owner.slot };
    $("tip").replaceChildren(...this.contactTexts(owner.row, owner.kind));
    $("tip").hidden = false;
    $("tip").classList.add("pinned");
    this.placeTip(event);
    this.change();
    this.copy(this.source.csvHeading + this.source.csvLines(owner.row, owner.row + 1), "all digits of this contact");
  }

  unpin() {
    this.pinned = null;
    $("tip").hidden = true;
    $("tip").classList.remove("pinned");
  }

  // Update the numbers of a pinned contact.
  movePin() {
    if (!this.pinned) return;
    const row = this.rowOf(this.pinned);
    $("tip").replaceChildren(...row < 0 ? [make("b", this.manifest.sensors[this.pinned.sensor].name),
      document.createTextNode(`\nslot ${this.pinned.slot}: no contact now`)] : this.contactTexts(row));
  }

  rowOf({ sensor, slot }) {
    const { source } = this, [from, to] = source.rows(this.frame);
    for (let row = from; row < to; row++) if (source.rowSensor[row] === sensor && source.rowSlot[row] === slot
      && source.rowFlags[row] & FILLED) return row;
    return -1;
  }

  contactTexts(row) {
    const { source, manifest } = this, net = source.rowFlags[row] & IN_WORLD,
      names = net ? ["x", "y", "z"] : ["normal", "tangent 0", "tangent 1"];
    const lines = [], between = this.pairText(row), force = source.along("force", row),
      torque = source.along("torque", row), distance = source.columns.dist[source.rowValue[row]];
    const put = (name, value, unitName) => lines.push(`${name.padEnd(11)}${shortText(value).padStart(13)} ${unitName}`);
    if (between) lines.push(between);
    names.forEach((name, i) => put(name, force[i], "N"));
    put("total", length(force), "N");
    if (torque.some((v) => v)) names.forEach((name, i) => put("torque " + (net ? name : ["n", "t0", "t1"][i]),
      torque[i], "N m"));
    put("distance", distance, "m");
    source.vector("pos", row).forEach((value, i) => put("position " + "xyz"[i], value, "m"));
    return [make("b", `${manifest.sensors[source.rowSensor[row]].name}, slot ${source.rowSlot[row]}`),
      document.createTextNode("\n" + lines.join("\n"))];
  }

  pairText(row) {
    const { source, manifest } = this, { geoms } = manifest.contacts,
      pair = [geoms[source.rowGeom1[row]], geoms[source.rowGeom2[row]]].filter(Boolean);
    return pair.join(" × ");
  }

  // ---- Texts of this instant

  showMoment(all) {
    const now = performance.now(), { source } = this;
    $("timeline").value = this.frame;
    $("timeline").setAttribute("aria-valuetext", `${this.timeText()} seconds`);
    const width = source.time(source.count - 1).toFixed(this.digits).length;
    $("time").textContent = this.timeText().padStart(width) + " s";
    const digits = String(source.steps[source.count - 1]).length;
    $("number").textContent = "step " + String(source.steps[this.frame]).padStart(digits);
    if (this.chart) {
      if (this.playing && this.chart.follow(this.time)) this.drawCurves();
      this.moveCursor();
    }
    if (!all && now - (this.shownAt || 0) < 120) return;
    this.shownAt = now;
    $("camera").value = this.camera.chosen;
    if (this.commandText) this.commandText.textContent = `${this.manifest.command} --go-to ${this.timeText()}`;
    this.showValues();
    this.showLines();
    this.markEvent();
    this.showContacts();
  }

  showValues() {
    if (!this.curveOf) return;
    this.sensorRows.forEach(({ value }, i) => {
      const force = this.curveOf.force[i]?.values[this.frame], found = this.curveOf.found[i]?.values[this.frame];
      const text = `${found > 0 ? found : 0}/${this.manifest.sensors[i].slots}` + (force !== undefined
        ? `${(force !== force ? "–" : force.toFixed(2)).padStart(9)} N` : "");
      if (value.textContent !== text) { value.textContent = text; value.classList.toggle("idle", !(found > 0)); }
    });
  }

  showLines() { for (const { text, curve } of this.lineTexts
    || []) text.textContent = shortText(curve.values[this.frame], 4); }

  // Mark the last event up to this instant.
  markEvent() {
    const { events } = this.source;
    if (!events?.length || this.firstEvent === undefined) return;
    const low = lastOf(events.length + 1, (i) => !i || events[i - 1].frame <= this.frame) - 1, is = Math.max(low, 0);
    if (this.firstEvent < 0 || is < this.firstEvent || is >= this.endEvent) this.listEvents(is);
    else if (low === this.markedEvent) return;
    this.markedRow?.removeAttribute("aria-current");
    this.markedRow = this.eventRows[low - this.firstEvent];
    this.markedRow?.setAttribute("aria-current", "true");
    this.markedEvent = low;
    const now = performance.now();
    if (this.playing && now - (this.scrolledAt || 0) < 700) return;
    this.scrolledAt = now;
    const box = $("events").querySelector(".scroll"), row = this.eventRows[is - this.firstEvent], top = row.offsetTop;
    const isSeen = top >= box.scrollTop && top <= box.scrollTop + box.clientHeight - 28;
    if (!isSeen) box.scrollTop = top - 0.5 * box.clientHeight;
  }

  tableColumns() {
    const { source } = this;
    return [
      ["total", "N", (row) => length(source.along("force", row))],
      ...["normal", "tangent 0", "tangent 1"].map((name, i) => [name, "N",
        (row) => source.rowFlags[row] & IN_WORLD ? NaN : source.along("force", row)[i]]),
      ["distance", "m", (row) => source.columns.dist[source.rowValue[row]]],
      ...["x", "y", "z"].map((name, i) => [name, "m", (row) => source.vector("pos", row)[i]]),
    ];
  }

  showContacts() {
    const { source } = this, table = $("contacts").querySelector("table");
    if (!source.hasContacts || this.tableHidden && this.playing) return;
    if (!this.tableOf) {
      this.tableOf = this.tableColumns();
      const heading = make("tr");
      heading.append(make("th", "sensor"), make("th", "slot", "number"), make("th", "between"),
        ...this.tableOf.map(([name, unitName]) => make("th", `${name} [${unitName}]`, "number")));
      table.tHead.append(heading);
    }
    const [from, to] = source.rows(this.frame), rows = [];
    for (let row = from; row < to; row++) if (source.rowFlags[row] & FILLED
      && this.shown[source.rowSensor[row]]) rows.push(row);
    const body = table.tBodies[0], most = this.playing ? 24 : SHOWN_ROWS, shown = rows.slice(0, most);
    while (body.rows.length > shown.length) body.deleteRow(-1);
    shown.forEach((row, n) => {
      let line = body.rows[n];
      if (!line) {
        line = body.insertRow();
        for (let i = 0; i < 3 + this.tableOf.length; i++) line.insertCell().className = i > 2 || i === 1 ? "number"
          : "";
        line.onpointerenter = () => { this.point(line.owner); };
        line.onpointerleave = () => this.point(null);
      }
      const sensor = source.rowSensor[row];
      line.owner = { sensor, slot: source.rowSlot[row], row };
      const swatch = make("i");
      swatch.style.background = this.sensorColor(sensor);
      line.cells[0].replaceChildren(swatch, this.manifest.sensors[sensor].name);
      line.cells[1].textContent = source.rowSlot[row];
      line.cells[2].textContent = this.pairText(row);
      this.tableOf.forEach(([, , read], i) => { line.cells[3 + i].textContent = shortText(read(row)); });
    });
    const every = this.manifest.contacts.every, at = this.source.contactFrame(this.frame) * every;
    const left = rows.length > most ? `, first ${most} of ${rows.length}` : "";
    $("contacts-at").textContent = `${rows.length ? "" : "none "}at ${source.time(at).toFixed(this.digits)} s${left}`;
  }

  copyRows() {
    const [from, to] = this.source.rows(this.frame);
    this.copy(this.source.csvHeading + this.source.csvLines(from, to), `${to - from} rows as CSV, all digits`);
  }

  csv() { return this.source.csvHeading + this.source.csvLines(0, this.manifest.contacts.rows); }

  async download() {
    const { source, manifest } = this, { rows } = manifest.contacts, parts = [source.csvHeading], pace = makePacer(),
      button = $("download");
    button.disabled = true;
    for (let row = 0; row < rows; row += 256) {
      parts.push(source.csvLines(row, Math.min(row + 256, rows)));
      await pace();
      if (!(row % 8192)) button.textContent = `Writing ${Math.round(100 * row / rows)} %`;
    }
    button.disabled = false;
    button.textContent = "Download CSV";
    const link = make("a"), address = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    link.href = address;
    link.download = manifest.title.replace(/[^\w.-]+/g, "_") + ".csv";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  // ---- Curves

  startCurves() {
    const { curves } = this.source, kinds = new Map();
    this.curveOf = { force: {}, found: {} };
    for (const curve of curves) {
      if (curve.kind in this.curveOf) this.curveOf[curve.kind][curve.sensor] = curve;
      const name = { force: "contact force", found: "contacts", touch: "touch sensors" }[curve.kind]
        || (curve.kind === "channel" ? "channels" : curve.kind), key = `${name}|${curve.unit}`;
      if (!kinds.has(key)) kinds.set(key, { name: curve.unit && curve.kind !== "found" ? `${name} [${curve.unit}]`
        : name, unit: curve.unit, curves: [] });
      kinds.get(key).curves.push(curve);
    }
    this.kinds = [...kinds.values()];
    $("kind").append(...makeOptions(this.kinds.map((kind) => kind.name)));
    $("kind").onchange = () => this.drawCurves();
    this.look = null;
    this.chart = new Chart(this.source, $("plot"), {});
    const chart = this.chart, plot = $("plot");
    const zoomed = (factor) => { chart.zoom(factor, this.time); this.drawCurves(); };
    $("wider").onclick = () => zoomed(2);
    $("closer").onclick = () => zoomed(0.5);
    $("whole").onclick = () => { [chart.from, chart.to] = chart.whole; this.drawCurves(); };
    const timeOf = (event) => chart.timeAt(event.clientX - plot.getBoundingClientRect().left);
    let scrubbing = false;
    plot.addEventListener("pointerdown", (event) => { scrubbing = true; plot.setPointerCapture?.(event.pointerId);
      this.pause(); this.go(this.source.frameAt(timeOf(event))); });
    plot.addEventListener("pointermove", (event) => { if (scrubbing) this.go(this.source.frameAt(timeOf(event)));
      this.plotTip(event, timeOf(event)); });
    for (const name of ["pointerup", "pointercancel"]) plot.addEventListener(name, () => { scrubbing = false; });
    plot.addEventListener("pointerleave", () => { $("plot-tip").hidden = true; });
    plot.addEventListener("wheel", (event) => { if (event.ctrlKey || event.shiftKey || !chart.isWhole
      || event.deltaY < 0) { event.preventDefault(); chart.zoom(Math.exp(clamp(event.deltaY || event.deltaX,
        -200, 200) / 300), timeOf(event)); this.drawCurves(); } }, { passive: false });
    plot.addEventListener("dblclick", () => $("whole").click());
    this.drawCurves();
    this.showMoment(true);
  }

  colorOf(curve, n) {
    const isLight = document.documentElement.dataset.theme !== "dark", own = this.manifest.sensors[curve.sensor]?.color;
    return readable(own || LINE_COLORS[n % LINE_COLORS.length], isLight);
  }

  drawCurves() {
    const { chart } = this;
    if (!chart) return;
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim();
    chart.look = { grid: of("grid"), panel: of("panel"), quiet: of("quiet"), warn: of("warn"), font: `11.5px ${of("digits")}` };
    const kind = this.kinds[+$("kind").value || 0], visible = (curve) => curve.sensor < 0 || this.shown[curve.sensor];
    const lines = (kind?.curves || []).filter(visible).slice(0,
      MOST_LINES).map((curve, n) => ({ curve, color: this.colorOf(curve, n) }));
    const bars = this.source.curves.filter((curve) => curve.kind === "found" && visible(curve)).slice(0,
      MOST_BARS).map((curve, n) => ({ curve, color: this.colorOf(curve, n) }));
    this.lines = lines;
    // Curves that are not of a contact sensor are named below the plot.
    this.lineTexts = lines.filter(({ curve }) => curve.sensor < 0).slice(0, 24).map(({ curve, color }) => {
      const entry = make("span"), swatch = make("i"), text = make("span", "", "number");
      swatch.style.background = color;
      entry.append(swatch, curve.name, text);
      return { entry, text, curve };
    });
    $("lines").replaceChildren(...this.lineTexts.map(({ entry }) => entry));
    this.showLines();
    const plot = $("plot"), base = innerHeight < 560 && innerWidth >= 600 ? 100 : innerWidth <= 560 ? 120
      : innerWidth >= 1700 ? 190 : 150;
    plot.style.height = base + Math.min(bars.length, innerHeight < 560 ? 5 : MOST_BARS) * ROW + "px";
    chart.draw(lines, innerHeight < 560 ? bars.slice(0, 5) : bars, kind?.unit || "");
    plot.setAttribute("aria-label",
      `${kind?.name || "Curves"}: ${lines.length} lines over time; the values of this instant are beside the sensors.`);
    this.drawMarks();
    this.moveCursor();
  }

  // Draw the events below the timeline.
  drawMarks() {
    const canvas = $("marks"), width = canvas.clientWidth, { events, count } = this.source;
    if (!width || !events) return;
    canvas.width = width;
    canvas.height = 5;
    const c = canvas.getContext("2d");
    c.fillStyle = this.chart.look.quiet;
    c.globalAlpha = 0.6;
    const seen = new Set();
    for (const { frame } of events) {
      const x = Math.round(4.5 + frame / Math.max(count - 1, 1) * (width - 9));
      if (!seen.has(x)) { seen.add(x); c.fillRect(x, 0, 1, 5); }
    }
  }

  moveCursor() {
    const { chart } = this, x = chart.placeOf(this.time);
    $("cursor").hidden = x < GUTTER - 1 || x > GUTTER + chart.plotWidth + 1;
    // A share of the width, because a printed page stretches the curves.
    $("cursor").style.left = (100 * x / chart.width).toFixed(3) + "%";
  }

  plotTip(event, time) {
    const nameOf = (curve) => this.manifest.sensors[curve.sensor]?.name ?? curve.name;
    const tip = $("plot-tip"), box = $("plot").getBoundingClientRect(), frame = this.source.frameAt(time),
      x = event.clientX - box.left, y = event.clientY - box.top;
    const bar = Math.floor((y - this.chart.rasterTop) / ROW),
      texts = [`${this.source.time(frame).toFixed(this.digits)} s`];
    if (bar >= 0 && bar < this.chart.bars.length) {
      const { curve } = this.chart.bars[bar], found = curve.values[frame];
      texts.push(`${nameOf(curve)}  ${found > 0 ? found + " in contact" : "no contact"}`);
    } else {
      const lines = this.lines.filter(({ curve }) => curve.values[frame]).slice(0, 10);
      for (const { curve } of lines) texts.push(`${nameOf(curve).padEnd(12)} ${shortText(curve.values[frame])}`);
    }
    tip.textContent = texts.join("\n");
    tip.hidden = false;
    tip.style.left = clamp(x + 14 + tip.offsetWidth > box.width ? x - 12 - tip.offsetWidth : x + 14, 0,
      Math.max(box.width - tip.offsetWidth, 0)) + "px";
    tip.style.top = clamp(y - tip.offsetHeight - 8, -40, box.height) + "px";
  }

  // ---- For programs and tests

  drawnGlyphs() {
    this.resized();
    this.reveal();
    this.draw(this.level);
    const { picture, glyphs } = this;
    if (!glyphs) return null;
    const at = (p) => { const found = picture.project(p); return found ? { x: found[0], y: found[1] } : { x: NaN,
      y: NaN }; };
    return {
      width: picture.width, height: picture.height,
      marks: glyphs.marks.map((each) => at(plus(each.start, each.vector))),
      spheres: glyphs.spheres.map((each) => ({ sensor: each.sensor, slot: each.slot, ...at(each.pos) })),
      tips: glyphs.arrows.map((each) => ({ sensor: each.sensor, slot: each.slot, kind: each.kind,
        ...at(plus(each.start, each.vector)) })),
    };
  }
}

const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
let page = null;
const ready = (async () => {
  $("failure").hidden = true;
  page = new Page(new FileSource());
  await page.open();
})().catch((error) => {
  const isKnown = error instanceof Damaged;
  $("failure").textContent = isKnown ? error.message : `This page could not show its run: ${error.message}`;
  $("failure").hidden = false;
  $("failure").className = "known";
  $("progress").hidden = true;
  if (!isKnown) console.error(error);
  errors.push(String(error.message));
});
window.contactViewer = {
  ready, errors,
  csv: () => page.csv(),
  time: () => page.time,
  frame: () => page.frame,
  goTo: (frame) => { page.pause(); page.go(frame); },
  setCamera: (camera) => { Object.assign(page.camera, camera, { chosen: -1 }); page.change(); },
  glyphs: () => page.drawnGlyphs(),
  cost: () => page.cost,
  range: (curve, from, to) => page.chart.pyramid(page.source.curves[curve]).range(from, to),
  hoverText: () => $("tip").hidden ? "" : $("tip").textContent,
};
