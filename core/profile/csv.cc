// The tables of the vendor's profiler that mean the same here, with its column
// names (tools/neuron-explorer/profile-schema-reference.rst). Columns that
// nothing here can fill are left out; docs/profile.md lists what stands for
// what. Times are whole nanoseconds, as there.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/profile/columns.h"

namespace trnemu {
namespace {

int64_t Ns(Ticks t) { return (t + 500'000) / 1'000'000; }

// A field of RFC 4180.
std::string Field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

class Table {
 public:
  Table(std::string name, std::string_view header) : name_(std::move(name)) {
    absl::StrAppend(&text_, std::string(header), "\n");
  }
  Table& Add(std::string_view field) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += Field(field);
    return *this;
  }
  Table& Add(int64_t value) { return Add(absl::StrCat(value)); }
  Table& Add(double value) { return Add(NumberText(value)); }
  void End() {
    text_ += '\n';
    first_ = true;
  }
  std::pair<std::string, std::string> Take() {
    return {std::move(name_), std::move(text_)};
  }

 private:
  std::string name_, text_;
  bool first_ = true;
};

class Tables {
 public:
  explicit Tables(const ProfileReport& report)
      : report_(report), texts_(report) {}

  std::vector<std::pair<std::string, std::string>> Do() {
    Instructions();
    DmaParts();
    SemaphoreUpdates();
    Summary();
    OpcodeSummary();
    ActiveTime();
    Usage();
    Allocations();
    Flow();
    Metadata();
    return std::move(tables_);
  }

 private:
  // The longest time that the parts of each trigger take.
  void FindTriggered() {
    triggered_.assign(report_.timeline->instructions().size(), {});
    for (const DmaRecord& d : report_.timeline->dma()) {
      Triggered& t = triggered_[static_cast<size_t>(d.instruction)];
      t.from = t.any ? std::min(t.from, d.start) : d.start;
      t.to = std::max(t.to, d.end);
      t.read += d.hbm_read;
      t.written += d.hbm_written;
      t.any = true;
    }
  }

  void Instructions() {
    FindTriggered();
    Table t("Instruction",
            "start_ts,end_ts,duration_ns,engine,timeline_track,pcore_idx,"
            "opcode,operands,id,pc,evt_wait_time_ns,nki_source_location,"
            "dma_trigger_start_ts,dma_trigger_end_ts,hbm_read_bytes,"
            "hbm_write_bytes,sbuf_read_bytes,sbuf_write_bytes,psum_read_bytes,"
            "psum_write_bytes,tensor_instruction_type,raw_flops,adjusted_flops,"
            "flops_transpose,adjusted_flops_transpose,scalar_activation_fn");
    const auto& rows = report_.timeline->instructions();
    for (size_t r = 0; r < rows.size(); ++r) AddInstruction(t, rows[r], r);
    tables_.push_back(t.Take());
  }

  void AddInstruction(Table& t, const InstructionRecord& r, size_t row) {
    const Instruction& i = *r.instruction;
    const CoreProgram& core = report_.program->cores[r.core];
    const InstructionFacts& f = report_.FactsOf(r);
    const Triggered& dma = triggered_[row];
    const Ticks end = r.end;
    const std::string engine(VendorEngine(i.engine));
    const bool multiplies = f.flops > 0;
    t.Add(Ns(r.start)).Add(Ns(end)).Add(Ns(end) - Ns(r.start)).Add(engine);
    t.Add(f.loads_weights ? "TensorWeights" : engine);
    t.Add(int64_t{r.core}).Add(VendorOpcode(i.opcode));
    t.Add(texts_.all()[static_cast<size_t>(texts_.IndexOf(r))]);
    t.Add(static_cast<int64_t>(row));
    t.Add(&i - core.stream(i.engine).data());
    t.Add(Ns(r.start) - Ns(r.ready));
    t.Add(report_.program->DescribeSource(i.source));
    if (dma.any) {
      t.Add(Ns(dma.from)).Add(Ns(dma.to)).Add(dma.read).Add(dma.written);
    } else {
      t.Add("").Add("").Add("").Add("");
    }
    t.Add(f.sbuf_read).Add(f.sbuf_written);
    t.Add(f.psum_read).Add(f.psum_written);
    if (multiplies) {
      t.Add(f.transpose ? "TRANSPOSE" : "REGULAR");
      t.Add(f.flops).Add(f.adjusted_flops);
      t.Add(f.transpose ? f.flops : 0.0);
      t.Add(f.transpose ? f.adjusted_flops : 0.0);
    } else {
      t.Add("").Add("").Add("").Add("").Add("");
    }
    t.Add(ActivationOf(core, i));
    t.End();
  }

  static std::string ActivationOf(const CoreProgram& core,
                                  const Instruction& i) {
    if (i.opcode != Opcode::kActivate && i.opcode != Opcode::kActivate2) {
      return "";
    }
    std::string name(
        Name(core.AttributesOf(i)[slot::Activate::kOp].as<ActFunction>()));
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return name;
  }

  std::string PlaceOf(const Operand& o) const {
    const Tensor& t = report_.program->tensors[o.access.tensor];
    switch (t.kind) {
      case TensorKind::kInput:
        return "[INPUT]";
      case TensorKind::kOutput:
      case TensorKind::kInOut:
        return "[OUTPUT]";
      case TensorKind::kConstant:
        return "[WEIGHT]";
      case TensorKind::kSbuf:
        return "[SB]";
      case TensorKind::kPsum:
        return "[PSUM]";
      default:
        return "[DRAM]";
    }
  }

  std::string SemaphoresOf(const InstructionRecord& r) const {
    std::string text;
    for (const Signal& s :
         report_.program->cores[r.core].SignalsOf(*r.instruction)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", "S[", s.semaphore, "] (",
                      report_.program->semaphores[s.semaphore].name, ")");
    }
    return text;
  }

  void DmaParts() {
    Table t("DmaPacketAggregated",
            "start_ts,end_ts,duration_ns,id,pcore_idx,block_id,queue_idx,"
            "queue_name,queue_type,op,variable,read_bytes,write_bytes,"
            "transfer_bytes,throughput,source,dest,semaphore_id,"
            "is_transpose_mode,trigger,completion");
    const auto& parts = report_.timeline->dma();
    for (size_t p = 0; p < parts.size(); ++p) AddPart(t, parts[p], p);
    tables_.push_back(t.Take());
  }

  void AddPart(Table& t, const DmaRecord& d, size_t id) {
    const InstructionRecord& r = report_.row(d.instruction);
    const auto operands =
        report_.program->cores[r.core].OperandsOf(*r.instruction);
    const Operand& dst = operands[slot::DmaCopy::kDst];
    const Operand& src = operands[slot::DmaCopy::kSrc];
    // The side in HBM, else the one that is written.
    const bool reads = d.direction == DmaDirection::kLoad;
    const Operand& named = reads ? src : dst;
    const Engine owner = report_.program->queue_sets[d.queue_set].owner;
    const double ns = static_cast<double>(d.end - d.start) / kTicksPerNs;
    t.Add(Ns(d.start)).Add(Ns(d.end)).Add(Ns(d.end) - Ns(d.start));
    t.Add(static_cast<int64_t>(id)).Add(int64_t{d.core});
    t.Add(int64_t{d.instruction}).Add(int64_t{d.queue});
    t.Add(QueueSetName(*report_.program, d.queue_set));
    t.Add(owner == Engine::kGpsimd ? "software_dynamic" : "hardware_dynamic");
    t.Add(reads ? "read" : "write");
    t.Add(report_.program->tensors[named.access.tensor].name);
    t.Add(d.bytes).Add(d.bytes).Add(d.bytes);
    t.Add(ns > 0 ? static_cast<double>(d.bytes) / ns * 1e9 : 0.0);
    t.Add(PlaceOf(src)).Add(PlaceOf(dst)).Add(SemaphoresOf(r));
    t.Add(r.instruction->opcode == Opcode::kDmaTranspose ? "true" : "false");
    t.Add(Ns(r.start)).Add(Ns(r.end));
    t.End();
  }

  void SemaphoreUpdates() {
    Table t("SemaphoreUpdate",
            "timestamp,id,value,update_source,update_operation_type,"
            "update_trigger_timing,pcore_idx");
    for (const SemaphoreRecord& u : report_.timeline->updates()) {
      const InstructionRecord& r = report_.row(u.instruction);
      t.Add(Ns(u.time));
      t.Add(absl::StrCat(
          "S[", u.semaphore, "] (",
          report_.program->semaphores[static_cast<size_t>(u.semaphore)].name,
          ")"));
      t.Add(int64_t{u.value});
      t.Add(u.dma >= 0 ? "AXI" : VendorEngine(r.instruction->engine));
      constexpr std::array<std::string_view, 6> kOps = {
          "none",    "sem_add_imm", "sem_sub_imm",
          "sem_inc", "sem_dec",     "sem_wr_imm"};
      t.Add(kOps[static_cast<size_t>(u.op)]);
      t.Add(u.at == SignalAt::kRead ? "read" : "complete");
      t.Add(int64_t{r.core});
      t.End();
    }
    tables_.push_back(t.Take());
  }

  void Summary() {
    std::string header;
    for (const Metric& m : report_.summary) {
      absl::StrAppend(&header, header.empty() ? "" : ",", m.name);
    }
    Table t("Summary", header);
    for (const Metric& m : report_.summary) t.Add(m.value);
    t.End();
    tables_.push_back(t.Take());
  }

  void OpcodeSummary();
  void ActiveTime();
  void Usage();
  void Allocations();
  void Flow();
  void Metadata();

  struct Triggered {
    Ticks from = 0, to = 0;
    int64_t read = 0, written = 0;
    bool any = false;
  };
  const ProfileReport& report_;
  InstructionTexts texts_;
  std::vector<Triggered> triggered_;  // by row
  std::vector<std::pair<std::string, std::string>> tables_;
};

using Interval = std::pair<Ticks, Ticks>;

// Joins what overlaps or touches.
std::vector<Interval> Merged(std::vector<Interval> all) {
  std::sort(all.begin(), all.end());
  std::vector<Interval> merged;
  for (const Interval& i : all) {
    if (!merged.empty() && i.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, i.second);
    } else {
      merged.push_back(i);
    }
  }
  return merged;
}

void Tables::OpcodeSummary() {
  Table t("OpcodeSummary",
          "engine,opcode,instruction_count,instruction_time_ns,active_time_ns,"
          "active_time_percent");
  std::map<std::pair<std::string, std::string>, std::vector<Interval>> all;
  for (const InstructionRecord& r : report_.timeline->instructions()) {
    all[{std::string(VendorEngine(r.instruction->engine)),
         VendorOpcode(r.instruction->opcode)}]
        .emplace_back(r.start, std::max(r.end, r.issue_end));
  }
  for (auto& [key, intervals] : all) {
    Ticks total = 0, active = 0;
    for (const Interval& i : intervals) total += i.second - i.first;
    for (const Interval& i : Merged(intervals)) active += i.second - i.first;
    t.Add(key.first).Add(key.second);
    t.Add(static_cast<int64_t>(intervals.size()));
    t.Add(Ns(total)).Add(Ns(active)).Add(report_.ShareOf(active));
    t.End();
  }
  tables_.push_back(t.Take());
}

void Tables::ActiveTime() {
  Table t("ActiveTime", "start_ts,end_ts,engine,pcore_idx,duration_ns");
  std::map<std::pair<int, Engine>, std::vector<Interval>> all;
  for (const InstructionRecord& r : report_.timeline->instructions()) {
    all[{r.core, r.instruction->engine}].emplace_back(
        r.start, std::max(r.end, r.issue_end));
  }
  for (auto& [key, intervals] : all) {
    for (const Interval& i : Merged(intervals)) {
      t.Add(Ns(i.first)).Add(Ns(i.second)).Add(VendorEngine(key.second));
      t.Add(int64_t{key.first}).Add(Ns(i.second) - Ns(i.first));
      t.End();
    }
  }
  tables_.push_back(t.Take());
}

void Tables::Usage() {
  Table hbm("HbmUsage", "timestamp,current_throughput,total_transfer_bytes");
  const Series& rate = report_.hbm_bandwidth;
  double total = 0;
  for (size_t i = 0; i < rate.times.size(); ++i) {
    if (i > 0) {
      total += rate.values[i - 1] *
               static_cast<double>(rate.times[i] - rate.times[i - 1]) /
               kTicksPerNs;
    }
    hbm.Add(Ns(rate.times[i])).Add(rate.values[i] * 1e9);
    hbm.Add(static_cast<int64_t>(total + 0.5));
    hbm.End();
  }
  tables_.push_back(hbm.Take());
  const MemoryLimits& m = report_.hardware->memory;
  const auto usage = [&](std::string name, const std::vector<Series>& cores,
                         int64_t partition_bytes) {
    Table t(std::move(name), "timestamp,avg_util_percent,pcore_idx");
    const auto size = static_cast<double>(partition_bytes * m.partitions);
    for (size_t c = 0; c < cores.size(); ++c) {
      for (size_t i = 0; i < cores[c].times.size(); ++i) {
        t.Add(Ns(cores[c].times[i])).Add(cores[c].values[i] / size);
        t.Add(static_cast<int64_t>(c));
        t.End();
      }
    }
    tables_.push_back(t.Take());
  };
  usage("SbufUsage", report_.sbuf_bytes, m.sbuf_partition_bytes);
  usage("PsumUsage", report_.psum_bytes, m.psum_partition_bytes);
}

void Tables::Allocations() {
  Table t("SbufAllocation",
          "start_ts,end_ts,start_address,end_address,partition,tensor_name,"
          "pcore_idx");
  for (const TileLife& life : report_.tiles) {
    const Tensor& tensor = report_.program->tensors[life.tensor];
    if (tensor.space() != Space::kSbuf) continue;
    const auto address = static_cast<int64_t>(tensor.byte_address);
    t.Add(Ns(life.from)).Add(Ns(life.to)).Add(address);
    t.Add(address + tensor.bytes_per_partition() - 1);
    t.Add(int64_t{tensor.start_partition}).Add(tensor.name);
    t.Add(int64_t{tensor.core});
    t.End();
  }
  tables_.push_back(t.Take());
}

void Tables::Flow() {
  Table t("Flow", "in_id,out_id,in_table,out_table,dependency_type,gap_time");
  const auto add = [&t](int64_t from, int64_t to, std::string_view from_table,
                        std::string_view to_table, std::string_view type,
                        Ticks gap) {
    t.Add(from).Add(to).Add(from_table).Add(to_table).Add(type);
    t.Add(Ns(std::max<Ticks>(0, gap)));
    t.End();
  };
  const auto& rows = report_.timeline->instructions();
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].update < 0) continue;
    const SemaphoreRecord& u =
        report_.timeline->updates()[static_cast<size_t>(rows[r].update)];
    const bool dma = u.dma >= 0;
    add(dma ? u.dma : u.instruction, static_cast<int64_t>(r),
        dma ? "DmaPacketAggregated" : "Instruction", "Instruction",
        "FLOW_DEPENDENCE", rows[r].start - u.time);
  }
  const auto& parts = report_.timeline->dma();
  for (size_t p = 0; p < parts.size(); ++p) {
    add(parts[p].instruction, static_cast<int64_t>(p), "Instruction",
        "DmaPacketAggregated", "FLOW_DEPENDENCE",
        parts[p].start - report_.row(parts[p].instruction).issue_end);
  }
  tables_.push_back(t.Take());
}

