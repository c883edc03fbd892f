"""ProgramBuilder: how people make programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from trnemu import _trnemu
from trnemu._dtype import Dtype
from trnemu._fault import Fault, fault_of
from trnemu._operations import OperationMethods, operations
from trnemu._trnemu import Finding, Program, Register, Semaphore, View

_SYNC = ("auto", "explicit")


def _unsupported(
    what: str, remedy: str, id: str = "unsupported.control_flow"
) -> NoReturn:
    raise Fault(
        Finding(
            "unsupported",
            id,
            f"trnemu does not support {what} yet",
            operation=what,
            remedy=remedy,
        )
    )


class CoreScope:
    """What ProgramBuilder.core() gives, for a with statement."""

    def __init__(self, builder: ProgramBuilder, index: int) -> None:
        self._builder = builder
        self._index = index
        self._before: list[int] = []

    def __enter__(self) -> ProgramBuilder:
        core = self._builder._core
        before = core.core
        core.select_core(self._index)
        self._before.append(before)
        return self._builder

    def __exit__(self, *exception: object) -> None:
        self._builder._core.select_core(self._before.pop())


class LoopScope:
    """What ProgramBuilder.fori_loop() and while_loop() give, for a with
    statement."""

    def __init__(self, builder: ProgramBuilder, begin: Any) -> None:
        self._builder = builder
        self._begin = begin
        self._cores: list[int] = []

    def __enter__(self) -> Any:
        self._cores.append(self._builder._core.core)
        return self._begin()

    def __exit__(self, *exception: object) -> None:
        core = self._builder._core
        inside = core.core
        core.select_core(self._cores.pop())
        core.end_loop()
        core.select_core(inside)


class ProgramBuilder(OperationMethods):
    """Collects operations and builds a Program of them.

    target: "trn1", "trn2" or "trn3". name: of the program. cores: 1, or 2 for
    a logical core of two physical ones. sync: "auto" inserts semaphores where
    data depends on other engines, "explicit" leaves that to wait= and signal=.

    Operations are methods under their nki.isa names. A broken rule raises
    Fault at the call and adds nothing; what does not fit, at build(). Not
    thread-safe. Raises ValueError for an unknown target, cores or sync.
    """

    def __init__(
        self,
        target: str = "trn2",
        name: str = "k",
        cores: int = 1,
        sync: str = "auto",
    ) -> None:
        if sync not in _SYNC:
            raise ValueError(f"sync must be one of {_SYNC}, not {sync!r}")
        self._core = _trnemu.Builder(target, name, cores, sync == "auto")
        self._sync = sync

    @property
    def target(self) -> str:
        """The generation it builds for."""
        return self._core.target

    @property
    def name(self) -> str:
        """The program's name."""
        return self._core.name

    @property
    def cores(self) -> int:
        """Physical cores of the program."""
        return self._core.cores

    @property
    def sync(self) -> str:
        """ "auto" or "explicit"."""
        return self._sync

    def input(self, name: str, shape: Sequence[int], dtype: Any) -> View:
        """An HBM tensor that every run is given."""
        return self._core.add_tensor("input", name, shape, dtype)

    def output(self, name: str, shape: Sequence[int], dtype: Any) -> View:
        """An HBM tensor that the program writes in full."""
        return self._core.add_tensor("output", name, shape, dtype)

    def inout(self, name: str, shape: Sequence[int], dtype: Any) -> View:
        """An HBM tensor that is both, and persists on a Device."""
        return self._core.add_tensor("inout", name, shape, dtype)

    def scratch(self, name: str, shape: Sequence[int], dtype: Any) -> View:
        """An HBM tensor for intermediate values, shared by the cores."""
        return self._core.add_tensor("scratch", name, shape, dtype)

    def constant(
        self, name: str, array: np.ndarray[Any, Any], dtype: Any = None
    ) -> View:
        """An HBM tensor whose values are part of the program.

        dtype: the array's own unless given, which is for types that NumPy
        carries as another (tfloat32 as float32, packed types as integers).
        Fault (illegal) if the array's dtype does not carry it.
        """
        if not isinstance(array, (np.ndarray, np.generic)):
            raise TypeError(
                f"constant {name!r} must be a numpy.ndarray, not "
                f"{type(array).__name__}"
            )
        array = np.asarray(array, order="C")
        given = array.dtype if dtype is None else dtype
        if dtype is not None:
            wanted = _carrier(dtype)
            if wanted is not None and wanted != array.dtype:
                raise fault_of(
                    Finding(
                        "illegal",
                        "tensor.dtype",
                        f"constant {name} of dtype {dtype} needs an array of "
                        f"{wanted.name}, not {array.dtype.name}",
                        operand=name,
                    )
                )
        data = array.reshape(-1).view(np.uint8)
        return self._core.add_constant(name, array.shape, given, data)

    def sbuf(
        self,
        shape: Sequence[int],
        dtype: Any,
        name: str = "",
        address: Sequence[int] | None = None,
    ) -> View:
        """A tile in SBUF of the current core; shape[0] is partitions.

        address: (start_partition, byte_in_partition) pins it there.
        """
        return self._core.add_tile(False, shape, dtype, name, address)

    def psum(
        self,
        shape: Sequence[int],
        dtype: Any,
        name: str = "",
        address: Sequence[int] | None = None,
    ) -> View:
        """A tile in PSUM of the current core; see sbuf."""
        return self._core.add_tile(True, shape, dtype, name, address)

    def semaphore(self, name: str = "") -> Semaphore:
        """A semaphore of the current core, for wait= and signal=."""
        return self._core.add_semaphore(name)

    def core(self, index: int) -> CoreScope:
        """`with b.core(1):` tiles and operations inside go to that core. It
        may be entered again. Fault (illegal) if there is no such core."""
        return CoreScope(self, index)

    def build(self) -> Program:
        """Places tiles, synchronises (sync="auto") and verifies.

        Fault: capacity, limit, or a broken rule. The builder stays usable.
        """
        return self._core.build()

    def register_alloc(self, x: int | None = None) -> Register:
        """A new 32-bit register of the current core, with the value x.

        Without x, reading it before register_move, register_load or
        register_alu has set it is a fault of the run (uninitialized).
        """
        return self._core.add_register(x)

    def fori_loop(
        self, lo: int | Register, hi: int | Register, step: int = 1
    ) -> LoopScope:
        """`with b.fori_loop(0, n) as i:` repeats what is added inside, on the
        device, for i = lo, lo + step, ... while i < hi.

        i is a Register, for dynamic addresses and register_alu; only the loop
        may write it. Bounds are read once, before the first iteration; a
        register that is loaded from memory makes the trip count a matter of
        the run. Tiles made inside are made anew in every iteration.
        Fault (illegal) if step is not 1 to 2**31 - 1.
        """
        core = self._core
        return LoopScope(self, lambda: core.begin_loop(lo, hi, step))

    def while_loop(self, reg: Register) -> LoopScope:
        """`with b.while_loop(reg):` repeats what is added inside while the
        register is not zero, which is tested before each iteration."""
        core = self._core
        return LoopScope(self, lambda: core.begin_while(reg))

    def __getattr__(self, name: str) -> Any:
        if name in _LATER:
            return lambda *_, **__: _unsupported(
                name, _LATER[name], "unsupported.operation"
            )
        known = [o.name for o in operations()]
        nearest = _trnemu.nearest(name, known)
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        raise AttributeError(
            f"ProgramBuilder has no operation or attribute {name!r}{hint}",
            name=name,
            obj=self,
        )

    def __repr__(self) -> str:
        return f"<ProgramBuilder {self.name} for {self.target}>"


