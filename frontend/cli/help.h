// Help texts: CLI11's, with descriptions that fit the terminal.
#ifndef TRNEMU_FRONTEND_CLI_HELP_H_
#define TRNEMU_FRONTEND_CLI_HELP_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace trnemu::cli {

// Names in a column of that width, descriptions wrapped to 80 columns.
std::shared_ptr<CLI::FormatterBase> HelpWithColumn(size_t width);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_HELP_H_
