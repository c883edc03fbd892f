// tensor_tensor, tensor_scalar, scalar_tensor_tensor.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

bool InPsum(const Value& v) { return v.is_tile() && Buf(v) == Space::kPsum; }
bool Gen4Op0(AluOp op) {
  return op == AluOp::kAbsMax || op == AluOp::kAbsMin || op == AluOp::kSquare ||
         op == AluOp::kRelu;
}
bool IsColumn(const Value& v, const Value& data) {
  return !v.is_tile() || (P(v) == P(data) && F(v) == 1);
}

namespace tt {
enum { kDst, kData1, kData2, kOp, kEngine, kName };
}

constexpr ParameterSpec kTensorTensorParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data1"),
    In("data1", kOnChip, kAnyType, "[P, ...], the left operand"),
    In("data2", kOnChip, kAnyType, "[P, ...], the right operand"),
    Attr("op", ParameterKind::kAluOp, "a binary operation"),
    kEngineParameter,
    kNameParameter};

bool Is32BitInteger(const Value& v) {
  return Dt(v) == Dtype::kInt32 || Dt(v) == Dtype::kUint32;
}

Engine TensorTensorEngine(const Call& c, Engine requested) {
  if (requested != Engine::kUnknown) return requested;
  const AluOp op = Alu(c[tt::kOp]);
  if (op == AluOp::kPower) return Engine::kGpsimd;
  if (IsBitvec(op)) return Engine::kVector;
  for (int i : {tt::kDst, tt::kData1, tt::kData2}) {
    if (!Is32BitInteger(c[i]) || InPsum(c[i])) return Engine::kVector;
  }
  return Engine::kGpsimd;
}

constexpr Rule kTensorTensorRules[] = {
    {"tensor_tensor.engine", "engine in ('vector', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:1035",
     [](const Call& c) {
       return c.engine == Engine::kVector || c.engine == Engine::kGpsimd;
     },
     "engine",
     "tensor_tensor runs on the vector or the gpsimd engine, not on "
     "{engine}"},
    {"tensor_tensor.partitions", "P(data1) == P(data2) and P(dst) == P(data1)",
     "nki/api/nki/isa/__init__.py:1021",
     [](const Call& c) {
       return P(c[tt::kData1]) == P(c[tt::kData2]) &&
              P(c[tt::kDst]) == P(c[tt::kData1]);
     },
     "data2",
     "dst, data1 and data2 must have the same number of partitions, but they "
     "have {P:dst}, {P:data1} and {P:data2}"},
    {"tensor_tensor.free_size", "F(data1) == F(data2) and F(dst) == F(data1)",
     "nki/api/nki/isa/__init__.py:1021",
     [](const Call& c) {
       return F(c[tt::kData1]) == F(c[tt::kData2]) &&
              F(c[tt::kDst]) == F(c[tt::kData1]);
     },
     "data2",
     "dst, data1 and data2 must have the same number of elements per "
     "partition, but they have {F:dst}, {F:data1} and {F:data2}",
     "for a column operand use tensor_scalar, or .broadcast() its size-1 "
     "dimension"},
    {"tensor_tensor.op", "op in ALU_ARITH_BIN or op in ALU_BITVEC_BIN",
     "nki/api/nki/isa/__init__.py:1025",
     [](const Call& c) {
       const AluOp op = Alu(c[tt::kOp]);
       return IsValid(op) && !IsUnary(op);
     },
     "op", "op must be a binary operation, but it is {value:op}",
     "use tensor_scalar for unary operations"},
    {"tensor_tensor.both_in_psum",
     "not (buf(data1) == 'psum' and buf(data2) == 'psum')",
     "nki/api/nki/isa/__init__.py:1043",
     [](const Call& c) {
       return !(InPsum(c[tt::kData1]) && InPsum(c[tt::kData2]));
     },
     "data2", "data1 and data2 cannot both be in PSUM",
     "copy one of them to SBUF with tensor_copy first"},
    {"tensor_tensor.bitvec",
     "not op in ALU_BITVEC or (dt(data1) in INT and dt(data2) in INT and "
     "(dt(dst) in INT) and (engine == 'vector'))",
     "nki/api/nki/isa/__init__.py:1028",
     [](const Call& c) {
       return !IsBitvec(Alu(c[tt::kOp])) ||
              (IsInteger(Dt(c[tt::kData1])) && IsInteger(Dt(c[tt::kData2])) &&
               IsInteger(Dt(c[tt::kDst])) && c.engine == Engine::kVector);
     },
     "op",
     "bitwise operations need integer tiles and the vector engine, but dst is "
     "{dt:dst}, data1 {dt:data1}, data2 {dt:data2}, on {engine}"},
    {"tensor_tensor.power_engine", "not op == 'power' or engine == 'gpsimd'",
     "nki/api/nki/isa/__init__.py:1026",
     [](const Call& c) {
       return Alu(c[tt::kOp]) != AluOp::kPower || c.engine == Engine::kGpsimd;
     },
     "engine", "power runs on the gpsimd engine only, not on {engine}",
     "leave engine out, or pass engine=\"gpsimd\""},
    {"tensor_tensor.gpsimd_psum",
     "not engine == 'gpsimd' or (buf(dst) == 'sbuf' and buf(data1) == 'sbuf' "
     "and (buf(data2) == 'sbuf'))",
     "nki/api/nki/isa/__init__.py:1038",
     [](const Call& c) {
       return c.engine != Engine::kGpsimd ||
              !(InPsum(c[tt::kDst]) || InPsum(c[tt::kData1]) ||
                InPsum(c[tt::kData2]));
     },
     "dst",
     "the gpsimd engine cannot access PSUM, but dst is in {buf:dst}, data1 in "
     "{buf:data1}, data2 in {buf:data2}",
     "use engine=\"vector\", or copy the PSUM operand to SBUF first"},
    {"tensor_tensor.abs_max_generation",
     "not op in ('abs_max', 'abs_min') or gen >= 4",
     "nki/api/nki/language/__init__.py:846",
     [](const Call& c) {
       const AluOp op = Alu(c[tt::kOp]);
       return (op != AluOp::kAbsMax && op != AluOp::kAbsMin) || c.gen() >= 4;
     },
     "op", "{value:op} needs trn3, and this is {target}"},
};

