"""Options of tracing and running kernels, and where each comes from.

In this order: an argument, the command line of `python -m trnemu.nki`, the
environment, the default. The environment is read when a kernel is launched, so
a script may set it after its imports.

    NEURON_PLATFORM_TARGET_OVERRIDE   trn1 inf2 gen2, trn2 gen3, trn3 gen4
    NKI_PRECISE_FP                    1 (default) or 0
    NKI_SIMULATOR                     1 or 0: accepted, kernels always simulate
    TRNEMU_NKI                        1 or 0: `import nki` finds this package
    TRNEMU_NKI_API                    0.2 to 0.6 (default)
    TRNEMU_NKI_STRICT_FRONTEND        1 or 0 (default)
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trnemu import _trnemu
from trnemu._limits import flag, real, whole

DEFAULT_TARGET = "trn2"
"""What the other front ends take too; the vendor's simulator takes trn3."""

API_VERSIONS: tuple[tuple[int, int], ...] = (
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
)
"""Versions of the NKI API that differ; the last is the default."""

_TARGET_NAMES = {
    "trn1": "trn1",
    "inf2": "trn1",
    "gen2": "trn1",
    "trn2": "trn2",
    "gen3": "trn2",
    "trn3": "trn3",
    "gen4": "trn3",
}
CHECKS = ("full", "memory", "off")
_FRONTEND = "nki.strict."  # what ids of strict_frontend start with


@dataclass(frozen=True)
class Options:
    """What a launch uses for arguments it was not given.

    target: "trn1", "trn2" or "trn3". api: the version of the NKI API.
    numerics, checks, allow, strict, seed, schedule, max_instructions,
    max_wall_time (seconds on this host): as trnemu.run takes them, and time
    and stop_at_nan. summary: print each
    launch's table to stderr. save: a folder that each launch's program and
    inputs are written to. profile: print each launch's profile to stderr;
    profile_html and profile_trace: files to write it to, too. strict_frontend:
    report Python that the device's own front end refuses. precise_fp: False
    keeps 16-bit and 8-bit floats as float32, as the vendor's simulator can.
    """

    target: str = DEFAULT_TARGET
    api: tuple[int, int] = API_VERSIONS[-1]
    numerics: Mapping[str, str] = field(default_factory=dict)
    checks: str = "full"
    allow: tuple[str, ...] = ()
    strict: bool = False
    strict_frontend: bool = False
    seed: int = 0
    schedule: str | int | None = None
    precise_fp: bool = True
    max_instructions: int | None = None
    max_wall_time: float | None = None
    time: bool = True
    stop_at_nan: bool = False
    summary: bool = False
    save: str | None = None
    profile: bool = False
    profile_html: str | None = None
    profile_trace: str | None = None

    def profiles(self) -> bool:
        """Whether a launch is profiled; a file to write asks for it, too.
        ValueError if the other options leave nothing to profile."""
        if not (self.profile or self.profile_html or self.profile_trace):
            return False
        if reason := self.untimed():
            raise ValueError(reason)
        return True

    def untimed(self) -> str:
        """Why a launch with these options has no profile; "" if it has."""
        if not self.precise_fp:
            reason = "with precise_fp off there is none"
        elif not self.time:
            reason = "time is off"
        elif self.schedule not in (None, "timed"):
            reason = f"schedule is {self.schedule!r}, not timed"
        else:
            return ""
        return f"a profile is of simulated time, and {reason}"

    def allowed_of_runs(self) -> tuple[str, ...]:
        """allow, without ids of strict_frontend, which no run reports."""
        return tuple(i for i in self.allow if not i.startswith(_FRONTEND))


def target_named(name: Any, where: str = "target") -> str:
    """The target that a platform's name means: inf2 and gen2 are trn1, gen3
    trn2, gen4 trn3. ValueError, with the list, for another name."""
    if isinstance(name, str) and name in _TARGET_NAMES:
        return _TARGET_NAMES[name]
    raise ValueError(
        f"{where} must be one of {', '.join(_TARGET_NAMES)}, not {name!r}"
    )


def api_version(given: Any, where: str = "api") -> tuple[int, int]:
    """The API version of "0.5", (0, 5) or "0.5.0". ValueError, with the list,
    for another."""
    parts: Any = given
    if isinstance(given, str):
        parts = given.split(".")
        if len(parts) == 3 and parts[2].isdigit():
            parts = parts[:2]
        if all(part.isdigit() for part in parts):
            parts = [int(part) for part in parts]
    for version in API_VERSIONS:
        if isinstance(parts, (list, tuple)) and tuple(parts) == version:
            return version
    names = ", ".join(f"{a}.{b}" for a, b in API_VERSIONS)
    raise ValueError(f"{where} must be one of {names}, not {given!r}")


def _numerics(given: Any) -> Mapping[str, str]:
    rows = _trnemu.numerics_rows()
    if not isinstance(given, Mapping):
        raise TypeError(f"numerics must be a dict of str, not {given!r}")
    for key, value in given.items():
        if key not in rows:
            raise ValueError(
                f"numerics has no key {key!r}; there are {', '.join(rows)}"
            )
        values = rows[key][0]
        if value not in values:
            raise ValueError(
                f"numerics {key} must be one of {', '.join(values)}, not "
                f"{value!r}"
            )
    return dict(given)


def _checks(given: Any) -> str:
    if given in CHECKS:
        return str(given)
    raise ValueError(
        f"checks must be one of {', '.join(CHECKS)}, not {given!r}"
    )


