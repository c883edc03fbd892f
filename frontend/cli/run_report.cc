#include "frontend/cli/run_report.h"

#include <algorithm>

#include "frontend/cli/hardware_report.h"
#include "isa/access.h"

namespace trnemu::cli {
namespace {

Json OutputsJson(const RunReport& report) {
  Json outputs = Json::array();
  if (!report.values) return outputs;
  for (const RunReport::Output& o : report.outputs) {
    Json json;
    json["name"] = o.tensor->name;
    json["dtype"] = std::string(Name(o.tensor->dtype));
    json["shape"] = o.tensor->shape;
    json["file"] = o.path.empty() ? Json(nullptr) : Json(o.path);
    outputs.push_back(std::move(json));
  }
  return outputs;
}

Json EnginesJson(const RunResult& result) {
  Json engines = Json::object();
  for (size_t e = 1; e < result.profile.engines.size(); ++e) {
    const EngineProfile& p = result.profile.engines[e];
    Json json;
    json["instructions"] = p.instructions;
    if (result.timed) {
      // As in the summary: for dma the mean of its sixteen engines.
      const double parts = static_cast<Engine>(e) == Engine::kDma ? 16 : 1;
      json["busy_ns"] = static_cast<double>(p.busy) / parts / kTicksPerNs;
      json["waiting_ns"] = static_cast<double>(p.waiting) / kTicksPerNs;
    }
    engines[std::string(kEngineNames[e])] = std::move(json);
  }
  return engines;
}

}  // namespace

bool RunReport::ok() const {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& c) { return c.ok(); });
}

Json ToJson(const RunReport& report) {
  const RunResult& r = *report.result;
  Json json = Envelope("run");
  json["ok"] = report.ok();
  json["exit_code"] = report.ok() ? kSuccess : kFault;
  json["program"] = report.program;
  json["target"] = r.target;
  json["time_ns"] = r.timed ? Json(r.time_ns) : Json(nullptr);
  json["instructions"] = r.profile.instructions;
  json["engines"] = EnginesJson(r);
  json["opcodes"] = r.profile.opcodes;
  json["operations"] = r.profile.operations;
  json["dma_bytes"] = r.profile.dma_bytes;
  json["hbm_read_bytes"] = r.profile.hbm_read_bytes;
  json["hbm_write_bytes"] = r.profile.hbm_write_bytes;
  json["matmul_flops"] = r.profile.matmul_flops;
  json["outputs"] = OutputsJson(report);
  json["expect"] = Json::array();
  for (const Comparison& c : report.comparisons) {
    json["expect"].push_back(ToJson(c));
  }
  if (!report.envelope_json.empty()) {
    json["envelope"] = Json::parse(report.envelope_json);
  }
  json["diagnostics"] = ToJsonArray(r.diagnostics);
  json["allowed"] = r.allowed;
  if (!report.hardware.empty()) {
    json["hardware"] = HardwareJson(report.hardware, report.hardware_changes);
  }
  if (report.explored > 0) json["explored"] = report.explored;
  if (!report.debug_events.is_null()) json["debug"] = report.debug_events;
  return json;
}

void PrintText(const RunReport& report) {
  const RunResult& r = *report.result;
  for (const Diagnostic& d : r.diagnostics) PrintError(Render(d) + "\n");
  Print(Summary(r) + "\n");
  Print(HardwareText(report.hardware, report.hardware_changes, 14));
  if (!report.envelope_text.empty()) Print(report.envelope_text + "\n");
  bool unwritten = false;
  for (const RunReport::Output& o : report.outputs) {
    if (!report.values) break;
    Print(Cat("output        ", o.tensor->name, " ",
              DescribeShape(o.tensor->shape), " ", Name(o.tensor->dtype),
              o.path.empty() ? "" : " -> " + o.path, "\n"));
    unwritten = unwritten || o.path.empty();
  }
  if (unwritten) {
    Print("No output was written; --output-dir DIR writes them.\n");
  }
  if (!report.values) Print("No values were computed (--values off).\n");
  if (report.explored > 0) {
    Print(Cat("explored      ", Count(report.explored, "schedule"),
              report.explored == 1 ? " agrees" : " agree",
              " with the result in every bit\n"));
  }
  if (!report.log.empty()) Print(Cat("log           ", report.log, "\n"));
  if (!report.trace.empty()) {
    Print(Cat("trace         ", report.trace, "\n"));
  }
  for (const Comparison& c : report.comparisons) {
    const std::string line = "expect        " + Describe(c) + "\n";
    c.ok() ? Print(line) : PrintError(line);
  }
}

int ReportInterrupted(const absl::Status& status, bool json) {
  if (json) {
    Json report = Envelope("run");
    report["ok"] = false;
    report["exit_code"] = int{kInterrupted};
    report["fault"] = ToJsonObject(DiagnosticOf(status));
    PrintJson(report);
  }
  PrintError(
      "trnemu: interrupted; the run was stopped and no output was "
      "written\n");
  return kInterrupted;
}

}  // namespace trnemu::cli
