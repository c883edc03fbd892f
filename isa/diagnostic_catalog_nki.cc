// Diagnostics of the NKI front end: recording and launching kernels.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"nki.argument", kIllegal,
     "An array without dimensions is passed to a kernel.",
     "kernel(np.array(1.0, np.float32))",
     "Pass a Python number, or an array of shape (1, 1)."},
    {"nki.argument_dtype", kIllegal,
     "An array of a dtype that the device does not have is passed to a kernel. "
     "Nothing is cast by itself.",
     "kernel(np.ones((4, 8)))  # float64",
     "Convert it, for example with array.astype(np.float32)."},
    {"nki.argument_overlap", kInput,
     "A kernel writes to an argument that shares memory with another one, or "
     "with itself; the kernel has them apart.",
     "kernel(x[0:8], x[4:12]) of a kernel that writes to its first argument",
     "Pass copies, or the whole array once."},
    {"nki.branch_on_values", kIllegal,
     "A kernel takes a branch on values of a tensor, or uses one as an index "
     "or "
     "loop bound. Values are visible here while a kernel is recorded, for "
     "looking at; the device has none when the kernel is compiled. An assert "
     "may use them.",
     "if np.max(tile) > 0: ...",
     "Select values with nisa.tensor_copy_predicated or nisa.select_reduce, "
     "loop with nl.while_loop, load an index into a register."},
    {"nki.channels", kIllegal,
     "A collective whose tensors are listed by channel is given something else "
     "than a list with exactly one tensor for a channel.",
     "collective_permute_implicit([x], [[y]], group)",
     "Write [[tensor]] for one channel, [[tensor0], [tensor1]] for two."},
    {"nki.compiler", kUnsupported,
     "A name of nki.compiler that runs, or directs, the vendor's compiler.",
     "TracerFrontend().compile(...)",
     "Call the kernel with arrays, or trnemu.nki.trace(kernel, *arrays) for "
     "its program."},
    {"nki.constant", kIllegal,
     "nl.shared_constant of an array that is empty, or of a structured dtype.",
     "nl.shared_constant(np.zeros((0, 4), np.float32))",
     "Give an array of at least one element, of a dtype of nki.language."},
    {"nki.grid", kIllegal,
     "A kernel is launched on a grid that is not 1 or 2 cores.",
     "a kernel launched on 4 cores",
     "Launch it on kernel[1] or kernel[2], or without brackets."},
    {"nki.grid_axis", kIllegal,
     "nl.program_id or nl.num_programs of an axis that a launch does not have.",
     "nl.program_id(1)", "Ask for axis 0, the cores of the launch."},
    {"nki.hbm_address", kIllegal, "address= of a tensor in HBM.",
     "nl.ndarray((4, 8), nl.float32, buffer=nl.hbm, address=(0, 0))",
     "Leave it out: it places tiles in SBUF and PSUM."},
    {"nki.inexact_number", kIllegal,
     "A wrapper of nl between an integer tile and a number that float32, in "
     "which the instruction computes, does not hold.",
     "nl.add(int32_tile, 16777217)",
     "Use a tile of the number: two 32-bit integer tiles are computed "
     "exactly."},
    {"nki.item_assignment", kIllegal,
     "Something else than a tensor of the part's shape is assigned to part of "
     "a "
     "tensor, or NumPy is given a tensor to write to.",
     "tile[0:4, :] = 0",
     "nisa.memset for a number; assign a tensor of the same shape."},
    {"nki.loop_in_no_reorder", kIllegal,
     "A device loop inside nl.no_reorder().",
     "with nl.no_reorder(): nl.fori_loop(0, 4, body)",
     "Put nl.no_reorder() into the loop's body."},
    {"nki.loop_left", kIllegal,
     "A device loop is left by break, return or an exception; the device runs "
     "it to its end.",
     "for i in nl.dynamic_range(4): break",
     "nl.while_loop, whose body returns the register that says whether to go "
     "on; `while register:` ends by its register."},
    {"nki.loop_value", kIllegal,
     "The body of nl.fori_loop returns a value, which nothing receives. "
     "Handles of instructions may be returned.",
     "def body(i): ...; return tile",
     "Return nothing; keep what goes on in a tensor made before the loop."},
    {"nki.nested_options", kIllegal,
     "A kernel that another kernel calls has an option, or a schedule, that "
     "the "
     "outer one has not: it becomes a part of the outer one's program.",
     "inner.with_options(target=\"trn3\")(x) in a kernel for trn2",
     "Give the option to the outer kernel."},
    {"nki.loop_step", kIllegal,
     "The step of a device loop is not known when the kernel is compiled.",
     "nl.fori_loop(0, 8, body, step=register)", "Give a positive number."},
    {"nki.no_instruction", kIllegal,
     "A function of nl that the device has no instruction for; simulators in "
     "plain Python compute it.",
     "nl.divide(a, b), nl.mod(a, b)", "Multiply by nl.reciprocal(b)."},
    {"nki.no_module", kUnsupported,
     "A module of the vendor's package that trnemu does not have.",
     "import nki.compiler.kernel_builder",
     "Use nki, nki.language and nki.isa; trnemu.nki.trace gives a kernel's "
     "program."},
    {"nki.old_generation", kUnsupported,
     "A script imports neuronxcc.nki, whose instructions return tiles.",
     "import neuronxcc.nki.language as nl",
     "Port the kernel to `import nki`: instructions take dst=, masks become "
     "slices."},
    {"nki.operator", kIllegal,
     "An operator of Python between tensors of a kernel.", "tile + tile",
     "nl.add(a, b) and its like, or nisa.tensor_tensor, nisa.tensor_scalar."},
    {"nki.order", kIllegal,
     "depends_on of an instruction of another core, or of one inside a device "
     "loop that the other is not in: its semaphore would fire too often or "
     "never.",
     "after.depends_on(inside_a_loop)",
     "Order the instruction before or after the loop as a whole."},
    {"nki.order_later", kUnsupported,
     "An instruction is to come after one that the kernel issues later. The "
     "device's compiler could swap them; trnemu keeps the order of the kernel.",
     "kernel.with_schedule([(\"first\", \"second\")])",
     "Move the statement behind the one it is to come after."},
    {"nki.outside", kIllegal,
     "A tensor is made, or an instruction issued, outside of a kernel.",
     "nl.ndarray((128, 512), nl.float32)  # at module level",
     "Call it from a function under @nki.jit, and launch that."},
    {"nki.precise_fp", kUnsupported,
     "What precise_fp=False cannot do, because narrow floats are stored as "
     "float32: views of their bytes, operations without float32.",
     "tile.view(nl.uint16) of a float16 tile",
     "Run the kernel with precise_fp=True, the default."},
    {"nki.read_only", kInput,
     "A kernel writes to an argument whose array cannot be written to.",
     "kernel(array) with array.flags.writeable False", "Pass a copy."},
    {"nki.rearrange", kIllegal,
     "The patterns of rearrange do not fit the tensor's shape or each other.",
     "x.rearrange(['p', 'f'], ['p', 'g'])",
     "Use the same names on both sides, one for each axis or a tuple."},
    {"nki.register_arithmetic", kIllegal,
     "Arithmetic of Python on a register; nki has none.", "register + 1",
     "Let the loop step, nl.dynamic_range(0, 128, 32) with nl.ds(i, 32); let "
     "ap(indirect_dim=) scale the index; or compute on a tensor of one element "
     "and nisa.register_load it."},
    {"nki.register_branch", kIllegal, "A branch on a register's value.",
     "if register: ...",
     "A loop of one round: nl.while_loop(register, body), whose body returns a "
     "register with 0; or select values with nisa.tensor_copy_predicated. "
     "docs/nki-language.md has both sides of an if."},
    {"nki.register_value", kIllegal,
     "A register is used as a number of Python; only the device knows its "
     "value.",
     "range(register)",
     "nl.fori_loop or nl.while_loop for loops, nl.ds(register, size) or "
     "ap(scalar_offset=register) for addresses."},
    {"nki.replica_group", kIllegal, "A rank is in two replica groups.",
     "ReplicaGroup([[0, 1], [1, 2]])", "Groups of ranks may not overlap."},
    {"nki.return", kIllegal, "A kernel returns a tile in SBUF or PSUM.",
     "return tile", "Copy it to a tensor in nl.shared_hbm and return that."},
    {"nki.results_differ", kIllegal,
     "The cores of a kernel return different things: the launch has one "
     "result.",
     "return x if nl.program_id(0) == 0 else None",
     "Return the same shared_hbm tensors on both cores."},
    {"nki.schedule_count", kIllegal,
     "with_schedule names instructions that are issued several times, one more "
     "often than the other.",
     "with_schedule([(\"b\", \"a\")]) with three of a and two of b",
     "Give the instructions names of their own."},
    {"nki.schedule_name", kIllegal,
     "with_schedule names an instruction that the kernel does not have.",
     "kernel.with_schedule([(\"b\", \"a\")])",
     "Give the instruction that name: nisa.X(..., name=\"a\")."},
    {"nki.shape", kIllegal,
     "Shapes of a function of nl do not fit, or would need a broadcast that no "
     "engine does.",
     "nl.add(a, b) of (4, 8) and (4, 4)",
     "Give tiles of one shape, a (P, 1) column in float32, or a number."},
    {"nki.shared_differs", kIllegal,
     "The two cores of an LNC2 kernel allocate different tensors in "
     "shared_hbm, of which they share the first with the first, and so on.",
     "if nl.program_id(0) == 0: nl.ndarray(..., buffer=nl.shared_hbm)",
     "Allocate the same ones in the same order on both cores."},
    {"nki.strict", kIllegal,
     "With strict_frontend: a kernel uses Python that the device's own front "
     "end "
     "refuses, or evaluates otherwise (a warning), though it runs here. The "
     "ids "
     "are nki.strict.CONSTRUCT; docs/nki-strict-frontend.md lists them.",
     "[n * 2 for n in x.shape] in a kernel: nki.strict.comprehension",
     "Write what the report says instead.", Severity::kError, true},
    {"nki.values", kUnsupported,
     "Values of a tensor are asked for where there are none yet: in a device "
     "loop, in a kernel traced without values, before the other core has come "
     "as far.",
     "np.max(tile) in the body of nl.fori_loop",
     "Look at the tensor after the loop, or at the run: trnemu.debug, --dump."},
    {"nki.values_unwritten", kUninitialized,
     "A tensor is read on the host, in NumPy, and some of its elements were "
     "never written.",
     "np.max(nl.ndarray((4, 8), nl.float32))",
     "Write the tensor first; print(tensor) shows unwritten elements as --."},
    {"nki.while_condition", kIllegal,
     "nl.while_loop without a register to test: init is none, or the body "
     "returns none.",
     "nl.while_loop(4, body)",
     "nisa.register_alloc(value) for init; return the register with the next "
     "condition."},
    // For isa/diagnostic_catalog_nki.cc, sorted by id among the others.
    {"nki.ap_of_view", kIllegal,
     "ap of a part of a tensor that does not start where the tensor starts, "
     "under an API before 0.5, where ap is for whole tensors.",
     "tile[:, 2:].ap([[8, 4], [1, 2]])  # api=\"0.4\"",
     "Call ap on the tensor itself, with offset=."},
    {"nki.buffer_name", kIllegal,
     "The name of a memory region for buffer=; API 0.3 and later take the "
     "region.",
     "nl.ndarray((4, 8), nl.float32, buffer=\"sbuf\")", "buffer=nl.sbuf."},
    {"nki.ignored_argument", kIllegal,
     "Under API 0.2 an instruction is given an argument that it does not have, "
     "which is left out. SDK 2.27 left it out silently; later releases refuse "
     "it.",
     "nisa.tensor_copy(dst=a, src=b, dtype=nl.float32)  # api=\"0.2\"",
     "Leave it out.", Severity::kWarning, true},
    {"nki.later_version", kIllegal,
     "An instruction, or an argument of one, that the API version the kernel "
     "runs under does not have yet, or may not leave out yet.",
     "nisa.nc_matmul(..., accumulate=True)  # api=\"0.2\"",
     "Run the kernel under the version that has it: api=, TRNEMU_NKI_API, "
     "--api-version."},
    {"nki.mask", kIllegal,
     "mask= of an instruction under API 0.2; it is of the older neuronxcc.nki.",
     "nisa.tensor_copy(dst=a, src=b, mask=i < 3)  # api=\"0.2\"",
     "Slice the tensors to the part that is meant."},
    {"nki.memset_value", kIllegal,
     "memset of an integer tile by a float, from API 0.3 on.",
     "nisa.memset(int32_tile, 2.0)", "Give an int: nisa.memset(tile, 2)."},
    {"nki.older_behaviour", kUnsupported,
     "A call that an older API takes and treats otherwise than it says, or in "
     "a way that is not documented; no public kernel makes it.",
     "nisa.range_select(..., on_false_value=0.0)  # api=\"0.2\"",
     "Leave the argument out."},
    {"nki.output_hbm", kIllegal,
     "With strict_frontend: a kernel returns a tensor in nl.hbm. From API 0.3 "
     "on the compiler asks "
     "for nl.shared_hbm, says the migration guide; kernels of the same "
     "documentation return nl.hbm, so that it is a warning.",
     "out = nl.ndarray(shape, dtype, buffer=nl.hbm); ...; return out",
     "buffer=nl.shared_hbm.", Severity::kWarning, true},
    {"nki.removed", kIllegal, "An instruction that the API no longer has.",
     "nisa.tensor_copy_dynamic_src(dst=a, src=b)",
     "nisa.tensor_copy, with tensor.ap(pattern, scalar_offset=index)."},
};

}  // namespace

std::span<const CatalogEntry> NkiEntries() { return kEntries; }

}  // namespace trnemu::catalog
