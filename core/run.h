// What a run is asked for and what it gives.
#ifndef TRNEMU_CORE_RUN_H_
#define TRNEMU_CORE_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/numerics/options.h"
#include "isa/diagnostic.h"
#include "isa/program.h"

namespace trnemu {

class Timeline;  // core/profile/timeline.h

// Simulated time: femtoseconds, so that every clock and every measured law is
// exact to a billionth and sums are exact. Nine thousand seconds fit.
using Ticks = int64_t;
inline constexpr double kTicksPerNs = 1e6;

// Which legal order instructions and DMA parts take effect in.
enum class Order : uint8_t {
  kTimed,    // by simulated time
  kProgram,  // as the author wrote them, DMA at once
  kRandom,   // any legal interleaving, by seed
};

enum class Checks : uint8_t {
  kFull,    // everything this version can check
  kMemory,  // unwritten bytes
  kOff,     // rules and bounds only
};

// A tensor of the host. Row-major, `bytes` exactly the tensor's size.
struct HostArray {
  Dtype dtype = Dtype::kInvalid;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
struct InputArray {
  Dtype dtype = Dtype::kInvalid;
  // Where the file format cannot name the dtype (bf16, fp8): any dtype of the
  // same width is taken for it.
  bool raw_bits = false;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
};
using Inputs = std::map<std::string, InputArray, std::less<>>;
// Memory of the host for outputs, of their size, by name.
using OutputMemory = std::map<std::string, std::span<std::byte>, std::less<>>;

// What a program with loops may execute unless told otherwise: an endless loop
// ends, and no program that was meant comes near it (docs/limits.md).
inline constexpr int64_t kDefaultMaxInstructions = 1'000'000'000;

struct RunOptions {
  Checks checks = Checks::kFull;
  Order order = Order::kTimed;
  uint64_t schedule_seed = 0;    // kRandom
  bool time = true;              // false excludes Order::kTimed
  bool throttle = true;          // the tensor engine's limit after idling
  bool launch_overhead = false;  // the fixed time of a kernel launch
  bool values = true;            // false: time alone, no outputs
  bool strict = false;           // warnings are errors
  std::vector<std::string> allow;
  NumericsOptions numerics;
  uint64_t seed = 0;  // of the device's random generators
  std::optional<int64_t> max_instructions;
  std::optional<double> max_time_ns;       // simulated
  std::optional<double> max_wall_seconds;  // of the run, on the host's clock
  std::optional<int64_t> max_host_bytes;   // core/host_memory.h
  // Outputs that a run which succeeds writes there, not to its result.
  OutputMemory into;
  // Ends the run at the first instruction that makes a NaN or an infinity from
  // finite inputs (core/nan_watch.h); excludes values = false.
  bool stop_at_nan = false;
  // Filled with what happens and when; excludes other orders than kTimed.
  // Must outlive the run.
  Timeline* timeline = nullptr;
  // Called with one line per retired instruction and its effects.
  std::function<void(const std::string&)> log;
  // Asked every few thousand instructions; true stops the run (`limit`).
  std::function<bool()> interrupted;
};

// What one sequencer did.
struct EngineProfile {
  int64_t instructions = 0;
  Ticks busy = 0;     // issue intervals of its instructions
  Ticks waiting = 0;  // held by a semaphore
};

struct Profile {
  Ticks end = 0;  // when the last instruction or DMA part completed
  int64_t instructions = 0;
  // Indexed by engine; kDma: transfers and the busy time of its engines' mean.
  std::array<EngineProfile, 7> engines;
  std::map<std::string, int64_t> opcodes;     // instructions per opcode
  std::map<std::string, int64_t> operations;  // uses per operation
  int64_t dma_bytes = 0;
  int64_t hbm_read_bytes = 0;
  int64_t hbm_write_bytes = 0;
  int64_t matmul_flops = 0;  // 2 K M N of each operation, fp32 counted once
};

struct RunResult {
  std::string target;
  std::map<std::string, HostArray> outputs;  // empty with values off
  bool timed = true;
  double time_ns = 0;                   // 0 with time off
  std::vector<Diagnostic> diagnostics;  // warnings and allowed errors
  std::vector<std::string> allowed;     // ids that --allow let pass
  Profile profile;
};

// The table people read: target, time, instructions, engines; no newline at
// the end.
std::string Summary(const RunResult& result);

}  // namespace trnemu

#endif  // TRNEMU_CORE_RUN_H_
