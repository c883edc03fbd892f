"""The documented differences between versions of the NKI API, and what trnemu
does about each: the table of docs/nki-versions.md, which is this module's
output (python -m trnemu.nki._versions). _compat.py has the behaviour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, int]

# Sources: the migration guide and the release notes by line; the stubs of a
# release of the SDK; the published parser of 0.2.
GUIDE = "nki/migration/index.rst:"
NOTES = "release-notes/components/nki.rst:"
STUBS = "nki/api/nki/isa/__init__.py"
PARSER = "leanprover/KLR, KLR/Trace/"
LIBRARY = "nki-library"


@dataclass(frozen=True)
class Difference:
    """One difference. since: the first version that has it. before, after:
    what trnemu does under versions before, and from `since` on. same: what
    it does under all of them, where it does not tell them apart."""

    subject: str
    since: Version
    source: str
    before: str = ""
    after: str = ""
    same: str = ""


DIFFERENCES: tuple[Difference, ...] = (
    # 0.3
    Difference(
        "keyword arguments that an instruction does not have",
        (0, 3),
        f"{NOTES}639 (SDK 2.28; before, they are ignored), {PARSER}"
        "Builtin.lean; nki-samples and nki-library 2.28 pass "
        "tensor_copy(dtype=)",
        "left out, with a warning `nki.ignored_argument` (so is `dtype=` of "
        "another dtype than dst's: the result is in dst's); a `mask=` that is "
        "not None: refused (`nki.mask`)",
        "TypeError, with the nearest name",
    ),
    Difference(
        "nc_matmul: `is_moving_zero=` is `is_moving_onezero=`, "
        "`psumAccumulateFlag=` is gone",
        (0, 3),
        f"{NOTES}571, 573 (SDK 2.28); {LIBRARY} 2.27 passes both",
        "taken as `is_moving_onezero`; the flag, which had no effect, left "
        "out with the warning above",
        "TypeError",
    ),
    Difference(
        "arguments by position of affine_select (`offset` was third), "
        "dma_compute (`scales` before `reduce_op`), dma_copy, nc_matmul, "
        "sendrecv, register_move",
        (0, 3),
        f"{GUIDE}524, 553; {STUBS} of SDK 2.28 and 2.29",
        "the version's order",
        "the order of 0.3 (dma_copy and dma_compute: of 0.4, see below)",
    ),
    Difference(
        "arguments that a later version adds: nc_matmul and nc_matmul_mx "
        "`accumulate` (0.3), dma_copy `engine` (0.3), `priority` (0.4), "
        "dma_compute `unique_indices` (0.3), `oob_mode` (0.4), ...",
        (0, 3),
        f"{STUBS} of SDK 2.28 to 2.32",
        "refused under the versions before theirs (`nki.later_version`)",
        "taken",
    ),
    Difference(
        "dma_copy, dma_compute and dma_transpose read and write PSUM",
        (0, 3),
        f"{GUIDE}419",
        "taken",
        "refused (`dma_copy.psum` and its like)",
    ),
    Difference(
        "dma_copy: `dge_mode=hwdge` between dtypes",
        (0, 3),
        f"{GUIDE}435 (undefined before)",
        same="refused (`dma_copy.hwdge_cast`)",
    ),
    Difference(
        "dma_copy: `dst_rmw_op=`, `unique_indices=`",
        (0, 3),
        f"{GUIDE}456; {STUBS}:508 of SDK 2.28",
        "`dst_rmw_op=nl.add` is dma_compute of src and dst; with a `dge_mode` "
        "refused (`nki.older_behaviour`). `unique_indices` without it says "
        "nothing",
        "TypeError",
    ),
    Difference(
        "memset of an integer tile by a float",
        (0, 3),
        f"{GUIDE}497; {NOTES}396",
        "taken if it is whole, else refused (`memset.integer_value`): how it "
        "would round is not documented",
        "refused (`nki.memset_value`)",
    ),
    Difference(
        "memset of a packed (x4) tile by another value than 0",
        (0, 3),
        f"{GUIDE}746 (one 32-bit word fills it)",
        same="refused (`memset.packed`)",
    ),
    Difference(
        "tensor_reduce: what `axis` counts",
        (0, 3),
        f"{GUIDE}514; {PARSER}ISA.lean:33; {STUBS}:2324 of SDK 2.28; "
        "nki-library 2.28 has axis=1 and axis=[4] of three axes",
        "1 is the last axis, [1, ..., k] and [5 - k, ..., 4] the last k; axes "
        "of 0.3 are taken too (they agree)",
        "axes of the tile",
    ),
    Difference(
        "sendrecv: `use_gpsimd_dma=True` is `dma_engine=gpsimd_dma`",
        (0, 3),
        f"{GUIDE}538; nki-library 2.28 passes it",
        "taken",
        "TypeError",
    ),
    Difference(
        "register_move: `imm=` is `src=`, which may be a register",
        (0, 3),
        f"{GUIDE}567",
        "`imm=`; `src=` refused (`nki.later_version`)",
        "`src=`, a register or a number (the page of register_move has both)",
    ),
    Difference(
        "range_select: `on_false_value` and `reduce_cmd` are what the call "
        "says",
        (0, 3),
        f"{GUIDE}765; {NOTES}674",
        "FP32_MIN and reset_reduce; other values, which that version "
        "replaces, refused (`nki.older_behaviour`)",
        "`reduce_cmd` as given, `on_false_value` must be FP32_MIN",
    ),
    Difference(
        "results in `nl.hbm`",
        (0, 3),
        f"{GUIDE}608 says that compilation fails; kernels of pages of 0.6 "
        "have them (nki/guides/how-to-scheduling-apis.rst:38)",
        "taken",
        "taken; with strict_frontend a warning `nki.output_hbm`",
    ),
    Difference(
        "numbers of enums (`dge_mode=2`)",
        (0, 4),
        f"{GUIDE}622 (from 0.3 on); nki-library 2.28 has dge_mode=2, and of "
        "March 2026, else in the form of 0.3, dge_mode=3",
        "the member with that number",
        "TypeError",
    ),
    Difference(
        'names of regions (`buffer="sbuf"`), and `buffer=None` for SBUF',
        (0, 3),
        f"{GUIDE}637, 775",
        "taken",
        "refused (`nki.buffer_name`; None: TypeError)",
    ),
    Difference(
        "defaults: iota and affine_select `offset` 0, core_barrier `engine` "
        "gpsimd, program_id `axis` 0, num_programs `axes` 0, "
        "sequential_range `stop` and `step`",
        (0, 3),
        f"{GUIDE}775; nki-library 2.27 leaves out iota's offset",
        same="the defaults of 0.3",
    ),
    Difference(
        "`list` arguments of kernels, `is`, `*` in a kernel's signature",
        (0, 3),
        f"{GUIDE}683, 701, 718",
        same="taken; `strict_frontend` names them",
    ),
    Difference(
        "nki.jit(mode=), nki.jit(platform_target=)",
        (0, 3),
        f"{GUIDE}387, 397 say an error; the documentation's MX kernels of 0.6 "
        "pass platform_target",
        same="`mode` is recorded, `platform_target` is the target",
    ),
    Difference(
        "functions of nl beside ndarray and ranges (nl.load, nl.exp(x), ...); "
        "nki.simulate, nki.typing",
        (0, 3),
        f"{GUIDE}366",
        same="there; functions and methods that a version adds are not "
        "refused before it, instructions and their arguments are",
    ),
    Difference(
        "collectives: `num_channels=`",
        (0, 3),
        f"{GUIDE}583",
        same="refused before 0.3, too: an unexpected keyword argument",
    ),
    # 0.4
    Difference(
        "activate2",
        (0, 4),
        f"{NOTES}225",
        "refused (`nki.later_version`)",
        "there",
    ),
    Difference(
        "arguments by position of dma_copy, dma_transpose and "
        "tensor_scalar_reduce (`priority`, `reduce_cmd` and `reduce_init` "
        "come between)",
        (0, 4),
        f"{STUBS} of SDK 2.29 and 2.30",
        "the version's order",
        "the order of 0.4",
    ),
    Difference(
        "dma_transpose: dst has the rank of src",
        (0, 4),
        f"{GUIDE}204",
        "a dst of fewer axes gets those of size 1 that the transposed src has",
        "refused (`dma_transpose.rank`)",
    ),
    Difference(
        "tensor_copy_dynamic_src, tensor_copy_dynamic_dst",
        (0, 4),
        f"{GUIDE}234; {PARSER}ISA.lean:526",
        "tensor_copy of the views given",
        "refused (`nki.removed`)",
    ),
    Difference(
        "nc_transpose: `engine=` is not ignored",
        (0, 4),
        f"{NOTES}302",
        same="honoured: the values are the same, the time is that engine's",
    ),
    Difference(
        "writing to the variable of nl.dynamic_range",
        (0, 4),
        f"{NOTES}300 (no effect before)",
        same="refused (`fori_loop.counter_written`)",
    ),
    Difference(
        "neuronxcc.nki",
        (0, 4),
        f"{GUIDE}224",
        same="refused (`nki.old_generation`)",
    ),
    Difference(
        "nl.tile_size.total_available_sbuf_size is deprecated",
        (0, 4),
        f"{GUIDE}244",
        same="there: the bytes of a partition",
    ),
    Difference(
        "the simulator's NKI_PRECISE_FP is 1 by default",
        (0, 4),
        f"{GUIDE}253",
        same="1, as the device computes; 0 on request",
    ),
    # 0.5
    Difference(
        "nl.rsqrt runs on gpsimd, and takes no PSUM",
        (0, 5),
        f"{GUIDE}159; {NOTES}178",
        "activation, also of PSUM",
        "tensor_scalar on gpsimd",
    ),
    Difference(
        "quantize_mx: the block scale is twice as large",
        (0, 5),
        f"{NOTES}166",
        "`mx_scale=legacy` unless numerics has the key",
        "`mx_scale=current`",
    ),
    Difference(
        "reshape checks the number of elements",
        (0, 5),
        f"{GUIDE}166",
        same="checked (`access.reshape`)",
    ),
    Difference(
        "ap of a part of a tensor",
        (0, 5),
        "nki/deep-dives/nki-aps.rst:180 of SDK 2.28 and 2.30; "
        "nki/api/nki/language/__init__.py of SDK 2.30 (`offset` from the "
        f"storage's start) and 2.31 (added to the view's); {PARSER}"
        "Term.lean:650",
        "refused (`nki.ap_of_view`) if the part does not start where the "
        "tensor starts",
        "`offset` is added to the part's own start",
    ),
    Difference(
        "reshape: `new_shape=`",
        (0, 5),
        "nki/api/nki/language/__init__.py of SDK 2.30 and 2.31",
        "taken",
        "TypeError",
    ),
    Difference(
        "rng, rand_get_state, rand_set_state: the default engine is named",
        (0, 5),
        f"{STUBS} of SDK 2.30 and 2.31",
        same="vector for rng, gpsimd for the others",
    ),
    # 0.6
    Difference(
        "nl.copy is tensor_copy, of bits, into SBUF",
        (0, 6),
        f"{NOTES}43, 337",
        "activation, through float32, into the memory that the tile is in",
        "tensor_copy",
    ),
    Difference(
        "topk",
        (0, 6),
        f"{NOTES}36",
        "refused (`nki.later_version`)",
        "there",
    ),
    Difference(
        "tensor_scalar_reduce without `reduce_res`, and `reduce_res_negate=`",
        (0, 6),
        f"{NOTES}40; {STUBS} of SDK 2.31 and 2.32",
        "refused (`nki.later_version`)",
        "taken",
    ),
    Difference(
        "dma_transpose: more shapes with hwdge",
        (0, 6),
        f"{NOTES}38",
        same="the shapes of 0.6",
    ),
    Difference(
        "nl.dynamic_range and `while register:` are deprecated",
        (0, 6),
        f"{GUIDE}58",
        same="taken",
    ),
    Difference(
        "repairs of the vendor's simulator: casts, nc_find_index8, "
        "nc_match_replace8, overlapping accumulation, ...",
        (0, 6),
        f"{NOTES}67",
        same="what the device does",
    ),
)

_PAGE = """\
# Versions of the NKI API

