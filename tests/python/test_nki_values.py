"""Values while a kernel is recorded, and what may be done with them."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings

import numpy as np
import pytest

import trnemu
from trnemu import nki
from trnemu.nki import isa as nisa
from trnemu.nki import language as nl


def ramp(*shape, dtype=np.float32):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def during(look, x=None):
    """Launches a kernel that doubles x and then calls look(tile)."""

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        look(tile)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    x = ramp(2, 3) if x is None else x
    np.testing.assert_array_equal(kernel(x), 2 * x + 1)
    return kernel


def test_print_of_a_tile_shows_its_values_so_far(capsys):
    during(print)
    out = capsys.readouterr().out
    assert "tile (2, 3) float32 in sbuf" in out
    assert "[0.0 2.0 4.0]" in out and "[6.0 8.0 10.0]" in out


def test_device_print_shows_the_prefix_and_the_values(capsys):
    during(lambda tile: nl.device_print("my tile", tile))
    out = capsys.readouterr().out
    assert out.startswith("my tile") and "[6.0 8.0 10.0]" in out


def test_looking_adds_nothing_to_the_program():
    free = during(lambda tile: None)
    seen = during(lambda tile: str(tile))
    assert seen.program.num_instructions == free.program.num_instructions


def test_comparison_with_numpy_sees_the_values():
    def look(tile):
        assert np.allclose(tile, 2 * ramp(2, 3))
        assert not np.allclose(tile, ramp(2, 3))
        np.testing.assert_array_equal(np.asarray(tile), 2 * ramp(2, 3))
        assert (tile == 2 * ramp(2, 3)).all()
        assert np.max(tile) == 10
        assert np.abs(tile - ramp(2, 3)).sum() == 15
        assert nl.equal(tile, tile)

    during(look)


def test_unwritten_elements_print_as_dashes_and_are_no_number(capsys):
    @nki.jit
    def kernel(x):
        t = nl.ndarray((2, 4), x.dtype)
        nisa.memset(dst=t[:, 0:2], value=1.0)
        print(t)
        with pytest.raises(trnemu.Fault) as caught:
            np.sum(t)
        assert caught.value.id == "nki.values_unwritten"
        return x

    kernel(ramp(2, 2))
    assert "[1.0 1.0 -- --]" in capsys.readouterr().out


def test_a_register_s_value_is_printed(capsys):
    @nki.jit
    def kernel(n):
        r = nisa.register_alloc()
        nisa.register_load(r, nl.load(n))
        print("n is", r)
        return n

    kernel(np.array([[7]], np.int32))
    assert "n is 7" in capsys.readouterr().out


def test_psum_and_narrow_types_are_shown(capsys):
    import ml_dtypes

    @nki.jit
    def kernel(x):
        t = nl.load(x)
        p = nl.ndarray((2, 2), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=p, stationary=t, moving=t)
        print(p)
        print(t)
        return x

    kernel(np.array([[1, 2], [3, 4]]).astype(ml_dtypes.bfloat16))
    out = capsys.readouterr().out
    assert "[10.0 14.0]" in out and "[14.0 20.0]" in out  # x.T @ x
    assert "bfloat16 in sbuf" in out and "[1.0 2.0]" in out


def test_in_a_device_loop_there_are_no_values_and_print_says_so(capsys):
    @nki.jit
    def kernel(x):
        t = nl.load(x)

        def body(i):
            nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0)
            print(t)
            with pytest.raises(trnemu.Fault) as caught:
                np.max(t)
            assert caught.value.id == "nki.values"

        nl.fori_loop(0, 2, body)
        print(t)
        return x

    kernel(ramp(2, 2))
    out = capsys.readouterr().out
    assert "no values" in out and "[2.0 3.0]" in out


def if_statement(tile):
    if np.max(tile) > 3:
        pass


def conditional(tile):
    return 1 if tile[0, 0] == np.zeros((1, 1)) else 0


def while_statement(tile):
    while not np.allclose(tile, 0):
        break


def as_bound(tile):
    for _ in range(np.asanyarray(tile.ap([[3, 1], [1, 1]]) == np.ones((1, 1)))[0, 0]):
        pass


def on_the_tile(tile):
    if tile[0:1, 0:1]:
        pass


@pytest.mark.parametrize(
    "branch", [if_statement, conditional, while_statement, on_the_tile])
def test_a_branch_on_values_is_refused(branch):
    with pytest.raises(trnemu.Fault) as caught:
        during(branch)
    assert caught.value.id == "nki.branch_on_values"
    assert "device" in caught.value.message
    assert branch.__name__ in caught.value.source


def test_is_none_of_a_tensor_is_no_branch_on_values():
    def look(tile):
        if tile is not None and tile != None:  # noqa: E711
            return
        raise AssertionError

    during(look)


def test_a_value_that_becomes_a_number_is_warned_about():
    with pytest.warns(nki.KernelWarning, match="constant of this run"):
        during(lambda tile: float(np.max(tile)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        during(lambda tile: f"{np.max(tile):.1f} {np.max(tile)}")


def test_a_breakpoint_shows_values(tmp_path):
    script = tmp_path / "k.py"
    script.write_text("""
