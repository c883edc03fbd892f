#include "core/profile/recommend.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/profile/analysis.h"

namespace trnemu {
namespace {

std::string Percent(double share) {
  return absl::StrFormat("%.0f%%", 100 * share);
}
std::string Nanoseconds(Ticks t) {
  const double ns = static_cast<double>(t) / kTicksPerNs;
  if (ns < 1e4) return absl::StrFormat("%.0f ns", ns);
  if (ns < 1e7) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 1e10) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

bool Worth(const ProfileReport& report, Ticks saves) {
  return report.end > 0 && report.ShareOf(saves) >= kLeastShare;
}

bool IsEngine(Cause c) {
  return c == Cause::kTensor || c == Cause::kVector || c == Cause::kScalar ||
         c == Cause::kGpsimd;
}

// How much of an instruction's step is on the critical path because of `part`
// of its issue interval.
Ticks Within(const PathStep& s, Ticks part) {
  return std::min(part, s.to - s.from);
}

// Each step of the path that is an instruction.
template <typename Visit>
void ForEachCritical(const ProfileReport& report, Visit visit) {
  for (const PathStep& s : report.critical_path) {
    if (s.kind == PathStep::Kind::kInstruction) visit(s, report.row(s.row));
  }
}

// Instructions of the critical path that a rule is about.
struct Tally {
  Ticks time = 0;
  int64_t count = 0;
  const InstructionRecord* first = nullptr;

