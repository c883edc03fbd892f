// activation.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

namespace act {
enum {
  kDst,
  kOp,
  kData,
  kBias,
  kScale,
  kReduceOp,
  kReduceRes,
  kReduceCmd,
  kName
};
}

constexpr DtypeSet kBiasTypes = kAnyType & ~SetOf(Dtype::kTFloat32);

constexpr ParameterSpec kParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    Attr("op", ParameterKind::kActFunction, "the activation function"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    {"bias", ParameterKind::kTileOrNumber, false, "None", Role::kIn, kOnChip,
     kBiasTypes, "[P, 1] or a number (from trn2 on); None acts as 0"},
    {"scale", ParameterKind::kTileOrNumber, false, "1.0", Role::kIn, kOnChip,
     SetOf(Dtype::kFloat32), "[P, 1] float32 or a number"},
    Opt("reduce_op", ParameterKind::kAluOp, "None",
        "add: sum the activated values along the free dimensions"),
    {"reduce_res", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     kFloatTypes, "[P, 1]: reads the accumulators afterwards"},
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "idle",
        "idle, reset, reduce or reset_reduce: what becomes of the "
        "accumulators"),
    kNameParameter,
};

constexpr Rule kRules[] = {
    {"activation.shape", "P(dst) == P(data) and P(data) <= 128",
     "nki/api/nki/isa/__init__.py:1416",
     [](const Call& c) { return P(c[act::kDst]) == P(c[act::kData]); }, "dst",
     "dst must have the partitions of data, but dst has {P:dst} and data "
     "{P:data}"},
    {"activation.free_size", "F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:1417",
     [](const Call& c) { return F(c[act::kDst]) == F(c[act::kData]); }, "dst",
     "dst must have as many elements per partition as data, but dst has "
     "{F:dst} and data {F:data}"},
    {"activation.scale_shape",
     "not is_tile(scale) or (P(scale) == P(data) and F(scale) == 1 and "
     "(dt(scale) == 'float32'))",
     "nki/api/nki/isa/__init__.py:1400",
     [](const Call& c) {
       const Value& s = c[act::kScale];
       return !s.is_tile() || (P(s) == P(c[act::kData]) && F(s) == 1);
     },
     "scale",
     "scale must be a number or a [{P:data}, 1] column, but it is "
     "{shape:scale}"},
    {"activation.bias_shape",
     "not is_tile(bias) or (P(bias) == P(data) and F(bias) == 1 and (dt(bias) "
     "!= 'tfloat32'))",
     "nki/api/nki/isa/__init__.py:1400",
     [](const Call& c) {
       const Value& b = c[act::kBias];
       return !b.is_tile() || (P(b) == P(c[act::kData]) && F(b) == 1);
     },
     "bias",
     "bias must be a [{P:data}, 1] column (one value a partition), but it is "
     "{shape:bias}",
     "add a full tile with tensor_tensor or scalar_tensor_tensor instead"},
    {"activation.bias_immediate",
     "not gen == 2 or (is_none(bias) or is_tile(bias))",
     "nki/api/nki/isa/__init__.py:1406",
     [](const Call& c) {
       return c.hardware->features.activation_bias_immediate ||
              !c[act::kBias].is_number();
     },
     "bias",
     "bias must be a tile on {target}, but it is the number {value:bias}",
     "memset a [P, 1] tile and pass that"},
    {"activation.reciprocal_bias",
     "not (gen == 2 and op == 'reciprocal') or is_none(bias)",
     "nki/api/nki.api.shared.rst:256",
     [](const Call& c) {
       return c.gen() != 2 ||
              c[act::kOp].as<ActFunction>() != ActFunction::kReciprocal ||
              c[act::kBias].is_none();
     },
     "bias", "op=reciprocal takes no bias on {target}"},
    {"activation.reduce_op", "reduce_op in (None, 'add')",
     "nki/api/nki/isa/__init__.py:1348",
     [](const Call& c) {
       const AluOp op = Alu(c[act::kReduceOp]);
       return op == AluOp::kNone || op == AluOp::kAdd;
     },
     "reduce_op", "reduce_op must be None or add, but it is {value:reduce_op}"},
    {"activation.reduce_cmd",
     "reduce_cmd in ('idle', 'reset', 'reduce', 'reset_reduce')",
     "nki/api/nki/isa/__init__.py:1354",
     [](const Call& c) {
       return c[act::kReduceCmd].as<ReduceCmd>() != ReduceCmd::kLoadReduce;
     },
     "reduce_cmd",
     "reduce_cmd must be idle, reset, reduce or reset_reduce, but it is "
     "{value:reduce_cmd}"},
    {"activation.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(data) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:1452",
     [](const Call& c) {
       const Value& r = c[act::kReduceRes];
       return r.is_none() || (P(r) == P(c[act::kData]) && F(r) == 1);
     },
     "reduce_res",
     "reduce_res must be a [{P:data}, 1] column, but it is "
     "{shape:reduce_res}"},
};

void Expand(const Call& c, Emitter& emitter) {
  EmitOne(c, emitter, Opcode::kActivate,
          {OperandOf(c[act::kDst]), OperandOf(c[act::kData]),
           OperandOf(c[act::kBias]), OperandOf(c[act::kScale])},
          {Int(c[act::kOp].integer), AttributeOf(Alu(c[act::kReduceOp])),
           Int(c[act::kReduceCmd].integer)});
  if (!c[act::kReduceRes].is_none()) {
    EmitOne(c, emitter, Opcode::kReadAccumulator,
            {OperandOf(c[act::kReduceRes])}, {});
  }
}

bool LiftActivation(const Expansion& e, Call& c) {
  using S = slot::Activate;
  if (e.instructions[0]->opcode != Opcode::kActivate) return false;
  const auto operands = e.core->OperandsOf(*e.instructions[0]);
  const auto attributes = e.core->AttributesOf(*e.instructions[0]);
  c.values[act::kDst] = ValueOf(operands[S::kDst]);
  c.values[act::kData] = ValueOf(operands[S::kData]);
  c.values[act::kBias] = ValueOf(operands[S::kBias]);
  c.values[act::kScale] = ValueOf(operands[S::kScale]);
  c.values[act::kOp] = Value::OfEnum(attributes[S::kOp].as<ActFunction>());
  c.values[act::kReduceOp] =
      Value::OfEnum(attributes[S::kReduceOp].as<AluOp>());
  c.values[act::kReduceCmd] =
      Value::OfEnum(attributes[S::kReduceCmd].as<ReduceCmd>());
  c.values[act::kReduceRes] = Value::None();
  c.values[act::kName] = Value::None();
  if (e.instructions.size() == 1) return true;
  if (e.instructions[1]->opcode != Opcode::kReadAccumulator) return false;
  c.values[act::kReduceRes] = ValueOf(
      e.core->OperandsOf(*e.instructions[1])[slot::ReadAccumulator::kDst]);
  return true;
}

}  // namespace

const OperationInfo kActivation = {
    "activation",
    kParameters,
    kRules,
    [](const Call&, Engine) { return Engine::kScalar; },
    Expand,
    LiftActivation,
    "dst = op(data * scale + bias) on the scalar engine.",
    "fp32 arithmetic, one cast to dst. With reduce_cmd, one running sum per "
    "partition of the values before the cast; reduce_res reads it.",
    "nki/api/nki/isa/__init__.py:1336-1459"};

}  // namespace trnemu::rows
