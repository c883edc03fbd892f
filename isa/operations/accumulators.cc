#include "isa/operations/accumulators.h"

namespace trnemu::rows {

void EmitReadOut(const Call& c, Emitter& e, const Value& reduce_res) {
  if (reduce_res.is_none()) return;
  EmitOne(c, e, Opcode::kReadAccumulator, {OperandOf(reduce_res)}, {});
}

void EmitVectorReadOut(const Call& c, Emitter& e, const Value& reduce_res,
                       bool negate) {
  if (reduce_res.is_none()) return;
  EmitOne(c, e, Opcode::kReadVectorAccumulator, {OperandOf(reduce_res)},
          {Int(negate)});
}

bool LiftWithReadOut(const Expansion& e, Opcode opcode, Opcode read,
                     int reduce_res, Call& c) {
  if (e.instructions.size() > 2 || e.instructions[0]->opcode != opcode) {
    return false;
  }
  LiftFirst(e, c);
  if (e.instructions.size() == 1) return true;
  if (e.instructions[1]->opcode != read) return false;
  c.values[reduce_res] = ValueOf(e.core->OperandsOf(*e.instructions[1])[0]);
  return true;
}

}  // namespace trnemu::rows
