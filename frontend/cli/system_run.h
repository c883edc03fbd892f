// A run on every rank of a system: what run --system and profile --system
// share.
#ifndef TRNEMU_FRONTEND_CLI_SYSTEM_RUN_H_
#define TRNEMU_FRONTEND_CLI_SYSTEM_RUN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/cluster.h"
#include "core/profile/report.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/run_options.h"
#include "frontend/cli/tensors.h"
#include "isa/hardware_diff.h"

namespace trnemu::cli {

class SystemRun {
 public:
  // Keeps references.
  SystemRun(const RunArgs& args, Progress& progress)
      : args_(args), progress_(progress) {}

  // On several processes each reads its own ranks' arrays. What is wrong: the
  // status, and beside it `problems` if there are several.
  // Refuses options that are of one rank's runs.
  absl::Status Load();
  // Ranks whose timelines are kept; all of them if a trace is wanted.
  absl::Status Execute(const std::vector<bool>& profiled, int64_t max_records,
                       bool traced);

  const std::vector<Diagnostic>& problems() const { return problems_; }
  int ranks() const { return topology_->ranks(); }
  // Whether this process runs it (frontend/cli/processes.h).
  bool IsHere(int rank) const;
  const Topology& topology() const { return *topology_; }
  const Program& program(int rank) const { return *ProgramOf(rank); }
  const ClusterResult& result() const { return result_; }
  const RunOptions& options() const { return options_; }
  std::vector<HardwareChange> hardware_changes() const {
    return hardware_ == nullptr ? std::vector<HardwareChange>()
                                : ChangesFromStock(*hardware_);
  }
  // --expect of each rank of this process, by rank.
  std::vector<std::pair<int, NamedArray*>> expected();
  // Of a rank that was profiled.
  ProfileReport Report(int rank) const;
  // Shows these; the others' processes are left out.
  std::string Trace(const std::vector<bool>& shown) const;

 private:
  absl::Status CheckOptions() const;
  absl::Status LoadPrograms();
  absl::Status ReadArrays();
  absl::StatusOr<std::vector<std::string>> OptionsOf(
      const std::vector<std::string>& given, const char* name, int rank) const;
  const std::shared_ptr<const Program>& ProgramOf(int rank) const {
    return programs_[programs_.size() == 1 ? 0 : static_cast<size_t>(rank)];
  }

  const RunArgs& args_;
  Progress& progress_;
  RunOptions options_;
  std::shared_ptr<const Topology> topology_;
  std::vector<int32_t> process_;  // by rank
  std::shared_ptr<const Hardware> hardware_;
  std::vector<std::shared_ptr<const Program>> programs_;
  // Arrays that several ranks have are read once: by rank, which of them.
  std::vector<std::vector<NamedArray>> inputs_, expected_;
  std::vector<size_t> inputs_of_, expected_of_;
  std::vector<Diagnostic> problems_;
  std::vector<std::shared_ptr<Timeline>> timelines_;
  ClusterResult result_;
};

// run --system.
int RunOnSystem(const RunArgs& args);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_SYSTEM_RUN_H_
