# Diagnostics of nki. README.md says how this is read.

#% nki.argument
from trnemu import nki
nki.jit(lambda x: x)(np.array(1.0, np.float32))  # fix: nki.jit(lambda x: x)(np.array([[1.0]], np.float32))

#% nki.argument_dtype
from trnemu import nki
x = np.ones((4, 8))  # fix: x = np.ones((4, 8), np.float32)
nki.jit(lambda x: x)(x)

#% nki.argument_overlap
from trnemu import nki
from trnemu.nki import language as nl
x = np.ones((12, 4), np.float32)
nki.jit(lambda a, b: nl.store(a, nl.load(b)))(x[0:8], x[4:12])  # fix: nki.jit(lambda a, b: nl.store(a, nl.load(b)))(x[0:8], x[4:12].copy())

#% nki.branch_on_values
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def clipped(x):
    out, t = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm), nl.load(x)
    if np.max(t) > 1:  # fix: if True:
        nisa.tensor_scalar(dst=t, data=t, op0=nl.minimum, operand0=1.0)
    nl.store(out, t)
    return out

clipped(np.full((4, 8), 2, np.float32))

#% nki.channels
from trnemu import nki
from trnemu.nki import collectives as ncc

@nki.jit
def kernel(x, group):
    y = nki.language.ndarray(x.shape, x.dtype, buffer=nki.language.shared_hbm)
    ncc.collective_permute_implicit([x], [[y]], group)  # fix: ncc.collective_permute_implicit([[x]], [[y]], group)
    return y

trnemu.System(ranks=2).run(kernel, (np.ones((4, 8), np.float32), ncc.ReplicaGroup([[0, 1]])))

#% nki.compiler
from trnemu import nki
from trnemu.nki.compiler.frontend import TracerFrontend
TracerFrontend().compile(lambda x: x)  # fix: nki.trace(lambda x: x, nki.TensorSpec((4, 8), "float32"))

#% nki.constant
from trnemu import nki
from trnemu.nki import language as nl
nki.jit(lambda x: nl.shared_constant(np.zeros((0, 4), np.float32)))(np.ones((4, 8), np.float32))  # fix: nki.jit(lambda x: nl.shared_constant(np.zeros((1, 4), np.float32)))(np.ones((4, 8), np.float32))

#% nki.grid
from trnemu import nki
nki.jit(lambda x: x)[4](np.ones((4, 8), np.float32))  # fix: nki.jit(lambda x: x)[2](np.ones((4, 8), np.float32))

#% nki.grid_axis
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    nl.program_id(1)  # fix: nl.program_id(0)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.hbm_address
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    nl.ndarray((4, 8), nl.float32, buffer=nl.hbm, address=(0, 0))  # fix: nl.ndarray((4, 8), nl.float32, address=(0, 0))
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.inexact_number
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    nl.add(nl.load(x), 16777217)  # fix: nl.add(nl.load(x), nl.full((4, 8), 16777217, nl.int32))
    return x

kernel(np.ones((4, 8), np.int32))

#% nki.item_assignment
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    t[0:1, :] = 0  # fix: t[0:1, :] = nl.zeros((1, 8), nl.float32)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.loop_in_no_reorder
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    with nl.no_reorder():  # fix: if True:
        nl.fori_loop(0, 4, lambda i: None)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.loop_left
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    for i in nl.dynamic_range(4):
        nl.load(x)
        break  # fix: leave out
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.loop_value
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    def body(i):
        t = nl.load(x)
        return t  # fix: leave out
    nl.fori_loop(0, 4, body)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.nested_options
from trnemu import nki

@nki.jit
def inner(x):
    return x

@nki.jit
def outer(x):
    return inner.with_options(target="trn3")(x)  # fix: return inner(x)

outer(np.ones((4, 8), np.float32))

