// tensor_scalar_reduce, tensor_scalar_cumulative.
#include "isa/operations/accumulators.h"

namespace trnemu::rows {
namespace {

// Reductions and scans of the vector engine's accumulators.
bool IsReduction(AluOp op) {
  return op == AluOp::kAdd || op == AluOp::kMultiply || op == AluOp::kMaximum ||
         op == AluOp::kMinimum;
}
bool IsVectorReduceCmd(const Value& v) {
  const ReduceCmd cmd = v.as<ReduceCmd>();
  return cmd == ReduceCmd::kResetReduce || cmd == ReduceCmd::kReduce ||
         cmd == ReduceCmd::kLoadReduce;
}
bool Loads(const Value& v) {
  return v.as<ReduceCmd>() == ReduceCmd::kLoadReduce;
}

namespace tsr {
enum {
  kDst,
  kData,
  kOp0,
  kOperand0,
  kReduceOp,
  kReduceRes,
  kReverse0,
  kReduceCmd,
  kReduceInit,
  kReduceResNegate,
  kName
};
}

constexpr DtypeSet kFp32 = SetOf(Dtype::kFloat32);

constexpr ParameterSpec kTensorScalarReduceParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    Attr("op0", ParameterKind::kAluOp, "an arithmetic operation"),
    {"operand0", ParameterKind::kTileOrNumber, true, "None", Role::kIn, kOnChip,
     kFp32, "[P, 1] float32 or a number; None or 0 when op0 is unary"},
    Attr("reduce_op", ParameterKind::kAluOp,
         "add, multiply, maximum or minimum"),
    {"reduce_res", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     kAnyType, "[P, 1]: reads the accumulators afterwards"},
    Opt("reverse0", ParameterKind::kBool, "False", "not supported: False"),
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "reset_reduce",
        "reset_reduce, reduce or load_reduce: where the reduction starts"),
    {"reduce_init", ParameterKind::kTileOrNumber, false, "None", Role::kIn,
     kOnChip, kFp32, "[P, 1] float32 or a number, for load_reduce"},
    Opt("reduce_res_negate", ParameterKind::kBool, "False",
        "reduce_res gets the accumulator times -1"),
    kNameParameter,
};

