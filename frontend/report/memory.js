// What is live where: a rectangle per tile, time across and the byte within a
// partition upwards, one view for each memory of each core.

const MEMORY_HEIGHT = 220;

class MemoryView {
  constructor(app, space, core, tiles, capacity) {
    Object.assign(this, {app, space, core, tiles, capacity});
    tiles.sort((a, b) => a.from - b.from);
    this.spans = new Spans(null, Float64Array.from(tiles, (t) => t.from),
                           Float64Array.from(tiles, (t) => t.to));
    this.top = tiles.reduce((m, t) => Math.max(m, t.address + t.bytes), 0);
    this.peak = this.mostLive();
    this.canvas = el("canvas", {role: "img"});
    this.canvas.addEventListener("pointermove", (event) => {
      const tile = this.hit(event.offsetX, event.offsetY);
      app.tooltip.show(tile && this.describe(tile), event);
    });
    this.canvas.addEventListener("pointerleave", () => app.tooltip.hide());
    this.canvas.addEventListener("click", (event) => {
      const tile = this.hit(event.offsetX, event.offsetY);
      this.pinned = tile === this.pinned ? null : tile;
      app.redraw();
    });
    const name = space.toUpperCase();
    this.title = el("h3", {}, app.profile.cores > 1
        ? `${name}, core ${core}` : name);
    this.element = el(
        "div", {class: "memory"}, this.title, el("p", {class: "note"},
        `${formatCount(tiles.length)} tiles; at most ` +
        `${formatBytes(this.peak)} of a partition's ` +
        `${capacity ? formatBytes(capacity) : "bytes"} live at once` +
        (capacity ? ` (${formatPercent(this.peak / capacity)})` : "")),
        el("div", {}, this.canvas));
  }

  // Bytes of the fullest partition, over time: tiles of different partitions
  // may share addresses, so that partitions are looked at one by one.
  mostLive() {
    const edges = new Set();
    for (const t of this.tiles) {
      edges.add(t.first_partition);
      edges.add(t.first_partition + t.partitions);
    }
    let most = 0;
    for (const p of edges) {
      const events = [];
      for (const t of this.tiles) {
        if (p < t.first_partition || p >= t.first_partition + t.partitions) {
          continue;
        }
        events.push([t.from, t.bytes], [t.to, -t.bytes]);
      }
      events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      let live = 0;
      for (const [, bytes] of events) {
        live += bytes;
        most = Math.max(most, live);
      }
    }
    return most;
  }

  get limit() {
    const whole = this.app.wholeMemory && this.capacity;
    return Math.max(1, whole ? Math.max(this.capacity, this.top) * 1.04
                             : this.top * 1.12);
  }
  y(address) {
    return this.plot - (this.plot - 8) * address / this.limit;
  }

  draw() {
    const {view, colours} = this.app;
    const {context: c, width} = prepareCanvas(this.canvas, MEMORY_HEIGHT);
    this.gutter = this.app.timeline.gutter;
    this.plot = MEMORY_HEIGHT - 20;
    this.scale = (width - this.gutter) / view.length;
    this.width = width;
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.drawAxes(c, width);
    c.save();
    c.beginPath();
    c.rect(this.gutter, 0, width - this.gutter, this.plot + 1);
    c.clip();
    this.drawn = 0;
    let i = firstAbove(this.spans.reach, view.from);
    for (; i < this.tiles.length && this.tiles[i].from < view.to; ++i) {
      if (this.tiles[i].to >= view.from) this.drawTile(c, this.tiles[i], i);
    }
    c.restore();
    this.drawCapacity(c, width);
    this.canvas.dataset.tiles = this.drawn;
    this.canvas.setAttribute(
        "aria-label", `${this.title.textContent}: ${this.drawn} live ranges ` +
        `from ${formatTime(view.from)} to ${formatTime(view.to)}`);
    c.globalAlpha = 1;
  }

  drawAxes(c, width) {
    const {view, colours} = this.app;
    c.fillStyle = colours.muted;
    c.strokeStyle = colours.line;
    c.textAlign = "left";
    for (const b of byteTicks(this.limit)) {
      const y = Math.round(this.y(b)) + 0.5;
      c.beginPath();
      c.moveTo(this.gutter, y);
      c.lineTo(width, y);
      c.stroke();
      c.fillText(formatBytes(b), 2, y);
    }
    const marks = ticks(view.from, view.to, (width - this.gutter) / 100);
    const step = marks.length > 1 ? marks[1] - marks[0] : view.length;
    for (const t of marks) {
      const x = this.gutter + (t - view.from) * this.scale;
      const text = formatTick(t, step, view.to);
      if (x + c.measureText(text).width < width) {
        c.fillText(text, x, MEMORY_HEIGHT - 8);
      }
    }
  }

