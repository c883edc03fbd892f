"""The text of each rule, evaluated in Python on random calls, against what the
library says of the same calls; and the rules against isa.json.

A call is refused with the first rule that it breaks, so: the reported rule's
text must be false, and where nothing is reported every text must be true.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import trnemu
from rules_draw import CORES
from rules_draw_all import TAKES, Draw
from rules_kit import ANY, SPEC, TARGETS
from rules_language import MXSCALE, Tile, holds, language, resolved
from rules_lists import (
    ELSEWHERE, EXTRA, FORESTALLED, NAMES, NOT_OF_THE_DEVICE, ONLY_TRN3,
    OTHER_DTYPES, PROSE, WIDER,
)

SEED = 20240611
CALLS = 1000  # of each operation

OPERATIONS = {o.name: o for o in trnemu.operations() if o.name in NAMES}


@dataclasses.dataclass
class Verdict:
    """A random call and what was said of it."""

    operation: str
    target: str
    call: dict[str, Any]
    names: dict[str, Any] = dataclasses.field(default_factory=dict)
    fault: trnemu.Fault | None = None

    def __str__(self) -> str:
        said = self.fault.message if self.fault else "accepted"
        return f"{self.operation} on {self.target}: {self.call}\n  -> {said}"


def verdicts(operation: str, calls: int = CALLS) -> Iterator[Verdict]:
    most_rules = ("nc_matmul", "nc_matmul_mx")
    calls *= 3 if operation in most_rules else 1
    # Elsewhere there is nothing but the generation to refuse.
    more = ("trn3",) * 6 if operation in ONLY_TRN3 else ()
    print(f"seed {SEED}, {calls} calls of {operation}")
    draw = Draw(SEED + NAMES.index(operation))
    builders = {(t, n): trnemu.ProgramBuilder(target=t, cores=n)
                for t in TARGETS for n in (1, 2)}
    dynamic = calls if operation in (*TAKES, "dma_copy") else 0
    for i in range(calls + dynamic):
        target = draw.random.choice((*TARGETS, *more))
        if i < calls:
            call = draw.call(operation)
        else:
            draw.odds = 0.03
            call = draw.dynamic_call(operation)
            target = draw.pick(("trn3",), TARGETS)
        cores, core = draw.place(operation)
        b = builders[target, cores]
        yield judge(b, core, Verdict(operation, target, call))


def judge(b: trnemu.ProgramBuilder, core: int, v: Verdict) -> Verdict:
    made: dict[Any, Any] = {}
    with b.core(core):
        arguments = {k: x.make(b, made) if isinstance(x, Tile) else x
                     for k, x in v.call.items()}
        try:
            getattr(b, v.operation)(**arguments)
        except trnemu.Fault as f:
            v.fault = f
    v.names = language(v.call, v.target, resolved(v.operation, v.call))
    v.names |= {"lnc": b.cores, "core": core}
    return v


def start_is_legal(t: Tile) -> bool:
    p = t.shape[0]
    return t.start in ((0,) if p > 64 else (0, 64) if p > 32
                       else (0, 32, 64, 96))


def parameters_broken(v: Verdict) -> set[str]:
    """The ids of broken rules of operands; from the table of parameters and
    the global constraints."""
    broken = set()
    for p in OPERATIONS[v.operation].parameters:
        value = v.call.get(p.name)
        if not isinstance(value, Tile):
            continue
        if value.buffer not in p.spaces:
            broken.add("operand.buffer")
        if value.dtype not in p.dtypes:
            broken.add("operand.dtype")
        broken |= index_broken(v, value)
        if v.operation in ("dma_copy", *CORES) or value.buffer == "hbm":
            continue
        if set(p.dtypes) != set(MXSCALE) and not start_is_legal(value):
            broken.add("operand.start_partition")
        if v.names["engine"] == "gpsimd" and value.buffer == "psum":
            broken.add("operand.gpsimd_psum")
        if v.names["engine"] in ("vector", "scalar"):
            if value.buffer == "psum" and value.free > 4096:
                broken.add("operand.psum_free_size")
    return broken


def index_broken(v: Verdict, tile: Tile) -> set[str]:
    if tile.form == "tensor":
        group = 32 if v.names["engine"] == "tensor" else 16
        part = tile.shape[0] % group
        if tile.free > (part or group * tile.index.shape[1]):
            return {"operand.index_count"}
    elif isinstance(tile.index, Tile) and tile.index.dtype == "int16":
        return {"operand.index_dtype"}
    return set()


def rules(operation: str) -> list[trnemu.Rule]:
    """Those of the layers that a call is checked for."""
    return [r for r in OPERATIONS[operation].rules
            if r.layer in ("device", "backend") and r.id not in PROSE]


@pytest.mark.parametrize("operation", NAMES)
def test_the_library_refuses_what_the_texts_refuse(operation):
    texts = rules(operation)
    reported, alone = Counter(), Counter()
    for v in verdicts(operation):
        operands = parameters_broken(v)
        broken = {r.id for r in texts if not holds(r.text, v.names)}
        if v.fault is None:
            assert not broken and not operands, (broken, operands, str(v))
            continue
        id = v.fault.id
        reported[id] += 1
        if id in operands or id in PROSE or id in WIDER:
            continue
        assert id in broken, (sorted(broken), sorted(operands), str(v))
        alone[id] += len(broken | operands) == 1
    print({k: (n, alone[k]) for k, n in sorted(reported.items())})
    never = {r.id for r in texts} - set(reported)
    # Which a rule before it, or of operands, always forestalls.
    assert never <= FORESTALLED, never


def isa() -> dict[str, Any]:
    path = SPEC / "isa.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return {x["name"]: x for x in json.loads(path.read_text())
            if x["name"] in NAMES}


def static_constraints(entry: dict[str, Any]) -> list[str]:
    """Without what only a run knows."""
    dynamic = ("written(", "value_initialised")
    return [c["expr"] for c in entry["constraints"]
            if c["level"] == "reject" and "api" not in c.get("layer", "")
            and not any(d in c["expr"] for d in dynamic)]


@pytest.mark.parametrize("operation", NAMES)
def test_the_library_refuses_what_isa_json_refuses(operation):
    """And a call that isa.json accepts is refused only by a rule that isa.json
    does not have, of which there are these."""
    constraints = [c for c in static_constraints(isa()[operation])
                   if c not in NOT_OF_THE_DEVICE]
    extra = Counter()
    for v in verdicts(operation, 500):
        if parameters_broken(v):
            continue
        broken = [c for c in constraints if not holds(c, v.names)]
        if v.fault is None:
            assert not broken, (broken, str(v))
        elif not broken:
            extra[v.fault.id] += 1
    print(dict(extra))
    assert set(extra) <= EXTRA, set(extra) - EXTRA


@pytest.mark.parametrize("operation", NAMES)
def test_every_constraint_of_isa_json_has_a_rule(operation):
    texts = {r.text for r in OPERATIONS[operation].rules}
    without = [c for c in static_constraints(isa()[operation])
               if c not in texts and c not in ELSEWHERE]
    assert without == []


@pytest.mark.parametrize("operation", NAMES)
def test_every_rule_has_the_text_of_isa_json_or_is_known_not_to(operation):
    texts = {c["expr"] for c in isa()[operation]["constraints"]}
    others = {r.id for r in OPERATIONS[operation].rules
              if r.text not in texts}
    print(sorted(others))
    assert others <= EXTRA, others - EXTRA


def test_every_rule_has_what_a_report_needs():
    ids = Counter(r.id for o in trnemu.operations() for r in o.rules)
    # Collectives share most of their rules.
    assert [i for i, n in ids.items()
            if n > 1 and not i.startswith("collective.")] == []
    for o in trnemu.operations():
        names = {p.name for p in o.parameters}
        for r in o.rules:
            assert r.id.startswith((o.name + ".", "collective."))
            assert r.text and r.source and r.message, r.id
            assert r.operand in names, r.id
            assert r.layer in ("device", "backend", "api", "lint")
            assert r.evidence in ("documented", "observed", "inferred",
                                  "assumed")
            assert r.category in ("illegal", "unsupported", "unspecified")


@pytest.mark.parametrize("operation", NAMES)
def test_the_operands_are_those_of_isa_json(operation):
    """Memories and dtypes; "bool" is bool_ there."""
    table = {p.name: p for p in OPERATIONS[operation].parameters}
    wrong = []
    for o in isa()[operation]["operands"]:
        p = table[o["name"]]
        stated = o["dtypes"] or ANY  # None: unstated
        dtypes = {d.replace("bool_", "bool") for d in stated}
        if isinstance(stated, str):  # "same:data"
            like = stated.removeprefix("same:")
            dtypes = set(table[like if like in table else "data"].dtypes)
        if (operation, o["name"]) in OTHER_DTYPES:
            dtypes |= OTHER_DTYPES[operation, o["name"]]
        memories = set(o["buffers"])
        if operation == "dma_copy":
            memories.add("psum")  # decisions.md; dma_copy.psum for the API
        if dtypes != set(p.dtypes) or memories != set(p.spaces):
            wrong.append((o["name"], dtypes ^ set(p.dtypes),
                          memories ^ set(p.spaces)))
    assert wrong == []
