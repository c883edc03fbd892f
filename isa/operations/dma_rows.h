// What the rows of DMA operations share.
#ifndef TRNEMU_ISA_OPERATIONS_DMA_ROWS_H_
#define TRNEMU_ISA_OPERATIONS_DMA_ROWS_H_

#include "isa/operations/rows.h"

namespace trnemu::rows {

extern const OperationInfo kDmaTranspose;
extern const OperationInfo kDmaCompute;

inline constexpr ParameterSpec kTriggerParameter =
    Opt("trigger", ParameterKind::kEngine, "unknown",
        "the sequencer that triggers and waits; sync unless software "
        "descriptor generation makes it gpsimd");
inline constexpr ParameterSpec kQueuesParameter =
    Opt("queues", ParameterKind::kInteger, "16",
        "how many queues share the transfer; each signals its part");

inline bool QueuesFit(const Call& c, const Value& q) {
  return q.is_none() ||
         (q.integer >= 1 && q.integer <= c.hardware->dma.engines);
}
inline Engine Asked(const Value& trigger) {
  return trigger.is_none() ? Engine::kUnknown : trigger.as<Engine>();
}
inline bool IsSequencer(Engine e) {
  return e != Engine::kUnknown && e != Engine::kDma;
}

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_DMA_ROWS_H_
