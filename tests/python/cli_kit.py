"""What the tests of the trnemu binary share: a program, its inputs, a runner."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("TRNEMU_BIN") or str(ROOT / "build/release/bin/trnemu")

SUCCESS, FAULT, USAGE, UNSUPPORTED, MALFORMED = 0, 1, 2, 3, 4
SHAPE = (4, 8)

HEADER = """trnemu-text 1
name "double"
target trn2
producer "test_cli"
cores 1
swdge false
"""
# y = x * w, w a column of 1, 2, 3, 4; z = h.
DOUBLE = HEADER + """file 0 "k.py"
source 0 file=0 line=7 function="k" label=""
queue_set 0 core=0 owner=sync queues=16
semaphore 0 core=0 name="loaded"
semaphore 1 core=0 name="copied"
semaphore 2 core=0 name="multiplied"
operation 0 dma_copy
operation 1 tensor_scalar
tensor 0 x input float32 (4, 8)
tensor 1 h input bfloat16 (4, 8)
tensor 2 y output float32 (4, 8)
tensor 3 z output bfloat16 (4, 8)
tensor 4 w constant float32 (4, 1) data=0
tensor 5 t sbuf float32 (4, 8) core=0 partition=0 address=0
tensor 6 u sbuf float32 (4, 8) core=0 partition=0 address=192
tensor 7 tw sbuf float32 (4, 1) core=0 partition=0 address=64
tensor 8 th sbuf bfloat16 (4, 8) core=0 partition=0 address=128
data 16
  0: 0000803f000000400000404000008040
core 0
""" + "".join(f"  {line} @src0\n" for line in (
    "sync #0 dma_copy.0 DmaCopy dst=t[0:4, 0+8x1]:float32 src=x[0+32x1]:float32"
    " queue_set=0 dge_mode=unknown oob_mode=error priority=-1 signal s0+=1",
    "sync #1 dma_copy.0 DmaCopy dst=tw[0:4, 0+1x1]:float32 src=w[0+4x1]:float32"
    " queue_set=0 dge_mode=unknown oob_mode=error priority=-1 signal s0+=1",
    "sync #2 dma_copy.0 DmaCopy dst=th[0:4, 0+8x1]:bfloat16"
    " src=h[0+32x1]:bfloat16 queue_set=0 dge_mode=unknown oob_mode=error"
    " priority=-1 signal s1+=1",
    "vector #3 tensor_scalar.0 TensorScalar dst=u[0:4, 0+8x1]:float32"
    " data=t[0:4, 0+8x1]:float32 operand0=tw[0:4, 0+1x1]:float32 op0=multiply"
    " reverse0=false op1=none reverse1=false wait s0>=32 signal s2+=1",
    "sync #4 dma_copy.0 DmaCopy dst=y[0+32x1]:float32 src=u[0:4, 0+8x1]:float32"
    " queue_set=0 dge_mode=unknown oob_mode=error priority=-1 wait s2>=1",
    "sync #5 dma_copy.0 DmaCopy dst=z[0+32x1]:bfloat16"
    " src=th[0:4, 0+8x1]:bfloat16 queue_set=0 dge_mode=unknown oob_mode=error"
    " priority=-1 wait s1>=16",
))


def trnemu(*arguments, **options):
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True,
        errors="replace", timeout=120, **options)


def assemble(directory, text, name="k"):
    source = directory / f"{name}.txt"
    source.write_text(text)
    path = directory / f"{name}.trn"
    result = trnemu("asm", source, "-o", path)
    assert result.returncode == SUCCESS, result.stderr
    return path


class Case:
    """A directory with the program and its inputs."""

    def __init__(self, directory):
        self.directory = directory
        self.program = assemble(directory, DOUBLE)
        self.x = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
        self.h = np.arange(32, dtype=np.uint16).reshape(SHAPE)
        self.save("x", self.x)
        self.save("h", self.h)
        self.want = self.x * np.arange(1, 5, dtype=np.float32)[:, None]
        self.save("want", self.want)

    def path(self, name):
        return self.directory / f"{name}.npy"

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def run(self, *arguments, x="x", h="h"):
        inputs = []
        for name, file in (("x", x), ("h", h)):
            if file is not None:
                inputs += ["--input", f"{name}={self.path(file)}"]
        return trnemu("run", self.program, *inputs, *arguments)


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def refuses(result, code, *texts):
    assert result.returncode == code, result.stdout + result.stderr
    for text in texts:
        assert text in result.stderr
    # A sentence, never an exception of a library.
    assert "what():" not in result.stderr
    assert "internal" not in result.stderr
