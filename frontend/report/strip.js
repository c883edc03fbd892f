// The whole run in a strip above the timeline, with the window that is shown.
// How dark a pixel is says how many of the compute engines are busy there.

class Strip {
  constructor(profile, view, colours) {
    this.profile = profile;
    this.view = view;
    this.colours = colours;
    this.canvas = byId("overview-strip");
    const move = (event) => {
      if (!(event.buttons & 1)) return;
      const t = event.offsetX / this.canvas.clientWidth * view.total;
      const half = view.length / 2;
      view.set(Math.max(0, Math.min(view.total - 2 * half, t - half)),
               Math.max(0, Math.min(view.total - 2 * half, t - half)) +
                   2 * half);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener("pointermove", move);
  }

  // Busy engines per pixel, 0 to 1; made once a width.
  density(width) {
    if (this.known && this.known.length === width) return this.known;
    const {instructions: n} = this.profile;
    const busy = new Float64Array(width + 1);
    const scale = width / this.view.total;
    for (let i = 0; i < n.length; ++i) {
      const x0 = n.start[i] * scale;
      const x1 = Math.min(width, n.issue_end[i] * scale);
      for (let x = Math.floor(x0); x < x1; ++x) {
        busy[x] += Math.min(x1, x + 1) - Math.max(x0, x);
      }
    }
    const most = busy.reduce((a, b) => Math.max(a, b), 1e-9);
    this.known = busy.subarray(0, width).map((b) => b / most);
    return this.known;
  }

  draw() {
    const {context: c, width, height} = prepareCanvas(this.canvas, 24);
    const density = this.density(Math.floor(width));
    c.fillStyle = this.colours.accent;
    for (let x = 0; x < density.length; ++x) {
      const h = (height - 4) * density[x];
      c.fillRect(x, height - 2 - h, 1, h);
    }
    const scale = width / this.view.total;
    const x0 = this.view.from * scale, x1 = this.view.to * scale;
    c.fillStyle = this.colours.bg;
    c.globalAlpha = 0.7;
    c.fillRect(0, 0, x0, height);
    c.fillRect(x1, 0, width - x1, height);
    c.globalAlpha = 1;
    c.strokeStyle = this.colours.fg;
    c.lineWidth = 1.5;
    c.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), height - 2);
  }
}
