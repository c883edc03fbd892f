#include "core/races/semaphore_order.h"

#include <algorithm>
#include <utility>

namespace trnemu {
namespace {

// Of signals that are unordered among themselves, so many before a wait and
// after it are told apart; older ones are taken to have come, newer ones not to
// have.
constexpr int64_t kMaxApart = 48;

}  // namespace

SemaphoreOrder::SemaphoreOrder(const Program& program, const RaceLanes& lanes)
    : lanes_(lanes.size()),
      start_(program.semaphores.size()),
      clocks_(std::make_unique<ClockStore>(lanes_)) {
  FindWaiters(program);
  semaphores_ = start_;
}

void SemaphoreOrder::FindWaiters(const Program& program) {
  std::vector<bool> several(start_.size());
  uint32_t lane = 0;
  for (const CoreProgram& core : program.cores) {
    for (Engine engine : kSequencers) {
      for (const Instruction& i : core.stream(engine)) {
        for (const trnemu::Wait& w : core.WaitsOf(i)) {
          Semaphore& s = start_[w.semaphore];
          if (s.waiter != kNobody && s.waiter != lane) {
            several[w.semaphore] = true;
          }
          s.waiter = lane;
        }
        for (const trnemu::Signal& g : core.SignalsOf(i)) {
          if (g.op != SignalOp::kAdd && g.op != SignalOp::kInc) {
            start_[g.semaphore].loose = true;
          }
        }
      }
      ++lane;
    }
  }
  for (size_t i = 0; i < start_.size(); ++i) {
    if (several[i]) start_[i].waiter = kNobody;
    if (start_[i].loose) start_[i].seen.assign(lanes_, 0);
  }
}

void SemaphoreOrder::Restart() {
  if (keep_) {
    before_ = std::move(semaphores_);
    clocks_before_ = std::move(clocks_);
  }
  keep_ = true;
  late_ = false;
  semaphores_ = start_;
  clocks_ = std::make_unique<ClockStore>(lanes_);
}

bool SemaphoreOrder::settled() const {
  if (before_.empty()) return !late_;
  for (size_t i = 0; i < semaphores_.size(); ++i) {
    const auto& now = semaphores_[i].groups;
    const auto& then = before_[i].groups;
    if (semaphores_[i].loose != before_[i].loose || now.size() != then.size()) {
      return false;
    }
    for (size_t g = 0; g < now.size(); ++g) {
      if (now[g].first != then[g].first) return false;
    }
  }
  return true;
}

bool SemaphoreOrder::Knows(const ClockStore& clocks, const Release& later,
                           uint32_t lane, uint32_t sequence) const {
  if (lane == later.lane) return later.sequence >= sequence;
  return clocks.at(later.clock)[lane] >= sequence;
}

bool SemaphoreOrder::KnowsAll(const Release& later,
                              const Release& earlier) const {
  for (uint32_t i = 0; i < earlier.work.lanes; ++i) {
    if (!Knows(*clocks_, later, earlier.work.lane + i, earlier.work.sequence)) {
      return false;
    }
  }
  return true;
}

void SemaphoreOrder::Signal(uint32_t semaphore, const Release& release) {
  Semaphore& s = semaphores_[semaphore];
  if (release.total() == 0) {  // helps nobody
    clocks_->Release(release.clock);
    return;
  }
  if (s.loose) {
    JoinRelease(release, s.seen);
    clocks_->Release(release.clock);
    return;
  }
  if (release.work.lane == s.waiter) {
    s.own += release.total();
    clocks_->Release(release.clock);
    return;
  }
  EnterGroup(s, release);
  s.releases.push_back(release);
  s.total += release.total();
}

// A signal begins a group if its instruction knows all before it; else it
// belongs to the first group that has one that it does not know.
void SemaphoreOrder::EnterGroup(Semaphore& s, const Release& release) {
  const int64_t number = s.first + static_cast<int64_t>(s.releases.size());
  auto at = [&](int64_t n) -> const Release& {
    return s.releases[static_cast<size_t>(n - s.first)];
  };
  if (s.groups.empty()) {
    s.groups.push_back({number, s.total});
    return;
  }
  int64_t end = number;
  size_t joined = s.groups.size();
  while (joined > 0) {
    const int64_t first = std::max(s.groups[joined - 1].first, s.first);
    bool all = true;
    for (int64_t n = end - 1; n >= first && all; --n) {
      all = KnowsAll(release, at(n));
    }
    if (all) break;
    --joined;
    // Whoever knows the first of a group knows the groups before.
    if (first < end && KnowsAll(release, at(first))) break;
    end = first;
    if (end <= s.first) break;
  }
  if (joined == s.groups.size()) {
    s.groups.push_back({number, s.total});
    return;
  }
  for (size_t g = joined; g < s.groups.size(); ++g) {
    if (s.groups[g].used) late_ = true;
  }
  s.groups[joined].used = false;
  s.groups.resize(joined + 1);
}

void SemaphoreOrder::MakeLoose(Semaphore& s) {
  s.loose = true;
  s.seen.assign(lanes_, 0);
  for (const Release& r : s.releases) {
    JoinRelease(r, s.seen);
    clocks_->Release(r.clock);
  }
  s.releases.clear();
  s.groups.clear();
}

void SemaphoreOrder::NoteWait(Semaphore& s, uint32_t lane, uint32_t sequence) {
  for (auto& [other, last] : s.waits) {
    if (other != lane) continue;
    last = sequence;
    return;
  }
  s.waits.emplace_back(lane, sequence);
}

bool SemaphoreOrder::KnowsWaits(const Semaphore& s, uint32_t lane,
                                Clock clock) {
  return std::all_of(s.waits.begin(), s.waits.end(), [&](const auto& wait) {
    return wait.first == lane || clock[wait.first] >= wait.second;
  });
}

void SemaphoreOrder::Wait(uint32_t semaphore, int64_t value, bool consume,
                          uint32_t lane, uint32_t sequence,
                          std::span<uint32_t> clock) {
  Semaphore& s = semaphores_[semaphore];
  // What another engine took before, in this order, it might take after; and
  // what this one takes after another's wait, it might take before.
  const bool ordered = s.consumer == kNobody || s.consumer == lane ||
                       clock[s.consumer] >= s.consumer_sequence;
  if ((!ordered || (consume && !KnowsWaits(s, lane, clock))) && !s.loose) {
    MakeLoose(s);
  }
  if (s.waiter == kNobody) NoteWait(s, lane, sequence);
  const int64_t needed =
      value + s.consumed - (s.waiter == lane ? s.own : int64_t{0});
  if (consume) {
    s.consumed += value;
    s.consumer = lane;
    s.consumer_sequence = sequence;
  }
  if (value <= 0) return;  // it has always been
  if (s.loose) {
    Join(clock, s.seen);
    return;
  }
  if (needed <= 0) return;
  const bool again = !before_.empty() && !before_[semaphore].loose;
  Semaphore& judge = again ? before_[semaphore] : s;
  auto group =
      std::upper_bound(judge.groups.begin(), judge.groups.end(), needed - 1,
                       [](int64_t n, const Group& g) { return n < g.before; });
  if (group == judge.groups.begin()) return;  // known to all
  const auto next = group--;
  const int64_t last =
      next != judge.groups.end()
          ? next->first
          : judge.first + static_cast<int64_t>(judge.releases.size());
  const int64_t end = next != judge.groups.end() ? next->before : judge.total;
  group->used = true;
  if (needed >= end) {
    JoinOld(s, group->first, last, clock);
    return;
  }
  if (group != judge.groups.begin()) {
    JoinRange(s, std::prev(group)->first, group->first, clock);
  }
  const int64_t now = s.first + static_cast<int64_t>(s.releases.size());
  const int64_t first = std::max(group->first, now - kMaxApart);
  JoinOld(s, group->first, first, clock);
  int64_t apart = needed - std::max(group->before, judge.forgotten);
  for (int64_t n = std::max(group->first, judge.first); n < first; ++n) {
    apart -= judge.releases[static_cast<size_t>(n - judge.first)].total();
  }
  if (apart <= 0) return;
  JoinPart({judge, again ? *clocks_before_ : *clocks_}, first,
           std::min(last, now + kMaxApart), apart, lane, sequence, clock);
}

void SemaphoreOrder::JoinRelease(const Release& r,
                                 std::span<uint32_t> clock) const {
  Join(clock, clocks_->at(r.clock));
  clock[r.lane] = std::max(clock[r.lane], r.sequence);
  for (uint32_t i = 0; i < r.work.lanes; ++i) {
    uint32_t& lane = clock[r.work.lane + i];
    lane = std::max(lane, r.work.sequence);
  }
}

// The same as JoinRange; of many signals at little cost each time, with what
// older ones know, too (which those know anyway).
void SemaphoreOrder::JoinOld(Semaphore& s, int64_t first, int64_t last,
                             std::span<uint32_t> clock) const {
  const int64_t end = s.first + static_cast<int64_t>(s.releases.size());
  last = std::min(last, end);
  if (last - first <= 2 * kMaxApart || s.old_until > last) {
    JoinRange(s, first, last, clock);
    return;
  }
  if (s.old.empty()) s.old.assign(lanes_, 0);
  JoinRange(s, std::max(s.old_until, s.first), last, s.old);
  s.old_until = last;
  Join(clock, s.old);
}

void SemaphoreOrder::JoinRange(const Semaphore& s, int64_t first, int64_t last,
                               std::span<uint32_t> clock) const {
  const int64_t end = s.first + static_cast<int64_t>(s.releases.size());
  for (int64_t n = std::max(first, s.first); n < std::min(last, end); ++n) {
    JoinRelease(s.releases[static_cast<size_t>(n - s.first)], clock);
  }
}

// The signals [first, last) add up to more than `needed`. Without completion n
// of a lane there are only those that do not know it: it has come if they fall
// short. So of each lane as much has come as is known to the signals with
// which, taken from the least knowing on, `needed` is reached.
void SemaphoreOrder::JoinPart(Judge judge, int64_t first, int64_t last,
                              int64_t needed, uint32_t lane, uint32_t sequence,
                              std::span<uint32_t> clock) {
  const Semaphore& all = judge.semaphore;
  const int64_t end = all.first + static_cast<int64_t>(all.releases.size());
  helpful_.clear();
  for (int64_t n = std::max(first, all.first); n < std::min(last, end); ++n) {
    const Release& r = all.releases[static_cast<size_t>(n - all.first)];
    // What comes after the wait is no help to it.
    if (!Knows(judge.clocks, r, lane, sequence)) helpful_.push_back(&r);
  }
  for (uint32_t l = 0; l < lanes_; ++l) {
    known_.clear();
    for (const Release* r : helpful_) {
      uint32_t of_all = judge.clocks.at(r->clock)[l];
      if (l == r->lane) of_all = std::max(of_all, r->sequence);
      const bool in_work =
          l >= r->work.lane && l < r->work.lane + r->work.lanes;
      const uint32_t others = r->work.lanes - (in_work ? 1 : 0);
      if (others > 0) known_.emplace_back(of_all, r->amount * others);
      if (in_work) {
        known_.emplace_back(std::max(of_all, r->work.sequence), r->amount);
      }
    }
    std::sort(known_.begin(), known_.end());
    int64_t sum = 0;
    uint32_t come = 0;
    for (const auto& [known, amount] : known_) {
      come = known;
      sum += amount;
      if (sum >= needed) break;
    }
    clock[l] = std::max(clock[l], come);
  }
}

void SemaphoreOrder::Forget(Clock least) {
  if (keep_) return;
  for (Semaphore& s : semaphores_) {
    while (!s.releases.empty() && s.releases.front().work.KnownBy(least)) {
      clocks_->Release(s.releases.front().clock);
      s.forgotten += s.releases.front().total();
      s.releases.pop_front();
      ++s.first;
    }
    while (s.groups.size() > 1 && s.groups[1].first <= s.first) {
      s.groups.pop_front();
    }
  }
}

}  // namespace trnemu
