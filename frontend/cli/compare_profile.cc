// trnemu compare-profile: measured instructions beside simulated ones.
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "core/profile/compare.h"
#include "frontend/cli/common.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/run_options.h"
#include "frontend/cli/verbs.h"

namespace trnemu::cli {
namespace {

struct CompareArgs {
  std::string ours, theirs, csv;
  std::vector<std::string> renames;
  std::optional<double> max_error;
  bool json = false;
};

absl::StatusOr<std::map<std::string, std::string>> RenamesOf(
    const CompareArgs& args) {
  std::map<std::string, std::string> renames;
  for (const std::string& text : args.renames) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
      return UsageError(
          Cat("--rename takes THEIRS=OURS, but was given \"", text, "\""));
    }
    renames[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return renames;
}

absl::StatusOr<std::vector<TableInstruction>> Read(
    const std::string& path,
    const std::map<std::string, std::string>& renames) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  const std::string file = folder ? path + "/Instruction.csv" : path;
  const absl::StatusOr<std::string> text = ReadText(file);
  if (!text.ok()) return text.status();
  auto rows = ReadInstructionTable(*text, renames);
  if (rows.ok()) return rows;
  Diagnostic d = DiagnosticOf(rows.status());
  d.message = Cat(file, ": ", d.message);
  return ToStatus(std::move(d));
}

// Each must be of an opcode that they have.
absl::Status CheckRenames(const std::map<std::string, std::string>& renames,
                          const std::vector<TableInstruction>& theirs) {
  std::set<std::string> opcodes;
  for (const TableInstruction& t : theirs) opcodes.insert(t.opcode);
  const std::vector<std::string_view> known(opcodes.begin(), opcodes.end());
  for (const auto& [from, to] : renames) {
    std::string opcode = from;
    for (char& c : opcode) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    if (opcodes.contains(opcode)) continue;
    return UsageError(Cat("--rename: their table has no opcode ", from,
                          DidYouMean(opcode, known)));
  }
  return absl::OkStatus();
}

Json ToJson(const TableComparison& c, bool good) {
  Json json = Envelope("compare-profile");
  json["ok"] = good;
  json["exit_code"] = good ? kSuccess : kFault;
  json["ours"] = c.ours.size();
  json["theirs"] = c.theirs.size();
  json["matched"] = c.matched;
  json["without_duration"] = c.without_duration;
  json["ours_span_ns"] = c.ours_span;
  json["theirs_span_ns"] = c.theirs_span;
  json["median_error"] = c.median_error;
  json["mean_error"] = c.mean_error;
  json["opcodes"] = Json::array();
  for (const OpcodeComparison& o : c.opcodes) {
    json["opcodes"].push_back({{"engine", o.engine},
                               {"opcode", o.opcode},
                               {"ours", o.ours},
                               {"theirs", o.theirs},
                               {"matched", o.matched},
                               {"ours_ns", o.ours_ns},
                               {"theirs_ns", o.theirs_ns},
                               {"median_error", o.median_error},
                               {"mean_error", o.mean_error},
                               {"worst_error", o.worst_error}});
  }
  return json;
}

int Compare(const CompareArgs& args) {
  const auto fail = [&args](const absl::Status& status) {
    return Fail("compare-profile", args.json, status);
  };
  const auto renames = RenamesOf(args);
  if (!renames.ok()) return fail(renames.status());
  auto ours = Read(args.ours, {});
  if (!ours.ok()) return fail(ours.status());
  auto theirs = Read(args.theirs, {});
  if (!theirs.ok()) return fail(theirs.status());
  if (!renames->empty()) {
    const absl::Status used = CheckRenames(*renames, *theirs);
    if (!used.ok()) return fail(used);
    theirs = Read(args.theirs, *renames);
    if (!theirs.ok()) return fail(theirs.status());
  }
  const TableComparison c = CompareTables(*std::move(ours), *std::move(theirs));
  if (!args.csv.empty()) {
    const absl::Status written = WriteText(args.csv, ComparisonCsv(c));
    if (!written.ok()) return fail(written);
  }
  const bool compared = c.matched > c.without_duration;
  const bool good =
      c.matched > 0 && (!args.max_error ||
                        (compared && 100 * c.median_error <= *args.max_error));
  if (args.json) {
    PrintJson(ToJson(c, good));
  } else {
    Print(ComparisonText(c) + "\n");
    if (!good) {
      PrintError(c.matched == 0 ? "trnemu: no instruction matches\n"
                 : !compared
                     ? "trnemu: nothing that matches has a duration\n"
                     : "trnemu: the median error is above --max-error\n");
    }
  }
  return good ? kSuccess : kFault;
}

}  // namespace

void AddCompareProfile(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "compare-profile", "Measured instructions beside simulated ones");
  auto args = std::make_shared<CompareArgs>();
  sub->add_option("OURS", args->ours,
                  "What trnemu profile --csv DIR wrote: DIR, or its "
                  "Instruction.csv")
      ->required();
  sub->add_option("THEIRS", args->theirs,
                  "Instruction.csv of the vendor's profiler")
      ->required();
  sub->add_option("--rename", args->renames,
                  "What their opcode is called in ours, as often as needed")
      ->type_name("THEIRS=OURS")
      ->take_all();
  sub->add_option("--csv", args->csv, "Write a row for every instruction")
      ->type_name("FILE");
  sub->add_option("--max-error", args->max_error,
                  "Exit 1 if the median error of the durations is above "
                  "PERCENT")
      ->type_name("PERCENT")
      ->check(NonNegative());
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Instructions are matched engine by engine, in their order, by opcode;\n"
      "what has no counterpart is listed.\n"
      "\n"
      "Examples:\n"
      "  trnemu profile k.trn --values off --csv ours\n"
      "  trnemu compare-profile ours Instruction.csv\n"
      "  trnemu compare-profile ours Instruction.csv --csv rows.csv\n"
      "  trnemu compare-profile ours Instruction.csv --max-error 10\n"
      "  trnemu compare-profile ours Instruction.csv --rename WRITE="
      "DMA_DIRECT2D\n"
      "\n"
      "Exit codes: 0 compared, 1 nothing matches or the error is above\n"
      "--max-error, 2 usage or unreadable files, 4 not such a table.");
  sub->callback(
      [args, &action] { action = [args] { return Compare(*args); }; });
}

}  // namespace trnemu::cli
