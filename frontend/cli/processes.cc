#include "frontend/cli/processes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "frontend/cli/common.h"
#include "isa/diagnostic.h"

namespace trnemu::cli {
namespace {

std::unique_ptr<MpiExchange> together;
ProcessExchange alone;

}  // namespace

absl::Status JoinProcesses() {
  const int launched = LaunchedProcesses();
  if (launched == 1) return absl::OkStatus();
#ifdef TRNEMU_WITH_MPI
  together = MpiExchange::Connect();
  if (!IsFirstProcess()) MuteOutput(true);
  return absl::OkStatus();
#else
  // One of them says so. (The others wait for nothing, and end well: mpirun
  // would end the one that says so if others failed before it.)
  if (LaunchedProcess() > 0) std::_Exit(kSuccess);
  Diagnostic d;
  d.category = Category::kUnsupported;
  d.id = "unsupported.mpi";
  d.message = Cat("mpirun started ", launched,
                  " processes, but this trnemu was built without MPI");
  d.remedy =
      "run it without mpirun: one process runs all ranks, on several threads; "
      "or build it with MPI (docs/dependencies.md)";
  return ToStatus(std::move(d));
#endif
}

ProcessExchange& Processes() {
  if (together) return *together;
  return alone;
}

bool IsFirstProcess() { return Processes().process() == 0; }

absl::Status AgreeOn(const absl::Status& mine) {
  std::optional<Failure> failure;
  if (!mine.ok()) {
    const Diagnostic d = DiagnosticOf(mine);
    failure = Failure{0, d.rank.value_or(Processes().process()), mine};
  }
  return Processes().Agree(std::move(failure));
}

std::vector<std::string> GatherTexts(std::vector<std::string> mine) {
  News news;
  news.texts = std::move(mine);
  std::vector<std::string> all;
  for (News& one : Processes().Tell(std::move(news))) {
    std::move(one.texts.begin(), one.texts.end(), std::back_inserter(all));
  }
  return all;
}

int ThreadsOfProcess() {
  if (!together) return 0;
  const auto all = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, all / together->neighbours());
}

void LeaveProcesses() {
  if (!together) return;
  together->Close();
  together.reset();
}

void PrintInAnyProcess() {
  if (!together || IsFirstProcess()) return;
  MuteOutput(false);
  PrintError(Cat("process ", together->process(), ":\n"));
}

void AbandonProcesses(int exit_code) {
  if (together) together->Abort(exit_code);
}

}  // namespace trnemu::cli
