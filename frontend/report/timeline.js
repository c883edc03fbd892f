// The timeline's drawing: tracks, counters, the axis, the pinned slice and the
// arrow from its producer. What is narrower than a pixel is drawn together, so
// that a frame costs pixels and not instructions.

const AXIS_HEIGHT = 22;
const COUNTER_HEIGHT = 40;
const COUNTERS = [
  ["hbm_bandwidth", "HBM", formatBandwidth],
  ["sbuf_bytes", "SBUF", formatBytes],
  ["psum_bytes", "PSUM", formatBytes],
];

class Timeline {
  constructor(profile, view, colours) {
    this.profile = profile;
    this.view = view;
    this.colours = colours;
    this.canvas = byId("tracks");
    this.critical = true;
    this.selection = null;
    this.matches = null;
    this.counters = this.findCounters();
    this.setDma("engine");
  }
  // Those of the second core have its number: sbuf_bytes_core1.
  findCounters() {
    const found = [];
    for (const [id, label, format] of COUNTERS) {
      for (const [name, {t, v}] of Object.entries(this.profile.counters)) {
        const core = name.startsWith(id) && name.slice(id.length);
        if (core === false || !t || !t.length) continue;
        found.push({t, v, format, label: label + core.replace("_", " ")});
      }
    }
    return found;
  }
  setDma(by) {
    this.layout = new Layout(this.profile, by);
    this.setMatches(this.matches);
  }
  setMatches(matches) {
    this.matches = matches;
    for (const track of this.layout.tracks) {
      for (const spans of track.lanes) {
        spans.mark(matches && (track.kind === "instruction"
            ? matches.instructions : matches.dma));
      }
    }
  }
  get tracksTop() {
    return AXIS_HEIGHT + this.counters.length * (COUNTER_HEIGHT + 4);
  }
  x(t) {
    return this.gutter + (t - this.view.from) * this.scale;
  }
  time(x) {
    return this.view.from + (x - this.gutter) / this.scale;
  }

  draw() {
    const height = this.tracksTop + this.layout.height + 6;
    const {context, width} = prepareCanvas(this.canvas, height);
    this.context = context;
    this.width = width;
    this.gutter = width < 700 ? 84 : 108;
    this.scale = (width - this.gutter) / this.view.length;
    this.drawn = 0;
    this.visible = 0;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.drawAxis(height);
    this.counters.forEach((c, i) => this.drawCounter(
        c, AXIS_HEIGHT + i * (COUNTER_HEIGHT + 4)));
    this.drawHeadings();
    for (const track of this.layout.tracks) this.drawTrack(track);
    this.drawSelection();
    this.canvas.dataset.slices = this.drawn;
    this.canvas.dataset.visible = this.visible;
    this.canvas.dataset.from = this.view.from;
    this.canvas.dataset.to = this.view.to;
    this.canvas.dataset.left = this.gutter;
    // Where the tracks are, for whoever drives the page.
    this.canvas.dataset.tracks = JSON.stringify(this.layout.tracks.map(
        (t) => [t.core, t.label, this.tracksTop + t.y + t.laneHeight / 2]));
    this.canvas.setAttribute(
        "aria-label", `Timeline from ${formatTime(this.view.from)} to ` +
        `${formatTime(this.view.to)}: ${formatCount(this.visible)} ` +
        `instructions and DMA transfers on ${this.layout.tracks.length} ` +
        `tracks`);
  }

  drawAxis(height) {
    const {context: c, colours} = this;
    c.strokeStyle = colours.line;
    c.fillStyle = colours.muted;
    c.textAlign = "left";
    c.lineWidth = 1;
    const room = (this.width - this.gutter) / 100;
    const marks = ticks(this.view.from, this.view.to, room);
    const step = marks.length > 1 ? marks[1] - marks[0] : this.view.length;
    for (const t of marks) {
      const x = Math.round(this.x(t)) + 0.5;
      c.beginPath();
      c.moveTo(x, 14);
      c.lineTo(x, height);
      c.stroke();
      const text = formatTick(t, step, this.view.to);
      if (x + c.measureText(text).width + 4 < this.width) {
        c.fillText(text, x + 4, 8);
      }
    }
  }

  label(text, y, height, strong = false) {
    const {context: c, colours} = this;
    c.fillStyle = strong ? colours.fg : colours.muted;
    c.textAlign = "left";
    c.fillText(fitText(text, this.gutter - 8), 2, y + height / 2 + 0.5);
  }

  drawHeadings() {
    const {context: c, colours} = this;
    for (const {y, text} of this.layout.headings) {
      c.font = "600 11px system-ui, sans-serif";
      this.label(text, this.tracksTop + y + 2, 18, true);
      c.font = "11px system-ui, sans-serif";
      c.fillStyle = colours.line;
      c.fillRect(0, this.tracksTop + y, this.width, 1);
    }
  }

