"""envelope(): which of a program's outputs depend on open rounding choices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trnemu._run import Device, RunResult, _inputs, _names, _options, _seed
from trnemu._trnemu import Program

_LIMITS = ("max_time_ns", "max_wall_time", "max_host_memory")


def _number(value: float | str) -> float:
    return float(value)  # "inf" and "nan" are strings in JSON


@dataclass(frozen=True)
class Distance:
    """How far an output of one run is from that of the base run.

    max_abs: the largest difference (inf where one of the two is not finite);
    relative: that to the rms of the base output; max_ulp: in steps of the
    output's dtype; different: elements whose bits differ; not_finite: elements
    that are finite in one of the two alone.
    """

    max_abs: float
    relative: float
    max_ulp: float
    different: int
    not_finite: int


@dataclass(frozen=True)
class Spread(Distance):
    """How far an output moves under all the runs of an envelope.

    where: the element that moves farthest, base and other its values, run the
    index of the run that moved it (None where nothing moves). cause: the
    numerics key that moves it farthest alone, None if none does; causes: key
    -> relative distance, the farthest first.
    """

    rms: float
    where: tuple[int, ...] | None
    base: float | None
    other: float | None
    run: int | None
    cause: str | None
    causes: dict[str, float]


@dataclass(frozen=True)
class EnvelopeRun:
    """One run: its numerics, whether it is one choice alone, its distances."""

    numerics: dict[str, str]
    single: bool
    outputs: dict[str, Distance]


class Envelope:
    """What envelope() gives: base (a RunResult), outputs (name -> Spread) and
    runs. str() is the table that people read, to_json() the same as JSON."""

    def __init__(self, base: RunResult, text: str, as_json: str) -> None:
        data = json.loads(as_json)
        names = [o["name"] for o in data["outputs"]]
        self.base = base
        self.outputs: dict[str, Spread] = {
            o["name"]: _spread(o) for o in data["outputs"]
        }
        self.runs: list[EnvelopeRun] = [
            EnvelopeRun(
                numerics=r["numerics"],
                single=r["single"],
                outputs={
                    name: Distance(**_distance(d))
                    for name, d in zip(names, r["outputs"], strict=True)
                },
            )
            for r in data["runs"]
        ]
        self._text = text
        self._json = as_json

    def to_json(self) -> str:
        """One JSON object on one line; docs/envelope.md has its schema."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Envelope of {len(self.runs)} runs>"


def _distance(d: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_abs": _number(d["max_abs"]),
        "relative": _number(d["relative_to_rms"]),
        "max_ulp": d["max_ulp"],
        "different": d["different"],
        "not_finite": d["not_finite"],
    }


def _spread(o: Mapping[str, Any]) -> Spread:
    moved = o["run"] is not None
    return Spread(
        **_distance(o),
        rms=o["rms"],
        where=tuple(o["where"]) if moved else None,
        base=_number(o["base"]) if moved else None,
        other=_number(o["other"]) if moved else None,
        run=o["run"],
        cause=o["cause"],
        causes={
            c["key"]: _number(c["relative_to_rms"]) for c in o["causes"]
        },
    )


def envelope(
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]],
    n: int = 8,
    *,
    envelope_seed: int = 0,
    target: str | None = None,
    **options: Any,
) -> Envelope:
    """Runs a program under each open rounding choice, and under n random
    combinations of them, and says how far each output moves and why.

    inputs, target and options are those of trnemu.run (values=False is not
    possible); envelope_seed draws the combinations. The choices are the
    numerics keys of the rounding class: matmul, tf32, scale_bias, subnormals,
    reduce, two_ops, table_error. Raises Fault.
    """
    if not isinstance(program, Program):
        raise TypeError(
            f"program must be a trnemu.Program, not {type(program).__name__}"
        )
    if n < 0:
        raise ValueError("n must not be negative")
    known: dict[str, Any] = {
        "checks": "full", "allow": (), "strict": False, "schedule": None,
        "numerics": None, "seed": 0, "max_instructions": None, "time": True,
        "values": True, **dict.fromkeys(_LIMITS),
    }
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(
            f"envelope() got an unexpected keyword argument {unknown[0]!r}"
        )
    known.update(options)
    if not known["values"]:
        raise ValueError("an envelope needs values")
    known["allow"] = _names(known["allow"])
    device = Device(program.target if target is None else target, program.cores)
    loaded = device.load(program, known["allow"], known["max_host_memory"])
    result, as_json, text = loaded._executable.envelope(
        _inputs(program.inputs, inputs), _options(**known), n,
        _seed("envelope_seed", envelope_seed),
    )
    return Envelope(RunResult(result), text, as_json)
