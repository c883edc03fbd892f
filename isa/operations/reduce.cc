// tensor_reduce.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

enum { kDst, kOp, kData, kAxis, kNegate, kKeepdims, kName };

constexpr ParameterSpec kParameters[] = {
    Out("dst", kOnChip, kAnyType, "data without the reduced axes"),
    Attr("op", ParameterKind::kAluOp, "a reduction"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    Attr("axis", ParameterKind::kAxes, "the trailing free axes to reduce"),
    Opt("negate", ParameterKind::kBool, "False", "multiply the result by -1"),
    Opt("keepdims", ParameterKind::kBool, "False", "keep size-1 axes"),
    kNameParameter,
};

int64_t Rank(const Value& v) { return v.access.rank + 1; }

// How many trailing axes `axis` names, or 0 if it is not trailing free axes.
int64_t TrailingAxes(const Call& c) {
  const Value& axis = c[kAxis];
  const int64_t rank = Rank(c[kData]);
  uint32_t seen = 0;
  for (int i = 0; i < axis.num_ints; ++i) {
    int64_t a = axis.ints[i];
    if (a < 0) a += rank;
    if (a < 1 || a >= rank || (seen >> a & 1)) return 0;
    seen |= 1u << a;
  }
  for (int i = 1; i <= axis.num_ints; ++i) {
    if (!(seen >> (rank - i) & 1)) return 0;
  }
  return axis.num_ints;
}

int64_t KeptElements(const Call& c) {
  const Access& data = c[kData].access;
  int64_t kept = 1;
  for (int64_t d = 0; d < data.rank - TrailingAxes(c); ++d) {
    kept *= data.dims[d].count;
  }
  return kept;
}

constexpr Rule kRules[] = {
    {"tensor_reduce.op", "op in ALU_REDUCE", "nki/api/nki/isa/__init__.py:1165",
     [](const Call& c) {
       return IsValid(Alu(c[kOp])) && Info(Alu(c[kOp])).reduces;
     },
     "op", "{value:op} is not a reduction",
     "use add, subtract, multiply, maximum, minimum, logical_* or bitwise_*"},
    {"tensor_reduce.axis",
     "sorted_axes(axis) == list(range(rank(data) - len(sorted_axes(axis)), "
     "rank(data)))",
     "nki/api/nki/isa/__init__.py:1170",
     [](const Call& c) { return TrailingAxes(c) > 0; }, "axis",
     "axis must name the last free axes of data (shape {shape:data}), never "
     "the partition axis 0, but it is {value:axis}",
     "permute data so that the reduced axes are last"},
    {"tensor_reduce.partitions", "P(dst) == P(data) and P(data) <= 128",
     "nki/api/nki/isa/__init__.py:1209",
     [](const Call& c) { return P(c[kDst]) == P(c[kData]); }, "dst",
     "dst must have the partitions of data, but dst has {P:dst} and data "
     "{P:data}"},
    {"tensor_reduce.dst_shape",
     "elems_match_except_axes(dst, data, axis, keepdims)",
     "nki/api/nki/isa/__init__.py:1211",
     [](const Call& c) {
       return TrailingAxes(c) == 0 || F(c[kDst]) == KeptElements(c);
     },
     "dst",
     "dst must hold one element per reduction, the free axes of data "
     "{shape:data} without axis {value:axis}, but it is {shape:dst}"},
    {"tensor_reduce.negate", "not negate or op not in ALU_BITVEC",
     "nki/api/nki/isa/__init__.py:1241",
     [](const Call& c) {
       return !c[kNegate].boolean() || !IsBitvec(Alu(c[kOp]));
     },
     "negate", "negate needs an arithmetic op, but op is {value:op}"},
    {"tensor_reduce.bitvec_dtype",
     "not op in ALU_BITVEC or (dt(data) in INT and dt(dst) in INT)",
     "nki/api/nki/isa/__init__.py:1189",
     [](const Call& c) {
       return !IsBitvec(Alu(c[kOp])) ||
              (IsInteger(Dt(c[kData])) && IsInteger(Dt(c[kDst])));
     },
     "data",
     "bitwise reductions need integer tiles, but data is {dt:data} and dst "
     "{dt:dst}"},
};

bool LiftReduce(const Expansion& e, Call& c) {
  using S = slot::TensorReduce;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kTensorReduce) {
    return false;
  }
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[kDst] = ValueOf(operands[S::kDst]);
  c.values[kData] = ValueOf(operands[S::kData]);
  c.values[kOp] = Value::OfEnum(attributes[S::kOp].as<AluOp>());
  c.values[kNegate] = Value::Bool(attributes[S::kNegate].boolean());
  c.values[kKeepdims] = Value::Bool(attributes[S::kKeepdims].boolean());
  c.values[kName] = Value::None();
  const int64_t axes = attributes[S::kAxes].integer();
  const int64_t rank = Rank(c[kData]);
  if (axes < 1 || axes > kMaxInts || axes >= rank) return false;
  int64_t ints[kMaxInts];
  for (int64_t a = 0; a < axes; ++a) ints[a] = rank - axes + a;
  c.values[kAxis] = Value::Ints({ints, static_cast<size_t>(axes)});
  return true;
}

}  // namespace

const OperationInfo kTensorReduce = {
    "tensor_reduce",
    kParameters,
    kRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorReduce,
              {OperandOf(c[kDst]), OperandOf(c[kData])},
              {Int(c[kOp].integer), Int(TrailingAxes(c)),
               Int(c[kNegate].integer), Int(c[kKeepdims].integer)});
    },
    LiftReduce,
    "Reduces the trailing free axes of data.",
    "fp32, one element after the other in access order; subtract is a0 - a1 - "
    "...; one cast to dst. Bitwise reductions work on raw bits.",
    "nki/api/nki/isa/__init__.py:1161-1244"};

}  // namespace trnemu::rows
