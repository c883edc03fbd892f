// One run of one program: the event-driven scheduler.
//
// Sequencers issue in order; a DMA transfer is parts in queues; semaphores tie
// them together. Each step either takes effect or stalls; when nothing can
// take effect and something is left, that is a deadlock.
#ifndef TRNEMU_CORE_RUNNER_H_
#define TRNEMU_CORE_RUNNER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/dma_engines.h"
#include "core/engines/dma.h"
#include "core/exchange.h"
#include "core/execution.h"
#include "core/hbm_share.h"
#include "core/machine.h"
#include "core/observer.h"
#include "core/races/detector.h"
#include "core/races/trace.h"
#include "core/run.h"
#include "core/schedule_random.h"
#include "core/semaphores.h"
#include "core/sequencer.h"
#include "core/time_model.h"
#include "core/transport.h"
#include "core/writers.h"
#include "isa/program.h"
#include "isa/text.h"

namespace trnemu {

struct DmaRecord;

class Runner : public FindingSink {
 public:
  // Everything is kept by reference. `states` has one entry per core.
  Runner(const Program& program, Machine& machine,
         const std::vector<HbmBlock>& blocks,
         const std::vector<StreamFacts>& streams, const TimeModel& time,
         const RunOptions& options, std::span<CoreState* const> states);

  // Runs to the end, or until an observer pauses it; then once more goes on.
  absl::Status Run();
  bool paused() const { return paused_; }
  // Before Run; kept by pointer.
  void Observe(Observer* observer) { observers_.push_back(observer); }
  // A rank of a system (core/runner_collective.cc). Before Run; kept by
  // pointer. Then Run pauses before what happens at `horizon`, and where
  // nothing is left but to wait for others.
  void Connect(Transport* transport);
  void SetHorizon(Ticks horizon) { horizon_ = horizon; }
  // When the next thing happens, as far as it is known; kNever: nothing.
  Ticks NextTime();
  // Between two calls of Run, neither before the horizon: a move starts; a
  // collective is complete, and signals.
  void StartMove(const MoveWork& work, Ticks time);
  void Complete(int64_t ticket, Ticks time);
  // Of a collective that starts: what this rank sends has been written.
  absl::Status CheckSources(const CollectiveCall& call);
  // Bytes that moves of others read from, or write to, this rank's HBM.
  void CountRemote(int64_t read, int64_t written);
  // A deadlock, as this rank sees it; OK if it has nothing left to do.
  absl::Status ReportStall() const { return Deadlock(); }
  // A collective of both cores that one of them has not come to; else null.
  const CollectiveCall* half() const {
    return halves_.empty() ? nullptr : &halves_.front();
  }
  std::string DescribeSource(const Instruction& i) const {
    return program_.DescribeSource(i.source);
  }
  // Says where, for a fault of a collective that it triggered.
  absl::Status LocateCall(const absl::Status& status,
                          const CollectiveCall& call) {
    return Locate(status, call.core, *call.instruction);
  }
  bool values() const { return options_.values; }
  CoreState& state(size_t core) const { return *states_[core]; }
  const Hardware& hardware() const { return *machine_.hardware; }

  void Warn(Diagnostic diagnostic) override;
  bool CountAgain(std::string_view id) override;

  Profile& profile() { return profile_; }
  std::vector<Diagnostic>& findings() { return findings_; }
  // output.unwritten, with who could have written the bytes.
  absl::Status ExplainOutput(const absl::Status& status) const;

  // How it stands, for those who look on.
  const Program& program() const { return program_; }
  std::span<const Sequencer> sequencers() const { return sequencers_; }
  const Semaphores& semaphores() const { return semaphores_; }
  const Placement& placement() const { return placement_; }
  Machine& machine() const { return machine_; }
  Order order() const { return options_.order; }
  Ticks now() const { return now_; }
  // DMA parts that were triggered and have yet to be done.
  int64_t parts_under_way() const { return parts_under_way_; }

