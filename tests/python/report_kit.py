"""Profiles made without trnemu, for tests of the report: a tiled matmul on a
machine of a few lines, whose times are arithmetic."""

import json

ENGINES = ("tensor", "vector", "scalar", "sync")
OPCODES = ("LoadStationary", "MultiplyMoving", "Activate", "TensorTensor",
           "DmaCopy")
OPERATIONS = ("nc_matmul", "activation", "tensor_tensor", "dma_copy")
SOURCES = ("kernel.py:12 in tiles", "kernel.py:15 in tiles",
           "kernel.py:18 in tiles", "kernel.py:21 in tiles")
COLUMNS = ("core", "engine", "opcode", "operation", "source", "ready",
           "start", "issue_end", "end", "wait_semaphore", "wait_from",
           "producer", "producer_dma", "extra", "text")
DMA_COLUMNS = ("core", "engine", "queue", "queue_set", "instruction",
               "direction", "trigger", "start", "end", "notify", "bytes",
               "descriptors")


class Machine:
    """Engines that take instructions in order, and 16 DMA engines."""

    def __init__(self, cores):
        self.rows = {name: [] for name in COLUMNS}
        self.dma = {name: [] for name in DMA_COLUMNS}
        self.free = {(c, e): 0.0 for c in range(cores) for e in ENGINES}
        self.dma_free = {(c, e): 0.0 for c in range(cores) for e in range(16)}
        self.texts, self.text_of = [], {}

    def issue(self, core, engine, opcode, operation, source, text, issue,
              latency, after=None):
        """`after`: (row, time) of an instruction or ("dma", row, time)."""
        ready = self.free[core, engine]
        at = after[-1] if after else 0.0
        start = max(ready, at)
        waited = start > ready
        row = len(self.rows["core"])
        by_dma = bool(after) and after[0] == "dma"
        index = self.text_of.setdefault(text, len(self.texts))
        if index == len(self.texts):
            self.texts.append(text)
        values = dict(
            core=core, engine=engine, opcode=OPCODES.index(opcode),
            operation=OPERATIONS.index(operation), source=source, ready=ready,
            start=start, issue_end=start + issue, end=start + latency,
            wait_semaphore=(1 if by_dma else 0) if waited else -1,
            wait_from=ready if waited else -1,
            producer=after[0] if after and not by_dma and waited else -1,
            producer_dma=after[1] if by_dma and waited else -1,
            extra=1283.0 if row == 3 else 0, text=index)
        for name, value in values.items():
            self.rows[name].append(value)
        self.free[core, engine] = start + issue
        return row, start + latency

    def transfer(self, core, trigger, direction, size, at):
        """Over all 16 engines; the last part to be seen done."""
        last = None
        for engine in range(16):
            start = max(self.dma_free[core, engine], at + 1400.0)
            end = start + size / 16 / 16.0
            self.dma_free[core, engine] = end
            values = dict(core=core, engine=engine, queue=engine, queue_set=0,
                          instruction=trigger, direction=direction,
                          trigger=at, start=start, end=end,
                          notify=end + 500.0, bytes=size // 16, descriptors=8)
            for name, value in values.items():
                self.dma[name].append(value)
            last = ("dma", len(self.dma["core"]) - 1, end + 500.0)
        return last


def make_tiles(machine, core, tiles):
    multiplied = None
    for i in range(tiles):
        trigger, _ = machine.issue(
            core, "sync", "DmaCopy", "dma_copy", 0,
            f"dma_copy dst=x{i}[0:128, 0:512] src=x[{i}:{i + 128}]", 76.5, 90.0)
        loaded = machine.transfer(core, trigger, "load", 131072,
                                  machine.free[core, "sync"])
        for k in range(4):
            machine.issue(
                core, "tensor", "LoadStationary", "nc_matmul", 1,
                f"nc_matmul stationary=w{k}[0:128, {k * 128}+128x1]", 45.71429,
                117.666, loaded if k == 0 else None)
            multiplied = machine.issue(
                core, "tensor", "MultiplyMoving", "nc_matmul", 1,
                f"nc_matmul dst=p{i % 8}[0:128, 0+512x1] moving=x{i}", 365.7143,
                592.667)
        activated = machine.issue(
            core, "scalar", "Activate", "activation", 2,
            f"activation dst=o{i % 4}[0:128, 0+512x1] op=gelu", 580.25, 640.125,
            multiplied)
        added = machine.issue(
            core, "vector", "TensorTensor", "tensor_tensor", 2,
            f"tensor_tensor dst=o{i % 4} data1=o{i % 4} data2=b op=add", 550.5,
            610.0, activated)
        store, _ = machine.issue(
            core, "sync", "DmaCopy", "dma_copy", 3,
            f"dma_copy dst=y[{i * 128}+512x1] src=o{i % 4}", 76.5, 90.0, added)
        machine.transfer(core, store, "store", 131072,
                         machine.free[core, "sync"])


def memory_of(tiles, cores, time):
    rows = []
    for core in range(cores):
        for i in range(min(tiles, 400)):
            share = time / max(1, min(tiles, 400))
            rows.append(dict(
                space="sbuf", core=core, name=f"x{i}", dtype="bfloat16",
                shape=[128, 512], first_partition=0, partitions=128,
                address=(i % 6) * 1024, bytes=1024, **{
                    "from": i * share, "to": min(time, (i + 4) * share)}))
            rows.append(dict(
                space="psum", core=core, name=f"p{i % 8}", dtype="float32",
                shape=[128, 512], first_partition=0, partitions=128,
                address=(i % 8) * 2048, bytes=2048, **{
                    "from": i * share, "to": min(time, (i + 2) * share)}))
    return rows


def engines_of(rows, time):
    totals = {}
    for i, engine in enumerate(rows["engine"]):
        t = totals.setdefault((rows["core"][i], engine), [0, 0.0, 0.0])
        t[0] += 1
        t[1] += rows["issue_end"][i] - rows["start"][i]
        t[2] += rows["start"][i] - rows["ready"][i]
    return [dict(core=core, engine=engine, instructions=n, busy_ns=busy,
                 waiting_ns=wait, active_percent=100 * busy / time)
            for (core, engine), (n, busy, wait) in sorted(totals.items())]


def operations_of(rows):
    totals = {}
    for i, operation in enumerate(rows["operation"]):
        t = totals.setdefault(OPERATIONS[operation], [0, 0.0])
        t[0] += 1
        t[1] += rows["issue_end"][i] - rows["start"][i]
    busy = sum(b for _, b in totals.values())
    return [dict(operation=name, count=n, busy_ns=b, share=b / busy)
            for name, (n, b) in totals.items()]


def stalls_of(rows):
    return [dict(core=rows["core"][i], engine=rows["engine"][i],
                 **{"from": rows["ready"][i], "to": rows["start"][i]},
                 cause="dma load" if rows["producer_dma"][i] >= 0
                 else rows["engine"][rows["producer"][i]],
                 row=i, producer=rows["producer"][i],
                 producer_dma=rows["producer_dma"][i])
            for i in range(len(rows["core"]))
            if rows["start"][i] - rows["ready"][i] > 100]


def critical_of(rows, dma, time):
    """Back from the end along the producers (of the last store)."""
    steps = []
    row, upto = len(rows["core"]) - 1, time
    while row >= 0 and len(steps) < 300:
        steps.append({"kind": "instruction", "row": row,
                      "from": rows["start"][row], "to": upto,
                      "cause": rows["engine"][row],
                      "text": OPCODES[rows["opcode"][row]]})
        upto = rows["start"][row]
        if rows["producer_dma"][row] >= 0:
            part = rows["producer_dma"][row]
            steps.append({"kind": "dma", "row": part,
                          "from": dma["start"][part], "to": upto,
                          "cause": "dma load",
                          "text": "DMA load"})
            upto = dma["start"][part]
            row = dma["instruction"][part]
            continue
        row = rows["producer"][row]
    return steps[::-1]


def counters_of(dma):
    events = sorted([(s, 16.0) for s in dma["start"]] +
                    [(e, -16.0) for e in dma["end"]])
    t, v, rate = [0.0], [0.0], 0.0
    for at, change in events:
        rate += change
        if at == t[-1]:
            v[-1] = rate
        else:
            t.append(at)
            v.append(rate)
    return {"t": t, "v": v}


def make_profile(tiles=12, cores=1, name="tiled_matmul", target="trn2"):
    """A dict of the profile's JSON (docs/profile.md)."""
    machine = Machine(cores)
    for core in range(cores):
        make_tiles(machine, core, tiles)
    rows, dma = machine.rows, machine.dma
    time = max(max(rows["end"]), max(dma["notify"]))
    flops = 2 * 128 * 128 * 512 * rows["opcode"].count(1)
    moved = sum(dma["bytes"])
    peak, bandwidth = 91.75e3 * cores, 358.0 * cores
    stalls = stalls_of(rows)
    return {
        "format": "trnemu-profile", "version": 1, "target": target,
        "program": name, "time_ns": time, "cores": cores,
        "hardware": {"peak_flops_per_ns": {"bfloat16": peak, "float16": peak,
                                           "float8_e4m3": 1.5 * peak,
                                           "float32": peak / 4},
                     "hbm_bytes_per_ns": bandwidth,
                     "sbuf_partition_bytes": 196608,
                     "psum_partition_bytes": 16384, "partitions": 128},
        "summary": [
            {"name": "total_time", "value": time * 1e-9, "unit": "seconds",
             "meaning": "simulated time of the program"},
            {"name": "mfu_estimated_percent",
             "value": flops / time / peak, "unit": "percent",
             "meaning": "matrix FLOPS of the peak of the dtype used"},
            {"name": "mbu_estimated_percent",
             "value": moved / time / bandwidth, "unit": "percent",
             "meaning": "HBM bytes of what the bandwidth allows"},
            {"name": "hbm_read_bytes", "value": moved // 2, "unit": "bytes",
             "meaning": "bytes read from HBM"}],
        "engines": engines_of(rows, time),
        "opcodes": list(OPCODES), "operations": list(OPERATIONS),
        "sources": list(SOURCES), "semaphore_names": ["done", "loaded"],
        "texts": machine.texts, "instructions": rows, "dma": dma,
        "queue_sets": [{"core": 0, "owner": "sync", "queues": 16,
                        "name": "q0"}],
        "semaphores": {}, "stalls": stalls,
        "critical_path": critical_of(rows, dma, time),
        "recommendations": [
            {"id": "prefetch", "title": "Start the loads earlier",
             "text": "The tensor engine waits for each tile; two buffers "
                     "would let the next load run behind this matmul.",
             "evidence": f"{len(stalls)} stalls of more than 100 ns",
             "saves_ns": time / 4}],
        "memory": memory_of(tiles, cores, time),
        "by_operation": operations_of(rows),
        "counters": {"hbm_bandwidth": counters_of(dma)},
        "roofline": {"flops": flops, "hbm_bytes": moved,
                     "intensity": flops / moved,
                     "achieved_flops_per_ns": flops / time,
                     "peak_flops_per_ns": peak,
                     "hbm_bytes_per_ns": bandwidth},
    }


def profile_text(**options):
    return json.dumps(make_profile(**options))
