// activation_reduce and activate2; activation is in activation.cc.
#include "isa/operations/accumulators.h"

namespace trnemu::rows {
namespace {

constexpr DtypeSet kBiasTypes = kAnyType & ~SetOf(Dtype::kTFloat32);

constexpr ParameterSpec ReduceRes(DtypeSet dtypes) {
  return {"reduce_res", ParameterKind::kTile,
          false,        "None",
          Role::kOut,   kOnChip,
          dtypes,       "[P, 1]: reads the accumulators afterwards"};
}

namespace ar {
enum { kDst, kOp, kData, kReduceOp, kReduceRes, kBias, kScale, kName };
}

constexpr ParameterSpec kActivationReduceParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    Attr("op", ParameterKind::kActFunction, "the activation function"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    Attr("reduce_op", ParameterKind::kAluOp, "add"),
    {"reduce_res", ParameterKind::kTile, true, "None", Role::kOut, kOnChip,
     kFloatTypes,
     "[P, 1]: the sums of the activated values; None leaves them in the "
     "accumulators"},
    {"bias", ParameterKind::kTileOrNumber, false, "None", Role::kIn, kOnChip,
     kBiasTypes, "[P, 1] or a number (from trn2 on); None acts as 0"},
    {"scale", ParameterKind::kTileOrNumber, false, "1.0", Role::kIn, kOnChip,
     SetOf(Dtype::kFloat32), "[P, 1] float32 or a number"},
    kNameParameter,
};

constexpr Rule kActivationReduceRules[] = {
    {"activation_reduce.shape", "P(dst) == P(data) and P(data) <= 128",
     "nki/api/nki/isa/__init__.py:1527",
     [](const Call& c) { return P(c[ar::kDst]) == P(c[ar::kData]); }, "dst",
     "dst must have the partitions of data, but dst has {P:dst} and data "
     "{P:data}"},
    {"activation_reduce.free_size", "F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:1525",
     [](const Call& c) { return F(c[ar::kDst]) == F(c[ar::kData]); }, "dst",
     "dst must have as many elements per partition as data, but dst has "
     "{F:dst} and data {F:data}"},
    {"activation_reduce.reduce_op_gen2", "not gen == 2 or reduce_op == 'add'",
     "nki/api/nki/isa/__init__.py:1476",
     [](const Call& c) {
       return c.gen() != 2 || Alu(c[ar::kReduceOp]) == AluOp::kAdd;
     },
     "reduce_op",
     "reduce_op must be add on {target}, but it is {value:reduce_op}",
     "use tensor_reduce for other reductions"},
    {"activation_reduce.reduce_op", "reduce_op in (None, 'add')",
     "nki/api/nki/isa/__init__.py:1348",
     [](const Call& c) { return Alu(c[ar::kReduceOp]) == AluOp::kAdd; },
     "reduce_op",
     "reduce_op must be add, as in activation, which this becomes, but it is "
     "{value:reduce_op}",
     "use tensor_reduce, or activate2 on trn3, for other reductions",
     Layer::kDevice, Evidence::kInferred},
    {"activation_reduce.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(data) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:1475",
     [](const Call& c) {
       return c[ar::kReduceRes].is_none() ||
              IsColumnOf(c[ar::kReduceRes], c[ar::kData]);
     },
     "reduce_res",
     "reduce_res must be a [{P:data}, 1] column, but it is "
     "{shape:reduce_res}"},
    {"activation_reduce.bias_immediate",
     "not gen == 2 or (is_none(bias) or is_tile(bias))",
     "nki/api/nki/isa/__init__.py:1406",
     [](const Call& c) {
       return c.hardware->features.activation_bias_immediate ||
              !c[ar::kBias].is_number();
     },
     "bias",
     "bias must be a tile on {target}, but it is the number {value:bias}",
     "memset a [P, 1] tile and pass that"},
    {"activation_reduce.scale_shape",
     "not is_tile(scale) or (dt(scale) == 'float32' and F(scale) == 1)",
     "nki/api/nki/isa/__init__.py:1400",
     [](const Call& c) {
       return !c[ar::kScale].is_tile() || F(c[ar::kScale]) == 1;
     },
     "scale",
     "scale must be a number or a [{P:data}, 1] column, but it is "
     "{shape:scale}"},
    // Of activation, whose scale, bias and op these are (line 1470).
    {"activation_reduce.scale_partitions",
     "not is_tile(scale) or (P(scale) == P(data) and F(scale) == 1 and "
     "(dt(scale) == 'float32'))",
     "nki/api/nki/isa/__init__.py:1400",
     [](const Call& c) { return IsColumnOf(c[ar::kScale], c[ar::kData]); },
     "scale",
     "scale must be a number or a [{P:data}, 1] column, but it is "
     "{shape:scale}"},
    {"activation_reduce.bias_shape",
     "not is_tile(bias) or (P(bias) == P(data) and F(bias) == 1 and (dt(bias) "
     "!= 'tfloat32'))",
     "nki/api/nki/isa/__init__.py:1400",
     [](const Call& c) { return IsColumnOf(c[ar::kBias], c[ar::kData]); },
     "bias",
     "bias must be a [{P:data}, 1] column (one value a partition), but it is "
     "{shape:bias}"},
    {"activation_reduce.reciprocal_bias",
     "not (gen == 2 and op == 'reciprocal') or is_none(bias)",
     "nki/api/nki.api.shared.rst:256",
     [](const Call& c) {
       return c.gen() != 2 ||
              c[ar::kOp].as<ActFunction>() != ActFunction::kReciprocal ||
              c[ar::kBias].is_none();
     },
     "bias", "op=reciprocal takes no bias on {target}"},
};

constexpr OperationInfo kActivationReduce = {
    "activation_reduce",
    kActivationReduceParameters,
    kActivationReduceRules,
    [](const Call&, Engine) { return Engine::kScalar; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kActivate,
              {OperandOf(c[ar::kDst]), OperandOf(c[ar::kData]),
               OperandOf(c[ar::kBias]), OperandOf(c[ar::kScale])},
              {Int(c[ar::kOp].integer), AttributeOf(Alu(c[ar::kReduceOp])),
               AttributeOf(ReduceCmd::kResetReduce)});
      EmitReadOut(c, e, c[ar::kReduceRes]);
    },
    [](const Expansion& e, Call& c) {
      return LiftWithReadOut(e, Opcode::kActivate, Opcode::kReadAccumulator,
                             ar::kReduceRes, c);
    },
    "dst = op(data * scale + bias), and reduce_res its sum per partition.",
    "activation with reduce_cmd=reset_reduce: sums the values before the cast "
    "over all free dimensions.",
    "nki/api/nki/isa/__init__.py:1461-1541"};

namespace a2 {
enum {
  kDst,
  kOp,
  kData,
  kImm0,
  kImm1,
  kOp0,
  kOp1,
  kReluParam,
  kReverse0,
  kReverse1,
  kReduceOp,
  kReduceRes,
  kReduceCmd,
  kName
};
}

constexpr ParameterSpec kActivate2Parameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    Attr("op", ParameterKind::kActFunction, "the activation function"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    {"imm0", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     SetOf(Dtype::kFloat32),
     "[P, 1] float32 or a number; not used when op0 is bypass"},
    {"imm1", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     SetOf(Dtype::kFloat32),
     "[P, 1] float32 or a number; not used when op1 is bypass"},
    Attr("op0", ParameterKind::kAluOpOrBypass,
         "multiply, add, subtract or bypass"),
    Attr("op1", ParameterKind::kAluOpOrBypass, "add, subtract or bypass"),
    {"relu_param", ParameterKind::kTileOrNumber, false, "0.0", Role::kIn,
     kOnChip, kAnyType, "[P, 1] or a number: the slope of prelu"},
    Opt("reverse0", ParameterKind::kBool, "False",
        "imm0 becomes the left operand"),
    Opt("reverse1", ParameterKind::kBool, "False",
        "imm1 becomes the left operand"),
    Opt("reduce_op", ParameterKind::kAluOp, "None",
        "add, maximum, minimum, abs_max or abs_min along the free dimensions"),
    ReduceRes(kAnyType),
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "idle",
        "idle, reset, reduce or reset_reduce: what becomes of the "
        "accumulators"),
    kNameParameter,
};

