// Metrics of a run, under the names and with the formulas of the vendor's
// profiler (tools/neuron-explorer/profile-schema-reference.rst, table
// Summary). As in its files, what is named a percent is a share of 1.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/profile/analysis.h"

namespace trnemu {
namespace {

double Seconds(Ticks t) { return static_cast<double>(t) / kTicksPerNs * 1e-9; }
double Over(double a, double b) { return b == 0 ? 0 : a / b; }

class Metrics {
 public:
  explicit Metrics(ProfileReport& report) : report_(report) {}

  void Add() {
    Put("total_time", Seconds(report_.end), "seconds",
        "from the start of the run to its last completion");
    Flops();
    Engines();
    Dma();
    Memory();
    Throttling();
    Critical();
  }

 private:
  void Put(std::string name, double value, std::string unit,
           std::string meaning) {
    report_.summary.push_back(
        {std::move(name), value, std::move(unit), std::move(meaning)});
  }
  double time_ns() const {
    return static_cast<double>(report_.end) / kTicksPerNs;
  }
  double cores() const {
    return static_cast<double>(report_.program->cores.size());
  }
  // Of all cores, in bf16.
  double PeakFlopsPerNs() const {
    const TensorEngineLimits& t = report_.hardware->tensor;
    return cores() * 2 * static_cast<double>(t.rows * t.columns) *
           report_.hardware->engine(Engine::kTensor).clock_ghz;
  }
  // Of the stack, which its cores share (as the vendor's profiler has it); of
  // those of all cores, if they are several.
  double HbmBytesPerNs() const {
    const MemoryLimits& m = report_.hardware->memory;
    return std::ceil(cores() / static_cast<double>(m.hbm_stack_cores)) *
           m.hbm_stack_bandwidth;
  }

  void Flops() {
    double flops = 0, transpose = 0, adjusted = 0, adjusted_transpose = 0;
    int64_t multiplications = 0;
    for (const InstructionRecord& r : report_.timeline->instructions()) {
      const InstructionFacts& f = report_.FactsOf(r);
      if (f.flops == 0) continue;
      ++multiplications;
      flops += f.flops;
      adjusted += f.adjusted_flops;
      if (!f.transpose) continue;
      transpose += f.flops;
      adjusted_transpose += f.adjusted_flops;
    }
    double bytes = 0;
    for (const DmaRecord& d : report_.timeline->dma()) {
      bytes += static_cast<double>(d.hbm_read + d.hbm_written);
    }
    const double all = PeakFlopsPerNs() * time_ns();
    const double ridge = Over(PeakFlopsPerNs(), HbmBytesPerNs());
    const double intensity = Over(flops - transpose, bytes);
    // Work without traffic has no intensity, and no bound by it.
    const bool unbound = bytes == 0 && flops > transpose;
    Put("model_flops", flops - transpose, "flops",
        "of all multiplications but transposes, 2 K M N each");
    Put("hardware_flops", flops, "flops", "of all multiplications");
    Put("transpose_flops", transpose, "flops",
        "of multiplications that only move data");
    Put("adjusted_hardware_flops", adjusted, "flops",
        "as if in bf16: fp32 counts 4 times (hinted to be 0 or 1, twice), fp8 "
        "half, MX a quarter, transposes by their time");
    Put("adjusted_transpose_flops", adjusted_transpose, "flops",
        "the same of transposes");
    Put("matmul_instruction_count", static_cast<double>(multiplications), "",
        "multiplications executed");
    Put("mfu_estimated_percent", Over(adjusted - adjusted_transpose, all),
        "ratio", "share of the tensor engine's peak in useful work");
    Put("hfu_estimated_percent", Over(adjusted, all), "ratio",
        "share of the tensor engine's peak, transposes too");
    Put("mfu_max_achievable_estimated_percent",
        unbound ? 1 : std::min(1.0, Over(intensity, ridge)), "ratio",
        "mfu that the arithmetic intensity allows");
    if (!unbound) {
      Put("mm_arithmetic_intensity", intensity, "flops/byte",
          "useful flops a byte of HBM traffic");
    }
    Put("peak_flops_bandwidth_ratio", ridge, "flops/byte",
        "below this intensity the memory is the limit");
    Put("transpose_flops_percent", Over(adjusted_transpose, adjusted), "ratio",
        "transposes, of all flops of the tensor engine");
  }

  void Engines() {
    for (Engine engine : kSequencers) {
      Ticks instruction_time = 0, active = 0;
      int64_t count = 0;
      for (const EngineTotals& e : report_.engines) {
        if (e.engine != engine) continue;
        active += e.active;
        count += e.instructions;
      }
      for (const InstructionRecord& r : report_.timeline->instructions()) {
        if (r.instruction->engine != engine) continue;
        instruction_time += r.end - r.start;
      }
      const std::string name =
          absl::StrCat(std::string(Name(engine)), "_engine");
      const double mean = Seconds(active) / cores();
      Put(name + "_instruction_count", static_cast<double>(count), "",
          "instructions executed");
      Put(name + "_instruction_time", Seconds(instruction_time), "seconds",
          "start to completion, of all instructions together");
      Put(name + "_active_time", mean, "seconds",
          "at least one instruction under way; mean of the cores");
      Put(name + "_active_time_percent", Over(mean, Seconds(report_.end)),
          "ratio", "the same, of the whole time");
    }
  }

