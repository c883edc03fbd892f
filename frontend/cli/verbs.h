// The verbs. Each has a file of its own that adds its subcommand, with help
// and examples, and chooses the action that main runs.
#ifndef TRNEMU_FRONTEND_CLI_VERBS_H_
#define TRNEMU_FRONTEND_CLI_VERBS_H_

#include <CLI/CLI.hpp>
#include <functional>

namespace trnemu::cli {

// Does the verb's work and returns the exit code.
using Action = std::function<int()>;

void AddRun(CLI::App& app, Action& action);
void AddVerify(CLI::App& app, Action& action);
void AddAsm(CLI::App& app, Action& action);
void AddDisasm(CLI::App& app, Action& action);
void AddDiff(CLI::App& app, Action& action);
void AddInfo(CLI::App& app, Action& action);
void AddExplain(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddProfile(CLI::App& app, Action& action);
void AddCompareProfile(CLI::App& app, Action& action);
void AddAssess(CLI::App& app, Action& action);
void AddCollective(CLI::App& app, Action& action);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_VERBS_H_
