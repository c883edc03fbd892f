// trnemu profile: where a program's time goes.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/device.h"
#include "core/profile/report.h"
#include "frontend/cli/common.h"
#include "frontend/cli/hardware_report.h"
#include "frontend/cli/interrupt.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/run_options.h"
#include "frontend/cli/system_report.h"
#include "frontend/cli/system_run.h"
#include "frontend/cli/tensors.h"
#include "frontend/cli/verbs.h"
#include "frontend/report/report.h"
#include "isa/container.h"

namespace trnemu::cli {
namespace {

struct ProfileArgs {
  RunArgs run;
  std::vector<std::string> json;  // --json, and its file if it has one
  bool wants_json = false;
  std::string trace, csv, html;
  int64_t max_records = Timeline::kDefaultLimit;
  int rank = -1;  // with --system: whose profile; -1: of the last to end
  std::vector<int> ranks_shown;  // in the trace; none: the first few
};

constexpr int kShownRanks = 16;

class ProfileVerb {
 public:
  explicit ProfileVerb(const ProfileArgs& args) : args_(args) {}

  int Do() {
    for (const auto step : {&ProfileVerb::ReadOptions, &ProfileVerb::Load,
                            &ProfileVerb::ReadArrays, &ProfileVerb::Execute,
                            &ProfileVerb::WriteFiles}) {
      const absl::Status status = (this->*step)();
      if (status.ok()) continue;
      progress_.Stop();
      const std::vector<Diagnostic>& problems =
          on_system() ? system_.problems() : problems_;
      const std::vector<Diagnostic> all =
          problems.empty() ? std::vector{DiagnosticOf(status)} : problems;
      return Fail("profile", PrintsJson(), all);
    }
    Report();
    return kSuccess;
  }

 private:
  bool on_system() const { return !args_.run.system.name.empty(); }
  // Without a file it is printed.
  bool PrintsJson() const { return args_.wants_json && JsonFile().empty(); }
  std::string JsonFile() const {
    return args_.json.empty() ? "" : args_.json.front();
  }

  absl::Status ReadOptions() {
    absl::StatusOr<RunOptions> options = MakeRunOptions(args_.run);
    if (!options.ok()) return options.status();
    options_ = *std::move(options);
    std::vector<NamedPath> written = {{"--json", JsonFile()},
                                      {"--trace", args_.trace},
                                      {"--html", args_.html}};
    if (!args_.csv.empty()) {
      written.push_back({"--csv", args_.csv + "/Instruction.csv"});
    }
    return CheckPaths(FilesRead(args_.run), written);
  }

  absl::Status Load() {
    if (on_system()) return LoadOnSystem();
    absl::StatusOr<Program> program = ReadProgram(args_.run.program);
    if (!program.ok()) return program.status();
    program_ = std::make_shared<const Program>(*std::move(program));
    auto device = MakeDevice(*program_, args_.run, options_);
    if (!device.ok()) return device.status();
    device_ = *std::move(device);
    auto executable = device_->Load(program_, options_.allow);
    if (!executable.ok()) return executable.status();
    executable_ = *std::move(executable);
    return absl::OkStatus();
  }

  absl::Status LoadOnSystem() {
    absl::Status status = system_.Load();
    if (!status.ok()) return status;
    const int ranks = system_.ranks();
    shown_.assign(static_cast<size_t>(ranks), false);
    std::vector<int> asked = args_.ranks_shown;
    for (int r = 0; args_.ranks_shown.empty() && r < kShownRanks; ++r) {
      if (r < ranks) asked.push_back(r);
    }
    asked.push_back(std::max(args_.rank, 0));
    for (const int rank : asked) {
      if (rank < 0 || rank >= ranks) {
        return UsageError(Cat("there is no rank ", rank, ": the ", ranks,
                              " ranks are 0 to ", ranks - 1));
      }
    }
    asked.pop_back();
    for (const int rank : asked) shown_[static_cast<size_t>(rank)] = true;
    return absl::OkStatus();
  }

  absl::Status ExecuteOnSystem() {
    // Which rank ends last is not known before.
    std::vector<bool> profiled(shown_.size(), args_.rank < 0);
    if (args_.rank >= 0) {
      if (!args_.trace.empty()) profiled = shown_;
      profiled[static_cast<size_t>(args_.rank)] = true;
    }
    const absl::Status status =
        system_.Execute(profiled, args_.max_records, !args_.trace.empty());
    if (!status.ok()) return status;
    const auto& ranks = system_.result().ranks;
    rank_ = args_.rank;
    for (size_t r = 0; args_.rank < 0 && r < ranks.size(); ++r) {
      if (rank_ < 0 ||
          ranks[r].time_ns > ranks[static_cast<size_t>(rank_)].time_ns) {
        rank_ = static_cast<int>(r);
      }
    }
    progress_.Say("analysing");
    result_ = ranks[static_cast<size_t>(rank_)];
    report_ = system_.Report(rank_);
    return absl::OkStatus();
  }

