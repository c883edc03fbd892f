// The roofline: what the hardware allows at this kernel's arithmetic
// intensity, and what the kernel reached. Both axes are logarithmic.

const ROOF = {width: 760, height: 400, left: 92, right: 28, top: 24,
              bottom: 46};

class LogAxis {
  constructor(low, high, from, to) {
    this.low = Math.floor(Math.log10(low));
    this.high = Math.ceil(Math.log10(high));
    if (this.high <= this.low) this.high = this.low + 1;
    this.from = from;
    this.to = to;
  }
  at(value) {
    const share = (Math.log10(value) - this.low) / (this.high - this.low);
    return this.from + share * (this.to - this.from);
  }
  get decades() {
    const out = [];
    for (let e = this.low; e <= this.high; ++e) out.push(Math.pow(10, e));
    return out;
  }
  get least() {
    return Math.pow(10, this.low);
  }
  get most() {
    return Math.pow(10, this.high);
  }
}

// Roofs by height: those of equal height share a line and a label.
function computeRoofs(profile) {
  const byPeak = new Map();
  for (const [dtype, peak] of Object.entries(
           profile.hardware.peak_flops_per_ns || {})) {
    if (!(peak > 0)) continue;
    if (!byPeak.has(peak)) byPeak.set(peak, []);
    byPeak.get(peak).push(dtype);
  }
  const used = profile.roofline.peak_flops_per_ns;
  if (used > 0 && !byPeak.has(used)) byPeak.set(used, ["this kernel"]);
  return [...byPeak].map(([peak, dtypes]) => ({peak, dtypes,
                                               used: peak === used}))
      .sort((a, b) => b.peak - a.peak);
}

function rooflineText(r) {
  const ridge = r.peak_flops_per_ns / r.hbm_bytes_per_ns;
  const attainable = Math.min(r.peak_flops_per_ns,
                              r.intensity * r.hbm_bytes_per_ns);
  const side = r.intensity < ridge ? "HBM bandwidth" : "compute";
  return `Intensity ${significant(r.intensity, 4)} FLOP per HBM byte, ` +
         `${formatFlops(r.achieved_flops_per_ns)} reached, ` +
         `${formatPercent(r.achieved_flops_per_ns / attainable)} of the ` +
         `${formatFlops(attainable)} that the roof of ${side} allows here. ` +
         `The roofs meet at ${significant(ridge, 4)} FLOP per byte.`;
}

function drawRoofline(profile) {
  const r = profile.roofline;
  const view = byId("roofline-view");
  if (!r || !(r.peak_flops_per_ns > 0) || !(r.hbm_bytes_per_ns > 0)) {
    view.replaceChildren(el("p", {class: "note"},
                            "The profile has no roofline."));
    return;
  }
  const hasPoint = r.intensity > 0 && isFinite(r.intensity) &&
                   r.achieved_flops_per_ns > 0;
  const text = hasPoint ? rooflineText(r)
      : r.flops > 0 ? "The kernel moves no bytes to or from HBM: its " +
                      "intensity has no bound."
                    : "The kernel does no matrix multiplications: only the " +
                      "roofs are shown.";
  view.replaceChildren(rooflinePicture(profile, r, hasPoint, text),
                       el("p", {id: "roofline-text"}, text));
}

function rooflinePicture(profile, r, hasPoint, text) {
  const {width, height, left, right, top, bottom} = ROOF;
  const roofs = computeRoofs(profile);
  const dma = profile.hardware.dma_bytes_per_ns || r.hbm_bytes_per_ns;
  const slowest = Math.min(dma, r.hbm_bytes_per_ns);
  const ridges = roofs.flatMap((f) => [f.peak / r.hbm_bytes_per_ns,
                                       f.peak / slowest]);
  const highest = Math.max(...roofs.map((f) => f.peak));
  const intensities = hasPoint ? [...ridges, r.intensity] : ridges;
  const x = new LogAxis(Math.min(...intensities) / 10,
                        Math.max(...intensities) * 5, left, width - right);
  const lowest = Math.min(
      hasPoint ? r.achieved_flops_per_ns / 2 : Infinity,
      x.least * r.hbm_bytes_per_ns);
  const y = new LogAxis(Math.max(lowest, highest * 1e-6), highest * 1.5,
                        height - bottom, top);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img", class: "roofline",
    "aria-label": `Roofline. ${text}`,
  });
  picture.append(...rooflineAxes(x, y));
  picture.append(...roofLines(roofs, r, profile.hardware.dma_bytes_per_ns,
                              x, y));
  if (hasPoint) picture.append(...kernelPoint(r, x, y));
  return picture;
}

