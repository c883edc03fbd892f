// The timed half of the scheduler: when transfers start and end.
#include <algorithm>

#include "core/profile/timeline.h"
#include "core/runner.h"

namespace trnemu {
namespace {

// Whether the parts are one for each engine and move the same: as many
// elements, with as many runs among them.
bool PartsAlike(const DmaRuns& runs, const std::vector<DmaPart>& parts,
                size_t engines) {
  if (parts.size() != engines || parts.empty()) return false;
  const int64_t count = parts[0].count;
  if (count == 0) return false;
  for (const int64_t run : {runs.to, runs.from, runs.both}) {
    if (run % count != 0 && count % run != 0) return false;
  }
  int64_t first = 0;
  for (const DmaPart& part : parts) {
    if (part.first != first || part.count != count) return false;
    first += count;
  }
  return true;
}

}  // namespace

Ticks& Runner::QueueFree(uint32_t queue) { return queue_free_[queue]; }

// Payloads of one generator keep their distance.
Ticks Runner::PayloadStart(Sequencer& s, const DmaCost& cost) {
  Ticks& next = cost.generation == Generation::kHardware
                    ? generators_[s.core][static_cast<size_t>(cost.generator)]
                    : s.next_payload;
  const Ticks payload = std::max(s.earliest + cost.start, next);
  next = payload + cost.spacing;
  foreseen_ = std::max(foreseen_, next);
  return payload;
}

void Runner::CountPart(const DmaTransfer& dma, DmaPart part,
                       const DmaShape& shape) {
  profile_.dma_bytes += shape.bytes;
  const HbmBytes hbm = HbmBytesOf(dma, part);
  profile_.hbm_read_bytes += hbm.read;
  profile_.hbm_write_bytes += hbm.written;
}

void Runner::UseHbm(size_t core, Transfer& t, Ticks until, double rate) {
  t.hbm_rate = std::max(t.hbm_rate, rate);
  hbm_.Take(core, now_, until, rate);
}

Runner::PartTimes Runner::AddToEngine(size_t core, int64_t transfer,
                                      int32_t part, uint32_t queue,
                                      const DmaCost& cost,
                                      const DmaShape& shape,
                                      const DmaPartTime& time, Ticks start,
                                      bool shared_engines) {
  const Ticks behind = time.payload - time.busy;
  PartTimes times = {start,
                     start,
                     0,
                     start + time.busy,
                     start + time.payload,
                     start + time.payload + cost.notify};
  if (shared_engines) {
    profile_.engines[static_cast<size_t>(Engine::kDma)].busy += time.busy;
    DmaEngines& engines = dma_engines_[core];
    const DmaEngines::Times of = engines.Add(
        engines.Of(part), now_,
        {transfer, part, queue, start, time.busy, behind + cost.notify},
        delays_);
    for (const DmaEngines::Delay& d : delays_) Delay(core, d, 1);
    delays_.clear();
    times = {start, of.taken, time.busy, of.end, of.end + behind, of.done};
  }
  if (cost.hbm_sides > 0) {
    UseHbm(core, transfers_[static_cast<size_t>(transfer)], times.end,
           time_.HbmRateOf(cost, shape, time));
  }
  return times;
}

bool Runner::AddToEachEngine(size_t core, int64_t transfer, uint32_t queue,
                             const DmaCost& cost, const DmaShape& shape,
                             const DmaPartTime& time, Ticks start,
                             PartTimes& times) {
  const Ticks behind = time.payload - time.busy;
  DmaEngines& engines = dma_engines_[core];
  DmaEngines::Times of;
  if (!engines.AddToEach(
          now_, {transfer, 0, queue, start, time.busy, behind + cost.notify},
          of, delays_)) {
    return false;
  }
  const auto parts = static_cast<int32_t>(engines.size());
  for (const DmaEngines::Delay& d : delays_) Delay(core, d, parts);
  delays_.clear();
  profile_.engines[static_cast<size_t>(Engine::kDma)].busy += time.busy * parts;
  times = {start, of.taken, time.busy, of.end, of.end + behind, of.done};
  if (cost.hbm_sides > 0) {
    UseHbm(core, transfers_[static_cast<size_t>(transfer)], times.end,
           time_.HbmRateOf(cost, shape, time));
  }
  return true;
}

void Runner::Delay(size_t core, const DmaEngines::Delay& delay, int32_t parts) {
  Transfer& t = transfers_[static_cast<size_t>(delay.transfer)];
  if (t.hbm_rate > 0) UseHbm(core, t, delay.times.done, t.hbm_rate);
  for (int32_t p = delay.part; p < delay.part + parts; ++p) {
    Ticks& done = t.done[static_cast<size_t>(p)];
    done = std::max(done, delay.times.done);
    if (timeline_ != nullptr) {
      timeline_->Move(RecordOf(t, p, core), delay.times.taken, delay.times.end);
    }
  }
}

bool Runner::PutOff(const Event& event) {
  if (event.transfer < 0) return false;
  const Transfer& t = transfers_[static_cast<size_t>(event.transfer)];
  const auto first = t.done.begin() + event.part;
  if (std::all_of(first, first + event.parts,
                  [&](Ticks done) { return done <= event.time; })) {
    return false;
  }
  for (int32_t p = event.part; p < event.part + event.parts; ++p) {
    const Ticks done = std::max(event.time, t.done[static_cast<size_t>(p)]);
    events_.push(
        {done, next_sequence_++, t.instruction, t.core, event.transfer, p});
  }
  return true;
}

// Parts go to engine 0, 1, ... in the order of their queues; those of one queue
// complete in order (spec/timing.md 2.2).
void Runner::ScheduleParts(Sequencer& s, int64_t index) {
  Transfer& t = transfers_[index];
  const auto attributes = program_.cores[s.core].AttributesOf(*s.next);
  const DgeMode mode =
      s.next->opcode == Opcode::kDmaCopy
          ? attributes[slot::DmaCopy::kDgeMode].as<DgeMode>()
      : s.next->opcode == Opcode::kDmaTranspose
          ? attributes[slot::DmaTranspose::kDgeMode].as<DgeMode>()
          : DgeMode::kUnknown;
  const DmaCost cost = time_.CostOfDma(t.dma, s.engine, mode);
  const DmaRuns runs = RunsOfDma(t.dma);
  const auto set =
      static_cast<uint32_t>(attributes[slot::DmaCopy::kQueueSet].integer());
  profile_.engines[static_cast<size_t>(s.engine)].waiting +=
      s.earliest - s.ready;
  profile_.engines[static_cast<size_t>(s.engine)].busy += cost.trigger;
  s.issue_ready = s.earliest + cost.trigger;
  s.last_completion = std::max(s.last_completion, s.issue_ready);
  const Ticks payload = PayloadStart(s, cost);
  t.done.assign(t.parts.size(), 0);
  t.hbm_rate = 0;
  // What it may take of HBM counts from when its queue is free.
  const Ticks starts =
      std::max(payload, QueueFree(set * kDmaQueues) - cost.notify);
  const double hbm_rate =
      cost.hbm_sides == 0 ? 0 : hbm_.Grant(s.core, payload, starts);
  DmaShape timed;
  DmaPartTime time;
  PartTimes together;
  bool alike =
      !t.dma.nothing && PartsAlike(runs, t.parts, dma_engines_[s.core].size());
  if (alike) {
    timed = ShapeOfDmaPart(runs, t.parts[0]);
    time = time_.TimeOfDmaPart(cost, timed, hbm_rate);
    alike = AddToEachEngine(s.core, index, set * kDmaQueues, cost, timed, time,
                            payload, together);
  }
  if (alike) {
    const auto n = static_cast<int64_t>(t.parts.size());
    CountPart(t.dma, {0, n * t.parts[0].count}, {.bytes = n * timed.bytes});
  }
  for (size_t p = 0; p < t.parts.size(); ++p) {
    const uint32_t queue = set * kDmaQueues + static_cast<uint32_t>(p);
    DmaShape shape;
    PartTimes times = {payload, payload, 0,
                       payload, payload, payload + cost.notify};
    if (alike) {
      shape = timed;
      times = together;
    } else if (t.parts[p].count > 0 && !t.dma.nothing) {
      shape = ShapeOfDmaPart(runs, t.parts[p]);
      CountPart(t.dma, t.parts[p], shape);
      if (shape.bytes != timed.bytes || shape.rows != timed.rows) {
        timed = shape;
        time = time_.TimeOfDmaPart(cost, shape, hbm_rate);
      }
      times = AddToEngine(s.core, index, static_cast<int32_t>(p), queue, cost,
                          shape, time, payload);
    }
    times.notify = std::max(times.notify, QueueFree(queue));
    QueueFree(queue) = t.done[p] = times.notify;
    foreseen_ = std::max(
        foreseen_, time.payload < kLongestCost ? times.notify : kLongestTime);
    if (timeline_ != nullptr) RecordPart(t, p, shape, times);
    EndPartAt(times.notify, index, static_cast<int32_t>(p));
  }
}

}  // namespace trnemu
