// A profile as Chrome's trace events. A process per core and one for its DMA
// queues; a thread per engine, the tensor engine's weight loads apart, and per
// queue. Moves of collectives have a thread per DMA engine that does them, and
// another one where two share it.
#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/profile/columns.h"
#include "core/profile/trace_writer.h"

namespace trnemu {
namespace {

// Threads of a core's process: engines by number, weight loads, further lanes
// where slices of one track overlap.
constexpr int kLoadTrack = 10;
constexpr int kLaneStep = 20;
// Processes.
constexpr int kDmaProcess = 100;
constexpr int kCounterProcess = 200;
// Threads of a DMA process, beyond those of queues: moves of collectives, by
// engine, and when collectives were complete.
constexpr int kMoveTracks = 1 << 21;
constexpr int kMoveTrackStep = 1 << 16;
constexpr int kCompletionTrack = 1 << 20;

int64_t Ns(Ticks t) { return TraceNs(t); }

class Tracer {
 public:
  Tracer(const ProfileReport& report, const TraceRank& rank, TraceWriter& out)
      : report_(report), rank_(rank), out_(out), texts_(report) {}

  void Do() {
    Instructions();
    Parts();
    Flows();
    Counters();
    Names();
  }

 private:
  using Place = TraceWriter::Place;

  void Slice(Place at, int64_t end, std::string_view name,
             std::string_view category, std::string_view args) {
    out_.Slice(at, end, name, category, args);
  }

  int TrackOf(const InstructionRecord& r) const {
    return report_.FactsOf(r).loads_weights
               ? kLoadTrack
               : static_cast<int>(r.instruction->engine);
  }

  // The lane of a track that is free at `start`; `end` is when it is free
  // again.
  int Lane(int process, int track, int64_t start, int64_t end) {
    auto& lanes = lanes_[{process, track}];
    for (size_t l = 0; l < lanes.size(); ++l) {
      if (lanes[l] > start) continue;
      lanes[l] = end;
      return track + kLaneStep * static_cast<int>(l);
    }
    lanes.push_back(end);
    return track + kLaneStep * static_cast<int>(lanes.size() - 1);
  }

  std::string InstructionArgs(const InstructionRecord& r, int32_t row) {
    const std::string source =
        report_.program->DescribeSource(r.instruction->source);
    std::string args = absl::StrCat(
        "\"row\":", row, ",\"operation\":",
        Quoted(report_.program->operations[r.instruction->operation]),
        ",\"completed_ns\":", NsText(r.end),
        ",\"waited_ns\":", NsText(r.start - r.ready), ",\"text\":",
        Quoted(texts_.all()[static_cast<size_t>(texts_.IndexOf(r))]));
    if (r.extra > 0) {
      absl::StrAppend(&args,
                      r.instruction->engine == Engine::kTensor
                          ? ",\"throttled_ns\":"
                          : ",\"table_load_ns\":",
                      NsText(r.extra));
    }
    if (!source.empty()) absl::StrAppend(&args, ",\"source\":", Quoted(source));
    return args;
  }

  void Instructions() {
    const auto& rows = report_.timeline->instructions();
    // A slice lasts until completion, unless its engine goes on before.
    std::map<std::pair<int, int>, int64_t> next;
    std::vector<int64_t> ends(rows.size());
    for (size_t r = rows.size(); r-- > 0;) {
      const auto [at, is_new] =
          next.try_emplace({rows[r].core, TrackOf(rows[r])}, 0);
      ends[r] = Ns(std::max(rows[r].end, rows[r].issue_end));
      if (!is_new) {
        const int64_t issued = Ns(rows[r].issue_end);
        ends[r] = std::max(issued, std::min(ends[r], at->second));
      }
      // Where the next one waits, its wait is shown before it.
      at->second = Ns(rows[r].waited() ? rows[r].ready : rows[r].start);
    }
    places_.resize(rows.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      const InstructionRecord& i = rows[r];
      Place at{rank_.first_process + i.core, 0, Ns(i.start)};
      at.thread = Lane(at.process, TrackOf(i), at.start, ends[r]);
      if (i.waited()) Wait(i, at);
      places_[r] = at;
      Slice(at, ends[r], Info(i.instruction->opcode).name, "instruction",
            InstructionArgs(i, static_cast<int32_t>(r)));
    }
  }

  void Wait(const InstructionRecord& i, const Place& instruction) {
    const auto& update =
        report_.timeline->updates()[static_cast<size_t>(i.update)];
    Place at = instruction;
    at.start = Ns(i.ready);
    if (at.start >= instruction.start) return;
    const std::string& name =
        report_.program->semaphores[static_cast<size_t>(update.semaphore)].name;
    Slice(at, instruction.start, absl::StrCat("wait for ", name), "wait",
          absl::StrCat("\"semaphore\":", Quoted(name),
                       ",\"signalled_ns\":", NsText(update.time)));
  }

  static bool IsCollective(const Instruction& i) {
    return i.opcode == Opcode::kCollective || i.opcode == Opcode::kCollectiveV;
  }

