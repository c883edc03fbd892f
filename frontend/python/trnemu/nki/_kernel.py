"""Kernels: jit, simulate, trace, and what a launch does."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from trnemu import _trnemu
from trnemu._profile import ProfileReport, profile
from trnemu._run import RunResult, explore, options_of_runs, run_into
from trnemu._trnemu import Program
from trnemu.nki import _checks, _compat, _loops, _options, _trace
from trnemu.nki._arguments import Arguments
from trnemu.nki._checks import KernelWarning
from trnemu.nki._lockstep import Lockstep
from trnemu.nki._misfits import reword
from trnemu.nki._options import Options
from trnemu.nki._profiles import show
from trnemu.nki._results import Recording, check_alike, mark_outputs
from trnemu.nki._save import save
from trnemu.nki._trace import Trace, refuse

# The decorator's own keywords, which say nothing about what a kernel computes.
# Kept in Kernel.recorded.
_RECORDED = (
    "mode",
    "debug_kernel",
    "show_compiler_tb",
    "kernel_return",
    "experimental_flags",
    "additional_compile_opt",
)
_OPTIONS = (
    "target",
    "api",
    "numerics",
    "checks",
    "allow",
    "strict",
    "strict_frontend",
    "seed",
    "schedule",
    "precise_fp",
    "max_instructions",
    "max_wall_time",
    "time",
    "stop_at_nan",
    "summary",
    "save",
    "profile",
    "profile_html",
    "profile_trace",
)


# Kernels that jit has made in this process, and recordings, for the command.
counts = {"defined": 0, "recorded": 0}
_REPLICATED = "race.replicated_write"
_ORDERS = 8  # each takes one of the two cores first with even chances


class Entered(NamedTuple):
    """Arguments of a launch: as the kernel sees them (bound), and as they were
    given."""

    trace: Trace
    arguments: Arguments
    bound: inspect.BoundArguments
    given: dict[str, Any]


class Kernel:
    """A function that runs on a (simulated) NeuronCore; nki.jit makes it.

    kernel(*arrays) records the kernel, runs it and gives what it returns, as
    NumPy arrays or, for torch tensors, as those; arguments that it writes to
    are updated. kernel[2](...) launches it on two cores. Inside another kernel
    a call is a call of the function, under the outer one's options.

    After a launch: `program`, `result` (time_ns, diagnostics, profile,
    summary()); after a run on several ranks those of rank 0. recorded: keywords of jit that only matter to the vendor's
    compiler.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        recorded: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        cores: int = 1,
        grid: bool = False,
        schedule: Iterable[Any] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        plain = _plain(function)
        self.__name__ = plain.__name__
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.func = function
        self.recorded = dict(recorded or {})
        self.options = dict(options or {})
        self.cores = cores
        self.grid = grid
        self.edges = tuple(schedule)
        # Of the last launch; shared with kernel[2] and the like.
        self._last: dict[str, Any] = {}
        # Of the last launch of this object, and what they are known for.
        self._effect: tuple[Any, Any] = (None, None)
        self._run_options: tuple[Any, dict[str, Any]] = (None, {})

    @property
    def program(self) -> Program | None:
        """The program of the last launch, bracketed or not."""
        return self._last.get("program")

    @property
    def result(self) -> RunResult | None:
        """The result of the last launch, bracketed or not."""
        return self._last.get("result")

    def _like(self, **changes: Any) -> Kernel:
        given: dict[str, Any] = {
            "function": self.func,
            "recorded": self.recorded,
            "options": self.options,
            "cores": self.cores,
            "grid": self.grid,
            "schedule": self.edges,
            **changes,
        }
        return type(self)(**given)

    def __getitem__(self, grid: Any) -> Kernel:
        """The kernel on that many cores: 1, or 2 (LNC2)."""
        cores = grid
        if isinstance(grid, (tuple, list)) and len(grid) == 1:
            cores = grid[0]
        if isinstance(cores, (bool, float)) or cores not in (1, 2):
            refuse(
                "illegal",
                "nki.grid",
                f"a kernel is launched on 1 or 2 cores, not {grid!r}",
                remedy="kernel[1](...), kernel[2](...) or kernel(...); grids "
                "of more axes are of the older neuronxcc.nki",
            )
        made = self._like(cores=int(cores), grid=True)
        made._last = self._last
        return made

    def with_options(self, **options: Any) -> Kernel:
        """The kernel with other options: target, api, numerics, checks, allow,
        strict, strict_frontend, seed, schedule, precise_fp, max_instructions,
        max_wall_time, time, stop_at_nan, summary, save, profile, profile_html,
        profile_trace. TypeError for an unknown one."""
        _check_names(options, _OPTIONS)
        return self._like(options={**self.options, **options})

    def with_schedule(self, edges: Iterable[Any]) -> Kernel:
        """The kernel with order beyond what data asks for: pairs (a, b) or (a,
        [b, ...]) of instruction names, a after b."""
        return self._like(schedule=edges)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        active = _trace.active()
        if active is not None:
            _checks.nested(self, active, self._known)
            return self.func(*args, **kwargs)
        return self._launch(self.record(*args, **kwargs))

    def __get__(self, instance: Any, owner: type | None = None) -> Kernel:
        """As a method: the kernel with the object as its first argument."""
        if not hasattr(self.func, "__get__"):
            return self
        func = self.func.__get__(instance, owner)
        return self if func is self.func else self._like(function=func)

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self  # as a function is

    def __reduce__(self) -> Any:
        # By name, as functions are; one that nki.jit(f) made by f's.
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return self.__qualname__
        given = (self.func, self.recorded, self.options, self.cores, self.grid)
        return type(self), (*given, self.edges)

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.func)

    @functools.cached_property
    def _known(self) -> dict[str, Any]:
        return _options.checked_of(self.options)

    @functools.cached_property
    def _by_place(self) -> tuple[tuple[str, ...], int, dict[str, Any]]:
        """Parameters, how many must be given, and defaults, where all may be
        given by place and none takes several; else what no call meets."""
        simple = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = self._signature.parameters
        if any(p.kind is not simple for p in parameters.values()):
            return (), 1, {}
        defaults = {
            name: p.default
            for name, p in parameters.items()
            if p.default is not inspect.Parameter.empty
        }
        return tuple(parameters), len(parameters) - len(defaults), defaults

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], inspect.BoundArguments]:
        """The arguments by name: those given, and all. TypeError as a
        call's."""
        names, needed, defaults = self._by_place
        if not kwargs and needed <= len(args) <= len(names):
            # What follows, in a tenth of the time.
            given = dict(zip(names, args, strict=False))
            every = {**given}
            for name in names[len(args) :]:
                every[name] = defaults[name]
            return given, _ByPlace(self._signature, every)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{self.__name__}(): {error}{self._hint(kwargs)}"
            ) from None
        given = dict(bound.arguments)
        bound.apply_defaults()
        return given, bound

    def _in_effect(self) -> _options.Options:
        """The options of a launch now."""
        state = _options.state()
        if state != self._effect[0]:
            effect = _compat.options(_options.in_effect(self._known))
            self._effect = state, effect
        return self._effect[1]

    def _options_of_runs(self, options: _options.Options) -> dict[str, Any]:
        """The options of a launch as a run takes them."""
        if options is not self._run_options[0]:
            given = options_of_runs(
                checks=options.checks,
                allow=options.allowed_of_runs(),
                strict=options.strict,
                schedule=options.schedule,
                numerics=options.numerics,
                seed=options.seed,
                max_instructions=options.max_instructions,
                time=options.time and options.precise_fp,
                stop_at_nan=options.stop_at_nan,
                max_wall_time=options.max_wall_time,
            )
            self._run_options = options, given
        return self._run_options[1]

    def _hint(self, kwargs: Mapping[str, Any]) -> str:
        """What was meant by a keyword that the kernel does not have."""
        names = list(self._signature.parameters)
        for name in kwargs:
            if name in names:
                continue
            if name in _OPTIONS:
                return f"; options are given to kernel.with_options({name}=...)"
            if nearest := _trnemu.nearest(name, names):
                return f"; did you mean {nearest!r}?"
        return ""

    def enter(self, *args: Any, **kwargs: Any) -> Entered:
        """The arguments as tensors of a new program, which is empty else."""
        given, bound = self._bind(args, kwargs)
        defaults = self._in_effect()
        trace = Trace(self.__name__, self.cores, self.grid, defaults)
        arguments = trace.arguments = Arguments(trace)
        for name, value in bound.arguments.items():
            bound.arguments[name] = arguments.enter(name, value)
        return Entered(trace, arguments, bound, given)

    def record(self, *args: Any, **kwargs: Any) -> Recording:
        """Records the kernel for these arguments."""
        counts["recorded"] += 1
        entered = self.enter(*args, **kwargs)
        trace, arguments = entered.trace, entered.arguments
        bound = entered.bound
        if trace.options.strict_frontend:
            _checks.strict_frontend(
                _plain(self.func), entered.given, trace.options
            )
        outer, home = _trace.active(), get_ident()
        trace.code = _plain(self.func).__code__

        def body() -> Any:
            # In the thread of each core.
            _trnemu.set_kernel(trace.code)
            try:
                result = self.func(*bound.args, **bound.kwargs)
            except TypeError as error:
                reword(error)
                raise
            finally:
                here = outer if get_ident() == home else None
                _trnemu.set_kernel(None if here is None else here.code)
            if inspect.isgenerator(result) or inspect.iscoroutine(result):
                result.close()
                raise TypeError(
                    f"the kernel {self.__name__} gives a "
                    f"{type(result).__name__}, which records nothing; a kernel "
                    "is a function that returns tensors"
                )
            _loops.check_left(trace)
            return result

        with _trace.recording(trace):
            if self.cores == 2:
                trace.lockstep = Lockstep(trace)
                results = trace.lockstep.run(body)
                check_alike(*results)
                result = results[0]
            else:
                result = body()
            _checks.schedule(trace, self.edges)
            mark_outputs(trace, result)
        trace.core.settle_inputs()
        trace.progress(final=True)
        program = self._last["program"] = trace.core.build()
        return Recording(trace, program, arguments, result)

    def profile(self, *args: Any, **kwargs: Any) -> ProfileReport:
        """Where the kernel's time goes for these arguments (docs/profile.md),
        which are not written to. Tensors may be trnemu.nki.TensorSpec(shape,
        dtype): then no values are computed. Options, findings and what is kept
        as at a launch. Fault as at a launch; ValueError for options that a
        profile does not have: schedule, time=False, precise_fp=False, and
        stop_at_nan where no values are."""
        recording = self.record(*args, **kwargs)
        defaults = recording.trace.options
        complete = recording.arguments.complete
        _checks.profiled(self.__name__, defaults, complete)
        inputs = self._inputs(recording) if complete else None
        if defaults.save:
            save(self.__name__, recording.program, inputs, defaults.save)
        report = self._profile(recording, inputs)
        self._last["result"] = report.result
        self._summarize(report.result, defaults)
        _warn(report.result, 3)
        return report

    def _profile(
        self,
        recording: Recording,
        inputs: dict[str, np.ndarray[Any, Any]] | None,
    ) -> ProfileReport:
        defaults = recording.trace.options
        return profile(
            recording.program,
            inputs,
            name=self.__name__,
            checks=defaults.checks,
            strict=defaults.strict,
            stop_at_nan=defaults.stop_at_nan,
            **_of_every_run(defaults),
        )

    def _inputs(
        self, recording: Recording
    ) -> dict[str, np.ndarray[Any, Any]]:
        return recording.inputs()

    def _summarize(self, result: RunResult, defaults: Options) -> None:
        if not defaults.summary:
            return
        variable = _options.says_environment(self._known)
        on = f", on {result.target} as {variable} says" if variable else ""
        print(f"{self.__name__}{on}:\n{result.summary()}", file=sys.stderr)

    def _launch(self, recording: Recording) -> Any:
        arguments = recording.arguments
        if not arguments.complete:
            raise TypeError(
                "a TensorSpec has no values: it is for trnemu.nki.trace"
            )
        arguments.check_written(recording.program.outputs)
        outputs = self._run(recording)
        arguments.write_back(outputs)
        # They refer to each other: without that, all is freed with the launch.
        recording.trace.arguments = None
        return recording.results(outputs)

    def _run(self, recording: Recording) -> dict[str, np.ndarray[Any, Any]]:
        inputs = self._inputs(recording)
        defaults = recording.trace.options
        profiled = defaults.profiles()
        if defaults.save:
            save(self.__name__, recording.program, inputs, defaults.save)
        if profiled:
            report = self._profile(recording, inputs)
            result = self._last["result"] = report.result
            show(self.__name__, report, defaults)
        else:
            result = self._last["result"] = self._run_into(recording, inputs)
        self._summarize(result, defaults)
        if any(f.id == _REPLICATED for f in result.diagnostics):
            self._compare_orders(recording, inputs)
        _warn(result, 5)
        return dict(result.outputs)

    def _run_into(
        self,
        recording: Recording,
        inputs: dict[str, np.ndarray[Any, Any]],
    ) -> RunResult:
        defaults = recording.trace.options
        return run_into(
            recording.program,
            inputs,
            self._memory(recording),
            self._options_of_runs(defaults),
        )

    def _memory(
        self, recording: Recording
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Arguments that the run may write to itself. Not of two cores: what
        comes after the run may have to run the program again."""
        if self.cores == 2:
            return {}
        return recording.arguments.memory(recording.program.outputs)

    def _compare_orders(
        self, recording: Recording, inputs: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Both cores have written the same place by the same statement. Raises
        the Fault of the first of some legal orders that gives other bits."""
        defaults = recording.trace.options
        if _REPLICATED in defaults.allow:
            return
        explore(
            recording.program,
            inputs,
            _ORDERS,
            time=defaults.time and defaults.precise_fp,
            **_of_every_run(defaults),
        )

    def __repr__(self) -> str:
        return f"<nki kernel {self.__name__}>"


class _ByPlace(inspect.BoundArguments):
    """Arguments that are all given by place, in order."""

    def __init__(
        self, signature: inspect.Signature, arguments: dict[str, Any]
    ) -> None:
        super().__init__(signature, arguments)  # type: ignore[arg-type]

    @property
    def args(self) -> tuple[Any, ...]:
        return tuple(self.arguments.values())

    @property
    def kwargs(self) -> dict[str, Any]:
        return {}


def _of_every_run(defaults: Options) -> dict[str, Any]:
    """The options that run, explore and profile take alike."""
    return {
        "allow": defaults.allowed_of_runs(),
        "numerics": defaults.numerics,
        "seed": defaults.seed,
        "max_instructions": defaults.max_instructions,
        "max_wall_time": defaults.max_wall_time,
    }


def _warn(result: RunResult, stacklevel: int) -> None:
    """Warns of a run's warnings."""
    for finding in result.diagnostics:
        if finding.severity == "warning":
            warnings.warn(KernelWarning(str(finding)), stacklevel=stacklevel)


def _plain(function: Any) -> Any:
    """The function in methods, partial objects, wrappers and objects that can
    be called. TypeError for what Python cannot show, such as builtins."""
    while not inspect.isfunction(function):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__func__"):
            function = function.__func__
        elif hasattr(type(function).__call__, "__code__"):
            function = type(function).__call__
        else:
            raise TypeError(
                f"nki.jit takes a function of Python, not {function!r}"
            )
    return inspect.unwrap(function)


def _check_names(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """TypeError for the first unknown keyword, with the nearest."""
    names = list(known)
    for name in given:
        if name in names:
            continue
        nearest = _trnemu.nearest(name, names)
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        raise TypeError(
            f"nki.jit() got an unexpected keyword argument {name!r}{hint}"
        )


def jit(function: Callable[..., Any] | None = None, **keywords: Any) -> Any:
    """Makes a kernel of a function: @nki.jit, @nki.jit(...) or nki.jit(f).

    target, api, numerics, checks, ... : options of the launch, see
    Kernel.with_options; platform_target is another name of target, grid the
    cores. mode, debug_kernel, show_compiler_tb, kernel_return,
    experimental_flags and additional_compile_opt concern the vendor's compiler
    alone, and are kept in Kernel.recorded. TypeError for any other, with the
    nearest name. A kernel may be given for the function: what it has (options,
    cores, schedule) stays, but for what is given anew. ValueError if target
    and platform_target are two generations.
    """
    _check_names(
        keywords, (*_RECORDED, *_OPTIONS, "platform_target", "grid")
    )
    recorded = {k: v for k, v in keywords.items() if k in _RECORDED}
    options = {k: v for k, v in keywords.items() if k in _OPTIONS}
    if "platform_target" in keywords:
        options["target"] = _one_target(keywords)

    def make(f: Callable[..., Any]) -> Kernel:
        counts["defined"] += 1
        if isinstance(f, Kernel):
            kernel = f._like(
                recorded={**f.recorded, **recorded},
                options={**f.options, **options},
            )
        else:
            kernel = Kernel(f, recorded, options)
        return kernel if keywords.get("grid") is None else kernel[
            keywords["grid"]
        ]

    return make if function is None else make(function)


def _one_target(keywords: Mapping[str, Any]) -> Any:
    """What platform_target= says, and target= beside it."""
    name = keywords["platform_target"]
    other = keywords.get("target")
    if other is None or name is None:
        return other or name
    if _options.target_named(name, "platform_target") != _options.target_named(
        other
    ):
        raise ValueError(
            f"target={other!r} and platform_target={name!r} are two "
            "generations; they are names of one option"
        )
    return name


def simulate(kernel: Any, **options: Any) -> Kernel:
    """The kernel, to run here: nki.simulate(kernel)(arrays). A plain function
    is made a kernel first. options: see Kernel.with_options."""
    made = kernel if isinstance(kernel, Kernel) else jit(kernel)
    _check_names(options, _OPTIONS)
    simulated: Kernel = made.with_options(**options)
    return simulated


def trace(kernel: Any, *args: Any, **kwargs: Any) -> Program:
    """The program of a kernel for these arguments, not run: to save for
    `trnemu run`, `verify` and `profile`.

    Tensors may be arrays or trnemu.nki.TensorSpec(shape, dtype). Inputs of the
    program are named after the kernel's parameters. Fault as at a launch.
    """
    made = kernel if isinstance(kernel, Kernel) else jit(kernel)
    program: Program = made.record(*args, **kwargs).program
    return program
