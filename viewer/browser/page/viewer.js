"use strict";
// Shows the pictures of a window that runs elsewhere, and sends it what is done here.

const canvas = document.querySelector("canvas");
const keyboard = document.querySelector("textarea");
const message = document.querySelector("#message");
const picture = canvas.getContext("2d", { alpha: false, desynchronized: true });
const KEY = 0, JPEG = 2, HEADER = 12;
const GOING_AWAY = 1001, TRY_AGAIN_LATER = 1013;
const RETRY = 1000;
// The window says something every few seconds. Seconds of silence after which the connection is given up: more each time, in
// case that a picture takes as long.
const SILENCE = 15, LONGEST_SILENCE = 120;
// A decoder that fails twice within this time [ms] is not used any more.
const FAILURES = 10000;
const LARGEST = [3840, 2160];
const RUN = ".cvrun";
const SCENES = [".xml", ".mjcf", ".urdf", ".mjb", RUN];

let wantsJpeg = new URLSearchParams(location.search).get("codec") === "jpeg" || !("VideoDecoder" in window);
let socket = null;
let decoder = null;
let underWay = new Map();
let newest = 0;
let isLost = true, hasEnded = false;
let silence = 0, patience = SILENCE;
let failed = -Infinity;
let pendingMove = null;

// The token stays in a cookie; in the address it would be seen and copied. A page inside another one, such as a notebook,
// may have no cookies: there it stays.
const token = new URLSearchParams(location.search).get("token");
if (token && window.top === window) {
  const rest = new URLSearchParams(location.search);
  rest.delete("token");
  history.replaceState(null, "", location.pathname + (rest.size ? "?" + rest : ""));
}

function withToken(address) {
  return token ? `${address}${address.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}` : address;
}

function say(text) {
  message.textContent = text;
  message.hidden = !text;
}

function send(data) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(data));
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(withToken(`${scheme}//${location.host}/stream${wantsJpeg ? "?codec=jpeg" : ""}`));
  opened.binaryType = "arraybuffer";
  socket = opened;
  silence = 0;
  let worked = false;
  opened.onopen = () => {
    worked = true;
    hasEnded = false;
    newest = 0;
    closeDecoder();
    sendSize();
  };
  opened.onmessage = (event) => {
    silence = 0;
    patience = SILENCE;
    if (typeof event.data === "string") obey(JSON.parse(event.data));
    else show(event.data);
  };
  opened.onclose = async (event) => {
    hasEnded ||= event.code === GOING_AWAY;
    lose();
    if (event.code === TRY_AGAIN_LATER) say("Too many are watching. This page waits for its turn…");
    else if (!worked && (await isRefused())) {
      say("This link is no longer valid: open the one that contact-viewer printed when it started.");
    }
    setTimeout(connect, RETRY);
  };
}

function lose() {
  socket = null;
  isLost = true;
  // A picture that it still has would take the words away.
  closeDecoder();
  say(hasEnded ? "The window was closed. Start contact-viewer again, and open the link that it prints."
    : "The connection is lost. It comes back by itself…");
}

// The window goes on for the others, and for this page when it comes back.
function leave() {
  // Keys that are still held would be so for the others.
  send({ type: "blur" });
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
  lose();
  say("You have left; the window goes on. Click to come back. Ctrl-C in the terminal that serves it ends it.");
  addEventListener("pointerdown", connect, { once: true });
}

// A connection can be lost without being closed: a tunnel that hangs. Only seconds in which this page ran are counted.
setInterval(() => {
  if (!socket || ++silence < patience) return;
  patience = Math.min(2 * patience, LONGEST_SILENCE);
  socket.onopen = socket.onmessage = socket.onclose = null;
  socket.close();
  lose();
  connect();
}, 1000);

async function isRefused() {
  try {
    return (await fetch(withToken("/"), { cache: "no-store", signal: AbortSignal.timeout(5000) })).status === 403;
  } catch {
    return false;
  }
}

// Pictures

function show(data) {
  const view = new DataView(data);
  const kind = view.getUint8(0), width = view.getUint16(2, true), height = view.getUint16(4, true);
  const number = view.getUint32(8, true), bytes = new Uint8Array(data, HEADER);
  if (kind === JPEG) {
    const from = socket;
    createImageBitmap(new Blob([bytes], { type: "image/jpeg" })).then(
      (bitmap) => { if (from === socket) draw(bitmap, width, height, number); bitmap.close(); },
      () => setTimeout(restart, RETRY));
    return;
  }
  try {
    if (kind === KEY) openDecoder(width, height);
    // Without one, the whole picture that was asked for is still to come.
    if (!decoder) return;
    underWay.set(number, [width, height]);
    decoder.decode(new EncodedVideoChunk({ type: kind === KEY ? "key" : "delta", timestamp: number, data: bytes }));
  } catch {
    restart();
  }
}