function rooflineAxes(x, y) {
  const {width, height, left, right, top, bottom} = ROOF;
  const out = [];
  for (const v of x.decades) {
    out.push(svg("line", {x1: x.at(v), x2: x.at(v), y1: top,
                          y2: height - bottom, class: "grid"}),
             svg("text", {x: x.at(v), y: height - bottom + 16,
                          "text-anchor": "middle"}, formatPlain(v)));
  }
  for (const v of y.decades) {
    out.push(svg("line", {x1: left, x2: width - right, y1: y.at(v),
                          y2: y.at(v), class: "grid"}),
             svg("text", {x: left - 6, y: y.at(v) + 4,
                          "text-anchor": "end"}, formatFlops(v)));
  }
  out.push(svg("text", {x: (left + width - right) / 2, y: height - 8,
                        "text-anchor": "middle"},
               "arithmetic intensity (FLOP per HBM byte)"));
  return out;
}

const formatPlain = (v) =>
    (v >= 1e-3 && v < 1e5 ? String(Number(v.toPrecision(3)))
                          : v.toExponential(0));

// A slope up to the highest roof, with its label along it.
function slope(perNs, highest, label, x, y, used) {
  const start = Math.max(x.least, y.least / perNs);
  const y0 = y.at(start * perNs), y1 = y.at(highest);
  const x0 = x.at(start), x1 = x.at(Math.min(x.most, highest / perNs));
  const angle = Math.atan2(y1 - y0, x1 - x0) * 180 / Math.PI;
  const at = [x0 + (x1 - x0) * 0.3, y0 + (y1 - y0) * 0.3];
  return [
    svg("line", {x1: x0, y1: y0, x2: x1, y2: y1,
                 class: `roof${used ? " used" : ""}`}),
    svg("text", {x: at[0], y: at[1] + (used ? -6 : 15), class: "roof-label",
                 transform: `rotate(${angle} ${at[0]} ${at[1]})`},
        `${label} ${formatBandwidth(perNs)}`),
  ];
}

function roofLines(roofs, r, dma, x, y) {
  const highest = roofs[0].peak;
  const out = slope(r.hbm_bytes_per_ns, highest, "HBM", x, y, true);
  // Where the DMA engines together carry less than HBM gives.
  if (dma > 0 && dma < r.hbm_bytes_per_ns) {
    out.push(...slope(dma, highest, "DMA engines", x, y, false));
  }
  let last = -Infinity;
  for (const roof of roofs) {
    const h = y.at(roof.peak);
    const ridge = x.at(roof.peak / r.hbm_bytes_per_ns);
    out.push(svg("line", {x1: ridge, x2: ROOF.width - ROOF.right, y1: h,
                          y2: h, class: `roof${roof.used ? " used" : ""}`}));
    // Labels of roofs that lie close together go below one another.
    const place = last < h - 18 ? h - 5 : Math.max(h, last) + 14;
    last = place;
    out.push(svg("text", {x: ROOF.width - ROOF.right - 2, y: place,
                          "text-anchor": "end",
                          class: `roof-label${roof.used ? " used" : ""}`},
                 `${formatFlops(roof.peak)} ${roof.dtypes.join(", ")}`));
  }
  return out;
}

function kernelPoint(r, x, y) {
  const px = x.at(r.intensity), py = y.at(r.achieved_flops_per_ns);
  const allowed = Math.min(r.peak_flops_per_ns,
                           r.intensity * r.hbm_bytes_per_ns);
  const flip = px > ROOF.width * 0.6;
  const tx = px + (flip ? -12 : 12), anchor = flip ? "end" : "start";
  return [
    svg("line", {x1: px, x2: px, y1: py, y2: y.at(allowed), class: "gap"}),
    svg("circle", {cx: px, cy: py, r: 6, class: "kernel",
                   "data-intensity": r.intensity,
                   "data-achieved": r.achieved_flops_per_ns}),
    svg("text", {x: tx, y: py + 12, "text-anchor": anchor, class: "kernel"},
        `this kernel: ${formatFlops(r.achieved_flops_per_ns)}`),
    svg("text", {x: tx, y: py + 27, "text-anchor": anchor},
        `at ${significant(r.intensity, 4)} FLOP per byte`),
  ];
}
