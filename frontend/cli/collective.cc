// trnemu collective: simulated cost of one collective over sizes.
#include "collectives/bench.h"
#include "core/cost_table/cost_table.h"
#include "frontend/cli/collective_report.h"
#include "frontend/cli/interrupt.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/system_options.h"
#include "frontend/cli/verbs.h"

namespace trnemu::cli {
namespace {

struct CollectiveArgs {
  std::string operation, groups, sizes = "1KiB:1GiB", dtype = "bf16";
  std::string op = "add", memory = "hbm", values = "off", plot;
  int64_t group_size = 0;
  int streams = 1;
  bool check = false, json = false;
  SystemOptions system;
};

absl::Status SetGroups(const CollectiveArgs& args, CollectiveQuery& query) {
  if (!args.groups.empty()) {
    const auto groups = GroupsFromText(args.groups);
    if (!groups) {
      return UsageError(
          Cat("--group takes 0,1,2,3 or 0,1;2,3, not \"", args.groups, "\""));
    }
    query.groups = *groups;
  }
  if (args.group_size == 0) return absl::OkStatus();
  auto groups = GroupsOfSize(query.topology->ranks(), args.group_size);
  if (!groups.ok()) return groups.status();
  query.groups = *std::move(groups);
  return absl::OkStatus();
}

absl::StatusOr<CollectiveQuery> QueryOf(const CollectiveArgs& args) {
  CollectiveQuery query;
  query.operation = args.operation;
  auto topology = TopologyOf(args.system);
  if (!topology.ok()) return topology.status();
  query.topology = *std::move(topology);
  const absl::Status grouped = SetGroups(args, query);
  if (!grouped.ok()) return grouped;
  const auto sizes = ByteSizesFromText(args.sizes);
  if (!sizes) {
    return UsageError(
        Cat("--size takes 1MiB, 1KiB:1GiB (doubling), "
            "1KiB:1GiB:4 or lists of these, not \"",
            args.sizes, "\""));
  }
  query.sizes = *sizes;
  const auto dtype = DtypeFromShortName(args.dtype);
  if (!dtype) {
    std::vector<std::string_view> known = {"fp32", "bf16", "fp16", "fp8"};
    for (const DtypeInfo& info : kDtypes) known.push_back(info.name);
    return UsageError(Cat("--dtype: there is no dtype \"", args.dtype, "\"",
                          DidYouMean(args.dtype, known)));
  }
  query.dtype = *dtype;
  query.op = args.op == "add"   ? AluOp::kAdd
             : args.op == "min" ? AluOp::kMinimum
                                : AluOp::kMaximum;
  query.memory = args.memory == "hbm" ? Space::kHbm : Space::kSbuf;
  if (args.system.algorithm == "all") {
    query.algorithms.clear();
  } else {
    query.algorithms = {ClusterOptionsOf(args.system).algorithm};
  }
  query.packet_bytes = args.system.packet_bytes;
  query.threads = args.system.threads;
  query.streams = args.streams;
  query.check = args.check;
  query.values = args.check || args.values == "on";
  return query;
}

// A name that is not there, with the nearest that is.
absl::Status CheckOperation(const std::string& name) {
  if (FindCollectiveSubject(name) != nullptr) return absl::OkStatus();
  std::vector<std::string_view> names;
  std::string list;
  for (const CollectiveSubject& s : CollectiveSubjects()) {
    names.push_back(s.name);
    list += Cat(list.empty() ? "" : ", ", s.name);
  }
  return UsageError(
      Cat("there is no measurement of \"", name, "\"", DidYouMean(name, names)),
      Cat("there are ", list));
}

int Measure(const CollectiveArgs& args) {
  Progress progress(Cat("measuring ", args.operation));
  const auto fail = [&](const absl::Status& status) {
    progress.Stop();
    return Interrupted() ? int{kInterrupted}
                         : Fail("collective", args.json, status);
  };
  if (absl::Status s = CheckOperation(args.operation); !s.ok()) return fail(s);
  auto query = QueryOf(args);
  if (!query.ok()) return fail(query.status());
  if (!args.plot.empty() && args.operation == "collective_barrier") {
    return fail(UsageError("a barrier has no sizes to plot over"));
  }
  query->interrupted = Interrupted;
  query->say = [&](const std::string& what) { progress.Say(what); };
  const auto rows = CollectiveCosts(*query);
  if (!rows.ok()) return fail(rows.status());
  const CollectiveReport report(*query, *rows, args.system.algorithm == "all");
  if (!args.plot.empty()) {
    const absl::Status status = WriteText(args.plot, report.Svg());
    if (!status.ok()) return fail(status);
  }
  progress.Stop();
  if (args.json) {
    Json json = report.ToJson();
    if (!args.plot.empty()) json["plot"] = args.plot;
    PrintJson(json);
  } else {
    Print(report.Text());
    if (!args.plot.empty()) Print(Cat("plot: ", args.plot, "\n"));
  }
  return kSuccess;
}

}  // namespace

void AddCollective(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "collective", "Simulated cost of one collective over sizes, algorithms");
  auto args = std::make_shared<CollectiveArgs>();
  args->system.name = "trn2.48xlarge";
  std::string names;
  for (const CollectiveSubject& s : CollectiveSubjects()) {
    names += Cat(names.empty() ? "" : ", ", s.name);
  }
  sub->add_option("OPERATION", args->operation, names)->required();
  AddTopologyOptions(*sub, args->system);
  CLI::Option* group =
      sub->add_option("--group", args->groups,
                      "Ranks of each group, side by side (default: all in "
                      "one; of send_recv 0,1)")
          ->type_name("0,1;2,3");
  sub->add_option("--group-size", args->group_size,
                  "Groups of K successive ranks")
      ->type_name("K")
      ->check(CLI::PositiveNumber)
      ->excludes(group);
  sub->add_option("--size", args->sizes,
                  "Bytes: 1MiB, 1KiB:1GiB (each twice the one before), "
                  "1KiB:1GiB:4, and lists with commas")
      ->type_name("SIZES")
      ->capture_default_str();
  sub->add_option("--dtype", args->dtype, "Of the data: fp32, bf16, fp16, ...")
      ->type_name("DTYPE")
      ->capture_default_str();
  sub->add_option("--op", args->op, "Of reductions: add, min or max")
      ->capture_default_str()
      ->check(CLI::IsMember({"add", "min", "max"}));
  sub->add_option("--memory", args->memory,
                  "Of source and result: hbm, or sbuf where allowed")
      ->capture_default_str()
      ->check(CLI::IsMember({"hbm", "sbuf"}));
  sub->add_option("--streams", args->streams,
                  "So many collectives at once on each rank, each of a part of "
                  "the buffer")
      ->capture_default_str();
  AddClusterOptions(*sub, args->system,
                    "auto (as documented), all (each that the groups can have, "
                    "side by side), or one",
                    {"all"});
  sub->add_option(
         "--values", args->values,
         "off: time alone; on: data is moved and added (the same time)")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  sub->add_flag("--check", args->check,
                "Move data, compare it with sums in double precision, and "
                "print the largest error");
  sub->add_option("--plot", args->plot,
                  "Draw time and bus bandwidth over size into an SVG file")
      ->type_name("FILE.svg");
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Every figure is of programs that run on all ranks in simulated time.\n"
      "Sizes and bandwidths are those of NCCL's tests: algbw is size / time,\n"
      "busbw that times 2 (n - 1) / n of an all_reduce, (n - 1) / n of an\n"
      "all_gather, reduce_scatter and all_to_all, 1 of the others.\n"
      "\n"
      "Examples:\n"
      "  trnemu collective all_reduce\n"
      "  trnemu collective all_gather --system trn2.48xlarge --ranks 16 \\\n"
      "      --size 64KiB:256MiB --algorithm all --plot all_gather.svg\n"
      "  trnemu collective reduce_scatter --group-size 8 --size 1MiB,16MiB\n"
      "  trnemu collective all_reduce --size 1MiB --dtype fp32 --check\n"
      "  trnemu collective all_reduce --size 64MiB --fail-link 0-1\n"
      "\n"
      "docs/collective-command.md explains every column. Exit codes: 0\n"
      "success, 1 a fault, 2 usage, 3 unsupported, 70 a bug in trnemu,\n"
      "130 interrupted.");
  sub->callback([args, &action] {
    action = [args] {
      const InterruptScope scope;
      return Measure(*args);
    };
  });
}

}  // namespace trnemu::cli
