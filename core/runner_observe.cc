// The runner's side of its observers (core/observer.h).
#include "core/runner.h"

namespace trnemu {

bool Runner::PausesBefore(const Sequencer& s) {
  for (Observer* observer : observers_) {
    if (observer->PausesBefore(s.core, *s.next)) paused_ = true;
  }
  return paused_;
}

absl::Status Runner::Before(const Effect& effect) {
  for (Observer* observer : observers_) {
    absl::Status status = observer->Before(effect);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Runner::After(const Effect& effect) {
  for (Observer* observer : observers_) {
    absl::Status status = observer->After(effect);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Runner::MayPause() {
  for (Observer* observer : observers_) {
    if (observer->PausesAfter()) paused_ = true;
  }
}

Effect Runner::EffectOf(const Sequencer& s) const {
  Effect effect;
  const bool dma = Info(s.next->opcode).dma;
  effect.kind = dma ? Effect::Kind::kTrigger : Effect::Kind::kInstruction;
  effect.instruction = s.next;
  effect.core = s.core;
  effect.slots = ArgsOf(s).slots;
  effect.state = states_[s.core];
  effect.time = s.earliest;
  return effect;
}

Effect Runner::EffectOf(int64_t transfer, int32_t part,
                        const StagedPart* staged) const {
  const Transfer& t = transfers_[static_cast<size_t>(transfer)];
  Effect effect;
  effect.kind = Effect::Kind::kPart;
  effect.instruction = t.instruction;
  effect.core = t.core;
  effect.state = states_[t.core];
  effect.dma = staged != nullptr ? &staged->transfer : &t.dma;
  effect.elements = t.parts[static_cast<size_t>(part)];
  effect.part = part;
  effect.time = now_;
  return effect;
}

absl::Status Runner::BeforeExecution(const Sequencer& s) {
  return Observed() ? Before(EffectOf(s)) : absl::OkStatus();
}

absl::Status Runner::AfterExecution(const Sequencer& s) {
  return Observed() ? After(EffectOf(s)) : absl::OkStatus();
}

absl::Status Runner::ObserveExchange(Transfer& t, int32_t part, bool before) {
  if (!Observed() && (before || !options_.log)) return absl::OkStatus();
  if (!options_.values) return absl::OkStatus();
  const Exchange& e = exchanges_.at(t.exchange);
  for (size_t c = 0; c < 2; ++c) {
    DmaTransfer copy;
    copy.dst.tile = e.ends[c].dst;
    copy.srcs[0].tile = e.SourceOf(c);
    Effect effect;
    effect.kind = Effect::Kind::kPart;
    effect.instruction = e.ends[c].instruction;
    effect.core = c;
    effect.state = states_[c];
    effect.dma = &copy;
    effect.elements = e.parts[c][static_cast<size_t>(part)];
    effect.part = part;
    effect.time = now_;
    absl::Status status = before ? Before(effect) : After(effect);
    if (!status.ok()) return Locate(status, c, *effect.instruction);
    if (!before && options_.log) t.digests[c].Add(effect);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
