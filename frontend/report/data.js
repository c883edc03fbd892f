// The profile as typed arrays, unpacked: frontend/report/pack.h says how.

function decodeList(list) {
  return Array.isArray(list) ? list : decodeRuns(list.runs, null);
}

function decodeRuns(runs, Type) {
  let length = 0;
  for (let i = 1; i < runs.length; i += 2) length += runs[i];
  const out = Type ? new Type(length) : new Array(length);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    out.fill(runs[i], at, at + runs[i + 1]);
    at += runs[i + 1];
  }
  return out;
}

// A column of `table`; with a Type as an array of that type, in which null is
// "not a number". Without one it is a plain array.
function decodeColumn(column, table, Type) {
  if (column === undefined || column === null) return null;
  if (Array.isArray(column)) {
    return Type ? Type.from(column, (v) => (v === null ? NaN : v)) : column;
  }
  if (column.runs) return decodeRuns(column.runs, Type);
  if (column.names) {
    const at = decodeColumn(column.at, table, null);
    return Array.from(at, (i) => column.names[i]);
  }
  const steps = decodeList(column.delta || column.by);
  const out = new (Type || Float64Array)(steps.length);
  const base = column.after ? table[column.after] : null;
  let sum = 0;
  for (let i = 0; i < steps.length; ++i) {
    if (base) {
      out[i] = steps[i] === null ? -1 : base[i] + steps[i] * column.unit;
    } else {
      sum += steps[i];
      out[i] = sum * column.unit;
    }
  }
  return out;
}

// A list of objects that may have been turned into columns.
function decodeRows(rows) {
  if (!rows || !rows.columns) return Array.isArray(rows) ? rows : [];
  const columns = {};
  for (const [name, column] of Object.entries(rows.columns)) {
    columns[name] = decodeColumn(column, columns, null);
  }
  const names = Object.keys(columns);
  return Array.from(columns[names[0]], (_, i) => {
    const row = {};
    for (const name of names) row[name] = columns[name][i];
    return row;
  });
}

function decodeTexts(texts) {
  if (!texts || !texts.templates) return texts;
  const use = decodeColumn(texts.use, {}, Int32Array);
  const parts = texts.templates.map((t) => t.split("\u0001"));
  const held = parts.map((p) => new Float64Array(p.length - 1));
  let at = 0;
  return Array.from(use, (t) => {
    let text = parts[t][0];
    for (let i = 0; i < held[t].length; ++i) {
      held[t][i] += texts.numbers[at++];
      text += held[t][i] + parts[t][i + 1];
    }
    return text;
  });
}

const INSTRUCTION_COLUMNS = {
  core: Int32Array, engine: null, opcode: Int32Array, operation: Int32Array,
  source: Int32Array, start: Float64Array, ready: Float64Array,
  issue_end: Float64Array, end: Float64Array, wait_semaphore: Int32Array,
  producer: Int32Array, producer_dma: Int32Array, text: Int32Array,
  wait_from: Float64Array, extra: Float64Array,
};
const DMA_COLUMNS = {
  core: Int32Array, engine: Int32Array, queue: Int32Array,
  queue_set: Int32Array, instruction: Int32Array, direction: null,
  start: Float64Array, trigger: Float64Array, free: Float64Array,
  end: Float64Array, notify: Float64Array, bytes: Float64Array,
  descriptors: Int32Array,
};

function decodeTable(raw, types, indexed) {
  const table = {length: 0};
  for (const [name, Type] of Object.entries(types)) {
    const column = decodeColumn(raw[name], table, Type);
    if (column === null) continue;
    table[name] = column;
    table.length = column.length;
  }
  for (const name of indexed) {
    if (!table[name]) table[name] = new Int32Array(table.length).fill(-1);
  }
  return table;
}

function readProfile(text) {
  const p = JSON.parse(text);
  p.texts = decodeTexts(p.texts);
  for (const name of ["summary", "engines", "opcodes", "operations", "sources",
                      "semaphore_names", "texts", "stalls", "stall_summary",
                      "critical_path", "critical_summary", "recommendations",
                      "memory", "by_operation", "queue_sets"]) {
    p[name] = decodeRows(p[name]);
  }
  p.hardware = p.hardware || {};
  p.counters = p.counters || {};
  for (const counter of Object.values(p.counters)) {
    counter.t = decodeColumn(counter.t, counter, Float64Array);
    counter.v = decodeColumn(counter.v, counter, Float64Array);
  }
  p.instructions = decodeTable(
      p.instructions || {}, INSTRUCTION_COLUMNS,
      ["source", "operation", "wait_semaphore", "producer", "producer_dma"]);
  p.dma = decodeTable(p.dma || {}, DMA_COLUMNS, ["instruction", "queue_set"]);
  p.time_ns = p.time_ns || 0;
  return p;
}

// Sentences about rows.
class Profile {
  constructor(text) {
    Object.assign(this, readProfile(text));
    const {instructions: n} = this;
    this.consumers = null;  // by producer; made when asked
    this.total =
        this.time_ns || (n.end || []).reduce((a, b) => Math.max(a, b), 0);
  }
  opcodeOf(row) {
    return this.opcodes[this.instructions.opcode[row]] || "?";
  }
  operationOf(row) {
    return this.operations[this.instructions.operation[row]] || "";
  }
  sourceOf(row) {
    return this.sources[this.instructions.source[row]] || "";
  }
  textOf(row) {
    const text = this.instructions.text;
    return (text && this.texts[text[row]]) || this.opcodeOf(row);
  }
  semaphoreOf(row) {
    const s = this.instructions.wait_semaphore[row];
    return s < 0 ? "" : this.semaphore_names[s] || `semaphore ${s}`;
  }
  // {kind, row} of what the row waited for, or null.
  producerOf({kind, row}) {
    if (kind === "dma") {
      const trigger = this.dma.instruction[row];
      return trigger < 0 ? null : {kind: "instruction", row: trigger};
    }
    const n = this.instructions;
    if (n.producer_dma[row] >= 0) {
      return {kind: "dma", row: n.producer_dma[row]};
    }
    return n.producer[row] < 0 ? null
                               : {kind: "instruction", row: n.producer[row]};
  }
  consumersOf({kind, row}) {
    if (!this.consumers) {
      this.consumers = new Map();
      for (let i = 0; i < this.instructions.length; ++i) {
        const p = this.producerOf({kind: "instruction", row: i});
        if (!p) continue;
        const key = p.kind + p.row;
        if (!this.consumers.has(key)) this.consumers.set(key, []);
        this.consumers.get(key).push(i);
      }
    }
    return this.consumers.get(kind + row) || [];
  }
  nameOf({kind, row}) {
    if (kind === "dma") {
      const d = this.dma;
      return `DMA ${d.direction ? d.direction[row] : ""} on engine ` +
             `${d.engine[row]}`;
    }
    return `${this.instructions.engine[row]} ${this.opcodeOf(row)}`;
  }
  // [from, to] of what the engine was busy with.
  spanOf({kind, row}) {
    const t = kind === "dma" ? this.dma : this.instructions;
    return [t.start[row], t.end[row]];
  }
}