 private:
  // What has to happen at a time: signals of an instruction, or a DMA part.
  struct Event {
    Ticks time = 0;
    uint64_t sequence = 0;  // ties break in the order of creation
    const Instruction* instruction = nullptr;
    size_t core = 0;
    int64_t transfer = -1;  // a DMA part's, else -1
    int32_t part = 0;
    int32_t resolved = -1;  // index into resolved_signals_; -1: none
    int32_t parts = 1;      // so many from `part` on
    int64_t move = -1;      // a collective's move starts, by its place
    int64_t ticket = -1;    // a collective is complete
    bool operator>(const Event& o) const {
      return time != o.time ? time > o.time : sequence > o.sequence;
    }
  };
  // A DMA on its way.
  struct Transfer {
    const Instruction* instruction = nullptr;
    size_t core = 0;
    DmaTransfer dma;
    std::vector<DmaPart> parts;
    std::vector<Ticks> done;  // timed order: when each part is
    int64_t parts_left = 0;
    Ticks trigger = 0;
    int32_t resolved = -1;  // as Event::resolved
    int32_t record = -1;    // of its first part, in the timeline
    int64_t exchange = -1;  // a joint transfer's; tiles and parts are there
    int64_t move = -1;      // of a collective
    double hbm_rate = 0;    // what its parts take of the stack, bytes a ns
    // With a log: what its parts wrote, an exchange's by core.
    std::vector<EffectDigest> digests;
  };

  // When what happens to a part.
  struct PartTimes {
    Ticks payload_from = 0;  // its bytes could go
    Ticks start = 0;         // its DMA engine takes it up
    Ticks busy = 0;          // how long it has that engine, of its own
    Ticks free = 0;          // and is done with it
    Ticks end = 0;           // its last byte is there
    Ticks notify = 0;        // its signals are given
  };

  // Races (core/runner_races.cc): the trace of what happens, and what follows
  // from it at the end.
  void TraceStep(const Sequencer& s);
  // Whether to go on after a fault, to see what it comes from.
  bool Hold(const absl::Status& fault);
  absl::Status Conclude(absl::Status status);
  absl::Status ExecuteStep(Sequencer& s);

  absl::Status RunTimed();
  absl::Status Take(const Event& event);
  absl::Status RunProgramOrder();
  absl::Status RunRandom();
  absl::Status CheckBudgets();  // core/runner_budgets.cc
  absl::Status CheckTime() const;
  absl::Status TooLong() const;
  // Wall time, and whether the user wants the run to end.
  absl::Status CheckHost() const;
  absl::Status OverInstructions() const;
  void SetInstructionLimit();