#% nki.loop_step
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    step = nisa.register_alloc(2)  # fix: step = 2
    nl.fori_loop(0, 4, lambda i: None, step=step)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.no_instruction
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    nl.divide(t, t)  # fix: nl.multiply(t, nl.reciprocal(t))
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.no_module
from trnemu.nki import _install
_install.install()
try:
    import nki.compiler.kernel_builder  # fix: import nki.compiler
finally:
    _install.uninstall()

#% nki.old_generation
from trnemu.nki import _install
_install.install()
try:
    import neuronxcc.nki.language  # fix: import nki.language
finally:
    _install.uninstall()

#% nki.operator
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    t + t  # fix: nl.add(t, t)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.order
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t, u, inside = nl.load(x), nl.load(x), []
    first = nisa.activation(dst=t, op=nl.exp, data=t)
    nl.fori_loop(0, 2, lambda i: inside.append(nisa.activation(dst=t, op=nl.exp, data=t)))
    last = nisa.reciprocal(dst=u, data=u)
    last.depends_on(inside[0])  # fix: last.depends_on(first)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.order_later
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t, u = nl.load(x), nl.load(x)
    nisa.activation(dst=t, op=nl.exp, data=t, name="a")
    nisa.reciprocal(dst=u, data=u, name="b")
    return x

kernel = kernel.with_schedule([("a", "b")])  # fix: kernel = kernel.with_schedule([("b", "a")])
kernel(np.ones((4, 8), np.float32))

#% nki.outside
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.ndarray(x.shape, x.dtype)
    return x

nl.ndarray((4, 8), nl.float32)  # fix: kernel(np.ones((4, 8), np.float32))

#% nki.precise_fp
from trnemu import nki
from trnemu.nki import language as nl
nki.jit(lambda x: nl.load(x).view(nl.uint16), precise_fp=False)(np.ones((4, 8), np.float16))  # fix: nki.jit(lambda x: nl.store(x, nl.load(x)), precise_fp=False)(np.ones((4, 8), np.float16))

#% nki.read_only
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def clear(x):
    nl.store(x, nl.zeros((4, 8), nl.float32))

x = np.ones((4, 8), np.float32)
x.flags.writeable = False  # fix: leave out
clear(x)

#% nki.rearrange
from trnemu import nki

@nki.jit
def kernel(x):
    x.rearrange(("p", "f"), ("f", "q"))  # fix: x.rearrange(("p", "f"), ("f", "p"))
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.register_arithmetic
from trnemu import nki
from trnemu.nki import isa as nisa

@nki.jit
def kernel(x):
    at = nisa.register_alloc(1) + 1  # fix: at = nisa.register_alloc(2)
    x.select(0, at)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.register_branch
from trnemu import nki
from trnemu.nki import isa as nisa

@nki.jit
def kernel(x):
    reg = nisa.register_alloc(1)  # fix: reg = 1
    if reg:
        pass
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.register_value
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    count = nisa.register_alloc(4)
    for i in range(count):  # fix: for i in nl.dynamic_range(count):
        nl.load(x)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.replica_group
from trnemu import nki
nki.collectives.ReplicaGroup([[0, 1], [1, 2]])  # fix: nki.collectives.ReplicaGroup([[0, 1], [2, 3]])

#% nki.return
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    out = nl.load(x)  # fix: out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm); nl.store(out, nl.load(x))
    return out

kernel(np.ones((4, 8), np.float32))

#% nki.results_differ
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    rows = slice(2 * nl.program_id(0), 2 * nl.program_id(0) + 2)
    nl.store(out[rows], nl.load(x[rows]))
    return out if nl.program_id(0) == 0 else None  # fix: return out

kernel[2](np.ones((4, 8), np.float32))

#% nki.schedule_count
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t, u = nl.load(x), nl.load(x)
    for i in range(3):
        nisa.activation(dst=t, op=nl.exp, data=t, name="a")
    nisa.reciprocal(dst=u, data=u, name="b")
    return x