namespace ts {
enum {
  kDst,
  kData,
  kOp0,
  kOperand0,
  kReverse0,
  kOp1,
  kOperand1,
  kReverse1,
  kEngine,
  kName
};
}

constexpr DtypeSet kOperandTypes = kIntegerTypes | kFloatTypes;

constexpr ParameterSpec kTensorScalarParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    Attr("op0", ParameterKind::kAluOp, "the first operation"),
    {"operand0", ParameterKind::kTileOrNumber, false, "None", Role::kIn,
     kOnChip, kOperandTypes,
     "[P, 1] float32 or a number; None or 0 when op0 is unary"},
    Opt("reverse0", ParameterKind::kBool, "False",
        "operand0 becomes the left operand"),
    Opt("op1", ParameterKind::kAluOp, "None", "the second operation"),
    {"operand1", ParameterKind::kTileOrNumber, false, "None", Role::kIn,
     kOnChip, kOperandTypes, "[P, 1] float32 or a number"},
    Opt("reverse1", ParameterKind::kBool, "False",
        "operand1 becomes the left operand"),
    kEngineParameter,
    kNameParameter,
};

Engine TensorScalarEngine(const Call& c, Engine requested) {
  if (requested != Engine::kUnknown) return requested;
  const bool psum = InPsum(c[ts::kDst]) || InPsum(c[ts::kData]) ||
                    InPsum(c[ts::kOperand0]) || InPsum(c[ts::kOperand1]);
  return Alu(c[ts::kOp0]) == AluOp::kRsqrt && !psum ? Engine::kGpsimd
                                                    : Engine::kVector;
}