function openDecoder(width, height) {
  closeDecoder();
  // Baseline profile; the level bounds the size.
  const level = width * height <= 1280 * 720 ? "1F" : width * height <= 2048 * 1152 ? "28" : "34";
  decoder = new VideoDecoder({
    output: (frame) => {
      const [w, h] = underWay.get(frame.timestamp) || [frame.displayWidth, frame.displayHeight];
      underWay.delete(frame.timestamp);
      draw(frame, w, h, frame.timestamp);
      frame.close();
    },
    error: restart,
  });
  decoder.configure({ codec: "avc1.42E0" + level, optimizeForLatency: true });
}

// A whole picture is needed. A browser may take a decoder away, and give another one; what it cannot decode at all is sent as
// single pictures.
function restart() {
  closeDecoder();
  if (performance.now() - failed < FAILURES) wantsJpeg = true;
  failed = performance.now();
  send({ type: "restart", codec: wantsJpeg ? "jpeg" : "h264" });
}

function closeDecoder() {
  if (decoder && decoder.state !== "closed") decoder.close();
  decoder = null;
  underWay.clear();
}

function draw(image, width, height, number) {
  send({ type: "shown", number });
  // A single picture may be ready later than the video that follows it.
  if (number < newest) return;
  newest = number;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  picture.drawImage(image, 0, 0, width, height);
  canvas.dataset.number = number;
  if (isLost) say("");
  isLost = false;
}

// The window has the size of the page that was touched last, in its own pixels. Others see it as large as it fits.
function ownSize() {
  const ratio = window.devicePixelRatio || 1, wide = innerWidth * ratio, high = innerHeight * ratio;
  const factor = Math.min(1, LARGEST[0] / wide, LARGEST[1] / high);
  return { width: Math.floor(wide * factor) & ~1, height: Math.floor(high * factor) & ~1, ratio: ratio * factor };
}

function sendSize() {
  send({ type: "size", ...ownSize() });
}

function takeOver() {
  const { width, height } = ownSize();
  if (width !== canvas.width || height !== canvas.height) sendSize();
}

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(sendSize, 100);
});

// What the window says beside its pictures

function obey(order) {
  // Whatever was reported before: what is lost is found by this answer, and sent again.
  if (order.type === "ask") send({ type: "here", number: newest });
  else if (order.type === "cursor") canvas.style.cursor = order.shape;
  else if (order.type === "clipboard") navigator.clipboard?.writeText(order.text).catch(() => {});
  else if (order.type === "leave") leave();
  else if (order.type === "download") {
    const link = document.createElement("a");
    link.href = withToken(order.address);
    link.download = order.name;
    link.click();
  }
}

// Mouse and touch

function place(event) {
  // As `object-fit: contain` places it.
  const scale = Math.min(innerWidth / canvas.width, innerHeight / canvas.height);
  const left = (innerWidth - canvas.width * scale) / 2, top = (innerHeight - canvas.height * scale) / 2;
  return { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale };
}

function flushMove() {
  if (pendingMove) send(pendingMove);
  pendingMove = null;
}

function button(event, which, down) {
  flushMove();
  send({ type: "button", button: which, down, ...place(event) });
}

// Of several buttons a browser reports the first press and the last release as such; the others are movements.
const BUTTONS = [[1, 0], [2, 2], [4, 1]];
let held = 0;

function pressed(event) {
  const changed = held ^ event.buttons;
  held = event.buttons;
  for (const [bit, which] of BUTTONS) if (changed & bit) button(event, which, (held & bit) !== 0);
}

// One finger is the left button. Two pinch by the wheel, and pan by the right button once they have moved together:
// without a drag, that button would open a menu.
const fingers = new Map();
let twoFingers = null;

canvas.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  takeOver();
  keyboard.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  if (event.pointerType !== "touch") return pressed(event);
  fingers.set(event.pointerId, event);
  if (fingers.size === 1) {
    // A finger points at nothing before it presses; the window wants to know.
    send({ type: "move", ...place(event) });
    button(event, 0, true);
  }
  if (fingers.size === 2) {
    button(event, 0, false);
    twoFingers = { ...spread(), begin: spread(), panning: false, due: false };
  }
});

canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, event);
    if (twoFingers) {
      // Fingers move one after the other: once a picture, both have.
      if (!twoFingers.due) requestAnimationFrame(moveTwoFingers);
      twoFingers.due = true;
      return;
    }
  } else pressed(event);
  if (!pendingMove) requestAnimationFrame(flushMove);
  pendingMove = { type: "move", ...place(event) };
});

