// range_select, select_reduce, and the list of the family.
#include <array>
#include <limits>

#include "isa/operations/rows.h"

namespace trnemu::rows {

extern const OperationInfo kTensorCopyPredicated;
extern const OperationInfo kNcStreamShuffle;

namespace {

Engine OnVector(const Call&, Engine) { return Engine::kVector; }

bool SameShape(const Value& a, const Value& b) {
  return P(a) == P(b) && F(a) == F(b);
}
bool IsColumn(const Value& v, const Value& of) {
  return P(v) == P(of) && F(v) == 1;
}
bool BothInPsum(const Value& a, const Value& b) {
  return a.is_tile() && Buf(a) == Space::kPsum && Buf(b) == Space::kPsum;
}
bool IsMaximum(const Value& op) { return Alu(op) == AluOp::kMaximum; }

// The accumulators' read-out that follows where reduce_res is given.
void EmitReadOut(const Call& c, Emitter& emitter, const Value& reduce_res) {
  if (reduce_res.is_none()) return;
  EmitOne(c, emitter, Opcode::kReadVectorAccumulator, {OperandOf(reduce_res)},
          {Int(0)});
}

// reduce_res, from the second instruction if there is one. False if that is
// another opcode.
bool LiftReadOut(const Expansion& e, Value& reduce_res) {
  reduce_res = Value::None();
  if (e.instructions.size() == 1) return true;
  if (e.instructions[1]->opcode != Opcode::kReadVectorAccumulator) return false;
  reduce_res = ValueOf(e.core->OperandsOf(
      *e.instructions[1])[slot::ReadVectorAccumulator::kDst]);
  return true;
}

// ---- range_select ----

namespace rs {
enum {
  kDst,
  kOnTrueTile,
  kCompOp0,
  kCompOp1,
  kBound0,
  kBound1,
  kReduceCmd,
  kReduceRes,
  kReduceOp,
  kRangeStart,
  kOnFalseValue,
  kName
};
}

constexpr ParameterSpec kRangeParameters[] = {
    Out("dst", kOnChip, kFloatTypes, "as many elements as on_true_tile"),
    In("on_true_tile", kOnChip, kFloatTypes, "[P, ...]"),
    Attr("comp_op0", ParameterKind::kAluOp, "compares an index with bound0"),
    Attr("comp_op1", ParameterKind::kAluOp, "compares an index with bound1"),
    In("bound0", kOnChip, SetOf(Dtype::kFloat32), "[P, 1]"),
    In("bound1", kOnChip, SetOf(Dtype::kFloat32), "[P, 1]"),
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "reset_reduce",
        "idle, reset, reduce or reset_reduce: what becomes of the "
        "accumulators"),
    {"reduce_res", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     kFloatTypes,
     "[P, 1]: reads the accumulators afterwards; float32, or a row without "
     "any selected element gives -inf"},
    Opt("reduce_op", ParameterKind::kAluOp, "maximum", "only maximum"),
    Opt("range_start", ParameterKind::kInteger, "0",
        "the index of the first element"),
    Opt("on_false_value", ParameterKind::kNumber, "-3.4028234663852886e+38",
        "the lowest float32, nothing else"),
    kNameParameter,
};

constexpr int64_t kExactIndices = 1 << 24;

bool ComparesRange(AluOp op) { return IsCompare(op) && op != AluOp::kNotEqual; }
// The documents print the value with eight digits.
bool IsLowestFloat(double value) {
  return value >= -std::numeric_limits<double>::max() && value < 0 &&
         static_cast<float>(value) == std::numeric_limits<float>::lowest();
}

constexpr Rule kRangeRules[] = {
    {"range_select.generation", "gen >= 3", "nki/api/nki/isa/__init__.py:2824",
     [](const Call& c) { return c.gen() >= 3; }, "dst",
     "range_select is there from trn2 on; {target} does not have it",
     "on trn1 build the mask with iota and tensor_scalar, then use "
     "select_reduce"},
    {"range_select.comp_op",
     "comp_op0 in ('equal', 'less', 'less_equal', 'greater', 'greater_equal') "
     "and comp_op1 in ('equal', 'less', 'less_equal', 'greater', "
     "'greater_equal')",
     "nki/api/nki/isa/__init__.py:2850",
     [](const Call& c) {
       return ComparesRange(Alu(c[rs::kCompOp0])) &&
              ComparesRange(Alu(c[rs::kCompOp1]));
     },
     "comp_op0",
     "comp_op0 and comp_op1 must be equal, less, less_equal, greater or "
     "greater_equal, but they are {value:comp_op0} and {value:comp_op1}"},
    {"range_select.bounds",
     "P(bound0) == P(on_true_tile) and P(bound1) == P(on_true_tile) and "
     "(F(bound0) == 1) and (F(bound1) == 1)",
     "nki/api/nki/isa/__init__.py:2860",
     [](const Call& c) {
       return IsColumn(c[rs::kBound0], c[rs::kOnTrueTile]) &&
              IsColumn(c[rs::kBound1], c[rs::kOnTrueTile]);
     },
     "bound0",
     "bound0 and bound1 must be [{P:on_true_tile}, 1] columns, but they are "
     "{shape:bound0} and {shape:bound1}"},
    {"range_select.on_false_value", "on_false_value == -3.4028234663852886e+38",
     "nki/api/nki/isa/__init__.py:2880",
     [](const Call& c) { return IsLowestFloat(c[rs::kOnFalseValue].number); },
     "on_false_value",
     "on_false_value must be the lowest float32, -3.4028235e+38, but it is "
     "{value:on_false_value}",
     "leave it out; use select_reduce for another value"},
    {"range_select.reduce_op", "reduce_op == 'maximum'",
     "nki/api/nki/isa/__init__.py:2886",
     [](const Call& c) { return IsMaximum(c[rs::kReduceOp]); }, "reduce_op",
     "reduce_op must be maximum, but it is {value:reduce_op}"},
    // Its value to load would be another operand, which there is not.
    {"range_select.reduce_cmd", "reduce_cmd != 'load_reduce'",
     "nki/api/nki/isa/__init__.py:2887",
     [](const Call& c) {
       return c[rs::kReduceCmd].as<ReduceCmd>() != ReduceCmd::kLoadReduce;
     },
     "reduce_cmd",
     "reduce_cmd must be idle, reset, reduce or reset_reduce, but it is "
     "{value:reduce_cmd}",
     "", Layer::kDevice, Evidence::kInferred},
    {"range_select.range", "range_start + F(on_true_tile) <= 2 ** 24",
     "nki/api/nki/isa/__init__.py:2864",
     [](const Call& c) {
       const int64_t start = c[rs::kRangeStart].integer;
       return start >= -kExactIndices &&
              start <= kExactIndices - F(c[rs::kOnTrueTile]);
     },
     "range_start",
     "indices are float32, which counts to 16777216, but range_start is "
     "{value:range_start} and on_true_tile has {F:on_true_tile} elements per "
     "partition: what follows is unspecified",
     "subtract a common offset from range_start and both bounds",
     Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kUnspecified, false},
    {"range_select.shape",
     "P(dst) == P(on_true_tile) and F(dst) == F(on_true_tile)",
     "nki/api/nki/isa/__init__.py:2877",
     [](const Call& c) { return SameShape(c[rs::kDst], c[rs::kOnTrueTile]); },
     "dst",
     "dst must have the partitions and elements per partition of on_true_tile "
     "{shape:on_true_tile}, but it is {shape:dst}"},
    {"range_select.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(dst) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:2889",
     [](const Call& c) {
       return c[rs::kReduceRes].is_none() ||
              IsColumn(c[rs::kReduceRes], c[rs::kDst]);
     },
     "reduce_res",
     "reduce_res must be a [{P:dst}, 1] column, but it is {shape:reduce_res}"},
};

void ExpandRange(const Call& c, Emitter& e) {
  EmitOne(c, e, Opcode::kRangeSelect,
          {OperandOf(c[rs::kDst]), OperandOf(c[rs::kOnTrueTile]),
           OperandOf(c[rs::kBound0]), OperandOf(c[rs::kBound1])},
          {Int(c[rs::kCompOp0].integer), Int(c[rs::kCompOp1].integer),
           Int(c[rs::kReduceCmd].integer), AttributeOf(Alu(c[rs::kReduceOp])),
           Int(c[rs::kRangeStart].integer),
           Attribute::Real(c[rs::kOnFalseValue].number)});
  EmitReadOut(c, e, c[rs::kReduceRes]);
}

bool LiftRange(const Expansion& e, Call& c) {
  using S = slot::RangeSelect;
  if (e.instructions[0]->opcode != Opcode::kRangeSelect) return false;
  const auto operands = e.core->OperandsOf(*e.instructions[0]);
  const auto attributes = e.core->AttributesOf(*e.instructions[0]);
  c.values[rs::kDst] = ValueOf(operands[S::kDst]);
  c.values[rs::kOnTrueTile] = ValueOf(operands[S::kOnTrueTile]);
  c.values[rs::kBound0] = ValueOf(operands[S::kBound0]);
  c.values[rs::kBound1] = ValueOf(operands[S::kBound1]);
  c.values[rs::kCompOp0] = Value::OfEnum(attributes[S::kCompOp0].as<AluOp>());
  c.values[rs::kCompOp1] = Value::OfEnum(attributes[S::kCompOp1].as<AluOp>());
  c.values[rs::kReduceCmd] =
      Value::OfEnum(attributes[S::kReduceCmd].as<ReduceCmd>());
  c.values[rs::kReduceOp] = Value::OfEnum(attributes[S::kReduceOp].as<AluOp>());
  c.values[rs::kRangeStart] =
      Value::Integer(attributes[S::kRangeStart].integer());
  c.values[rs::kOnFalseValue] =
      Value::Number(attributes[S::kOnFalseValue].real());
  c.values[rs::kName] = Value::None();
  return LiftReadOut(e, c.values[rs::kReduceRes]);
}

constexpr OperationInfo kRangeSelect = {
    "range_select",
    kRangeParameters,
    kRangeRules,
    OnVector,
    ExpandRange,
    LiftRange,
    "Keeps the elements whose index lies between two bounds.",
    "index = float32(range_start + i), i along the flattened free dimensions; "
    "on_true_tile where (index comp_op0 bound0) and (index comp_op1 bound1), "
    "else the lowest float32, which narrower dtypes hold as -inf. The running "
    "maximum is of the values before the cast.",
    "nki/api/nki/isa/__init__.py:2819-2897"};

// ---- select_reduce ----

namespace sr {
enum {
  kDst,
  kPredicate,
  kOnTrue,
  kOnFalse,
  kReduceRes,
  kReduceCmd,
  kReduceOp,
  kReversePred,
  kName
};
}

constexpr DtypeSet kSelectPredicateTypes =
    SetOf(Dtype::kInt8) | SetOf(Dtype::kUint8) | SetOf(Dtype::kInt16) |
    SetOf(Dtype::kUint16);
constexpr DtypeSet kOnTrueTypes =
    kAnyType &
    ~(SetOf(Dtype::kTFloat32) | SetOf(Dtype::kInt32) | SetOf(Dtype::kUint32));

constexpr ParameterSpec kReduceParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as on_true"),
    In("predicate", kOnChip, kSelectPredicateTypes, "nonzero: on_true"),
    In("on_true", kOnChip, kOnTrueTypes, "[P, ...]"),
    {"on_false", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     SetOf(Dtype::kFloat32), "[P, 1] float32 or a number"},
    {"reduce_res", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     kFloatTypes, "[P, 1]: reads the accumulators afterwards"},
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "idle",
        "idle, reduce or reset_reduce: what becomes of the accumulators"),
    Opt("reduce_op", ParameterKind::kAluOp, "maximum", "only maximum"),
    Opt("reverse_pred", ParameterKind::kBool, "False", "zero: on_true"),
    kNameParameter,
};

