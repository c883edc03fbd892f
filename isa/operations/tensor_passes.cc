#include "isa/operations/tensor_passes.h"

namespace trnemu::rows {
namespace {

bool TwoPasses(const Call& c, Dtype stationary, Dtype moving, bool transpose) {
  if (transpose && c.hardware->features.exact_tensor_transpose) return false;
  return stationary == Dtype::kFloat32 || moving == Dtype::kFloat32;
}

struct Pass {
  int64_t pass;
  Accumulate accumulate;
};

}  // namespace

void EmitPasses(const Call& c, Emitter& emitter, const Value& stationary,
                const Value& moving, const Value& dst, const TensorTile& t,
                Accumulate accumulate) {
  auto emit = [&](const Pass& p) {
    EmitOne(c, emitter, Opcode::kLoadStationary, {OperandOf(stationary)},
            {Int(p.pass), Int(t.transpose), Int(t.stationary_onezero),
             Int(t.start_row), Int(t.start_column), Int(t.rows), Int(t.columns),
             AttributeOf(t.perf_mode)});
    EmitOne(c, emitter, Opcode::kMultiplyMoving,
            {OperandOf(dst), OperandOf(moving)},
            {Int(p.pass), Int(t.transpose), Int(t.moving_onezero),
             AttributeOf(p.accumulate), Int(t.start_row), Int(t.start_column),
             Int(t.rows), Int(t.columns), AttributeOf(t.perf_mode)});
  };
  if (!TwoPasses(c, Dt(stationary), Dt(moving), t.transpose)) {
    emit({0, accumulate});
    return;
  }
  emit({1, accumulate});
  emit({2, Accumulate::kTrue});
}

bool FirstPair(const Expansion& e, const Instruction*& load,
               const Instruction*& multiply) {
  if (e.instructions.size() < 2) return false;
  load = e.instructions[0];
  multiply = e.instructions[1];
  return load->opcode == Opcode::kLoadStationary &&
         multiply->opcode == Opcode::kMultiplyMoving;
}

}  // namespace trnemu::rows
