"""nki.collectives in kernels: each name against NumPy, on several ranks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from trnemu import Fault, System, nki
from trnemu.nki import collectives as ncc
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl
from trnemu.nki.collectives import ReplicaGroup

Array = np.ndarray[Any, Any]


def given(ranks: int, *shape: int) -> list[Array]:
    """Whole numbers, other ones on each rank, whose sums are exact."""
    rng = np.random.default_rng(ranks)
    return [
        rng.integers(-99, 99, shape).astype(np.float32) for _ in range(ranks)
    ]


def everyone(ranks: int) -> ReplicaGroup:
    return ReplicaGroup([list(range(ranks))])


def line_of(text: str) -> str:
    """The place in this file of the line with this comment, as faults name
    it."""
    with open(__file__, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.rstrip().endswith("# " + text):
                return f"{__file__}:{number}"
    raise KeyError(text)


def copied(x, name="src", buffer=nl.shared_hbm):
    """A tensor with what x has: the compiler lets no collective have an
    argument itself."""
    tensor = nl.ndarray(x.shape, x.dtype, buffer=buffer, name=name)
    nisa.dma_copy(dst=tensor, src=x)
    return tensor


def result(x, shape):
    return nl.ndarray(shape, x.dtype, buffer=nl.shared_hbm, name="out")


@nki.jit
def all_reduced(x, group, op):
    out = result(x, x.shape)
    ncc.all_reduce(srcs=[copied(x)], dsts=[out], replica_group=group, op=op)
    return out


@pytest.mark.parametrize("op, numpy", [
    (nl.add, np.add), (nl.minimum, np.minimum), (nl.maximum, np.maximum)])
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_all_reduce_gives_every_rank_the_op_of_all(ranks, op, numpy):
    xs = given(ranks, 4, 6)
    run = System(ranks=ranks).run(
        all_reduced, [(x, everyone(ranks), op) for x in xs])
    for out in run.results:
        np.testing.assert_array_equal(out, numpy.reduce(xs))
    assert run.collectives[0].operation == "all_reduce"


def test_groups_reduce_among_themselves():
    xs = given(4, 3, 5)
    groups = ReplicaGroup([[0, 2], [1, 3]])
    run = System(ranks=4).run(all_reduced, [(x, groups, nl.add) for x in xs])
    for rank, out in enumerate(run.results):
        np.testing.assert_array_equal(out, xs[rank % 2] + xs[rank % 2 + 2])


@nki.jit
def all_gathered(x, group, ranks):
    out = result(x, (ranks * x.shape[0], *x.shape[1:]))
    ncc.all_gather([copied(x)], [out], group, collective_dim=0)
    return out


@pytest.mark.parametrize("order", [
    [0, 1], [0, 1, 2, 3], [3, 1, 0, 2], list(range(8))])
def test_an_all_gather_joins_in_the_order_of_the_group(order):
    xs = given(len(order), 2, 5)
    run = System(ranks=len(order)).run(
        all_gathered, [(x, ReplicaGroup([order]), len(order)) for x in xs])
    for out in run.results:
        np.testing.assert_array_equal(
            out, np.concatenate([xs[r] for r in order]))


@nki.jit
def all_gathered_in_sbuf(x, group, ranks):
    rows, columns = x.shape
    tile = copied(x, buffer=nl.sbuf)
    wide = nl.ndarray((rows, ranks * columns), x.dtype, buffer=nl.sbuf)
    ncc.all_gather([tile], [wide], group, collective_dim=1)
    return copied(wide, "out")


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_tiles_in_sbuf_are_joined_along_the_free_dimension(ranks):
    xs = given(ranks, 16, 3)
    run = System(ranks=ranks).run(
        all_gathered_in_sbuf, [(x, everyone(ranks), ranks) for x in xs])
    for out in run.results:
        np.testing.assert_array_equal(out, np.concatenate(xs, axis=1))


@nki.jit
def all_reduced_in_sbuf(x, group):
    tile = copied(x, buffer=nl.sbuf)
    ncc.all_reduce([tile], [tile], group, op=nl.add)
    return copied(tile, "out")


def test_a_tile_in_sbuf_is_reduced_in_place():
    xs = given(4, 128, 9)
    run = System(ranks=4).run(
        all_reduced_in_sbuf, [(x, everyone(4)) for x in xs])
    for out in run.results:
        np.testing.assert_array_equal(out, sum(xs))


@nki.jit
def scattered(x, group, ranks):
    out = result(x, (x.shape[0] // ranks, *x.shape[1:]))
    ncc.reduce_scatter([copied(x)], [out], group, 0, op=nl.add)
    return out


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_reduce_scatter_gives_each_rank_its_part(ranks):
    xs = given(ranks, 3 * ranks, 4)
    run = System(ranks=ranks).run(
        scattered, [(x, everyone(ranks), ranks) for x in xs])
    parts = np.split(sum(xs), ranks)
    for out, part in zip(run.results, parts, strict=True):
        np.testing.assert_array_equal(out, part)


@nki.jit
def exchanged(x, group):
    out = result(x, x.shape)
    ncc.all_to_all([copied(x)], [out], group, collective_dim=0)
    return out


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_all_to_all_gives_part_j_of_rank_i_to_rank_j(ranks):
    xs = given(ranks, 2 * ranks, 3)
    run = System(ranks=ranks).run(
        exchanged, [(x, everyone(ranks)) for x in xs])
    for j, out in enumerate(run.results):
        np.testing.assert_array_equal(
            out, np.concatenate([np.split(x, ranks)[j] for x in xs]))


@nki.jit
def two_at_once(x, y, group, ranks):
    outs = [result(t, (ranks * t.shape[0], t.shape[1])) for t in (x, y)]
    ncc.all_gather([copied(x, "a"), copied(y, "b")], outs, group, 0)
    return outs


def test_a_list_of_tensors_is_one_collective():
    xs, ys = given(2, 2, 5), given(2, 4, 3)
    run = System(ranks=2).run(
        two_at_once,
        [(x, y, everyone(2), 2) for x, y in zip(xs, ys, strict=True)])
    for first, second in run.results:
        np.testing.assert_array_equal(first, np.concatenate(xs))
        np.testing.assert_array_equal(second, np.concatenate(ys))
    assert len(run.collectives) == 1


@nki.jit
def permuted(x, pairs):
    out = result(x, x.shape)
    nisa.dma_copy(dst=out, src=x)
    ncc.collective_permute([copied(x)], [out], pairs)
    return out


def test_a_permute_sends_along_its_pairs_and_leaves_the_others():
    xs = given(4, 2, 8)
    run = System(ranks=4).run(
        permuted, [(x, [(0, 2), (2, 3), (3, 0)]) for x in xs])
    for out, source in zip(run.results, (3, 1, 0, 2), strict=True):
        np.testing.assert_array_equal(out, xs[source])


@nki.jit
def gathered_by_a_ring(x, group, ranks, channels):
    """An all_gather by hand: what came goes on, and to its rank's place."""
    rows, columns = x.shape
    out = result(x, (ranks, channels, rows // channels, columns))
    here = copied(x)
    for step in range(ranks):
        parts = here.reshape((channels, rows // channels, columns))
        for channel in range(channels):
            rank = ncc.collective_permute_implicit_current_processing_rank_id(
                iteration_id=step, channel_id=channel, replica_group=group)
            nisa.dma_copy(
                dst=out.ap(
                    [[columns, rows // channels], [1, columns]],
                    offset=channel * rows // channels * columns,
                    scalar_offset=rank, indirect_dim=0),
                src=parts[channel])
        if step == ranks - 1:
            return out
        there = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm, name="there")
        arrives = there.reshape((channels, rows // channels, columns))
        ncc.collective_permute_implicit(
            [[parts[c]] for c in range(channels)],
            [[arrives[c]] for c in range(channels)],
            group, channel_ids=list(range(channels)))
        here = there


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("order", [
    [0, 1], [0, 1, 2, 3], [2, 0, 3, 1], list(range(8))])
def test_a_ring_of_implicit_permutes_with_rank_registers_gathers(
    order, channels,
):
    ranks = len(order)
    xs = given(ranks, 4, 6)
    run = System(ranks=ranks).run(
        gathered_by_a_ring,
        [(x, ReplicaGroup([order]), ranks, channels) for x in xs])
    for out in run.results:
        np.testing.assert_array_equal(
            out.reshape(ranks, 4, 6), np.stack(xs))


@nki.jit
def passed_on(x, y, group):
    out = result(x, x.shape)
    ncc.collective_permute_implicit_reduce(
        [[copied(x, "a")]], [[copied(y, "b")]], [[out]], group, op=nl.add)
    return out


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_implicit_permute_with_reduction_brings_the_predecessors_sum(ranks):
    xs, ys = given(ranks, 3, 7), given(ranks, 3, 7)[::-1]
    run = System(ranks=ranks).run(
        passed_on,
        [(x, y, everyone(ranks)) for x, y in zip(xs, ys, strict=True)])
    for rank, out in enumerate(run.results):
        np.testing.assert_array_equal(out, xs[rank - 1] + ys[rank - 1])


@nki.jit
def chosen_by_rank(x):
    _, rows, columns = x.shape
    out = result(x, (rows, columns))
    nisa.dma_copy(
        dst=out,
        src=x.ap([[columns, rows], [1, columns]],
                 scalar_offset=ncc.rank_id(), indirect_dim=0))
    return out


def test_the_rank_is_a_register_that_moves_an_access():
    x = given(1, 8, 2, 3)[0]
    run = System(ranks=8).run(chosen_by_rank, (x,))
    for rank, out in enumerate(run.results):
        np.testing.assert_array_equal(out, x[rank])


@nki.jit
def gathered_v(x, counts, group, slots):
    out = result(x, slots)
    nisa.dma_copy(dst=out, src=nl.zeros(slots, x.dtype, buffer=nl.sbuf))
    rows = copied(counts, "counts")
    ncc.all_gather_v([copied(x)], [out], group, rows)
    return out, copied(rows, "received")


def test_an_all_gather_v_takes_as_many_elements_as_the_counts_say():
    xs = given(4, 1, 8)
    counts = []
    for rank in range(4):
        rows = np.zeros((3, 4), np.uint32)
        rows[0, 0], rows[1, 0] = rank + 1, 4 - rank  # elements, from where
        counts.append(rows)
    run = System(ranks=4).run(gathered_v, [
        (x, c, everyone(4), (1, 4 * 6)) for x, c in zip(xs, counts, strict=True)
    ])
    want = np.zeros((4, 6), np.float32)
    for rank, x in enumerate(xs):
        want[rank, :rank + 1] = x[0, 4 - rank:5]
    for out, received in run.results:
        np.testing.assert_array_equal(out.reshape(4, 6), want)
        assert received[2].tolist() == [1, 2, 3, 4]


@nki.jit
def exchanged_v(x, counts, group, slots):
    out = result(x, slots)
    nisa.dma_copy(dst=out, src=nl.zeros(slots, x.dtype, buffer=nl.sbuf))
    rows = copied(counts, "counts")
    ncc.all_to_all_v([copied(x)], [out], group, rows)
    return out, copied(rows, "received")


def test_an_all_to_all_v_sends_each_rank_its_count():
    xs = given(4, 1, 10)
    sent = np.array([[1, 2, 0, 3], [2, 2, 2, 2], [0, 0, 0, 4], [3, 1, 2, 1]])
    counts = []
    for rank in range(4):
        rows = np.zeros((3, 4), np.uint32)
        rows[0] = sent[rank]
        rows[1] = np.cumsum(sent[rank]) - sent[rank]
        counts.append(rows)
    run = System(ranks=4).run(exchanged_v, [
        (x, c, everyone(4), (1, 4 * 4)) for x, c in zip(xs, counts, strict=True)
    ], allow=("all_to_all_v.system",))  # documented between nodes
    for rank, (out, received) in enumerate(run.results):
        want = np.zeros((4, 4), np.float32)
        for source in range(4):
            n, at = sent[source, rank], counts[source][1, rank]
            want[source, :n] = xs[source][0, at:at + n]
        np.testing.assert_array_equal(out.reshape(4, 4), want)
        assert received[2].tolist() == sent[:, rank].tolist()


@nki.jit
def halves_doubled(x, group):
    """A loop on the device around a collective."""
    tensor = copied(x)
    out = result(x, x.shape)

    def body(i):
        ncc.all_reduce([tensor], [out], group, op=nl.add)
        nisa.dma_copy(dst=tensor, src=out)

    nl.fori_loop(0, 3, body)
    return tensor


def test_a_collective_in_a_device_loop_takes_place_in_each_iteration():
    xs = given(2, 2, 4)
    run = System(ranks=2).run(halves_doubled, [(x, everyone(2)) for x in xs])
    for out in run.results:  # 2 ranks with the same double it
        np.testing.assert_array_equal(out, 4 * sum(xs))
    assert len(run.collectives) == 3


def test_a_traced_kernel_runs_as_a_program():
    xs = given(2, 4, 4)
    program = nki.trace(all_reduced, xs[0], everyone(2), nl.add)
    run = System(ranks=2).run(program, [{"x": x} for x in xs])
    for outputs in run.outputs:
        np.testing.assert_array_equal(outputs["out"], sum(xs))


def test_a_launch_on_one_rank_says_what_runs_several():
    with pytest.raises(Fault) as caught:
        all_reduced(given(1, 4, 4)[0], everyone(2), nl.add)
    assert caught.value.id == "collective.no_system"
    assert "trnemu.System(...).run(" in str(caught.value)
    assert "srcs=[copied(x)]" not in caught.value.message
    assert re.search(rf"{re.escape(__file__)}:\d+", str(caught.value))


def test_values_after_a_collective_are_not_there_while_recording(capsys):
    @nki.jit
    def kernel(x, group):
        out = result(x, x.shape)
        ncc.all_reduce([copied(x)], [out], group, op=nl.add)
        print(out)
        assert np.sum(np.asarray(out)) == 0
        return out

    with pytest.raises(Fault) as caught:
        System(ranks=2).run(kernel, (given(1, 4, 4)[0], everyone(2)))
    assert caught.value.id == "nki.values"
    assert "when all ranks run" in str(caught.value)
    assert "(no values: what a collective brings" in capsys.readouterr().out


@pytest.mark.parametrize("function", [
    ncc.all_reduce, ncc.all_gather_v, ncc.collective_permute_implicit,
    ncc.rank_id])
def test_what_only_the_builder_has_is_an_unknown_keyword(function):
    for keyword in ("stream", "trigger", "both_cores"):
        with pytest.raises(TypeError, match=f"'{keyword}'"):
            function(**{keyword: 1})


def test_collectives_exist_in_kernels_only():
    with pytest.raises(Fault) as caught:
        ncc.rank_id()
    assert caught.value.id == "nki.outside"
    assert not hasattr(nisa, "all_reduce") and not hasattr(nisa, "rank_id")
    assert not hasattr(nisa, "send") and not hasattr(nisa, "broadcast")


def test_shapes_that_do_not_fit_are_named_with_the_line_and_tensors():
    @nki.jit
    def kernel(x, group):
        gathered = nl.ndarray((6, 4), x.dtype, buffer=nl.shared_hbm)
        ncc.all_gather([copied(x)], [gathered], group, 0)  # of 6 rows
        return gathered

    with pytest.raises(Fault) as caught:
        System(ranks=2).run(kernel, (given(1, 4, 4)[0], everyone(2)))
    text = str(caught.value)
    assert line_of("of 6 rows") in text
    assert "gathered" in text and "src" in text
    assert caught.value.category == "illegal"


def test_ranks_with_other_shapes_are_recorded_apart_and_both_named():
    xs = [given(1, 4, 4)[0], given(1, 4, 8)[0]]
    with pytest.raises(Fault) as caught:
        System(ranks=2).run(
            all_reduced, [(x, everyone(2), nl.add) for x in xs])
    assert caught.value.id == "collective.mismatch"
    assert "[16] on rank 0, [32] on rank 1" in str(caught.value)
    assert __file__ in str(caught.value)


def test_a_group_is_a_replica_group():
    with pytest.raises(TypeError, match=re.escape("ReplicaGroup([[0, 1]])")):
        System(ranks=2).run(all_reduced, (given(1, 2, 2)[0], [[0, 1]], nl.add))


@pytest.mark.parametrize("lists, where", [
    ([["a"], ["a", "b"]], "that of channel 1 is not"),
    ([["a"], "b"], "that of channel 1 is not"),
    ("a", "not NkiTensor"),
])
def test_a_channel_has_exactly_one_tensor(lists, where):
    def put(x, what):
        if isinstance(what, list):
            return [put(x, item) for item in what]
        return x

    @nki.jit
    def kernel(x, group):
        ncc.collective_permute_implicit(
            put(x, lists), [[x], [x]], group, channel_ids=[0, 1])

    with pytest.raises(Fault, match=where) as caught:
        System(ranks=2).run(kernel, (given(1, 2, 2)[0], everyone(2)))
    assert caught.value.id == "nki.channels"


class TestArguments:
    def test_one_tuple_or_dict_is_for_all_ranks(self):
        x = given(1, 2, 4)[0]
        for arguments in (
            (x, everyone(4), nl.add),
            {"x": x, "group": everyone(4), "op": nl.add},
        ):
            run = System(ranks=4).run(all_reduced, arguments)
            for out in run.results:
                np.testing.assert_array_equal(out, 4 * x)

    def test_of_a_kernel_with_one_array_a_list_has_each_ranks(self):
        xs = given(2, 2, 3, 4)
        run = System(ranks=2).run(chosen_by_rank, xs)
        for rank, out in enumerate(run.results):
            np.testing.assert_array_equal(out, xs[rank][rank])

    def test_the_wrong_number_is_refused(self):
        with pytest.raises(Fault, match="for 3 ranks, but the system has 4"):
            System(ranks=4).run(chosen_by_rank, given(3, 4, 2, 2))

    def test_the_kernel_is_recorded_once_for_equal_shapes(self):
        recorded = []

        @nki.jit
        def kernel(x, group, tag):
            recorded.append(tag)
            out = result(x, x.shape)
            ncc.all_reduce([copied(x)], [out], group, op=nl.add)
            return out

        xs = given(4, 2, 2)
        System(ranks=4).run(
            kernel, [{"x": x, "group": everyone(4), "tag": 0} for x in xs])
        assert recorded == [0]
        System(ranks=4).run(
            kernel,
            [{"x": x, "group": everyone(4), "tag": i // 2}
             for i, x in enumerate(xs)])
        assert recorded[1:] == [0, 1]

    def test_a_number_in_the_program_is_each_ranks_own(self):
        @nki.jit
        def kernel(x, group):
            out = result(x, x.shape)
            tile = copied(x, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply,
                               operand0=float(x[0, 0]))
            ncc.all_reduce([copied(tile)], [out], group, op=nl.add)
            return out

        xs = given(2, 2, 2)
        with pytest.warns(nki.KernelWarning, match="becomes a number"):
            run = System(ranks=2).run(kernel, [(x, everyone(2)) for x in xs])
        np.testing.assert_array_equal(
            run.results[0], sum(x[0, 0] * x for x in xs))

    def test_what_a_rank_writes_to_is_in_its_argument(self):
        @nki.jit
        def kernel(x, out, group):
            ncc.all_reduce([copied(x)], [out], group, op=nl.add)

        xs, outs = given(2, 2, 4), [np.zeros((2, 4), np.float32), None]
        outs[1] = outs[0].copy()
        System(ranks=2).run(
            kernel, [(x, out, everyone(2)) for x, out in zip(xs, outs)])
        for out in outs:
            np.testing.assert_array_equal(out, sum(xs))
        with pytest.raises(Fault) as caught:
            System(ranks=2).run(
                kernel, [(x, outs[0], everyone(2)) for x in xs])
        assert caught.value.id == "nki.argument_overlap"

    def test_shapes_alone_give_times(self):
        spec = nki.TensorSpec((1024, 1024), np.float32)
        run = System(ranks=4).run(all_reduced, (spec, everyone(4), nl.add))
        assert run.results == [] and run.time_ns > 10_000
        assert run.collectives[0].bytes == 4 << 20

    def test_the_target_is_the_systems(self):
        run = System("trn1.32xlarge", ranks=2).run(
            all_reduced, (given(1, 2, 2)[0], everyone(2), nl.add))
        assert len(run.results) == 2
        with pytest.raises(Fault) as caught:
            System(ranks=2).run(
                all_reduced.with_options(target="trn3"),
                (given(1, 2, 2)[0], everyone(2), nl.add))
        assert caught.value.id == "option.target"

    def test_options_of_one_rank_are_refused(self):
        arguments = (given(1, 2, 2)[0], everyone(2), nl.add)
        with pytest.raises(TypeError, match="precise_fp is of launches"):
            System(ranks=2).run(
                all_reduced.with_options(precise_fp=False), arguments)
        with pytest.raises(TypeError, match="no option 'schedule'"):
            System(ranks=2).run(all_reduced, arguments, schedule="random")
