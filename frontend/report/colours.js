// Colours come from the style sheet, so that both schemes are in one place.

const PALETTE_SIZE = 8;

class Colours {
  constructor(profile) {
    this.slots = this.assign(profile);
    this.read();
  }
  // The opcodes that take most of the engines' time get a colour of their
  // own, the others share one.
  assign(profile) {
    const {instructions: n, opcodes} = profile;
    const busy = new Float64Array(opcodes.length);
    for (let i = 0; i < n.length; ++i) {
      busy[n.opcode[i]] += n.issue_end[i] - n.start[i];
    }
    const order = opcodes.map((_, i) => i).sort((a, b) => busy[b] - busy[a]);
    const slots = new Int32Array(opcodes.length).fill(PALETTE_SIZE);
    order.slice(0, PALETTE_SIZE).forEach((op, i) => (slots[op] = i));
    this.order = order;
    this.busy = busy;
    return slots;
  }
  read() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    this.palette = [];
    for (let i = 0; i < PALETTE_SIZE; ++i) this.palette.push(get(`--c${i}`));
    this.palette.push(get("--other"));
    for (const name of ["bg", "panel", "fg", "muted", "line", "wait", "dma",
                        "critical", "accent", "on-colour", "hit"]) {
      this[name.replace("-", "_")] = get(`--${name}`);
    }
  }
  ofOpcode(opcode) {
    return this.palette[this.slots[opcode]];
  }
}

// A canvas of the width of its parent and the height asked for, in the
// screen's own pixels. Returns a context in CSS pixels, cleared.
function prepareCanvas(canvas, height) {
  const width = Math.max(50, canvas.parentElement.clientWidth);
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height};
}
