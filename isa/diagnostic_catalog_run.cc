// Diagnostics of executing programs.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"memory.read_unwritten", kUninitialized,
     "An instruction reads bytes that nothing has written in this run. On a "
     "device they hold whatever an earlier program left; if allowed, they are "
     "zero here.",
     "a tile of 128 partitions of which 127 were written, then reduced",
     "Write all that is read, or narrow the view. With explicit "
     "synchronisation: wait for the instruction that writes them.",
     Severity::kError, true},
    {"register.unset", kUninitialized,
     "An instruction reads a register that nothing has given a value.",
     "r = register_alloc(); register_store(t, r)",
     "Give register_alloc a value, or move or load one first."},
    {"unsupported.values_off", kUnsupported,
     "With values off nothing is computed, but simulated time depends on "
     "values: the program loads a register from memory, moves an engine's "
     "operand by an index in memory, or leaves a transfer out if such an index "
     "is out of bounds. (Gathers and scatters take as long whatever their "
     "indices are, and run.)",
     "trnemu run --values off of a program with register_load",
     "Run with values on, or give the count or index as a number or a register "
     "that the program computes."},
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
    {"vector.accumulator_unset", kUninitialized,
     "An instruction adds to, or reads, accumulators of the vector engine "
     "whose values are not known: nothing has reset them in this run, or an "
     "instruction with reduce_cmd=idle, which may modify them, ran since.",
     "exponential(reduce_res=r) without reduce_cmd, which is idle by default",
     "Pass reduce_cmd=\"reset_reduce\" to start with this instruction's "
     "values.",
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
    {"nc_matmul.duplicate_elements", kUnspecified,
     "With accumulate=False, or is_transpose, dst has an element more than "
     "once: no document says which product stays.",
     "nc_matmul(dst=t.ap([[16, 64], [0, 4], [1, 16]]), accumulate=False)",
     "Leave accumulate out: products for one place are then added up.",
     Severity::kError, true},
    {"nc_matmul.transpose_accumulate", kUnspecified,
     "is_transpose with accumulate=True: no document says what adding to the "
     "bits of a transpose gives; they overwrite.",
     "nc_matmul(is_transpose=True, accumulate=True)",
     "Leave accumulate out, or is_transpose.", Severity::kWarning, true},
    {"quantize_mx.not_finite", kUnspecified,
     "quantize_mx of a NaN or an infinity: no document says what its group of "
     "32 becomes; here the scale is 255 and the elements are NaN.",
     "quantize_mx of a tile with an infinity",
     "Clamp src to finite values first.", Severity::kWarning, true},
    {"nc_matmul.transpose_moving", kUnspecified,
     "is_transpose with a moving tile that is no identity: no document says "
     "what the device gives.",
     "nc_matmul(is_transpose=True) with a moving tile of ones",
     "Pass an identity, or leave is_transpose out.", Severity::kWarning, true},
    {"operand.overlap", kUnspecified,
     "An instruction writes an element of dst where it reads a later element "
     "of another operand: no document says which value that sees. Here each "
     "row is read before it is written.",
     "tensor_copy(dst=t[:, 1:24], src=t[:, 0:23])",
     "Write to another tile, or in place: element onto element.",
     Severity::kWarning, true},
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
    {"load_stationary.shape", kIllegal,
     "A stationary tile does not fit its tile of the array, or there is no "
     "such tile: 32, 64 or 128 rows and columns, from multiples of them on.",
     "an explicit program that loads 64 partitions into 32 rows",
     "Build with nc_matmul, which checks tile_size and tile_position."},
    {"load_stationary.double_row", kIllegal,
     "perf_mode double_row with a tile that is not float8, or whose first free "
     "dimension is not 2, or on trn1.",
     "an explicit program with double_row and bfloat16",
     "Build with nc_matmul, which checks the tiles."},
    {"multiply_moving.nothing_loaded", kUninitialized,
     "The tensor engine multiplies with a tile of its array in which nothing "
     "is loaded, or no longer: a load replaces what it overlaps.",
     "an explicit program without LoadStationary",
     "Load the stationary tile first; nc_matmul does."},
    {"multiply_moving.mode", kIllegal,
     "A multiplication does not match the pass, the transpose mode, the "
     "perf_mode or the kind (MX or not) of what is loaded.",
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
    {"bn_stats.no_odd_elements", kUnspecified,
     "bn_stats of one element a partition: there is no element at an odd "
     "position, and no document says what the mean of none is; it was taken as "
     "0.",
     "bn_stats of a (128, 1) tile", "Give it two elements or more.",
     Severity::kWarning, true},
    {"bn_aggr.no_count", kUnspecified,
     "The counts that bn_aggr reads add up to 0, which no document specifies; "
     "mean and variance are 0 divided by 0.",
     "bn_aggr of a tile of zeros",
     "Aggregate the statistics of at least one element.", Severity::kWarning,
     true},
    {"max8.nan", kUnspecified,
     "max8 reads NaN, which no document orders; it was taken as less than "
     "every number.",
     "max8 of a row with a NaN", "Replace NaN first.", Severity::kWarning,
     true},
    {"match_values.nan", kUnspecified,
     "A search looks for NaN; no document says what equals it; it was taken to "
     "equal nothing.",
     "nc_find_index8 with NaN in vals", "Replace NaN first.",
     Severity::kWarning, true},
    {"match_values.nothing_loaded", kUninitialized,
     "A search runs for partitions whose values to look for were not loaded.",
     "an explicit program with FindIndex8 alone",
     "Load the values first; nc_find_index8 and nc_match_replace8 do."},
    {"nc_find_index8.too_few", kUnspecified,
     "vals repeats a value more often than data has it. Each takes the next "
     "occurrence; no document says what is left for the last; it was taken as "
     "not found, all ones.",
     "vals with two 8s, data with one",
     "Look for a value at most as often as it occurs.", Severity::kWarning,
     true},
    {"nc_match_replace8.absent", kUnspecified,
     "dst_idx is asked for, and data does not have one of vals: its index is "
     "undefined; it was taken as all ones.",
     "vals with a 5, data without",
     "Leave out dst_idx, or look only for what "
     "data has.",
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
     "what, who could signal it and what that is stuck behind, the cycle if "
     "there is one, and where a semaphore's value came from and went; a "
     "core_barrier or sendrecv that the other core never comes to is named as "
     "such.",
     "a wait for 2 of a semaphore that is signalled once",
     "Add the missing signal, or wait for the value that is reached."},
    {"sendrecv.pairing", kDeadlock,
     "The two cores' sendrecvs that meet name partners that do not name them: "
     "a device waits forever. The k-th sendrecv of a pipe_id and dma_engine on "
     "core 0 meets the k-th on core 1.",
     "core 0 with send_to_rank=1, recv_from_rank=1, core 1 with send_to_rank=1",
     "Let each core send to the other and receive from it."},
    {"sendrecv.mismatch", kIllegal,
     "The tiles of two sendrecvs that meet differ in their partitions, their "
     "elements per partition, their dtype, or the number of their queues.",
     "core 0 sends (128, 512) float32, core 1 (128, 256)",
     "Exchange tiles of the same shape and dtype, or use another pipe_id for "
     "what belongs elsewhere."},
    {"sendrecv.overlap", kUnspecified,
     "A sendrecv's src and dst share bytes without being the same tile: its "
     "parts run at the same time, so what is sent depends on what has come.",
     "sendrecv(src=t[:64], dst=t[1:65], ...)",
     "Receive into another tile, or into src itself.", Severity::kWarning,
     true},
    {"limit.instructions", kLimit,
     "The run has executed as many instructions as --max-instructions "
     "allows; a program with loops may execute 1000000000 unless told "
     "otherwise.",
     "an endless loop", "Find the loop that does not end, or raise the limit."},
    {"limit.profile_records", kLimit,
     "A profile has a record of every instruction and DMA part that a run "
     "executes, and the run executes more than --max-records allows "
     "(8000000 unless told otherwise).",
     "trnemu profile of a loop of a hundred million iterations",
     "Profile fewer iterations, or raise the limit."},
    {"limit.wall_time", kLimit,
     "The run has taken as long on this host as --max-wall-time allows.",
     "--max-wall-time 0.5", "Raise the limit, or run less of the program."},
    {"limit.simulated_time", kLimit,
     "The run has reached the simulated time that --max-time-ns allows, or the "
     "most that is counted: 4611 s, and 288 s of one instruction.",
     "--max-time-ns 1000", "Raise the limit; look at what --hardware changes."},
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
