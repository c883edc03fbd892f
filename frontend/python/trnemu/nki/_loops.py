"""Device loops: loops that are part of the program.

nl.fori_loop and nl.while_loop take the body as a function; nl.dynamic_range
and `while register:` are the forms of the device's other front end. Bodies run
once, to record what the device repeats.
"""

from __future__ import annotations

import ast
import dis
import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple, NoReturn, TypeGuard

from trnemu import _trnemu
from trnemu.nki import _trace
from trnemu.nki._jumps import continues
from trnemu.nki._source import tree_of
from trnemu.nki._tensor import VirtualRegister, make_register
from trnemu.nki._trace import Trace, refuse


def _step(operation: str, step: Any) -> int:
    if isinstance(step, VirtualRegister) or not hasattr(step, "__index__"):
        refuse(
            "illegal",
            "nki.loop_step",
            f"{operation}: step must be a number that is known when the kernel "
            f"is compiled, not {type(step).__name__}",
            operation=operation,
            operand="step",
        )
    return int(step)


def _begin(trace: Trace, operation: str) -> None:
    if trace.ordered:
        refuse(
            "illegal",
            "nki.loop_in_no_reorder",
            f"{operation}: a device loop cannot be inside nl.no_reorder()",
            operation=operation,
            remedy="put nl.no_reorder() into the loop's body",
        )
    trace.device_loops += 1


def _end(trace: Trace) -> None:
    trace.core.end_loop()
    trace.device_loops -= 1


def fori_loop(
    lower: int | VirtualRegister,
    upper: int | VirtualRegister,
    body_fun: Callable[[VirtualRegister], None],
    step: int = 1,
) -> None:
    """Repeats body_fun(i) on the device for i = lower, lower + step, ... < upper.

    i is a register, given by value: writing to it does not change the loop.
    Bounds are ints or registers, read once. What the body computes goes on in
    tensors. Fault (illegal) if step is no positive number, or if the body
    returns a value (nki/migration/index.rst:138).
    """
    trace = _trace.current()
    step = _step("fori_loop", step)
    _begin(trace, "fori_loop")
    counter = trace.core.begin_loop(lower, upper, step)
    result = body_fun(make_register(counter))
    # A handle is what a lambda of one instruction gives, and no value.
    if result is not None and not isinstance(result, _trnemu.NkiInstruction):
        refuse(
            "illegal",
            "nki.loop_value",
            f"fori_loop: body_fun returns a {type(result).__name__}, which no "
            "round and nothing behind the loop receives",
            operation="fori_loop",
            operand="body_fun",
            remedy="return nothing; keep what goes on in a tensor that is "
            "made before the loop",
        )
    _end(trace)


def while_loop(
    init: VirtualRegister,
    body_fun: Callable[[VirtualRegister], VirtualRegister],
) -> None:
    """Repeats r = body_fun(r) on the device while r is not zero, from r = init.

    The condition is tested before each round; the body returns the register
    that holds the next one. Fault (illegal) if it returns something else.
    """
    trace = _trace.current()
    if not isinstance(init, VirtualRegister):
        refuse(
            "illegal",
            "nki.while_condition",
            "while_loop: init must be a register, not "
            f"{type(init).__name__}",
            operation="while_loop",
            operand="init",
            remedy="nisa.register_alloc(value)",
        )
    condition = make_register(trace.core.add_register(None))
    trace.add("register_move", dst=condition, src=init)
    _begin(trace, "while_loop")
    trace.core.begin_while(condition)
    given = make_register(trace.core.add_register(None))
    trace.add("register_move", dst=given, src=condition)
    result = body_fun(given)
    if not isinstance(result, VirtualRegister):
        refuse(
            "illegal",
            "nki.while_condition",
            "while_loop: body_fun must return the register with the next "
            f"condition, not {type(result).__name__}",
            operation="while_loop",
            operand="body_fun",
        )
    trace.add("register_move", dst=condition, src=result)
    _end(trace)


