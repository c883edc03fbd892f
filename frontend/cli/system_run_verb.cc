// trnemu run --system: a program on every rank of a system.
#include <algorithm>
#include <memory>
#include <optional>

#include "frontend/cli/expect.h"
#include "frontend/cli/hardware_report.h"
#include "frontend/cli/interrupt.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/processes.h"
#include "frontend/cli/run_report.h"
#include "frontend/cli/system_report.h"
#include "frontend/cli/system_run.h"

namespace trnemu::cli {
namespace {

// As it goes to the process that prints.
struct RankComparison {
  int rank = 0;
  bool ok = false;
  std::string text;
  Json json;
};

RankComparison ParseComparison(const std::string& text) {
  const Json json = Json::parse(text);
  return {json["rank"], json["ok"], json["text"], json["json"]};
}

class SystemVerb {
 public:
  explicit SystemVerb(const RunArgs& args) : args_(args) {}
  // The first one made the directory above all.
  ~SystemVerb() {
    while (!outputs_.empty()) outputs_.pop_back();
  }

  int Do() {
    absl::Status status =
        CheckPaths(FilesRead(args_), {{"--trace", args_.trace}});
    if (status.ok()) status = run_.Load();
    status = AgreeOn(status);  // what stops one process stops all
    // From here on there are temporary files to remove.
    const InterruptScope scope;
    // The first process makes the directory above all, and removes it last.
    if (status.ok()) {
      status = AgreeOn(IsFirstProcess() ? OpenOutputs() : absl::OkStatus());
    }
    if (status.ok()) {
      status = AgreeOn(IsFirstProcess() ? absl::OkStatus() : OpenOutputs());
    }
    if (status.ok()) {
      const bool traced = !args_.trace.empty();
      const std::vector<bool> profiled(
          traced ? static_cast<size_t>(run_.ranks()) : 0, true);
      status = run_.Execute(profiled, Timeline::kDefaultLimit, traced);
    }
    if (status.ok()) status = AgreeOn(WriteOutputs());
    if (status.ok()) status = AgreeOn(PublishOutputs());
    if (status.ok()) status = WriteTrace();
    if (!status.ok()) DiscardOutputs();
    if (WasInterrupted(status)) return StopInterrupted(status);
    progress_.Stop();
    if (!status.ok()) return FailWith(status);
    return Report();
  }

 private:
  int FailWith(const absl::Status& status) {
    progress_.Stop();
    const auto& problems = run_.problems();
    const bool own = !problems.empty() &&
                     ToJson(problems.front()) == ToJson(DiagnosticOf(status));
    return own ? Fail("run", args_.json, problems)
               : Fail("run", args_.json, status);
  }

  // This process or another one.
  static bool WasInterrupted(const absl::Status& status) {
    return !status.ok() && DiagnosticOf(status).id == "limit.interrupted";
  }

  int StopInterrupted(const absl::Status& status) {
    progress_.Stop();
    return ReportInterrupted(status, args_.json);
  }

