"use strict";
// Draws a report from the data in its own page; asks no server for anything.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const COLOURS = ["#3b7dd8", "#d9822b", "#7a5bc7", "#2a9d8f", "#c14f7c", "#8a8d2f", "#5b6b7b", "#b4532a", "#4a9bb5", "#9c6ade"];
const chosen = { scene: data.scenes[0].name, metric: data.metrics[0].name, against: null, hidden: new Set() };

function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "rect", "line", "circle", "text", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  const { style, ...others } = attributes;
  // The page's policy allows no style attributes.
  if (style) made.style.cssText = style;
  for (const [key, value] of Object.entries(others)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2);
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(size >= 100 ? 1 : size >= 1 ? 2 : 4);
}

const withUnit = (value, unit) => number(value) + (unit && value !== null ? " " + unit : "");

function tip(event, text) {
  const box = byId("tip");
  box.hidden = text === null;
  if (text === null) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = Math.min(event.clientX + 14, innerWidth - width - 8) + "px";
  box.style.top = Math.max(8, Math.min(event.clientY + 14, innerHeight - height - 8)) + "px";
}

function explain(node, text) {
  node.addEventListener("pointermove", (event) => tip(event, text));
  node.addEventListener("pointerleave", (event) => tip(event, null));
}

async function copy(text, event) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that are opened from a disk may not: older browsers have another way.
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tip(event, "copied");
  setTimeout(() => tip(event, null), 900);
}

// Round numbers that divide an axis, and how they are written.
function ticks(low, high, count = 5) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) {
    found.push([tick, digits > 4 || Math.abs(tick) >= 1e6 ? number(+tick.toPrecision(6)) : tick.toFixed(digits)]);
  }
  return found;
}

function showHeader() {
  document.title = "Sweep: " + data.title;
  byId("title").textContent = data.title;
  byId("subtitle").textContent = data.subtitle;
  for (const [value, label, bad] of data.tiles) {
    const tile = element("div", { class: "tile" + (bad ? " bad" : "") }, element("b", {}, value), element("span", {}, label));
    byId("tiles").append(tile);
  }
  for (const scene of data.scenes) byId("scene").append(element("option", { value: scene.name }, scene.name));
  byId("scene").closest("label").hidden = data.scenes.length < 2;
  for (const metric of data.metrics) {
    const button = element("button", { role: "tab", "data-metric": metric.name }, metric.label);
    button.addEventListener("click", () => { chosen.metric = metric.name; show(); });
    byId("metrics").append(button);
  }
  for (const name of [...data.varied, "seed"]) byId("against").append(element("option", { value: name }, name));
  chosen.against = byId("against").value;
  byId("scene").addEventListener("change", (event) => { chosen.scene = event.target.value; chosen.hidden.clear(); show(); });
  byId("against").addEventListener("change", (event) => { chosen.against = event.target.value; showScatter(); });
  byId("about").textContent = data.about;
}

function showHistograms(metric) {
  const parts = data.histograms.filter((each) => each.scene === chosen.scene && each.metric === metric.name);
  const box = byId("histograms");
  box.replaceChildren();
  byId("spread").textContent = parts.length
    ? `${metric.label}${metric.unit ? " [" + metric.unit + "]" : ""}, one figure a sensor, on one scale. The marks are the median and the middle 90 % of the runs.`
    : "No run of this scene has this figure.";
  const width = 300, height = 92;
  for (const part of parts) {
    const top = Math.max(...part.bins), span = part.high - part.low || 1;
    const x = (value) => ((value - part.low) / span) * width;
    const svg = element("svg", { viewBox: `0 0 ${width} ${height + 24}`, role: "img", "aria-label": `${part.sensor}: ${metric.label}` });
    const each = width / part.bins.length;
    part.bins.forEach((count, place) => {
      if (!count) return;
      // Rare values stay visible: they are what a report is opened for.
      const size = Math.max(1.5, (count / top) * (height - 8));
      const bar = element("rect", { class: "bar", x: place * each + 0.5, y: height - size, width: each - 1, height: size });
      const from = part.low + (span * place) / part.bins.length, to = part.low + (span * (place + 1)) / part.bins.length;
      explain(bar, `${count} of ${part.count} runs\n${number(from)} to ${withUnit(to, metric.unit)}`);
      svg.append(bar);
    });
    svg.append(element("line", { class: "axis", x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5 }));
    svg.append(element("line", { class: "range", x1: x(part.q05), x2: x(part.q95), y1: height + 4, y2: height + 4 }));
    svg.append(element("line", { class: "median", x1: x(part.q50), x2: x(part.q50), y1: height, y2: height + 8 }));
    for (const [value, anchor, place] of [[part.low, "start", 0], [part.high, "end", width]]) {
      svg.append(element("text", { x: place, y: height + 21, "text-anchor": anchor }, number(value)));
    }
    const caption = element("figcaption", {}, element("b", {}, part.sensor),
      element("span", {}, `median ${withUnit(part.q50, metric.unit)} · worst ${withUnit(part.worst, metric.unit)}`));
    box.append(element("figure", {}, caption, svg));
  }
}

