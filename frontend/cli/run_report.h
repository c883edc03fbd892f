// What `run` says after a run that succeeded.
#ifndef TRNEMU_FRONTEND_CLI_RUN_REPORT_H_
#define TRNEMU_FRONTEND_CLI_RUN_REPORT_H_

#include <string>
#include <vector>

#include "core/run.h"
#include "frontend/cli/common.h"
#include "frontend/cli/expect.h"

namespace trnemu::cli {

struct RunReport {
  struct Output {
    const Tensor* tensor = nullptr;
    std::string path;  // "" if it was not written
  };
  std::string program;
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

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_RUN_REPORT_H_
