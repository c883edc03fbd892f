// Tracks: what is drawn in which row. A lane's slices follow one another, so
// that whatever is visible is found by binary search, however many there are.

// The first i in [from, sorted.length) with sorted[i] > t.
function firstAbove(sorted, t, from = 0) {
  let low = from, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] > t) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Intervals in order of their starts.
class Spans {
  constructor(rows, starts, ends) {
    this.rows = rows;
    this.start = starts;
    this.end = ends;
    const n = starts.length;
    // The largest end so far: sorted even where slices overlap.
    this.reach = new Float64Array(n);
    // Time covered by the slices before i, for the density of merged ones.
    this.covered = new Float64Array(n + 1);
    let reach = -Infinity;
    for (let i = 0; i < n; ++i) {
      reach = Math.max(reach, ends[i]);
      this.reach[i] = reach;
      this.covered[i + 1] = this.covered[i] + (ends[i] - starts[i]);
    }
    this.hits = null;  // with a search: matches before i
  }
  get length() {
    return this.start.length;
  }
  mark(matches) {
    if (!matches) {
      this.hits = null;
      return;
    }
    this.hits = new Int32Array(this.length + 1);
    for (let i = 0; i < this.length; ++i) {
      this.hits[i + 1] = this.hits[i] + matches[this.rows[i]];
    }
  }
  // The slice at time t, or one within `slack` of it; -1 if none.
  at(t, slack) {
    let best = -1, distance = slack;
    let i = Math.min(this.length, firstAbove(this.start, t + slack)) - 1;
    for (let steps = 0; i >= 0 && steps < 64; --i, ++steps) {
      if (this.reach[i] < t - slack) break;
      const d = Math.max(0, this.start[i] - t, t - this.end[i]);
      if (d <= distance) {
        best = i;
        distance = d;
        if (d === 0) break;
      }
    }
    return best;
  }
}

// The union of intervals, as Spans without rows.
function unionOf(pairs) {
  pairs.sort((a, b) => a[0] - b[0]);
  const starts = [], ends = [];
  for (const [from, to] of pairs) {
    if (!(to > from)) continue;
    if (ends.length && from <= ends[ends.length - 1]) {
      ends[ends.length - 1] = Math.max(ends[ends.length - 1], to);
    } else {
      starts.push(from);
      ends.push(to);
    }
  }
  return new Spans(null, Float64Array.from(starts), Float64Array.from(ends));
}

// Puts rows (any order) into as few lanes as keep them apart, at most `most`.
function splitLanes(rows, start, end, most) {
  const inOrder = rows.every((r, i) => !i || start[rows[i - 1]] <= start[r]);
  const order = inOrder ? rows
                        : rows.slice().sort((a, b) => start[a] - start[b]);
  const lanes = [], reach = [];
  const slack = 1e-6;
  for (const row of order) {
    let lane = reach.findIndex((r) => r <= start[row] + slack);
    if (lane < 0) lane = lanes.length < most ? lanes.length : most - 1;
    if (lane === lanes.length) {
      lanes.push([]);
      reach.push(-Infinity);
    }
    lanes[lane].push(row);
    reach[lane] = Math.max(reach[lane], end[row]);
  }
  return lanes.map((list) => new Spans(
      Int32Array.from(list), Float64Array.from(list, (r) => start[r]),
      Float64Array.from(list, (r) => end[r])));
}

// Rows by a number each.
function groupRows(length, keyOf) {
  const groups = new Map();
  for (let i = 0; i < length; ++i) {
    const key = keyOf(i);
    const group = groups.get(key);
    if (group) {
      group.push(i);
    } else {
      groups.set(key, [i]);
    }
  }
  return groups;
}

