"""Programs with semaphores of their own, for test_schedules.py and test_explore.py."""

import numpy as np

import trnemu

SHAPE = (128, 64)
X = np.arange(128 * 64, dtype=np.float32).reshape(SHAPE)
SEEDS = range(1, 41)


class Explicit:
    """x comes into t; y goes out of it. Semaphores are the test's."""

    def __init__(self):
        self.b = trnemu.ProgramBuilder(target="trn2", sync="explicit", name="k")
        self.x = self.b.input("x", SHAPE, "float32")
        self.y = self.b.output("y", SHAPE, "float32")
        self.t = self.b.sbuf(SHAPE, "float32", name="t")
        self.loaded = self.b.semaphore()
        self.done = self.b.semaphore()

    def load(self, **options):
        self.b.dma_copy(dst=self.t, src=self.x, signal=[(self.loaded, 1)],
                        **options)

    def double(self, **options):
        self.b.tensor_scalar(dst=self.t, data=self.t, op0="multiply",
                             operand0=2.0, **options)

    def outcomes(self, checks="full"):
        """Of each seed the output, or the id of the fault. With checks="memory"
        what the order does to the data; full reports races in any order."""
        program = self.b.build()
        for seed in SEEDS:
            try:
                yield trnemu.run(program, {"x": X}, schedule=seed,
                                 checks=checks).outputs["y"]
            except trnemu.Fault as fault:
                yield fault.id


def doubled(wait=True):
    """y = 2 x; without `wait` the store does not wait for the product."""
    e = Explicit()
    e.load()
    e.double(wait=[(e.loaded, 16)], signal=[(e.done, 1)])
    e.b.dma_copy(dst=e.y, src=e.t,
                 wait=[(e.loaded, 16)] + ([(e.done, 1)] if wait else []))
    return e


def same(outcome, want):
    return not isinstance(outcome, str) and np.array_equal(outcome, want)
