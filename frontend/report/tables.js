// Tables that sort by a click on a heading, and the breakdowns.

const ROWS_AT_FIRST = 20;

// columns: {name, get(row), show(row), number, bar(row) 0..1, code, wide}.
// `sort` is the index of the column to begin with, or null for the given
// order. Returns {element, refresh}.
function sortableTable(caption, columns, rows, sort) {
  let by = sort, descending = true, all = false;
  const body = el("tbody");
  const heads = columns.map((column, i) => el(
      "th", {scope: "col", class: column.number ? "number" : null},
      el("button", {
        click: () => {
          descending = by === i ? !descending : Boolean(column.number);
          by = i;
          refresh();
        },
      }, column.name)));
  const more = el("button", {class: "more", click: () => {
    all = !all;
    refresh();
  }});
  function sorted() {
    if (by === null) return rows;
    const {get} = columns[by];
    const sign = descending ? -1 : 1;
    return rows.slice().sort((a, b) => {
      const x = get(a), y = get(b);
      if (typeof x === "number" && typeof y === "number") {
        return sign * (x - y);
      }
      return sign * String(x).localeCompare(String(y), "en", {numeric: true});
    });
  }
  function refresh() {
    heads.forEach((th, i) => {
      if (i === by) {
        th.setAttribute("aria-sort", descending ? "descending" : "ascending");
      } else {
        th.removeAttribute("aria-sort");
      }
    });
    const shown = all ? sorted().slice(0, 5000) : sorted().slice(
        0, ROWS_AT_FIRST);
    body.replaceChildren(...shown.map(
        (row) => el("tr", {}, columns.map((c) => cellOf(c, row)))));
    more.hidden = rows.length <= ROWS_AT_FIRST;
    more.textContent = all ? "Fewer" : `All ${formatCount(rows.length)}`;
  }
  refresh();
  const element = el(
      "div", {class: "table"},
      el("table", {}, el("caption", {}, caption),
         el("thead", {}, el("tr", {}, heads)), body), more);
  return {element, refresh};
}

function cellOf(column, row) {
  const value = column.get(row);
  const shown = column.show ? column.show(row) : value;
  const classes = [column.number && "number", column.code && "code",
                   column.wide && "wide", column.bar && "barred"];
  const cell = el("td", {
    class: classes.filter(Boolean).join(" ") || null,
    "data-value": typeof value === "number" ? value : null,
  }, shown === null || shown === undefined ? "\u2013"
       : shown instanceof Node ? shown : String(shown));
  if (column.bar) {
    const share = Math.max(0, Math.min(1, column.bar(row) || 0));
    cell.style.setProperty("--share", `${share * 100}%`);
  }
  return cell;
}

function timeColumn(name, get) {
  return {name, get, number: true, show: (row) => formatTime(get(row))};
}

function shareColumn(name, get) {
  return {name, get, number: true, bar: get,
          show: (row) => formatPercent(get(row))};
}

function engineTable(profile) {
  const engines = profile.engines.slice().sort(
      (a, b) => a.core - b.core ||
                engineRank(a.engine) - engineRank(b.engine));
  return sortableTable("Engines", [
    {name: "engine", get: (e) => e.engine},
    ...(profile.cores > 1
            ? [{name: "core", get: (e) => e.core, number: true}] : []),
    {name: "instructions", get: (e) => e.instructions, number: true,
     show: (e) => formatCount(e.instructions)},
    timeColumn("busy", (e) => e.busy_ns),
    shareColumn("active", (e) => (e.active_percent || 0) / 100),
    timeColumn("waiting", (e) => e.waiting_ns),
    ...["throttled", "table_load"].filter(
        (name) => engines.some((e) => e[`${name}_ns`] > 0)).map(
        (name) => timeColumn(name.replace("_", " "),
                             (e) => e[`${name}_ns`] || 0)),
  ], engines, null);
}

function operationTable(profile) {
  return sortableTable("Operations", [
    {name: "operation", get: (o) => o.operation, code: true},
    {name: "count", get: (o) => o.count, number: true,
     show: (o) => formatCount(o.count)},
    timeColumn("busy", (o) => o.busy_ns),
    shareColumn("share of the run", (o) => o.share || 0),
  ], profile.by_operation, 2);
}

// Totals of the instructions by a column that indexes names.
function totalsBy(profile, column, names) {
  const n = profile.instructions;
  const rows = names.map((name) => ({name, count: 0, busy: 0, wait: 0}));
  if (!column) return [];
  let all = 0;
  for (let i = 0; i < n.length; ++i) {
    const row = rows[column[i]];
    const busy = n.issue_end[i] - n.start[i];
    all += busy;
    if (!row) continue;
    row.count++;
    row.busy += busy;
    row.wait += n.start[i] - waitFrom(n, i);
  }
  for (const row of rows) row.share = all > 0 ? row.busy / all : 0;
  return rows.filter((row) => row.count > 0);
}

function totalsTable(caption, heading, rows) {
  return sortableTable(caption, [
    {name: heading, get: (r) => r.name, code: true},
    {name: "instructions", get: (r) => r.count, number: true,
     show: (r) => formatCount(r.count)},
    timeColumn("busy", (r) => r.busy),
    shareColumn("share of busy time", (r) => r.share),
    timeColumn("waiting", (r) => r.wait),
  ], rows, 2);
}

function drawTables(profile) {
  const n = profile.instructions;
  const tables = [engineTable(profile)];
  if (profile.by_operation.length) tables.push(operationTable(profile));
  tables.push(totalsTable("Opcodes", "opcode",
                          totalsBy(profile, n.opcode, profile.opcodes)));
  if (profile.sources.length) {
    tables.push(totalsTable("Source lines", "source",
                            totalsBy(profile, n.source, profile.sources)));
  }
  byId("tables").replaceChildren(...tables.map((t) => t.element));
}
