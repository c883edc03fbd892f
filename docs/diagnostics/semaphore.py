# Diagnostics of semaphore. README.md says how this is read.

#% semaphore.count
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = [b.semaphore() for _ in range(300)]  # fix: s = [b.semaphore() for _ in range(100)]

#% semaphore.range
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = b.semaphore()
b.nop(engine="vector", signal=[trnemu.Signal(s, "dec")])  # fix: b.nop(engine="vector", signal=[trnemu.Signal(s, "inc")])
r = trnemu.run(b.build(), {})

#% semaphore.signal
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = b.semaphore()
b.nop(engine="vector", signal=[trnemu.Signal(s, "add", -1)])  # fix: b.nop(engine="vector", signal=[trnemu.Signal(s, "add", 1)])

#% semaphore.wait
b = trnemu.ProgramBuilder(target="trn2", sync="explicit")
s = b.semaphore()
b.nop(engine="vector", wait=[trnemu.Wait(s, 16, consume=True), trnemu.Wait(s, 16, consume=True)])  # fix: b.nop(engine="vector", wait=[trnemu.Wait(s, 16, consume=True)])
