// Rows of GatherOperations() that move no elements by index.
#ifndef TRNEMU_ISA_OPERATIONS_GPSIMD_H_
#define TRNEMU_ISA_OPERATIONS_GPSIMD_H_

#include "isa/operations.h"

namespace trnemu::rows {

extern const OperationInfo kTensorPartitionReduce;
extern const OperationInfo kSequenceBounds;
extern const OperationInfo kNonzeroWithCount;

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_GPSIMD_H_
