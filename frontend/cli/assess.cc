// trnemu assess: a verb that is Python, executed by python -m trnemu.assess.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "frontend/cli/common.h"
#include "frontend/cli/verbs.h"

namespace trnemu::cli {
namespace {

constexpr char kModule[] = "trnemu.assess";

std::string Python() {
  const char* const chosen = std::getenv("TRNEMU_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

void Exec(const std::vector<std::string>& command) {
  std::vector<char*> pointers;
  for (const std::string& word : command) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
}

enum class Module { kFound, kMissing, kNoPython };

// Asks Python whether it has the module, without importing it.
Module Look() {
  const std::string code =
      "import importlib.util as u, sys\n"
      "sys.exit(0 if u.find_spec('trnemu') and u.find_spec('trnemu.assess') "
      "else 3)";
  const pid_t child = fork();
  if (child < 0) return Module::kNoPython;
  if (child == 0) {
    Exec({Python(), "-c", code});
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Module::kFound;
  return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? Module::kNoPython
                                                         : Module::kMissing;
}

int Assess(const std::vector<std::string>& arguments) {
  const Module module = Look();
  if (module == Module::kFound) {
    std::vector<std::string> command = {Python(), "-m", kModule};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Exec(command);
  }
  if (module == Module::kMissing) {
    return Fail("assess", false,
                MakeFault(Category::kUnsupported, "unsupported.verb",
                          Cat("trnemu assess is Python, and ", Python(),
                              " has no module ", kModule,
                              ": pip install . builds the package, if this "
                              "version has it")));
  }
  const Diagnostic d = InputError(
      "assess", Cat("cannot start ", Python(), ", which runs trnemu assess"),
      "install Python 3.11, or set TRNEMU_PYTHON to its path");
  return Fail("assess", false, {&d, 1});
}

}  // namespace

void AddAssess(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "assess", "Judge a PyTorch model before renting a device (Python)");
  sub->set_help_flag();  // Python's answers
  sub->prefix_command();
  sub->callback([sub, &action] {
    action = [arguments = sub->remaining()] { return Assess(arguments); };
  });
}

}  // namespace trnemu::cli
