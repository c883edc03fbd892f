"""The command python -m trnemu.nki: options, and how it ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from trnemu import __version__, _trnemu
from trnemu._fault import Fault
from trnemu.nki import _install, _options, _script
from trnemu.nki._kernel import counts

USAGE = 2
_EXITS = {"input": USAGE, "unsupported": 3, "malformed": 4, "internal": 70}

_EPILOG = """\
example, to paste into a shell:

cat > double.py <<'END'
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def double(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y, src=tile)
    return y

print(double(np.ones((128, 512), np.float32)))
END
python -m trnemu.nki --target trn2 double.py

An argument of a kernel's launch goes before an option here, which goes before
the environment: NEURON_PLATFORM_TARGET_OVERRIDE, NKI_PRECISE_FP,
TRNEMU_NKI_API, TRNEMU_NKI_STRICT_FRONTEND.

To leave the command line of a script alone, set TRNEMU_NKI=1 (after pip
install) or PYTHONPATH=$(python -m trnemu.nki --path) and run it as it is.

exit codes: the script's own; 1 a fault in a kernel, 2 usage or inputs,
3 unsupported, 4 malformed, 70 a bug in trnemu
"""


class _Parser(argparse.ArgumentParser):
    """Words every mistake as a sentence, with where to read more."""

    def error(self, message: str) -> Any:
        self.exit(
            USAGE,
            f"{self.prog}: {message}\n"
            f"{self.prog} --help lists the options and has an example\n",
        )


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m trnemu.nki",
        usage="%(prog)s [options] script.py [arguments]\n"
        "       %(prog)s [options] -m module [arguments]\n"
        "       %(prog)s --path",
        description="Runs a script or module whose `import nki` is the "
        "emulator: its kernels run,\nunmodified, on an emulated Trainium.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    add = parser.add_argument
    add("--help", "-h", action="help", help="this text")
    add("--version", action="version", version=f"trnemu {__version__}")
    add("--path", action="store_true", help="print a directory for PYTHONPATH")
    add(
        "--target",
        metavar="T",
        help="trn1, trn2 (default) or trn3; inf2, gen2, gen3, gen4 too",
    )
    add("--api-version", metavar="V", help="of NKI: 0.2 to 0.6 (default)")
    add(
        "--numerics",
        metavar="K=V,...",
        help="rules that documents leave open: " + ", ".join(_keys()),
    )
    add(
        "--checks",
        metavar="C",
        help="full (default), memory (unwritten bytes only) or off (rules and "
        "bounds only)",
    )
    add("--allow", metavar="ID,...", help="diagnostics to let pass")
    add("--strict", action="store_true", help="warnings are errors")
    add(
        "--strict-frontend",
        action="store_true",
        help="report Python that the device's own front end refuses",
    )
    add("--seed", metavar="N", type=int, help="of the random generators")
    add(
        "--schedule",
        metavar="S",
        help="timed (default), program, or a number that picks a legal "
        "interleaving",
    )
    add(
        "--max-instructions",
        metavar="N",
        type=int,
        help="budget of instructions for each launch",
    )
    add(
        "--max-wall-time",
        metavar="SECONDS",
        type=float,
        help="time on this host that each launch's run may take",
    )
    add(
        "--precise-fp",
        metavar="0|1",
        choices=("0", "1"),
        help="0 keeps 16-bit and 8-bit floats as float32",
    )
    add(
        "--time",
        metavar="on|off",
        choices=("on", "off"),
        help="off: no simulated time, faster",
    )
    add(
        "--stop-at-nan",
        action="store_true",
        help="the first NaN or infinity that comes of finite inputs is a fault",
    )
    add(
        "--summary",
        action="store_true",
        help="print each launch's time, instructions and engines to stderr",
    )
    add(
        "--save",
        metavar="DIR",
        help="write each launch's program and inputs there, for trnemu run, "
        "verify and disasm",
    )
    add(
        "--profile",
        action="store_true",
        help="print where each launch's time goes to stderr, as trnemu profile "
        "does",
    )
    add(
        "--html",
        metavar="FILE",
        help="write that as a report for a browser; the second launch writes "
        "FILE.2.html for FILE.html, and so on. Implies --profile",
    )
    add(
        "--trace",
        metavar="FILE",
        help="write that as a timeline for ui.perfetto.dev, likewise",
    )
    add(
        "--traceback",
        action="store_true",
        help="Python's traceback of a fault too",
    )
    add("-m", dest="module", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    add("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _keys() -> list[str]:
    return list(_trnemu.numerics_rows())


def _pairs(text: str) -> dict[str, str]:
    """Of "K=V,K=V". ValueError for a part without "="."""
    pairs = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(
                f"--numerics takes KEY=VALUE,..., and {part!r} has no ="
            )
        pairs[key.strip()] = value.strip()
    return pairs


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the command line, by their names in _options."""
    given: dict[str, Any] = {
        "target": args.target,
        "api": args.api_version,
        "checks": args.checks,
        "seed": args.seed,
        "max_instructions": args.max_instructions,
        "max_wall_time": args.max_wall_time,
        "strict": args.strict or None,
        "strict_frontend": args.strict_frontend or None,
        "stop_at_nan": args.stop_at_nan or None,
        "summary": args.summary or None,
        "save": args.save,
        "profile": args.profile or None,
        "profile_html": args.html,
        "profile_trace": args.trace,
    }
    if args.numerics is not None:
        given["numerics"] = _pairs(args.numerics)
    if args.allow is not None:
        given["allow"] = [i.strip() for i in args.allow.split(",")]
    if args.schedule is not None:
        number = args.schedule.isascii() and args.schedule.isdigit()
        given["schedule"] = int(args.schedule) if number else args.schedule
    if args.precise_fp is not None:
        given["precise_fp"] = args.precise_fp == "1"
    if args.time is not None:
        given["time"] = args.time == "on"
    return {name: value for name, value in given.items() if value is not None}


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns the exit code. What the script exits with is
    raised as SystemExit."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.path:
        print(_install.path())
        return 0
    if not args.script and not args.module:
        parser.error("what script should it run?")
    try:
        _options.set_defaults(**_given(args))
        _options.defaults().profiles()
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    try:
        _install.install()
        if args.module:
            _script.run_module(args.module)
        else:
            _script.run_file(args.script)
    except _script.CannotStart as error:
        parser.error(str(error))
    except _script.ScriptFailed as failed:
        return _ended(failed.error, args.traceback)
    _say_if_idle(parser.prog)
    return 0


