// What --hardware FILE changes, in what a verb prints.
#ifndef TRNEMU_FRONTEND_CLI_HARDWARE_REPORT_H_
#define TRNEMU_FRONTEND_CLI_HARDWARE_REPORT_H_

#include <string>
#include <vector>

#include "frontend/cli/common.h"
#include "isa/hardware_diff.h"

namespace trnemu::cli {

// {"file": ..., "changes": [{"constant": ..., "stock": ..., ...}]}
Json HardwareJson(const std::string& file,
                  const std::vector<HardwareChange>& changes);
// "hardware      FILE, 1 constant differs from the built-in one: ...", the
// label `width` wide; "" without a file.
std::string HardwareText(const std::string& file,
                         const std::vector<HardwareChange>& changes,
                         size_t width);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_HARDWARE_REPORT_H_
