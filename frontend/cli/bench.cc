// trnemu bench: simulated cost tables of operations.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "core/cost_table/cost_table.h"
#include "frontend/cli/bench_report.h"
#include "frontend/cli/hardware_report.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/verbs.h"

namespace trnemu::cli {
namespace {

constexpr int64_t kPartitionsUnlessGiven = 128;

struct BenchArgs {
  std::string filter, hardware, op, engine;
  std::vector<std::string> sizes, dtypes, placements, targets;
  int64_t partitions = kPartitionsUnlessGiven;
  bool json = false, csv = false;
};

// Those of that name, or else whose names have it (or, with a *, match it).
std::vector<std::string> OperationsOf(const std::string& filter) {
  std::vector<std::string> found;
  const auto matches = [&](std::string_view name) {
    const size_t star = filter.find('*');
    if (star == filter.npos) return name.find(filter) != name.npos;
    return name.size() + 1 >= filter.size() &&
           name.starts_with(filter.substr(0, star)) &&
           name.ends_with(filter.substr(star + 1));
  };
  for (const CostSubject& subject : CostSubjects()) {
    if (subject.name == filter) return {filter};
    if (matches(subject.name)) found.emplace_back(subject.name);
  }
  return found;
}

// Those that say nothing without an operation.
absl::Status CheckListing(const BenchArgs& args) {
  const std::pair<const char*, bool> given[] = {
      {"--csv", args.csv},
      {"--sizes", !args.sizes.empty()},
      {"--dtype", !args.dtypes.empty()},
      {"--placement", !args.placements.empty()},
      {"--target", !args.targets.empty()},
      {"--op", !args.op.empty()},
      {"--engine", !args.engine.empty()},
      {"--partitions", args.partitions != kPartitionsUnlessGiven},
      {"--hardware", !args.hardware.empty()}};
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    return UsageError(Cat(option, " needs an OPERATION"),
                      "trnemu bench lists the operations that have a table; "
                      "'*' is all of them");
  }
  return absl::OkStatus();
}

int ListOperations(const BenchArgs& args) {
  const absl::Status status = CheckListing(args);
  if (!status.ok()) return Fail("bench", args.json, status);
  if (args.json) {
    Json json = Envelope("bench");
    json["operations"] = SubjectsJson();
    PrintJson(json);
  } else {
    Print(SubjectsText());
  }
  return kSuccess;
}

// What the options say; the operation is left open.
absl::StatusOr<CostQuery> QueryOf(const BenchArgs& args) {
  CostQuery query;
  query.op = args.op;
  query.engine = args.engine;
  query.partitions = args.partitions;
  for (const std::string& text : args.sizes) {
    const auto sizes = SizesFromText(text);
    if (!sizes) {
      return UsageError(
          Cat("--sizes takes ", kSizesForm, "; not \"", text, "\""));
    }
    query.sizes.insert(query.sizes.end(), sizes->begin(), sizes->end());
  }
  std::vector<std::string_view> known = {"fp32", "bf16", "fp16", "fp8"};
  for (const DtypeInfo& info : kDtypes) known.push_back(info.name);
  for (const std::string& name : args.dtypes) {
    const auto dtype = DtypeFromShortName(name);
    if (!dtype) {
      std::string list;
      for (const std::string_view k : known) {
        list += Cat(list.empty() ? "" : ", ", k);
      }
      return UsageError(Cat("--dtype: there is no dtype \"", name, "\"",
                            DidYouMean(name, known)),
                        Cat("there are ", list));
    }
    query.dtypes.push_back(*dtype);
  }
  for (const std::string& name : args.placements) {
    const auto placement = PlacementFromName(name);
    if (!placement) {
      return UsageError(
          Cat("--placement takes IN:OUT of sbuf, psum and hbm, "
              "not \"",
              name, "\""));
    }
    query.placements.push_back(*placement);
  }
  for (const std::string& name : args.targets) {
    const auto target = ParseTarget(name);
    if (!target.ok()) return target.status();
    auto hardware = HardwareOf(*target, args.hardware);
    if (!hardware.ok()) return hardware.status();
    query.targets.push_back(*std::move(hardware));
  }
  return query;
}

int Bench(BenchArgs args) {
  if (args.filter.empty()) return ListOperations(args);
  if (args.json && args.csv) {
    return Fail("bench", true,
                UsageError("--json and --csv exclude each other"));
  }
  if (args.targets.empty()) args.targets.emplace_back(Name(kDefaultTarget));
  absl::StatusOr<CostQuery> query = QueryOf(args);
  if (!query.ok()) return Fail("bench", args.json, query.status());
  const std::vector<std::string> operations = OperationsOf(args.filter);
  if (operations.empty()) {
    std::vector<CostSubject> subjects = CostSubjects();
    std::vector<std::string_view> names;
    for (const CostSubject& s : subjects) names.push_back(s.name);
    return Fail("bench", args.json,
                UsageError(Cat("there is no cost table of \"", args.filter,
                               "\"", DidYouMean(args.filter, names)),
                           "trnemu bench lists the operations that have one"));
  }
  Progress progress("simulating");
  std::vector<CostTable> tables;
  for (const std::string& operation : operations) {
    query->operation = operation;
    progress.Say(Cat("simulating ", operation));
    auto rows = CostTableOf(*query);
    if (!rows.ok()) {
      progress.Stop();
      return Fail("bench", args.json, rows.status());
    }
    tables.push_back({operation, args.op, *std::move(rows)});
  }
  progress.Stop();
  // A description is of one target.
  const std::vector<HardwareChange> changes =
      args.hardware.empty() ? std::vector<HardwareChange>{}
                            : ChangesFromStock(*query->targets.front());
  if (args.json) {
    Json json = Envelope("bench");
    if (!args.hardware.empty()) {
      json["hardware"] = HardwareJson(args.hardware, changes);
    }
    json["ok"] = true;
    json["exit_code"] = int{kSuccess};
    json["rows"] = RowsJson(tables);
    PrintJson(json);
  } else {
    Print(args.csv ? RowsCsv(tables, changes)
                   : Cat(HardwareText(args.hardware, changes, 10),
                         args.hardware.empty() ? "" : "\n", RowsText(tables)));
  }
  return kSuccess;
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "bench", "Simulated cost of operations over sizes, dtypes, generations");
  auto args = std::make_shared<BenchArgs>();
  sub->add_option("OPERATION", args->filter,
                  "An operation, part of a name, or a pattern (tensor_*); "
                  "without it the operations are listed");
  const auto list = [&](const char* name, std::vector<std::string>& values,
                        const char* text, const char* type) {
    sub->add_option(name, values, text)->type_name(type)->delimiter(',');
  };
  sub->add_option("--sizes", args->sizes,
                  "N: 64:8192 doubles, 64:512:64 has a step, 1,2,48 a list")
      ->type_name("SIZES");
  list("--dtype", args->dtypes, "Of the data: fp32, bf16, fp16, fp8, ...",
       "DTYPE,...");
  list("--placement", args->placements,
       "Where data and result are, e.g. psum:sbuf; of dma_copy hbm:sbuf",
       "IN:OUT,...");
  list("--target", args->targets, "trn1, trn2 (default), trn3", "TARGET,...");
  sub->add_option("--op", args->op,
                  "Another ALU operation or activation function")
      ->type_name("OP");
  sub->add_option("--engine", args->engine, "Another engine that can run it")
      ->type_name("ENGINE");
  sub->add_option("--partitions", args->partitions, "1 to 128 (default)")
      ->type_name("P")
      ->check(CLI::Range(1, 128));
  sub->add_option("--hardware", args->hardware,
                  "Hardware description that replaces the built-in one")
      ->type_name("FILE");
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->add_flag("--csv", args->csv, "Print comma-separated values");
  sub->footer(
      "Every figure is of a program that is built and run in simulated time;\n"
      "nothing is read off the law, which stands beside it. Nanoseconds:\n"
      "  issue       until the engine can start its next instruction\n"
      "  completion  until the result can be used, of one alone\n"
      "  steady      from one to the next in a long stream: the throughput\n"
      "  first       a program of this operation alone, tables and all\n"
      "\n"
      "Examples:\n"
      "  trnemu bench                                what there is\n"
      "  trnemu bench tensor_tensor --sizes 64:8192 --dtype fp32,bf16 "
      "--target trn1,trn2,trn3\n"
      "  trnemu bench activation --op gelu --placement sbuf,psum\n"
      "  trnemu bench dma_copy --placement hbm:sbuf,sbuf:hbm\n"
      "  trnemu bench nc_matmul --dtype bf16 --sizes 512\n"
      "  trnemu bench 'tensor_*' --csv > costs.csv\n"
      "  trnemu bench dma_copy --hardware what_if.textproto\n"
      "\n"
      "docs/bench-command.md says how each figure is taken.");
  sub->callback([args, &action] { action = [args] { return Bench(*args); }; });
}

}  // namespace trnemu::cli
