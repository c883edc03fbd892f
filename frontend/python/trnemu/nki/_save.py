"""A launch as files, for the command: its program and inputs."""

from __future__ import annotations

import itertools
import pathlib
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from trnemu._trnemu import Program


def save(
    name: str,
    program: Program,
    inputs: Mapping[str, np.ndarray[Any, Any]] | None,
    folder: str,
) -> None:
    """Writes NAME.trn and NAME.INPUT.npy, with a number behind a name that is
    taken, and says so with the command that runs them; without inputs one that
    needs none. Characters that are special to shells or file systems become
    "_"."""
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    file = _free(path, _plain(name), ".trn")
    program.save(str(file))
    command = ["trnemu", "run", str(file)]
    if inputs is None:
        command = ["trnemu", "profile", str(file), "--values", "off"]
    for key, array in (inputs or {}).items():
        data = _free(path, f"{file.stem}.{_plain(key)}", ".npy")
        np.save(data, array)
        command += ["--input", f"{key}={data}"]
    print(f"saved: {shlex.join(command)}", file=sys.stderr)


def _plain(name: str) -> str:
    """A name as part of a file's."""
    return re.sub(r"[^\w.-]", "_", name)[:100] or "_"


def _free(path: pathlib.Path, stem: str, suffix: str) -> pathlib.Path:
    """A file of that name, or with a number behind it, that is not there."""
    file = path / f"{stem}{suffix}"
    for count in itertools.count(2):
        if not file.exists():
            break
        file = path / f"{stem}.{count}{suffix}"
    return file