  absl::Status OpenOutputs() {
    for (int r = 0; r < run_.ranks() && !args_.output_dir.empty(); ++r) {
      outputs_.push_back(std::make_unique<OutputFiles>());
      if (!run_.IsHere(r)) continue;
      const absl::Status status = outputs_.back()->Open(
          Cat(args_.output_dir, "/rank", r), OutputsOf(run_.program(r)));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // On all processes.
  void DiscardOutputs() {
    if (!IsFirstProcess()) outputs_.clear();
    (void)AgreeOn(absl::OkStatus());
    while (!outputs_.empty()) outputs_.pop_back();
  }

  absl::Status WriteOutputs() {
    for (size_t r = 0; r < outputs_.size(); ++r) {
      if (!run_.IsHere(static_cast<int>(r))) continue;
      const absl::Status status =
          outputs_[r]->Fill(run_.result().ranks[r].outputs);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status PublishOutputs() {
    for (const auto& files : outputs_) {
      const absl::Status status = files->Publish();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status WriteTrace() {
    if (args_.trace.empty()) return absl::OkStatus();
    progress_.Say("writing the trace");
    return WriteText(
        args_.trace,
        run_.Trace(std::vector<bool>(static_cast<size_t>(run_.ranks()), true)));
  }

  int Report() {
    const std::vector<RankComparison> comparisons = CompareAll();
    const bool ok = std::all_of(comparisons.begin(), comparisons.end(),
                                [](const auto& c) { return c.ok; });
    const int code = ok ? kSuccess : kFault;
    if (args_.json) {
      PrintReportJson(ok, code, comparisons);
      return code;
    }
    PrintError(WarningsText(run_));
    Print(SystemText(run_));
    Print(HardwareText(args_.hardware, run_.hardware_changes(), 14));
    if (!run_.options().values) {
      Print("\nNo values were computed (--values off).\n");
    } else if (outputs_.empty()) {
      Print(
          "\nNo output was written; --output-dir DIR writes "
          "DIR/rankN/NAME.npy.\n");
    } else {
      Print(Cat("\noutputs       ", args_.output_dir, "/rankN/NAME.npy\n"));
    }
    if (!args_.trace.empty()) Print(Cat("trace         ", args_.trace, "\n"));
    PrintComparisons(comparisons);
    return code;
  }

  // Of the ranks of all processes.
  std::vector<RankComparison> CompareAll() {
    std::vector<std::string> texts;
    for (const auto& [rank, want] : run_.expected()) {
      const auto& outputs =
          run_.result().ranks[static_cast<size_t>(rank)].outputs;
      const Comparison c = Compare(outputs.at(want->tensor->name), *want,
                                   args_.rtol, args_.atol);
      const Json json = {{"rank", rank},
                         {"ok", c.ok()},
                         {"text", Describe(c)},
                         {"json", cli::ToJson(c)}};
      texts.push_back(json.dump(-1, ' ', true, Json::error_handler_t::replace));
    }
    std::vector<RankComparison> all;
    for (const std::string& text : GatherTexts(std::move(texts))) {
      all.push_back(ParseComparison(text));
    }
    return all;
  }

  // Every one that does not hold, and how many do.
  static void PrintComparisons(const std::vector<RankComparison>& all) {
    int64_t good = 0;
    for (const RankComparison& c : all) {
      if (c.ok) {
        ++good;
      } else {
        PrintError(Cat("expect        rank ", c.rank, ": ", c.text, "\n"));
      }
    }
    if (!all.empty()) {
      Print(Cat("expect        ", good, " of ", all.size(), " agree\n"));
    }
  }

  void PrintReportJson(bool ok, int code,
                       const std::vector<RankComparison>& comparisons) {
    Json json = Envelope("run");
    json["ok"] = ok;
    json["exit_code"] = code;
    json["programs"] = args_.programs;
    json["target"] = std::string(Name(run_.topology().system().target));
    AddSystemJson(run_, json);
    if (!args_.hardware.empty()) {
      json["hardware"] = HardwareJson(args_.hardware, run_.hardware_changes());
    }
    json["outputs"] = Json::array();
    for (int r = 0; r < run_.ranks() && run_.options().values; ++r) {
      for (const Tensor* t : OutputsOf(run_.program(r))) {
        const std::string path =
            outputs_.empty()
                ? ""
                : Cat(args_.output_dir, "/rank", r, "/", FileNameOf(t->name));
        json["outputs"].push_back(
            {{"rank", r},
             {"name", t->name},
             {"dtype", std::string(Name(t->dtype))},
             {"shape", t->shape},
             {"file", path.empty() ? Json(nullptr) : Json(path)}});
      }
    }
    json["expect"] = Json::array();
    for (const RankComparison& c : comparisons) {
      Json one = c.json;
      one["rank"] = c.rank;
      json["expect"].push_back(std::move(one));
    }
    json["diagnostics"] = Json::array();
    json["allowed"] = Json::array();
    for (const RunResult& r : run_.result().ranks) {
      for (const Diagnostic& d : r.diagnostics) {
        json["diagnostics"].push_back(ToJsonObject(d));
      }
      for (const std::string& id : r.allowed) {
        const auto& seen = json["allowed"];
        if (std::find(seen.begin(), seen.end(), Json(id)) == seen.end()) {
          json["allowed"].push_back(id);
        }
      }
    }
    PrintJson(json);
  }

  const RunArgs& args_;
  Progress progress_{Cat("loading ", args_.program)};
  SystemRun run_{args_, progress_};
  std::vector<std::unique_ptr<OutputFiles>> outputs_;
};

}  // namespace

int RunOnSystem(const RunArgs& args) { return SystemVerb(args).Do(); }

}  // namespace trnemu::cli
