#include "frontend/cli/system_run.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "collectives/trace.h"
#include "frontend/cli/interrupt.h"
#include "frontend/cli/processes.h"
#include "isa/container.h"

namespace trnemu::cli {
namespace {

// Arrays of a rank of another process.
constexpr size_t kNone = static_cast<size_t>(-1);

// "3:x=x.npy" is rank 3's; without a number all ranks'.
std::optional<int> RankOf(const std::string& text, size_t& rest) {
  int rank = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, rank);
  if (error != std::errc() || at == end || *at != ':' || rank < 0) {
    return std::nullopt;
  }
  rest = static_cast<size_t>(at - text.data()) + 1;
  return rank;
}

std::string WithRank(std::string text, int rank) {
  constexpr std::string_view kPlace = "{rank}";
  for (size_t at = text.find(kPlace); at != text.npos; at = text.find(kPlace)) {
    text.replace(at, kPlace.size(), Cat(rank));
  }
  return text;
}

std::string NameIn(const std::string& text) {
  return text.substr(0, text.find('='));
}

}  // namespace

absl::Status SystemRun::CheckOptions() const {
  const std::pair<const char*, bool> refused[] = {
      {"--target", !args_.target.empty()},
      {"--time off", args_.time == "off"},
      {"--schedule", !args_.schedule.empty()},
      {"--envelope", args_.envelope.has_value()},
      {"--explore", args_.explore.has_value()},
      {"--stop-at-nan", args_.stop_at_nan},
      {"--log", !args_.log.empty()},
      {"--break", !args_.breaks.empty()},
      {"--dump", !args_.dumps.empty()},
      {"--watch", !args_.watches.empty()},
      {"--wait-graph", !args_.wait_graph.empty()},
      {"--max-host-memory", args_.max_host_memory.has_value()},
  };
  for (const auto& [option, given] : refused) {
    if (!given) continue;
    return UsageError(Cat(option, " is of runs of one rank, not of --system"),
                      "leave it out, or --system");
  }
  return absl::OkStatus();
}