function moveTwoFingers() {
  if (!twoFingers || fingers.size < 2) return;
  const now = spread(), { begin } = twoFingers;
  if (!twoFingers.panning && Math.hypot(now.clientX - begin.clientX, now.clientY - begin.clientY) > 6) {
    twoFingers.panning = true;
    button(begin, 2, true);
  }
  if (twoFingers.panning) send({ type: "move", ...place(now) });
  const turn = 8 * Math.log(now.distance / twoFingers.distance);
  if (turn) send({ type: "wheel", dx: 0, dy: turn, ...place(now) });
  twoFingers = { ...twoFingers, ...now, due: false };
}

for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    if (event.pointerType !== "touch") return pressed(event);
    if (twoFingers && fingers.size === 2) {
      moveTwoFingers();
      if (twoFingers.panning) button(spread(), 2, false);
    } else if (!twoFingers) button(event, 0, false);
    fingers.delete(event.pointerId);
    // The finger that stays does nothing until all have left.
    if (!fingers.size) twoFingers = null;
  });
}

function spread() {
  const [a, b] = [...fingers.values()];
  return {
    clientX: (a.clientX + b.clientX) / 2,
    clientY: (a.clientY + b.clientY) / 2,
    distance: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)),
  };
}

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  flushMove();
  const unit = [100, 3, 1][event.deltaMode];
  send({ type: "wheel", dx: -event.deltaX / unit, dy: -event.deltaY / unit, ...place(event) });
}, { passive: false });
canvas.addEventListener("contextmenu", (event) => event.preventDefault());

// Keyboard and clipboard. Text arrives through the hidden field, so that dead keys and input methods work.

function key(event, down) {
  return {
    type: "key", code: event.code, key: event.key, down,
    ctrl: event.ctrlKey, shift: event.shiftKey, alt: event.altKey, meta: event.metaKey,
  };
}

addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  takeOver();
  const isPaste = (event.ctrlKey || event.metaKey) && event.code === "KeyV";
  const isText = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
  // Pasting begins with the browser, which alone has the text.
  if (isPaste) return;
  if (!isText) event.preventDefault();
  if (!event.repeat || !isText) send(key(event, true));
});
addEventListener("keyup", (event) => send(key(event, false)));
keyboard.addEventListener("input", (event) => {
  if (event.isComposing) return;
  if (keyboard.value) send({ type: "text", text: keyboard.value });
  keyboard.value = "";
});
keyboard.addEventListener("compositionend", () => {
  if (keyboard.value) send({ type: "text", text: keyboard.value });
  keyboard.value = "";
});
addEventListener("paste", (event) => {
  event.preventDefault();
  const v = { type: "key", code: "KeyV", key: "v", ctrl: true, shift: false, alt: false, meta: false };
  send({ type: "clipboard", text: event.clipboardData.getData("text") });
  send({ ...v, down: true });
  send({ ...v, down: false });
});
addEventListener("blur", () => {
  held = 0;
  send({ type: "blur" });
});
addEventListener("focus", () => keyboard.focus({ preventScroll: true }));

// Dropped files, and folders with what a scene includes

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", async (event) => {
  event.preventDefault();
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const loose = [...event.dataTransfer.files];
  const files = entries.length ? (await Promise.all(entries.map(collect))).flat() : loose.map((file) => [file.name, file]);
  if (await upload(files)) say("");
});

async function collect(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(collect))).flat();
}

async function upload(files) {
  const depth = (name) => name.split("/").length;
  const isScene = (name) => SCENES.some((suffix) => name.toLowerCase().endsWith(suffix));
  // Runs that lie beside a scene were made of it.
  const isRun = (name) => name.toLowerCase().endsWith(RUN);
  const scenes = files.map(([name]) => name).filter(isScene).sort((a, b) => isRun(a) - isRun(b) || depth(a) - depth(b));
  if (!scenes.length) {
    say("No scene is among these files.");
    setTimeout(() => say(""), 3000);
    return false;
  }
  for (const [index, [name, file]] of files.entries()) {
    say(`Sending ${name} (${index + 1} of ${files.length})…`);
    const answer = await fetch(withToken(`/upload?name=${encodeURIComponent(name)}`), { method: "POST", body: file });
    if (!answer.ok) {
      say(`${name} was refused: ${await answer.text()}`);
      setTimeout(() => say(""), 5000);
      return false;
    }
  }
  // Of several scenes, one called "scene" is the one that includes the others.
  send({ type: "open", name: scenes.find((name) => /(^|\/)scene\.[a-z]+$/.test(name)) || scenes[0] });
  return true;
}

connect();