function showScatter() {
  const metric = data.metrics.find((each) => each.name === chosen.metric);
  const rows = data.samples.rows.map((row) => Object.fromEntries(data.samples.columns.map((name, i) => [name, row[i]])))
    .filter((row) => row.scene === chosen.scene && row[metric.name] !== null);
  const sensors = data.scenes.find((each) => each.name === chosen.scene).sensors;
  const colour = (sensor) => COLOURS[sensors.indexOf(sensor) % COLOURS.length];
  const shown = rows.filter((row) => !chosen.hidden.has(row.sensor));
  const box = byId("plot"), legend = byId("legend");
  box.replaceChildren();
  legend.replaceChildren();
  for (const sensor of sensors) {
    const button = element("button", { "aria-pressed": String(!chosen.hidden.has(sensor)) },
      element("i", { style: `background:${colour(sensor)}` }), sensor);
    button.addEventListener("click", () => {
      if (!chosen.hidden.delete(sensor)) chosen.hidden.add(sensor);
      showScatter();
    });
    legend.append(button);
  }
  if (!shown.length) {
    box.append(element("p", { class: "empty" }, "Nothing to show: choose a sensor or another metric."));
    return;
  }
  const width = Math.max(320, box.clientWidth), height = 340, left = 64, bottom = 40, right = 10, up = 10;
  const key = chosen.against === "seed" ? "seed" : chosen.against;
  const xs = shown.map((row) => row[key]), ys = shown.map((row) => row[metric.name]);
  const range = (values) => {
    const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
    return high > low ? [low, high] : [low - 0.5, high + 0.5];
  };
  const [x0, x1] = range(xs), [y0, y1] = range([0, ...ys]);
  const x = (value) => left + ((value - x0) / (x1 - x0)) * (width - left - right);
  const y = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - bottom - up);
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `${metric.label} against ${chosen.against}` });
  for (const [tick, label] of ticks(y0, y1)) {
    svg.append(element("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }));
    svg.append(element("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, label));
  }
  for (const [tick, label] of ticks(x0, x1, 8)) {
    svg.append(element("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, label));
  }
  const words = chosen.against === "seed" ? "seed" : `factor of ${chosen.against}`;
  svg.append(element("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, words));
  svg.append(element("text", { x: 0, y: 10 }, metric.unit ? `[${metric.unit}]` : ""));
  for (const row of shown) {
    const dot = element("circle", { class: "dot", cx: x(row[key]), cy: y(row[metric.name]), r: shown.length > 600 ? 2.2 : 3.2, fill: colour(row.sensor) });
    const varied = data.varied.map((name) => `${name} × ${number(row[name])}`).join(", ");
    explain(dot, `${row.sensor}, seed ${row.seed}\n${metric.label} ${withUnit(row[metric.name], metric.unit)}${varied ? "\n" + varied : ""}`);
    svg.append(dot);
  }
  box.append(svg);
  if (data.samples.every > 1) box.append(element("p", { class: "quiet" }, `Every ${data.samples.every}th run is drawn.`));
}

function fill(section, heads, rows) {
  const table = byId(section).querySelector("table");
  const head = element("tr", {}, ...heads.map(([label, kind]) => element("th", { class: kind || "" }, label)));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, place) => {
    const made = element("td", { class: heads[place][1] || "" });
    if (cell && cell.command) {
      const code = element("code", { tabindex: 0, role: "button", title: "copy" }, cell.command);
      code.addEventListener("click", (event) => copy(cell.command, event));
      code.addEventListener("keydown", (event) => { if (event.key === "Enter") copy(cell.command, { clientX: 20, clientY: 20 }); });
      made.append(code);
      if (cell.page) made.append(element("br"), element("a", { href: cell.page }, "see this run"));
      if (cell.video) made.append(element("br"), element("video", { src: cell.video, controls: "", preload: "metadata", width: 420 }));
    } else made.append(cell === null ? "–" : cell);
    return made;
  })))));
}

function showWorst(metric) {
  const rows = data.worst[metric.name].filter((row) => row.scene === chosen.scene);
  const heads = [["", "number"], ["sensor"], ["seed", "number"], [metric.label + (metric.unit ? ` [${metric.unit}]` : ""), "number"],
    ["at [s]", "number"], ...data.varied.map((name) => ["× " + name, "number"]), ["command"]];
  fill("worst", heads, rows.slice(0, 15).map((row, place) => [String(place + 1), row.sensor, String(row.seed), number(row.value), number(row.at),
    ...row.varied.map(number), { command: row.command, video: row.video, page: row.page }]));
  if (!rows.length) byId("worst").querySelector("tbody").append(element("tr", {}, element("td", { colspan: heads.length, class: "empty" }, "It is 0 in every run of this scene.")));
}

function showTroubles() {
  byId("unstable").hidden = !data.unstable.length;
  fill("unstable", [["scene"], ["seed", "number"], ["unstable at [s]", "number"], ["command"]],
    data.unstable.map((row) => [row.scene, String(row.seed), number(row.at), { command: row.command }]));
  byId("failures").hidden = !data.failures.length;
  fill("failures", [["scene"], ["seed", "number"], ["why"]], data.failures.map((row) => [row.scene, String(row.seed), row.reason]));
}

function show() {
  const metric = data.metrics.find((each) => each.name === chosen.metric);
  for (const button of byId("metrics").children) button.setAttribute("aria-selected", String(button.dataset.metric === metric.name));
  showHistograms(metric);
  showScatter();
  showWorst(metric);
}

showHeader();
showTroubles();
show();
addEventListener("resize", showScatter);
