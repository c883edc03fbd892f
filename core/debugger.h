// A run that stops where one asks for it: breakpoints, watches, single steps
// (docs/debugging.md).
#ifndef TRNEMU_CORE_DEBUGGER_H_
#define TRNEMU_CORE_DEBUGGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/debug_place.h"
#include "core/device.h"
#include "core/observer.h"
#include "core/runner.h"

namespace trnemu {

// Bytes that were watched and written, whether or not they changed.
struct WatchHit {
  int id = 0;
  std::string place;
  Dtype dtype = Dtype::kInvalid;  // invalid: bytes
  std::vector<std::byte> before, after;
  bool was_written = true;  // all of them, before
};

// Why a run has stopped.
struct DebugStop {
  enum class Kind : uint8_t { kStep, kBreak, kWatch, kEnd };
  Kind kind = Kind::kEnd;
  int id = 0;  // of the breakpoint
  // kBreak: what would come next. kStep, kWatch: what came last.
  const Instruction* instruction = nullptr;
  size_t core = 0;
  Effect::Kind effect = Effect::Kind::kInstruction;
  int32_t part = -1;
  Ticks time = 0;
  std::vector<WatchHit> hits;
};

struct WaitState {
  std::string semaphore;
  int64_t value = 0, wanted = 0;
};
struct EngineState {
  size_t core = 0;
  Engine engine = Engine::kUnknown;
  const Instruction* next = nullptr;  // null: it is done
  std::vector<WaitState> waits;       // that do not hold
};
// The sequencers that have a stream.
std::vector<EngineState> EnginesOf(const Runner& runner);
// Those that are not 0, by name and in the order of the program.
std::vector<std::pair<std::string, int64_t>> SemaphoresOf(const Runner& runner);
// "instruction 3, tensor_scalar (TensorScalar) on the vector engine of core 0,
// at k.py:7 in f".
std::string DescribeInstruction(const Program& program, size_t core,
                                const Instruction& i);

class Debugger : public Observer {
 public:
  // Prepares a run; nothing has been executed. The executable is kept by
  // reference.
  static absl::StatusOr<std::unique_ptr<Debugger>> Start(
      Executable& executable, const Inputs& inputs, const RunOptions& options);

  // Numbers that name them, from 1 on. debug.place.
  absl::StatusOr<int> Break(const std::string& text);
  absl::StatusOr<int> Watch(const std::string& text);
  int Watch(const TensorPlace& place);
  bool Remove(int id);

  // `n` more effects (core/observer.h), fewer if something stops it. In program
  // order a DMA is one. An error is a fault of the program: the run has ended.
  absl::StatusOr<DebugStop> Step(int64_t n);
  // To the next breakpoint or watch, or the end.
  absl::StatusOr<DebugStop> Continue();
  // To the end, past breakpoints and watches; once.
  absl::StatusOr<RunResult> Result();

  bool ended() const { return run_->ended(); }
  const Runner& runner() const { return run_->runner(); }
  // When what came last took effect, in simulated time.
  Ticks time() const { return time_; }

  bool PausesBefore(size_t core, const Instruction& i) override;
  absl::Status Before(const Effect& effect) override;
  absl::Status After(const Effect& effect) override;
  bool PausesAfter() override;

 private:
  struct Watched {
    int id = 0;
    WatchPlace place;
    std::vector<std::byte> before;
    bool was_written = true;
  };
  Debugger() = default;
  absl::StatusOr<DebugStop> GoOn();

  std::unique_ptr<Execution> run_;
  std::vector<std::pair<int, Breakpoint>> breakpoints_;
  std::vector<Watched> watches_;
  int next_id_ = 1;
  bool to_the_end_ = false;
  bool end_reported_ = false, failed_ = false, result_taken_ = false;
  int64_t steps_left_ = 0;               // 0: no limit
  bool stepped_ = false;                 // the last of them
  const Instruction* passed_ = nullptr;  // stopped before; goes this time
  size_t passed_core_ = 0;
  Ticks time_ = 0;
  DebugStop stop_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEBUGGER_H_
