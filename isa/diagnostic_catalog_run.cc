// Diagnostics of executing programs.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"memory.read_unwritten", kUninitialized,
     "An instruction reads bytes that nothing has written in this run. On a "
     "device they hold whatever an earlier program left.",
     "a tile of 128 partitions of which 127 were written, then reduced",
     "Write all that is read, or narrow the view. With explicit "
     "synchronisation: wait for the instruction that writes them.",
     Severity::kError, true},
    {"register.unset", kUninitialized,
     "An instruction reads a register that nothing has given a value.",
     "r = register_alloc(); register_store(t, r)",
     "Give register_alloc a value, or move or load one first."},
    {"unsupported.values_off", kUnsupported,
     "With values off nothing is computed, but the program loads a register "
     "from memory and control or addresses depend on it.",
     "trnemu run --values off of a program with register_load",
     "Run with values on."},
    {"internal.register_instruction", kInternal,
     "An instruction on registers reached an engine's datapath: a bug in "
     "trnemu.",
     "", "Report it, with the program."},
    {"activation.accumulator_unset", kUninitialized,
     "An activation adds to, or reads, accumulators of the scalar engine that "
     "nothing has reset in this run. They outlive a program, so a device gives "
     "what is left over.",
     "activation(reduce_op=\"add\", reduce_res=r) without reduce_cmd, which is "
     "idle by default",
     "Pass reduce_cmd=\"reset_reduce\" to sum this instruction's values.",
     Severity::kError, true},
    {"output.unwritten", kUninitialized,
     "The run ended, and part of an output was never written.",
     "an output of 512 columns of which 500 were stored",
     "Write every element of the output, or make it smaller."},
    {"nc_matmul.accumulate_unwritten", kUninitialized,
     "accumulate=True adds to PSUM that nothing has written since its "
     "allocation; the device adds to what is there.",
     "the first matmul of a group with accumulate=True",
     "Let the first matmul overwrite: accumulate=False, or leave it out.",
     Severity::kError, true},
    {"nc_matmul.accumulate_on_other", kUnspecified,
     "On trn1 and trn2, accumulating onto PSUM that something else than a "
     "matmul wrote last is undefined.",
     "memset a PSUM tile, then nc_matmul(accumulate=True)",
     "Let the first matmul overwrite, and add the other value afterwards.",
     Severity::kError, true},
    {"nc_matmul.double_row", kUnsupported,
     "perf_mode double_row is part of the device, but this version of trnemu "
     "does not execute it.",
     "nc_matmul(perf_mode=\"double_row\")",
     "Split the contraction into two matmuls."},
    {"nc_matmul.transpose_moving", kUnspecified,
     "is_transpose with a moving tile that is no identity: no document says "
     "what the device gives.",
     "nc_matmul(is_transpose=True) with a moving tile of ones",
     "Pass an identity, or leave is_transpose out.", Severity::kWarning, true},
    {"dma_copy.overlap", kUnspecified,
     "A DMA's source and destination share bytes: its parts run at the same "
     "time, so what it reads depends on what has been written.",
     "dma_copy(dst=t[1:], src=t[:-1])",
     "Go through another tile, or use tensor_copy.", Severity::kWarning, true},
    {"nc_transpose.vector_block", kIllegal,
     "The vector engine transposes at most 32 x 32 elements.",
     "nc_transpose of (64, 64) with dst in SBUF",
     "Put dst into PSUM, so that the tensor engine transposes."},
    {"load_stationary.pass", kIllegal,
     "A float32 tile is loaded in passes 1 and 2, other dtypes in pass 0.",
     "an explicit program with one pass of float32",
     "Build with nc_matmul, which emits both."},
    {"multiply_moving.nothing_loaded", kUninitialized,
     "The tensor engine multiplies before anything was loaded.",
     "an explicit program without LoadStationary",
     "Load the stationary tile first; nc_matmul does."},
    {"multiply_moving.tile_position", kUnsupported,
     "A multiplication uses another tile of the array than the last load; "
     "trnemu keeps one.",
     "loads for two row tiles, then two multiplications",
     "Multiply right after each load."},
    {"multiply_moving.mode", kIllegal,
     "A multiplication does not match the pass or the transpose mode of what "
     "is loaded.",
     "pass HI after a load for pass LO",
     "Build with nc_matmul, which pairs them."},
    {"multiply_moving.shape", kIllegal,
     "The tiles of a multiplication do not fit what is loaded.",
     "64 partitions moved through 128 rows",
     "Use the contraction size of the stationary tile."},
    {"activation.outside_valid_range", kUnspecified,
     "An activation function has an input outside its documented valid "
     "range, where its result is not specified.",
     "sin of 9.0 (valid: -pi to pi)", "Reduce the argument first.",
     Severity::kWarning, true},
    {"activation.prelu_slope", kUnspecified,
     "prelu has a negative input, but the operation has no slope; it was "
     "taken as 0.",
     "activation(op=\"prelu\") of -1.0", "Use relu, or activate2 on trn3.",
     Severity::kWarning, true},
    {"cast.nan_to_integer", kUnspecified,
     "NaN is cast to an integer, which no document specifies; it was taken "
     "as 0.",
     "tensor_copy of float32 NaN to int32", "Replace NaN before the cast.",
     Severity::kWarning, true},
    {"cast.packed", kUnspecified,
     "Arithmetic on a packed dtype, whose elements hold four numbers, is not "
     "specified.",
     "tensor_tensor add of float8_e4m3fn_x4",
     "View the bytes as an integer dtype, or copy to the same dtype."},
    {"semaphore.range", kIllegal,
     "A signal takes a semaphore outside its range.",
     "decrementing a semaphore that is 0",
     "Balance signals and waits; consume what was waited for."},
    {"deadlock", kDeadlock,
     "Nothing can proceed, and something is left: every engine waits for a "
     "semaphore that nobody will signal. The report lists who waits for "
     "what, and who could signal it.",
     "a wait for 2 of a semaphore that is signalled once",
     "Add the missing signal, or wait for the value that is reached."},
    {"limit.instructions", kLimit,
     "The run has executed as many instructions as --max-instructions "
     "allows.",
     "an endless loop with --max-instructions 1000000",
     "Raise the limit, or find the loop that does not end."},
    {"limit.simulated_time", kLimit,
     "The run has reached the simulated time that --max-time-ns allows.",
     "--max-time-ns 1000", "Raise the limit."},
    {"limit.interrupted", kLimit,
     "The run was asked to stop, by Ctrl-C or by its caller.", "Ctrl-C",
     "Run it again."},
    {"hbm.capacity", kCapacity,
     "A tensor does not fit into what is free of HBM.",
     "loading a second program of 60 GB",
     "Unload programs, or make the tensors smaller."},
};

}  // namespace

std::span<const CatalogEntry> RunEntries() { return kEntries; }

}  // namespace trnemu::catalog
