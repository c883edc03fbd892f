// The examples of docs/diagnostics/, built into the binary. The tests execute
// each of them as it stands and repaired; docs/diagnostics/README.md has their
// form.
#ifndef TRNEMU_FRONTEND_CLI_DIAGNOSTIC_EXAMPLES_H_
#define TRNEMU_FRONTEND_CLI_DIAGNOSTIC_EXAMPLES_H_

#include <string>
#include <string_view>

namespace trnemu::cli {

struct DiagnosticExample {
  std::string code;      // "" where there is none
  std::string language;  // "python" or "shell"
  std::string reason;    // why there is no code
};

// Empty for an id without a block.
DiagnosticExample ExampleOfId(std::string_view id);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_DIAGNOSTIC_EXAMPLES_H_
