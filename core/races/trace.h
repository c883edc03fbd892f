// What a run did, as far as races are concerned: eight bytes an instruction.
#ifndef TRNEMU_CORE_RACES_TRACE_H_
#define TRNEMU_CORE_RACES_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trnemu {

struct TraceEvent {
  enum class Kind : uint8_t {
    kStep,      // an instruction took effect, or triggered its DMA
    kExchange,  // both ends of a sendrecv, or of a collective of both
                // cores, have been triggered
  };
  uint32_t index = 0;  // kStep: in its stream
  uint16_t sequencer = 0;
  Kind kind = Kind::kStep;
};

// In an order in which all of it can happen. What only a run knows stands in
// `values`, in the order of the events: of a step the values of waits whose
// counts are registers, then the offsets of dynamic operands in bytes (one, or
// a count and as many), then the values of signals; of an exchange the
// positions of the two steps, that of core 0 first.
struct Trace {
  std::vector<TraceEvent> events;
  std::vector<int64_t> values;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_TRACE_H_
