#include "frontend/cli/wait_graph.h"

#include <fstream>

#include "core/deadlock.h"
#include "frontend/cli/common.h"

namespace trnemu::cli {

absl::Status WriteWaitGraph(const std::string& path,
                            const absl::Status& fault) {
  const Diagnostic d = DiagnosticOf(fault);
  if (path.empty() || d.wait_graph.empty()) return absl::OkStatus();
  std::ofstream file(path);
  file << WaitGraphDot(d.wait_graph);
  file.close();
  if (file.good()) return absl::OkStatus();
  return ToStatus(
      InputError("unwritable", Cat("cannot write the wait graph ", path)));
}

}  // namespace trnemu::cli
