// One instruction or DMA transfer in words: the tooltip, and the panel of the
// pinned one with the way to its producer and its consumers.

function rowsOf(pairs) {
  return pairs.filter(([, value]) => value !== null && value !== "")
      .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])
      .flat();
}

function instructionFacts(profile, row) {
  const n = profile.instructions;
  const wait = n.start[row] - waitFrom(n, row);
  const producer = profile.producerOf({kind: "instruction", row});
  const extra = n.extra ? n.extra[row] : 0;
  return [
    ["operation", profile.operationOf(row)],
    ["engine", `${n.engine[row]}, core ${n.core[row]}`],
    ["source", profile.sourceOf(row)],
    ["start", formatTimeExact(n.start[row])],
    ["busy", formatTimeExact(n.issue_end[row] - n.start[row])],
    ["result after", formatTimeExact(n.end[row] - n.start[row])],
    ["of which extra", extra > 0
        ? `${formatTimeExact(extra)} (table load or throttling)` : null],
    ["waited", wait > 0 ? formatTimeExact(wait) : null],
    ["for", profile.semaphoreOf(row)],
    ["signalled by", producer ? profile.nameOf(producer) : null],
  ];
}

function dmaFacts(profile, row) {
  const d = profile.dma;
  const time = d.end[row] - d.start[row];
  return [
    ["DMA engine", `${d.engine[row]}, core ${d.core[row]}`],
    ["queue", String(d.queue[row])],
    ["direction", d.direction ? d.direction[row] : null],
    ["bytes", d.bytes ? formatBytes(d.bytes[row]) : null],
    ["descriptors", d.descriptors ? formatCount(d.descriptors[row]) : null],
    ["triggered", d.trigger ? formatTimeExact(d.trigger[row]) : null],
    ["start", formatTimeExact(d.start[row])],
    ["takes", formatTimeExact(time)],
    ["rate", d.bytes && time > 0 ? formatBandwidth(d.bytes[row] / time)
                                 : null],
    ["seen done", d.notify ? formatTimeExact(d.notify[row]) : null],
    ["source", d.instruction[row] >= 0
        ? profile.sourceOf(d.instruction[row]) : null],
  ];
}

function headingOf(profile, {kind, row}) {
  if (kind === "instruction") return profile.textOf(row);
  const trigger = profile.dma.instruction[row];
  return trigger >= 0 ? profile.textOf(trigger)
                      : profile.nameOf({kind, row});
}

function factsOf(profile, selection) {
  return selection.kind === "dma" ? dmaFacts(profile, selection.row)
                                  : instructionFacts(profile, selection.row);
}

function describe(profile, selection) {
  return el("div", {}, el("p", {class: "code"}, headingOf(profile, selection)),
            el("dl", {class: "facts"}, rowsOf(factsOf(profile, selection))));
}

// A button that pins what it names.
function linkTo(app, selection, text) {
  return el("button", {
    class: "link", click: () => app.select(selection, true),
  }, text || app.profile.nameOf(selection));
}

const MOST_CONSUMERS = 8;

function detailsPanel(app, selection) {
  const {profile} = app;
  const producer = profile.producerOf(selection);
  const consumers = profile.consumersOf(selection);
  const facts = factsOf(profile, selection)
                    .filter(([name]) => name !== "signalled by");
  if (producer) {
    facts.push([
      selection.kind === "dma" ? "triggered by" : "signalled by",
      linkTo(app, producer)]);
  }
  if (consumers.length) {
    const links = consumers.slice(0, MOST_CONSUMERS).map(
        (row) => linkTo(app, {kind: "instruction", row}));
    const more = consumers.length - links.length;
    facts.push(["waited for by", el("span", {class: "links"}, links,
                                    more > 0 ? ` and ${more} more` : null)]);
  }
  return el(
      "div", {class: "panel"},
      el("div", {class: "bar"},
         el("h3", {}, selection.kind === "dma"
                ? `DMA part ${selection.row}`
                : `Instruction ${selection.row}`),
         el("button", {click: () => app.step(-1)}, "Previous on the track"),
         el("button", {click: () => app.step(1)}, "Next on the track"),
         el("button", {
           click: () => app.followProducer(), disabled: !producer,
         }, "Follow the producer"),
         el("button", {click: () => app.zoomToSelection()}, "Zoom to it"),
         el("button", {click: () => app.select(null)}, "Unpin")),
      el("p", {class: "code"}, headingOf(profile, selection)),
      el("dl", {class: "facts wide"}, rowsOf(facts)));
}
