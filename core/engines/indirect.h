// Tensor indirection: operands whose elements lie at offsets of their own.
//
// The elements are brought together in scratch rows, the instruction works on
// those, and what it wrote goes back. Bytes, marks and PSUM's last writers
// travel with them.
#ifndef TRNEMU_CORE_ENGINES_INDIRECT_H_
#define TRNEMU_CORE_ENGINES_INDIRECT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"

namespace trnemu {

// Where the offsets of operand slot `o` belong, in bytes: element i of
// partition p at [p * elements + i] (IndexReader::ReadOffsets).
std::vector<int64_t>& OffsetsBuffer(CoreState& state, size_t o);

// Executes an instruction of which at least one operand has an indirection;
// their offsets are in OffsetsBuffer.
absl::Status ExecuteIndirect(Opcode opcode, const ExecuteArgs& args,
                             CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_INDIRECT_H_
