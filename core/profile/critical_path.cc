// The critical path, from the end of the run backwards: at each step what the
// last thing had to wait for. Every time of a run is made by something (an
// instruction, a DMA part, a signal under way), so the steps join up.
#include <algorithm>
#include <array>
#include <map>

#include "core/profile/analysis.h"

namespace trnemu {
namespace {

// How far back the part that a descriptor generator was busy with can be: two
// transfers of 16 parts each, and room for other cores' in between.
constexpr int32_t kParts = 256;

class Walk {
 public:
  explicit Walk(const ProfileReport& report)
      : report_(report), timeline_(*report.timeline) {
    LinkInstructions();
    LinkParts();
  }

  std::vector<PathStep> Do() {
    FindLast();
    while (row_ >= 0 || part_ >= 0) {
      if (part_ >= 0) {
        StepPart(part_);
      } else {
        StepInstruction(row_);
      }
    }
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  void LinkInstructions() {
    std::map<std::pair<int, Engine>, int32_t> last;
    for (const InstructionRecord& r : timeline_.instructions()) {
      auto [at, is_new] = last.try_emplace({r.core, r.instruction->engine}, -1);
      first_ = before_.empty() ? r.ready : std::min(first_, r.ready);
      before_.push_back(at->second);
      at->second = static_cast<int32_t>(before_.size()) - 1;
    }
  }
  void LinkParts() {
    std::map<std::pair<int, int>, int32_t> queues;
    for (const DmaRecord& d : timeline_.dma()) {
      const auto self = static_cast<int32_t>(queue_before_.size());
      auto& q = queues.try_emplace({d.queue_set, d.queue}, -1).first->second;
      queue_before_.push_back(q);
      q = self;
    }
  }

  void FindLast() {
    at_ = report_.end;
    Ticks latest = -1;
    const auto& rows = timeline_.instructions();
    for (size_t r = 0; r < rows.size(); ++r) {
      const Ticks end = std::max(rows[r].end, rows[r].issue_end);
      if (end < latest) continue;
      latest = end;
      row_ = static_cast<int32_t>(r);
    }
    const auto& parts = timeline_.dma();
    for (size_t d = 0; d < parts.size(); ++d) {
      if (parts[d].notify <= latest) continue;
      latest = parts[d].notify;
      part_ = static_cast<int32_t>(d);
    }
    if (part_ >= 0) row_ = -1;
  }

  void Add(PathStep::Kind kind, Ticks from, int32_t row, Cause cause) {
    from = std::min(from, at_);
    if (from == at_) return;
    steps_.push_back({kind, from, at_, row, cause});
    at_ = from;
  }
  void GoTo(int32_t row, int32_t part) {
    row_ = part >= 0 ? -1 : row;
    part_ = part;
  }

  void StepInstruction(int32_t row) {
    const InstructionRecord& r = report_.row(row);
    Add(PathStep::Kind::kInstruction, r.start, row,
        CauseOf(r.instruction->engine));
    if (r.waited()) {
      const SemaphoreRecord& u =
          timeline_.updates()[static_cast<size_t>(r.update)];
      Add(PathStep::Kind::kWait, u.time, row, Cause::kHandOff);
      return GoTo(u.instruction, u.dma);
    }
    StepBefore(row, r);
  }

  // Nothing held the instruction but its engine: the one before it that was
  // done, or had its results there, or started, when this one did.
  void StepBefore(int32_t row, const InstructionRecord& r) {
    int32_t ended = -1, together = -1;
    const int32_t previous = before_[static_cast<size_t>(row)];
    int32_t p = previous;
    for (int i = 0; p >= 0 && i < 8; ++i) {
      const InstructionRecord& q = report_.row(p);
      if (q.issue_end == r.start) return GoTo(p, -1);
      if (q.end == r.start && ended < 0) ended = p;
      if (q.start == r.start && together < 0) together = p;
      p = before_[static_cast<size_t>(p)];
    }
    if (ended >= 0) return GoTo(ended, -1);
    if (together >= 0) return GoTo(together, -1);
    if (previous < 0) {
      Add(PathStep::Kind::kWait, first_, row, Cause::kDependence);
      Add(PathStep::Kind::kWait, 0, row, Cause::kLaunch);
      return GoTo(-1, -1);
    }
    Add(PathStep::Kind::kWait, report_.row(previous).issue_end, row,
        Cause::kDependence);
    GoTo(previous, -1);
  }

  void StepPart(int32_t part) {
    const DmaRecord& d = report_.part(part);
    const int32_t queue = queue_before_[static_cast<size_t>(part)];
    if (queue >= 0 && at_ == d.notify &&
        report_.part(queue).notify == d.notify &&
        report_.part(queue).end > d.end) {
      return GoTo(-1, queue);  // parts of a queue complete in order
    }
    if (d.start > d.payload_from) {
      // Its engine takes it up when the one before it in its queue is done.
      int32_t q = queue;
      while (q >= 0 && report_.part(q).bytes == 0) {
        q = queue_before_[static_cast<size_t>(q)];
      }
      if (q >= 0 && report_.part(q).free <= d.start) {
        Add(PathStep::Kind::kDma, report_.part(q).free, part, CauseOf(d));
        return GoTo(-1, q);
      }
    }
    if (const int32_t other = GeneratedBefore(part, d); other >= 0) {
      Add(PathStep::Kind::kDma, report_.part(other).payload_from, part,
          CauseOf(d));
      return GoTo(-1, other);
    }
    Add(PathStep::Kind::kDma, d.trigger, part, CauseOf(d));
    GoTo(d.instruction, -1);
  }

  // The part whose descriptors kept this one's waiting; -1: none did.
  int32_t GeneratedBefore(int32_t part, const DmaRecord& d) const {
    const DmaLaw& law = report_.hardware->dma_law(d.direction);
    const auto start = static_cast<Ticks>(law.start_ns * kTicksPerNs);
    if (d.payload_from <= d.trigger + start + 1) return -1;
    for (int32_t p = part - 1; p >= 0 && p >= part - kParts; --p) {
      const DmaRecord& o = report_.part(p);
      if (o.core != d.core || o.instruction == d.instruction) continue;
      const auto spacing = static_cast<Ticks>(
          report_.hardware->dma_law(o.direction).spacing_ns * kTicksPerNs + .5);
      const Ticks off = d.payload_from - (o.payload_from + spacing);
      if (off >= -1 && off <= 1) return p;
    }
    return -1;
  }

  const ProfileReport& report_;
  const Timeline& timeline_;
  std::vector<int32_t> before_;        // by row: the engine's one before
  std::vector<int32_t> queue_before_;  // by part
  std::vector<PathStep> steps_;
  Ticks at_ = 0;     // what comes after it is done
  Ticks first_ = 0;  // the first instruction of all can start
  int32_t row_ = -1, part_ = -1;
};

}  // namespace

void AddCriticalPath(ProfileReport& report) {
  report.critical_path = Walk(report).Do();
  std::array<CauseTotal, kCauseNames.size()> totals;
  for (const PathStep& s : report.critical_path) {
    CauseTotal& t = totals[static_cast<size_t>(s.cause)];
    t.cause = s.cause;
    ++t.count;
    t.total += s.to - s.from;
  }
  for (const CauseTotal& t : totals) {
    if (t.count > 0) report.critical_totals.push_back(t);
  }
  std::stable_sort(report.critical_totals.begin(), report.critical_totals.end(),
                   [](const CauseTotal& a, const CauseTotal& b) {
                     return a.total > b.total;
                   });
}

}  // namespace trnemu
