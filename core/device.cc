#include "core/device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/floating_point.h"
#include "core/host_data.h"
#include "core/host_memory.h"
#include "core/machine.h"
#include "core/nan_watch.h"
#include "core/runner.h"
#include "core/time_model.h"
#include "isa/builder.h"
#include "isa/diagnostic_catalog.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

class OneRun;

// The scratch of programs that are gone, for the next ones, as their memories
// (core/machine.cc): buffers of a tile's size that each would have to allocate
// and touch again. ResetStates resets what a program can see.
class SpareStates {
 public:
  static SpareStates& Get() {
    static auto* const spares = new SpareStates();
    return *spares;
  }
  std::unique_ptr<CoreState> Take() {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) return std::make_unique<CoreState>();
    std::unique_ptr<CoreState> state = std::move(spares_.back());
    spares_.pop_back();
    return state;
  }
  void Give(std::unique_ptr<CoreState> state) {
    // They are of the program's run.
    state->findings = nullptr;
    state->allow = {};
    const std::lock_guard lock(mutex_);
    if (spares_.size() < kMost) spares_.push_back(std::move(state));
  }

 private:
  static constexpr size_t kMost = 2;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CoreState>> spares_;
};

// Those of the generations are made once: their hardware never goes.
std::shared_ptr<const TimeModel> TimeModelOf(const Hardware& hardware) {
  const auto target = static_cast<size_t>(hardware.target);
  static std::mutex mutex;
  static std::array<std::shared_ptr<const TimeModel>, 5> known;
  if (&hardware != &HardwareFor(hardware.target) || target >= known.size()) {
    return std::make_shared<const TimeModel>(hardware);
  }
  const std::lock_guard lock(mutex);
  if (known[target] == nullptr) {
    known[target] = std::make_shared<const TimeModel>(hardware);
  }
  return known[target];
}

class LoadedProgram : public Executable {
 public:
  LoadedProgram(std::shared_ptr<const Program> program,
                std::shared_ptr<Machine> machine, std::vector<HbmBlock> blocks,
                std::vector<Diagnostic> allowed)
      : program_(std::move(program)),
        machine_(std::move(machine)),
        blocks_(std::move(blocks)),
        allowed_(std::move(allowed)),
        tiles_(FindTileBytes(*program_)),
        uses_(FindInputUses(*program_)),
        streams_(FindStreamFacts(*program_)),
        time_(TimeModelOf(*machine_->hardware)) {
    for (size_t c = 0; c < program_->cores.size(); ++c) {
      states_.push_back(SpareStates::Get().Take());
    }
  }
  ~LoadedProgram() override {
    for (auto& state : states_) SpareStates::Get().Give(std::move(state));
  }

  absl::StatusOr<RunResult> Run(const Inputs& inputs,
                                const RunOptions& options) override;
  absl::StatusOr<std::unique_ptr<Execution>> Start(const Inputs& inputs,
                                                   const RunOptions& options,
                                                   Observer* observer) override;
  const Program& program() const override { return *program_; }

 private:
  absl::StatusOr<std::unique_ptr<Execution>> Start(const Inputs& inputs,
                                                   const RunOptions& options,
                                                   Observer* observer,
                                                   bool lend);
  friend class OneRun;
  void ResetStates(const RunOptions& options, FindingSink& sink,
                   std::vector<CoreState*>& states);
  std::vector<std::vector<std::byte>> SaveInouts() const;
  void RestoreInouts(const std::vector<std::vector<std::byte>>& saved);

  std::shared_ptr<const Program> program_;
  std::shared_ptr<Machine> machine_;
  std::vector<HbmBlock> blocks_;
  std::vector<Diagnostic> allowed_;
  std::vector<TileBytes> tiles_;
  std::vector<InputUse> uses_;
  std::vector<StreamFacts> streams_;
  std::shared_ptr<const TimeModel> time_;
  std::vector<std::unique_ptr<CoreState>> states_;
  bool have_inouts_ = false;
};