constexpr Rule kTensorScalarReduceRules[] = {
    {"tensor_scalar_reduce.op0", "op0 in ALU_ARITH",
     "nki/api/nki/isa/__init__.py:2521",
     [](const Call& c) { return IsArithmetic(Alu(c[tsr::kOp0])); }, "op0",
     "op0 must be arithmetic, but it is {value:op0}",
     "use tensor_scalar and tensor_reduce for bitwise operations"},
    {"tensor_scalar_reduce.reduce_op",
     "reduce_op in ('add', 'multiply', 'maximum', 'minimum')",
     "nki/api/nki/isa/__init__.py:2528",
     [](const Call& c) { return IsReduction(Alu(c[tsr::kReduceOp])); },
     "reduce_op",
     "reduce_op must be add, multiply, maximum or minimum, but it is "
     "{value:reduce_op}"},
    {"tensor_scalar_reduce.reverse0", "reverse0 == False",
     "nki/api/nki/isa/__init__.py:2583",
     [](const Call& c) { return !c[tsr::kReverse0].boolean(); }, "reverse0",
     "tensor_scalar_reduce does not support reverse0=True",
     "use tensor_scalar(reverse0=True), then tensor_reduce"},
    {"tensor_scalar_reduce.reduce_cmd",
     "reduce_cmd in ('reset_reduce', 'reduce', 'load_reduce')",
     "nki/api/nki/isa/__init__.py:2594",
     [](const Call& c) { return IsVectorReduceCmd(c[tsr::kReduceCmd]); },
     "reduce_cmd",
     "reduce_cmd must be reset_reduce, reduce or load_reduce, but it is "
     "{value:reduce_cmd}"},
    {"tensor_scalar_reduce.reduce_init",
     "(reduce_cmd == 'load_reduce') == (not is_none(reduce_init))",
     "nki/api/nki/isa/__init__.py:2549",
     [](const Call& c) {
       return Loads(c[tsr::kReduceCmd]) == !c[tsr::kReduceInit].is_none();
     },
     "reduce_init",
     "reduce_init and reduce_cmd=load_reduce go together, but reduce_init is "
     "{value:reduce_init} and reduce_cmd {value:reduce_cmd}"},
    {"tensor_scalar_reduce.shape", "P(dst) == P(data) and F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:2527",
     [](const Call& c) { return SameShape(c[tsr::kDst], c[tsr::kData]); },
     "dst",
     "dst must match data, but dst has {P:dst} partitions of {F:dst} elements "
     "and data {P:data} of {F:data}"},
    {"tensor_scalar_reduce.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(data) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:2527",
     [](const Call& c) {
       return IsColumnOf(c[tsr::kReduceRes], c[tsr::kData]);
     },
     "reduce_res",
     "reduce_res must be a [{P:data}, 1] column, but it is "
     "{shape:reduce_res}"},
    {"tensor_scalar_reduce.unary_operand",
     "not op0 in ALU_ARITH_UN or (is_none(operand0) or operand0 == 0)",
     "nki/api/nki/isa/__init__.py:2581",
     [](const Call& c) {
       const Value& v = c[tsr::kOperand0];
       return !IsUnary(Alu(c[tsr::kOp0])) || v.is_none() ||
              (v.is_number() && v.number == 0);
     },
     "operand0",
     "op0={value:op0} is unary: operand0 must be None or 0, but it is "
     "{value:operand0}"},
    {"tensor_scalar_reduce.operand0_missing",
     "not is_none(operand0) or op0 in ALU_ARITH_UN",
     "nki/api/nki/isa/__init__.py:2581",
     [](const Call& c) {
       return !c[tsr::kOperand0].is_none() || IsUnary(Alu(c[tsr::kOp0]));
     },
     "operand0", "op0={value:op0} needs operand0", "", Layer::kDevice,
     Evidence::kInferred},
    {"tensor_scalar_reduce.operand_shape",
     "(not is_tile(operand0) or (P(operand0) == P(data) and F(operand0) == 1)) "
     "and (not is_tile(reduce_init) or (P(reduce_init) == P(data) and "
     "F(reduce_init) == 1))",
     "nki/api/nki/isa/__init__.py:2579",
     [](const Call& c) {
       return IsColumnOf(c[tsr::kOperand0], c[tsr::kData]) &&
              IsColumnOf(c[tsr::kReduceInit], c[tsr::kData]);
     },
     "operand0",
     "operand tiles must be [{P:data}, 1] columns, but operand0 is "
     "{value:operand0} and reduce_init {value:reduce_init}"},
    {"tensor_scalar_reduce.op0_generation",
     "not op0 in ALU_GEN4_OP0 or gen >= 4",
     "release-notes/components/nki.rst:228",
     [](const Call& c) {
       return !IsGen4Op0(Alu(c[tsr::kOp0])) || c.gen() >= 4;
     },
     "op0", "op0={value:op0} needs trn3, and this is {target}",
     "relu: op0=\"maximum\", operand0=0.0"},
};

bool LiftTensorScalarReduce(const Expansion& e, Call& c) {
  if (!LiftWithReadOut(e, Opcode::kTensorScalarReduce,
                       Opcode::kReadVectorAccumulator, tsr::kReduceRes, c)) {
    return false;
  }
  bool negate = false;
  if (e.instructions.size() == 2) {
    const auto attributes = e.core->AttributesOf(*e.instructions[1]);
    negate = attributes[slot::ReadVectorAccumulator::kNegate].boolean();
  }
  c.values[tsr::kReduceResNegate] = Value::Bool(negate);
  return true;
}

constexpr OperationInfo kTensorScalarReduce = {
    "tensor_scalar_reduce",
    kTensorScalarReduceParameters,
    kTensorScalarReduceRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(
          c, e, Opcode::kTensorScalarReduce,
          {OperandOf(c[tsr::kDst]), OperandOf(c[tsr::kData]),
           OperandOf(c[tsr::kOperand0]), OperandOf(c[tsr::kReduceInit])},
          {Int(c[tsr::kOp0].integer), Int(c[tsr::kReverse0].integer),
           Int(c[tsr::kReduceOp].integer), Int(c[tsr::kReduceCmd].integer)});
      EmitVectorReadOut(c, e, c[tsr::kReduceRes],
                        c[tsr::kReduceResNegate].boolean());
    },
    LiftTensorScalarReduce,
    "dst = data op0 operand0, and its reduction per partition.",
    "fp32, one cast to dst. The vector engine's accumulators take the values "
    "before the cast, one after the other in access order: acc = acc "
    "reduce_op value. They start from the identity of reduce_op, reduce_init, "
    "or what is there (reduce_cmd). reduce_res reads them.",
    "nki/api/nki/isa/__init__.py:2515-2599"};