  drawTrack(track) {
    const {context: c, colours} = this;
    const top = this.tracksTop + track.y;
    const h = track.laneHeight;
    c.font = h < 14 ? "9px system-ui, sans-serif"
                    : "11px system-ui, sans-serif";
    this.label(track.label, top, h, track.kind === "instruction");
    c.font = "11px system-ui, sans-serif";
    c.save();
    c.beginPath();
    c.rect(this.gutter, top - 2, this.width - this.gutter, track.height + 4);
    c.clip();
    if (track.waits) {
      this.drawPlain(track.waits, colours.wait, top + h / 2 - 1, 2);
    }
    track.lanes.forEach((spans, lane) => this.drawLane(
        track, spans, top + lane * h, h));
    if (track.tails) {
      this.drawPlain(track.tails, colours.muted, top + track.height - 2, 2);
    }
    if (this.critical && track.critical.length) {
      this.drawPlain(track.critical, colours.critical, top - 2, 3);
    }
    c.restore();
  }

  // Intervals of one colour: [x, x) runs that touch are one rectangle.
  drawPlain(spans, colour, y, height) {
    const c = this.context;
    c.fillStyle = colour;
    let i = firstAbove(spans.reach, this.view.from);
    while (i < spans.length && spans.start[i] < this.view.to) {
      const x = Math.max(this.gutter, this.x(spans.start[i]));
      let right = Math.max(x + 1, this.x(spans.end[i]));
      // What begins within the pixel that this one ends in goes with it.
      const next = firstAbove(spans.start, this.time(x + 1), i + 1);
      right = Math.max(right, Math.min(this.x(spans.reach[next - 1]),
                                       this.width + 1));
      c.fillRect(x, y, Math.min(right, this.width) - x, height);
      i = next;
    }
  }

  drawLane(track, spans, top, laneHeight) {
    const c = this.context;
    const h = track.kind === "dma" ? laneHeight - 1 : laneHeight - 3;
    let i = firstAbove(spans.reach, this.view.from);
    const first = i;
    this.pending = null;
    while (i < spans.length && spans.start[i] < this.view.to) {
      const x0 = this.x(spans.start[i]), x1 = this.x(spans.end[i]);
      if (x1 - x0 >= 1) {
        this.flush();
        this.drawSlice(track, spans, i, x0, x1, top, h);
        ++i;
      } else {
        i = this.drawMerged(track, spans, i, x0, top, h);
      }
      ++this.drawn;
    }
    this.flush();
    c.globalAlpha = 1;
    this.visible += i - first;
  }

  colourOf(track, row) {
    return track.kind === "dma"
        ? this.colours.dma
        : this.colours.ofOpcode(this.profile.instructions.opcode[row]);
  }

  drawSlice(track, spans, i, x0, x1, top, h) {
    const c = this.context;
    const dimmed = spans.hits && spans.hits[i + 1] === spans.hits[i];
    const left = Math.max(this.gutter - 2, x0);
    const right = Math.min(this.width + 2, x1);
    c.globalAlpha = dimmed ? 0.2 : 1;
    c.fillStyle = this.colourOf(track, spans.rows[i]);
    // A gap between neighbours as soon as there is room for one.
    c.fillRect(left, top, right - left - (x1 - x0 > 3 ? 1 : 0), h);
    if (track.kind !== "dma" && right - left > 36) {
      const room = right - Math.max(left, this.gutter) - 8;
      const full = this.profile.textOf(spans.rows[i]);
      const text = fitText(
          room > full.length * 6 ? full
                                 : this.profile.opcodeOf(spans.rows[i]), room);
      c.fillStyle = this.colours.on_colour;
      c.textAlign = "left";
      c.fillText(text, Math.max(left, this.gutter) + 4, top + h / 2 + 0.5);
    }
  }

  // All slices that begin within the pixel of slice i; returns the next one.
  // They are as opaque as they are dense, and have the colour of the longest.
  drawMerged(track, spans, i, x0, top, h) {
    const x = Math.max(this.gutter, Math.floor(x0));
    const edge = this.time(Math.floor(x0) + 1);
    let next = firstAbove(spans.start, edge, i);
    next = Math.max(next, i + 1);
    const covered = spans.covered[next] - spans.covered[i];
    const share = Math.min(1, covered * this.scale);
    const hit = spans.hits && spans.hits[next] > spans.hits[i];
    const dimmed = spans.hits && !hit;
    // Of many, a sample; an odd step, as programs repeat in even ones.
    const step = Math.floor((next - i) / 16) | 1;
    let best = i;
    for (let k = i; k < next; k += step) {
      if (spans.end[k] - spans.start[k] > spans.end[best] - spans.start[best]) {
        best = k;
      }
    }
    // In eighths, so that neighbours often agree and are one rectangle.
    const alpha = dimmed ? 0.15
                  : hit  ? 1
                         : 0.35 + 0.65 * Math.round(share * 8) / 8;
    const colour = hit ? this.colours.hit
                       : this.colourOf(track, spans.rows[best]);
    const p = this.pending;
    if (p && p.x + p.width === x && p.alpha === alpha && p.colour === colour) {
      ++p.width;
    } else {
      this.flush();
      this.pending = {x, top, width: 1, height: h, alpha, colour};
    }
    return next;
  }
  // Draws the pixels of merged slices that are put by.
  flush() {
    const p = this.pending;
    if (!p) return;
    this.context.globalAlpha = p.alpha;
    this.context.fillStyle = p.colour;
    this.context.fillRect(p.x, p.top, p.width, p.height);
    this.pending = null;
  }