trnemu has the API of NKI 0.6 (SDK 2.32). A kernel that was written for an
earlier one runs under that version:

```python
kernel.with_options(api="0.2")       # nki.jit(api=...), nki.simulate(k, api=)
```

or with `--api-version 0.2` of `python -m trnemu.nki`, or `TRNEMU_NKI_API=0.2`.

| version | SDK |
|---|---|
| 0.2 | 2.27, 2.28 |
| 0.3 | 2.29 |
| 0.4 | 2.30 |
| 0.5 | 2.31 |
| 0.6 (default) | 2.32 |

Under an earlier version a call is put into the form of 0.6: its arguments by
the version's order and names, its numbers of enums as words. What a version
does otherwise is done if public kernels need it, and refused
(`nki.older_behaviour`) where it gives other numbers than the call says. What
only a later version has is refused (`nki.later_version`). Recording under an
earlier version takes 1 to 4 microseconds more for an instruction.

Every documented difference is below: what trnemu does under versions before,
and from the one in the second column on. Pages and lines are those of the
SDK's documentation; where a release is named, of that release. This table is
made by `python -m trnemu.nki._versions`.

| what | since | before | then | source |
|---|---|---|---|---|
"""


def row(difference: Difference) -> str:
    """A line of the table."""
    d = difference
    before, after = (d.same, "as before") if d.same else (d.before, d.after)
    cells = (d.subject, f"{d.since[0]}.{d.since[1]}", before, after, d.source)
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """docs/nki-versions.md."""
    return _PAGE + "".join(f"{row(d)}\n" for d in DIFFERENCES)


def ids() -> set[str]:
    """The diagnostics that the table names."""
    texts = (t for d in DIFFERENCES for t in (d.before, d.after, d.same))
    return {i for t in texts for i in re.findall(r"`(\w+\.\w+)`", t)}


if __name__ == "__main__":
    print(page(), end="")