function engineTracks(profile) {
  const n = profile.instructions;
  const engines = new Map();
  for (const engine of new Set(n.engine)) engines.set(engine, engines.size);
  const groups = groupRows(
      n.length, (i) => n.core[i] * engines.size + engines.get(n.engine[i]));
  const tracks = [];
  for (const rows of groups.values()) {
    const core = n.core[rows[0]], engine = n.engine[rows[0]];
    tracks.push({
      kind: "instruction", core, engine, label: engine,
      order: engineRank(engine), laneHeight: 20,
      lanes: splitLanes(rows, n.start, n.issue_end, 4),
      tails: unionOf(rows.map((r) => [n.issue_end[r], n.end[r]])),
      waits: unionOf(rows.map((r) => [waitFrom(n, r), n.start[r]])),
    });
  }
  return tracks;
}

// When the row began to wait for a semaphore; its start if it did not.
function waitFrom(n, row) {
  if (n.wait_from) {
    return n.wait_from[row] >= 0 ? n.wait_from[row] : n.start[row];
  }
  return n.wait_semaphore[row] >= 0 ? n.ready[row] : n.start[row];
}

function dmaTracks(profile, by) {
  const d = profile.dma;
  if (!d.length || by === "none") return [];
  const set = (i) => (by === "queue" ? d.queue_set[i] : -1);
  const key = (i) => (by === "queue" ? d.queue[i] : d.engine[i]);
  const groups = groupRows(
      d.length, (i) => (d.core[i] * 4096 + set(i) + 1) * 4096 + key(i));
  const tracks = [];
  for (const rows of groups.values()) {
    const first = rows[0];
    // The engine takes the next part when it is free, before the end of this.
    const free = d.free || d.end;
    const owner = profile.queue_sets[set(first)];
    const name = owner && owner.name ? `${owner.name} ` : "queue ";
    tracks.push({
      kind: "dma", core: d.core[first], engine: null,
      label: by === "queue" ? `${name}${key(first)}` : `DMA ${key(first)}`,
      order: 100 + Math.max(0, set(first)) * 1000 + key(first),
      laneHeight: 11,
      lanes: splitLanes(rows, d.start, free, 3), tails: null, waits: null,
    });
  }
  return tracks;
}

// All tracks with their places: y from the top, a lane each of laneHeight.
class Layout {
  constructor(profile, dmaBy) {
    this.tracks = engineTracks(profile).concat(dmaTracks(profile, dmaBy));
    this.tracks.sort((a, b) => a.core - b.core || a.order - b.order);
    this.place(profile.cores > 1 || this.tracks.some((t) => t.core > 0));
    this.places = {
      instruction: this.index("instruction", profile.instructions.length),
      dma: this.index("dma", profile.dma.length),
    };
    this.addCritical(profile.critical_path);
  }
  place(withCores) {
    let y = 0, core = -1;
    this.headings = [];
    for (const track of this.tracks) {
      if (track.core !== core) {
        core = track.core;
        if (withCores) {
          this.headings.push({y, text: `core ${core}`});
          y += 20;
        }
      }
      track.y = y;
      track.height = track.laneHeight * track.lanes.length;
      y += track.height + (track.kind === "dma" ? 1 : 4);
    }
    this.height = y;
  }
  // Where each row is: its track, lane and place in the lane.
  index(kind, rows) {
    const at = {track: new Int32Array(rows).fill(-1),
                lane: new Int8Array(rows), i: new Int32Array(rows)};
    this.tracks.forEach((track, t) => {
      if (track.kind !== kind) return;
      track.lanes.forEach((spans, lane) => {
        spans.rows.forEach((row, i) => {
          at.track[row] = t;
          at.lane[row] = lane;
          at.i[row] = i;
        });
      });
    });
    return at;
  }
  // Where a selection is: {track, lane, i}, or null if it is hidden.
  find({kind, row}) {
    const at = this.places[kind];
    const track = this.tracks[at.track[row]];
    return track ? {track, lane: at.lane[row], i: at.i[row]} : null;
  }
  // The critical path, on the track of each of its steps.
  addCritical(path) {
    const pairs = new Map(this.tracks.map((t) => [t, []]));
    for (const step of path) {
      const kind = step.kind === "dma" ? "dma" : "instruction";
      const at = step.row >= 0 && this.find({kind, row: step.row});
      if (at) pairs.get(at.track).push([step.from, step.to]);
    }
    for (const [track, list] of pairs) track.critical = unionOf(list);
  }
}