  drawCounter(counter, top) {
    const {context: c, colours} = this;
    const peak = counter.peak || (counter.peak = Math.max(
        1e-30, counter.v.reduce((a, b) => Math.max(a, b), 0)));
    const h = COUNTER_HEIGHT;
    this.label(counter.label, top, 20, true);
    this.label(`max ${counter.format(peak)}`, top + 14, 18);
    c.fillStyle = colours.line;
    c.fillRect(this.gutter, top + h, this.width - this.gutter, 1);
    c.fillStyle = colours.accent;
    c.globalAlpha = 0.55;
    const {t, v} = counter;
    let i = Math.max(0, firstAbove(t, this.view.from) - 1);
    while (i < t.length && t[i] < this.view.to) {
      // The steps that begin in one pixel are drawn as their highest.
      const x = Math.max(this.gutter, this.x(t[i]));
      const next = Math.max(i + 1, firstAbove(t, this.time(x + 1), i + 1));
      let high = v[i];
      for (let k = i + 1; k < next; ++k) high = Math.max(high, v[k]);
      const end = next < t.length ? t[next] : this.profile.total;
      const right = Math.min(this.width, this.x(end));
      const y = h * high / peak;
      if (right > x) c.fillRect(x, top + h - y, right - x, y);
      i = next;
    }
    c.globalAlpha = 1;
  }

  // The middle of a slice's row, and its edges, on the canvas.
  placeOf(selection) {
    const at = this.layout.find(selection);
    if (!at) return null;
    const h = at.track.laneHeight;
    const spans = at.track.lanes[at.lane];
    return {
      top: this.tracksTop + at.track.y + at.lane * h, height: h,
      left: this.x(spans.start[at.i]), right: this.x(spans.end[at.i]),
    };
  }

  drawSelection() {
    if (!this.selection) return;
    const {context: c, colours} = this;
    c.save();
    c.beginPath();
    c.rect(this.gutter, 0, this.width - this.gutter, 1e6);
    c.clip();
    const place = this.placeOf(this.selection);
    const producer = this.profile.producerOf(this.selection);
    const from = producer && this.placeOf(producer);
    c.strokeStyle = colours.fg;
    c.lineWidth = 2;
    for (const p of [place, from]) {
      if (!p) continue;
      c.strokeRect(p.left - 1, p.top - 1, Math.max(2, p.right - p.left) + 1,
                   p.height - 1);
      c.setLineDash([3, 2]);
    }
    c.setLineDash([]);
    if (place && from) this.drawArrow(from, place);
    c.restore();
  }

  drawArrow(from, to) {
    const {context: c, colours} = this;
    const x0 = from.right, y0 = from.top + from.height / 2;
    const x1 = to.left, y1 = to.top + to.height / 2;
    const bend = Math.max(20, Math.min(80, Math.abs(x1 - x0) / 2));
    c.strokeStyle = c.fillStyle = colours.accent;
    c.beginPath();
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    c.stroke();
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - 8, y1 - 4);
    c.lineTo(x1 - 8, y1 + 4);
    c.fill();
  }

  // The first slice of the topmost track that has one in the window, or null.
  firstShown() {
    for (const track of this.layout.tracks) {
      const spans = track.lanes[0];
      const i = firstAbove(spans.reach, this.view.from);
      if (i < spans.length && spans.start[i] < this.view.to) {
        return {kind: track.kind, row: spans.rows[i]};
      }
    }
    return null;
  }

  // {kind, row} under a point of the canvas, or null. That of a
  // wait is the instruction that waits.
  hit(x, y) {
    if (x < this.gutter) return null;
    const t = this.time(x), slack = 3 / this.scale;
    const below = y - this.tracksTop;
    const track = this.layout.tracks.find(
        (k) => below >= k.y - 2 && below < k.y + k.height + 2);
    if (!track) return null;
    const lane = Math.max(0, Math.min(
        track.lanes.length - 1, Math.floor((below - track.y) /
                                           track.laneHeight)));
    const spans = track.lanes[lane];
    let i = spans.at(t, slack);
    if (i < 0 && track.waits && track.waits.at(t, 0) >= 0) {
      i = firstAbove(spans.start, t);  // the one that waits
      if (i >= spans.length) i = -1;
    }
    return i < 0 ? null : {kind: track.kind, row: spans.rows[i]};
  }
}

// A moment on an axis whose marks are `step` apart.
function formatTick(t, step, most) {
  const [scale, unit] =
      TIME_UNITS.find(([s]) => Math.max(most, step) >= s) || [1, "ns"];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
  return `${(t / scale).toFixed(Math.min(9, decimals))} ${unit}`;
}

// What fits, at six pixels a character.
function fitText(text, room) {
  const most = Math.floor(room / 6);
  if (text.length <= most) return text;
  return most < 3 ? "" : `${text.slice(0, most - 1)}\u2026`;
}
