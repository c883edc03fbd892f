// The HTML report of a profile: one self-contained file that opens from the
// file system, with the page, its styles and scripts (the other files of this
// folder, embedded when trnemu is built) and the profile's data.
#ifndef TRNEMU_FRONTEND_REPORT_REPORT_H_
#define TRNEMU_FRONTEND_REPORT_REPORT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace trnemu {

// `profile` is the profile's JSON (docs/profile.md). Names in it may hold
// anything: they cannot end the script they travel in, and the page shows them
// as text. An error (a bug of the caller's) if it is no such JSON object.
absl::StatusOr<std::string> RenderReport(std::string_view profile);

}  // namespace trnemu

#endif  // TRNEMU_FRONTEND_REPORT_REPORT_H_
