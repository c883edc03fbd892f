"""The device generations, and nki.isa's queries of them."""

from __future__ import annotations

import enum

from trnemu import _trnemu

_GENERATIONS = _trnemu.target_generations()

targets: tuple[str, ...] = tuple(_GENERATIONS)
"""The device generations: ("trn1", "trn2", "trn3")."""


class nc_version(enum.IntEnum):  # noqa: N801 (its name in nki.isa)
    """Generations of NeuronCores, which compare in order: gen2 is trn1, gen3
    trn2, gen4 trn3."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


def get_nc_version(target: str = "trn2") -> nc_version:
    """The generation of a target's cores. ValueError for an unknown one.

    For the target that a program is built for: ProgramBuilder.get_nc_version.
    """
    return nc_version(_generation(target))


def get_nc_sub_version(target: str = "trn2") -> int:
    """The silicon revision inside a generation: 0, the first. What a second
    one changes is not documented, and it is not emulated."""
    _generation(target)
    return 0


def _generation(target: str) -> int:
    if target not in _GENERATIONS:
        raise ValueError(f"target must be one of {targets}, not {target!r}")
    return _GENERATIONS[target]