  void Dma() {
    double bytes = 0, packets = 0;
    int64_t transfers = 0;
    Ticks packet_time = 0, transfer_time = 0, active = 0;
    for (const EngineTotals& e : report_.engines) {
      if (e.engine != Engine::kDma) continue;
      transfers += e.instructions;
      active += e.active;
    }
    for (const DmaRecord& d : report_.timeline->dma()) {
      bytes += static_cast<double>(d.bytes);
      packets += d.descriptors;
      packet_time += d.busy;
      transfer_time += d.bytes > 0 ? d.end - d.start : 0;
    }
    const double mean = Seconds(active) / cores();
    Put("dma_active_time", mean, "seconds", "at least one part moves bytes");
    Put("dma_active_time_percent", Over(mean, Seconds(report_.end)), "ratio",
        "the same, of the whole time");
    Put("dma_transfer_count", static_cast<double>(transfers), "",
        "transfers triggered");
    Put("dma_transfer_total_bytes", bytes, "bytes", "moved by DMA");
    Put("dma_transfer_average_bytes",
        Over(bytes, static_cast<double>(transfers)), "bytes", "of a transfer");
    Put("dma_transfer_time", Seconds(transfer_time), "seconds",
        "start to end, of all parts together");
    Put("dma_packet_time", Seconds(packet_time), "seconds",
        "busy time of all DMA engines together");
    Put("dma_descriptor_average_bytes", Over(bytes, packets), "bytes",
        "of a run that is contiguous on both sides");
  }

  void Memory() {
    double read = 0, written = 0;
    for (const DmaRecord& d : report_.timeline->dma()) {
      read += static_cast<double>(d.hbm_read);
      written += static_cast<double>(d.hbm_written);
    }
    InstructionFacts sum;
    int64_t evacuations = 0, evacuated = 0;
    for (const InstructionRecord& r : report_.timeline->instructions()) {
      const InstructionFacts& f = report_.FactsOf(r);
      sum.sbuf_read += f.sbuf_read;
      sum.sbuf_written += f.sbuf_written;
      sum.psum_read += f.psum_read;
      sum.psum_written += f.psum_written;
      if (f.psum_read == 0 || f.sbuf_written == 0) continue;
      ++evacuations;
      evacuated += f.psum_read;
    }
    Put("hbm_read_bytes", read, "bytes", "read from HBM by DMA");
    Put("hbm_write_bytes", written, "bytes", "written to HBM by DMA");
    Put("mbu_estimated_percent",
        Over(read + written, HbmBytesPerNs() * time_ns()), "ratio",
        "HBM traffic, of what the bandwidth of the stack allows");
    Put("sbuf_read_bytes", static_cast<double>(sum.sbuf_read), "bytes",
        "by instructions and DMA");
    Put("sbuf_write_bytes", static_cast<double>(sum.sbuf_written), "bytes",
        "by instructions and DMA");
    Put("psum_read_bytes", static_cast<double>(sum.psum_read), "bytes",
        "by instructions");
    Put("psum_write_bytes", static_cast<double>(sum.psum_written), "bytes",
        "by instructions");
    Put("psum_read_sbuf_write_count", static_cast<double>(evacuations), "",
        "instructions that move from PSUM to SBUF");
    Put("psum_read_sbuf_write_bytes", static_cast<double>(evacuated), "bytes",
        "read by them");
  }

  void Throttling() {
    Ticks throttled = 0, tables = 0, busy = 0;
    int64_t loads = 0;
    for (const EngineTotals& e : report_.engines) {
      throttled += e.throttled;
      tables += e.table_load;
      if (e.engine == Engine::kTensor) busy += e.busy;
    }
    for (const InstructionRecord& r : report_.timeline->instructions()) {
      if (r.instruction->engine == Engine::kScalar && r.extra > 0) ++loads;
    }
    Put("throttled_time", Seconds(throttled), "seconds",
        "added to the tensor engine's instructions by its throttle");
    Put("throttled_time_percent",
        Over(static_cast<double>(throttled), static_cast<double>(busy)),
        "ratio", "the same, of its busy time");
    Put("act_table_load_count", static_cast<double>(loads), "",
        "activation tables loaded");
    Put("act_table_load_time", Seconds(tables), "seconds",
        "spent on loading them");
  }

  void Critical() {
    for (const CauseTotal& t : report_.critical_totals) {
      std::string name(Name(t.cause));
      std::replace(name.begin(), name.end(), ' ', '_');
      std::replace(name.begin(), name.end(), '-', '_');
      Put(absl::StrCat("critical_path_", name, "_percent"),
          report_.ShareOf(t.total), "ratio", "of the critical path");
    }
  }

  ProfileReport& report_;
};

}  // namespace

double ProfileReport::metric(std::string_view metric_name) const {
  for (const Metric& m : summary) {
    if (m.name == metric_name) return m.value;
  }
  return 0;
}

void AddMetrics(ProfileReport& report) { Metrics(report).Add(); }

ProfileReport MakeProfileReport(std::shared_ptr<const Program> program,
                                std::shared_ptr<const Hardware> hardware,
                                std::shared_ptr<const Timeline> timeline,
                                Ticks end, std::string name) {
  ProfileReport report;
  report.program = std::move(program);
  report.hardware = std::move(hardware);
  report.timeline = std::move(timeline);
  report.end = end;
  report.name = std::move(name);
  const Hardware& h = *report.hardware;
  if (&h != &HardwareFor(h.target))
    report.hardware_changes = ChangesFromStock(h);
  report.facts =
      std::make_shared<const ProgramFacts>(*report.program, *report.hardware);
  AddEngineTotals(report);
  AddStalls(report);
  AddCriticalPath(report);
  AddOperations(report);
  AddMemory(report);
  AddMetrics(report);
  AddRecommendations(report);
  return report;
}

}  // namespace trnemu