  void Parts() {
    const auto& parts = report_.timeline->dma();
    dma_places_.resize(parts.size());
    for (size_t p = 0; p < parts.size(); ++p) {
      const DmaRecord& d = parts[p];
      const InstructionRecord& trigger = report_.row(d.instruction);
      int track = d.queue_set * 16 + d.queue;
      Place at{rank_.first_process + kDmaProcess + d.core, track, Ns(d.start)};
      const int64_t end = std::max(at.start, Ns(d.free));
      if (IsCollective(*trigger.instruction)) {
        track = d.bytes > 0 ? kMoveTracks + kMoveTrackStep * d.engine
                            : kCompletionTrack;
        at.thread = Lane(at.process, track, at.start, end);
      } else {
        queues_[{at.process, track}] =
            absl::StrCat(QueueSetName(*report_.program, d.queue_set), " queue ",
                         d.queue, " (engine ", d.engine, ")");
      }
      dma_places_[p] = at;
      Slice(
          at, end,
          absl::StrCat("dma ", kDirections[static_cast<size_t>(d.direction)]),
          "dma",
          absl::StrCat(
              "\"part\":", p, ",\"bytes\":", d.bytes, ",\"descriptors\":",
              d.descriptors, ",\"triggered_ns\":", NsText(d.trigger),
              ",\"signalled_ns\":", NsText(d.notify), ",\"text\":",
              Quoted(
                  texts_.all()[static_cast<size_t>(texts_.IndexOf(trigger))])));
    }
  }

  void Arrow(std::string_view category, const Place& from, const Place& to) {
    out_.Arrow(category, from, to);
  }

  // From who signalled to who waited, and from a trigger to its parts.
  void Flows() {
    const auto& rows = report_.timeline->instructions();
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].update < 0) continue;
      const auto& u =
          report_.timeline->updates()[static_cast<size_t>(rows[r].update)];
      Arrow("semaphore",
            u.dma >= 0 ? dma_places_[static_cast<size_t>(u.dma)]
                       : places_[static_cast<size_t>(u.instruction)],
            places_[r]);
    }
    const auto& parts = report_.timeline->dma();
    for (size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].bytes == 0) continue;
      Arrow("trigger", places_[static_cast<size_t>(parts[p].instruction)],
            dma_places_[p]);
    }
  }

  void Counter(std::string_view name, const Series& series,
               std::string_view unit) {
    for (size_t i = 0; i < series.times.size(); ++i) {
      out_.Counter(rank_.first_process + kCounterProcess, Ns(series.times[i]),
                   name, unit, NumberText(series.values[i]));
    }
  }
  void Counters() {
    Counter("HBM bandwidth (GB/s)", report_.hbm_bandwidth, "GB/s");
    const bool cores = report_.sbuf_bytes.size() > 1;
    for (size_t c = 0; c < report_.sbuf_bytes.size(); ++c) {
      const std::string of = cores ? absl::StrCat(" of core ", c) : "";
      Counter(absl::StrCat("SBUF in use", of, " (bytes)"),
              report_.sbuf_bytes[c], "bytes");
      Counter(absl::StrCat("PSUM in use", of, " (bytes)"),
              report_.psum_bytes[c], "bytes");
    }
  }

  void Names() {
    const int base = rank_.first_process;
    const auto process = [&](int number, const std::string& name, size_t sort) {
      out_.NameProcess(base + number, absl::StrCat(rank_.prefix, name),
                       rank_.first_sort + static_cast<int>(sort));
    };
    for (size_t c = 0; c < report_.program->cores.size(); ++c) {
      const int core = static_cast<int>(c);
      process(core, absl::StrCat("core ", c), 2 * c);
      process(kDmaProcess + core, absl::StrCat("core ", c, " DMA queues"),
              2 * c + 1);
    }
    process(kCounterProcess, "memory", 2 * report_.program->cores.size());
    for (const auto& [track, lanes] : lanes_) {
      const int first = track.second;
      const std::string name =
          first >= kMoveTracks
              ? absl::StrCat("collectives, engine ",
                             (first - kMoveTracks) / kMoveTrackStep)
          : first == kCompletionTrack ? "collectives complete"
          : first == kLoadTrack       ? "tensor, weight loads"
                                : std::string(Name(static_cast<Engine>(first)));
      for (size_t l = 0; l < lanes.size(); ++l) {
        out_.NameThread(track.first, first + kLaneStep * static_cast<int>(l),
                        l == 0 ? name : absl::StrCat(name, ", beside ", l));
      }
    }
    for (const auto& [track, name] : queues_) {
      out_.NameThread(track.first, track.second, name);
    }
  }

  static constexpr std::array<const char*, 4> kDirections = {
      "load", "store", "within HBM", "on chip"};

  const ProfileReport& report_;
  const TraceRank& rank_;
  TraceWriter& out_;
  InstructionTexts texts_;
  std::vector<Place> places_, dma_places_;
  std::map<std::pair<int, int>, std::vector<int64_t>> lanes_;
  std::map<std::pair<int, int>, std::string> queues_;
};

}  // namespace

std::string ProfileTrace(const ProfileReport& report) {
  TraceWriter out(absl::StrCat("\"program\":", Quoted(report.name),
                               ",\"target\":", Quoted(report.hardware->name)));
  AddProfile(report, {}, out);
  return std::move(out).Finish();
}

void AddProfile(const ProfileReport& report, const TraceRank& rank,
                TraceWriter& out) {
  Tracer(report, rank, out).Do();
}

}  // namespace trnemu
