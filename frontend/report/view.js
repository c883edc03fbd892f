// The part of the run that is shown. Timeline and memory share it.

class TimeWindow {
  constructor(total) {
    this.total = total > 0 ? total : 1;
    this.from = 0;
    this.to = this.total;
    this.listeners = [];
  }
  onChange(listener) {
    this.listeners.push(listener);
  }
  get length() {
    return this.to - this.from;
  }
  get isWhole() {
    return this.from <= 0 && this.to >= this.total;
  }
  // The narrowest window: a thousandth of a nanosecond, or what doubles can
  // still tell apart.
  get narrowest() {
    return Math.max(1e-3, this.total * 1e-10);
  }
  set(from, to) {
    if (!isFinite(from) || !isFinite(to) || to <= from) return;
    const length =
        Math.min(this.total, Math.max(this.narrowest, to - from));
    const middle = (from + to) / 2;
    this.from = Math.max(0, Math.min(this.total - length,
                                     middle - length / 2));
    this.to = this.from + length;
    for (const listener of this.listeners) listener();
  }
  // `factor` < 1 shows less; the moment `at` stays where it is.
  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.min(this.total,
                            Math.max(this.narrowest, this.length * factor));
    const share = (at - this.from) / this.length;
    const from = Math.max(0, Math.min(this.total - length,
                                      at - share * length));
    this.set(from, from + length);
  }
  pan(share) {
    const step = share * this.length;
    const from = Math.max(0, Math.min(this.total - this.length,
                                      this.from + step));
    this.set(from, from + this.length);
  }
  // With the span in view, and some of what is around it.
  reveal([from, to]) {
    const length = to - from;
    const visible = from >= this.from && to <= this.to;
    if (visible && length > this.length / 200) return;
    const around = Math.max(length * 8, this.narrowest * 10);
    this.set((from + to - around) / 2, (from + to + around) / 2);
  }
  center([from, to]) {
    const around = Math.max((to - from) * 3, this.narrowest * 10);
    this.set((from + to - around) / 2, (from + to + around) / 2);
  }
}

// Draws at most once a frame, however often it is asked.
function coalesced(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

// Round moments between from and to, about `count` of them.
function ticks(from, to, count) {
  const raw = (to - from) / Math.max(1, count);
  if (!(raw > 0)) return [];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const out = [];
  for (let i = Math.ceil(from / step); i * step <= to; ++i) out.push(i * step);
  return out;
}

// "#from=..&to=..&pin=i12&q=.." Anything else in it is ignored.
function readHash() {
  const out = {};
  for (const part of location.hash.slice(1).split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    try {
      out[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    } catch {
      // A malformed escape: not ours.
    }
  }
  return out;
}

function writeHash(values) {
  const parts = Object.entries(values).filter(([, v]) => v !== null)
                    .map(([k, v]) => `${k}=${encodeURIComponent(v)}`);
  try {
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : "#");
  } catch {
    // Some browsers refuse it for files; the view works without.
  }
}
