"""What is wrong with the arguments of a method of tensors, in Python's words:
the extension's own message lists the types of everything."""

from __future__ import annotations

import ast
import re

from trnemu import _trnemu

_SIGNATURE = re.compile(r"^ *1\. (\w+\(.*\)) -> .*$", re.MULTILINE)
_INVOKED = re.compile(r"^Invoked with types: (.*)$", re.MULTILINE)


def reword(error: TypeError) -> None:
    """Replaces the message of an error that names no argument, if it is one of
    the extension's."""
    text = str(error)
    if "incompatible function arguments" not in text:
        return
    signature, invoked = _SIGNATURE.search(text), _INVOKED.search(text)
    if signature is None or invoked is None:
        return
    better = _better(signature[1], invoked[1])
    if better:
        error.args = (better,)


def _better(signature: str, invoked: str) -> str:
    """A sentence, or "" if it is a type that does not fit."""
    definition = ast.parse(f"def {signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    called = f"{definition.name}()"
    names = [a.arg for a in definition.args.args[1:]]
    needed = names[: len(names) - len(definition.args.defaults)]
    positional, _, keywords = invoked.partition("kwargs = {")
    given = len([p for p in positional.split(", ") if p.strip()]) - 1
    by_name = re.findall(r"(\w+): ", keywords)
    for name in by_name:
        if name not in names:
            nearest = _trnemu.nearest(name, names)
            hint = f"did you mean {nearest!r}?" if nearest else (
                f"it takes {', '.join(names)}"
            )
            return (
                f"{called} got an unexpected keyword argument {name!r}; {hint}"
            )
        if name in names[:given]:
            return f"{called} got multiple values for argument {name!r}"
    if given > len(names):
        hint = ""
        if names in (["shape"], ["dims"]):
            hint = f"; one sequence is given in brackets: {called[:-1]}(...))"
        return (
            f"{called} takes {len(names)} positional "
            f"argument{'s' * (len(names) != 1)} ({', '.join(names)}) but "
            f"{given} were given{hint}"
        )
    for name in needed[given:]:
        if name not in by_name:
            return f"{called} missing required argument: {name!r}"
    return ""