import numpy as np
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    breakpoint()
    return x

kernel(np.arange(6, dtype=np.float32).reshape(2, 3))
""")
    done = subprocess.run([sys.executable, script], input="p tile\nc\n",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "[6.0 8.0 10.0]" in done.stdout


@pytest.mark.parametrize("use", [
    lambda t: t + t, lambda t: 2 * t, lambda t: t / t, lambda t: -t,
    lambda t: t < t, lambda t: t @ t, lambda t: t ** 2,
])
def test_operators_between_tensors_are_refused(use):
    with pytest.raises(trnemu.Fault) as caught:
        during(use)
    assert caught.value.id == "nki.operator"
    assert "nl." in caught.value.remedy


def test_item_assignment_is_refused():
    def look(tile):
        tile[0:1, :] = 0

    with pytest.raises(trnemu.Fault) as caught:
        during(look)
    assert caught.value.id == "nki.item_assignment"


def test_values_on_both_sides_of_a_meeting_are_seen(capsys):
    @nki.jit
    def swap(x):
        me = nl.program_id(0)
        mine = nl.load(x[2 * me:2 * me + 2])
        theirs = nl.ndarray(mine.shape, mine.dtype)
        nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - me,
                      recv_from_rank=1 - me, pipe_id=0)
        print(me, theirs)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out[2 * me:2 * me + 2], theirs)
        return out

    swap[2](ramp(4, 2))
    out = capsys.readouterr().out
    assert "0 <theirs" in out and "1 <theirs" in out
    assert "[4.0 5.0]" in out and "[2.0 3.0]" in out


def warned(look):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        during(look)
    return [str(w.message) for w in found]


@pytest.mark.parametrize("take", [
    lambda t: np.asarray(t).max() > 3, np.array, np.ascontiguousarray,
    lambda t: np.array(t, np.float64), np.asarray])
def test_an_array_of_the_host_made_of_a_tensor_is_warned_about(take):
    """A branch on it could not be refused: NumPy gives an array of its own."""

    def look(tile):
        for _ in range(3):
            value = take(tile)
        if np.all(value):
            pass

    (said,) = warned(look)
    assert "'tile' become an array of the host" in said
    assert f"{__file__}:" in said


def test_looking_with_numpy_is_not_warned_about():
    def look(tile):
        want = 2 * ramp(2, 3)
        np.testing.assert_allclose(tile, want)
        np.testing.assert_array_equal(np.asarray(tile), want)
        assert np.array_equal(np.asarray(tile)[0], want[0])
        assert (
            np.asarray(tile).sum()
            == 30
        )
        print("so far", np.asarray(tile), np.array2string(np.asarray(tile)))
        np.linalg.norm(tile)
        np.histogram(tile)
        np.save(io.BytesIO(), tile)

    assert warned(look) == []
