// The numbers at the top, and what the kernel is bound by.

function metric(profile, pattern) {
  return profile.summary.find((m) => pattern.test(m.name)) || null;
}

function formatMetric({value, unit}) {
  if (typeof value !== "number") {
    return value === null || value === undefined ? "\u2013" : String(value);
  }
  switch ((unit || "").toLowerCase()) {
    case "ns": case "nanoseconds": return formatTime(value);
    case "us": case "microseconds": return formatTime(value * 1e3);
    case "s": case "seconds": return formatTime(value * 1e9);
    case "bytes": case "byte": case "b": return formatBytes(value);
    // As in the vendor's files, where a percent is a share of 1.
    case "percent": case "ratio": return formatPercent(value);
    case "flops": return formatScaled(
        value, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"], 1000);
    case "": case "count": case "instructions":
      return Number.isInteger(value) ? formatCount(value)
                                     : significant(value, 4);
    default:
      return `${Number.isInteger(value) ? formatCount(value)
                                        : significant(value, 4)} ${unit}`;
  }
}

// What causes are called here.
const CAUSES = {
  "dma load": "DMA loads", "dma store": "DMA stores",
  "dma hbm": "DMA within HBM", "dma on-chip": "DMA on chip",
  "hand-off": "semaphore hand-off", "dependence": "own results",
};
const causeName = (cause) =>
    CAUSES[cause] ||
    (ENGINE_ORDER.includes(cause) ? `${cause} engine` : String(cause));

// The critical path by cause, longest first: [{name, total_ns}].
function criticalTotals(profile) {
  const totals = new Map();
  const add = (cause, time) =>
      totals.set(cause, (totals.get(cause) || 0) + time);
  if (profile.critical_summary.length) {
    for (const s of profile.critical_summary) add(s.cause, s.total_ns);
  } else {
    for (const s of profile.critical_path) add(s.cause || s.kind, s.to - s.from);
  }
  return [...totals].map(([cause, total_ns]) => ({name: causeName(cause),
                                                  total_ns}))
      .filter((t) => t.total_ns > 0)
      .sort((x, y) => y.total_ns - x.total_ns);
}

// What most of the critical path is: [name, share], or null.
function boundBy(profile) {
  const totals = criticalTotals(profile);
  const all = totals.reduce((sum, t) => sum + t.total_ns, 0);
  return all > 0 ? [totals[0].name, totals[0].total_ns / all] : null;
}

function card(name, value, {note, title, raw} = {}) {
  return el("div", {class: "card", title}, el("dt", {}, name),
            el("dd", {"data-value": raw}, value),
            note ? el("dd", {class: "note"}, note) : null);
}

// What --hardware changes.
function hardwareCards(profile) {
  const changes = profile.hardware.changes || [];
  if (!changes.length) return [];
  const of = (v) =>
      (v === null ? "nothing" : String(Number(v.toPrecision(10))));
  const texts = changes.map(
      (c) => `${c.constant} ${of(c.stock)} \u2192 ${of(c.value)} ${c.unit}` +
             (c.no_effect ? ` (has no effect: ${c.no_effect})` : ""));
  const note = texts.length > 2
      ? `${texts.slice(0, 2).join("; ")} and ${texts.length - 2} more` :
      texts.join("; ");
  return [card("Hardware", `${texts.length} constant` +
               (texts.length > 1 ? "s differ" : " differs"),
               {raw: texts.length, title: texts.join("\n"), note})];
}

function drawHeadline(profile) {
  document.title = `${profile.program || "program"}: trnemu profile`;
  byId("title").textContent = profile.program || "trnemu profile";
  const cards = [
    card("Target", profile.target || "?", {
      raw: profile.target,
      note: `${profile.cores || 1} core${profile.cores > 1 ? "s" : ""}, ` +
            `simulated`,
    }),
    ...hardwareCards(profile),
    card("Time", formatTime(profile.time_ns),
         {raw: profile.time_ns, title: formatTimeExact(profile.time_ns),
          note: `${formatCount(profile.instructions.length)} instructions`}),
  ];
  for (const [label, pattern, note] of [
         ["MFU", /^mfu/i, "of the peak FLOPS"],
         ["MBU", /^mbu/i, "of the HBM bandwidth"]]) {
    const m = metric(profile, pattern);
    if (m) {
      cards.push(card(label, formatMetric(m),
                      {raw: m.value, title: m.meaning, note}));
    }
  }
  const bound = boundBy(profile);
  if (bound) {
    cards.push(card("Bound by", bound[0], {
      raw: bound[1], note: `${formatPercent(bound[1])} of the critical path`,
    }));
  }
  byId("headline").replaceChildren(...cards);
  drawRecommendations(profile);
  drawMetrics(profile);
}

function drawRecommendations(profile) {
  const items = profile.recommendations.map((r) => el(
      "li", {},
      el("h4", {}, r.title, r.saves_ns > 0
             ? el("span", {class: "saves"}, `up to ${formatTime(r.saves_ns)}` +
                  (profile.time_ns > 0
                       ? ` (${formatPercent(r.saves_ns / profile.time_ns)})`
                       : ""))
             : null),
      el("p", {}, r.text || ""),
      r.evidence ? el("p", {class: "note"}, `Evidence: ${textOf(r.evidence)}`)
                 : null));
  if (items.length) {
    byId("recommendations").replaceChildren(
        el("h3", {}, "What would help most"),
        el("ol", {class: "recommendations"}, items));
  }
}

const textOf = (v) => (typeof v === "string" ? v : JSON.stringify(v));

function drawMetrics(profile) {
  const box = byId("metrics");
  if (!profile.summary.length) {
    box.remove();
    return;
  }
  box.append(sortableTable("Metrics", [
    {name: "metric", get: (m) => m.name, code: true},
    {name: "value", get: (m) => m.value, show: formatMetric, number: true},
    {name: "meaning", get: (m) => m.meaning || "", wide: true},
  ], profile.summary, null).element);
}
