"""What a launch that is profiled prints and writes."""

from __future__ import annotations

import pathlib
import sys

from trnemu._profile import ProfileReport
from trnemu.nki._options import Options

# How often this process has been asked to write each file.
_asked: dict[str, int] = {}


def show(name: str, report: ProfileReport, options: Options) -> None:
    """Prints the profile of the kernel of that name to stderr, and writes the
    files that the options ask for. Each launch has a file of its own: the
    second one's is FILE.2.html for FILE.html."""
    lines = [f"{name}:", str(report).rstrip("\n")]
    if options.profile_html:
        path = _next(options.profile_html)
        report.save_html(path)
        lines.append(f"html       {path}")
    if options.profile_trace:
        path = _next(options.profile_trace)
        report.save_trace(path)
        lines.append(f"trace      {path}")
    print("\n".join(lines), file=sys.stderr)


def _next(file: str) -> str:
    count = _asked[file] = _asked.get(file, 0) + 1
    path = pathlib.Path(file)
    if count > 1:
        path = path.with_name(f"{path.stem}.{count}{path.suffix}")
    return str(path)
