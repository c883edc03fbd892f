// What `run` says after a run that succeeded, or that Ctrl-C stopped.
#ifndef TRNEMU_FRONTEND_CLI_RUN_REPORT_H_
#define TRNEMU_FRONTEND_CLI_RUN_REPORT_H_

#include <string>
#include <vector>

#include "core/run.h"
#include "frontend/cli/common.h"
#include "frontend/cli/expect.h"
#include "isa/hardware_diff.h"

namespace trnemu::cli {

struct RunReport {
  struct Output {
    const Tensor* tensor = nullptr;
    std::string path;  // "" if it was not written
  };
  std::string program;
  std::string hardware;  // the file of --hardware, "" without
  std::vector<HardwareChange> hardware_changes;
  const RunResult* result = nullptr;
  bool values = true;
  std::string log, trace;
  int64_t explored = 0;  // schedules that agree with the result
  Json debug_events;     // of breaks and watches; null: there were none
  std::string envelope_text, envelope_json;  // "" without --envelope
  std::vector<Output> outputs;
  std::vector<Comparison> comparisons;

  bool ok() const;
};

Json ToJson(const RunReport& report);
// Warnings on standard error, the summary on standard output.
void PrintText(const RunReport& report);

// Of a run that Ctrl-C stopped; its exit code.
int ReportInterrupted(const absl::Status& status, bool json);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_RUN_REPORT_H_