def _say_if_idle(prog: str) -> None:
    """Says that a script has launched none of its kernels: many public ones
    are made to be imported."""
    defined = counts["defined"]
    if defined and not counts["recorded"]:
        kernels = "1 kernel" if defined == 1 else f"{defined} kernels"
        sys.stdout.flush()
        print(
            f"{prog}: the script defines {kernels} and launches none; a launch "
            "is a call with arrays, kernel(np.zeros(...))",
            file=sys.stderr,
        )


# What the vendor's drivers of kernels import, beside nki.
_DRIVERS = ("torch_xla", "torch_neuronx", "jax", "jax_neuronx", "libneuronxla")


def _driver_hint(error: Exception) -> str:
    name = getattr(error, "name", None) or ""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    if name.partition(".")[0] not in _DRIVERS:
        return ""
    return (
        f"{name} drives the vendor's device; trnemu runs the kernels "
        "themselves: import them and call them with arrays of NumPy, or with "
        "tensors of torch on the host (docs/nki.md, Launching)"
    )


def _ended(error: Exception, traceback: bool) -> int:
    """Reports what ended the script; returns the exit code."""
    sys.stdout.flush()
    fault = error if isinstance(error, Fault) else None
    if fault is None or traceback:
        sys.excepthook(type(error), error, error.__traceback__)
    if fault is None:
        if hint := _driver_hint(error):
            print(f"hint: {hint}", file=sys.stderr)
        return 1
    if not traceback:
        print(fault, file=sys.stderr)
    return _EXITS.get(fault.category, 1)
