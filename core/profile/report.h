// What a timeline says about a run: idle times and their causes, the critical
// path, metrics, memory over time, recommendations. docs/profile.md has the
// formulas.
#ifndef TRNEMU_CORE_PROFILE_REPORT_H_
#define TRNEMU_CORE_PROFILE_REPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/profile/facts.h"
#include "core/profile/timeline.h"
#include "core/run.h"
#include "isa/hardware.h"
#include "isa/hardware_diff.h"
#include "isa/program.h"

namespace trnemu {

// What an engine waits for, or what a piece of the critical path is.
enum class Cause : uint8_t {
  kNone = 0,
  kLoad,    // a DMA from HBM
  kStore,   // to HBM
  kHbm,     // within HBM
  kTiles,   // between tiles, or cores
  kTensor,  // an instruction of another engine
  kVector,
  kScalar,
  kGpsimd,
  kSync,
  kCore,        // an instruction or DMA of the other core
  kDependence,  // a result of its own engine, or a path of its own that is busy
  kHandOff,     // from a signal to the instruction that waits for it
  kLaunch,      // the fixed time of a launch, before the first instruction
};
inline constexpr std::array<std::string_view, 14> kCauseNames = {
    "none",       "dma load",   "dma store", "dma hbm",        "dma on-chip",
    "tensor",     "vector",     "scalar",    "gpsimd",         "sync",
    "other core", "dependence", "hand-off",  "launch overhead"};
constexpr std::string_view Name(Cause c) {
  return kCauseNames[static_cast<size_t>(c)];
}

// A time in which an engine did nothing, before an instruction.
struct Stall {
  uint8_t core = 0;
  Engine engine = Engine::kUnknown;
  Ticks from = 0, to = 0;
  Cause cause = Cause::kNone;
  int32_t row = -1;           // of the instruction that waited
  int32_t producer = -1;      // of the instruction it waited for
  int32_t producer_dma = -1;  // of the DMA part
};

// A piece of the critical path; one begins where the one before it ends, and
// together they are the whole time.
struct PathStep {
  enum class Kind : uint8_t { kInstruction, kDma, kWait };
  Kind kind = Kind::kWait;
  Ticks from = 0, to = 0;
  // Of the instruction or DMA part; of a wait, of the instruction after it.
  int32_t row = -1;
  Cause cause = Cause::kNone;  // what its time counts for
};

struct EngineTotals {
  uint8_t core = 0;
  Engine engine = Engine::kUnknown;  // kDma: the 16 engines together
  int64_t instructions = 0;          // kDma: transfers
  Ticks busy = 0;     // issue intervals; kDma: mean of the engines
  Ticks active = 0;   // at least one instruction is under way
  Ticks waiting = 0;  // held by a semaphore
  Ticks throttled = 0;
  Ticks table_load = 0;
};

struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
  std::string meaning;
};

struct CauseTotal {
  uint8_t core = 0;
  Engine engine = Engine::kUnknown;  // kUnknown: of the critical path
  Cause cause = Cause::kNone;
  int64_t count = 0;
  Ticks total = 0;
};

struct OperationTotal {
  std::string operation;
  int64_t count = 0;
  Ticks busy = 0;
};

// A tile from the first to the last time that something uses it.
struct TileLife {
  uint32_t tensor = 0;
  Ticks from = 0, to = 0;
};

// A value that holds from a time to the next one's.
struct Series {
  std::vector<Ticks> times;
  std::vector<double> values;
};

struct Recommendation {
  std::string id, title, text, evidence;
  Ticks saves = 0;  // at most
};

struct ProfileReport {
  // The program and its hardware stay alive with it.
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Hardware> hardware;
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const ProgramFacts> facts;
  std::string name;  // what to call the program
  // What the hardware differs in from the one that is built in.
  std::vector<HardwareChange> hardware_changes;
  Ticks end = 0;

  std::vector<Metric> summary;
  std::vector<EngineTotals> engines;
  std::vector<Stall> stalls;
  std::vector<CauseTotal> stall_totals;  // longest first
  std::vector<PathStep> critical_path;   // in the order of time
  std::vector<CauseTotal> critical_totals;
  std::vector<OperationTotal> operations;  // longest first
  std::vector<TileLife> tiles;
  // By core; HBM in bytes a ns of all cores.
  std::vector<Series> sbuf_bytes, psum_bytes;
  Series hbm_bandwidth;
  std::vector<Recommendation> recommendations;  // most saved first

  const InstructionRecord& row(int32_t r) const {
    return timeline->instructions()[static_cast<size_t>(r)];
  }
  const DmaRecord& part(int32_t r) const {
    return timeline->dma()[static_cast<size_t>(r)];
  }
  const InstructionFacts& FactsOf(const InstructionRecord& r) const {
    return facts->Of(r.core, *r.instruction);
  }
  // 0 if there is none of that name.
  double metric(std::string_view metric_name) const;
  // Of the whole time, 0 to 1.
  double ShareOf(Ticks t) const {
    return end == 0 ? 0 : static_cast<double>(t) / static_cast<double>(end);
  }
};

// `timeline` is what a run of `program` has left, `end` its time.
ProfileReport MakeProfileReport(std::shared_ptr<const Program> program,
                                std::shared_ptr<const Hardware> hardware,
                                std::shared_ptr<const Timeline> timeline,
                                Ticks end, std::string name);

// The same on a terminal: engines, causes of idle time, the critical path by
// kind, recommendations; no newline at the end.
std::string ProfileText(const ProfileReport& report);
// docs/profile.md describes it.
std::string ProfileJson(const ProfileReport& report);
// Chrome's trace events, for Perfetto.
std::string ProfileTrace(const ProfileReport& report);
// The tables of the vendor's profiler that mean the same here: name, text.
std::vector<std::pair<std::string, std::string>> ProfileTables(
    const ProfileReport& report);

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_REPORT_H_
