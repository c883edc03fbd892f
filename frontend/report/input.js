// What the pointer and the keyboard do to the timeline.

class TimelineInput {
  // `app` has: view, timeline, redraw(), select(selection or null),
  // step(by), tooltip.
  constructor(app) {
    this.app = app;
    this.canvas = app.timeline.canvas;
    this.drag = null;
    const on = (type, handler, options) =>
        this.canvas.addEventListener(type, (e) => handler.call(this, e),
                                     options);
    on("wheel", this.wheel, {passive: false});
    on("pointerdown", this.down);
    on("pointermove", this.move);
    on("pointerup", this.up);
    on("pointercancel", () => (this.drag = null));
    on("pointerleave", () => app.tooltip.hide());
    on("dblclick", this.doubleClick);
    on("keydown", this.key);
  }

  wheel(event) {
    const {view, timeline} = this.app;
    // The labels on the left scroll the page.
    if (event.offsetX < timeline.gutter) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const dx = event.deltaX * lines, dy = event.deltaY * lines;
    if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      view.pan((dx || dy) / (timeline.width - timeline.gutter));
    } else {
      view.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * 0.002),
                timeline.time(event.offsetX));
    }
  }

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = {
      x: event.offsetX, last: event.offsetX, moved: false,
      range: event.shiftKey,
    };
  }

  move(event) {
    const {view, timeline, tooltip} = this.app;
    if (!this.drag) {
      const hit = timeline.hit(event.offsetX, event.offsetY);
      this.canvas.style.cursor = hit ? "pointer" : "";
      tooltip.show(hit && this.app.describe(hit), event);
      return;
    }
    const d = this.drag;
    if (Math.abs(event.offsetX - d.x) > 3) d.moved = true;
    if (!d.moved) return;
    tooltip.hide();
    if (d.range) {
      this.app.redraw.now();
      timeline.drawRange(d.x, event.offsetX);
      return;
    }
    view.pan((d.last - event.offsetX) / (timeline.width - timeline.gutter));
    d.last = event.offsetX;
  }

  up(event) {
    const {view, timeline} = this.app;
    const d = this.drag;
    this.drag = null;
    if (!d) return;
    if (!d.moved) {
      this.app.select(timeline.hit(event.offsetX, event.offsetY));
    } else if (d.range) {
      const times = [timeline.time(d.x), timeline.time(event.offsetX)];
      view.set(Math.min(...times), Math.max(...times));
    }
  }

  doubleClick(event) {
    const hit = this.app.timeline.hit(event.offsetX, event.offsetY);
    if (hit) this.app.view.center(this.app.profile.spanOf(hit));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {app} = this;
    const actions = {
      "+": () => app.view.zoom(0.5), "=": () => app.view.zoom(0.5),
      "w": () => app.view.zoom(0.5),
      "-": () => app.view.zoom(2), "s": () => app.view.zoom(2),
      "ArrowLeft": () => app.view.pan(-0.25), "a": () => app.view.pan(-0.25),
      "ArrowRight": () => app.view.pan(0.25), "d": () => app.view.pan(0.25),
      "0": () => app.view.set(0, app.view.total),
      "Home": () => app.view.set(0, app.view.total),
      "[": () => app.step(-1), "]": () => app.step(1),
      "p": () => app.followProducer(), "f": () => app.zoomToSelection(),
      "Escape": () => app.select(null),
      "/": () => byId("search").focus(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

Timeline.prototype.drawRange = function(x0, x1) {
  const c = this.context;
  c.globalAlpha = 0.25;
  c.fillStyle = this.colours.accent;
  c.fillRect(Math.min(x0, x1), 0, Math.abs(x1 - x0), 1e5);
  c.globalAlpha = 1;
};

// The box beside the pointer.
class Tooltip {
  constructor() {
    this.box = byId("tooltip");
  }
  show(content, event) {
    if (!content) {
      this.hide();
      return;
    }
    this.box.replaceChildren(content);
    this.box.hidden = false;
    const {width, height} = this.box.getBoundingClientRect();
    const right = document.documentElement.clientWidth;
    let x = event.clientX + 14, y = event.clientY + 16;
    if (x + width > right - 4) x = Math.max(4, event.clientX - width - 10);
    if (y + height > window.innerHeight - 4) y = event.clientY - height - 10;
    this.box.style.left = `${x}px`;
    this.box.style.top = `${Math.max(4, y)}px`;
  }
  hide() {
    this.box.hidden = true;
  }
}
