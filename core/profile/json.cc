// The profile as one JSON object; docs/profile.md lists its fields. Rows are
// in columns: arrays of equal length.
#include <map>

#include "absl/strings/str_cat.h"
#include "core/profile/columns.h"

namespace trnemu {
namespace {

// Appends an object's members.
class Object {
 public:
  explicit Object(std::string& to) : to_(to) { to_ += '{'; }
  void End() { to_ += '}'; }
  std::string& Key(std::string_view name) {
    if (!first_) to_ += ',';
    first_ = false;
    to_ += Quoted(name);
    to_ += ':';
    return to_;
  }
  void Text(std::string_view name, std::string_view value) {
    Key(name) += Quoted(value);
  }
  void Number(std::string_view name, double value) {
    Key(name) += NumberText(value);
  }
  void Integer(std::string_view name, int64_t value) {
    absl::StrAppend(&Key(name), value);
  }
  void Time(std::string_view name, Ticks value) { Key(name) += NsText(value); }
  template <typename Rows, typename Append>
  void Array(std::string_view name, const Rows& rows, Append append) {
    std::string& to = Key(name);
    to += '[';
    bool first = true;
    for (const auto& row : rows) {
      if (!first) to += ',';
      first = false;
      append(to, row);
    }
    to += ']';
  }

 private:
  std::string& to_;
  bool first_ = true;
};

void AppendQuoted(std::string& to, const std::string& text) {
  to += Quoted(text);
}
void AppendNumber(std::string& to, double value) { to += NumberText(value); }
void AppendTime(std::string& to, Ticks value) { to += NsText(value); }

constexpr std::array<std::string_view, 4> kDirections = {"load", "store", "hbm",
                                                         "on_chip"};
constexpr std::array<std::string_view, 3> kKinds = {"instruction", "dma",
                                                    "wait"};

class Writer {
 public:
  explicit Writer(const ProfileReport& report)
      : report_(report), timeline_(*report.timeline), texts_(report) {}

  std::string Do() {
    Object o(json_);
    o.Text("format", "trnemu-profile");
    o.Integer("version", 1);
    o.Text("target", report_.hardware->name);
    o.Text("program", report_.name);
    o.Time("time_ns", report_.end);
    o.Integer("cores", static_cast<int64_t>(report_.program->cores.size()));
    HardwareOf(o);
    SummaryOf(o);
    InstructionsOf(o);
    DmaOf(o);
    SemaphoresOf(o);
    StallsOf(o);
    PathOf(o);
    RecommendationsOf(o);
    MemoryOf(o);
    OperationsOf(o);
    CountersOf(o);
    RooflineOf(o);
    o.End();
    return std::move(json_);
  }

 private:
  double PeakFlops() const {
    const TensorEngineLimits& t = report_.hardware->tensor;
    return static_cast<double>(report_.program->cores.size()) * 2 *
           static_cast<double>(t.rows * t.columns) *
           report_.hardware->engine(Engine::kTensor).clock_ghz;
  }

  void HardwareOf(Object& o) {
    const Hardware& h = *report_.hardware;
    Object hardware(o.Key("hardware"));
    Object peak(hardware.Key("peak_flops_per_ns"));
    const double bf16 = PeakFlops();
    peak.Number("float32", bf16 / 4);
    peak.Number("bfloat16", bf16);
    peak.Number("float8", h.features.fp8_double_row ? 2 * bf16 : bf16);
    if (h.features.mx_matmul) peak.Number("mx", 4 * bf16);
    peak.End();
    hardware.Number("hbm_bytes_per_ns", h.memory.hbm_stack_bandwidth);
    hardware.Number("dma_bytes_per_ns",
                    static_cast<double>(report_.program->cores.size()) *
                        static_cast<double>(h.dma.engines) * h.dma.rate);
    hardware.Integer("sbuf_partition_bytes", h.memory.sbuf_partition_bytes);
    hardware.Integer("psum_partition_bytes", h.memory.psum_partition_bytes);
    hardware.Integer("partitions", h.memory.partitions);
    hardware.Array(
        "changes", report_.hardware_changes,
        [](std::string& to, const HardwareChange& c) {
          Object change(to);
          change.Text("constant", c.path);
          change.Key("stock") += c.stock ? NumberText(*c.stock) : "null";
          change.Key("value") += c.value ? NumberText(*c.value) : "null";
          change.Text("unit", c.unit);
          if (!c.no_effect.empty()) {
            change.Text("no_effect", c.no_effect);
          }
          change.End();
        });
    hardware.End();
  }

