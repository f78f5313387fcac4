// Curves of every step, drawn with exact smallest and largest values, and bars while a sensor is in contact.

const BRANCHES = 8, GUTTER = 52, ROW = 12;

// Smallest and largest values of groups of eight, of groups of these, and so on. NaN is ignored.
class Pyramid {
  constructor(values) {
    this.levels = [[values, values]];
    for (let [low, high] = this.levels[0]; low.length > BRANCHES;) {
      const count = Math.ceil(low.length / BRANCHES), lows = new Float32Array(count), highs = new Float32Array(count);
      for (let i = 0; i < count; i++) {
        let a = NaN, b = NaN;
        for (let j = i * BRANCHES, end = Math.min(j + BRANCHES, low.length); j < end; j++) {
          if (!(a <= low[j])) a = low[j] === low[j] ? low[j] : a;
          if (!(b >= high[j])) b = high[j] === high[j] ? high[j] : b;
        }
        lows[i] = a; highs[i] = b;
      }
      this.levels.push([low, high] = [lows, highs]);
    }
  }

  // Return the smallest and largest value of frames from `start` to before `stop`.
  range(start, stop) {
    let low = NaN, high = NaN, level = 0;
    const take = (i) => {
      const a = this.levels[level][0][i], b = this.levels[level][1][i];
      if (a < low || low !== low) low = a;
      if (b > high || high !== high) high = b;
    };
    while (start < stop) {
      if (level === this.levels.length - 1) { while (start < stop) take(start++); break; }
      while (start < stop && start % BRANCHES) take(start++);
      while (start < stop && stop % BRANCHES) take(--stop);
      start /= BRANCHES; stop /= BRANCHES; level++;
    }
    return [low, high];
  }
}

// Return about `count` round values between two values, and their distance.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1), decade = 10 ** Math.floor(Math.log10(rough || 1));
  const step = decade * ([1, 2, 5, 10].find((s) => s * decade >= rough * 0.999) || 10), out = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + 1e-6 * step && out.length < 50; i++) out.push(i * step);
  return [out, step];
}

const rgb = (color) => `rgb(${color.slice(0, 3).map((v) => Math.round(255 * v)).join()})`;

// Return a colour for lines; on a light ground a bright one is darkened.
function readable(color, isLight) {
  const [r, g, b] = color, light = 0.299 * r + 0.587 * g + 0.114 * b;
  return rgb(isLight && light > 0.5 ? [r, g, b].map((v) => v * (0.5 / light) ** 0.9) : color);
}

class Chart {
  constructor(source, canvas, look) {
    Object.assign(this, { source, canvas, look, pyramids: new Map() });
    this.from = source.time(0);
    this.to = Math.max(source.time(source.count - 1), this.from + 1e-9);
    this.whole = [this.from, this.to];
  }

  pyramid(curve) {
    if (!this.pyramids.has(curve)) this.pyramids.set(curve, new Pyramid(curve.values));
    return this.pyramids.get(curve);
  }

  get isWhole() { return this.from <= this.whole[0] && this.to >= this.whole[1]; }
  timeAt(x) { return this.from + clamp((x - GUTTER) / this.plotWidth, 0, 1) * (this.to - this.from); }
  placeOf(time) { return GUTTER + (time - this.from) / (this.to - this.from) * this.plotWidth; }

  zoom(factor, time) {
    const [low, high] = this.whole, least = Math.min(8 * this.source.manifest.timestep, high - low);
    const span = clamp((this.to - this.from) * factor, least, high - low),
      share = (time - this.from) / (this.to - this.from);
    this.from = clamp(time - share * span, low, high - span);
    this.to = this.from + span;
  }

  // Move the visible span to a time outside it; return whether it moved.
  follow(time) {
    const span = this.to - this.from;
    if (this.isWhole || time >= this.from && time <= this.to) return false;
    this.from = clamp(time - 0.1 * span, this.whole[0], this.whole[1] - span);
    this.to = this.from + span;
    return true;
  }

  // Return the first frame of each column of pixels, and the end.
  columns() {
    const edges = new Int32Array(Math.ceil(this.plotWidth * this.ratio) + 1), count = edges.length - 1;
    for (let i = 0; i <= count; i++) {
      const time = this.from + (this.to - this.from) * i / count, at = this.source.frameAt(time);
      edges[i] = this.source.time(at) < time - 1e-12 ? at + 1 : at;
    }
    if (this.to >= this.whole[1]) edges[count] = this.source.count;
    return edges;
  }