def _allow(given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"allow must be a list of ids, not {given!r}")
    given = tuple(given)
    for item in given:
        if not isinstance(item, str):
            raise TypeError(f"allow must be a list of ids, with no {item!r}")
        if item.startswith(_FRONTEND):
            _check_frontend_id(item)
    return given


def _check_frontend_id(given: str) -> None:
    """ValueError, with the nearest, for no id of strict_frontend. The run
    checks all others."""
    from trnemu.nki._strict_rules import BY_ID

    known = [_FRONTEND + rule for rule in BY_ID]
    if given in known:
        return
    nearest = _trnemu.nearest(given, known)
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    raise ValueError(f"there is no diagnostic {given!r} to allow{hint}")


def _schedule(given: Any) -> str | int | None:
    if given is None or given in ("timed", "program"):
        return given  # type: ignore[no-any-return]
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise ValueError(
        f"schedule must be timed, program or a whole number, not {given!r}"
    )


def _folder(given: Any) -> str:
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)  # type: ignore[return-value]
    raise TypeError(f"save must be a folder's path, not {given!r}")


def _file(option: str) -> Callable[[Any], str]:
    """Checks the path of a file to write, before anything is run for it."""

    def check(given: Any) -> str:
        if not isinstance(given, (str, os.PathLike)):
            raise TypeError(f"{option} must be a file's path, not {given!r}")
        path = os.fspath(given)
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise ValueError(f"there is no folder {folder} for {path}")
        if os.path.isdir(path):
            raise ValueError(f"{path} is a folder, not a file to write")
        return path  # type: ignore[return-value]

    return check


_CHECKED: dict[str, Callable[[Any], Any]] = {
    "target": target_named,
    "api": api_version,
    "numerics": _numerics,
    "checks": _checks,
    "allow": _allow,
    "strict": lambda given: flag("strict", given),
    "strict_frontend": lambda given: flag("strict_frontend", given),
    "seed": lambda given: whole("seed", given, "the generators"),
    "schedule": _schedule,
    "precise_fp": lambda given: flag("precise_fp", given),
    "max_instructions": lambda given: whole(
        "max_instructions", given, "instructions"
    ),
    "max_wall_time": lambda given: real("max_wall_time", given, "seconds"),
    "time": lambda given: flag("time", given),
    "stop_at_nan": lambda given: flag("stop_at_nan", given),
    "summary": lambda given: flag("summary", given),
    "save": _folder,
    "profile": lambda given: flag("profile", given),
    "profile_html": _file("profile_html"),
    "profile_trace": _file("profile_trace"),
}

# Of the command line, by name of the field, and how often they have changed.
_set: dict[str, Any] = {}
_changes = 0


def checked(**given: Any) -> dict[str, Any]:
    """The options as Options has them. TypeError for an unknown name,
    TypeError or ValueError for a wrong value."""
    for name in given:
        if name not in _CHECKED:
            raise TypeError(
                f"there is no option {name!r}; there are {', '.join(_CHECKED)}"
            )
    return {name: _CHECKED[name](value) for name, value in given.items()}


def set_defaults(**given: Any) -> None:
    """Sets defaults that go before the environment, as the command line does;
    clear_defaults() takes them back. Errors as checked()."""
    global _changes
    _set.update(checked(**given))
    _changes += 1


def clear_defaults() -> None:
    """Takes back what set_defaults has set."""
    global _changes
    _set.clear()
    _changes += 1


def environment() -> dict[str, Any]:
    """What the environment says now. ValueError, with the variable and the
    values it takes, for a wrong one."""
    found: dict[str, Any] = {}
    target, version, *switches = _trnemu.environment(_VARIABLES)
    if target:
        found["target"] = target_named(target, _TARGET)
    if version:
        found["api"] = api_version(version, _API)
    for (variable, option), value in zip(
        _SWITCHES.items(), switches, strict=True
    ):
        if not value:
            continue
        if value not in ("0", "1"):
            raise ValueError(f"{variable} must be 0 or 1, not {value!r}")
        if option is not None:
            found[option] = value == "1"
    return found


# Variables that are 0 or 1, and the option each sets, if any.
_SWITCHES = {
    "NKI_PRECISE_FP": "precise_fp",
    "NKI_SIMULATOR": None,
    "TRNEMU_NKI": None,
    "TRNEMU_NKI_STRICT_FRONTEND": "strict_frontend",
}
_TARGET, _API = "NEURON_PLATFORM_TARGET_OVERRIDE", "TRNEMU_NKI_API"
_VARIABLES = (_TARGET, _API, *_SWITCHES)


def defaults(**given: Any) -> Options:
    """The options in effect: those given (None is not given), then those of
    set_defaults, then the environment's. Errors as checked() and
    environment()."""
    return in_effect(checked_of(given))


def checked_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """checked(), of those that are given: not None."""
    return checked(**{k: v for k, v in given.items() if v is not None})


def in_effect(known: Mapping[str, Any]) -> Options:
    """defaults(), of options that were checked."""
    return Options(**{**environment(), **_set, **known})


def state() -> tuple[Any, ...]:
    """What the options in effect depend on beside those that are given: while
    it is the same, they are."""
    return _changes, _trnemu.environment(_VARIABLES)


def says_environment(known: Mapping[str, Any]) -> str:
    """The variable of the environment that decides the target of a launch with
    these options of its own; "" if none does."""
    decided = "target" in known or "target" in _set
    return "" if decided or "target" not in environment() else _TARGET



def target_in_effect() -> str:
    """The target of the kernel under way, else the default one."""
    trace = sys.modules.get("trnemu.nki._trace")  # it imports this module
    active = None if trace is None else trace.active()
    if active is not None:
        return str(active.target)
    return defaults().target