  void SummaryOf(Object& o) {
    o.Array("summary", report_.summary, [](std::string& to, const Metric& m) {
      Object row(to);
      row.Text("name", m.name);
      row.Number("value", m.value);
      row.Text("unit", m.unit);
      row.Text("meaning", m.meaning);
      row.End();
    });
    o.Array("engines", report_.engines,
            [this](std::string& to, const EngineTotals& e) {
              Object row(to);
              row.Integer("core", e.core);
              row.Text("engine", Name(e.engine));
              row.Integer("instructions", e.instructions);
              row.Time("busy_ns", e.busy);
              row.Time("active_ns", e.active);
              row.Time("waiting_ns", e.waiting);
              row.Time("throttled_ns", e.throttled);
              row.Time("table_load_ns", e.table_load);
              row.Number("active_percent", 100 * report_.ShareOf(e.active));
              row.End();
            });
  }

  void InstructionsOf(Object& o) {
    const Program& program = *report_.program;
    const auto& rows = timeline_.instructions();
    TextTable sources;
    std::vector<int32_t> source, text;
    for (const InstructionRecord& r : rows) {
      const std::string at = program.DescribeSource(r.instruction->source);
      source.push_back(at.empty() ? -1 : sources.Add(at));
      text.push_back(texts_.IndexOf(r));
    }
    std::vector<std::string> opcodes, semaphores;
    for (const OpcodeInfo& info : Opcodes()) opcodes.emplace_back(info.name);
    for (const SemaphoreInfo& s : program.semaphores) {
      semaphores.push_back(s.name);
    }
    o.Array("opcodes", opcodes, AppendQuoted);
    o.Array("operations", program.operations, AppendQuoted);
    o.Array("sources", sources.all(), AppendQuoted);
    o.Array("semaphore_names", semaphores, AppendQuoted);
    o.Array("texts", texts_.all(), AppendQuoted);
    Object columns(o.Key("instructions"));
    const auto integers = [&](std::string_view name, auto value) {
      columns.Array(name, rows, [&](std::string& to, const auto& r) {
        absl::StrAppend(&to, static_cast<int64_t>(value(r)));
      });
    };
    const auto times = [&](std::string_view name, Ticks InstructionRecord::*t) {
      columns.Array(name, rows, [&](std::string& to, const auto& r) {
        AppendTime(to, r.*t);
      });
    };
    integers("core", [](const auto& r) { return r.core; });
    columns.Array("engine", rows, [](std::string& to, const auto& r) {
      to += Quoted(Name(r.instruction->engine));
    });
    integers("opcode", [](const auto& r) {
      return static_cast<int>(r.instruction->opcode);
    });
    integers("operation",
             [](const auto& r) { return r.instruction->operation; });
    integers("order", [](const auto& r) { return r.instruction->order; });
    columns.Array("source", source,
                  [](std::string& to, int32_t s) { absl::StrAppend(&to, s); });
    times("ready", &InstructionRecord::ready);
    times("start", &InstructionRecord::start);
    times("issue_end", &InstructionRecord::issue_end);
    times("end", &InstructionRecord::end);
    times("extra", &InstructionRecord::extra);
    const auto update = [this](const InstructionRecord& r) {
      return r.update < 0 ? SemaphoreRecord{.semaphore = -1}
                          : timeline_.updates()[static_cast<size_t>(r.update)];
    };
    integers("wait_semaphore",
             [&](const auto& r) { return update(r).semaphore; });
    integers("producer", [&](const auto& r) { return update(r).instruction; });
    integers("producer_dma", [&](const auto& r) { return update(r).dma; });
    columns.Array("flops", rows, [this](std::string& to, const auto& r) {
      AppendNumber(to, report_.FactsOf(r).flops);
    });
    columns.Array("text", text,
                  [](std::string& to, int32_t t) { absl::StrAppend(&to, t); });
    columns.End();
  }