absl::Status CheckAllow(std::span<const std::string> allow) {
  for (const std::string& id : allow) {
    if (CanBeAllowed(id)) continue;
    if (CategoryOfId(id)) {
      return MakeFault(Category::kInput, "option.allow",
                       absl::StrCat(id,
                                    " cannot be allowed, because what "
                                    "trnemu does next relies on it"));
    }
    std::string nearest(NearestName(id, DiagnosticIds()));
    if (!nearest.empty()) nearest = "; the nearest is \"" + nearest + "\"";
    return MakeFault(
        Category::kInput, "option.allow",
        absl::StrCat("there is no diagnostic \"", id, "\" to allow", nearest));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const RunOptions& o) {
  absl::Status allow = CheckAllow(o.allow);
  if (!allow.ok()) return allow;
  if (!o.time && o.order == Order::kTimed) {
    return MakeFault(Category::kInput, "option.schedule",
                     "the timed schedule needs simulated time; choose "
                     "schedule=program or a seed with time off");
  }
  if (o.timeline != nullptr && o.order != Order::kTimed) {
    return MakeFault(Category::kInput, "option.profile",
                     "a profile needs simulated time, which only the timed "
                     "schedule has");
  }
  if (!o.values && !o.time) {
    return MakeFault(Category::kInput, "option.schedule",
                     "values off simulates time alone, but time is off, too: "
                     "nothing is left to do");
  }
  if (o.stop_at_nan && !o.values) {
    return MakeFault(Category::kInput, "option.stop_at_nan",
                     "stop_at_nan looks at values, but values are off");
  }
  if (o.max_instructions && *o.max_instructions < 0) {
    return MakeFault(Category::kInput, "option.max_instructions",
                     absl::StrCat("max_instructions must not be negative, but "
                                  "it is ",
                                  *o.max_instructions));
  }
  if (o.max_time_ns && o.order != Order::kTimed) {
    return MakeFault(Category::kInput, "option.max_time_ns",
                     "max_time_ns limits simulated time, which only the timed "
                     "schedule has; leave it out or choose schedule=timed");
  }
  if (o.order != Order::kTimed && (!o.throttle || o.launch_overhead)) {
    const bool launch = o.launch_overhead;
    return MakeFault(
        Category::kInput, launch ? "option.launch_overhead" : "option.throttle",
        absl::StrCat(launch ? "launch_overhead adds to" : "throttle changes",
                     " simulated time, which only the timed schedule has; "
                     "leave it out or choose schedule=timed"));
  }
  if (!(o.max_time_ns.value_or(0) >= 0)) {
    return MakeFault(Category::kInput, "option.max_time_ns",
                     "max_time_ns must not be negative");
  }
  if (!(o.max_wall_seconds.value_or(0) >= 0)) {
    return MakeFault(Category::kInput, "option.max_wall_seconds",
                     "max_wall_time must not be negative");
  }
  return absl::OkStatus();
}

// Whether the run may go on after a read of bytes that nothing has written.
// They are zero then, so that no run depends on those before it.
bool SeesUnwritten(const RunOptions& options) {
  return options.checks == Checks::kOff || !options.allow.empty();
}

std::vector<std::vector<std::byte>> LoadedProgram::SaveInouts() const {
  std::vector<std::vector<std::byte>> saved(blocks_.size());
  if (!have_inouts_) return saved;  // the next run is given them
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (program_->tensors[i].kind != TensorKind::kInOut) continue;
    saved[i].assign(blocks_[i].data(),
                    blocks_[i].data() + program_->tensors[i].nbytes());
  }
  return saved;
}

void LoadedProgram::RestoreInouts(
    const std::vector<std::vector<std::byte>>& saved) {
  for (size_t i = 0; i < saved.size(); ++i) {
    if (saved[i].empty()) continue;
    std::memcpy(blocks_[i].data(), saved[i].data(), saved[i].size());
  }
}

void LoadedProgram::ResetStates(const RunOptions& options, FindingSink& sink,
                                std::vector<CoreState*>& states) {
  for (auto& state : states_) {
    // Scratch stays; what the program can see starts afresh.
    state->hardware = machine_->hardware.get();
    state->numerics = options.numerics;
    state->findings = &sink;
    state->check_memory = options.checks != Checks::kOff;
    state->check_values = options.checks == Checks::kFull;
    state->allow = options.allow;
    for (auto& tile : state->loaded) {
      if (tile != nullptr) tile->rows = 0;
    }
    state->match_values = {};
    state->match_lanes = 0;
    state->scalar_accumulators.fill(0);
    state->scalar_accumulators_set.fill(false);
    state->vector_accumulators.fill(0);
    state->vector_accumulators_known.fill(false);
    state->random = RandomState(options.seed);
    state->random_reported = 0;
    state->topk_reported = false;
    states.push_back(state.get());
  }
  ResetTiles(tiles_, SeesUnwritten(options), *machine_);
}

