// The hardware description: every constant of a generation that the rules,
// the allocator and the time model use.
//
// The numbers live in isa/hardware/{trn1,trn2,trn3}.textproto, each with its
// source and status; hardware.proto says what each one means and in which
// unit it is written. LoadHardware reads such a file into the plain structs
// below: every time in nanoseconds, every size in bytes unless a name says
// elements, every rate in bytes per nanosecond (which is GB/s). A field here
// has the meaning its namesake in hardware.proto is documented with.
#ifndef TRNEMU_ISA_HARDWARE_H_
#define TRNEMU_ISA_HARDWARE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "isa/vocabulary.h"

namespace trnemu {

// The value is the NeuronCore generation, as rules and features count them.
enum class Target : uint8_t { kTrn1 = 2, kTrn2 = 3, kTrn3 = 4 };
inline constexpr std::array<Target, 3> kTargets = {Target::kTrn1, Target::kTrn2,
                                                   Target::kTrn3};
inline constexpr Target kDefaultTarget = Target::kTrn2;

// "trn1", "trn2", "trn3".
std::string_view Name(Target target);
// Also accepts "gen2".."gen4" and "inf2", which is a trn1 core.
std::optional<Target> TargetFromName(std::string_view name);

// How a constant is known, from the firmest to the weakest.
enum class ConstantStatus : uint8_t {
  kUnset = 0,
  kDocumented = 1,  // a vendor statement
  kMeasured = 2,    // on silicon, by the cited source
  kDerived = 3,     // computed from documented or measured figures
  kFitted = 4,      // chosen so that the model meets measured figures
  kAssumed = 5,     // nothing public says; a plausible value
};
inline constexpr std::array<std::string_view, 6> kConstantStatusNames = {
    "unset", "documented", "measured", "derived", "fitted", "assumed"};

// One line of the description as it was written, for `trnemu info`.
struct ConstantInfo {
  std::string path;  // e.g. "memory.psum_banks", "law[3].fixed"
  double value = 0;  // in `unit`; 0 or 1 for a feature, whose unit is "bool"
  std::string unit;
  ConstantStatus status = ConstantStatus::kUnset;
  std::string source;
  std::string note;
};

struct MemoryLimits {
  int64_t partitions = 0;  // of SBUF and of PSUM
  int64_t sbuf_partition_bytes = 0;
  int64_t sbuf_usable_partition_bytes = 0;
  int64_t sbuf_usable_partition_bytes_with_swdge = 0;
  int64_t psum_partition_bytes = 0;
  int64_t psum_banks = 0;
  int64_t psum_bank_bytes = 0;  // of one partition
  int64_t cores_per_device = 0;
  int64_t hbm_bytes = 0;  // of a device
  int64_t hbm_bytes_per_core = 0;
  int64_t hbm_stacks = 0;       // of a device
  int64_t hbm_stack_cores = 0;  // cores that share a stack
  double hbm_bandwidth = 0;     // bytes per ns, of a device
  double hbm_bandwidth_per_core = 0;
  double hbm_stack_bandwidth = 0;  // hbm_bandwidth / hbm_stacks
};

// Per engine, indexed by trnemu::Engine; kUnknown and kDma are all zero.
struct EngineTiming {
  double clock_ghz = 0;         // 0: sync, whose clock is unpublished
  double minimum_issue_ns = 0;  // least interval between two instructions
  double drain_ns = 0;          // from the last element read to it written
  // What strides cost, in elements' time per excess sector (CostLaw).
  double strided_read = 1;
  double strided_write = 1;
  double wide_stride_ns = 0;  // per element and byte of a wide stride
};

struct AccessLimits {
  int64_t max_count = 0;  // of one dimension
  int64_t min_step = 0;   // elements
  int64_t max_step = 0;
  int64_t max_free_dimensions = 0;
  int64_t sbuf_free_max = 0;  // elements a partition
  int64_t psum_free_max = 0;
  int64_t sector_bytes = 0;
  // Innermost steps between these cost wide_stride_ns for each byte.
  int64_t wide_stride_from = 0;
  int64_t wide_stride_to = 0;
};

struct TensorEngineLimits {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t tile_min = 0;         // smallest row or column tile
  int64_t stationary_max = 0;   // columns (elements a partition)
  int64_t moving_max = 0;       // elements a partition, fp32 result
  int64_t moving_max_bf16 = 0;  // bf16 result
  // While throttled, what streams through the array takes 1 / throttled_rate
  // times as long. 1: this generation does not throttle.
  double throttled_rate = 0;
  double throttle_utilization = 0;  // unless busy for more than this share ...
  double throttle_window_ns = 0;    // ... of this window, it throttles
  // With fewer rows of the array the time it is busy counts in proportion.
  int64_t throttle_full_rows = 0;
};

struct SequencerLimits {
  int64_t registers = 0;   // 32-bit, of each sequencer
  int64_t semaphores = 0;  // of a core
  int64_t semaphore_max = 0;
  double hand_off_ns = 0;  // semaphore signalled to waiter on another engine
  double launch_ns = 0;    // fixed device time of one kernel launch
};

// Where a DMA moves bytes: the direction selects the law.
enum class DmaDirection : uint8_t {
  kLoad = 0,    // HBM to SBUF or PSUM
  kStore = 1,   // SBUF or PSUM to HBM
  kHbm = 2,     // HBM to HBM
  kOnChip = 3,  // SBUF or PSUM to SBUF or PSUM
};
inline constexpr std::array<std::string_view, 4> kDmaDirectionNames = {
    "load", "store", "hbm", "on_chip"};

// The time of one transfer. The trigger retires after trigger_ns; the payload
// starts start_ns after the trigger; a part of n rows of b bytes that has its
// DMA engine to itself takes
//   payload_fixed_ns + n * min(b * p, max(efficient_row_bytes * p, b / rate))
// with p = payload_ns_per_byte, and keeps the engine busy for
//   n * (descriptor_ns for each packet of a row
//        + min(b / s, max(efficient_row_bytes / s, b / rate)))
// with s = short_row_rate;
// the semaphore rises notify_ns after the payload's end. Two transfers of one
// hardware descriptor generator start at least spacing_ns apart.
struct DmaLaw {
  double spacing_ns = 0;
  double start_ns = 0;
  double payload_fixed_ns = 0;
  double payload_ns_per_byte = 0;
  double notify_ns = 0;
};

struct DmaLimits {
  int64_t engines = 0;  // of a core
  int64_t queues_per_engine = 0;
  int64_t partitions_per_engine = 0;
  int64_t descriptor_dimensions = 0;
  int64_t packet_bytes = 0;
  int64_t efficient_row_bytes = 0;
  int64_t hwdge_units = 0;    // of a core; 0: no hardware generation
  int64_t priorities = 0;     // 1: no priorities
  double peak_rate = 0;       // documented, bytes per ns, one engine
  double sustained_rate = 0;  // documented as usable
  double rate = 0;            // what the time model takes
  double short_row_rate = 0;  // of rows up to efficient_row_bytes
  double descriptor_ns = 0;   // of an engine, besides its bytes
  // Between transfers of one sequencer: software makes descriptors, or they
  // were made before the run.
  double software_spacing_ns = 0;
  double static_spacing_ns = 0;
  double transpose_rate_load = 0;     // share of the copy rate, HBM to SBUF
  double transpose_rate_on_chip = 0;  // share of the copy rate
  double accumulate_rate = 0;         // share of the copy rate
  double trigger_ns = 0;              // busy time of the triggering sequencer
  double trigger_gpsimd_ns = 0;       // the same when it is gpsimd's
  std::array<DmaLaw, 4> laws;         // indexed by DmaDirection
};

struct Features {
  bool fp8_double_row = false;
  bool fp8_e4m3fn_matmul = false;
  bool mx_matmul = false;
  bool exact_tensor_transpose = false;  // is_transpose moves bits
  bool fast_fp32_transpose = false;
  bool bf16_psum = false;
  bool multi_bank_matmul = false;     // output crosses PSUM banks
  bool psum_accumulates_any = false;  // onto another engine's values
  bool background_transpose = false;
  bool activation_bias_immediate = false;
  bool activation2 = false;
  bool scalar_bit_copy = false;
  bool scalar_tensor_scalar = false;
  bool scalar_16bit_mode = false;
  bool vector_16bit_mode = false;
  bool vector_exponential = false;
  bool quantize_mx = false;
  bool range_select = false;
  bool nonzero_with_count = false;
  bool rng_on_gpsimd = false;
  bool rand2 = false;
  bool abs_max_min = false;  // and square, relu as a tensor_scalar op0
  bool tensor_indirection = false;
  bool hardware_dge = false;
  bool dge_transpose = false;
  bool dma_priority = false;
  bool lnc2 = false;  // and sendrecv, core_barrier
  bool vector_gpsimd_parallel_sbuf = false;
  bool vector_scalar_parallel_psum = false;
};

// What a row of the cost table asks of an instruction; it may ask for several.
// "16-bit" is a storage width of two bytes, whatever the type.
enum class CostCondition : uint8_t {
  kAny = 0,
  kAll16BitSbuf = 1,         // every tensor operand: 16-bit, in SBUF
  kAll16Bit = 2,             // every tensor operand: 16-bit
  kSource16Bit = 3,          // the main input is 16-bit
  kDest16Bit = 4,            // the output is 16-bit
  kDest8Bit = 5,             // the output is 8-bit
  kDestInteger = 6,          // the output is an integer
  kPsumOperand = 7,          // any tensor operand lies in PSUM
  kPsumSource = 8,           // the main input lies in PSUM
  kPsumDest = 9,             // the output lies in PSUM
  kPsumAndSbufSources = 10,  // one input in PSUM, another in SBUF
  kContiguous = 11,          // every tensor operand is, within a partition
  kDynamic = 12,     // an operand's place depends on a register or index
  kEvenCount = 13,   // an even number of elements a partition
  kMatmulFp32 = 14,  // the tile loaded or moved is fp32 (one of 2 passes)
  kTranspose = 15,   // the tensor engine's transpose mode
  kOnezero = 16,     // either tile of a multiplication is hinted to be 0 or 1
  kZeroFill16Bit = 17,  // memset of 16-bit elements with 0
  // The operation is one the documents name as fast: TensorTensor add,
  // subtract, multiply; ScalarTensorTensor subtract then multiply;
  // TensorReduce add, maximum.
  kFastAlu = 18,
  kRsqrt = 19,  // op0 of a TensorScalar is rsqrt
};
inline constexpr std::array<std::string_view, 20> kCostConditionNames = {
    "any",
    "all_16bit_sbuf",
    "all_16bit",
    "source_16bit",
    "dest_16bit",
    "dest_8bit",
    "dest_integer",
    "psum_operand",
    "psum_source",
    "psum_dest",
    "psum_and_sbuf_sources",
    "contiguous",
    "dynamic",
    "even_count",
    "matmul_fp32",
    "transpose",
    "onezero",
    "zero_fill_16bit",
    "fast_alu",
    "rsqrt"};

// The conditions that hold of one instruction; kAny need not be added.
using CostFacts = uint32_t;
constexpr CostFacts Fact(CostCondition condition) {
  return CostFacts{1} << static_cast<unsigned>(condition);
}
// Activation functions, as a set.
using FunctionSet = uint32_t;
constexpr FunctionSet Member(ActFunction function) {
  return FunctionSet{1} << static_cast<unsigned>(function);
}
static_assert(kActFunctions.size() < 32);

// The time of one instruction of n elements a partition (of the main input;
// memset and iota: of the output; LoadStationary: stationary columns; TopK:
// n + K / 4 as the instruction names them), with k tensors where it takes
// numbers too (scale, bias, the seed of a scan):
//   issue      = issue_fixed_ns + extra
//                + min(issue_maximum_ns,
//                      max(issue_minimum_ns, m * issue_per_element_ns))
//   completion = completion_fixed_ns + extra + array_fixed_ns
//                + max(completion_minimum_ns, m * completion_per_element_ns)
//   extra      = per_operand_ns * max(0, k - operands_included)
// After `issue` the engine may start its next instruction; at `completion` the
// results are written and semaphores are signalled. An fp32 matmul is two
// passes, each costed by itself.
//
// Strides: memory is fetched in sectors of 16 bytes. m is n plus, of reads and
// of writes whichever costs more, strided_read or strided_write times
// max(0, 2 * sectors - n), where `sectors` is how many of them the elements of
// a partition touch; a contiguous tile touches no more than n / 2 of them
// unless its elements are wider than 8 bytes. Scalar engines add
// wide_stride_ns per element and byte of the step between wide_stride_from and
// wide_stride_to.
//
// The tensor engine has two paths: a LoadStationary is busy on the load path
// and a MultiplyMoving on the array, each for its issue interval. A load runs
// beside the multiplication before it (one load ahead); a multiplication
// starts once the interval of its load has passed. Throttling stretches the
// parts per element and array_fixed_ns, nothing else.
struct CostLaw {
  std::string opcode;                // CamelCase, as in program.proto
  Engine engine = Engine::kUnknown;  // kUnknown: whichever runs it
  CostFacts when = 0;                // all of them must hold
  FunctionSet functions = 0;         // one of them; 0: whatever it is
  double issue_fixed_ns = 0;
  double issue_per_element_ns = 0;
  double issue_minimum_ns = 0;
  double issue_maximum_ns = 0;  // 0: none
  double completion_fixed_ns = 0;
  double completion_per_element_ns = 0;
  double completion_minimum_ns = 0;
  double array_fixed_ns = 0;
  double per_operand_ns = 0;
  int64_t operands_included = 0;
  // VectorTranspose: the least from the start of the one before if that was of
  // other quadrants.
  double quadrant_change_ns = 0;