def dynamic_range(
    start: int | VirtualRegister,
    stop: int | VirtualRegister | None = None,
    step: int = 1,
) -> Iterator[VirtualRegister]:
    """`for i in nl.dynamic_range(...)`: a loop of the device; i is a register
    that only the loop writes. Its body may not break, continue out or return.
    """
    trace = _trace.current()
    step = _step("dynamic_range", step)
    if stop is None:
        start, stop = 0, start
    return _dynamic(trace, start, stop, step)


def _dynamic(
    trace: Trace, start: Any, stop: Any, step: int
) -> Iterator[VirtualRegister]:
    _begin(trace, "dynamic_range")
    counter = trace.core.begin_loop(start, stop, step)
    try:
        yield make_register(counter)
    except GeneratorExit:
        # An exception here would be lost: the trace refuses what comes next.
        trace.caches["left_loop"] = True
        raise
    _end(trace)


def check_left(trace: Trace) -> None:
    """Refuses a kernel that has left a device loop by break or return."""
    counted = trace.caches.pop("left_loop", False)
    if trace.while_loops and not counted:
        _refuse_left("while", trace.while_loops[-1])
    if counted or trace.device_loops:
        _refuse_left("dynamic_range")


def _refuse_left(operation: str, loop: _While | None = None) -> NoReturn:
    """Of a `while register:`, with its place."""
    remedy = (
        "nl.while_loop, whose body returns the register that says whether to "
        "go on; or range(), where Python knows when to stop"
    )
    where = ""
    if loop is not None:
        file = os.path.basename(loop.frame.f_code.co_filename)
        where = f" (`while` at {file}:{loop.place[0]})"
        remedy = (
            "end it by its register: nisa.register_move(register, 0), or "
            "nisa.register_load of a tile that says whether to go on, at the "
            "end of the body"
        )
    refuse(
        "illegal",
        "nki.loop_left",
        f"a device loop{where} was left by break, return or an exception; it "
        "cannot be left early: the device runs each round to the body's end",
        operation=operation,
        remedy=remedy,
    )


class _While(NamedTuple):
    """A `while register:` that is open: the code under way, the statement's
    line and column, the register's number, and the instruction of Python that
    asked first."""

    frame: FrameType
    place: tuple[int, int]
    register: int
    entry: int


# `while register:` asks for its truth before the first round and after it, by
# two instructions of Python; trace.while_loops has those that are open.
def test(register: VirtualRegister) -> bool:
    """The truth of a register: opens a device loop at `while register:`, and
    ends it where the same statement asks again.

    Fault (illegal) elsewhere, for conditions that are more than a register,
    and if the statement asks for another register than before.
    """
    trace = _trace.current()
    frame = _caller()
    statement = statement_of(frame)
    if not isinstance(statement, ast.While):
        file = frame.f_code.co_filename
        hidden = f"; {file} has no source that would show a `while register:`"
        refuse(
            "illegal",
            "nki.register_branch",
            "a branch on a register asks for a value that only the device "
            "knows; Python takes one side of it while the kernel is recorded"
            f"{'' if tree_of(file) else hidden}",
            remedy="a loop of one round: nl.while_loop(register, body), whose "
            "body returns a register with 0; or select values with "
            "nisa.tensor_copy_predicated or nisa.select_reduce",
        )
    if isinstance(statement.test, _COMPOUND):
        refuse(
            "illegal",
            "nki.while_condition",
            "the condition of a device loop is a register alone: what `not`, "
            "`and` and `or` make of it is a value that only the device knows",
            operation="while",
            remedy="compute the condition on a tile and nisa.register_load "
            "it, before the loop and at the end of its body",
        )
    loops = trace.while_loops
    place = (statement.lineno, statement.col_offset)
    if any(loop.frame is frame and loop.place == place for loop in loops[:-1]):
        _refuse_left("while", loops[-1])  # inside of it, and still open
    if loops and loops[-1].frame is frame and loops[-1].place == place:
        if (
            _ASKS_TWICE
            and loops[-1].entry == frame.f_lasti
            and not continues(statement, tree_of(frame.f_code.co_filename))
        ):
            _refuse_left("while", loops[-1])  # it is entered anew
        if loops[-1].register != register.index:
            refuse(
                "illegal",
                "nki.while_condition",
                "`while` tests another register after its body than before: a "
                "device loop has one",
                operation="while",
                remedy="nisa.register_load or nisa.register_move into the "
                "register that the loop has",
            )
        loops.pop()
        _end(trace)
        return False
    _begin(trace, "while")
    trace.core.begin_while(register)
    loops.append(_While(frame, place, register.index, frame.f_lasti))
    return True


