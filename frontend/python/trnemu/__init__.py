"""trnemu: an instruction-level emulator of AWS Trainium devices.

Build a program, run it, look at its values and its simulated time:

    import numpy as np, trnemu
    b = trnemu.ProgramBuilder(target="trn2", name="double")
    x = b.input("x", (128, 512), "float32")
    y = b.output("y", (128, 512), "float32")
    t = b.sbuf((128, 512), "float32")
    b.dma_copy(dst=t, src=x)
    b.tensor_tensor(dst=t, data1=t, data2=t, op="add")
    b.dma_copy(dst=y, src=t)
    r = trnemu.run(b.build(), {"x": np.ones((128, 512), np.float32)})
    print(r.outputs["y"], r.time_ns, r.summary())

What is wrong with a program is a `Fault`, with everything known about it as
attributes. What is wrong with a call - an unknown keyword, a wrong type - is a
TypeError.
"""

from trnemu import _where as _where  # first: it says which frames are ours
from trnemu._bench import CostRow, Law, ProgramCost, bench
from trnemu._builder import ProgramBuilder
from trnemu._collective import CollectiveCost, collective
from trnemu._debug import Debugger, EngineState, Reading, Stop, WatchHit, debug
from trnemu._dtype import Dtype
from trnemu._envelope import Distance, Envelope, EnvelopeRun, Spread, envelope
from trnemu._fault import Fault, InputFault
from trnemu._operations import Operation, Parameter, Rule, operations
from trnemu._profile import ProfileReport, Recommendation, profile
from trnemu._run import (
    Device,
    EngineProfile,
    Executable,
    Profile,
    RunResult,
    explore,
    run,
)
from trnemu._system import Collective, LinkUse, System, SystemResult
from trnemu._targets import (
    get_nc_sub_version,
    get_nc_version,
    nc_version,
    targets,
)
from trnemu._trnemu import (
    Finding,
    MemoryMap,
    Program,
    Register,
    Semaphore,
    Signal,
    View,
    Wait,
    __version__,
)

__all__ = [
    "Collective",
    "CollectiveCost",
    "CostRow",
    "Debugger",
    "Device",
    "Distance",
    "Dtype",
    "EngineProfile",
    "EngineState",
    "Envelope",
    "EnvelopeRun",
    "Executable",
    "Fault",
    "Finding",
    "InputFault",
    "Law",
    "LinkUse",
    "MemoryMap",
    "Operation",
    "Parameter",
    "Profile",
    "ProfileReport",
    "Program",
    "ProgramBuilder",
    "ProgramCost",
    "Reading",
    "Recommendation",
    "Register",
    "Rule",
    "RunResult",
    "Semaphore",
    "Signal",
    "Spread",
    "Stop",
    "System",
    "SystemResult",
    "View",
    "Wait",
    "WatchHit",
    "__version__",
    "bench",
    "collective",
    "debug",
    "envelope",
    "explore",
    "get_nc_sub_version",
    "get_nc_version",
    "nc_version",
    "operations",
    "profile",
    "run",
    "targets",
]