constexpr Rule kReduceRules[] = {
    {"select_reduce.shape",
     "P(on_true) == P(dst) and P(predicate) == P(dst) and (F(on_true) == "
     "F(dst)) and (F(predicate) == F(dst))",
     "nki/api/nki/isa/__init__.py:2922",
     [](const Call& c) {
       return SameShape(c[sr::kOnTrue], c[sr::kDst]) &&
              SameShape(c[sr::kPredicate], c[sr::kDst]);
     },
     "dst",
     "dst, predicate and on_true must have the same partitions and elements "
     "per partition, but they are {shape:dst}, {shape:predicate} and "
     "{shape:on_true}"},
    {"select_reduce.on_false_shape",
     "not is_tile(on_false) or (P(on_false) == P(on_true) and F(on_false) == "
     "1)",
     "nki/api/nki/isa/__init__.py:2925",
     [](const Call& c) {
       return !c[sr::kOnFalse].is_tile() ||
              IsColumn(c[sr::kOnFalse], c[sr::kOnTrue]);
     },
     "on_false",
     "on_false must be a number or a [{P:on_true}, 1] column, but it is "
     "{shape:on_false}",
     "copy the other tile to dst first, then use tensor_copy_predicated"},
    {"select_reduce.both_in_psum",
     "not (buf(on_true) == 'psum' and buf(predicate) == 'psum')",
     "nki/api/nki/isa/__init__.py:2917",
     [](const Call& c) {
       return !BothInPsum(c[sr::kOnTrue], c[sr::kPredicate]);
     },
     "predicate", "on_true and predicate cannot both be in PSUM, but both are",
     "copy one of them to SBUF first"},
    {"select_reduce.reduce_op", "reduce_op == 'maximum'",
     "nki/api/nki/isa/__init__.py:2929",
     [](const Call& c) { return IsMaximum(c[sr::kReduceOp]); }, "reduce_op",
     "reduce_op must be maximum, but it is {value:reduce_op}"},
    {"select_reduce.reduce_cmd",
     "reduce_cmd in ('idle', 'reset_reduce', 'reduce')",
     "nki/api/nki/isa/__init__.py:2941",
     [](const Call& c) {
       const ReduceCmd cmd = c[sr::kReduceCmd].as<ReduceCmd>();
       return cmd == ReduceCmd::kIdle || cmd == ReduceCmd::kReduce ||
              cmd == ReduceCmd::kResetReduce;
     },
     "reduce_cmd",
     "reduce_cmd must be idle, reduce or reset_reduce, but it is "
     "{value:reduce_cmd}"},
    {"select_reduce.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(dst) and "
     "F(reduce_res) == 1 and (dt(reduce_res) in FP))",
     "nki/api/nki/isa/__init__.py:2927",
     [](const Call& c) {
       return c[sr::kReduceRes].is_none() ||
              IsColumn(c[sr::kReduceRes], c[sr::kDst]);
     },
     "reduce_res",
     "reduce_res must be a [{P:dst}, 1] column, but it is {shape:reduce_res}"},
};

