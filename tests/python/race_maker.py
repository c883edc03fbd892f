"""Random Tiny programs whose instructions meet at few bytes.

Some are synchronised by the edges of their program order, each edge through a
semaphore of its own or one that several share, and then perhaps damaged; in
others waits and signals are drawn.
"""

from __future__ import annotations

import random
from dataclasses import replace

from race_model import SIZES, Buffer, Loop, Op, Tiny, View, touched

COMPUTE = {"vector": ("memset", "copy", "scalar"), "gpsimd": ("memset", "copy"),
           "scalar": ("copy", "scalar")}
ENGINES = ("vector", "gpsimd", "scalar", "sync", "tensor")


class Maker:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.semaphores = 0
        self.cores = 2 if self.r.random() < 0.2 else 1
        self.engines = [
            self.r.sample(ENGINES, self.r.randint(2, 4 // self.cores + 1))
            for _ in range(self.cores)]
        self.buffers = self._buffers()

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def semaphore(self) -> int:
        self.semaphores += 1
        return self.semaphores - 1

    # --- places

    def _buffers(self) -> list[Buffer]:
        r, out = self.r, []
        dtype = r.choices(("uint8", "float32"), (5, 1))[0]
        rows = r.choice((128, 128, 64, 32))
        for core in range(self.cores):
            address = 0
            for i in range(r.randint(1, 3)):
                cols = r.choice((4, 8))
                out.append(Buffer(f"t{core}{i}", core, rows, cols, address,
                                  dtype))
                size = cols * SIZES[dtype]
                # Sometimes the next one lies half on top.
                address += size // 2 if self.chance(0.15) else size
        for i in range(r.randint(1, 2)):
            out.append(Buffer(f"h{i}", -1, rows, r.choice((4, 8)), i, dtype))
        return out

    def view(self, buffers: list[Buffer], dma: bool, rows: int = 0,
             count: int = 0) -> View | None:
        r = self.r
        fit = [b for b in buffers if b.rows >= rows and b.cols >= count]
        if not fit:
            return None
        b = r.choice(fit)
        if not rows:
            rows = b.rows if self.chance(0.6) else r.choice((b.rows // 2, 32))
        starts = [s for s in (0, 32, 64, 96) if s + rows <= b.rows
                  and (rows <= 32 or s % 64 == 0)]
        if dma:
            starts += [s for s in (4, 8, 16, 48) if s + rows <= b.rows]
        if not count:
            count = b.cols if self.chance(0.4) else r.choice((1, 2, b.cols // 2))
        step = 2 if count > 1 and 2 * count - 1 <= b.cols and self.chance(
            0.4) else 1
        last = b.cols - (count - 1) * step
        return View(b, r.choice(starts), rows, r.randrange(last), count, step)

    # --- instructions

    def op(self, core: int) -> Op | None:
        r = self.r
        engine = r.choice(self.engines[core])
        kinds = [k for k in COMPUTE.get(engine, ()) for _ in "ab"] + ["dma"] * 2
        kind = r.choice(kinds)
        mine = [b for b in self.buffers if b.core in (core, -1)]
        tiles = [b for b in mine if b.core >= 0]
        if kind == "memset":
            return Op(kind, core, engine, self.view(tiles, False))
        dma = kind == "dma"
        dst = self.view(mine if dma else tiles, dma)
        assert dst
        src = self.view(mine if dma else tiles, dma, dst.rows, dst.count)
        if src is None or (src != dst or dma) and not touched(src).isdisjoint(
                touched(dst)):
            return None
        if dma and src.buffer.core < 0 and dst.buffer.core < 0 and self.chance(
                0.5):
            return None
        return Op(kind, core, engine, dst, src,
                  r.choice((1, 2, 2, 4)) if dma else 0)

    def ops(self, count: int) -> list[Op]:
        out: list[Op] = []
        while len(out) < count:
            op = self.op(self.r.randrange(self.cores))
            if op is not None:
                out.append(op)
        return out

    # --- synchronisation

    @staticmethod
    def meet(a: Op, b: Op) -> str:
        """"", or how b depends on a: "read" (only overwrites what a reads) or
        "complete"."""
        if a.kind != "dma" and (a.core, a.engine) == (b.core, b.engine):
            return ""
        def clash(x: View | None, y: View | None) -> bool:
            return bool(x and y and not touched(x).isdisjoint(touched(y)))
        if clash(a.dst, b.dst) or clash(a.dst, b.src):
            return "complete"
        return "read" if clash(a.src, b.dst) else ""

    @staticmethod
    def times(op: Op) -> int:
        return op.queues or 1

    def at(self, a: Op, how: str) -> str:
        if a.kind != "dma":
            return "complete"
        if how == "read":
            return "read" if self.chance(0.6) else "complete"
        return "read" if self.chance(0.07) else "complete"

    def edges(self, ops: list[Op], keep: float) -> list[Op]:
        """Each dependence in order, kept with a chance; through few semaphores
        or one each."""
        r, shared = self.r, self.chance(0.5)
        pool = [self.semaphore() for _ in range(r.randint(1, 2))]
        total = dict.fromkeys(pool, 0)  # so far, less what was consumed
        reached: dict[tuple[int, int, str], int] = {}
        consuming = shared and self.chance(0.3)
        for j, b in enumerate(ops):
            needs: dict[int, int] = {}
            order = list(range(j))
            if self.chance(0.5):
                order.reverse()  # nearest first: the others may follow from it
            for i in order:
                how = self.meet(ops[i], b)
                if not how or not self.chance(keep):
                    continue
                at = self.at(ops[i], how)
                if not shared:
                    k = r.choice((1, 1, 2))
                    s = self.semaphore()
                    ops[i] = replace(ops[i], signals=(
                        *ops[i].signals, (s, "add", k, at)))
                    needs[s] = k * self.times(ops[i])
                    continue
                s = r.choice(pool)
                if (s, i, at) not in reached:
                    k = r.choice((1, 1, 2))
                    ops[i] = replace(ops[i], signals=(
                        *ops[i].signals, (s, "add", k, at)))
                    total[s] += k * self.times(ops[i])
                    reached[s, i, at] = total[s]
                strong = total[s] if self.chance(0.7) else reached[s, i, at]
                needs[s] = max(needs.get(s, 0), strong)
            waits = []
            for s, n in needs.items():
                if s in pool and n > total[s]:
                    n = total[s]
                consume = consuming and s in pool
                if consume:
                    total[s] -= n
                waits.append((s, n, consume))
            ops[j] = replace(ops[j], waits=tuple(waits))
        return ops

    def drawn(self, ops: list[Op]) -> list[Op]:
        r = self.r
        pool = [self.semaphore() for _ in range(r.randint(1, 3))]
        total = dict.fromkeys(pool, 0)
        consuming, only = self.chance(0.4), r.choice(self.engines[0])
        for j, op in enumerate(ops):
            waits, signals = [], []
            for s in pool:
                if total[s] and self.chance(0.5):
                    n = total[s] if self.chance(0.5) else r.randint(1, total[s])
                    # Mostly one engine consumes.
                    consume = consuming and (op.engine == only
                                             or self.chance(0.1))
                    total[s] -= n if consume else 0
                    waits.append((s, n, consume))
                if self.chance(0.5):
                    how = r.choice(("add", "add", "inc"))
                    k = r.randint(1, 3) if how == "add" else 1
                    at = "read" if op.kind == "dma" and self.chance(
                        0.25) else "complete"
                    total[s] += k * self.times(op)
                    signals.append((s, how, k, at))
            ops[j] = replace(op, waits=tuple(waits), signals=tuple(signals))
        return ops

    def loop(self, ops: list[Op], keep: float) -> list[Op | Loop]:
        """The ops as a loop, with the dependences inside and across
        iterations; the latter begin with a credit."""
        r, before = self.r, []
        for i, a in enumerate(ops):
            for j, b in enumerate(ops):
                how = self.meet(a, b) if i != j else ""
                if i == j and a.kind == "dma" and self.meet(a, a):
                    how = "complete"
                if not how or not self.chance(keep):
                    continue
                s, k = self.semaphore(), r.choice((1, 2))
                n = k * self.times(a)
                ops[i] = replace(ops[i], signals=(
                    *ops[i].signals, (s, "add", k, self.at(a, how))))
                ops[j] = replace(ops[j], waits=(*ops[j].waits, (s, n, True)))
                if j <= i:
                    engine = r.choice(self.engines[0])
                    credit = n if self.chance(0.8) else 2 * n
                    before.append(Op("nop", 0, engine,
                                     signals=((s, "add", credit, "complete"),)))
        return [*before, Loop(r.randint(2, 3), tuple(ops))]

    def damage(self, items: list[Op | Loop]) -> list[Op | Loop]:
        """A wait lost or weakened, a signal moved or raised, a loose one."""
        r = self.r

        def hit(op: Op) -> Op:
            waits, signals = list(op.waits), list(op.signals)
            if waits and self.chance(0.6):
                i = r.randrange(len(waits))
                s, n, consume = waits[i]
                match r.randrange(4):
                    case 0:
                        del waits[i]
                    case 1:
                        waits[i] = (s, max(1, n - r.choice((1, 2, 4))), consume)
                    case 2:
                        waits[i] = (s, n + 1, consume)
                    case 3:
                        waits[i] = (s, n, not consume)
            elif signals:
                i = r.randrange(len(signals))
                s, how, k, at = signals[i]
                match r.randrange(5):
                    case 0:
                        signals[i] = (s, how, k + 1, at)
                    case 1 if op.kind == "dma":
                        signals[i] = (s, how, k, "read")
                    case 2:
                        signals.append((r.randrange(self.semaphores), "inc", 1,
                                        "complete"))
                    case 3:
                        signals.append((r.randrange(self.semaphores),
                                        r.choice(("dec", "sub")), 1, "complete"))
                    case _:
                        signals[i] = (s, "set", k * self.times(op), at)
            return replace(op, waits=tuple(waits), signals=tuple(signals))

        flat = [i for i, x in enumerate(items) for _ in
                range(len(x.body) if isinstance(x, Loop) else 1)]
        i = r.choice(flat)
        item = items[i]
        if isinstance(item, Loop):
            body = list(item.body)
            j = r.randrange(len(body))
            body[j] = hit(body[j])
            items[i] = Loop(item.trips, tuple(body))
        else:
            items[i] = hit(item)
        return items

    def barriers(self, ops: list[Op]) -> list[Op]:
        data = next(b for b in self.buffers if b.core < 0)
        view = View(data, 0, data.rows, 0, data.cols)
        for _ in range(self.r.randint(1, 2)):
            at = self.r.randint(0, len(ops))
            ops[at:at] = [Op("barrier", c, "gpsimd", view) for c in (0, 1)]
        return ops

    def make(self) -> Tiny:
        r = self.r
        keep = 1.0 if self.chance(0.45) else r.choice((0.9, 0.6, 0.3))
        style = r.random()
        items: list[Op | Loop]
        if self.cores == 1 and style < 0.2:
            items = self.loop(self.ops(r.randint(2, 3)), keep)
            if self.chance(0.5):
                items += self.edges(self.ops(1), 1.0)
        else:
            ops = self.ops(r.randint(2, 7))
            if self.cores == 1 and style < 0.35:
                ops = ops[:3] * r.randint(2, 3)  # a loop unrolled
            if self.cores == 2 and self.chance(0.4):
                ops = self.barriers(ops)
            ops = self.drawn(ops) if self.chance(0.35) else self.edges(ops, keep)
            items = list(ops)
        if self.semaphores and self.chance(0.3):
            items = self.damage(items)
        return Tiny(tuple(self.buffers), tuple(items), self.cores)


def make(seed: int) -> Tiny:
    return Maker(seed).make()
