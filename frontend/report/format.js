// How numbers read, and making elements. Everything that comes from the
// profile reaches the page as text nodes or attributes, never as markup.

const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

function significant(x, digits) {
  if (x === 0) return "0";
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(x)));
  return x.toFixed(Math.max(0, Math.min(6, decimals)));
}

function formatTime(ns, digits = 4) {
  if (ns === null || ns === undefined || !isFinite(ns)) return "\u2013";
  const size = Math.abs(ns);
  const [scale, unit] = TIME_UNITS.find(([s]) => size >= s) || [1, "ns"];
  return `${significant(ns / scale, digits)} ${unit}`;
}

// To the picosecond, with thousands separated: for one instruction.
function formatTimeExact(ns) {
  const text = ns.toFixed(3).replace(/\.?0+$/, "");
  const [whole, part] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return `${grouped}${part ? `.${part}` : ""} ns`;
}

function formatCount(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function formatScaled(n, units, base) {
  let i = 0;
  while (Math.abs(n) >= base && i + 1 < units.length) {
    n /= base;
    ++i;
  }
  const text = significant(n, Math.abs(n) >= 1000 ? 4 : 3);
  return `${text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")} ${units[i]}`;
}

function formatBytes(n) {
  if (n < 1024) return `${formatCount(n)} B`;
  return formatScaled(n, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
}

// Rates: bytes per nanosecond are 10^9 bytes per second.
const formatBandwidth = (perNs) =>
    formatScaled(perNs * 1e9, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], 1000);
const formatFlops = (perNs) => formatScaled(
    perNs * 1e9, ["FLOPS", "kFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS"],
    1000);

const formatPercent = (share) => `${significant(share * 100, 3)}\u202f%`;

// el("td", {class: "number"}, "text", child, ...). Attributes that are
// functions are listeners; null children are left out.
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag),
              attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      node.addEventListener(name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const byId = (id) => document.getElementById(id);

// Names the device's engines by what people call them.
const ENGINE_ORDER =
    ["tensor", "vector", "scalar", "gpsimd", "sync", "dma"];

function engineRank(engine) {
  const rank = ENGINE_ORDER.indexOf(engine);
  return rank < 0 ? ENGINE_ORDER.length : rank;
}
