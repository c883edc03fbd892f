// --wait-graph FILE.dot
#ifndef TRNEMU_FRONTEND_CLI_WAIT_GRAPH_H_
#define TRNEMU_FRONTEND_CLI_WAIT_GRAPH_H_

#include <string>

#include "absl/status/status.h"

namespace trnemu::cli {

// Writes the wait graph of a deadlock as Graphviz; nothing for other faults,
// or without a path. input.unwritable.
absl::Status WriteWaitGraph(const std::string& path, const absl::Status& fault);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_WAIT_GRAPH_H_
