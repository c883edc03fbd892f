"""Whether a report about a mutant is right although no output changed.

First more orders: some may change an output after all. Then the commit log,
which has a hash of what each instruction wrote, or the register that it set: an
effect that differs between
two orders was overwritten later, or did not reach an output. Then the order in
which the instructions that the report names are complete: both ways round means
that nothing orders them. What is left has to be looked at by a person.
"""

from __future__ import annotations

from collections import Counter
import itertools
from pathlib import Path
import re
import subprocess
import tempfile
from typing import Any

import numpy as np

import trnemu
from cli_kit import BINARY
from mutation_run import (
    ORDERS, STRETCHED, Mutant, Subject, baseline, delayed, save_inputs, subject,
    truth,
)
from mutation_stretch import GAP
from mutation_text import Listing

DEEP_ORDERS, DEEP_MUTANTS = 400, 30
LOGS = 40

# core/commit_log.cc: the text, then fields; one of them is the effect.
_RETIRED = re.compile(r"core (\d+) \w+ #(\d+) \w+\.(\d+) \w+")
_EFFECT = re.compile(r" ; (wrote [0-9a-f]{16} at .*?|set r\d+ = -?\d+)(?: ; |$)")
Place = tuple[int, int, int, int]  # core, order, step, and how often before


def deepen(one: Mutant) -> Mutant:
    """Says in `deep` whether the report is right."""
    with np.errstate(all="ignore"):
        s = subject(one.seed)
        text = Listing.of(s.text).text(one.mutation.lines)
        half = DEEP_ORDERS // 2
        orders: list[Any] = [*range(ORDERS, half), *(
            f"stretched {k}" for k in range(STRETCHED, half))]
        changed, stopped, _ = truth(
            s, baseline(s, []), text, s.load(text), orders, one.mutation.focus)
        found = [*changed, *itertools.chain(*stopped.values())]
        if found:
            one.deep = (f"RIGHT: an output changes in {len(found)} of "
                        f"{len(orders)} more orders, first {found[0]}")
        else:
            one.deep = logs(s, text, one)
    return one


def logs(s: Subject, text: str, one: Mutant) -> str:
    """What the commit logs of some orders show."""
    first: dict[Place, str] = {}
    named = _named(one.said)
    sequences: dict[tuple[Any, ...], Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = save_inputs(s, folder)
        for k in range(LOGS):
            slow = text if k % 2 else delayed(
                text, f"stretched {k}", one.mutation.focus)
            lines = _log(folder, slow, words, k, GAP if not k % 2 else 1)
            effects = dict(lines)
            for place, effect in effects.items():
                before = first.setdefault(place, effect)
                if before != effect:
                    core, order, step, _ = place
                    return (f"RIGHT: what instruction {order}.{step} of core "
                            f"{core} does differs, seen in order {k}: "
                            f"{before!r}, {effect!r}")
            sequence = tuple(p[:2] for p, _ in lines if p[:2] in named)
            if len(named) > 1:
                sequences.setdefault(sequence, k)
            if len(sequences) > 1:
                return (f"RIGHT: instructions {sorted(named)} are complete in "
                        f"either order, {list(sequences.values())}")
    return "OPEN: no difference found"


def _named(said: str) -> set[tuple[int, int]]:
    """Instructions that a report mentions: core and number."""
    out = set()
    for line in said.split("\n"):
        core = re.search(r"core (\d+)", line)
        for n in re.findall(r"instruction (\d+)", line):
            out.add((int(core[1]) if core else 0, int(n)))
    return out


def _log(folder: Path, text: str, words: list[str], seed: int, gap: int
         ) -> list[tuple[Place, str]]:
    """What retired, in order: place in the program as it was, and effect."""
    trnemu.Program.from_text(text).save(folder / "m.trn")
    subprocess.run(
        [BINARY, "run", str(folder / "m.trn"), *words, "--checks", "off",
         "--schedule", str(seed), "--log", str(folder / "log")],
        capture_output=True, check=False)
    out, times = [], Counter[tuple[int, int, int]]()
    for line in (folder / "log").read_text().split("\n"):
        m = _RETIRED.match(line)
        if not m or int(m[2]) % gap:
            continue  # a delay
        order = int(m[2]) // gap - (gap > 1)
        key = int(m[1]), order, int(m[3])
        times[key] += 1
        effect = _EFFECT.search(line, m.end())
        out.append(((*key, times[key]), effect[1] if effect else ""))
    return out
