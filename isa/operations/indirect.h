// What the messages of the rules of indirect views say.
#ifndef TRNEMU_ISA_OPERATIONS_INDIRECT_H_
#define TRNEMU_ISA_OPERATIONS_INDIRECT_H_

#include <cstdint>

#include "isa/call.h"

namespace trnemu::rows {

// How many offsets the index of a view made by indirect() has for each of the
// view's partitions; the call's engine is known.
int64_t OffsetsHeld(const Call& call, const Value& value);

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_INDIRECT_H_