void ExpandReduce(const Call& c, Emitter& e) {
  EmitOne(c, e, Opcode::kSelectReduce,
          {OperandOf(c[sr::kDst]), OperandOf(c[sr::kPredicate]),
           OperandOf(c[sr::kOnTrue]), OperandOf(c[sr::kOnFalse])},
          {Int(c[sr::kReduceCmd].integer), AttributeOf(Alu(c[sr::kReduceOp])),
           Int(c[sr::kReversePred].integer)});
  EmitReadOut(c, e, c[sr::kReduceRes]);
}

bool LiftReduce(const Expansion& e, Call& c) {
  using S = slot::SelectReduce;
  if (e.instructions[0]->opcode != Opcode::kSelectReduce) return false;
  const auto operands = e.core->OperandsOf(*e.instructions[0]);
  const auto attributes = e.core->AttributesOf(*e.instructions[0]);
  c.values[sr::kDst] = ValueOf(operands[S::kDst]);
  c.values[sr::kPredicate] = ValueOf(operands[S::kPredicate]);
  c.values[sr::kOnTrue] = ValueOf(operands[S::kOnTrue]);
  c.values[sr::kOnFalse] = ValueOf(operands[S::kOnFalse]);
  c.values[sr::kReduceCmd] =
      Value::OfEnum(attributes[S::kReduceCmd].as<ReduceCmd>());
  c.values[sr::kReduceOp] = Value::OfEnum(attributes[S::kReduceOp].as<AluOp>());
  c.values[sr::kReversePred] =
      Value::Bool(attributes[S::kReversePred].boolean());
  c.values[sr::kName] = Value::None();
  return LiftReadOut(e, c.values[sr::kReduceRes]);
}

constexpr OperationInfo kSelectReduce = {
    "select_reduce",
    kReduceParameters,
    kReduceRules,
    OnVector,
    ExpandReduce,
    LiftReduce,
    "Selects by a predicate, with an optional running maximum.",
    "on_true where predicate is nonzero (reverse_pred: zero), else on_false, "
    "in fp32; one cast to dst. The maximum is of the values before the cast; "
    "reduce_cmd=idle leaves the accumulators unknown.",
    "nki/api/nki/isa/__init__.py:2899-2969"};

constexpr std::array kOperations = {&kTensorCopyPredicated, &kRangeSelect,
                                    &kSelectReduce, &kNcStreamShuffle};

}  // namespace

std::span<const OperationInfo* const> SelectOperations() { return kOperations; }

}  // namespace trnemu::rows