  void Prepare(Sequencer& s);
  // Asks for the memory that the next instruction of the stream will need: it
  // takes the host longer to get there than to do the rest.
  void Prefetch(const Sequencer& s) const;
  void PrepareTime(Sequencer& s);
  // `known`: facts that the instruction alone does not show.
  Cost CostOf(Sequencer& s, CostFacts known = 0);
  // The fixed time of a launch, if asked for.
  void StartTime();
  void EndTime();
  Ticks StallOfTensor(const Sequencer& s) const;
  Ticks StallOfDependence(const Sequencer& s) const;
  Ticks StallOfTranspose(const Sequencer& s) const;
  void PreparePorts(Sequencer& s) const;
  // Whether another engine holds a memory that the instruction goes to; then
  // it starts later.
  bool WaitsForPorts(Sequencer& s);
  void AddTableLoad(Sequencer& s, Cost& cost) const;
  void AdvanceArray(Sequencer& s, Ticks start, Cost& cost);
  ExecuteArgs ArgsOf(const Sequencer& s) const;
  bool WaitsHold(const Sequencer& s) const;
  // Takes the instruction at s.next; its waits must hold.
  absl::Status Step(Sequencer& s);
  absl::Status StepCompute(Sequencer& s);
  // Adds the dynamic offsets of an engine's operands to their tiles. Views made
  // by indirect() keep theirs.
  absl::Status MoveSlots(Sequencer& s);
  absl::Status ExecuteSlots(const Sequencer& s, CoreState& state);
  // The indices of operand `o` as the instruction starts: of a scalar in
  // `bytes`, of rows in `rows`.
  absl::Status ReadIndices(const Sequencer& s, size_t o, OobMode mode,
                           int64_t& bytes, std::vector<int64_t>* rows);
  absl::Status StepDma(Sequencer& s);
  absl::Status StepRegisters(Sequencer& s);
  absl::Status TakeWaits(Sequencer& s);
  int64_t CountOf(const Sequencer& s, int64_t value, bool is_register) const {
    return is_register ? s.registers.value(static_cast<uint32_t>(value))
                       : value;
  }
  int32_t ResolveSignals(const Sequencer& s);
  void FreeSignals(int32_t resolved);
  bool ComesBefore(const Sequencer& a, const Sequencer& b) const;
  absl::Status MakeTransfer(const Sequencer& s, DmaTransfer& dma);
  absl::Status MakeDmaOperand(const Sequencer& s, size_t o, OobMode mode,
                              DmaTransfer& dma, DmaOperand& to);
  void WarnOfTransfer(const DmaTransfer& dma);
  void AdvanceTime(Sequencer& s);
  // DMA (core/runner_time_dma.cc).
  void ScheduleParts(Sequencer& s, int64_t transfer);
  Ticks PayloadStart(Sequencer& s, const DmaCost& cost);
  void CountPart(const DmaTransfer& dma, DmaPart part, const DmaShape& shape);
  PartTimes AddToEngine(size_t core, int64_t transfer, int32_t part,
                        uint32_t queue, const DmaCost& cost,
                        const DmaShape& shape, const DmaPartTime& time,
                        Ticks start, bool shared_engines = true);
  // A transfer of a part for each engine, alike but for their numbers; `queue`
  // is the first's. False, and nothing is done, if the engines differ.
  bool AddToEachEngine(size_t core, int64_t transfer, uint32_t queue,
                       const DmaCost& cost, const DmaShape& shape,
                       const DmaPartTime& time, Ticks start, PartTimes& times);
  // A transfer uses HBM until then.
  void UseHbm(size_t core, Transfer& t, Ticks until, double rate);
  // Parts from there on, `parts` of them, that were scheduled have other times
  // than was said.
  void Delay(size_t core, const DmaEngines::Delay& delay, int32_t parts);
  // Whether parts are done only later than their event says; then they have
  // events of their own.
  bool PutOff(const Event& event);
  // Random order: a part's first step, at the head of a queue. Its second is
  // FinishPart from what the first has staged.
  absl::Status ReadPart(int64_t transfer, int32_t part, StagedPart& staged);
  absl::Status FinishPart(int64_t transfer, int32_t part,
                          const StagedPart* staged = nullptr);
  // Timed order: the part ends then. Parts in a row that end at the same time
  // are one event, unless someone looks on.
  void EndPartAt(Ticks time, int64_t transfer, int32_t part);
  void EndParts();                     // of one trigger
  void EndTransfer(int64_t transfer);  // its last part is done
  absl::Status FinishParts(const Event& event);
  // What `parts` parts of a transfer signal together, if that is the same as
  // one after the other; false, and nothing is done, if it may not be.
  bool SignalTogether(const Transfer& transfer, int64_t parts);
  int64_t NewTransfer();
  // sendrecv (core/runner_exchange.cc)
  absl::Status StepExchange(Sequencer& s);
  absl::Status StartExchange(int64_t exchange);
  void ScheduleExchange(int64_t transfer);
  absl::Status FinishExchangePart(int64_t transfer, int32_t part);
  // Collectives (core/runner_collective.cc).
  struct Pending {
    const Instruction* instruction = nullptr;
    size_t core = 0;
    int32_t resolved = -1;
    int32_t record = -1;  // of the timeline
    Ticks trigger = 0;
    int64_t previous = -1;  // ticket of the list's tensor before
    int64_t step = 0;       // in the trace, for races
  };
  absl::Status StepCollective(Sequencer& s);
  CollectiveCall::Tensors TakeTensors(Sequencer& s, CollectiveCall& call);
  absl::Status MeetOtherCore(CollectiveCall call);
  absl::Status CheckMetadata(const CollectiveCall& call);
  absl::Status RankRegister(Sequencer& s);
  DmaCost CollectiveCost(Engine trigger) const;
  void RecordMovePart(Transfer& t, const Pending& pending, int64_t part,
                      size_t core, const DmaShape& shape,
                      const PartTimes& times);
  void ScheduleMove(const MoveWork& work);
  void FinishMoveParts(const Event& event);
  absl::Status FinishCollective(int64_t ticket);
  // Random order (core/runner_random.cc).
  void DrawSpeeds();
  void FindChoices();
  void HoldChoices();
  size_t Choose();
  absl::Status StepQueue(size_t queue);
  // The part at the head of a queue may go; takes it.
  bool HeadIsReady(size_t queue) const;
  std::pair<int64_t, int32_t> TakeHead(size_t queue);
  // Signals at="read" come before those of the completion.
  absl::Status Signal(const Instruction& i, size_t core, Ticks now,
                      int32_t resolved);
  absl::Status SignalAll(SignalAt at, const Instruction& i, size_t core,
                         Ticks now, int32_t resolved);
  void Wake(uint32_t semaphore, Ticks now);
  void Retire(Sequencer& s);

