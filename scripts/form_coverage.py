"""Asks the library which forms of each operation run: docs/coverage.md.

A form is an operation's legal use (coverage_forms.py) with one thing changed:
the dtype or the memory of a tile, an engine, a mode, how a tile is addressed.
Where a rule ties operands together, they are changed together. Each form is
built, verified and run on each generation.
"""

import math

import ml_dtypes
import numpy as np

import trnemu
from coverage_forms import FORMS, VALUES, WITHOUT

DTYPES = (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "bool",
    "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float16", "bfloat16",
    "tfloat32", "float32", "float8_e8m0fnu", "float8_e5m2_x4",
    "float8_e4m3fn_x4", "float4_e2m1fn_x4")
MEMORIES = ("sbuf", "psum", "hbm")
ADDRESSES = ("static", "register", "vector_offset", "indirect")
TWO_CORES = ("core_barrier", "sendrecv")
SYSTEMS = {"trn1": "trn1.32xlarge", "trn2": "trn2.48xlarge",
           "trn3": "trn3-gen1"}
COLLECTIVES = {o.name for o in trnemu.operations()
               if o.source.startswith("nki/api/nki/collectives/")
               or o.name in ("broadcast", "send", "recv",
                             "collective_barrier")}
# Two ranks of a node stand for what is documented between nodes.
ALLOW = ["all_to_all_v.system", "all_to_all_v.rdispls"]
ENUMS = ("alu_op", "alu_op_or_bypass", "activation", "reduce_cmd", "engine",
         "dge_mode", "oob_mode", "perf_mode", "partition_op", "register_op",
         "dma_engine")
RUNS = "runs"


class Tile:
    """The text of a tile, "sbuf 32x16:float32", taken apart."""

    def __init__(self, text, address="static"):
        self.memory, rest = text.split(" ")
        shape, self.dtype = rest.split(":")
        self.shape = tuple(int(n) for n in shape.split("x"))
        self.address = address

    def but(self, **changes):
        other = Tile.__new__(Tile)
        other.__dict__.update(self.__dict__, **changes)
        return other


def parsed(value):
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [Tile(v) for v in value]
    return Tile(value) if isinstance(value, str) and ":" in value else value


class Bench:
    """A program that runs forms of an operation."""

    def __init__(self, target, cores):
        self.b = trnemu.ProgramBuilder(target=target, cores=cores)
        self.inputs = {}

    def tile(self, t):
        if t.memory == "hbm":
            name = f"t{len(self.inputs)}"
            view = self.b.inout(name, t.shape, t.dtype)
            self.inputs[name] = zeros(t)
        else:
            make = self.b.psum if t.memory == "psum" else self.b.sbuf
            view = make(t.shape, t.dtype)
            self.b.memset(dst=view.view("uint8"), value=0, engine="vector")
        return self.addressed(view, t)

    def addressed(self, view, t):
        if t.address == "static":
            return view
        p, f = t.shape[0], math.prod(t.shape[1:])
        pattern = [[f, p], [1, f]]
        if t.address == "register":
            return view.ap(pattern, scalar_offset=self.b.register_alloc(0),
                           indirect_dim=0 if t.memory == "hbm" else 1)
        if t.address == "vector_offset":
            rows = self.tile(Tile(f"sbuf {p}x1:int32"))
            return view.ap(pattern, vector_offset=rows, indirect_dim=0)
        return view.indirect(self.tile(Tile(f"sbuf {p}x{-(-f // 16)}:uint16")), f)

    def value(self, value):
        if isinstance(value, Tile):
            return self.tile(value)
        if isinstance(value, list) and value and isinstance(value[0], Tile):
            return [self.tile(v) for v in value]
        return self.b.register_alloc(0) if value == "reg" else value

    def add(self, operation, form):
        arguments = {n: self.value(v) for n, v in form.items()}
        for name, value in arguments.items():
            if name.endswith("_by_channel"):
                arguments[name] = [[tile] for tile in value]
        getattr(self.b, operation)(**arguments)

    def build(self):
        program = self.b.build()
        findings = [f for f in program.verify() if f.severity == "error"]
        if findings:
            raise trnemu.Fault(findings[0])
        return program

    def run(self):
        trnemu.run(self.build(), self.inputs, time=False)


def run_ranks(operation, target, form):
    """A collective, on as many ranks as its group has; send and recv each with
    the other."""
    ranks = len(form.get("replica_group", [[0, 1]])[0])
    benches = []
    for rank in range(ranks):
        bench = Bench(target, 1)
        own = dict(form)
        for peer in ("to_rank", "from_rank"):
            if peer in own:
                own[peer] = 1 - rank
        bench.add(operation, own)
        if operation == "send":
            bench.b.recv(dst=bench.tile(own["src"].but(address="static")),
                         from_rank=1 - rank, stream=1)
        if operation == "recv":
            bench.b.send(src=bench.tile(own["dst"].but(address="static")),
                         to_rank=1 - rank, stream=1)
        benches.append(bench)
    trnemu.System(SYSTEMS[target], ranks=ranks).run(
        [bench.build() for bench in benches],
        [bench.inputs for bench in benches], allow=ALLOW)


_CARRIERS = {"tfloat32": "float32", "float8_e5m2_x4": "uint32",
             "float8_e4m3fn_x4": "uint32", "float4_e2m1fn_x4": "uint16"}


def zeros(t):
    name = _CARRIERS.get(t.dtype, t.dtype)
    return np.zeros(t.shape, getattr(ml_dtypes, name, name))


