// Finds what happens in no order in a run: races, by happens-before.
//
// The runner hands over what it did (races/trace.h). Two accesses of the same
// bytes, one of them a write, must be ordered by what every legal order has in
// common: each sequencer's stream, a DMA's trigger before its parts, the parts
// of one queue, and semaphores (races/semaphore_order.h). That the run at hand
// happened to order them says nothing.
//
// A report is never a false alarm; a race may be missed where a semaphore is
// set, decremented, or consumed in no order with another engine's wait, and in
// what views made by indirect() touch.
#ifndef TRNEMU_CORE_RACES_DETECTOR_H_
#define TRNEMU_CORE_RACES_DETECTOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/loop_position.h"
#include "core/machine.h"
#include "core/races/access_history.h"
#include "core/races/clocks.h"
#include "core/races/semaphore_order.h"
#include "core/races/trace.h"
#include "isa/diagnostic.h"
#include "isa/program.h"

namespace trnemu {

class RaceDetector : public RaceSink {
 public:
  // All are kept by reference. `allow`: ids of findings that are let pass,
  // which must not hide others.
  RaceDetector(const Program& program, const Placement& placement,
               std::span<const std::string> allow);

  // Of a system, before anything is taken in: who runs the program.
  void SetRank(uint32_t rank) { rank_ = rank; }

  // Takes in what happened since the last call and empties the trace. `last`:
  // nothing will follow. `stop` is asked now and then; false: it wanted to.
  bool Consume(Trace& trace, bool last, const std::function<bool()>& stop);
  // What was found, causes first; each pair of instructions once, with a count.
  const std::vector<Diagnostic>& findings() const { return findings_; }

  // Bytes that a part of a DMA touches in one operand.
  struct Piece {
    int64_t partition = 0;
    int64_t begin = 0, end = 0;
    int part = 0;
  };

  void Unordered(const RaceAccess& before, const RaceAccess& after,
                 const Overlap& where) override;
  void Foreign(const RaceAccess& writer, const RaceAccess& read,
               const Overlap& where) override;

 private:
  struct Sequencer {
    uint32_t core = 0;
    const std::vector<Instruction>* stream = nullptr;
    uint32_t sequence = 0;               // instructions so far
    uint32_t clock = kNone;              // in the store, of what is known now
    bool changed = true;                 // since then
    int64_t left = 0;                    // events of this trace
    const StreamLoops* loops = nullptr;  // null: it has none
    LoopPosition position;
    uint32_t positions = 0;            // that it has been in before
    std::vector<LoopPosition> recent;  // the last ones
    size_t last = 0;                   // the instruction before
  };
  // A sendrecv that was triggered.
  struct End {
    const Instruction* instruction = nullptr;
    uint32_t sequencer = 0;
    uint32_t sequence = 0;
    std::vector<uint32_t> clock;
    std::vector<int64_t> signals;
  };
  // Pairs that were found: the two instructions and the kind.
  using Key = std::array<uint64_t, 3>;
  static constexpr uint32_t kNone = 0xffffffff;

  void Reset();
  bool Pass(const Trace& trace, bool last, const std::function<bool()>& stop);
  void Step(const TraceEvent& event, const Trace& trace);
  void Exchange(const Trace& trace);
  void TakeWaits(const CoreProgram& core, const Instruction& i,
                 uint32_t sequencer, const Trace& trace);
  void EnterOperands(const Instruction& i, RaceAccess access, Clock clock,
                     const Trace& trace);
  void EnterOperand(const Access& operand, RaceAccess access, Clock clock);
  void EnterWritten(Clock clock);
  void EnterIndices(const Instruction& i, RaceAccess access, Clock clock);
  // Of a collective: whether this rank's transfer touches it.
  bool TouchesOperand(const CoreProgram& core, const Instruction& i,
                      size_t operand) const;
  void EnterMoved(const Access& operand, const Indirection& n,
                  RaceAccess access, Clock clock, const Trace& trace);
  void SignalAll(const CoreProgram& core, const Instruction& i, Work work,
                 uint32_t sequencer, uint32_t sequence, uint32_t clock);
  void SignalOne(const trnemu::Signal& g, int64_t value, Work work,
                 uint32_t sequencer, uint32_t sequence, uint32_t clock);
  int64_t NextValue(const Trace& trace);
  std::span<uint32_t> ClockOf(uint32_t sequencer) {
    return {clocks_.data() + size_t{sequencer} * lanes_.size(), lanes_.size()};
  }
  std::span<uint32_t> AssumedBy(uint32_t sequencer) {
    return {assumed_.data() + size_t{sequencer} * lanes_.size(), lanes_.size()};
  }
  uint32_t Snapshot(uint32_t sequencer);
  void FindLeast(bool last);
  AccessHistory* HistoryOf(const RaceAccess& access);

  void MoveInLoops(Sequencer& s, size_t index);
  // Whether b comes before a as the author wrote them.
  bool IsWrittenBefore(const RaceAccess& b, const RaceAccess& a) const;
  // False: not known.
  bool PiecesOf(const RaceAccess& access, std::vector<Piece>& pieces) const;
  bool PartsCollide(const RaceAccess& a, const RaceAccess& b) const;
  std::string WhoIs(const RaceAccess& access) const;
  Diagnostic Begin(Category category, std::string_view id,
                   const RaceAccess& who, const Overlap& where) const;
  // Whether the pair needs no new finding; counts it if it has one.
  bool Counted(const Key& key, std::string_view id);
  bool IsAllowed(std::string_view id) const;
  void Add(const Key& key, Diagnostic finding, bool consequence);
  void SortFindings();

  const Program& program_;
  const Placement& placement_;
  const std::span<const std::string> allow_;
  uint32_t rank_ = 0;
  const RaceLanes lanes_;
  std::vector<bool> written_;    // tensors that the program writes
  std::vector<PitchVote> rows_;  // of tensors in HBM
  SemaphoreOrder order_;
  std::vector<StreamLoops> loops_;  // of each sequencer
  std::vector<Sequencer> sequencers_;
  std::vector<uint32_t> clocks_;  // by sequencer
  // Likewise: what it has been reported not to know.
  std::vector<uint32_t> assumed_;
  std::vector<uint32_t> least_;
  std::vector<uint32_t> issued_;                         // by queue set
  std::vector<std::unique_ptr<AccessHistory>> on_chip_;  // SBUF, PSUM a core
  std::vector<std::unique_ptr<AccessHistory>> hbm_;      // by tensor
  std::unordered_map<int64_t, End> ends_;                // by step
  // Of the instruction at hand: writes, which come after its reads.
  std::vector<RaceAccess> writes_;
  std::vector<int64_t> signals_;
  std::span<uint32_t> knows_;  // its clock
  size_t value_at_ = 0;
  int64_t steps_ = 0;  // so far
  uint32_t step_ = 0;  // names what happens at once
  bool first_ = true;  // trace
  std::map<Key, size_t> found_;
  std::vector<Diagnostic> findings_;
  std::map<std::string, int, std::less<>> found_of_id_;
  std::vector<bool> consequences_;  // of another finding, by its index
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_DETECTOR_H_