void Tables::Metadata() {
  const Hardware& h = *report_.hardware;
  Table t("Metadata",
          "profile_schema_version,num_physical_cores,vnc_enabled,"
          "first_hw_timestamp,last_hw_timestamp,hbm_ddr_bandwidth,"
          "num_dma_engines_per_neuroncore,tensor_engine_num_rows,"
          "tensor_engine_num_cols,tensor_engine_clock_freq,"
          "vector_engine_clock_freq,scalar_engine_clock_freq,"
          "gpsimd_engine_clock_freq,instance_type,profile_name,is_simulation,"
          "hardware_changes");
  const auto cores = static_cast<int64_t>(report_.program->cores.size());
  t.Add("7.4.0").Add(cores).Add(cores > 1 ? "true" : "false");
  t.Add(int64_t{0}).Add(Ns(report_.end));
  t.Add(h.memory.hbm_stack_bandwidth * 1e9).Add(h.dma.engines);
  t.Add(h.tensor.rows).Add(h.tensor.columns);
  for (Engine e :
       {Engine::kTensor, Engine::kVector, Engine::kScalar, Engine::kGpsimd}) {
    t.Add(h.engine(e).clock_ghz);
  }
  t.Add(h.name).Add(report_.name).Add("true");
  std::string changes;
  for (const HardwareChange& c : report_.hardware_changes) {
    absl::StrAppend(&changes, changes.empty() ? "" : "; ", Text(c));
  }
  t.Add(changes);
  t.End();
  tables_.push_back(t.Take());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ProfileTables(
    const ProfileReport& report) {
  return Tables(report).Do();
}

}  // namespace trnemu