absl::Status SystemRun::LoadPrograms() {
  SystemOptions system = args_.system;
  const auto count = static_cast<int>(args_.programs.size());
  if (count > 1 && system.ranks == 0) system.ranks = count;
  if (count > 1 && system.ranks != count) {
    return UsageError(Cat("there are ", count, " programs for ", system.ranks,
                          " ranks: give one for all, or one for each"));
  }
  auto topology = TopologyOf(system);
  if (!topology.ok()) return topology.status();
  topology_ = *std::move(topology);
  auto spread = SpreadRanks(*topology_, Processes().processes());
  if (!spread.ok()) return spread.status();
  process_ = *std::move(spread);
  if (!args_.hardware.empty()) {
    auto hardware = HardwareOf(topology_->system().target, args_.hardware);
    if (!hardware.ok()) return hardware.status();
    hardware_ = *std::move(hardware);
  }
  std::map<std::string, std::shared_ptr<const Program>> read;
  for (const std::string& file : args_.programs) {
    auto& program = read[file];
    if (program == nullptr) {
      absl::StatusOr<Program> made = ReadProgram(file);
      if (!made.ok()) return made.status();
      program = std::make_shared<const Program>(*std::move(made));
    }
    programs_.push_back(program);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> SystemRun::OptionsOf(
    const std::vector<std::string>& given, const char* name, int rank) const {
  std::vector<std::string> all, own;
  for (const std::string& text : given) {
    size_t rest = 0;
    const auto of = program(rank).FindTensor(NameIn(text)) != nullptr
                        ? std::nullopt
                        : RankOf(text, rest);
    if (!of) {
      all.push_back(WithRank(text, rank));
    } else if (*of >= ranks()) {
      return UsageError(Cat(name, " ", text, ": there is no rank ", *of,
                            "; the ", ranks(), " ranks are 0 to ",
                            ranks() - 1));
    } else if (*of == rank) {
      own.push_back(text.substr(rest));
    }
  }
  // A rank's own comes before what all have.
  for (const std::string& text : all) {
    const bool has = std::any_of(own.begin(), own.end(), [&](const auto& o) {
      return NameIn(o) == NameIn(text);
    });
    if (!has) own.push_back(text);
  }
  return own;
}

absl::Status SystemRun::ReadArrays() {
  using Key = std::pair<const Program*, std::vector<std::string>>;
  std::map<Key, size_t> known_inputs, known_expected;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Program& p = program(rank);
    const auto inputs = OptionsOf(args_.inputs, "--input", rank);
    if (!inputs.ok()) return inputs.status();
    const auto expected = OptionsOf(args_.expects, "--expect", rank);
    if (!expected.ok()) return expected.status();
    const auto of_rank = [&](std::vector<Diagnostic>& problems) {
      for (Diagnostic& d : problems) {
        if (ranks() > 1) d.rank = rank;
        problems_.push_back(std::move(d));
      }
    };
    if (!IsHere(rank)) {
      inputs_of_.push_back(kNone);
      expected_of_.push_back(kNone);
      continue;
    }
    std::vector<Diagnostic> problems;
    auto [in, new_in] = known_inputs.try_emplace({&p, *inputs}, inputs_.size());
    if (new_in) {
      inputs_.push_back(ReadInputs(p, *inputs, options_.values, problems));
    }
    auto [out, new_out] =
        known_expected.try_emplace({&p, *expected}, expected_.size());
    if (new_out) expected_.push_back(ReadExpected(p, *expected, problems));
    of_rank(problems);
    inputs_of_.push_back(in->second);
    expected_of_.push_back(out->second);
  }
  return problems_.empty() ? absl::OkStatus() : ToStatus(problems_.front());
}

bool SystemRun::IsHere(int rank) const {
  return process_[static_cast<size_t>(rank)] == Processes().process();
}

absl::Status SystemRun::Load() {
  absl::Status status = CheckOptions();
  if (!status.ok()) return status;
  absl::StatusOr<RunOptions> options = MakeRunOptions(args_);
  if (!options.ok()) return options.status();
  options_ = *std::move(options);
  status = LoadPrograms();
  if (status.ok()) status = ReadArrays();
  return status;
}

absl::Status SystemRun::Execute(const std::vector<bool>& profiled,
                                int64_t max_records, bool traced) {
  if (Processes().processes() > 1 && !profiled.empty()) {
    return UsageError(
        "profiles and traces are of ranks that one process runs, but mpirun "
        "started several",
        "run it without mpirun");
  }
  progress_.Say(Cat("running on ", Describe(*topology_)));
  options_.interrupted = Interrupted;
  ClusterOptions cluster = ClusterOptionsOf(args_.system);
  if (cluster.threads == 0) cluster.threads = ThreadsOfProcess();
  cluster.record_links = cluster.record_moves = traced;
  for (const bool wanted : profiled) {
    timelines_.push_back(wanted ? std::make_shared<Timeline>(max_records)
                                : nullptr);
    cluster.timelines.push_back(timelines_.back().get());
  }
  std::vector<Inputs> inputs;
  for (const size_t of : inputs_of_) {
    inputs.push_back(of == kNone ? Inputs() : AsInputs(inputs_[of]));
  }
  auto result = RunCluster(topology_, programs_, inputs, options_, cluster,
                           hardware_, &Processes());
  if (!result.ok()) return result.status();
  result_ = *std::move(result);
  return absl::OkStatus();
}

std::vector<std::pair<int, NamedArray*>> SystemRun::expected() {
  std::vector<std::pair<int, NamedArray*>> all;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!IsHere(rank)) continue;
    for (NamedArray& one : expected_[expected_of_[static_cast<size_t>(rank)]]) {
      all.emplace_back(rank, &one);
    }
  }
  return all;
}

ProfileReport SystemRun::Report(int rank) const {
  const auto r = static_cast<size_t>(rank);
  const auto& program = ProgramOf(rank);
  const auto hardware = hardware_ != nullptr
                            ? hardware_
                            : std::shared_ptr<const Hardware>(
                                  &HardwareFor(topology_->system().target),
                                  [](const Hardware*) {});
  return MakeProfileReport(program, hardware, timelines_[r],
                           result_.ranks[r].profile.end, program->name);
}

std::string SystemRun::Trace(const std::vector<bool>& shown) const {
  std::vector<ProfileReport> reports;
  for (int r = 0; r < ranks(); ++r) {
    reports.push_back(shown[static_cast<size_t>(r)] ? Report(r)
                                                    : ProfileReport());
  }
  std::vector<const ProfileReport*> pointers;
  for (const ProfileReport& r : reports) {
    pointers.push_back(r.program == nullptr ? nullptr : &r);
  }
  return ClusterTrace(*topology_, result_, pointers, programs_[0]->name);
}

}  // namespace trnemu::cli
