// The rows of the operations table, by family, and what they share.
#ifndef TRNEMU_ISA_OPERATIONS_ROWS_H_
#define TRNEMU_ISA_OPERATIONS_ROWS_H_

#include <initializer_list>

#include "isa/operations.h"

namespace trnemu::rows {

extern const OperationInfo kNcMatmul;
extern const OperationInfo kNcTranspose;
extern const OperationInfo kActivation;
extern const OperationInfo kTensorTensor;
extern const OperationInfo kTensorScalar;
extern const OperationInfo kScalarTensorTensor;
extern const OperationInfo kTensorReduce;
extern const OperationInfo kTensorCopy;
extern const OperationInfo kMemset;
extern const OperationInfo kReciprocal;
extern const OperationInfo kIota;
extern const OperationInfo kAffineSelect;
extern const OperationInfo kDmaCopy;
extern const OperationInfo kPsumReset;
extern const OperationInfo kNop;

// The families that have a list of their own.
std::span<const OperationInfo* const> MxOperations();
std::span<const OperationInfo* const> ActivationOperations();
std::span<const OperationInfo* const> AccumulateOperations();
std::span<const OperationInfo* const> SelectOperations();
std::span<const OperationInfo* const> StatisticsOperations();
std::span<const OperationInfo* const> SearchOperations();
std::span<const OperationInfo* const> GatherOperations();
std::span<const OperationInfo* const> RandomOperations();
std::span<const OperationInfo* const> DmaOperations();
std::span<const OperationInfo* const> CoreOperations();
std::span<const OperationInfo* const> CollectiveOperations();
std::span<const OperationInfo* const> RegisterOperations();

// The operand slot that holds an argument.
Operand OperandOf(const Value& value);
inline Attribute Int(int64_t v) { return Attribute::Integer(v); }
template <typename Enum>
Attribute AttributeOf(Enum v) {
  return Attribute::Integer(static_cast<int64_t>(v));
}
// Emits one instruction on the call's engine.
void EmitOne(const Call& call, Emitter& emitter, Opcode opcode,
             std::initializer_list<Operand> operands,
             std::initializer_list<Attribute> attributes);

// The argument that an operand slot holds.
Value ValueOf(const Operand& operand);
// Fills the call by names from the first instruction: its operands and
// attributes are the parameters of the same name, the others become None.
// Returns whether each operand and attribute has a parameter.
bool LiftFirst(const Expansion& e, Call& call);

// `op` of an ALU parameter, kNone where it is None.
inline AluOp Alu(const Value& v) {
  return v.is_none() ? AluOp::kNone : v.as<AluOp>();
}

// What the rules of operands ask of an indirect view: that the operation takes
// it there, that indices of rows and single ones have 32 bits, and that an
// index tile holds as many offsets as the view has elements.
bool AllowsIndirection(const Call& call, const Value& value);
bool IndexIsLong(const Call& call, const Value& value);
bool IndexHoldsOffsets(const Call& call, const Value& value);

// Every integer dtype holds `number` exactly, or the dtype is not an integer.
bool ExactlyRepresentable(double number, Dtype dtype);

constexpr ParameterSpec Out(std::string_view name, SpaceSet spaces,
                            DtypeSet dtypes, std::string_view doc = "") {
  return {name, ParameterKind::kTile, true, "", Role::kOut, spaces, dtypes,
          doc};
}
constexpr ParameterSpec In(std::string_view name, SpaceSet spaces,
                           DtypeSet dtypes, std::string_view doc = "") {
  return {name, ParameterKind::kTile, true, "", Role::kIn, spaces, dtypes, doc};
}
constexpr ParameterSpec Attr(std::string_view name, ParameterKind kind,
                             std::string_view doc = "") {
  return {name, kind, true, "", Role::kIn, 0, 0, doc};
}
constexpr ParameterSpec Opt(std::string_view name, ParameterKind kind,
                            std::string_view default_text,
                            std::string_view doc = "") {
  return {name, kind, false, default_text, Role::kIn, 0, 0, doc};
}
// What MX scales are stored as; uint8 holds the same codes
// (nki/api/nki/isa/__init__.py:761). A tile of them may start inside a quadrant
// of 32 partitions: its operation's rules say where.
inline constexpr DtypeSet kMxScaleTypes =
    SetOf(Dtype::kFloat8E8M0FNU) | SetOf(Dtype::kUint8);
inline constexpr ParameterSpec kEngineParameter =
    Opt("engine", ParameterKind::kEngine, "unknown", "requested engine");
inline constexpr ParameterSpec kNameParameter =
    Opt("name", ParameterKind::kText, "None", "label for tooling");

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_ROWS_H_
