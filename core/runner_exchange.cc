// sendrecv in the scheduler: joint transfers of two cores.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/duplicates.h"
#include "core/profile/timeline.h"
#include "core/runner.h"

namespace trnemu {

absl::Status Runner::StepExchange(Sequencer& s) {
  using S = slot::SendRecv;
  const auto attributes = program_.cores[s.core].AttributesOf(*s.next);
  ExchangeEnd end;
  end.instruction = s.next;
  end.core = s.core;
  end.sequencer = static_cast<size_t>(&s - sequencers_.data());
  end.dst = s.slots[S::kDst].tile;
  end.src = s.slots[S::kSrc].tile;
  end.send_to = attributes[S::kSendToRank].integer();
  end.receive_from = attributes[S::kRecvFromRank].integer();
  end.pipe = attributes[S::kPipeId].integer();
  end.path = attributes[S::kDmaEngine].as<DmaEngine>();
  end.queue_set = static_cast<uint32_t>(attributes[S::kQueueSet].integer());
  end.trigger = s.earliest;
  end.resolved = ResolveSignals(s);
  end.step = traced_steps_ - 1;
  if (timeline_ != nullptr) end.record = timeline_->next_instruction();
  if (options_.values && SourceAndDestinationOverlap(end.dst, end.src)) {
    Diagnostic d;
    d.category = Category::kUnspecified;
    d.severity = Severity::kWarning;
    d.id = "sendrecv.overlap";
    d.operand = "dst";
    d.message =
        "src and dst share bytes without being the same tile, and the parts of "
        "an exchange run at the same time: the result depends on their order";
    d.remedy = "receive into another tile, or into src itself";
    d.reference = "nki/api/nki/isa/__init__.py:2971, which does not say";
    Warn(std::move(d));
  }
  if (options_.values) WarnOfDuplicateElements(end.dst, *this);
  ++profile_.engines[static_cast<size_t>(Engine::kDma)].instructions;
  if (options_.order == Order::kTimed) {
    const DmaCost cost = time_.CostOfDma(end.dst, end.src, s.engine);
    EngineProfile& profile = profile_.engines[static_cast<size_t>(s.engine)];
    profile.waiting += s.earliest - s.ready;
    profile.busy += cost.trigger;
    s.issue_ready = s.earliest + cost.trigger;
    s.last_completion = std::max(s.last_completion, s.issue_ready);
  }
  const absl::StatusOr<int64_t> met = exchanges_.Enter(end);
  if (!met.ok()) return met.status();
  return *met < 0 ? absl::OkStatus() : StartExchange(*met);
}

absl::Status Runner::StartExchange(int64_t exchange) {
  const Exchange& e = exchanges_.at(exchange);
  if (races_ != nullptr) {
    trace_.events.push_back({0, 0, TraceEvent::Kind::kExchange});
    for (const ExchangeEnd& end : e.ends) trace_.values.push_back(end.step);
  }
  const int64_t index = NewTransfer();
  Transfer& t = transfers_[index];
  t.exchange = exchange;
  t.record = -1;
  t.instruction = e.ends[0].instruction;
  t.core = 0;
  const auto parts = static_cast<int32_t>(e.parts[0].size());
  t.parts_left = parts;
  parts_under_way_ += parts;
  if (options_.log) t.digests.assign(2, EffectDigest(program_));
  if (options_.order == Order::kTimed) {
    ScheduleExchange(index);
    return absl::OkStatus();
  }
  for (int32_t p = 0; p < parts; ++p) {
    if (options_.order == Order::kRandom) {
      // In a queue of each core; it counts once.
      for (const ExchangeEnd& end : e.ends) {
        pending_parts_[end.queue_set * kDmaQueues + p].emplace_back(index, p);
      }
      ++pending_count_;
      continue;
    }
    absl::Status status = FinishExchangePart(index, p);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A part of an exchange goes when it has come to the head of both its queues;
// it is found in that of core 0.
bool Runner::HeadIsReady(size_t queue) const {
  if (pending_parts_[queue].empty()) return false;
  const auto head = pending_parts_[queue].front();
  const int64_t exchange = transfers_[head.first].exchange;
  if (exchange < 0) return true;
  const auto& ends = exchanges_.at(exchange).ends;
  const auto part = static_cast<size_t>(head.second);
  return queue == ends[0].queue_set * kDmaQueues + part &&
         pending_parts_[ends[1].queue_set * kDmaQueues + part].front() == head;
}

std::pair<int64_t, int32_t> Runner::TakeHead(size_t queue) {
  const auto head = pending_parts_[queue].front();
  pending_parts_[queue].pop_front();
  --pending_count_;
  const int64_t exchange = transfers_[head.first].exchange;
  if (exchange >= 0) {
    const ExchangeEnd& other = exchanges_.at(exchange).ends[1];
    pending_parts_[other.queue_set * kDmaQueues +
                   static_cast<size_t>(head.second)]
        .pop_front();
  }
  return head;
}

// Each direction of a part takes a DMA engine of the core that receives, on
// the path dma; it signals on both cores when both directions are done.
// Assumed to cost what a DMA from SBUF to SBUF does, from the later trigger on.
void Runner::ScheduleExchange(int64_t index) {
  Transfer& t = transfers_[index];
  const Exchange& e = exchanges_.at(t.exchange);
  std::array<DmaCost, 2> costs;
  Ticks payload = 0;
  for (size_t c = 0; c < 2; ++c) {
    const Sequencer& s = sequencers_[e.ends[c].sequencer];
    costs[c] = time_.CostOfDma(e.ends[c].dst, e.SourceOf(c), s.engine);
    payload =
        std::max({payload, e.ends[c].trigger + costs[c].start, s.next_payload});
  }
  const Ticks notify = std::max(costs[0].notify, costs[1].notify);
  for (size_t c = 0; c < 2; ++c) {
    sequencers_[e.ends[c].sequencer].next_payload = payload + costs[c].spacing;
  }
  for (DmaCost& cost : costs) cost.notify = notify;
  t.done.assign(e.parts[0].size(), 0);
  for (size_t p = 0; p < e.parts[0].size(); ++p) {
    const auto part = static_cast<int32_t>(p);
    const auto queue_of = [p](const ExchangeEnd& end) {
      return end.queue_set * kDmaQueues + static_cast<uint32_t>(p);
    };
    Ticks done = payload + notify;
    std::array<PartTimes, 2> times;
    std::array<DmaShape, 2> shapes;
    for (size_t c = 0; c < 2; ++c) {
      times[c] = {payload, payload, 0, payload, payload, payload};
      if (e.parts[c][p].count == 0) continue;
      shapes[c] = ShapeOfDmaPart(e.ends[c].dst, e.SourceOf(c), e.parts[c][p]);
      const DmaPartTime time = time_.TimeOfDmaPart(
          costs[c], shapes[c],
          machine_.hardware->memory.hbm_stack_bandwidth);  // takes none
      times[c] =
          AddToEngine(c, index, part, queue_of(e.ends[c]), costs[c], shapes[c],
                      time, payload, e.ends[c].path == DmaEngine::kDma);
      done = std::max(done, times[c].notify);
      profile_.dma_bytes += shapes[c].bytes;
    }
    for (const ExchangeEnd& x : e.ends) {
      done = std::max(done, QueueFree(queue_of(x)));
    }
    for (const ExchangeEnd& x : e.ends) QueueFree(queue_of(x)) = done;
    for (size_t c = 0; timeline_ != nullptr && c < 2; ++c) {
      times[c].notify = done;
      RecordExchangePart(t, c, p, shapes[c], times[c]);
    }
    t.done[p] = std::max(t.done[p], done);
    foreseen_ = std::max(foreseen_, done);
    events_.push(
        {t.done[p], next_sequence_++, t.instruction, t.core, index, part});
  }
}

absl::Status Runner::FinishExchangePart(int64_t index, int32_t part) {
  Transfer& t = transfers_[index];
  const int64_t exchange = t.exchange;
  const auto& ends = exchanges_.at(exchange).ends;
  absl::Status seen = ObserveExchange(t, part, true);
  if (!seen.ok()) return seen;
  for (const bool write : {false, true}) {
    for (size_t c = 0; options_.values && c < 2; ++c) {
      current_ = ends[c].instruction;
      current_core_ = c;
      absl::Status status =
          write ? exchanges_.Write(exchange, part, c, *states_[c])
                : exchanges_.Read(exchange, part, c, *states_[c]);
      if (!status.ok()) return Locate(status, c, *current_);
    }
  }
  current_ = nullptr;
  --parts_under_way_;
  seen = ObserveExchange(t, part, false);
  if (!seen.ok()) return seen;
  for (size_t c = 0; c < 2; ++c) {
    SignalsComeFrom(t, part, c);
    absl::Status status =
        Signal(*ends[c].instruction, c, now_, ends[c].resolved);
    if (!status.ok()) return status;
  }
  if (--t.parts_left == 0) {
    for (size_t c = 0; c < 2; ++c) {
      if (options_.log) {
        Log(c, *ends[c].instruction, ends[c].trigger, now_,
            t.digests[c].Text());
      }
      FreeSignals(ends[c].resolved);
    }
    profile_.end = std::max(profile_.end, now_);
    t.exchange = -1;
    free_transfers_.push_back(index);
    exchanges_.Release(exchange);
  }
  MayPause();
  return absl::OkStatus();
}

}  // namespace trnemu
