"""What a diagnostic says: the checklist, on a sample of every category.

The programs are the executed examples of docs/diagnostics/. For each: which of
instruction, engine, core, operand, source, target and reference the report
has, and the limit and actual value in its words. The numbers come from the
example and from the documented limits, not from the report.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

import trnemu
from diagnostic_examples import LAYERS, Example, examples, workplace

I, E, C, O, S, T, R = (  # noqa: E741
    "instruction", "engine", "core", "operand", "source", "target", "reference")
RULE = (E, C, O, S, T, R)  # of a call: it has no position yet
RUN = (I, E, C, O, S)


@dataclasses.dataclass
class Case:
    id: str
    category: str
    has: tuple[str, ...]
    says: tuple[str, ...]


CASES = [Case(*row) for row in (
    # rules of a call
    ("tensor_tensor.both_in_psum", "illegal", RULE, ("data1", "data2", "PSUM")),
    ("operand.start_partition", "illegal", RULE,
     ("36 partitions", "partition 48", "0 and 64")),
    ("operand.buffer", "illegal", (C, O, S, T), ("src", "sbuf or psum", "hbm")),
    ("operand.dtype", "illegal", (C, O, S, T), ("stationary", "int32", "bfloat16")),
    ("operand.value", "illegal", (O, S), ("softmax", "softplus")),
    ("operand.count", "illegal", RULE, ("65536", "65535")),
    ("operand.step", "illegal", RULE, ("40000", "-32768 to 32767")),
    ("operand.sbuf_free_size", "illegal", RULE, ("65537", "65536", "vector")),
    ("operand.psum_free_size", "illegal", RULE, ("4097", "4096")),
    ("operand.index_count", "illegal", RULE, ("17 elements", "16 offsets", "(16, 1)")),
    ("operand.index_dtype", "illegal", RULE, ("int16", "int32 or uint32")),
    ("operand.gpsimd_psum", "illegal", RULE, ("gpsimd", "src", "PSUM")),
    ("nc_matmul.one_bank", "illegal", RULE, ("2048 bytes", "(4, 512)")),
    ("dma_copy.queues", "illegal", RULE, ("1 to 16",)),
    ("argument.builder", "illegal", (O, S), ("src", "another ProgramBuilder")),
    ("argument.count", "illegal", (O, S), ("5 items", "at most 4")),
    ("register_move.value", "illegal", (O, S, T, R), (str(2**32), "32 bits")),
    # views and tensors
    ("access.index", "out_of_bounds", (O, S), ("130", "128")),
    ("access.pattern_out_of_bounds", "out_of_bounds", (O, S), ("599", "0 to 511")),
    ("access.reshape", "illegal", (O, S), ("(4, 6)", "(5, 5)", "24")),
    ("access.too_many_dims", "illegal", (O, S, R), ("6", "at most 5")),
    ("tile.partitions", "illegal", (S,), ("130", "128")),
    ("tile.psum_alignment", "illegal", (S,), ("byte 2", "multiples of 4")),
    ("tensor.dtype", "illegal", (S,), ("float64", "float32")),
    # whole programs; 888 + 98568 + 98568 and 9 banks of 2048 bytes
    ("allocate.sbuf", "capacity", (I, E, C, O, S), ("198024", "196608", "trn1")),
    ("allocate.psum", "capacity", (I, E, C, O, S), ("18432", "16384", "trn2")),
    ("capacity.sbuf", "capacity", (S,), ("32 bytes", "400000", "trn2")),
    ("capacity.hbm", "capacity", (S,), (str(2**40), "trn2")),
    ("register.count", "limit", (S,), ("65", "64", "trn2")),
    ("semaphore.count", "limit", (S,), ("300", "256", "trn2")),
    ("semaphore.signal", "illegal", (I, E, C, S), ("-1",)),
    ("opcode.engine", "illegal", (I, E, C, S), ("TensorScalar", "sync")),
    # runs
    ("memory.read_unwritten", "uninitialized", RUN, ("data", "partition 64")),
    ("output.unwritten", "uninitialized", (S,), ("output y", "byte 28", "[0, 7]", "4 of 32 elements")),
    ("register.unset", "uninitialized", (I, E, C, S, R), ("register 0",)),
    ("nc_matmul.accumulate_on_other", "unspecified", (*RUN, R),
     ("bytes 0 to 3", "partition 0", "bank 0")),
    ("access.dynamic_out_of_bounds", "out_of_bounds", (*RUN, R),
     ("2147483647", "position 1", "0 to 2", "table")),
    ("local_gather.index", "out_of_bounds", RUN, ("64", "63")),
    ("activation.outside_valid_range", "unspecified", (*RUN, R),
     ("sin", "9", "3.14159", "partition 0, element 0")),
    ("cast.nan_to_integer", "unspecified", (*RUN, R), ("NaN", "int32", "partition 0")),
    ("sendrecv.mismatch", "illegal", (*RUN, R), ("8 float32", "4 float32", "pipe_id 0")),
    ("sendrecv.pairing", "deadlock", (*RUN, R), ("pipe_id 0",)),
    ("deadlock", "deadlock", (I, E, C, S), ("scalar engine of core 0", "ready >= 2", "it is 1")),
    ("limit.instructions", "limit", (), ("3",)),
    ("unsupported.values_off", "unsupported", (I, E, C, S), ("values off",)),
    # files and inputs
    ("malformed.truncated", "malformed", (), ("16 bytes", "byte 4096", "byte 4104")),
    ("malformed.index", "malformed", (), ("7", "2 semaphores", "line 32")),
    ("input.shape", "input", (), ("(4, 8)", "(8, 4)")),
    ("input.dtype", "input", (O,), ("float32", "float64")),
    ("option.max_instructions", "input", (), ("-1",)),
)]


def report(e: Example) -> Any:
    """What the example reports: the Fault, or the Finding of its id."""
    scope: dict[str, Any] = {"np": np, "trnemu": trnemu}
    with workplace():
        try:
            exec(compile(e.code, f"{e.id}.py", "exec"), scope)
            found = (scope["r"].diagnostics if "r" in scope
                     else scope["b"].build().verify(layers=LAYERS))
            return next(f for f in found if f.id == e.id)
        except trnemu.Fault as fault:
            return fault


def there(fault: Any, name: str) -> bool:
    value = fault.details.get(name) if name == T else getattr(fault, name)
    return value not in (None, "")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_a_report_says_who_what_where_the_limit_and_what_to_do(case):
    fault = report(examples()[case.id])
    assert (fault.id, fault.category) == (case.id, case.category)
    for name in case.has:
        assert there(fault, name), (name, str(fault))
    for words in case.says:
        assert words in fault.message, (words, fault.message)
    if S in case.has:
        assert fault.source.split(" in ")[0].split(":")[1].isdigit()
    assert fault.remedy


def test_the_sample_has_every_category_that_a_program_can_cause():
    # race: of the race detector, whose examples name their own
    assert {c.category for c in CASES} | {"race", "internal"} == {
        "malformed", "input", "illegal", "capacity", "uninitialized",
        "out_of_bounds", "race", "deadlock", "unspecified", "unsupported",
        "limit", "internal"}
    assert len(CASES) >= 40


RULES = {r.id for o in trnemu.operations() for r in o.rules}
PYTHON = [e for e in examples().values()
          if not e.reason and e.kind == "python"]


@pytest.mark.parametrize("example", PYTHON, ids=lambda e: e.id)
def test_every_report_has_one_sentence_a_remedy_and_what_its_kind_has(example):
    fault = report(example)
    assert fault.message and "\n" not in fault.message
    assert "{" not in fault.message or fault.id.startswith("input.")
    assert fault.remedy and "\n" not in fault.remedy
    if fault.id in RULES:
        assert fault.operation and fault.operand and fault.reference
        assert there(fault, T) and fault.source.startswith(f"{fault.id}.py:")
        operands = set(fault.details) - {T, "layer"}
        assert operands or "register" in fault.operation or (
            fault.operation.endswith("rank_id"))
    text, data = str(fault).splitlines(), json.loads(fault.to_json())
    assert text[0] == (f"{fault.severity}: {fault.category} [{fault.id}]: "
                       f"{fault.message}")
    # The fix is last, and after it only how to allow the id.
    allow = [line for line in text if line.startswith("  allow ")]
    assert len(allow) == data["can_be_allowed"]
    assert text[-1 - len(allow)] == f"  fix     {fault.remedy}"
    if allow:
        assert text[-1] == allow[0] and f"--allow {fault.id} " in allow[0]


def test_related_sentences_that_belong_to_another_are_indented():
    text = str(report(examples()["deadlock"])).splitlines()
    see = next(i for i, line in enumerate(text) if line.startswith("  see     "))
    assert text[see + 1].startswith("            ")


def test_repeats_are_counted_before_the_fix():
    b = trnemu.ProgramBuilder(target="trn2")
    t = b.sbuf((4, 8), "float32")
    s = b.scratch("s", (4, 8), "float32")
    for _ in range(3):
        b.dma_copy(dst=s, src=t)
    text = b.build().to_text().replace("queues=16", "queues=17")
    found = trnemu.Program.from_text(text).verify()
    assert [f.id for f in found] == ["dma_copy.queues"]
    assert found[0].count == 3
    lines = str(found[0]).splitlines()
    repeats = lines.index("  repeats 3 times")
    assert lines[repeats + 1 :][-1].startswith("  fix ")