bool OperandIsFloat(const Call& c, int parameter) {
  return !c[parameter].is_tile() || Dt(c[parameter]) == Dtype::kFloat32;
}
// Bitwise operands: an integer tile or an integer that fits 32 bits.
bool OperandIsInteger(const Value& v) {
  if (v.is_tile()) return IsInteger(Dt(v));
  return !v.is_number() ||
         (v.number == static_cast<double>(static_cast<int64_t>(v.number)) &&
          v.number >= -0x1p31 && v.number < 0x1p32);
}
bool NoneOrZero(const Value& v) {
  return v.is_none() || (v.is_number() && v.number == 0);
}
bool ScalarEnginePair(const Call& c) {
  const AluOp op0 = Alu(c[ts::kOp0]);
  const AluOp op1 = Alu(c[ts::kOp1]);
  return (op0 == AluOp::kMultiply &&
          (op1 == AluOp::kAdd || op1 == AluOp::kNone)) ||
         (op0 == AluOp::kAdd && op1 == AluOp::kNone);
}

constexpr Rule kTensorScalarRules[] = {
    {"tensor_scalar.engine", "engine in ('vector', 'scalar', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:1157",
     [](const Call& c) {
       return c.engine == Engine::kVector || c.engine == Engine::kScalar ||
              c.engine == Engine::kGpsimd;
     },
     "engine",
     "tensor_scalar runs on the vector, scalar or gpsimd engine, not "
     "on {engine}"},
    {"tensor_scalar.shape", "P(dst) == P(data) and F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:1143",
     [](const Call& c) {
       return P(c[ts::kDst]) == P(c[ts::kData]) &&
              F(c[ts::kDst]) == F(c[ts::kData]);
     },
     "dst",
     "dst must match data, but dst has {P:dst} partitions of {F:dst} elements "
     "and data {P:data} of {F:data}"},
    {"tensor_scalar.operand1_missing",
     "(not op1 is None or is_none(operand1)) and (not is_none(operand1) or "
     "(op1 is None or op1 in ALU_ARITH_UN))",
     "nki/api/nki/isa/__init__.py:1089",
     [](const Call& c) {
       const AluOp op1 = Alu(c[ts::kOp1]);
       const bool none = c[ts::kOperand1].is_none();
       if (op1 == AluOp::kNone) return none;
       return !none || (IsUnary(op1) && IsArithmetic(op1));
     },
     "operand1",
     "op1 and operand1 go together: op1 is {value:op1}, operand1 "
     "{value:operand1}"},
    {"tensor_scalar.operand0_missing",
     "not is_none(operand0) or op0 in ALU_ARITH_UN or op0 == 'invert'",
     "nki/api/nki/isa/__init__.py:1147",
     [](const Call& c) {
       return !c[ts::kOperand0].is_none() || IsUnary(Alu(c[ts::kOp0]));
     },
     "operand0", "op0={value:op0} needs operand0", "", Layer::kDevice,
     Evidence::kInferred},
    {"tensor_scalar.mixed_kinds",
     "not op1 is not None or (op0 in ALU_BITVEC) == (op1 in ALU_BITVEC)",
     "nki/api/nki/isa/__init__.py:1100",
     [](const Call& c) {
       const AluOp op1 = Alu(c[ts::kOp1]);
       return op1 == AluOp::kNone ||
              IsBitvec(Alu(c[ts::kOp0])) == IsBitvec(op1);
     },
     "op1",
     "op0 and op1 must both be arithmetic or both bitwise, but they are "
     "{value:op0} and {value:op1}"},
    {"tensor_scalar.bitvec_engine",
     "not op0 in ALU_BITVEC or engine == 'vector'",
     "nki/api/nki/isa/__init__.py:1102",
     [](const Call& c) {
       return !IsBitvec(Alu(c[ts::kOp0])) || c.engine == Engine::kVector;
     },
     "engine", "bitwise operations run on the vector engine, not on {engine}"},
    {"tensor_scalar.bitvec_dtype",
     "not op0 in ALU_BITVEC or (dt(data) in INT and dt(dst) in INT)",
     "nki/api/nki/isa/__init__.py:1103",
     [](const Call& c) {
       return !IsBitvec(Alu(c[ts::kOp0])) ||
              (IsInteger(Dt(c[ts::kData])) && IsInteger(Dt(c[ts::kDst])));
     },
     "data",
     "bitwise operations need integer tiles, but data is {dt:data} and dst "
     "{dt:dst}"},
    {"tensor_scalar.bitvec_operand",
     "not op0 in ALU_BITVEC or integer operands",
     "nki/api/nki/isa/__init__.py:1114",
     [](const Call& c) {
       return !IsBitvec(Alu(c[ts::kOp0])) ||
              (OperandIsInteger(c[ts::kOperand0]) &&
               OperandIsInteger(c[ts::kOperand1]));
     },
     "operand0",
     "bitwise operations need integer operands of at most 32 bits, but "
     "operand0 is {value:operand0} and operand1 {value:operand1}",
     "", Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar.operand_dtype",
     "(not (op0 in ALU_ARITH and is_tile(operand0)) or dt(operand0) == "
     "'float32') and (not (op0 in ALU_ARITH and is_tile(operand1)) or "
     "dt(operand1) == 'float32')",
     "nki/api/nki/isa/__init__.py:1114",
     [](const Call& c) {
       return !IsArithmetic(Alu(c[ts::kOp0])) ||
              (OperandIsFloat(c, ts::kOperand0) &&
               OperandIsFloat(c, ts::kOperand1));
     },
     "operand0",
     "operand tiles of arithmetic operations must be float32, but operand0 is "
     "{value:operand0} and operand1 {value:operand1}",
     "tensor_copy the operand to a float32 column first"},
    {"tensor_scalar.operand_shape",
     "(not is_tile(operand0) or (P(operand0) == P(data) and F(operand0) == 1)) "
     "and (not is_tile(operand1) or (P(operand1) == P(data) and F(operand1) == "
     "1))",
     "nki/api/nki/isa/__init__.py:1086",
     [](const Call& c) {
       return IsColumn(c[ts::kOperand0], c[ts::kData]) &&
              IsColumn(c[ts::kOperand1], c[ts::kData]);
     },
     "operand0",
     "operand tiles must be [{P:data}, 1] columns, but operand0 is "
     "{value:operand0} and operand1 {value:operand1}",
     "use tensor_tensor or scalar_tensor_tensor for a full tile"},
    {"tensor_scalar.unary_operand",
     "not op0 in ALU_ARITH_UN or (is_none(operand0) or operand0 == 0)",
     "nki/api/nki/isa/__init__.py:1147",
     [](const Call& c) {
       const AluOp op = Alu(c[ts::kOp0]);
       return !IsUnary(op) || IsBitvec(op) || NoneOrZero(c[ts::kOperand0]);
     },
     "operand0",
     "op0={value:op0} is unary: operand0 must be None or 0, but it is "
     "{value:operand0}"},
    {"tensor_scalar.invert_operand",
     "not op0 == 'invert' or (is_none(operand0) or operand0 == 0)",
     "nki/api/nki/isa/__init__.py:1147",
     [](const Call& c) {
       return Alu(c[ts::kOp0]) != AluOp::kInvert ||
              NoneOrZero(c[ts::kOperand0]);
     },
     "operand0",
     "op0=invert is unary: operand0 must be None or 0, but it is "
     "{value:operand0}",
     "", Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar.scalar_engine_pairs",
     "not (gen == 3 and engine == 'scalar') or (op0, op1) in (('multiply', "
     "'add'), ('multiply', None), ('add', None))",
     "nki/api/nki/isa/__init__.py:1107",
     [](const Call& c) {
       return !(c.gen() == 3 && c.engine == Engine::kScalar) ||
              ScalarEnginePair(c);
     },
     "op0",
     "on {target} the scalar engine does multiply-add, multiply and add only, "
     "not {value:op0} and {value:op1}",
     "use engine=\"vector\""},
    {"tensor_scalar.scalar_engine_generation",
     "not (gen == 2 and engine == "
     "'scalar')",
     "nki/guides/architecture/trainium3_arch.rst:218",
     [](const Call& c) {
       return !(c.gen() == 2 && c.engine == Engine::kScalar);
     },
     "engine", "the scalar engine has no tensor_scalar on {target}",
     "use activation(op=\"copy\", scale=, bias=), or engine=\"vector\"",
     Layer::kDevice, Evidence::kInferred},
    {"tensor_scalar.gpsimd_op", "not engine_attr == 'gpsimd' or op0 == 'rsqrt'",
     "nki/api/nki/isa/__init__.py:1157",
     [](const Call& c) {
       return c.engine != Engine::kGpsimd || Alu(c[ts::kOp0]) == AluOp::kRsqrt;
     },
     "engine",
     "the gpsimd engine's tensor_scalar takes op0=rsqrt only, not "
     "{value:op0}",
     "use engine=\"vector\""},
    {"tensor_scalar.gpsimd_psum",
     "not engine == 'gpsimd' or all((buf(x) == 'sbuf' for x in (dst, data, "
     "operand0, operand1) if is_tile(x)))",
     "nki/api/nki/isa/__init__.py:1038",
     [](const Call& c) {
       return c.engine != Engine::kGpsimd ||
              !(InPsum(c[ts::kDst]) || InPsum(c[ts::kData]) ||
                InPsum(c[ts::kOperand0]) || InPsum(c[ts::kOperand1]));
     },
     "data", "the gpsimd engine cannot access PSUM",
     "use engine=\"vector\", or copy the PSUM operand to SBUF first"},
    {"tensor_scalar.op0_generation", "not op0 in ALU_GEN4_OP0 or gen >= 4",
     "release-notes/components/nki.rst:228",
     [](const Call& c) { return !Gen4Op0(Alu(c[ts::kOp0])) || c.gen() >= 4; },
     "op0", "op0={value:op0} needs trn3, and this is {target}",
     "square: activation(op=\"square\"); relu: op0=\"maximum\", operand0=0.0"},
    {"tensor_scalar.op1_generation",
     "not op1 in ('abs_max', 'abs_min') or gen >= 4",
     "nki/api/nki/language/__init__.py:846",
     [](const Call& c) {
       const AluOp op = Alu(c[ts::kOp1]);
       return (op != AluOp::kAbsMax && op != AluOp::kAbsMin) || c.gen() >= 4;
     },
     "op1", "op1={value:op1} needs trn3, and this is {target}"},
};