  absl::Status Locate(const absl::Status& status, size_t core,
                      const Instruction& i);
  void DescribeOperand(Diagnostic& d, size_t core, const Instruction& i) const;
  // Who wrote, or could have written, bytes that a finding is about
  // (core/runner_writers.cc). `reader` is null for an output.
  void DescribeUnwritten(Diagnostic& d, uint32_t tensor, const ByteRange& range,
                         const Instruction* reader) const;
  void DescribeLastWriter(Diagnostic& d, uint32_t tensor,
                          const ByteRange& range) const;
  uint64_t RanAt(const Writer& writer) const;
  bool InFlight(const Writer& writer) const;
  // Searches for writers look through the program: at most some in a run, where
  // reads of unwritten bytes are allowed.
  mutable int writers_described_ = 0;
  absl::Status Deadlock() const;
  // Profiles (core/runner_profile.cc).
  absl::Status RecordStep(const Sequencer& s, Ticks busy);
  void RecordPart(Transfer& t, size_t part, const DmaShape& shape,
                  const PartTimes& times);
  void AddRecord(Transfer& t, DmaRecord record, size_t core, size_t part,
                 const DmaShape& shape, const PartTimes& times);
  void RecordExchangePart(Transfer& t, size_t core, size_t part,
                          const DmaShape& shape, const PartTimes& times);
  // The part, and of an exchange which end, gives the next signals.
  void SignalsComeFrom(const Transfer& t, int32_t part, size_t end = 0);
  // The row of a part in the timeline.
  static int32_t RecordOf(const Transfer& t, int32_t part, size_t end) {
    // Of an exchange each part has a record of each end.
    return t.record +
           (t.exchange < 0 ? part : 2 * part + static_cast<int32_t>(end));
  }
  // What it wrote is `digest`, if it is of memory.
  void Log(size_t core, const Instruction& i, Ticks start, Ticks end,
           const std::string& digest);
  // The observers' calls. Each does nothing without observers.
  bool Observed() const { return !observers_.empty(); }
  bool PausesBefore(const Sequencer& s);
  absl::Status Before(const Effect& effect);
  absl::Status After(const Effect& effect);
  void MayPause();
  Effect EffectOf(const Sequencer& s) const;  // takes effect, or triggers
  // Those of an instruction, once its operands are at their places.
  absl::Status BeforeExecution(const Sequencer& s);
  absl::Status AfterExecution(const Sequencer& s);
  // Of a part of an exchange, both cores' sides.
  absl::Status ObserveExchange(Transfer& t, int32_t part, bool before);
  // "wrote ..." or "set r1 = 5" of an instruction that retires.
  std::string DigestOf(const Sequencer& s) const;
  Effect EffectOf(int64_t transfer, int32_t part,
                  const StagedPart* staged) const;
  Ticks& QueueFree(uint32_t queue);