// A run of a loaded program, from prepared inputs to collected outputs.
class OneRun : public Execution {
 public:
  // `lend`: the inputs outlive the run.
  OneRun(LoadedProgram& of, const RunOptions& options, Observer* observer,
         const Inputs& inputs, bool lend)
      : of_(of), options_(options), saved_(of.SaveInouts()) {
    // What is written is known where memory is checked.
    if (lend && options_.checks != Checks::kOff && options_.values) {
      uses_ = of_.uses_;
      inputs_ = &inputs;
    }
    // Time alone touches no memory, which may be more than the host has.
    if (options_.values) {
      PrepareHbm(*of_.program_, inputs, uses_, SeesUnwritten(options_),
                 of_.blocks_);
    }
    of_.ResetStates(options_, relay_, states_);
    runner_.emplace(*of_.program_, *of_.machine_, of_.blocks_, of_.streams_,
                    *of_.time_, options_, states_);
    relay_.runner = &*runner_;
    if (options_.stop_at_nan) {
      nan_watch_.emplace(*of_.program_, options_, relay_);
      runner_->Observe(&*nan_watch_);
    }
    if (observer != nullptr) runner_->Observe(observer);
  }
  ~OneRun() override {
    for (HbmBlock& block : of_.blocks_) block.Lend(nullptr);
    if (!kept_) of_.RestoreInouts(saved_);
  }

  absl::Status Continue() override {
    if (ended_) return absl::OkStatus();
    absl::Status status;
    {
      const CanonicalFloatingPoint scope(options_.numerics.subnormals ==
                                         Subnormals::kFlush);
      status = runner_->Run();
    }
    ended_ = !status.ok() || !runner_->paused();
    return status;
  }
  bool ended() const override { return ended_; }
  const Runner& runner() const override { return *runner_; }
  Runner& connected_runner() override { return *runner_; }
  absl::StatusOr<RunResult> Finish() override;

 private:
  void ListAllowed(RunResult& result) const;

  // The runner listens for findings; states point at it.
  struct Relay : FindingSink {
    Runner* runner = nullptr;
    void Warn(Diagnostic d) override { runner->Warn(std::move(d)); }
    bool CountAgain(std::string_view id) override {
      return runner->CountAgain(id);
    }
  };
  LoadedProgram& of_;
  const RunOptions options_;
  const std::vector<std::vector<std::byte>> saved_;
  std::span<const InputUse> uses_;
  const Inputs* inputs_ = nullptr;  // where uses_ is not empty
  std::vector<CoreState*> states_;
  Relay relay_;
  std::optional<NanWatch> nan_watch_;
  std::optional<Runner> runner_;
  bool ended_ = false;
  bool kept_ = false;  // the inout tensors' values
};

absl::StatusOr<RunResult> OneRun::Finish() {
  RunResult result;
  result.target = of_.machine_->hardware->name;
  result.diagnostics = of_.allowed_;
  for (Diagnostic& d : runner_->findings()) {
    result.diagnostics.push_back(std::move(d));
  }
  result.profile = std::move(runner_->profile());
  result.timed = options_.order == Order::kTimed;
  if (result.timed) {
    result.time_ns = static_cast<double>(result.profile.end) / kTicksPerNs;
  }
  ListAllowed(result);
  // Time alone leaves the tensors as they were.
  if (!options_.values) return result;
  if (inputs_ != nullptr) {
    FillGaps(*of_.program_, *inputs_, uses_, of_.blocks_);
  }
  auto outputs = CollectOutputs(*of_.program_, of_.blocks_,
                                options_.checks != Checks::kOff, options_.into);
  if (!outputs.ok()) return runner_->ExplainOutput(outputs.status());
  result.outputs = *std::move(outputs);
  kept_ = of_.have_inouts_ = true;
  return result;
}

void OneRun::ListAllowed(RunResult& result) const {
  for (const Diagnostic& d : result.diagnostics) {
    const bool stops = d.severity == Severity::kError || options_.strict;
    if (stops && std::find(result.allowed.begin(), result.allowed.end(),
                           d.id) == result.allowed.end()) {
      result.allowed.push_back(d.id);
    }
  }
}

absl::StatusOr<std::unique_ptr<Execution>> LoadedProgram::Start(
    const Inputs& inputs, const RunOptions& options, Observer* observer) {
  return Start(inputs, options, observer, false);
}

absl::StatusOr<std::unique_ptr<Execution>> LoadedProgram::Start(
    const Inputs& inputs, const RunOptions& options, Observer* observer,
    bool lend) {
  absl::Status status = CheckOptions(options);
  if (status.ok()) {
    status = CheckHostMemory(*program_, *machine_->hardware, options);
  }
  if (status.ok()) {
    status = CheckInputs(*program_, inputs, have_inouts_, options.values);
  }
  if (!status.ok()) return status;
  for (const Diagnostic& d : allowed_) {
    if (IsAllowed(d, options.allow)) continue;
    return ToStatus(d);  // allowed at load, not for this run
  }
  return std::make_unique<OneRun>(*this, options, observer, inputs, lend);
}

