// What operations share that accumulate: columns, and the instruction that
// reads the accumulators out after the one that fills them.
#ifndef TRNEMU_ISA_OPERATIONS_ACCUMULATORS_H_
#define TRNEMU_ISA_OPERATIONS_ACCUMULATORS_H_

#include "isa/operations/rows.h"

namespace trnemu::rows {

extern const OperationInfo kTensorTensorScan;
extern const OperationInfo kExponential;

// A number, or a tile with one element for each partition of data.
inline bool IsColumnOf(const Value& v, const Value& data) {
  return !v.is_tile() || (P(v) == P(data) && F(v) == 1);
}
inline bool SameShape(const Value& dst, const Value& data) {
  return P(dst) == P(data) && F(dst) == F(data);
}
// First in trn3 (release-notes/components/nki.rst:228).
inline bool IsGen4Op0(AluOp op) {
  return op == AluOp::kAbsMax || op == AluOp::kAbsMin || op == AluOp::kSquare ||
         op == AluOp::kRelu;
}
inline bool NeedsTrn3(AluOp op) { return IsValid(op) && Info(op).min_gen >= 4; }

// Reads the accumulators into reduce_res, unless that is None.
void EmitReadOut(const Call& c, Emitter& e, const Value& reduce_res);
void EmitVectorReadOut(const Call& c, Emitter& e, const Value& reduce_res,
                       bool negate);
// Fills the call by names from the first instruction, which must be `opcode`,
// and parameter `reduce_res` from a read-out `read` behind it, if any.
bool LiftWithReadOut(const Expansion& e, Opcode opcode, Opcode read,
                     int reduce_res, Call& c);

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_ACCUMULATORS_H_
