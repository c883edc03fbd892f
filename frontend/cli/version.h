// What --version prints.
#ifndef TRNEMU_FRONTEND_CLI_VERSION_H_
#define TRNEMU_FRONTEND_CLI_VERSION_H_

#include <string>

namespace trnemu::cli {

// "trnemu 0.1.0", then build, compiler and the kernels' CPU target.
std::string VersionText();

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_VERSION_H_