  const Program& program_;
  Machine& machine_;
  const TimeModel& time_;
  const RunOptions& options_;
  Timeline* const timeline_;  // null: no profile
  std::span<CoreState* const> states_;
  Placement placement_;
  Semaphores semaphores_;
  SemaphoreUse semaphore_use_;
  bool has_loops_ = false;  // any stream
  std::vector<Sequencer> sequencers_;
  // Signals whose counts were registers, as they were at issue.
  std::vector<std::vector<trnemu::Signal>> resolved_signals_;
  std::vector<int32_t> free_signals_;
  const Instruction* jump_ = nullptr;  // where a branch that is taken goes
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  // The last event made by EndPartAt, which parts may still join; no parts:
  // there is none.
  Event joining_{.parts = 0};
  uint64_t next_sequence_ = 0;
  std::vector<Transfer> transfers_;
  std::vector<int64_t> free_transfers_;
  Exchanges exchanges_;
  Transport* transport_ = nullptr;
  Ticks horizon_ = kNever;
  std::vector<CollectiveCall> open_calls_;  // by sequencer: tensors so far
  std::vector<Pending> collectives_;        // by ticket
  std::deque<CollectiveCall> halves_;       // of both cores, for the other one
  std::vector<int64_t> free_tickets_;
  std::vector<MoveWork> moves_;  // that start later
  std::vector<int64_t> free_moves_;
  std::vector<Ticks> cc_free_;  // by collective core
  // Timed order, per core: the DMA engines, the hardware generators' next
  // payload; and who uses HBM.
  std::vector<DmaEngines> dma_engines_;
  std::vector<std::vector<Ticks>> generators_;
  HbmShare hbm_;
  std::vector<DmaEngines::Delay> delays_;
  std::vector<Ticks> queue_free_;  // per queue set, 16 queues each
  // Random order: parts that wait, per queue of each queue set, first in
  // first out.
  std::vector<std::deque<std::pair<int64_t, int32_t>>> pending_parts_;
  int64_t pending_count_ = 0;
  std::unique_ptr<RaceDetector> races_;  // null: not looked for
  Trace trace_;
  int64_t traced_steps_ = 0;
  // A read of unwritten memory, while the run goes on to see whether a race is
  // behind it.
  std::optional<absl::Status> held_;
  int64_t held_until_ = 0;  // instructions
  // By queue: the part at its head, between its two steps.
  std::vector<std::unique_ptr<StagedPart>> staged_parts_;
  Random random_;
  std::vector<uint64_t> speeds_;   // of sequencers, then of queues
  std::vector<size_t> choices_;    // that can go on; numbered as the speeds
  uint64_t hold_one_in_ = 0;       // picks
  std::vector<uint64_t> held_to_;  // the pick at which it may go on
  uint64_t picks_ = 0;
  Profile profile_;
  std::vector<Diagnostic> findings_;
  // By instruction: the last of its findings, as an index.
  std::unordered_map<const Instruction*, size_t> found_of_;
  absl::Status strict_;  // the first warning, when warnings are errors
  // The instruction being executed, for findings.
  const Instruction* current_ = nullptr;
  size_t current_core_ = 0;
  Ticks now_ = 0;
  Ticks foreseen_ = 0;  // of transfers: when the last will be done
  int64_t max_instructions_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::vector<int64_t> opcode_counts_;
  std::vector<int64_t> operation_counts_;
  std::optional<Disassembler> disassembler_;  // with a log
  std::vector<Observer*> observers_;
  bool paused_ = false;
  int64_t parts_under_way_ = 0;
  // Random order: what comes next, kept while the run pauses before it.
  Sequencer* chosen_ = nullptr;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_RUNNER_H_
