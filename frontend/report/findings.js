// Stalls, with who is waited for, and the critical path.

function placeButton(app, kind, row, from, to, text) {
  if (!(row >= 0)) {
    return el("button", {class: "link", click: () => {
      app.view.center([from, to]);
      app.showTimeline();
    }}, text);
  }
  return el("button", {class: "link", click: () => {
    app.select({kind, row}, true);
    app.view.center([from, to]);
    app.showTimeline();
  }}, text);
}

function stallSummaryRows(profile) {
  if (profile.stall_summary.length) return profile.stall_summary;
  const totals = new Map();
  for (const s of profile.stalls) {
    const key = `${s.core} ${s.engine} ${s.cause}`;
    if (!totals.has(key)) {
      totals.set(key, {core: s.core, engine: s.engine, cause: s.cause,
                       count: 0, total_ns: 0});
    }
    const row = totals.get(key);
    row.count++;
    row.total_ns += s.to - s.from;
    row.share = profile.total > 0 ? row.total_ns / profile.total : 0;
  }
  return [...totals.values()];
}

const engineName = (app, s) =>
    (app.profile.cores > 1 ? `${s.engine}, core ${s.core}` : s.engine);

// Who the stall's engine waited for, as a selection; null if not known.
function stallProducer(s) {
  if (s.producer_dma >= 0) return {kind: "dma", row: s.producer_dma};
  return s.producer >= 0 ? {kind: "instruction", row: s.producer} : null;
}

function producerText(profile, s) {
  const producer = stallProducer(s);
  return producer ? headingOf(profile, producer) : "";
}

function producerLink(app, s) {
  const producer = stallProducer(s);
  if (!producer) return "\u2013";
  const text = headingOf(app.profile, producer);
  return el("button", {class: "link code", click: () => {
    app.select(producer, true);
    app.showTimeline();
  }}, text.length > 70 ? `${text.slice(0, 69)}\u2026` : text);
}

function stallTables(app) {
  const {profile} = app;
  const summary = sortableTable("Stalls by cause", [
    {name: "engine", get: (s) => engineName(app, s)},
    {name: "waits for", get: (s) => causeName(s.cause)},
    {name: "stalls", get: (s) => s.count, number: true,
     show: (s) => formatCount(s.count)},
    timeColumn("total", (s) => s.total_ns),
    shareColumn("share of the run", (s) => s.share || 0),
  ], stallSummaryRows(profile), 3);
  const longest = sortableTable("Single stalls", [
    {name: "engine", get: (s) => engineName(app, s)},
    {name: "from", get: (s) => s.from, number: true,
     show: (s) => placeButton(app, "instruction", s.row, s.from, s.to,
                              formatTime(s.from))},
    timeColumn("length", (s) => s.to - s.from),
    {name: "waits for", get: (s) => causeName(s.cause)},
    {name: "producer", get: (s) => producerText(profile, s), wide: true,
     show: (s) => producerLink(app, s)},
  ], profile.stalls, 2);
  return [summary.element, longest.element];
}

// One bar, divided as the critical path is.
function criticalBar(profile, colours) {
  const rows = criticalTotals(profile);
  const all = rows.reduce((sum, r) => sum + r.total_ns, 0);
  if (!(all > 0)) return null;
  const label = (r) => `${r.name}: ${formatTime(r.total_ns)} ` +
                       `(${formatPercent(r.total_ns / all)})`;
  const parts = rows.map((r, i) => el("span", {
    class: `part c${i % PALETTE_SIZE}`, title: label(r),
    style: `flex-grow: ${r.total_ns / all}`,
  }));
  const keys = rows.map((r, i) => el(
      "li", {}, el("i", {class: `c${i % PALETTE_SIZE}`}), label(r)));
  return el("div", {}, el("div", {
    class: "stack", role: "img",
    "aria-label": `Critical path: ${rows.map(label).join("; ")}`,
  }, parts), el("ul", {class: "legend"}, keys));
}

function criticalTable(app) {
  return sortableTable("Steps of the critical path", [
    {name: "from", get: (s) => s.from, number: true,
     show: (s) => placeButton(app, s.kind === "dma" ? "dma" : "instruction",
                              s.row, s.from, s.to, formatTime(s.from))},
    timeColumn("length", (s) => s.to - s.from),
    {name: "counts as", get: (s) => causeName(s.cause || s.kind)},
    {name: "what", get: (s) => s.text || "", code: true, wide: true},
  ], app.profile.critical_path, 1).element;
}

function drawFindings(app) {
  const {profile, colours} = app;
  const parts = [];
  if (profile.stalls.length || profile.stall_summary.length) {
    parts.push(...stallTables(app));
  } else {
    parts.push(el("p", {class: "note"}, "No engine waited for another."));
  }
  if (profile.critical_path.length) {
    parts.push(el("h3", {}, "Critical path"), criticalBar(profile, colours),
               criticalTable(app));
  }
  byId("stall-views").replaceChildren(...parts.filter(Boolean));
}