namespace stt {
enum {
  kDst,
  kData,
  kOp0,
  kOperand0,
  kOp1,
  kOperand1,
  kReverse0,
  kReverse1,
  kName
};
}

constexpr ParameterSpec kScalarTensorTensorParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    Attr("op0", ParameterKind::kAluOp, "the first operation, arithmetic"),
    {"operand0", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     kAnyType, "[P, 1] or a number"},
    Attr("op1", ParameterKind::kAluOp, "the second operation, arithmetic"),
    In("operand1", kOnChip, kAnyType, "[P, ...], as data"),
    Opt("reverse0", ParameterKind::kBool, "False",
        "operand0 becomes the left operand"),
    Opt("reverse1", ParameterKind::kBool, "False",
        "operand1 becomes the left operand"),
    kNameParameter,
};

constexpr Rule kScalarTensorTensorRules[] = {
    {"scalar_tensor_tensor.ops", "op0 in ALU_ARITH and op1 in ALU_ARITH_BIN",
     "nki/api/nki/isa/__init__.py:2472",
     [](const Call& c) {
       const AluOp op1 = Alu(c[stt::kOp1]);
       return IsArithmetic(Alu(c[stt::kOp0])) && IsArithmetic(op1) &&
              !IsUnary(op1);
     },
     "op0",
     "op0 must be arithmetic and op1 a binary arithmetic operation, but they "
     "are {value:op0} and {value:op1}"},
    {"scalar_tensor_tensor.both_in_psum",
     "not (buf(data) == 'psum' and buf(operand1) == 'psum')",
     "nki/api/nki/isa/__init__.py:2480",
     [](const Call& c) {
       return !(InPsum(c[stt::kData]) && InPsum(c[stt::kOperand1]));
     },
     "operand1", "data and operand1 cannot both be in PSUM",
     "copy one of them to SBUF with tensor_copy first"},
    {"scalar_tensor_tensor.partitions",
     "P(data) == P(operand1) and P(dst) == P(data) and (P(data) <= 128)",
     "nki/api/nki/isa/__init__.py:2495",
     [](const Call& c) {
       return P(c[stt::kData]) == P(c[stt::kOperand1]) &&
              P(c[stt::kDst]) == P(c[stt::kData]);
     },
     "operand1",
     "dst, data and operand1 must have the same number of partitions, but they "
     "have {P:dst}, {P:data} and {P:operand1}"},
    {"scalar_tensor_tensor.free_size",
     "F(data) == F(operand1) and F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:2496",
     [](const Call& c) {
       return F(c[stt::kData]) == F(c[stt::kOperand1]) &&
              F(c[stt::kDst]) == F(c[stt::kData]);
     },
     "operand1",
     "dst, data and operand1 must have the same number of elements per "
     "partition, but they have {F:dst}, {F:data} and {F:operand1}"},
    {"scalar_tensor_tensor.operand0_shape",
     "not is_tile(operand0) or (P(operand0) == P(data) and F(operand0) == 1)",
     "nki/api/nki/isa/__init__.py:2500",
     [](const Call& c) { return IsColumn(c[stt::kOperand0], c[stt::kData]); },
     "operand0",
     "operand0 must be a number or a [{P:data}, 1] column, but it is "
     "{value:operand0}"},
    {"scalar_tensor_tensor.generation",
     "not (op0 in ALU_GEN4_OP0 or op1 in ('abs_max', 'abs_min')) or gen >= 4",
     "release-notes/components/nki.rst:228",
     [](const Call& c) {
       return c.gen() >= 4 ||
              (!Gen4Op0(Alu(c[stt::kOp0])) && !Gen4Op0(Alu(c[stt::kOp1])));
     },
     "op0",
     "op0={value:op0} or op1={value:op1} needs trn3, and this is {target}", "",
     Layer::kDevice, Evidence::kInferred},
};

}  // namespace