  void DmaOf(Object& o) {
    const Program& program = *report_.program;
    std::vector<int32_t> sets;
    for (size_t s = 0; s < program.queue_sets.size(); ++s) {
      sets.push_back(static_cast<int32_t>(s));
    }
    o.Array("queue_sets", sets, [&](std::string& to, int32_t s) {
      const QueueSet& q = program.queue_sets[static_cast<size_t>(s)];
      Object row(to);
      row.Integer("core", q.core);
      row.Text("owner", Name(q.owner));
      row.Integer("queues", q.queues);
      row.Text("name", QueueSetName(program, static_cast<size_t>(s)));
      row.End();
    });
    const auto& rows = timeline_.dma();
    Object columns(o.Key("dma"));
    const auto integers = [&](std::string_view name, auto value) {
      columns.Array(name, rows, [&](std::string& to, const auto& d) {
        absl::StrAppend(&to, static_cast<int64_t>(value(d)));
      });
    };
    const auto times = [&](std::string_view name, Ticks DmaRecord::*t) {
      columns.Array(name, rows, [&](std::string& to, const auto& d) {
        AppendTime(to, d.*t);
      });
    };
    integers("core", [](const auto& d) { return d.core; });
    integers("engine", [](const auto& d) { return d.engine; });
    integers("queue_set", [](const auto& d) { return d.queue_set; });
    integers("queue", [](const auto& d) { return d.queue; });
    integers("instruction", [](const auto& d) { return d.instruction; });
    columns.Array("direction", rows, [](std::string& to, const auto& d) {
      to += Quoted(kDirections[static_cast<size_t>(d.direction)]);
    });
    times("trigger", &DmaRecord::trigger);
    times("payload_from", &DmaRecord::payload_from);
    times("start", &DmaRecord::start);
    times("free", &DmaRecord::free);
    times("busy", &DmaRecord::busy);
    times("end", &DmaRecord::end);
    times("notify", &DmaRecord::notify);
    integers("bytes", [](const auto& d) { return d.bytes; });
    integers("hbm_read", [](const auto& d) { return d.hbm_read; });
    integers("hbm_written", [](const auto& d) { return d.hbm_written; });
    integers("descriptors", [](const auto& d) { return d.descriptors; });
    columns.End();
  }

  void SemaphoresOf(Object& o) {
    const auto& rows = timeline_.updates();
    Object columns(o.Key("semaphores"));
    const auto integers = [&](std::string_view name, auto value) {
      columns.Array(name, rows, [&](std::string& to, const auto& u) {
        absl::StrAppend(&to, static_cast<int64_t>(value(u)));
      });
    };
    integers("core",
             [this](const auto& u) { return report_.row(u.instruction).core; });
    integers("semaphore", [](const auto& u) { return u.semaphore; });
    columns.Array("time", rows, [](std::string& to, const auto& u) {
      AppendTime(to, u.time);
    });
    integers("value", [](const auto& u) { return u.value; });
    integers("instruction", [](const auto& u) { return u.instruction; });
    integers("dma", [](const auto& u) { return u.dma; });
    columns.End();
  }

  void StallsOf(Object& o) {
    o.Array("stalls", report_.stalls, [](std::string& to, const Stall& s) {
      Object row(to);
      row.Integer("core", s.core);
      row.Text("engine", Name(s.engine));
      row.Time("from", s.from);
      row.Time("to", s.to);
      row.Text("cause", Name(s.cause));
      row.Integer("row", s.row);
      row.Integer("producer", s.producer);
      row.Integer("producer_dma", s.producer_dma);
      row.End();
    });
    o.Array("stall_summary", report_.stall_totals,
            [this](std::string& to, const CauseTotal& t) {
              AppendTotal(to, t, true);
            });
  }

  void AppendTotal(std::string& to, const CauseTotal& t, bool of_engine) {
    Object row(to);
    if (of_engine) {
      row.Integer("core", t.core);
      row.Text("engine", Name(t.engine));
    }
    row.Text("cause", Name(t.cause));
    row.Integer("count", t.count);
    row.Time("total_ns", t.total);
    row.Number("share", report_.ShareOf(t.total));
    row.End();
  }

  std::string TextOf(const PathStep& s) const {
    const InstructionRecord& r =
        s.kind == PathStep::Kind::kDma
            ? report_.row(report_.part(s.row).instruction)
            : report_.row(s.row);
    const std::string operation =
        report_.program->operations[r.instruction->operation];
    switch (s.kind) {
      case PathStep::Kind::kInstruction:
        return absl::StrCat(std::string(Info(r.instruction->opcode).name),
                            " of ", operation, " on ",
                            std::string(Name(r.instruction->engine)));
      case PathStep::Kind::kDma:
        return absl::StrCat(std::string(Name(s.cause)), " of ", operation, ", ",
                            report_.part(s.row).bytes, " bytes in queue ",
                            report_.part(s.row).queue);
      case PathStep::Kind::kWait:
        break;
    }
    return absl::StrCat(std::string(Name(s.cause)), " before ", operation,
                        " on ", std::string(Name(r.instruction->engine)));
  }