def _asks_twice() -> bool:
    """Whether this Python compiles the condition of `while` two times: before
    the first round, and behind the body."""

    class Condition:
        def __bool__(self) -> bool:
            asked.append(sys._getframe(1).f_lasti)
            return len(asked) < 2

    asked: list[int] = []
    condition = Condition()
    while condition:
        pass
    return asked[0] != asked[1]


_ASKS_TWICE = _asks_twice()


_COMPOUND = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp)


def _caller() -> FrameType:
    """The frame of the kernel's code that led here."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get(
        "__name__", ""
    ).startswith("trnemu.nki"):
        frame = frame.f_back
    assert frame is not None
    return frame


def statement_of(frame: FrameType) -> ast.AST | None:
    """The If, While, Assert or IfExp whose condition a frame is asking for;
    None for other uses, and where there is no source."""
    file = frame.f_code.co_filename
    tree = tree_of(file)
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if tree is None or place[0] is None or place[2] is None:
        return None
    known = _statements.get((file, place))
    if known is None or known[0] is not tree:
        known = _statements[file, place] = (tree, _find(tree, place))
    return known[1]


_Place = tuple[int | None, ...]
_statements: dict[tuple[str, _Place], tuple[ast.Module, ast.AST | None]] = {}


def _find(tree: ast.Module, place: _Place) -> ast.AST | None:
    """The statement whose condition is at a place, or asked for there."""
    line, _, column, _ = place
    assert line is not None and column is not None
    found: ast.AST | None = None
    for node in ast.walk(tree):
        test = getattr(node, "test", None)
        if not isinstance(test, ast.expr):
            continue
        # A jump has the place of its statement, a call that of itself.
        if isinstance(node, (ast.stmt, ast.expr)) and place == (
            node.lineno,
            node.end_lineno,
            node.col_offset,
            node.end_col_offset,
        ):
            return node
        if _contains(test, line, column):
            found = node
    return found


def is_checked(frame: FrameType) -> bool:
    """Whether what a frame asks for is of an assert, or an argument of print()
    or of a function whose name begins with assert."""
    tree = tree_of(frame.f_code.co_filename)
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if tree is None or place[0] is None or place[2] is None:
        return False
    return any(
        _is_check(node) and _contains(node, place[0], place[2])
        for node in ast.walk(tree)
    )


def _is_check(node: ast.AST) -> TypeGuard[ast.Assert | ast.Call]:
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name == "print" or name.startswith("assert")


def use_of(frame: FrameType) -> str:
    """What a frame asks for the truth of something for: "assert", "branch" (an
    if, while, and, or, ...), "" for others, such as a call of bool()."""
    names = [
        i.opname
        for i in dis.get_instructions(frame.f_code)
        if i.offset >= frame.f_lasti and i.opname != "TO_BOOL"
    ]
    jumps = "JUMP" in names[0]
    statement = statement_of(frame)
    if isinstance(statement, ast.Assert) or (
        jumps and names[1] == "LOAD_ASSERTION_ERROR"
    ):
        return "assert"
    within = isinstance(statement, (ast.If, ast.While, ast.IfExp))
    return "branch" if jumps or within else ""


def _contains(node: ast.expr | ast.stmt, line: int, column: int) -> bool:
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= (line, column) < end
