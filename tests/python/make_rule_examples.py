"""Writes examples of rules: the smallest call found that breaks just one.

    python tests/python/make_rule_examples.py OPERATION...

prints, for each rule of the operations, a block for docs/diagnostics/NAME.py:
a drawn call made as plain as the rule lets it be, with the argument that
repairs it behind "# fix:". Rules without a block need one by hand. Blocks are
to be read and kept; nothing runs this in a build.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import defaultdict
from typing import Any

import trnemu
from rules_draw_all import TAKES, Draw
from rules_language import Tile
from rules_lists import NAMES, ONLY_TRN3
from rules_kit import TARGETS

CALLS = 6000
# What an example is easiest to read with.
PLAIN = ("add", "multiply", "maximum", "copy", "exp", "vector", "greater")
Call = dict[str, Any]


@dataclasses.dataclass
class Case:
    target: str
    cores: int
    core: int
    call: Call


def outcome(operation: str, case: Case) -> str:
    """The id of what refuses it, or "" if it builds and verifies."""
    try:
        b = trnemu.ProgramBuilder(target=case.target, cores=case.cores)
        made: dict[Any, Any] = {}
        with b.core(case.core):
            getattr(b, operation)(**{
                k: v.make(b, made) if isinstance(v, Tile) else v
                for k, v in case.call.items()})
        found = b.build().verify()
        return found[0].id if found else ""
    except trnemu.Fault as fault:
        return fault.id


def tile_cost(t: Tile) -> float:
    cost = 1.0 + (t.dtype != "float32") + 3 * (t.start != 0)
    cost += 6 * bool(t.form) + 2 * (len(t.shape) - 2) + (t.buffer != "sbuf")
    cost += 0.01 * t.shape[0] + 0.001 * t.free + (t.shape[0] == 1)
    return cost + 3 * (t.shape[0] not in (1, 4, 32, 64, 128, 16))


def cost(case: Case) -> float:
    total = (case.target != "trn2") + 2.0 * (case.core != 0)
    for v in case.call.values():
        if isinstance(v, Tile):
            total += tile_cost(v)
        elif v not in (None, "unknown", "none", False, (), 0):
            total += 0.4 if v in PLAIN else 0.5
    return total


def without_defaults(operation: str, call: Call) -> Call:
    info = next(o for o in trnemu.operations() if o.name == operation)
    default = {p.name: p.default_value for p in info.parameters}
    return {k: v for k, v in call.items()
            if isinstance(v, Tile) or type(v) is not type(default[k])
            or v != default[k]}


def draw(operation: str) -> tuple[list[Case], dict[str, list[Case]]]:
    legal: list[Case] = []
    broken: dict[str, list[Case]] = defaultdict(list)
    draws = Draw(7 + NAMES.index(operation))
    dynamic = CALLS if operation in (*TAKES, "dma_copy") else 0
    for i in range(CALLS + dynamic):
        targets = ("trn3",) * 5 if operation in ONLY_TRN3 else ("trn2",) * 3
        target = draws.random.choice((*TARGETS, *targets))
        if i < CALLS:
            call = draws.call(operation)
        else:
            draws.odds = 0.05
            call = draws.dynamic_call(operation)
            target = draws.pick(("trn3",), TARGETS)
        cores, core = draws.place(operation)
        if target == "trn1" and operation in ("sendrecv", "core_barrier"):
            cores, core = 1, 0
        case = Case(target, cores, core, without_defaults(operation, call))
        id = outcome(operation, case)
        (broken[id] if id else legal).append(case)
    return sorted(legal, key=cost), broken


def with_value(case: Case, key: str, donor: Call) -> Case:
    call = dict(case.call)
    if key in donor:
        call[key] = donor[key]
    else:
        call.pop(key, None)
    return dataclasses.replace(case, call=call)


def plainer(operation: str, id: str, case: Case, legal: list[Case]) -> Case:
    """`case` with as many arguments of plain legal calls as it may have."""
    best = case
    for donor in legal[:12]:
        for key in sorted({*best.call, *donor.call}):
            other = with_value(best, key, donor.call)
            if cost(other) < cost(best) and outcome(operation, other) == id:
                best = other
    for key, v in list(best.call.items()):
        if not isinstance(v, Tile):
            continue
        for change in ({"start": 0}, {"dtype": "float32"}, {"buffer": "sbuf"},
                       {"form": "", "index": None}):
            other = with_value(best, key, {key: dataclasses.replace(
                best.call[key], **change)})
            if cost(other) < cost(best) and outcome(operation, other) == id:
                best = other
    for name in ("trn2", "trn3", "trn1"):
        other = dataclasses.replace(best, target=name)
        if cost(other) < cost(best) and outcome(operation, other) == id:
            best = other
    return best


def variants(operation: str, case: Case, legal: list[Case], first: str) -> Any:
    """Calls that differ from `case` in one argument, the named one first."""
    keys = sorted({*case.call, *(k for d in legal[:30] for k in d.call)},
                  key=lambda k: (k != first, k != "dst"))
    for key in keys:
        v = case.call.get(key)
        if isinstance(v, Tile):
            if isinstance(v.index, Tile):
                for change in ({"start": v.start}, {"dtype": "uint16"},
                               {"dtype": "uint32"},
                               {"shape": (v.shape[0], 1)}, {"buffer": "sbuf"}):
                    yield key, with_value(case, key, {key: dataclasses.replace(
                        v, index=dataclasses.replace(v.index, **change))})
                if v.index.start + v.shape[0] <= 128:
                    yield key, with_value(case, key, {
                        key: dataclasses.replace(v, start=v.index.start)})
            others = [w for w in case.call.values() if isinstance(w, Tile)]
            for w in others:
                for change in ({"shape": w.shape}, {"dtype": w.dtype},
                               {"start": w.start}, {"buffer": w.buffer}):
                    yield key, with_value(case, key, {
                        key: dataclasses.replace(v, **change)})
            for change in ({"buffer": "sbuf"}, {"buffer": "psum"},
                           {"dtype": "float32"}, {"dtype": "bfloat16"},
                           {"start": 0}, {"form": "", "index": None},
                           {"shape": (v.shape[0], 1)},
                           {"shape": (v.shape[0], 8)}):
                yield key, with_value(case, key, {
                    key: dataclasses.replace(v, **change)})
        if key in case.call:
            yield key, with_value(case, key, {})
        seen: list[Any] = []
        for donor in legal[:150]:
            if key in donor.call and donor.call[key] not in seen:
                seen.append(donor.call[key])
                yield key, with_value(case, key, donor.call)


def repair(operation: str, case: Case, legal: list[Case],
           first: str) -> tuple[str, Case] | None:
    for name in ("trn3", "trn2"):
        if case.target != name and first == "target":
            other = dataclasses.replace(case, target=name)
            if outcome(operation, other) == "":
                return "target", other
    for key, other in variants(operation, case, legal, first):
        try:
            if outcome(operation, other) == "":
                return key, other
        except (TypeError, ValueError):
            continue
    for name in ("trn3", "trn2", "trn1"):
        other = dataclasses.replace(case, target=name)
        if outcome(operation, other) == "":
            return "target", other
    for cores, core in ((2, 0), (2, 1), (1, 0)):
        other = dataclasses.replace(case, cores=cores, core=core)
        if case.target != "trn1" and outcome(operation, other) == "":
            return "cores", other
    return None


def code(v: Any, name: str, shared: dict[Any, str]) -> str:
    if not isinstance(v, Tile):
        return f'"{v}"' if isinstance(v, str) else repr(v)
    plain = dataclasses.replace(v, form="", index=None)
    if v.form:
        index = shared.get(v.index) or code(v.index, "", {})
        if v.index == "register":
            index = "b.register_alloc(0)"
        if v.form == "tensor":
            return f"{code(plain, name, {})}.indirect({index}, {v.free})"
        steps, pattern = 1, []
        for n in reversed(v.shape):
            pattern.insert(0, [steps, n])
            steps *= n
        shape = (v.shape[0] + 3, *v.shape[1:])
        base = code(dataclasses.replace(plain, shape=shape), name, {})
        return f"{base}.ap({pattern}, {v.form}_offset={index})"
    if v.buffer == "hbm":
        return f'b.scratch("{name}", {v.shape}, "{v.dtype}")'
    if v.start == 0:
        return f'b.{v.buffer}({v.shape}, "{v.dtype}")'
    return (f'b.{v.buffer}({(128, *v.shape[1:])}, "{v.dtype}")'
            f"[{v.start}:{v.start + v.shape[0]}]")


def block(operation: str, id: str, case: Case, key: str, fixed: Case) -> str:
    fix = lambda text: f"  # fix: {text}"  # noqa: E731
    shared = {}
    indices = [v.index for v in case.call.values()
               if isinstance(v, Tile) and isinstance(v.index, Tile)]
    lines = [f"#% {id}"]
    make = lambda c: (f'b = trnemu.ProgramBuilder(target="{c.target}"'  # noqa
                      + (f", cores={c.cores})" if c.cores != 1 else ")"))
    lines.append(make(case))
    if make(fixed) != make(case):
        lines[-1] += fix(make(fixed))
    for index in indices:
        if indices.count(index) > 1 and index not in shared:
            shared[index] = "index"
            lines.append(f"index = {code(index, '', {})}")
    pad = "    " if case.core else ""
    if case.core:
        lines.append(f"with b.core({case.core}):")
    lines.append(f"{pad}b.{operation}(")
    for name in sorted({*case.call, *fixed.call},
                       key=lambda k: (k not in case.call, list(case.call).index(k)
                                      if k in case.call else 0)):
        show = lambda c: f"{name}={code(c.call[name], name, shared)},"  # noqa
        if name not in case.call:
            lines.append(f"{pad}    # fix: {show(fixed)}")
        elif name not in fixed.call:
            lines.append(f"{pad}    {show(case)}{fix('leave out')}")
        elif fixed.call[name] != case.call[name]:
            lines.append(f"{pad}    {show(case)}{fix(show(fixed))}")
        else:
            lines.append(f"{pad}    {show(case)}")
    lines.append(f"{pad})")
    return "\n".join(lines) + "\n"


def examples(operation: str) -> tuple[dict[str, str], list[str]]:
    info = next(o for o in trnemu.operations() if o.name == operation)
    legal, broken = draw(operation)
    found, without = {}, []
    operands = {r.id: r.operand for r in info.rules}
    for id in sorted(operands):
        best = None
        cases = sorted(broken.get(id, []), key=cost)[:6]
        for case in cases:
            try:
                small = plainer(operation, id, case, legal)
            except (TypeError, ValueError):
                small = case
            first = ("target" if "generation" in id
                     else operands.get(id, "dst"))
            fixed = repair(operation, small, legal, first)
            if fixed and (best is None or cost(small) < cost(best[0])):
                best = (small, *fixed)
        if best:
            found[id] = block(operation, id, *best)
        else:
            without.append(id)
    return found, without


def main(names: list[str]) -> None:
    for name in names:
        found, without = examples(name)
        print("\n".join(found.values()))
        known = {r.id for o in trnemu.operations() for r in o.rules}
        assert {*found} <= known
        for id in without:
            print(f"# none found: {id}")


if __name__ == "__main__":
    main(sys.argv[1:])
