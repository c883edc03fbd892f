// Finding instructions by text, opcode, operation or source line.

class Search {
  constructor(app) {
    this.app = app;
    this.input = byId("search");
    this.count = byId("search-count");
    this.found = [];
    this.at = -1;
    let timer = 0;
    this.input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.run(), 120);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.go(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.input.value = "";
        this.run();
        app.timeline.canvas.focus();
      }
    });
    byId("search-next").addEventListener("click", () => this.go(1));
    byId("search-previous").addEventListener("click", () => this.go(-1));
  }

  // Which texts, opcodes, ... match: each string is looked at once, however
  // many instructions have it.
  matching(strings, needle) {
    return Uint8Array.from(
        strings, (s) => (String(s).toLowerCase().includes(needle) ? 1 : 0));
  }

  matches(needle) {
    const {profile} = this.app;
    const n = profile.instructions;
    const columns = [
      [n.text, this.matching(profile.texts, needle)],
      [n.opcode, this.matching(profile.opcodes, needle)],
      [n.operation, this.matching(profile.operations, needle)],
      [n.source, this.matching(profile.sources, needle)],
    ].filter(([column]) => column);
    const instructions = new Uint8Array(n.length);
    for (let i = 0; i < n.length; ++i) {
      instructions[i] =
          columns.some(([column, hit]) => column[i] >= 0 && hit[column[i]]);
    }
    const dma = Uint8Array.from(
        profile.dma.instruction, (i) => (i >= 0 ? instructions[i] : 0));
    return {instructions, dma};
  }

  run() {
    const needle = this.input.value.trim().toLowerCase();
    const {timeline, profile} = this.app;
    this.needle = needle;
    if (!needle) {
      this.found = [];
      this.count.value = "";
      timeline.setMatches(null);
    } else {
      const matches = this.matches(needle);
      this.found = [];
      matches.instructions.forEach((m, i) => m && this.found.push(i));
      const start = profile.instructions.start;
      this.found.sort((a, b) => start[a] - start[b]);
      timeline.setMatches(matches);
      this.show();
    }
    this.at = -1;
    this.app.redraw();
  }

  show() {
    const total = formatCount(this.found.length);
    this.count.value = this.at >= 0 ? `${this.at + 1} of ${total}`
                                    : `${total} found`;
  }

  go(by) {
    if ((this.needle || "") !== this.input.value.trim().toLowerCase()) {
      this.run();
    }
    const most = this.found.length;
    if (!most) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : most - 1)
                          : (this.at + by + most) % most;
    this.show();
    this.app.select({kind: "instruction", row: this.found[this.at]}, true);
  }
}