const OperationInfo kTensorTensor = {
    "tensor_tensor",
    kTensorTensorParameters,
    kTensorTensorRules,
    TensorTensorEngine,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorTensor,
              {OperandOf(c[tt::kDst]), OperandOf(c[tt::kData1]),
               OperandOf(c[tt::kData2])},
              {Int(c[tt::kOp].integer)});
    },
    nullptr,
    "dst = data1 op data2, element by element.",
    "Vector engine: fp32 arithmetic whatever the dtypes, one cast to dst. "
    "Gpsimd with int32/uint32 tiles: exact 32-bit integers that wrap. Bitwise "
    "operations: raw bits.",
    "nki/api/nki/isa/__init__.py:1019-1079"};

const OperationInfo kTensorScalar = {
    "tensor_scalar",
    kTensorScalarParameters,
    kTensorScalarRules,
    TensorScalarEngine,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorScalar,
              {OperandOf(c[ts::kDst]), OperandOf(c[ts::kData]),
               OperandOf(c[ts::kOperand0]), OperandOf(c[ts::kOperand1])},
              {AttributeOf(Alu(c[ts::kOp0])), Int(c[ts::kReverse0].integer),
               AttributeOf(Alu(c[ts::kOp1])), Int(c[ts::kReverse1].integer)});
    },
    nullptr,
    "dst = (data op0 operand0) op1 operand1.",
    "Operands are numbers or one value a partition. Each operation rounds to "
    "fp32; bitwise operations work on raw bits.",
    "nki/api/nki/isa/__init__.py:1081-1159"};

const OperationInfo kScalarTensorTensor = {
    "scalar_tensor_tensor",
    kScalarTensorTensorParameters,
    kScalarTensorTensorRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kScalarTensorTensor,
              {OperandOf(c[stt::kDst]), OperandOf(c[stt::kData]),
               OperandOf(c[stt::kOperand0]), OperandOf(c[stt::kOperand1])},
              {AttributeOf(Alu(c[stt::kOp0])), Int(c[stt::kReverse0].integer),
               AttributeOf(Alu(c[stt::kOp1])), Int(c[stt::kReverse1].integer)});
    },
    nullptr,
    "dst = (data op0 operand0) op1 operand1, with operand1 a tile.",
    "fp32 arithmetic on the vector engine, one cast to dst.",
    "nki/api/nki/isa/__init__.py:2457-2513"};

}  // namespace trnemu::rows
