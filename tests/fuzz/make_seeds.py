"""Writes small programs of every operation as seeds for the fuzzer.

python make_seeds.py DIRECTORY
"""

import pathlib
import sys

import trnemu


def one_of_each(target: str, tensor_transpose: bool) -> trnemu.Program:
    """Every operation once, on tiny tiles. The identity that a tensor-engine
    transpose brings makes a large file."""
    b = trnemu.ProgramBuilder(target=target, name="seed")
    x = b.input("x", (8, 16), "float32")
    y = b.output("y", (8, 16), "float32")
    z = b.output("z", (16, 8), "float32")
    t = b.sbuf((8, 16), "float32")
    u = b.sbuf((8, 16), "float32")
    h = b.sbuf((8, 16), "bfloat16")
    c = b.sbuf((8, 1), "float32")
    i = b.sbuf((8, 16), "int32")
    p = b.psum((16, 16), "float32")
    q = (b.psum if tensor_transpose else b.sbuf)((16, 8), "float32")
    b.dma_copy(dst=t, src=x)
    b.memset(dst=c, value=2.0)
    b.iota(dst=i, pattern=[[1, 16]], offset=3, channel_multiplier=2)
    b.tensor_copy(dst=u, src=i)
    b.tensor_tensor(dst=u, data1=t, data2=u, op="add")
    b.tensor_scalar(dst=u, data=u, op0="multiply", operand0=c, op1="subtract", operand1=1.0)
    b.scalar_tensor_tensor(dst=u, data=u, op0="add", operand0=c, op1="maximum", operand1=t)
    b.activation(dst=h, op="tanh", data=u, scale=0.5, reduce_op="add", reduce_res=c, reduce_cmd="reset_reduce")
    b.affine_select(dst=u, pattern=[[1, 16]], channel_multiplier=-1, on_true_tile=u, on_false_value=0.0, cmp_op="greater")
    b.tensor_reduce(dst=c, op="add", data=u, axis=1)
    b.reciprocal(dst=c, data=c)
    b.nc_matmul(dst=p, stationary=h, moving=h)
    b.nc_matmul(dst=p, stationary=t, moving=u)
    b.nc_transpose(dst=q, data=t)
    v = b.sbuf((16, 8), "float32")
    b.tensor_copy(dst=v, src=q)
    b.dma_copy(dst=z, src=v)
    b.tensor_copy(dst=u, src=p[0:8, :])
    b.dma_copy(dst=y, src=u)
    return b.build()


def main(directory: str) -> None:
    out = pathlib.Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    for choice, target in enumerate(("trn1", "trn2", "trn3")):
        for transpose in (False, True):
            path = out / f"{target}{'-transpose' if transpose else ''}.trn"
            one_of_each(target, transpose).save(str(path))
            # The fuzzer's first byte chooses the options of the run.
            path.write_bytes(bytes([choice]) + path.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1])
