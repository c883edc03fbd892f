"""Running a user's script as Python itself would."""

from __future__ import annotations

import importlib.util
import io
import os
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType
from typing import Any


class CannotStart(Exception):
    """There is nothing to run: a sentence."""


class ScriptFailed(Exception):
    """The script has raised `error`, whose traceback begins in the script."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def run_file(arguments: Sequence[str]) -> None:
    """Runs arguments[0], a script, or a folder or archive with a __main__.py,
    as `python arguments...` does.

    The script is sys.modules["__main__"] from then on, so that pickle, threads
    and atexit functions find it. Raises CannotStart, ScriptFailed, and what is
    no Exception (SystemExit, KeyboardInterrupt).
    """
    script = arguments[0]
    if not os.path.exists(script):
        raise CannotStart(f"there is no file {script}")
    sys.argv[:] = arguments
    if os.path.isdir(script) or _is_archive(script):
        _first_path(script)
        _guarded(runpy.run_path, script, run_name="__main__")
        return
    _first_path(os.path.dirname(os.path.realpath(script)))
    script = os.path.abspath(script)
    try:
        with io.open_code(script) as file:
            source = file.read()
    except OSError as error:
        raise CannotStart(f"cannot read {script}: {error.strerror}") from None
    main = ModuleType("__main__")
    main.__file__ = script
    main.__dict__["__builtins__"] = __builtins__
    main.__dict__["__cached__"] = None
    sys.modules["__main__"] = main
    _guarded(_execute, source, script, main)


def run_module(arguments: Sequence[str]) -> None:
    """Runs arguments[0], a module's name, as `python -m` does. Raises as
    run_file."""
    sys.argv[:] = arguments
    _guarded(_find_and_run, arguments[0])


def _find_and_run(name: str) -> None:
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        found = None
    if found is None:
        raise CannotStart(f"there is no module {name}")
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _execute(source: bytes, script: str, main: ModuleType) -> None:
    exec(compile(source, script, "exec"), main.__dict__)


def _is_archive(script: str) -> bool:
    """Whether Python imports from it: a zip file."""
    import zipfile

    return zipfile.is_zipfile(script)


def _first_path(folder: str) -> None:
    """Where the script's imports look first: its own folder, in place of the
    current one, which `python -m` has put there."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _guarded(run: Any, *args: Any, **kwargs: Any) -> None:
    """Calls run; what it raises is a ScriptFailed without the frames of this
    package and of runpy."""
    try:
        run(*args, **kwargs)
    except CannotStart:
        raise
    except Exception as error:
        raise ScriptFailed(_cut(error)) from None


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _cut(error: Exception) -> Exception:
    """The error with the frames of the user's own code alone."""
    hidden = (runpy.__file__, "<frozen runpy>")
    kept: list[TracebackType] = []
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file not in hidden and not file.startswith(_PACKAGE + os.sep):
            kept.append(traceback)
        traceback = traceback.tb_next
    for t in reversed(kept):
        traceback = TracebackType(traceback, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return error.with_traceback(traceback)
