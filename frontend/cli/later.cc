// bench and collective: recognised, and answered with what to use
// until they are there.
#include "frontend/cli/common.h"
#include "frontend/cli/verbs.h"

namespace trnemu::cli {
namespace {

struct LaterVerb {
  const char* name;
  const char* summary;
  const char* instead;
};
constexpr LaterVerb kLaterVerbs[] = {
    {"bench", "Simulated cost of instructions (not in this version)",
     "trnemu info --only constants lists the cost of every instruction, and "
     "trnemu run the time of a program"},
    {"collective", "Simulated cost of one collective (not in this version)",
     "trnemu run executes programs of one logical core; collectives are not "
     "simulated"},
};

int AnswerLater(const LaterVerb& verb, bool json) {
  Diagnostic d;
  d.category = Category::kUnsupported;
  d.id = "unsupported.verb";
  d.message = Cat("trnemu ", verb.name, " is not in this version of trnemu");
  d.remedy = verb.instead;
  return Fail(verb.name, json, {&d, 1});
}

}  // namespace

void AddLaterVerbs(CLI::App& app, Action& action) {
  for (const LaterVerb& verb : kLaterVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    auto json = std::make_shared<bool>(false);
    sub->add_flag("--json", *json, "Print one JSON object");
    sub->allow_extras();
    sub->footer(Cat("Use instead: ", verb.instead, "."));
    sub->callback([json, &verb, &action] {
      action = [json, &verb] { return AnswerLater(verb, *json); };
    });
  }
}

}  // namespace trnemu::cli
