// Where the time of each engine goes, and what idle times are waits for.
#include <algorithm>
#include <map>

#include "core/profile/analysis.h"

namespace trnemu {

std::vector<int32_t> RowsOf(const Timeline& timeline, size_t core,
                            Engine engine) {
  std::vector<int32_t> rows;
  const auto& all = timeline.instructions();
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].core == core && all[r].instruction->engine == engine) {
      rows.push_back(static_cast<int32_t>(r));
    }
  }
  return rows;
}

Cause CauseOf(Engine engine) {
  switch (engine) {
    case Engine::kTensor:
      return Cause::kTensor;
    case Engine::kVector:
      return Cause::kVector;
    case Engine::kScalar:
      return Cause::kScalar;
    case Engine::kGpsimd:
      return Cause::kGpsimd;
    case Engine::kSync:
      return Cause::kSync;
    default:
      return Cause::kNone;
  }
}

Cause CauseOf(const DmaRecord& part) {
  switch (part.direction) {
    case DmaDirection::kLoad:
      return Cause::kLoad;
    case DmaDirection::kStore:
      return Cause::kStore;
    case DmaDirection::kHbm:
      return Cause::kHbm;
    case DmaDirection::kOnChip:
      return Cause::kTiles;
  }
  return Cause::kNone;
}

Cause CauseOf(const Timeline& timeline, const SemaphoreRecord& update,
              size_t core) {
  const InstructionRecord& from =
      timeline.instructions()[static_cast<size_t>(update.instruction)];
  if (from.core != core) return Cause::kCore;
  if (update.dma >= 0) {
    return CauseOf(timeline.dma()[static_cast<size_t>(update.dma)]);
  }
  return CauseOf(from.instruction->engine);
}

Ticks UnionOf(std::vector<std::pair<Ticks, Ticks>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  Ticks total = 0, at = 0;
  for (const auto& [from, to] : intervals) {
    total += std::max<Ticks>(0, to - std::max(at, from));
    at = std::max(at, to);
  }
  return total;
}

namespace {

EngineTotals TotalsOf(const ProfileReport& report, size_t core, Engine engine,
                      const std::vector<int32_t>& rows) {
  EngineTotals totals;
  totals.core = static_cast<uint8_t>(core);
  totals.engine = engine;
  totals.instructions = static_cast<int64_t>(rows.size());
  std::vector<std::pair<Ticks, Ticks>> active;
  for (int32_t row : rows) {
    const InstructionRecord& r = report.row(row);
    totals.busy += r.issue_end - r.start;
    totals.waiting += r.start - r.ready;
    // Completion follows the instruction before it, too.
    active.emplace_back(r.start, std::max(r.issue_end, r.end));
    if (engine == Engine::kTensor) totals.throttled += r.extra;
    if (engine == Engine::kScalar) totals.table_load += r.extra;
  }
  totals.active = UnionOf(active);
  return totals;
}

EngineTotals DmaTotals(const ProfileReport& report, size_t core) {
  EngineTotals totals;
  totals.core = static_cast<uint8_t>(core);
  totals.engine = Engine::kDma;
  std::vector<std::pair<Ticks, Ticks>> active;
  int32_t last = -1;
  for (const DmaRecord& d : report.timeline->dma()) {
    if (d.core != core) continue;
    if (d.instruction != last) ++totals.instructions;
    last = d.instruction;
    totals.busy += d.busy;
    if (d.bytes > 0) active.emplace_back(d.start, d.end);
  }
  totals.busy /= std::max<int64_t>(1, report.hardware->dma.engines);
  totals.active = UnionOf(active);
  return totals;
}

void AddStallsOf(ProfileReport& report, size_t core, Engine engine,
                 const std::vector<int32_t>& rows) {
  Ticks free = 0;
  for (int32_t row : rows) {
    const InstructionRecord& r = report.row(row);
    Stall stall;
    stall.core = static_cast<uint8_t>(core);
    stall.engine = engine;
    stall.row = row;
    const Ticks ready = std::max(free, r.ready);
    if (ready > free && free > 0) {
      stall.from = free;
      stall.to = std::min(ready, r.start);
      stall.cause = Cause::kDependence;
      if (stall.to > stall.from) report.stalls.push_back(stall);
    }
    if (r.waited() && r.start > ready) {
      const SemaphoreRecord& u =
          report.timeline->updates()[static_cast<size_t>(r.update)];
      stall.from = ready;
      stall.to = r.start;
      stall.cause = CauseOf(*report.timeline, u, core);
      stall.producer = u.instruction;
      stall.producer_dma = u.dma;
      report.stalls.push_back(stall);
    }
    free = std::max(free, r.issue_end);
  }
}

}  // namespace

void AddEngineTotals(ProfileReport& report) {
  for (size_t c = 0; c < report.program->cores.size(); ++c) {
    for (Engine engine : kSequencers) {
      const auto rows = RowsOf(*report.timeline, c, engine);
      if (rows.empty()) continue;
      report.engines.push_back(TotalsOf(report, c, engine, rows));
    }
    EngineTotals dma = DmaTotals(report, c);
    if (dma.instructions > 0) report.engines.push_back(dma);
  }
}

void AddStalls(ProfileReport& report) {
  for (const EngineTotals& e : std::vector(report.engines)) {
    if (e.engine == Engine::kDma) continue;
    AddStallsOf(report, e.core, e.engine,
                RowsOf(*report.timeline, e.core, e.engine));
  }
  std::map<std::tuple<int, int, int>, CauseTotal> totals;
  for (const Stall& s : report.stalls) {
    CauseTotal& t =
        totals[{s.core, static_cast<int>(s.engine), static_cast<int>(s.cause)}];
    t.core = s.core;
    t.engine = s.engine;
    t.cause = s.cause;
    ++t.count;
    t.total += s.to - s.from;
  }
  for (const auto& [key, total] : totals) report.stall_totals.push_back(total);
  std::stable_sort(report.stall_totals.begin(), report.stall_totals.end(),
                   [](const CauseTotal& a, const CauseTotal& b) {
                     return a.total > b.total;
                   });
}

void AddOperations(ProfileReport& report) {
  std::vector<OperationTotal> totals(report.program->operations.size());
  for (const InstructionRecord& r : report.timeline->instructions()) {
    OperationTotal& t = totals[r.instruction->operation];
    if (r.instruction->step == 0) ++t.count;
    t.busy += r.issue_end - r.start;
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].count == 0 && totals[i].busy == 0) continue;
    totals[i].operation = report.program->operations[i];
    report.operations.push_back(totals[i]);
  }
  std::stable_sort(report.operations.begin(), report.operations.end(),
                   [](const OperationTotal& a, const OperationTotal& b) {
                     return a.busy > b.busy;
                   });
}

}  // namespace trnemu