absl::StatusOr<RunResult> LoadedProgram::Run(const Inputs& inputs,
                                             const RunOptions& options) {
  auto run = Start(inputs, options, nullptr, true);
  if (!run.ok()) return run.status();
  absl::Status status = (*run)->Continue();
  if (!status.ok()) return status;
  return (*run)->Finish();
}

class LogicalCore : public Device {
 public:
  explicit LogicalCore(std::shared_ptr<Machine> machine)
      : machine_(std::move(machine)) {}

  absl::StatusOr<std::unique_ptr<Executable>> Load(
      std::shared_ptr<const Program> program,
      std::span<const std::string> allow) override;
  const Hardware& hardware() const override { return *machine_->hardware; }
  int cores() const override {
    return static_cast<int>(machine_->cores.size());
  }

 private:
  absl::StatusOr<std::vector<HbmBlock>> Place(const Program& program);
  std::shared_ptr<Machine> machine_;
};

absl::StatusOr<std::vector<HbmBlock>> LogicalCore::Place(
    const Program& program) {
  std::vector<HbmBlock> blocks(program.tensors.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Tensor& t = program.tensors[i];
    if (t.on_chip()) continue;
    auto block = machine_->hbm->Allocate(t.nbytes(), Hbm::Fill::kAny);
    if (!block.ok()) return block.status();
    blocks[i] = *std::move(block);
    if (t.kind != TensorKind::kConstant) continue;
    const auto data = program.data->bytes().subspan(
        t.data_offset, static_cast<size_t>(t.nbytes()));
    std::memcpy(blocks[i].data(), data.data(), data.size());
  }
  return blocks;
}

absl::StatusOr<std::unique_ptr<Executable>> LogicalCore::Load(
    std::shared_ptr<const Program> program,
    std::span<const std::string> allow) {
  if (program->cores.size() > machine_->cores.size()) {
    return MakeFault(Category::kIllegal, "program.cores",
                     absl::StrCat("the program needs ", program->cores.size(),
                                  " physical cores, the device has ",
                                  machine_->cores.size()));
  }
  absl::Status known = CheckAllow(allow);
  if (!known.ok()) return known;
  std::vector<Diagnostic> allowed;
  VerifyOptions every_finding;
  every_finding.max_findings = 0;
  for (Diagnostic& d :
       VerifyProgram(*program, *machine_->hardware, every_finding)) {
    if (d.severity == Severity::kError && !IsAllowed(d, allow)) {
      return ToStatus(std::move(d));
    }
    allowed.push_back(std::move(d));
  }
  auto blocks = Place(*program);
  if (!blocks.ok()) return blocks.status();
  return std::make_unique<LoadedProgram>(
      std::move(program), machine_, *std::move(blocks), std::move(allowed));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Device::Create(
    Target target, int cores, std::shared_ptr<const Hardware> hardware) {
  if (const std::string why = UnsupportedProcessor(); !why.empty()) {
    return MakeFault(Category::kUnsupported, "host.processor", why);
  }
  if (hardware == nullptr) {
    hardware = std::shared_ptr<const Hardware>(&HardwareFor(target),
                                               [](const Hardware*) {});
  }
  if (hardware->target != target) {
    return MakeFault(
        Category::kInput, "option.hardware",
        absl::StrCat("the hardware description is of ", hardware->name,
                     ", the target is ", std::string(Name(target))));
  }
  if (cores < 1 || cores > 2) {
    return MakeFault(Category::kInput, "option.cores",
                     absl::StrCat("a logical core has one or two physical "
                                  "cores, not ",
                                  cores));
  }
  auto machine = MakeMachine(std::move(hardware), cores);
  if (!machine.ok()) return machine.status();
  return std::unique_ptr<Device>(new LogicalCore(*std::move(machine)));
}

absl::StatusOr<RunResult> RunProgram(std::shared_ptr<const Program> program,
                                     const Inputs& inputs,
                                     const RunOptions& options,
                                     std::optional<Target> target,
                                     std::shared_ptr<const Hardware> hardware) {
  const int cores =
      static_cast<int>(std::clamp<size_t>(program->cores.size(), 1, 2));
  auto device = Device::Create(target.value_or(program->target), cores,
                               std::move(hardware));
  if (!device.ok()) return device.status();
  absl::Status fits = CheckHostMemory(*program, (*device)->hardware(), options);
  if (!fits.ok()) return fits;
  auto executable = (*device)->Load(std::move(program), options.allow);
  if (!executable.ok()) return executable.status();
  return (*executable)->Run(inputs, options);
}

std::string UnsupportedProcessor() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return "this processor has no AVX2 and FMA, which trnemu needs";
  }
#endif
  return "";
}

}  // namespace trnemu
