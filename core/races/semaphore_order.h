// What a wait proves: which signals must have come before it in every order
// that the program allows.
//
// A semaphore counts. If a wait needs all that can have been added by then,
// every signal has come, with all that it follows; if less would do, only that
// without which too few signals are left. The signals of a semaphore are cut
// into groups, each of which begins with a signal whose instruction (or
// trigger) knows all signals before it complete; so whatever lies in a later
// group is no help to a wait for an earlier one.
//
// Exact for semaphores that only rise and of which no engine consumes in no
// order with another wait; of others a wait is taken to prove all signals seen
// so far, which hides races but never invents one.
#ifndef TRNEMU_CORE_RACES_SEMAPHORE_ORDER_H_
#define TRNEMU_CORE_RACES_SEMAPHORE_ORDER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/races/clocks.h"
#include "isa/program.h"

namespace trnemu {

// A signal: `amount` for each lane of `work`, once that is complete.
struct Release {
  Work work;
  int64_t amount = 0;
  // What is known when it is complete: a clock, and that its sequencer has come
  // to the instruction.
  uint32_t clock = 0;
  uint32_t lane = 0;
  uint32_t sequence = 0;

  int64_t total() const { return amount * work.lanes; }
};

class SemaphoreOrder {
 public:
  SemaphoreOrder(const Program& program, const RaceLanes& lanes);

  // For another pass over the same events. The first is repeated with nothing
  // forgotten; those after that judge waits by all signals of the pass before.
  void Restart();
  // Whether all signals have been taken into account: none came that may have
  // satisfied an earlier wait in place of one that it was taken to prove.
  bool settled() const;

  // A signal; takes over one reference to its clock.
  void Signal(uint32_t semaphore, const Release& release);
  // Adds to `clock`, of the engine `lane` at its instruction `sequence`, what
  // the wait proves.
  void Wait(uint32_t semaphore, int64_t value, bool consume, uint32_t lane,
            uint32_t sequence, std::span<uint32_t> clock);
  // Drops what every engine knows: `least` is the minimum of their clocks.
  void Forget(Clock least);

  ClockStore& clocks() { return *clocks_; }

 private:
  static constexpr uint32_t kNobody = 0xffffffff;
  struct Group {
    int64_t first = 0;   // number of its first signal
    int64_t before = 0;  // what the signals before it add up to
    bool used = false;   // a wait was judged by it
  };
  struct Semaphore {
    bool loose = false;           // not exact (see above)
    uint32_t waiter = kNobody;    // the only lane that waits, if there is one
    uint32_t consumer = kNobody;  // who consumed last, at which instruction
    uint32_t consumer_sequence = 0;
    int64_t consumed = 0;
    int64_t own = 0;        // signals of the waiter itself
    int64_t total = 0;      // of the others
    int64_t first = 0;      // number of releases.front()
    int64_t forgotten = 0;  // what those before it added up to
    std::deque<Release> releases;
    std::deque<Group> groups;
    // Who waited, at which instruction last; empty if that is the waiter.
    std::vector<std::pair<uint32_t, uint32_t>> waits;
    std::vector<uint32_t> seen;  // loose: what all signals so far know
    std::vector<uint32_t> old;   // what those before old_until know
    int64_t old_until = 0;
  };
  // A pass over the events: semaphores and the clocks they refer to.
  struct Judge {
    const Semaphore& semaphore;
    const ClockStore& clocks;
  };

  void FindWaiters(const Program& program);
  void MakeLoose(Semaphore& s);
  static void NoteWait(Semaphore& s, uint32_t lane, uint32_t sequence);
  // Whether all waits of other lanes so far come before.
  static bool KnowsWaits(const Semaphore& s, uint32_t lane, Clock clock);
  bool Knows(const ClockStore& clocks, const Release& later, uint32_t lane,
             uint32_t sequence) const;
  bool KnowsAll(const Release& later, const Release& earlier) const;
  void EnterGroup(Semaphore& s, const Release& release);
  void JoinRelease(const Release& r, std::span<uint32_t> clock) const;
  void JoinOld(Semaphore& s, int64_t first, int64_t last,
               std::span<uint32_t> clock) const;
  void JoinRange(const Semaphore& s, int64_t first, int64_t last,
                 std::span<uint32_t> clock) const;
  void JoinPart(Judge judge, int64_t first, int64_t last, int64_t needed,
                uint32_t lane, uint32_t sequence, std::span<uint32_t> clock);

  const uint32_t lanes_;
  std::vector<Semaphore> start_;  // as they are before anything happens
  std::vector<Semaphore> semaphores_;
  std::unique_ptr<ClockStore> clocks_;
  // Of the pass before, if there was one.
  std::vector<Semaphore> before_;
  std::unique_ptr<ClockStore> clocks_before_;
  std::vector<const Release*> helpful_;              // of JoinPart
  std::vector<std::pair<uint32_t, int64_t>> known_;  // of JoinPart
  bool keep_ = false;                                // not the first pass
  bool late_ = false;  // first pass: a signal joined a group that was used
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_SEMAPHORE_ORDER_H_
