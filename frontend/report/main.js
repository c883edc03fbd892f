// Puts the report together.

class App {
  constructor(profile) {
    this.profile = profile;
    this.colours = new Colours(profile);
    this.view = new TimeWindow(profile.total);
    this.timeline = new Timeline(profile, this.view, this.colours);
    this.strip = new Strip(profile, this.view, this.colours);
    this.tooltip = new Tooltip();
    this.selection = null;
    this.memory = memoryViews(this);
    this.wholeMemory = this.memory.every((m) => m.top * 3 >= m.capacity);
    const soon = coalesced(() => this.draw());
    this.redraw = () => soon();
    this.redraw.now = () => this.draw();
    this.view.onChange(() => this.redraw());
  }

  start() {
    drawHeadline(this.profile);
    this.fillSections();
    drawTables(this.profile);
    drawRoofline(this.profile);
    drawFindings(this);
    this.drawLegend();
    byId("memory-views").replaceChildren(
        ...this.memory.map((m) => m.element));
    if (!this.memory.length) byId("memory").hidden = true;
    new TimelineInput(this);
    this.search = new Search(this);
    this.connect();
    this.readHash();
    this.draw();
    document.documentElement.dataset.ready = "true";
  }

  fillSections() {
    const links = [];
    for (const section of document.querySelectorAll("main > section")) {
      if (section.id === "memory" && !this.memory.length) continue;
      links.push(el("a", {href: `#${section.id}`, click: (event) => {
        event.preventDefault();
        section.scrollIntoView();
      }}, section.querySelector("h2").textContent));
    }
    byId("sections").replaceChildren(...links);
  }

  connect() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("zoom-in", () => this.view.zoom(0.5));
    click("zoom-out", () => this.view.zoom(2));
    click("zoom-all", () => this.view.set(0, this.view.total));
    click("pan-left", () => this.view.pan(-0.5));
    click("pan-right", () => this.view.pan(0.5));
    byId("dma-rows").addEventListener("change", (event) => {
      this.timeline.setDma(event.target.value);
      this.redraw();
    });
    byId("dma-rows").parentElement.hidden = !this.profile.dma.length;
    byId("show-critical").addEventListener("change", (event) => {
      this.timeline.critical = event.target.checked;
      this.redraw();
    });
    byId("show-critical").parentElement.hidden =
        !this.profile.critical_path.length;
    const whole = byId("whole-memory");
    whole.checked = this.wholeMemory;
    whole.addEventListener("change", () => {
      this.wholeMemory = whole.checked;
      this.redraw();
    });
    window.addEventListener("resize", () => this.redraw());
    window.addEventListener("hashchange", () => this.readHash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
        "change", () => {
          this.colours.read();
          this.drawLegend();
          this.redraw();
        });
  }

  draw() {
    this.timeline.selection = this.selection;
    this.timeline.draw();
    this.strip.draw();
    for (const m of this.memory) m.draw();
    this.saveHash();
  }

  drawLegend() {
    const {profile, colours} = this;
    const item = (colour, text) => el(
        "span", {class: "key"},
        el("i", {style: `background: ${colour}`}), text);
    const named = colours.order.slice(0, PALETTE_SIZE)
                      .filter((op) => colours.busy[op] > 0);
    const items = named.map((op) => item(colours.ofOpcode(op),
                                         profile.opcodes[op]));
    if (colours.order.slice(PALETTE_SIZE).some((op) => colours.busy[op] > 0)) {
      items.push(item(colours.palette[PALETTE_SIZE], "other opcodes"));
    }
    if (profile.dma.length) items.push(item(colours.dma, "DMA transfer"));
    items.push(item(colours.wait, "waiting for a semaphore"),
               item(colours.muted, "result on its way"));
    if (profile.critical_path.length) {
      items.push(item(colours.critical, "critical path"));
    }
    byId("legend").replaceChildren(...items);
  }

  describe(selection) {
    return describe(this.profile, selection);
  }

  // Pins an instruction or a DMA part; `reveal` brings it into view.
  select(selection, reveal = false) {
    this.selection = selection;
    const panel = byId("details");
    if (selection) {
      panel.replaceChildren(detailsPanel(this, selection));
      if (reveal) this.view.reveal(this.profile.spanOf(selection));
    } else {
      panel.replaceChildren();
    }
    this.redraw();
  }

  // The previous or next one of the same lane; to begin with, the first one
  // that is shown.
  step(by) {
    if (!this.selection) {
      this.select(this.timeline.firstShown());
      return;
    }
    const at = this.timeline.layout.find(this.selection);
    if (!at) return;
    const {rows} = at.track.lanes[at.lane];
    const row = rows[at.i + by];
    if (row !== undefined) this.select({kind: at.track.kind, row}, true);
  }

  followProducer() {
    const producer = this.selection &&
                     this.profile.producerOf(this.selection);
    if (producer) this.select(producer, true);
  }

  zoomToSelection() {
    if (this.selection) {
      this.view.center(this.profile.spanOf(this.selection));
    }
  }

  showTimeline() {
    byId("timeline").scrollIntoView();
  }

  readHash() {
    this.knownHash = location.hash;
    const hash = readHash();
    const from = parseFloat(hash.from), to = parseFloat(hash.to);
    if (to > from) this.view.set(from, to);
    const pin = /^([id])(\d+)$/.exec(hash.pin || "");
    if (pin) {
      const kind = pin[1] === "d" ? "dma" : "instruction";
      const rows = kind === "dma" ? this.profile.dma
                                  : this.profile.instructions;
      const row = Number(pin[2]);
      if (row < rows.length) this.select({kind, row});
    }
    if (hash.q) {
      byId("search").value = hash.q;
      this.search.run();
    }
  }

  // Not over an address that somebody has just set: its hashchange, which
  // reads it, is still to come.
  saveHash() {
    if (location.hash !== this.knownHash) return;
    const {view, selection} = this;
    const digits = (t) => String(Number(t.toPrecision(12)));
    writeHash({
      from: view.isWhole ? null : digits(view.from),
      to: view.isWhole ? null : digits(view.to),
      pin: selection ? (selection.kind === "dma" ? "d" : "i") + selection.row
                     : null,
      q: this.search.needle || null,
    });
    this.knownHash = location.hash;
  }
}

new App(new Profile(byId("profile").textContent)).start();