  drawTile(c, tile, i) {
    const {view, colours} = this.app;
    const x0 = Math.max(this.gutter - 2,
                        this.gutter + (tile.from - view.from) * this.scale);
    const x1 = Math.min(this.width + 2,
                        this.gutter + (tile.to - view.from) * this.scale);
    const y1 = this.y(tile.address), y0 = this.y(tile.address + tile.bytes);
    const w = Math.max(1, x1 - x0), h = Math.max(1, y1 - y0);
    c.globalAlpha = 0.55;
    c.fillStyle = colours.palette[i % PALETTE_SIZE];
    c.fillRect(x0, y0, w, h);
    c.globalAlpha = 1;
    if (w > 3 && h > 3) {
      c.strokeStyle = this.pinned === tile ? colours.fg : colours.panel;
      c.lineWidth = this.pinned === tile ? 2 : 1;
      c.strokeRect(x0 + 0.5, y0 + 0.5, w - 1, h - 1);
    }
    if (w > 30 && h > 11 && tile.name) {
      c.fillStyle = colours.fg;
      c.fillText(fitText(tile.name, w - 6),
                 Math.max(x0, this.gutter) + 4, y0 + h / 2);
    }
    ++this.drawn;
  }

  drawCapacity(c, width) {
    const {colours} = this.app;
    if (!this.capacity) return;
    const above = this.capacity > this.limit;
    const y = above ? 2 : this.y(this.capacity);
    c.strokeStyle = c.fillStyle = colours.critical;
    c.lineWidth = 1.5;
    if (above) c.setLineDash([2, 4]);
    c.beginPath();
    c.moveTo(this.gutter, y);
    c.lineTo(width, y);
    c.stroke();
    c.setLineDash([]);
    c.textAlign = "right";
    c.fillText(`capacity ${formatBytes(this.capacity)}` +
               (above ? ", above this scale" : ""), width - 4,
               above ? y + 9 : y - 8);
    c.textAlign = "left";
  }

  hit(x, y) {
    const {view} = this.app;
    if (x < this.gutter) return null;
    const t = view.from + (x - this.gutter) / this.scale;
    const slack = 2 / this.scale;
    let i = firstAbove(this.spans.start, t + slack) - 1;
    for (; i >= 0 && this.spans.reach[i] >= t - slack; --i) {
      const tile = this.tiles[i];
      if (tile.to < t - slack) continue;
      if (y <= this.y(tile.address) + 1 &&
          y >= this.y(tile.address + tile.bytes) - 1) {
        return tile;
      }
    }
    return null;
  }

  describe(tile) {
    const shape = Array.isArray(tile.shape) ? tile.shape.join(" \u00d7 ") : "";
    return el("div", {}, el("p", {class: "code"}, tile.name || "(unnamed)"),
              el("dl", {class: "facts"}, rowsOf([
                ["shape", `${shape} ${tile.dtype || ""}`],
                ["partitions", `${tile.first_partition} to ` +
                 `${tile.first_partition + tile.partitions - 1}`],
                ["bytes", `${formatCount(tile.address)} to ` +
                 `${formatCount(tile.address + tile.bytes)} of a partition ` +
                 `(${formatBytes(tile.bytes)})`],
                ["live", `${formatTime(tile.from)} to ${formatTime(tile.to)}`],
              ])));
  }
}

// Marks at powers of two, four or so of them.
function byteTicks(limit) {
  const step = Math.pow(2, Math.max(0, Math.round(Math.log2(limit / 4))));
  const out = [];
  for (let b = 0; b <= limit; b += step) out.push(b);
  return out;
}

function memoryViews(app) {
  const {hardware, memory} = app.profile;
  const views = [];
  for (const space of ["sbuf", "psum"]) {
    const cores = [...new Set(memory.filter((t) => t.space === space)
                                  .map((t) => t.core))].sort((a, b) => a - b);
    for (const core of cores) {
      views.push(new MemoryView(
          app, space, core,
          memory.filter((t) => t.space === space && t.core === core),
          hardware[`${space}_partition_bytes`]));
    }
  }
  return views;
}