kernel = kernel.with_schedule([("b", "a")])  # fix: leave out
kernel(np.ones((4, 8), np.float32))

#% nki.schedule_name
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t, u = nl.load(x), nl.load(x)
    nisa.activation(dst=t, op=nl.exp, data=t, name="a")
    nisa.reciprocal(dst=u, data=u, name="b")
    return x

kernel = kernel.with_schedule([("b", "aa")])  # fix: kernel = kernel.with_schedule([("b", "a")])
kernel(np.ones((4, 8), np.float32))

#% nki.shape
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    nl.add(t, t[:, 0:4])  # fix: nl.add(t, t[:, 0:8])
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.shared_differs
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    rows = 4 + nl.program_id(0)  # fix: rows = 4
    nl.ndarray((rows, 8), x.dtype, buffer=nl.shared_hbm)
    return x

kernel[2](np.ones((4, 8), np.float32))

#% nki.strict
#! the ids are nki.strict.CONSTRUCT; tests/python/nki_strict_examples.py has each refused and repaired, and is executed

#% nki.values
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    def body(i):
        nl.add(t, 1.0)
        np.max(t)  # fix: leave out
    nl.fori_loop(0, 4, body)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.values_unwritten
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    t = nl.ndarray(x.shape, x.dtype)  # fix: t = nl.load(x)
    np.max(t)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.while_condition
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    zero = nl.zeros((1, 1), nl.int32)
    def body(r):
        nl.load(x)
        nisa.register_load(r, zero)
        return r
    more = 1  # fix: more = nisa.register_alloc(1)
    nl.while_loop(more, body)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.ap_of_view
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit(api="0.4")
def kernel(x):
    t = nl.load(x)
    t[:, 2:].ap([[8, 4], [1, 2]])  # fix: t.ap([[8, 4], [1, 2]], offset=2)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.buffer_name
from trnemu import nki
from trnemu.nki import language as nl

@nki.jit
def kernel(x):
    nl.ndarray((4, 8), nl.float32, buffer="sbuf")  # fix: nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.ignored_argument
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit(api="0.2", strict=True)
def kernel(x):
    t = nl.load(x)
    nisa.tensor_copy(dst=t, src=t, dtype=nl.float32)  # fix: nisa.tensor_copy(dst=t, src=t)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.later_version
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit(api="0.3")  # fix: @nki.jit(api="0.4")
def kernel(x):
    t = nl.ndarray(x.shape, x.dtype)
    nisa.dma_copy(dst=t, src=x, priority=None)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.mask
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit(api="0.2")
def kernel(x):
    t = nl.load(x)
    nisa.tensor_copy(dst=t, src=t, mask=True)  # fix: nisa.tensor_copy(dst=t[:2], src=t[:2])
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.memset_value
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    nisa.memset(nl.ndarray((4, 8), nl.int32), 2.0)  # fix: nisa.memset(nl.ndarray((4, 8), nl.int32), 2)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.older_behaviour
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit(api="0.2")
def kernel(x):
    t, low, high = nl.load(x), nl.zeros((4, 1), nl.float32), nl.full((4, 1), 8.0, nl.float32)
    fill = 0.0  # fix: fill = float(np.finfo(np.float32).min)
    nisa.range_select(dst=t, on_true_tile=t, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=low, bound1=high, on_false_value=fill)
    return x

kernel(np.ones((4, 8), np.float32))

#% nki.output_hbm
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit(strict=True, strict_frontend=True)
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.hbm)  # fix: out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out

kernel(np.ones((4, 8), np.float32))

#% nki.removed
from trnemu import nki
from trnemu.nki import isa as nisa, language as nl

@nki.jit
def kernel(x):
    t = nl.load(x)
    nisa.tensor_copy_dynamic_src(dst=t, src=t)  # fix: nisa.tensor_copy(dst=t, src=t)
    return x

kernel(np.ones((4, 8), np.float32))