  absl::Status ReadArrays() {
    if (on_system()) return absl::OkStatus();
    inputs_ =
        ReadInputs(*program_, args_.run.inputs, options_.values, problems_);
    return problems_.empty() ? absl::OkStatus() : ToStatus(problems_.front());
  }

  absl::Status Execute() {
    if (on_system()) return ExecuteOnSystem();
    Inputs inputs = AsInputs(inputs_);
    progress_.Say(Cat("running ", args_.run.program));
    auto timeline = std::make_shared<Timeline>(args_.max_records);
    options_.timeline = timeline.get();
    options_.interrupted = Interrupted;
    absl::StatusOr<RunResult> result = executable_->Run(inputs, options_);
    if (!result.ok()) return result.status();
    result_ = *std::move(result);
    progress_.Say("analysing");
    report_ = MakeProfileReport(program_, {device_, &device_->hardware()},
                                std::move(timeline), result_.profile.end,
                                program_->name);
    return absl::OkStatus();
  }

  absl::Status WriteHtml() {
    const absl::StatusOr<std::string> page = RenderReport(ProfileJson(report_));
    return page.ok() ? WriteText(args_.html, *page) : page.status();
  }

  absl::Status WriteFiles() {
    absl::Status status;
    if (!JsonFile().empty()) {
      status = WriteText(JsonFile(), ProfileJson(report_));
    }
    if (status.ok() && !args_.trace.empty()) {
      status = WriteText(args_.trace, on_system() ? system_.Trace(shown_)
                                                  : ProfileTrace(report_));
    }
    if (status.ok() && !args_.html.empty()) status = WriteHtml();
    if (!status.ok() || args_.csv.empty()) return status;
    std::error_code error;
    std::filesystem::create_directories(args_.csv, error);
    for (const auto& [name, text] : ProfileTables(report_)) {
      const auto path = std::filesystem::path(args_.csv) / (name + ".csv");
      status = WriteText(path.string(), text);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Report() {
    progress_.Stop();
    if (PrintsJson()) return PrintJson(ToJson());
    if (on_system()) {
      PrintError(WarningsText(system_));
      Print(Cat(SystemText(system_), "\nrank ", rank_, "\n"));
    }
    for (const Diagnostic& d : result_.diagnostics) {
      if (!on_system()) PrintError(Render(d) + "\n");
    }
    Print(ProfileText(report_) + "\n");
    const std::pair<const char*, std::string> files[] = {{"json", JsonFile()},
                                                         {"trace", args_.trace},
                                                         {"html", args_.html},
                                                         {"csv", args_.csv}};
    std::string lines;
    for (const auto& [what, path] : files) {
      if (!path.empty())
        lines += Cat(what, std::string(11 - std::string(what).size(), ' '),
                     path, "\n");
    }
    if (!lines.empty()) Print("\n" + lines);
    const auto shown = std::count(shown_.begin(), shown_.end(), true);
    if (!args_.trace.empty() && on_system() && shown < system_.ranks()) {
      Print(Cat("           it shows ", shown, " of ", system_.ranks(),
                " ranks: --ranks-shown\n"));
    }
  }

  Json ToJson() const {
    Json json = Envelope("profile");
    json["ok"] = true;
    json["exit_code"] = kSuccess;
    json["program"] = args_.run.program;
    json["target"] = result_.target;
    json["time_ns"] = result_.time_ns;
    json["instructions"] = result_.profile.instructions;
    json["summary"] = Json::object();
    for (const Metric& m : report_.summary) json["summary"][m.name] = m.value;
    const auto ns = [](Ticks t) {
      return static_cast<double>(t) / kTicksPerNs;
    };
    json["engines"] = Json::array();
    for (const EngineTotals& e : report_.engines) {
      json["engines"].push_back({{"core", e.core},
                                 {"engine", std::string(Name(e.engine))},
                                 {"instructions", e.instructions},
                                 {"busy_ns", ns(e.busy)},
                                 {"active_ns", ns(e.active)},
                                 {"waiting_ns", ns(e.waiting)}});
    }
    json["idle"] = Json::array();
    for (const CauseTotal& t : report_.stall_totals) {
      json["idle"].push_back({{"core", t.core},
                              {"engine", std::string(Name(t.engine))},
                              {"cause", std::string(Name(t.cause))},
                              {"count", t.count},
                              {"total_ns", ns(t.total)}});
    }
    json["critical_path"] = Json::array();
    for (const CauseTotal& t : report_.critical_totals) {
      json["critical_path"].push_back({{"cause", std::string(Name(t.cause))},
                                       {"count", t.count},
                                       {"total_ns", ns(t.total)}});
    }
    json["recommendations"] = Json::array();
    for (const Recommendation& r : report_.recommendations) {
      json["recommendations"].push_back({{"id", r.id},
                                         {"title", r.title},
                                         {"text", r.text},
                                         {"evidence", r.evidence},
                                         {"saves_ns", ns(r.saves)}});
    }
    if (!args_.run.hardware.empty()) {
      json["hardware"] =
          HardwareJson(args_.run.hardware, report_.hardware_changes);
    }
    json["diagnostics"] = ToJsonArray(result_.diagnostics);
    json["allowed"] = result_.allowed;
    if (!on_system()) return json;
    json["rank"] = rank_;
    Json all = Json::object();
    AddSystemJson(system_, all);
    for (const char* field : {"system", "ranks", "collectives"}) {
      json[field] = all[field];
    }
    return json;
  }

  const ProfileArgs& args_;
  Progress progress_{Cat("loading ", args_.run.program)};
  RunOptions options_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Executable> executable_;
  std::vector<NamedArray> inputs_;
  std::vector<Diagnostic> problems_;
  RunResult result_;
  ProfileReport report_;
  // With --system:
  SystemRun system_{args_.run, progress_};
  std::vector<bool> shown_;  // by rank
  int rank_ = 0;
};

int Profiled(const ProfileArgs& args) {
  const InterruptScope scope;
  const int code = ProfileVerb(args).Do();
  return Interrupted() ? static_cast<int>(kInterrupted) : code;
}

}  // namespace

void AddProfile(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("profile", "Run and show where time goes");
  auto args = std::make_shared<ProfileArgs>();
  AddSimulationOptions(*sub, args->run);
  CLI::Option* json =
      sub->add_option(
             "--json", args->json,
             "Write all that is known to FILE; without FILE, print one "
             "JSON object instead of the summary")
          ->type_name("[FILE]")
          ->expected(0, 1);
  sub->add_option("--trace", args->trace,
                  "Write a timeline that ui.perfetto.dev opens")
      ->type_name("FILE");
  sub->add_option("--csv", args->csv,
                  "Write tables with the vendor profiler's column names")
      ->type_name("DIR");
  sub->add_option("--html", args->html,
                  "Write a report of one file for a browser")
      ->type_name("FILE");
  sub->add_option("--max-records", args->max_records,
                  "Stop with a fault after N records (one an instruction and "
                  "a DMA part, about 90 bytes each)")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, int64_t{2'000'000'000}));
  sub->add_option("--rank", args->rank,
                  "With --system: whose profile is printed and written, but "
                  "for the trace (default: of the rank that ends last)")
      ->type_name("R")
      ->check(CLI::NonNegativeNumber)
      ->needs(sub->get_option("--system"));
  sub->add_option("--ranks-shown", args->ranks_shown,
                  "With --system: ranks in the trace (default: the first 16)")
      ->type_name("R,R,...")
      ->delimiter(',')
      ->needs(sub->get_option("--system"));
  sub->footer(
      "Examples:\n"
      "  trnemu profile k.trn --input x=x.npy\n"
      "  trnemu profile k.trn --values off            no inputs needed, "
      "faster\n"
      "  trnemu profile k.trn --values off --trace k.trace.json\n"
      "  trnemu profile k.trn --values off --html k.html\n"
      "  trnemu profile k.trn --values off --csv k.profile\n"
      "  trnemu profile k.trn --values off --json=k.json\n"
      "  trnemu profile k.trn --values off --hardware what_if.textproto\n"
      "  trnemu profile k.trn --values off --system trn2.48xlarge --ranks 4 "
      "\\\n"
      "      --trace k.trace.json      ranks, collectives, links\n"
      "\n"
      "docs/profile.md explains every figure. Exit codes: 0 success, 1 a "
      "fault\n"
      "in the program, 2 usage or inputs, 3 unsupported, 4 malformed file,\n"
      "70 a bug in trnemu, 130 interrupted.");
  sub->callback([args, json, &action] {
    args->wants_json = json->count() > 0;
    action = [args] { return Profiled(*args); };
  });
}

}  // namespace trnemu::cli