  void PathOf(Object& o) {
    o.Array("critical_path", report_.critical_path,
            [this](std::string& to, const PathStep& s) {
              Object row(to);
              row.Text("kind", kKinds[static_cast<size_t>(s.kind)]);
              row.Integer("row", s.row);
              row.Time("from", s.from);
              row.Time("to", s.to);
              row.Text("cause", Name(s.cause));
              row.Text("text", TextOf(s));
              row.End();
            });
    o.Array("critical_summary", report_.critical_totals,
            [this](std::string& to, const CauseTotal& t) {
              AppendTotal(to, t, false);
            });
  }

  void RecommendationsOf(Object& o) {
    o.Array("recommendations", report_.recommendations,
            [](std::string& to, const Recommendation& r) {
              Object row(to);
              row.Text("id", r.id);
              row.Text("title", r.title);
              row.Text("text", r.text);
              row.Text("evidence", r.evidence);
              row.Time("saves_ns", r.saves);
              row.End();
            });
  }

  void MemoryOf(Object& o) {
    o.Array("memory", report_.tiles,
            [this](std::string& to, const TileLife& l) {
              const Tensor& t = report_.program->tensors[l.tensor];
              Object row(to);
              row.Text("space", kSpaceNames[static_cast<size_t>(t.space())]);
              row.Integer("core", t.core);
              row.Text("name", t.name);
              row.Text("dtype", Name(t.dtype));
              row.Array("shape", t.shape, [](std::string& at, int64_t size) {
                absl::StrAppend(&at, size);
              });
              row.Integer("first_partition", t.start_partition);
              row.Integer("partitions", t.shape.empty() ? 0 : t.shape[0]);
              row.Integer("address", static_cast<int64_t>(t.byte_address));
              row.Integer("bytes", t.bytes_per_partition());
              row.Time("from", l.from);
              row.Time("to", l.to);
              row.End();
            });
  }

  void OperationsOf(Object& o) {
    o.Array("by_operation", report_.operations,
            [this](std::string& to, const OperationTotal& t) {
              Object row(to);
              row.Text("operation", t.operation);
              row.Integer("count", t.count);
              row.Time("busy_ns", t.busy);
              row.Number("share", report_.ShareOf(t.busy));
              row.End();
            });
  }

  void CountersOf(Object& o) {
    Object counters(o.Key("counters"));
    SeriesOf(counters, "hbm_bandwidth", report_.hbm_bandwidth);
    for (size_t c = 0; c < report_.sbuf_bytes.size(); ++c) {
      const std::string suffix = c == 0 ? "" : absl::StrCat("_core", c);
      SeriesOf(counters, "sbuf_bytes" + suffix, report_.sbuf_bytes[c]);
      SeriesOf(counters, "psum_bytes" + suffix, report_.psum_bytes[c]);
    }
    counters.End();
  }
  void SeriesOf(Object& o, std::string_view name, const Series& s) {
    Object series(o.Key(name));
    series.Array("t", s.times, AppendTime);
    series.Array("v", s.values, AppendNumber);
    series.End();
  }

  void RooflineOf(Object& o) {
    const double ns = static_cast<double>(report_.end) / kTicksPerNs;
    const double flops = report_.metric("model_flops");
    Object roofline(o.Key("roofline"));
    roofline.Number("flops", flops);
    roofline.Number("hbm_bytes", report_.metric("hbm_read_bytes") +
                                     report_.metric("hbm_write_bytes"));
    const double hbm =
        report_.metric("hbm_read_bytes") + report_.metric("hbm_write_bytes");
    // Without traffic there is no bound to it.
    if (hbm == 0 && flops > 0) {
      roofline.Key("intensity") += "null";
    } else {
      roofline.Number("intensity", report_.metric("mm_arithmetic_intensity"));
    }
    roofline.Number("achieved_flops_per_ns", ns == 0 ? 0 : flops / ns);
    roofline.Number("peak_flops_per_ns", PeakFlops());
    const MemoryLimits& m = report_.hardware->memory;
    roofline.Number("hbm_bytes_per_ns", m.hbm_stack_bandwidth);
    roofline.End();
  }

  const ProfileReport& report_;
  const Timeline& timeline_;
  InstructionTexts texts_;
  std::string json_;
};

}  // namespace

std::string ProfileJson(const ProfileReport& report) {
  return Writer(report).Do();
}

}  // namespace trnemu