namespace tsc {
enum { kDst, kSrc, kOp0, kOp1, kImm0, kImm1, kReduceCmd, kName };
}

constexpr DtypeSet kCumulativeTypes =
    SetOf(Dtype::kBFloat16) | SetOf(Dtype::kFloat16) | SetOf(Dtype::kFloat32) |
    SetOf(Dtype::kFloat8E4M3) | SetOf(Dtype::kFloat8E5M2) |
    SetOf(Dtype::kUint8) | SetOf(Dtype::kUint16) | SetOf(Dtype::kInt8) |
    SetOf(Dtype::kInt16);

constexpr ParameterSpec kTensorScalarCumulativeParameters[] = {
    Out("dst", kOnChip, kCumulativeTypes, "as many elements as src"),
    In("src", kOnChip, kCumulativeTypes, "[P, ...]"),
    Attr("op0", ParameterKind::kAluOp, "an arithmetic operation"),
    Attr("op1", ParameterKind::kAluOp,
         "add, subtract, multiply, maximum or minimum"),
    {"imm0", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip, kFp32,
     "[P, 1] float32 or a number; 0 when op0 is unary"},
    {"imm1", ParameterKind::kTileOrNumber, false, "None", Role::kIn, kOnChip,
     kFp32, "[P, 1] float32 or a number: where load_reduce starts"},
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "reset_reduce",
        "reset_reduce, reduce or load_reduce: where the accumulation starts"),
    kNameParameter,
};

bool Is32BitInteger(const Value& v) {
  return Dt(v) == Dtype::kInt32 || Dt(v) == Dtype::kUint32;
}