  bool unconditional() const { return when == 0 && functions == 0; }
};

struct Hardware {
  Target target = kDefaultTarget;
  std::string name;        // "trn2"
  std::string core;        // "NeuronCore-v3"
  int64_t generation = 0;  // 3
  MemoryLimits memory;
  std::array<EngineTiming, kEngineNames.size()> engines;
  AccessLimits access;
  TensorEngineLimits tensor;
  SequencerLimits sequencer;
  DmaLimits dma;
  Features features;
  // Grouped by opcode and engine, rows of a group in the file's order.
  std::vector<CostLaw> laws;
  // Indexed by ActFunction: the table set it needs, 0 for none. Functions
  // with the same number share a table.
  std::array<uint8_t, kActFunctions.size() + 1> activation_table = {};
  std::vector<std::string> activation_table_names;  // [0] is ""
  std::vector<ConstantInfo> constants;              // in the file's order

  const EngineTiming& engine(Engine e) const {
    return engines[static_cast<size_t>(e)];
  }
  const DmaLaw& dma_law(DmaDirection d) const {
    return dma.laws[static_cast<size_t>(d)];
  }
};

// The description built into the binary. The reference stays valid.
const Hardware& HardwareFor(Target target);

// Reads a description in text format. Unknown fields, missing constants,
// values without source or status, a unit other than the field's: an
// InvalidArgument error that names the field by its path.
absl::StatusOr<Hardware> LoadHardware(std::string_view textproto);

// Every constant of the description, in its order.
std::vector<ConstantInfo> ListConstants(const Hardware& hardware);

// The rows that cost `opcode` on `engine`; empty when there are none. The
// span lives as long as `hardware`: look it up once per opcode and engine.
std::span<const CostLaw> LawsFor(const Hardware& hardware,
                                 std::string_view opcode, Engine engine);
// The first row whose conditions hold, or null. `functions`: of an activation,
// its own.
const CostLaw* FindLaw(std::span<const CostLaw> rows, CostFacts facts,
                       FunctionSet functions = 0);
const CostLaw* FindLaw(const Hardware& hardware, std::string_view opcode,
                       Engine engine, CostFacts facts,
                       FunctionSet functions = 0);

// The files of isa/hardware/, by stem: {"trn1", text}, ... Generated by
// trnemu_embed (cmake/embed.cmake).
const std::vector<std::pair<std::string_view, std::string_view>>&
EmbeddedHardwareFiles();

}  // namespace trnemu

#endif  // TRNEMU_ISA_HARDWARE_H_
