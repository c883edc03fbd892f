// What nc_matmul and nc_transpose become on the tensor engine: a load of the
// stationary tile and a multiplication, once or in two passes.
#ifndef TRNEMU_ISA_OPERATIONS_TENSOR_PASSES_H_
#define TRNEMU_ISA_OPERATIONS_TENSOR_PASSES_H_

#include "isa/operations/rows.h"

namespace trnemu::rows {

// How the array is used; by default all of it.
struct TensorTile {
  bool transpose = false;
  bool stationary_onezero = false;
  bool moving_onezero = false;
  int64_t start_row = 0, start_column = 0, rows = 128, columns = 128;
  PerfMode perf_mode = PerfMode::kNone;
};

// LoadStationary and MultiplyMoving, as the device splits fp32 in two passes
// (spec/decisions.md: LO, then HI, which always adds).
void EmitPasses(const Call& call, Emitter& emitter, const Value& stationary,
                const Value& moving, const Value& dst, const TensorTile& tile,
                Accumulate accumulate);

// The first LoadStationary and MultiplyMoving of an expansion; what follows is
// compared with a fresh expansion by the caller. False if it has none.
bool FirstPair(const Expansion& e, const Instruction*& load,
               const Instruction*& multiply);

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_TENSOR_PASSES_H_
