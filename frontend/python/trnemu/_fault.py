"""Fault: what is wrong with a program or its inputs, as an exception."""

from __future__ import annotations

import json
from typing import Any

from trnemu._trnemu import Finding


class Fault(Exception):
    """A program that the device would refuse, or whose result is not defined.

    str() is the report that people read; `finding` is the same as data. The
    other attributes are those of the finding.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def category(self) -> str:
        """One of malformed, input, illegal, capacity, uninitialized,
        out_of_bounds, race, deadlock, unspecified, unsupported, limit,
        internal."""
        return self.finding.category

    @property
    def severity(self) -> str:
        """"error", or "warning" where strict=True made an error of it."""
        return self.finding.severity

    @property
    def id(self) -> str:
        """Stable; what allow= takes."""
        return self.finding.id

    @property
    def message(self) -> str:
        """One sentence: the operand, the limit and the actual value."""
        return self.finding.message

    @property
    def operation(self) -> str:
        """The operation's name, or ""."""
        return self.finding.operation

    @property
    def instruction(self) -> int | None:
        """Position in program order within the core."""
        return self.finding.instruction

    @property
    def opcode(self) -> str:
        """The device instruction, or ""."""
        return self.finding.opcode

    @property
    def engine(self) -> str:
        """The engine's name, or ""."""
        return self.finding.engine

    @property
    def core(self) -> int | None:
        """Core index."""
        return self.finding.core

    @property
    def rank(self) -> int | None:
        """Rank, where there are several."""
        return self.finding.rank

    @property
    def operand(self) -> str:
        """The parameter, tensor or view it speaks of, or ""."""
        return self.finding.operand

    @property
    def source(self) -> str:
        """"file:line in function" of the user's code, or "". Inside a kernel of
        nki with the calls that led there: ", called at file:line in kernel"."""
        return self.finding.source

    @property
    def calls(self) -> tuple[str, ...]:
        """Where the function of `source` was called from, and so on out to the
        kernel of nki, innermost first, each "file:line in function"."""
        return tuple(self.source.split(", called at ")[1:])

    @property
    def details(self) -> dict[str, str]:
        """What else is known: shapes, limits, values."""
        return self.finding.details

    @property
    def related(self) -> tuple[str, ...]:
        """Other instructions or tensors involved, a sentence each."""
        return self.finding.related

    @property
    def remedy(self) -> str:
        """What to do next, or ""."""
        return self.finding.remedy

    @property
    def reference(self) -> str:
        """Where the rule is documented, or ""."""
        return self.finding.reference

    @property
    def count(self) -> int:
        """How often it occurred."""
        return self.finding.count

    @property
    def wait_graph(self) -> dict[str, Any] | None:
        """Of a deadlock: who waits for whom (docs/deadlock.md)."""
        graph: dict[str, Any] | None = json.loads(self.to_json()).get(
            "wait_graph"
        )
        return graph

    def to_json(self) -> str:
        """One JSON object on one line."""
        return self.finding.to_json()


class InputFault(Fault, ValueError):
    """A Fault of category "input": what was passed to a run is wrong."""


def fault_of(finding: Finding) -> Fault:
    """The exception for a finding; the extension calls it."""
    if finding.category == "input":
        return InputFault(finding)
    return Fault(finding)
