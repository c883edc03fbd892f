// The trnemu binary: one command, a verb each for what it can do.
#include <exception>
#include <new>

#include "frontend/cli/common.h"
#include "frontend/cli/help.h"
#include "frontend/cli/processes.h"
#include "frontend/cli/verbs.h"
#include "frontend/cli/version.h"

namespace trnemu::cli {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  trnemu run k.trn --input x=x.npy --output-dir out    execute\n"
    "  trnemu verify k.trn --target trn1                    check only\n"
    "  trnemu disasm k.trn                                  read it\n"
    "  trnemu explain memory.read_unwritten                 a diagnostic\n"
    "  trnemu VERB --help                                   more examples\n"
    "\n"
    "Exit codes: 0 success, 1 a fault in the program, 2 usage or inputs,\n"
    "3 unsupported, 4 malformed file, 70 a bug in trnemu.\n"
    "NEFF files hold undocumented engine binaries: they are recognised and\n"
    "refused.";

void AddVerbs(CLI::App& app, Action& action) {
  app.require_subcommand(0, 1);
  app.footer(kFooter);
  app.set_version_flag("--version", VersionText());
  app.formatter(HelpWithColumn(32));  // the verbs inherit it
  AddRun(app, action);
  AddVerify(app, action);
  AddAsm(app, action);
  AddDisasm(app, action);
  AddDiff(app, action);
  AddInfo(app, action);
  AddExplain(app, action);
  AddBench(app, action);
  AddProfile(app, action);
  AddCompareProfile(app, action);
  AddAssess(app, action);
  AddCollective(app, action);
  app.formatter(HelpWithColumn(14));
}

// "; did you mean ...?" for the first thing that was not expected.
std::string Suggestion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string unknown;
  const auto chosen = app.get_subcommands();
  const CLI::App& where = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> extras = where.remaining();
  if (extras.empty()) return "";
  unknown = extras.front();
  if (unknown.starts_with("-")) {
    unknown = unknown.substr(0, unknown.find('='));
    for (const CLI::Option* option : where.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  } else if (chosen.empty()) {
    for (const CLI::App* sub :
         app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return DidYouMean(unknown, candidates);
}

int UsageExit(const CLI::App& app, const CLI::ParseError& error, bool json) {
  const auto chosen = app.get_subcommands();
  const std::string verb = chosen.empty() ? "" : chosen.front()->get_name();
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    message += Suggestion(app);
  }
  const Diagnostic d =
      InputError("usage", message,
                 Cat("trnemu ", verb, verb.empty() ? "" : " ",
                     "--help shows what there is, with examples"));
  return Fail(verb.empty() ? "error" : verb, json, {&d, 1});
}

bool WantsJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int InternalError(const std::string& what, bool json) {
  Diagnostic d;
  d.category = Category::kInternal;
  d.id = "internal.exception";
  d.message = what;
  return Fail("error", json, {&d, 1});
}

int OutOfMemory(bool json) {
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "limit.host_memory";
  d.message = "the host ran out of memory";
  d.remedy = "use a machine with more memory, or a smaller program";
  return Fail("error", json, {&d, 1});
}

// Only runs of a system know of processes that mpirun has started together; all
// else it starts several times, as it does any program.
bool SharesWork(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view verb = argv[1];
  if (verb != "run" && verb != "profile") return false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--system" || argument.starts_with("--system=")) {
      return true;
    }
  }
  return false;
}

int Main(int argc, char** argv) {
  if (SharesWork(argc, argv)) {
    const absl::Status joined = JoinProcesses();
    if (!joined.ok()) return Fail("run", WantsJson(argc, argv), joined);
  }
  CLI::App app("trnemu: an instruction-level emulator of AWS Trainium",
               "trnemu");
  Action action;
  AddVerbs(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" with exit code 0.
    if (error.get_exit_code() == 0) {
      return IsFirstProcess() ? app.exit(error) : kSuccess;
    }
    return UsageExit(app, error, WantsJson(argc, argv));
  }
  if (!action) {
    Print(app.help());
    return kUsage;
  }
  return action();
}

}  // namespace
}  // namespace trnemu::cli

int main(int argc, char** argv) {
  using namespace trnemu::cli;
  const bool json = WantsJson(argc, argv);
  int code = kInternal;
  bool thrown = true;
  try {
    code = Main(argc, argv);
    thrown = false;
  } catch (const std::bad_alloc&) {
    PrintInAnyProcess();
    code = OutOfMemory(json);
  } catch (const std::exception& error) {
    PrintInAnyProcess();
    code = InternalError(error.what(), json);
  } catch (...) {
    PrintInAnyProcess();
    code = InternalError("an exception of unknown type", json);
  }
  if (!FlushOutput() && code == kSuccess) {
    PrintError("trnemu: cannot write to standard output\n");
    code = kUsage;
  }
  if (thrown) {
    AbandonProcesses(code);
  } else {
    LeaveProcesses();
  }
  return code;
}