def attempt(operation, target, form, before=None):
    """RUNS, or the id of what refuses it."""
    try:
        if operation in COLLECTIVES:
            run_ranks(operation, target, form)
            return RUNS
        two = operation in TWO_CORES and form.get("cores") != (0,)
        bench = Bench(target, 2 if two else 1)
        for core in range(2 if two else 1):
            with bench.b.core(core):
                own = dict(form)
                if operation == "sendrecv":
                    own.update(send_to_rank=1 - core, recv_from_rank=1 - core)
                if before:
                    bench.add(operation, before)
                bench.add(operation, own)
        bench.run()
    except trnemu.Fault as fault:
        kind = "unsupported: " if fault.category == "unsupported" else ""
        return f"{kind}`{fault.id}`"
    return RUNS


def tiles_of(form):
    return [n for n, v in form.items()
            if isinstance(v, Tile) or isinstance(v, list)
            and v and isinstance(v[0], Tile)]


def changed(form, names, **changes):
    def one(v):
        return [t.but(**changes) for t in v] if isinstance(v, list) else (
            v.but(**changes))
    return {n: one(v) if n in names else v for n, v in form.items()}


def companies(form, name, field):
    """Which operands to change with `name`, the fewest first."""
    tiles = tiles_of(form)

    def get(n):
        v = form[n]
        return getattr(v[0] if isinstance(v, list) else v, field)
    yield [name]
    yield [n for n in tiles if get(n) == get(name)]
    yield tiles
    for n in tiles:
        if n != name:
            yield [name, n]


def tile_forms(forms, name, field, value):
    for form in forms:
        if name not in tiles_of(form):
            continue
        companions = [[name]] if field == "address" else companies(
            form, name, field)
        for names in companions:
            yield changed(form, names, **{field: value})


def outcome(operation, target, tries, before=None):
    first = None
    for form in tries:
        got = attempt(operation, target, form, before)
        if got == RUNS:
            return got
        first = first or got
    return first


def rows_of(operation):
    """(what is changed, [(value, outcome on each generation)])."""
    forms = [{n: parsed(v) for n, v in f.items()}
             for f in FORMS[operation.name]]

    def ask(tries, before=None):
        tries = list(tries)
        return tuple(outcome(operation.name, t, tries, before)
                     for t in trnemu.targets)
    yield "base", [("as in coverage_forms.py", ask(forms))]
    names = list(dict.fromkeys(n for f in forms for n in tiles_of(f)))
    for what, field, values in (("dtype", "dtype", DTYPES),
                                ("in", "memory", MEMORIES),
                                ("addressed", "address", ADDRESSES)):
        for name in names:
            yield f"{name} {what}", [
                (v, ask(tile_forms(forms, name, field, v))) for v in values]
    for p in operation.parameters:
        yield from _mode_rows(operation.name, p, forms, ask)


def _mode_rows(name, p, forms, ask):
    values = VALUES.get((name, p.name))
    if values is None and p.kind in ENUMS:
        values = p.values
    if values is None and p.kind == "bool":
        values = (False, True)
    if values is None:
        return
    # An accumulator must have been reset before it is added to.
    before = None
    if p.kind == "reduce_cmd":
        before = {**forms[0], p.name: "reset_reduce"}
        if "reduce_op" not in before and "reduce_op" in forms[-1]:
            before["reduce_op"] = forms[-1]["reduce_op"]
    yield p.name, [
        (_text(v), ask(({**f, p.name: v} for f in forms), before))
        for v in values]


def _text(value):
    return str(value).replace("'", "")


def table(operation):
    """The Markdown table of an operation, and its counts by generation."""
    lines = ["| what | values | " + " | ".join(trnemu.targets) + " |",
             "|---|---|" + "---|" * len(trnemu.targets)]
    counts = [[0, 0, 0] for _ in trnemu.targets]
    for what, asked in rows_of(operation):
        groups = {}
        for value, got in asked:
            groups.setdefault(got, []).append(value)
            for i, one in enumerate(got):
                counts[i][kind(one)] += 1
        for got, values in groups.items():
            lines.append(f"| {what} | {', '.join(values)} | "
                         + " | ".join(got) + " |")
    return "\n".join(lines), counts


def kind(got):
    return 0 if got == RUNS else 2 if got.startswith("unsupported") else 1


INTRO = """# Coverage by form

<!-- Generated by scripts/gen_docs, which asks the library; do not edit. -->

What was tried of each operation on each generation. A form is a legal use (`scripts/coverage_forms.py`) with one thing
changed: the dtype or memory of a tile, the way it is addressed, an engine, a mode. Where that is refused, other tiles are
changed with it: all that had the same, all, or one other. A form **runs** if a program of it is built, verified and run;
else the id of what refuses it is given (`trnemu explain ID`), or of what is unsupported. So *runs* says that there is such a
use, not that each combination of two rows is one. Values are not compared here: the tests do that. *addressed*: `register` is
a `scalar_offset`, `indirect` a view by `indirect()`.

"""


def page():
    summary = ["| operation | " + " | ".join(trnemu.targets) + " |",
               "|---|" + "---|" * len(trnemu.targets)]
    sections = []
    for operation in trnemu.operations():
        name = operation.name
        link = f"[`{name}`](operations/{name}.md)"
        if name in WITHOUT:
            sections.append(f"## {name}\n\nNot tried alone: {WITHOUT[name]}.\n")
            continue
        text, counts = table(operation)
        cells = [f"{r} run, {n} refused, {u} unsupported"
                 for r, n, u in counts]
        summary.append(f"| {link} | " + " | ".join(cells) + " |")
        sections.append(f"## {name}\n\n{text}\n")
    return INTRO + "\n".join(summary) + "\n\n" + "\n".join(sections)
