"""What a launch checks beside the program: the device's front end, the options
of kernels within kernels, the names of with_schedule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from trnemu import _trnemu
from trnemu._fault import fault_of
from trnemu.nki import _options
from trnemu.nki._trace import Trace, refuse

if TYPE_CHECKING:
    from trnemu.nki._kernel import Kernel


class KernelWarning(UserWarning):
    """What a launch found doubtful: a finding of severity "warning"."""


def strict_frontend(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    options: _options.Options,
) -> None:
    """Raises the first finding of the device's own front end, in the kernel or
    in the arguments it is given, and warns of those that are warnings; with
    strict=True these raise too. allow= lets ids pass."""
    from trnemu.nki._strict import check, check_arguments

    findings = [*check(function), *check_arguments(function, (), given)]
    for finding in findings:
        if finding.id in options.allow:
            continue
        if options.strict or finding.severity == "error":
            raise fault_of(finding)
        warnings.warn(KernelWarning(str(finding)), stacklevel=5)


def nested(kernel: Kernel, outer: Trace, known: Mapping[str, Any]) -> None:
    """Refuses a kernel within a kernel that asks for other cores, options or
    order than the outer one has: it becomes part of that one's program.

    known: its own options, checked. Calls are inlined, says the language guide
    (nki/get-started/nki-language-guide.rst:89).
    """
    name = kernel.__name__
    if kernel.grid and kernel.cores != outer.cores:
        on = "one core" if outer.cores == 1 else "two cores"
        refuse(
            "illegal",
            "nki.grid",
            f"{name}[{kernel.cores}] is called in {outer.name}, which is "
            f"launched on {on}; a kernel within a kernel runs on the cores of "
            "the outer one",
            remedy=f"launch {outer.name}[{kernel.cores}](...)"
            if kernel.cores > 1
            else f"call {name}(...) without brackets",
        )
    for option, value in known.items():
        has = getattr(outer.options, option)
        if not _within(value, has):
            _refuse_nested(
                f"{name} has {option}={_shown(option, value)} and is called "
                f"in {outer.name}, which has {_shown(option, has)}",
                f"give {option}= to {outer.name} alone",
            )
    if kernel.edges:
        _refuse_nested(
            f"{name} has a schedule of its own and is called in {outer.name}",
            f"give the pairs to {outer.name}.with_schedule(...)",
        )


def _within(value: Any, has: Any) -> bool:
    """Whether an outer kernel's option has what an inner one asks for."""
    if isinstance(value, Mapping):
        return all(has.get(k) == v for k, v in value.items())
    if isinstance(value, tuple) and isinstance(has, tuple):
        return value == has or all(
            isinstance(v, str) and v in has for v in value
        )
    return bool(value == has)


def _shown(option: str, value: Any) -> str:
    if option == "api":
        value = f"{value[0]}.{value[1]}"
    return repr(dict(value) if isinstance(value, Mapping) else value)


def _refuse_nested(message: str, remedy: str) -> NoReturn:
    refuse(
        "illegal",
        "nki.nested_options",
        f"{message}; a kernel within a kernel is a part of the outer one's "
        "program",
        remedy=remedy,
    )


def profiled(name: str, options: _options.Options, values: bool) -> None:
    """ValueError for options that a profile does not have. values: whether the
    run computes them."""
    reason = options.untimed()
    if options.stop_at_nan and not values:
        reason = "stop_at_nan=True needs values, which a TensorSpec has not"
    if reason:
        raise ValueError(f"{name}.profile: {reason}")


def schedule(trace: Trace, edges: Iterable[Any]) -> None:
    """Applies with_schedule's pairs on every core; of names that are issued
    several times the first with the first, the second with the second and so
    on. TypeError for what is no pair."""
    for edge in edges:
        pair = tuple(edge) if isinstance(edge, (tuple, list)) else ()
        after, before = pair if len(pair) == 2 else (None, None)
        befores = [before] if isinstance(before, str) else before
        if not isinstance(befores, (tuple, list)) or not all(
            isinstance(name, str) for name in (after, *befores)
        ):
            raise TypeError(
                "with_schedule takes pairs of instruction names (after, "
                f"before) or (after, [before, ...]), not {edge!r}"
            )
        for name in befores:
            _order(trace, after, name)


def _order(trace: Trace, after: str, before: str) -> None:
    for name in (after, before):
        _check_label(trace, name)
    apart = True  # no core has both
    for core, labels in enumerate(trace.labels):
        afters, befores = labels.get(after, []), labels.get(before, [])
        if not afters or not befores:
            continue
        apart = False
        if len(afters) != len(befores):
            on = f" on core {core}" if trace.cores > 1 else ""
            refuse(
                "illegal",
                "nki.schedule_count",
                f"with_schedule: {len(afters)} instructions have "
                f"name={after!r}{on}, and {len(befores)} have "
                f"name={before!r}: pairs are made of one each, in order",
                remedy="give the instructions names of their own, such as "
                "name=f'a{i}' in a loop",
            )
        for later, earlier in zip(afters, befores, strict=True):
            later.depends_on(earlier)
    if apart:
        refuse(
            "illegal",
            "nki.schedule_name",
            f"with_schedule: no core has instructions of both "
            f"name={after!r} and name={before!r}",
            remedy="nisa.core_barrier orders instructions of two cores",
        )


def _check_label(trace: Trace, name: str) -> None:
    known = list(dict.fromkeys(n for labels in trace.labels for n in labels))
    if name in known:
        return
    nearest = _trnemu.nearest(name, known)
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    refuse(
        "illegal",
        "nki.schedule_name",
        f"with_schedule: no instruction has name={name!r}{hint}",
    )