  // Draw. `lines`, `bars`: curves with a colour; a bar is where values are above zero.
  draw(lines, bars, unitName) {
    const { canvas, source, look } = this, width = canvas.clientWidth, ratio = Math.min(window.devicePixelRatio || 1,
      2);
    const height = canvas.clientHeight;
    if (!width || !height) return;
    this.width = width;
    this.plotWidth = Math.max(width - GUTTER - 10, 10);
    this.ratio = ratio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.font = look.font;
    this.bars = bars;
    const below = 20, rasterTop = height - below - bars.length * ROW, top = 8,
      bottom = (bars.length ? rasterTop - 8 : height - below);
    this.rasterTop = rasterTop;
    const edges = this.columns(), count = edges.length - 1, step = this.plotWidth / count;
    const ranges = lines.map((line) => {
      const pyramid = this.pyramid(line.curve), low = new Float32Array(count), high = new Float32Array(count);
      for (let i = 0; i < count; i++) [low[i], high[i]] = edges[i] < edges[i + 1]
        ? pyramid.range(edges[i], edges[i + 1]) : [NaN, NaN];
      return { low, high };
    });
    // The axis ends at usual values. Rare peaks far above are marked.
    const highs = ranges.flatMap((r) => Array.from(r.high).filter((v) => v === v)).sort((a, b) => a - b);
    const most = highs.length ? highs[highs.length - 1] : 1,
      usual = highs.length ? 1.25 * highs[Math.floor(0.985 * (highs.length - 1))] : 1;
    let least = Math.min(0, ...ranges.map((r) => r.low.reduce((a, b) => b < a ? b : a, 0)));
    let upper = most > 2.2 * usual && usual > 0 ? usual : most;
    if (upper <= least) upper = least + 1;
    const [marks, markStep] = ticks(least, upper * 1.04, clamp((bottom - top) / 34, 2, 6));
    upper = Math.max(upper * 1.04, least + 1e-30);
    const yOf = (value) => bottom - (value - least) / (upper - least) * (bottom - top);
    c.lineWidth = 1;
    c.textBaseline = "middle";
    c.textAlign = "right";
    const digits = clamp(-Math.floor(Math.log10(markStep) + 1e-9), 0, 6);
    for (const mark of marks) {
      const y = Math.round(yOf(mark)) + 0.5;
      c.strokeStyle = look.grid;
      c.beginPath(); c.moveTo(GUTTER, y); c.lineTo(GUTTER + this.plotWidth, y); c.stroke();
      c.fillStyle = look.quiet;
      c.fillText(Math.abs(mark) >= 1e5 ? mark.toExponential(0).replace("+", "")
        : mark.toFixed(digits).replace("-", "−"), GUTTER - 6, y);
    }
    const [times, timeStep] = ticks(this.from, this.to, this.plotWidth / 90),
      timeDigits = clamp(-Math.floor(Math.log10(timeStep) + 1e-9), 0, 6);
    c.textAlign = "center";
    for (const time of times) {
      const x = Math.round(this.placeOf(time)) + 0.5;
      c.strokeStyle = look.grid;
      c.beginPath(); c.moveTo(x, top); c.lineTo(x, height - below); c.stroke();
      c.fillStyle = look.quiet;
      c.fillText(time.toFixed(timeDigits), clamp(x, GUTTER + 8, GUTTER + this.plotWidth - 8), height - 9);
    }
    c.textAlign = "right";
    c.fillText("[s]", GUTTER - 16, height - 9);
    c.save();
    c.beginPath(); c.rect(GUTTER, top - 4, this.plotWidth, bottom - top + 8); c.clip();
    lines.forEach(({ color, curve }, n) => {
      c.strokeStyle = color;
      c.lineWidth = 1.4;
      c.lineJoin = "round";
      c.beginPath();
      // With fewer steps than pixels, join the steps; else draw the range of each column, joined to the next.
      if (edges[count] - edges[0] < 0.7 * count) {
        let pen = false;
        for (let i = Math.max(edges[0] - 1, 0); i < Math.min(edges[count] + 1, source.count); i++) {
          const value = curve.values[i];
          if (value !== value) { pen = false; continue; }
          c[pen ? "lineTo" : "moveTo"](this.placeOf(source.time(i)), yOf(Math.min(value, upper * 2)));
          pen = true;
        }
      } else {
        const { low, high } = ranges[n];
        let last = NaN;
        for (let i = 0; i < count; i++) {
          if (low[i] !== low[i]) { if (edges[i] < edges[i + 1]) last = NaN; continue; }
          const x = GUTTER + (i + 0.5) * step, from = last < low[i] ? low[i] : high[i],
            to = from === low[i] ? high[i] : low[i];
          c[last === last ? "lineTo" : "moveTo"](x, yOf(Math.min(from, upper * 2)));
          c.lineTo(x, yOf(Math.min(to, upper * 2)));
          last = to;
        }
      }
      c.stroke();
    });
    c.restore();
    // Impacts above the axis.
    if (most > upper) {
      c.fillStyle = look.warn;
      let at = -1, best = -Infinity, bestX = 0;
      ranges.forEach(({ high }) => high.forEach((value, i) => {
        if (value > best) { best = value; bestX = GUTTER + (i + 0.5) * step; }
        if (value > upper && i - at > 4 * ratio) {
          const x = GUTTER + (i + 0.5) * step;
          c.beginPath(); c.moveTo(x - 3.5, top + 2); c.lineTo(x + 3.5, top + 2); c.lineTo(x, top - 4); c.fill();
          at = i;
        }
      }));
      c.textAlign = bestX > GUTTER + 0.7 * this.plotWidth ? "right" : "left";
      // An outline keeps the text readable over the curves.
      Object.assign(c, { strokeStyle: look.panel, lineWidth: 4 });
      for (const put of ["strokeText", "fillText"])
        c[put](`${shortText(best, 3)} ${unitName}`, bestX + (c.textAlign === "left" ? 7 : -7), top + 6);
    }
    bars.forEach(({ color, curve }, n) => {
      const y = rasterTop + n * ROW + 2;
      c.fillStyle = look.grid;
      c.fillRect(GUTTER, y + 3.5, this.plotWidth, 1);
      c.fillStyle = color;
      const pyramid = this.pyramid(curve);
      for (let i = 0; i < count; i++) {
        // With fewer steps than pixels, a step lasts until the next one.
        const [low, high] = edges[i] < edges[i + 1] ? pyramid.range(edges[i], edges[i + 1]) : edges[i] > 0
          ? pyramid.range(edges[i] - 1, edges[i]) : [0, 0];
        if (!(high > 0)) continue;
        c.globalAlpha = low > 0 ? 1 : 0.55;
        c.fillRect(GUTTER + i * step, y, step + 0.3, ROW - 4);
      }
      c.globalAlpha = 1;
    });
  }
}
