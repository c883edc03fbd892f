"""Device loops: loops that are part of the program.

nl.fori_loop and nl.while_loop take the body as a function; nl.dynamic_range
and `while register:` are the forms of the device's other front end. Bodies run
once, to record what the device repeats.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from trnemu.nki import _trace
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
    tensors. Fault (illegal) if step is no positive number.
    """
    trace = _trace.current()
    step = _step("fori_loop", step)
    _begin(trace, "fori_loop")
    counter = trace.core.begin_loop(lower, upper, step)
    body_fun(make_register(counter))
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
    if trace.caches.pop("left_loop", False):
        refuse(
            "illegal",
            "nki.loop_left",
            "a device loop was left by break, return or an exception; the "
            "device runs it to its end",
            operation="dynamic_range",
            remedy="nl.while_loop with a condition register",
        )


# `while register:` asks for its truth before the first round and after it. The
# loops that are open, innermost last: the frame and the statement's line.
def test(register: VirtualRegister) -> bool:
    """The truth of a register: opens a device loop at `while register:`, and
    ends it where the same statement asks again."""
    trace = _trace.current()
    frame = _caller()
    statement = statement_of(frame)
    if not isinstance(statement, ast.While):
        refuse(
            "illegal",
            "nki.register_branch",
            "a branch on a register asks for a value that only the device "
            "knows",
            remedy="nl.while_loop or `while register:` for loops; select "
            "values with nisa.tensor_copy_predicated or nisa.select_reduce",
        )
    loops = trace.caches.setdefault("while_loops", [])
    key = (id(frame), statement.lineno, statement.col_offset)
    if loops and loops[-1] == key:
        loops.pop()
        _end(trace)
        return False
    _begin(trace, "while")
    trace.core.begin_while(register)
    loops.append(key)
    return True


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
    tree = tree_of(frame.f_code.co_filename)
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, _, column, _ = place
    if tree is None or line is None or column is None:
        return None
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


def _contains(node: ast.expr, line: int, column: int) -> bool:
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= (line, column) < end
