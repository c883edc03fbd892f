// trnemu explain: one diagnostic, or the list of all.
#include "frontend/cli/common.h"
#include "frontend/cli/reference.h"
#include "frontend/cli/verbs.h"
#include "isa/diagnostic_catalog.h"

namespace trnemu::cli {
namespace {

struct ExplainArgs {
  std::string id;
  bool json = false;
};

int ListAll(const ExplainArgs& args) {
  const auto ids = DiagnosticIds();
  if (!args.json) {
    Print(DiagnosticsList());
    return kSuccess;
  }
  Json json = Envelope("explain");
  json["diagnostics"] = Json::array();
  for (const std::string_view id : ids) {
    json["diagnostics"].push_back(ToJson(*Describe(id)));
  }
  PrintJson(json);
  return kSuccess;
}

int ExplainOperation(const OperationInfo& operation, bool json) {
  if (!json) {
    Print(OperationPage(operation, Style::kText));
    return kSuccess;
  }
  Json report = Envelope("explain");
  report["operation"] = OperationJson(operation);
  PrintJson(report);
  return kSuccess;
}

int ExplainOne(const ExplainArgs& args) {
  if (args.id.empty()) return ListAll(args);
  if (const OperationInfo* operation = FindOperation(args.id)) {
    return ExplainOperation(*operation, args.json);
  }
  const auto description = Describe(args.id);
  if (!description) {
    const auto ids = DiagnosticIds();
    return Fail("explain", args.json,
                UsageError(Cat("no diagnostic has the id \"", args.id, "\"",
                               DidYouMean(args.id, ids)),
                           "trnemu explain lists all ids"));
  }
  if (args.json) {
    Json json = Envelope("explain");
    json.update(ToJson(*description));
    PrintJson(json);
  } else {
    Print(Text(*description));
  }
  return kSuccess;
}

}  // namespace

void AddExplain(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "explain", "What a diagnostic means and its fix; an operation");
  auto args = std::make_shared<ExplainArgs>();
  sub->add_option("ID", args->id,
                  "As in \"error: illegal [ID]\", or an operation; without "
                  "it all ids are listed by category");
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Examples:\n"
      "  trnemu explain memory.read_unwritten\n"
      "  trnemu explain tensor_tensor.both_in_psum\n"
      "  trnemu explain tensor_tensor            as info tensor_tensor\n"
      "  trnemu explain                          all ids");
  sub->callback(
      [args, &action] { action = [args] { return ExplainOne(*args); }; });
}

}  // namespace trnemu::cli
