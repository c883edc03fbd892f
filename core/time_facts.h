// What the cost of an instruction depends on, besides its opcode.
#ifndef TRNEMU_CORE_TIME_FACTS_H_
#define TRNEMU_CORE_TIME_FACTS_H_

#include "core/execution.h"
#include "isa/hardware.h"

namespace trnemu {

// The elements a partition that a law counts (isa/hardware.h, CostLaw).
double CountOf(Opcode opcode, const ExecuteArgs& args);

// What strides add to it: element times for reads and for writes, and bytes of
// wide strides per element.
struct StrideCost {
  double read = 0, write = 0;
  double wide = 0;
};
StrideCost StridesOf(Opcode opcode, const ExecuteArgs& args,
                     const AccessLimits& access);

// Which of `asked` hold.
CostFacts FactsOf(Opcode opcode, const ExecuteArgs& args, CostFacts asked);

// The activation function, if it is an activation; else nothing.
FunctionSet FunctionOf(Opcode opcode, const ExecuteArgs& args);

// Tensors where the instruction takes numbers too: scale and bias, a scan's
// seed.
int64_t ColumnOperands(Opcode opcode, const ExecuteArgs& args);

}  // namespace trnemu

#endif  // TRNEMU_CORE_TIME_FACTS_H_