  void Add(Ticks t, const InstructionRecord& r) {
    time += t;
    ++count;
    if (first == nullptr) first = &r;
  }
};

std::string SourceOf(const ProfileReport& report, const InstructionRecord& r) {
  const std::string source =
      report.program->DescribeSource(r.instruction->source);
  return source.empty() ? "" : absl::StrCat(", first at ", source);
}

}  // namespace

Advice SmallDescriptors(const ProfileReport& report) {
  constexpr int64_t kShort = 2048;
  double bytes = 0, descriptors = 0, all = 0;
  for (const DmaRecord& d : report.timeline->dma()) {
    all += static_cast<double>(d.bytes);
    if (d.descriptors == 0 || d.bytes >= kShort * d.descriptors) continue;
    bytes += static_cast<double>(d.bytes);
    descriptors += d.descriptors;
  }
  if (descriptors == 0) return std::nullopt;
  // Bytes take as long as at the rate that long descriptors reach. What a small
  // transfer takes besides is shared by as many as would make one with 2 KiB of
  // each of its engine's partitions; that of one at least stays.
  const DmaLimits& dma = report.hardware->dma;
  const double whole = static_cast<double>(kShort * dma.partitions_per_engine);
  double bytes_save = 0, fixed_save = 0;
  int64_t steps = 0;
  const DmaRecord* first = nullptr;
  for (const PathStep& s : report.critical_path) {
    if (s.kind != PathStep::Kind::kDma) continue;
    const DmaRecord& d = report.part(s.row);
    if (d.descriptors == 0 || d.bytes >= kShort * d.descriptors) continue;
    const auto size = static_cast<double>(d.bytes);
    const auto moving = static_cast<double>(Within(s, d.free - d.start));
    const double fixed = static_cast<double>(s.to - s.from) - moving;
    bytes_save += std::max(0.0, moving - size / dma.rate * kTicksPerNs);
    fixed_save += fixed * std::max(0.0, 1 - size / whole);
    ++steps;
    if (first == nullptr) first = &d;
  }
  if (steps == 0) return std::nullopt;
  fixed_save *= 1 - 1 / static_cast<double>(steps);
  const auto saves = static_cast<Ticks>(bytes_save + fixed_save);
  if (!Worth(report, saves)) return std::nullopt;
  Recommendation r;
  r.id = "small_descriptors";
  r.title = "Make DMA descriptors longer";
  r.text =
      "A DMA engine reaches its rate with rows of 2 KiB and more. Move more "
      "bytes of each partition at a time, or lay the tensor in HBM out so that "
      "a partition's bytes lie one after the other.";
  r.evidence = absl::StrCat(
      Percent(bytes / all), " of the DMA bytes are in descriptors of ",
      absl::StrFormat("%.0f", bytes / descriptors), " bytes on average",
      SourceOf(report, report.row(first->instruction)));
  r.saves = saves;
  return r;
}

Advice TableReloads(const ProfileReport& report) {
  std::set<std::pair<int, int>> tables;
  int64_t loads = 0;
  Ticks of_one = 0;
  const InstructionRecord* first = nullptr;
  for (const InstructionRecord& r : report.timeline->instructions()) {
    if (r.instruction->engine != Engine::kScalar || r.extra == 0) continue;
    const auto attributes =
        report.program->cores[r.core].AttributesOf(*r.instruction);
    const auto op = attributes[slot::Activate::kOp].as<ActFunction>();
    const int table =
        report.hardware->activation_table[static_cast<size_t>(op)];
    if (!tables.insert({r.core, table}).second && first == nullptr) first = &r;
    ++loads;
    of_one = r.extra;
  }
  const int64_t again = loads - static_cast<int64_t>(tables.size());
  if (again <= 0) return std::nullopt;
  Ticks critical = 0;
  ForEachCritical(report, [&](const PathStep& s, const InstructionRecord& r) {
    if (r.instruction->engine == Engine::kScalar) {
      critical += Within(s, r.extra);
    }
  });
  const Ticks saves = std::min(critical, again * of_one);
  if (!Worth(report, saves)) return std::nullopt;
  Recommendation r;
  r.id = "table_reloads";
  r.title = "Group activations by function";
  r.text =
      "The scalar engine holds one table of functions and loads another when "
      "the function changes. Do all activations of one function before those "
      "of the next, or use a function of the same table.";
  r.evidence = absl::StrCat(loads, " tables are loaded where ", tables.size(),
                            " would do, ", Nanoseconds(of_one), " each",
                            SourceOf(report, *first));
  r.saves = saves;
  return r;
}

namespace {

// Loads and computation that take turns on the path.
struct Turns {
  Ticks load = 0, compute = 0, first = 0;  // of the path; the first turn's load
  int64_t count = 0;                       // of loads
  int64_t behind = 0;  // begun late: their sequencer held another transfer
  const InstructionRecord* holder = nullptr;  // the first of those
};

Turns FindTurns(const ProfileReport& report) {
  Turns t;
  Cause last = Cause::kNone;
  // The transfer whose trigger waited, and nothing else since.
  const InstructionRecord* held = nullptr;
  for (const PathStep& s : report.critical_path) {
    if (s.kind == PathStep::Kind::kWait && s.cause == Cause::kHandOff) {
      const InstructionRecord& r = report.row(s.row);
      held = Info(r.instruction->opcode).dma ? &r : nullptr;
    } else if (s.cause == Cause::kLoad) {
      const InstructionRecord& trigger =
          report.row(report.part(s.row).instruction);
      if (last != Cause::kLoad) {
        ++t.count;
        const bool behind =
            held != nullptr && held != &trigger && held->core == trigger.core &&
            !trigger.waited() &&
            held->instruction->engine == trigger.instruction->engine;
        t.behind += behind;
        if (behind && t.holder == nullptr) t.holder = held;
      }
      if (t.count == 1) t.first += s.to - s.from;
      t.load += s.to - s.from;
      last = Cause::kLoad;
      held = nullptr;
    } else if (IsEngine(s.cause)) {
      t.compute += s.to - s.from;
      last = s.cause;
      held = nullptr;
    }
  }
  return t;
}

// All loads but those of the first turn may go beside the rest, and beside each
// other; the DMA engines themselves get no faster.
Ticks SavedByOverlap(const ProfileReport& report, const Turns& t) {
  Ticks dma = 0;
  for (const EngineTotals& e : report.engines) {
    if (e.engine == Engine::kDma) dma = std::max(dma, e.busy);
  }
  return std::min(t.load - t.first, report.end - dma);
}

}  // namespace

Advice NoOverlap(const ProfileReport& report) {
  const Turns t = FindTurns(report);
  // With two turns there is one load that could run beside computation.
  if (t.count < 2 || t.compute == 0) return std::nullopt;
  const Ticks saves = SavedByOverlap(report, t);
  if (!Worth(report, std::min(saves, t.compute))) return std::nullopt;
  Recommendation r;
  const std::string turns =
      absl::StrCat("the critical path goes through ", t.count,
                   " loads in turn with computation: ", Nanoseconds(t.load),
                   " of loads, ", Nanoseconds(t.compute), " of computation");
  r.saves = saves;
  if (2 * t.behind >= t.count - 1 && t.behind > 0) {
    const std::string engine(Name(t.holder->instruction->engine));
    r.id = "loads_behind_stores";
    r.title = "Let loads overtake the stores that wait for results";
    r.text = absl::StrCat(
        "A sequencer triggers its transfers in order: while ", engine,
        " waits to store a result, the loads behind it in its stream do not "
        "start, though nothing else holds them. Trigger the stores from "
        "another sequencer (trigger=), or issue the next tile's loads before "
        "the store.");
    r.evidence = absl::StrCat(turns, "; ", t.behind,
                              " of the loads are behind a transfer of ", engine,
                              " that waits", SourceOf(report, *t.holder));
    return r;
  }
  r.id = "no_overlap";
  r.title = "Load the next tile while this one is computed";
  r.text =
      "Loads wait for computation and computation for loads. With two or more "
      "buffers for what is loaded, the next load runs while the engines work.";
  r.evidence = turns;
  return r;
}

Advice PsumEvacuation(const ProfileReport& report) {
  Tally reads;
  const PathStep* const end =
      report.critical_path.data() + report.critical_path.size();
  ForEachCritical(report, [&](const PathStep& s, const InstructionRecord& r) {
    const InstructionFacts& f = report.FactsOf(r);
    if (r.instruction->engine == Engine::kTensor || f.psum_read == 0) return;
    // Somebody on the tensor engine waits for this one.
    const PathStep* next = &s + 1;
    while (next < end && next->kind == PathStep::Kind::kWait &&
           next->row == (next + 1)->row) {
      ++next;
    }
    if (next >= end || next->kind != PathStep::Kind::kInstruction ||
        report.row(next->row).instruction->engine != Engine::kTensor) {
      return;
    }
    reads.Add(s.to - s.from, r);
  });
  if (reads.count < 2 || !Worth(report, reads.time)) return std::nullopt;
  Recommendation r;
  r.id = "psum_evacuation";
  r.title = "Let matmuls and the reading of PSUM overlap";
  r.text =
      "The tensor engine waits until another engine has read its results out "
      "of PSUM. Use tiles in two or more of the eight banks in turn, read "
      "more columns with one instruction, or share the reading between the "
      "vector and the scalar engine.";
  r.evidence =
      absl::StrCat("on the critical path the tensor engine waits ", reads.count,
                   " times for an instruction that reads PSUM, ",
                   Nanoseconds(reads.time), SourceOf(report, *reads.first));
  r.saves = reads.time;
  return r;
}

Advice Fp32Matmul(const ProfileReport& report) {
  Tally products;
  ForEachCritical(report, [&](const PathStep& s, const InstructionRecord& r) {
    const InstructionFacts& f = report.FactsOf(r);
    if (!f.fp32 || f.transpose) return;
    products.Add(Within(s, r.issue_end - r.start), r);
  });
  // Two passes at half the rate against one: three quarters of it.
  const Ticks saves = products.time / 4 * 3;
  if (!Worth(report, saves)) return std::nullopt;
  Recommendation r;
  r.id = "fp32_matmul";
  r.title = "Multiply in bf16 where its precision is enough";
  r.text =
      "A matmul of float32 is two passes at half the rate: four times the time "
      "of bfloat16. Cast operands that need not be float32; PSUM accumulates "
      "in float32 all the same. trnemu run --envelope shows what that does to "
      "the outputs.";
  r.evidence = absl::StrCat(products.count,
                            " float32 multiplications on the critical "
                            "path take ",
                            Nanoseconds(products.time),
                            SourceOf(report, *products.first));
  r.saves = saves;
  return r;
}

Advice FewPartitions(const ProfileReport& report) {
  const auto all = static_cast<double>(report.hardware->memory.partitions);
  Tally narrow;
  Ticks saves = 0;
  double partitions = 0;
  ForEachCritical(report, [&](const PathStep& s, const InstructionRecord& r) {
    const InstructionFacts& f = report.FactsOf(r);
    const Engine e = r.instruction->engine;
    if (f.partitions == 0 || Info(r.instruction->opcode).dma ||
        e == Engine::kTensor || e == Engine::kSync ||
        static_cast<double>(f.partitions) > all / 2) {
      return;
    }
    // What goes with the elements of a partition; the fixed part stays.
    const Ticks time = Within(s, r.issue_end - r.start - r.extra);
    const double share = static_cast<double>(f.partitions) / all;
    narrow.Add(time, r);
    partitions += static_cast<double>(time) * share;
    saves += static_cast<Ticks>(static_cast<double>(time) * (1 - share));
  });
  if (!Worth(report, saves)) return std::nullopt;
  Recommendation r;
  r.id = "few_partitions";
  r.title = "Use more partitions";
  r.text =
      "An instruction takes as long for one partition as for 128. Lay the "
      "data out over more partitions, with fewer elements in each.";
  r.evidence = absl::StrCat(
      "instructions that take ", Nanoseconds(narrow.time),
      " of the critical path use ",
      absl::StrFormat("%.0f",
                      all * partitions / static_cast<double>(narrow.time)),
      " of ", absl::StrFormat("%.0f", all), " partitions",
      SourceOf(report, *narrow.first));
  r.saves = saves;
  return r;
}

Advice EngineImbalance(const ProfileReport& report) {
  constexpr Engine kElementwise[] = {Engine::kVector, Engine::kScalar,
                                     Engine::kGpsimd};
  Advice best;
  for (Engine busy : kElementwise) {
    for (Engine idle : kElementwise) {
      if (busy == idle) continue;
      Tally movable;
      Ticks idle_busy = 0;
      ForEachCritical(report, [&](const PathStep& s,
                                  const InstructionRecord& r) {
        const OpcodeInfo& info = Info(r.instruction->opcode);
        // Not what the sequencer does itself, for its own.
        if (r.instruction->engine != busy || info.dma ||
            report.FactsOf(r).partitions == 0 || !(info.engines & Bit(idle))) {
          return;
        }
        movable.Add(Within(s, r.issue_end - r.start), r);
      });
      for (const EngineTotals& e : report.engines) {
        if (e.engine == idle) idle_busy = std::max(idle_busy, e.busy);
      }
      // One instruction cannot be shared. The idle engine takes at most half,
      // and no more than it has time for.
      if (movable.count < 2) continue;
      const Ticks saves =
          std::min(movable.time / 2, report.end - idle_busy - movable.time / 2);
      if (saves <= idle_busy || !Worth(report, saves) ||
          (best && best->saves >= saves)) {
        continue;
      }
      best.emplace();
      best->id = "engine_imbalance";
      best->title = absl::StrCat("Share the work of the ",
                                 std::string(Name(busy)), " engine");
      best->text =
          absl::StrCat("Give about half of the instructions that the ",
                       std::string(Name(idle)),
                       " engine can run as well to it (engine=). "
                       "Compare their costs first: trnemu info OPERATION.");
      best->evidence = absl::StrCat(
          "the ", std::string(Name(busy)), " engine takes ",
          Nanoseconds(movable.time), " of the critical path with ",
          movable.count, " instructions that the ", std::string(Name(idle)),
          " engine could run, which is busy ",
          Percent(report.ShareOf(idle_busy)), " of the time",
          SourceOf(report, *movable.first));
      best->saves = saves;
    }
  }
  return best;
}

Advice Throttled(const ProfileReport& report) {
  Ticks saves = 0, busy = 0;
  ForEachCritical(report, [&](const PathStep& s, const InstructionRecord& r) {
    if (r.instruction->engine != Engine::kTensor) return;
    saves += Within(s, r.extra);
    busy += s.to - s.from;
  });
  if (!Worth(report, saves)) return std::nullopt;
  Recommendation r;
  r.id = "throttled";
  r.title = "Keep the tensor engine busy";
  r.text = absl::StrCat(
      "After idling for ",
      absl::StrFormat("%.0f", report.hardware->tensor.throttle_window_ns),
      " ns the tensor engine runs at about half its rate until it has been "
      "busy as long. Bring its work together, and have its operands ready "
      "before it starts.");
  r.evidence = absl::StrCat(
      "throttling adds ", Nanoseconds(saves), " to ", Nanoseconds(busy),
      " of the tensor engine's instructions on the critical path");
  r.saves = saves;
  return r;
}

void AddRecommendations(ProfileReport& report) {
  constexpr Advice (*kRules[])(const ProfileReport&) = {
      SmallDescriptors, TableReloads,  NoOverlap,       PsumEvacuation,
      Fp32Matmul,       FewPartitions, EngineImbalance, Throttled};
  auto& all = report.recommendations;
  for (const auto rule : kRules) {
    if (Advice advice = rule(report)) all.push_back(*std::move(advice));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Recommendation& a, const Recommendation& b) {
                     return a.saves > b.saves;
                   });
  if (all.size() > kMostRecommendations) all.resize(kMostRecommendations);
}

}  // namespace trnemu