bool IsActivate2Pair(AluOp op0, AluOp op1) {
  switch (op0) {
    case AluOp::kMultiply:
      return op1 == AluOp::kAdd || op1 == AluOp::kSubtract ||
             op1 == AluOp::kNone;
    case AluOp::kAdd:
    case AluOp::kSubtract:
    case AluOp::kNone:
      return op1 == AluOp::kNone;
    default:
      return false;
  }
}

bool IsActivate2Reduction(AluOp op) {
  return op == AluOp::kNone || op == AluOp::kAdd || op == AluOp::kMaximum ||
         op == AluOp::kMinimum || op == AluOp::kAbsMax || op == AluOp::kAbsMin;
}

constexpr Rule kActivate2Rules[] = {
    {"activate2.generation", "gen >= 4", "nki/api/nki/isa/__init__.py:1548",
     [](const Call& c) { return c.gen() >= 4; }, "op",
     "activate2 needs trn3, and this is {target}",
     "use activation, with scale and bias"},
    {"activate2.ops",
     "(op0, op1) in (('multiply', 'add'), ('multiply', 'subtract'), "
     "('multiply', 'bypass'), ('add', 'bypass'), ('subtract', 'bypass'), "
     "('bypass', 'bypass'))",
     "nki/api/nki/isa/__init__.py:1556",
     [](const Call& c) {
       return IsActivate2Pair(c[a2::kOp0].as<AluOp>(), c[a2::kOp1].as<AluOp>());
     },
     "op1",
     "op0 and op1 must be multiply with add, subtract or bypass, or add, "
     "subtract or bypass with bypass, but they are {value:op0} and "
     "{value:op1}"},
    {"activate2.shape", "P(dst) == P(data) and P(data) <= 128",
     "nki/api/nki/isa/__init__.py:1575",
     [](const Call& c) { return P(c[a2::kDst]) == P(c[a2::kData]); }, "dst",
     "dst must have the partitions of data, but dst has {P:dst} and data "
     "{P:data}"},
    {"activate2.free_size", "F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:1576",
     [](const Call& c) { return F(c[a2::kDst]) == F(c[a2::kData]); }, "dst",
     "dst must have as many elements per partition as data, but dst has "
     "{F:dst} and data {F:data}"},
    {"activate2.immediates_dtype",
     "not (is_tile(imm0) and is_tile(imm1)) or dt(imm0) == dt(imm1)",
     "nki/api/nki/isa/__init__.py:1577",
     [](const Call& c) {
       return !c[a2::kImm0].is_tile() || !c[a2::kImm1].is_tile() ||
              Dt(c[a2::kImm0]) == Dt(c[a2::kImm1]);
     },
     "imm1",
     "imm0 and imm1 must have the same dtype, but they are {dt:imm0} and "
     "{dt:imm1}"},
    {"activate2.immediates_shape",
     "(not is_tile(imm0) or (P(imm0) == P(data) and F(imm0) == 1)) and (not "
     "is_tile(imm1) or (P(imm1) == P(data) and F(imm1) == 1))",
     "nki/api/nki/isa/__init__.py:1611",
     [](const Call& c) {
       return IsColumnOf(c[a2::kImm0], c[a2::kData]) &&
              IsColumnOf(c[a2::kImm1], c[a2::kData]);
     },
     "imm0",
     "imm0 and imm1 must be numbers or [{P:data}, 1] columns, but they are "
     "{value:imm0} and {value:imm1}"},
    {"activate2.relu_param_shape",
     "not is_tile(relu_param) or (P(relu_param) == P(data) and F(relu_param) "
     "== 1)",
     "nki/api/nki/isa/__init__.py:1618",
     [](const Call& c) { return IsColumnOf(c[a2::kReluParam], c[a2::kData]); },
     "relu_param",
     "relu_param must be a number or a [{P:data}, 1] column, but it is "
     "{value:relu_param}",
     "", Layer::kDevice, Evidence::kInferred},
    {"activate2.reverse",
     "(not reverse0 or op0 != 'bypass') and (not reverse1 or op1 != 'bypass')",
     "nki/api/nki/isa/__init__.py:1579",
     [](const Call& c) {
       return (!c[a2::kReverse0].boolean() || c[a2::kOp0].integer != 0) &&
              (!c[a2::kReverse1].boolean() || c[a2::kOp1].integer != 0);
     },
     "reverse0",
     "reverse0 needs op0 and reverse1 needs op1, but op0 is {value:op0}, "
     "reverse0 {value:reverse0}, op1 {value:op1}, reverse1 {value:reverse1}"},
    {"activate2.reduce_op",
     "reduce_op in (None, 'add', 'maximum', 'minimum', 'abs_max', 'abs_min')",
     "nki/api/nki/isa/__init__.py:1625",
     [](const Call& c) { return IsActivate2Reduction(Alu(c[a2::kReduceOp])); },
     "reduce_op",
     "reduce_op must be None, add, maximum, minimum, abs_max or abs_min, but "
     "it is {value:reduce_op}"},
    {"activate2.reduce_cmd",
     "reduce_cmd in ('idle', 'reset', 'reduce', 'reset_reduce')",
     "nki/api/nki/isa/__init__.py:1641",
     [](const Call& c) {
       return c[a2::kReduceCmd].as<ReduceCmd>() != ReduceCmd::kLoadReduce;
     },
     "reduce_cmd",
     "reduce_cmd must be idle, reset, reduce or reset_reduce, but it is "
     "{value:reduce_cmd}"},
    // Without it neither the reduction nor the identity is known.
    {"activate2.reduce_op_missing",
     "reduce_cmd == 'idle' or not is_none(reduce_op)",
     "nki/api/nki/isa/__init__.py:1641",
     [](const Call& c) {
       return c[a2::kReduceCmd].as<ReduceCmd>() == ReduceCmd::kIdle ||
              !c[a2::kReduceOp].is_none();
     },
     "reduce_op",
     "reduce_cmd={value:reduce_cmd} needs reduce_op, but it is "
     "None",
     "pass reduce_op=\"add\", or leave reduce_cmd out", Layer::kDevice,
     Evidence::kInferred},
    {"activate2.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(data) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:1626",
     [](const Call& c) {
       return c[a2::kReduceRes].is_none() ||
              IsColumnOf(c[a2::kReduceRes], c[a2::kData]);
     },
     "reduce_res",
     "reduce_res must be a [{P:data}, 1] column, but it is "
     "{shape:reduce_res}"},
    {"activate2.relu_param_unused",
     "op == 'prelu' or (is_imm(relu_param) and relu_param == 0)",
     "nki/api/nki/isa/__init__.py:1618",
     [](const Call& c) {
       return c[a2::kOp].as<ActFunction>() == ActFunction::kPrelu ||
              (c[a2::kReluParam].is_number() && c[a2::kReluParam].number == 0);
     },
     "relu_param", "relu_param is the slope of prelu; {value:op} has none",
     "leave relu_param out, or use op=\"prelu\"", Layer::kLint,
     Evidence::kInferred},
};