# Operations of nki.isa that come later, and what does the same now.
_LATER = {
    "activation_reduce": 'use activation(reduce_op="add", reduce_cmd="reset_reduce", reduce_res=...)',
    "activate2": "use activation and tensor_scalar",
    "tensor_scalar_reduce": "use tensor_scalar and tensor_reduce",
    "exponential": 'use activation(op="exp", bias=...)',
    "dma_transpose": "use nc_transpose",
    "select_reduce": "use affine_select, or multiply by a 0/1 mask",
    "range_select": "use affine_select, or multiply by a 0/1 mask",
    "tensor_copy_predicated": "multiply by a 0/1 mask",
    "tensor_partition_reduce": "multiply by a column of ones with nc_matmul",
    **dict.fromkeys(
        (
            "nc_matmul_mx", "tensor_tensor_scan", "tensor_scalar_cumulative",
            "quantize_mx", "dropout", "sequence_bounds", "bn_stats", "bn_aggr",
            "local_gather", "nc_n_gather", "dma_compute", "max8",
            "nc_find_index8", "nc_match_replace8", "nc_stream_shuffle",
            "core_barrier", "sendrecv", "rng", "rand2", "rand_set_state",
            "rand_get_state", "set_rng_seed", "nonzero_with_count", "topk",
        ),
        "compute it on the host for now",
    ),
}


def _carrier(dtype: Any) -> np.dtype[Any] | None:
    """The NumPy dtype that carries a dtype argument; None if it is no dtype of
    the device, which the extension then says."""
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    try:
        return Dtype("bool" if name == "bool_" else name).numpy
    except ValueError:
        return None