constexpr Rule kTensorScalarCumulativeRules[] = {
    {"tensor_scalar_cumulative.op0", "op0 in ALU_ARITH",
     "nki/api/nki/isa/__init__.py:1288",
     [](const Call& c) { return IsArithmetic(Alu(c[tsc::kOp0])); }, "op0",
     "op0 must be arithmetic, but it is {value:op0}"},
    {"tensor_scalar_cumulative.op1",
     "op1 in ('add', 'subtract', 'multiply', 'maximum', 'minimum')",
     "nki/api/nki/isa/__init__.py:1289",
     [](const Call& c) {
       const AluOp op = Alu(c[tsc::kOp1]);
       return IsReduction(op) || op == AluOp::kSubtract;
     },
     "op1",
     "op1 must be add, subtract, multiply, maximum or minimum, but it is "
     "{value:op1}",
     "use tensor_tensor_scan for other operations"},
    {"tensor_scalar_cumulative.integers32",
     "dt(src) not in INT32S and dt(dst) not in INT32S",
     "nki/api/nki/isa/__init__.py:1291",
     [](const Call& c) {
       return !Is32BitInteger(c[tsc::kSrc]) && !Is32BitInteger(c[tsc::kDst]);
     },
     "src",
     "src and dst cannot be int32 or uint32, but they are {dt:src} and "
     "{dt:dst}",
     "tensor_copy to float32 first"},
    {"tensor_scalar_cumulative.tfloat32",
     "dt(src) != 'tfloat32' and dt(dst) != 'tfloat32'",
     "nki/api/nki/isa/__init__.py:1290",
     [](const Call& c) {
       return Dt(c[tsc::kSrc]) != Dtype::kTFloat32 &&
              Dt(c[tsc::kDst]) != Dtype::kTFloat32;
     },
     "src",
     "src and dst cannot be tfloat32, but they are {dt:src} and {dt:dst}"},
    {"tensor_scalar_cumulative.shape", "P(dst) == P(src) and F(dst) == F(src)",
     "nki/api/nki/isa/__init__.py:1325",
     [](const Call& c) { return SameShape(c[tsc::kDst], c[tsc::kSrc]); }, "dst",
     "dst must match src, but dst has {P:dst} partitions of {F:dst} elements "
     "and src {P:src} of {F:src}"},
    {"tensor_scalar_cumulative.reduce_cmd",
     "reduce_cmd in ('reset_reduce', 'reduce', 'load_reduce')",
     "nki/api/nki/isa/__init__.py:1297",
     [](const Call& c) { return IsVectorReduceCmd(c[tsc::kReduceCmd]); },
     "reduce_cmd",
     "reduce_cmd must be reset_reduce, reduce or load_reduce, but it is "
     "{value:reduce_cmd}"},
    {"tensor_scalar_cumulative.imm1_missing",
     "not reduce_cmd == 'load_reduce' or not is_none(imm1)",
     "nki/api/nki/isa/__init__.py:1298",
     [](const Call& c) {
       return !Loads(c[tsc::kReduceCmd]) || !c[tsc::kImm1].is_none();
     },
     "imm1", "reduce_cmd=load_reduce loads imm1, which is None"},
    {"tensor_scalar_cumulative.immediates",
     "(not is_tile(imm0) or (P(imm0) == P(src) and F(imm0) == 1 and (dt(imm0) "
     "== 'float32'))) and (not is_tile(imm1) or (F(imm1) == 1 and dt(imm1) == "
     "'float32'))",
     "nki/api/nki/isa/__init__.py:1329",
     [](const Call& c) {
       return IsColumnOf(c[tsc::kImm0], c[tsc::kSrc]) &&
              (!c[tsc::kImm1].is_tile() || F(c[tsc::kImm1]) == 1);
     },
     "imm0",
     "imm0 and imm1 must be numbers or [{P:src}, 1] columns, but they are "
     "{value:imm0} and {value:imm1}"},
    {"tensor_scalar_cumulative.imm1_partitions",
     "not is_tile(imm1) or P(imm1) == P(src)",
     "nki/api/nki/isa/__init__.py:1330",
     [](const Call& c) {
       return !c[tsc::kImm1].is_tile() || P(c[tsc::kImm1]) == P(c[tsc::kSrc]);
     },
     "imm1",
     "imm1 must be a number or a [{P:src}, 1] column, but it is "
     "{value:imm1}",
     "", Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar_cumulative.unary_operand",
     "not op0 in ALU_ARITH_UN or imm0 == 0", "nki/api/nki/isa/__init__.py:1147",
     [](const Call& c) {
       const Value& v = c[tsc::kImm0];
       return !IsUnary(Alu(c[tsc::kOp0])) || (v.is_number() && v.number == 0);
     },
     "imm0",
     "op0={value:op0} is unary, as in tensor_scalar: imm0 must be 0, but it is "
     "{value:imm0}",
     "", Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar_cumulative.op0_generation",
     "not op0 in ALU_GEN4_OP0 or gen >= 4",
     "release-notes/components/nki.rst:228",
     [](const Call& c) {
       return !IsGen4Op0(Alu(c[tsc::kOp0])) || c.gen() >= 4;
     },
     "op0", "op0={value:op0} needs trn3, and this is {target}",
     "relu: op0=\"maximum\", imm0=0.0", Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar_cumulative.imm1_unused",
     "reduce_cmd == 'load_reduce' or is_none(imm1)",
     "nki/api/nki/isa/__init__.py:1330",
     [](const Call& c) {
       return Loads(c[tsc::kReduceCmd]) || c[tsc::kImm1].is_none();
     },
     "imm1",
     "imm1 is used by reduce_cmd=load_reduce only, and reduce_cmd is "
     "{value:reduce_cmd}",
     "leave imm1 out, or pass reduce_cmd=\"load_reduce\"", Layer::kLint,
     Evidence::kInferred},
};

constexpr OperationInfo kTensorScalarCumulative = {
    "tensor_scalar_cumulative",
    kTensorScalarCumulativeParameters,
    kTensorScalarCumulativeRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorScalarCumulative,
              {OperandOf(c[tsc::kDst]), OperandOf(c[tsc::kSrc]),
               OperandOf(c[tsc::kImm0]), OperandOf(c[tsc::kImm1])},
              {Int(c[tsc::kOp0].integer), Int(c[tsc::kOp1].integer),
               Int(c[tsc::kReduceCmd].integer)});
    },
    nullptr,
    "Running results: acc = (src op0 imm0) op1 acc, each to dst.",
    "fp32 in access order, each result cast to dst, the accumulator not. It "
    "starts from the identity of op1, imm1, or what is there (reduce_cmd), "
    "and keeps the last result. subtract is the new value minus the "
    "accumulator.",
    "nki/api/nki/isa/__init__.py:1254-1334"};

constexpr const OperationInfo* kOperations[] = {
    &kTensorScalarReduce, &kTensorScalarCumulative, &kTensorTensorScan,
    &kExponential};

}  // namespace

std::span<const OperationInfo* const> AccumulateOperations() {
  return kOperations;
}

}  // namespace trnemu::rows
