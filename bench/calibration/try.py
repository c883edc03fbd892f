import sys,time
from composites import case, vector_add, matmul_tutorial
import importlib
mods=sys.argv[1].split(',')
for m in mods:
    mod=importlib.import_module('composites.'+m)
    for c in mod.cases():
        if len(sys.argv)>2 and sys.argv[2] not in c.id: continue
        t=time.time(); r=case.run(c)
        print(c.id, f"meas {c.measured_ns/1e3:.2f}us sim {r.simulated_ns/1e3:.2f}us err {100*r.error:+.1f}% host {time.time()-t:.1f}s", r.profile.opcodes, {k:round(v.busy_ns/1e3,1) for k,v in r.profile.engines.items() if v.instructions}, flush=True)
        for k,v in c.opcodes.items():
            if r.opcode(k)!=v: print("   OPCODE",k,v,r.opcode(k))
        for f in c.figures: print("   ",f.name,f.published,f.ours(r),f.unit)
