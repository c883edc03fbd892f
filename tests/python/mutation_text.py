"""A program's text form, taken apart far enough to change it.

Only what docs/program-format.md says of it is used. Operands whose tensor has
no unique name are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import re

_INSTRUCTION = re.compile(
    r"  (?P<engine>\w+) #(?P<order>\d+) (?P<operation>\w+)\.(?P<step>\d+) "
    r"(?P<opcode>\w+)(?P<body>.*?)(?: wait (?P<waits>[^@]*?))?"
    r"(?: signal (?P<signals>[^@]*?))?(?P<source> @src\d+)?")
_NAME = r'(?:"[^"]*"|[A-Za-z_]\w*)'
_ACCESS = re.compile(
    rf"(?P<operand>\w+)=(?P<tensor>{_NAME})\["
    r"(?:(?P<first>\d+):(?P<end>\d+), )?(?P<offset>\d+)\+"
    r"(?P<pattern>[-\dx,]+)(?P<moved> @[^\]]*)?\]:(?P<dtype>\w+)")
_TENSOR = re.compile(
    rf"tensor \d+ (?P<name>{_NAME}) (?P<space>\w+) (?P<dtype>\w+) "
    r"\((?P<shape>[\d, ]+)\)(?: core=(?P<core>\d+) partition=(?P<partition>\d+)"
    r" address=(?P<address>\d+))?")


def width(dtype: str) -> int:
    """Bytes of an element."""
    if dtype.endswith("_x4"):
        return 2 if dtype.startswith("float4") else 4
    if dtype.startswith(("float8", "bool")):
        return 1
    return {"8": 1, "16": 2, "19": 4, "32": 4}[
        re.findall(r"\d+", dtype)[-1]]


@dataclass
class Instruction:
    """One instruction; `line` is where it stands. waits and signals as text,
    without their words."""

    line: int
    core: int
    engine: str
    order: int
    operation: str
    step: int
    opcode: str
    body: str
    waits: list[str]
    signals: list[str]
    source: str

    def __str__(self) -> str:
        text = (f"  {self.engine} #{self.order} {self.operation}.{self.step} "
                f"{self.opcode}{self.body}")
        if self.waits:
            text += " wait " + " ".join(self.waits)
        if self.signals:
            text += " signal " + " ".join(self.signals)
        return text + self.source

    def accesses(self) -> list[re.Match[str]]:
        return list(_ACCESS.finditer(self.body))


@dataclass
class Tensor:
    """A tensor statement; address is None in HBM."""

    line: int
    space: str
    dtype: str
    shape: tuple[int, ...]
    core: int
    address: int | None

    @property
    def row(self) -> int:
        """Bytes of a partition; in HBM of all."""
        n = width(self.dtype)
        for size in self.shape[0 if self.address is None else 1:]:
            n *= size
        return n


@dataclass
class Listing:
    """A text form: its lines, and what the instructions and tensors are."""

    lines: list[str]
    instructions: list[Instruction] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Listing:
        self, core = cls(text.split("\n")), 0
        for n, line in enumerate(self.lines):
            if line.startswith("core "):
                core = int(line.split()[1])
            elif line.startswith("tensor "):
                self._tensor(n, line)
            elif line.startswith("  ") and "#" in line:
                self._instruction(n, line, core)
        return self

    def _tensor(self, n: int, line: str) -> None:
        m = _TENSOR.match(line)
        assert m, line
        address = m["address"] and int(m["address"])
        shape = tuple(int(x) for x in m["shape"].split(",") if x.strip())
        self.tensors[m["name"]] = Tensor(
            n, m["space"], m["dtype"], shape, int(m["core"] or 0), address)

    def _instruction(self, n: int, line: str, core: int) -> None:
        m = _INSTRUCTION.fullmatch(line)
        assert m, line
        one = Instruction(
            n, core, m["engine"], int(m["order"]), m["operation"],
            int(m["step"]), m["opcode"], m["body"],
            (m["waits"] or "").split(), (m["signals"] or "").split(),
            m["source"] or "")
        assert str(one) == line, (str(one), line)
        self.instructions.append(one)

    def text(self, changed: dict[int, str | None]) -> str:
        """The text with lines (by number) replaced, or removed by None."""
        out = (changed.get(n, line) for n, line in enumerate(self.lines))
        return "\n".join(line for line in out if line is not None)

    def single(self) -> list[Instruction]:
        """Instructions that are an operation by themselves."""
        multiple = {(i.core, i.line) for i in self.instructions if i.step}
        last: dict[tuple[int, str], Instruction] = {}
        for i in self.instructions:
            if i.opcode in ("PsumReset", "Nop"):
                continue
            before = last.get((i.core, i.engine))
            if i.step and before is not None:
                multiple.add((before.core, before.line))
            last[i.core, i.engine] = i
        return [i for i in self.instructions
                if (i.core, i.line) not in multiple]

    def queues(self, i: Instruction) -> int:
        """How often a DMA signals: once for each of its queues."""
        m = re.search(r"queue_set=(\d+)", i.body)
        if not m:
            return 1
        line = next(x for x in self.lines
                    if x.startswith(f"queue_set {m[1]} "))
        found = re.search(r"queues=(\d+)", line)
        assert found
        return int(found[1])

    def dma_semaphores(self) -> set[str]:
        """Semaphores that a DMA signals."""
        return {re.split(r"\W", s)[0] for i in self.instructions
                if "queue_set=" in i.body for s in i.signals}