constexpr OperationInfo kActivate2 = {
    "activate2",
    kActivate2Parameters,
    kActivate2Rules,
    [](const Call&, Engine) { return Engine::kScalar; },
    [](const Call& c, Emitter& e) {
      EmitOne(
          c, e, Opcode::kActivate2,
          {OperandOf(c[a2::kDst]), OperandOf(c[a2::kData]),
           OperandOf(c[a2::kImm0]), OperandOf(c[a2::kImm1]),
           OperandOf(c[a2::kReluParam])},
          {Int(c[a2::kOp].integer), Int(c[a2::kOp0].integer),
           Int(c[a2::kOp1].integer), Int(c[a2::kReverse0].integer),
           Int(c[a2::kReverse1].integer), AttributeOf(Alu(c[a2::kReduceOp])),
           Int(c[a2::kReduceCmd].integer)});
      EmitReadOut(c, e, c[a2::kReduceRes]);
    },
    [](const Expansion& e, Call& c) {
      return LiftWithReadOut(e, Opcode::kActivate2, Opcode::kReadAccumulator,
                             a2::kReduceRes, c);
    },
    "dst = op((data op0 imm0) op1 imm1) on the scalar engine of trn3.",
    "fp32 arithmetic, each operation rounded, one cast to dst. With "
    "reduce_cmd, one running result of reduce_op per partition of the values "
    "before the cast; reset gives it the identity of reduce_op; reduce_res "
    "reads it.",
    "nki/api/nki/isa/__init__.py:1543-1706"};

constexpr const OperationInfo* kOperations[] = {&kActivationReduce,
                                                &kActivate2};

}  // namespace

std::span<const OperationInfo* const> ActivationOperations() {
  return kOperations;
}

}  // namespace trnemu::rows
