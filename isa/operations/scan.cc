// tensor_tensor_scan, exponential.
#include "isa/operations/accumulators.h"

namespace trnemu::rows {
namespace {

constexpr DtypeSet kFp32 = SetOf(Dtype::kFloat32);

namespace tts {
enum {
  kDst,
  kData0,
  kData1,
  kInitial,
  kOp0,
  kOp1,
  kReverse0,
  kReverse1,
  kName
};
}

constexpr ParameterSpec kScanParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data0"),
    In("data0", kOnChip, kAnyType, "[P, ...], combined with the state by op0"),
    In("data1", kOnChip, kAnyType, "[P, ...], as data0, combined by op1"),
    {"initial", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     kFp32, "[P, 1] float32 or a number: the state before the first element"},
    Attr("op0", ParameterKind::kAluOp, "a binary arithmetic operation"),
    Attr("op1", ParameterKind::kAluOp, "a binary arithmetic operation"),
    Opt("reverse0", ParameterKind::kBool, "False",
        "data0 becomes the right operand of op0"),
    Opt("reverse1", ParameterKind::kBool, "False",
        "data1 becomes the left operand of op1"),
    kNameParameter,
};

bool IsBinaryArithmetic(AluOp op) { return IsArithmetic(op) && !IsUnary(op); }

constexpr Rule kScanRules[] = {
    {"tensor_tensor_scan.ops", "op0 in ALU_ARITH_BIN and op1 in ALU_ARITH_BIN",
     "nki/api/nki/isa/__init__.py:2028",
     [](const Call& c) {
       return IsBinaryArithmetic(Alu(c[tts::kOp0])) &&
              IsBinaryArithmetic(Alu(c[tts::kOp1]));
     },
     "op0",
     "op0 and op1 must be binary arithmetic operations, but they are "
     "{value:op0} and {value:op1}"},
    {"tensor_tensor_scan.shape",
     "P(data0) == P(data1) and F(data0) == F(data1) and (P(dst) == P(data0)) "
     "and (F(dst) == F(data0))",
     "nki/api/nki/isa/__init__.py:2015",
     [](const Call& c) {
       return SameShape(c[tts::kData1], c[tts::kData0]) &&
              SameShape(c[tts::kDst], c[tts::kData0]);
     },
     "data1",
     "dst, data0 and data1 must have the same partitions and elements, but dst "
     "has {P:dst} partitions of {F:dst} elements, data0 {P:data0} of "
     "{F:data0}, data1 {P:data1} of {F:data1}"},
    {"tensor_tensor_scan.both_in_psum",
     "not (buf(data0) == 'psum' and buf(data1) == 'psum')",
     "nki/api/nki/isa/__init__.py:2020",
     [](const Call& c) {
       return Buf(c[tts::kData0]) != Space::kPsum ||
              Buf(c[tts::kData1]) != Space::kPsum;
     },
     "data1", "data0 and data1 cannot both be in PSUM",
     "copy one of them to SBUF with tensor_copy first"},
    {"tensor_tensor_scan.initial_shape",
     "not is_tile(initial) or (P(initial) == P(data0) and F(initial) == 1)",
     "nki/api/nki/isa/__init__.py:2018",
     [](const Call& c) { return IsColumnOf(c[tts::kInitial], c[tts::kData0]); },
     "initial",
     "initial must be a number or a [{P:data0}, 1] column, but it is "
     "{value:initial}"},
    {"tensor_tensor_scan.generation",
     "not (op0 in ('abs_max', 'abs_min') or op1 in ('abs_max', 'abs_min')) or "
     "gen >= 4",
     "nki/api/nki/language/__init__.py:846",
     [](const Call& c) {
       return c.gen() >= 4 ||
              (!NeedsTrn3(Alu(c[tts::kOp0])) && !NeedsTrn3(Alu(c[tts::kOp1])));
     },
     "op0",
     "op0={value:op0} or op1={value:op1} needs trn3, and this is {target}", "",
     Layer::kDevice, Evidence::kInferred},
};

namespace ex {
enum { kDst, kSrc, kMaxValue, kReduceRes, kReduceCmd, kReduceInit, kName };
}

constexpr DtypeSet kExpResTypes =
    SetOf(Dtype::kFloat8E4M3) | SetOf(Dtype::kFloat8E5M2) |
    SetOf(Dtype::kFloat16) | SetOf(Dtype::kBFloat16) | SetOf(Dtype::kFloat32) |
    SetOf(Dtype::kTFloat32);
constexpr DtypeSet kExpDstTypes =
    kExpResTypes | (kIntegerTypes & ~SetOf(Dtype::kUint32));
constexpr DtypeSet kExpSrcTypes =
    (kExpResTypes & ~SetOf(Dtype::kTFloat32)) | kIntegerTypes;

constexpr ParameterSpec kExponentialParameters[] = {
    Out("dst", kOnChip, kExpDstTypes, "as many elements as src"),
    In("src", kOnChip, kExpSrcTypes, "[P, ...], at most 4 dimensions"),
    {"max_value", ParameterKind::kTileOrNumber, false, "0.0", Role::kIn,
     kOnChip, kFp32, "[P, 1] float32 or a number, subtracted first"},
    {"reduce_res", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     kExpResTypes, "[P, 1]: reads the accumulators afterwards"},
    Opt("reduce_cmd", ParameterKind::kReduceCmd, "idle",
        "idle, reset_reduce, reduce or load_reduce: where the sum starts; idle "
        "leaves the accumulators unknown"),
    {"reduce_init", ParameterKind::kTileOrNumber, false, "0.0", Role::kIn,
     kOnChip, kFp32, "[P, 1] float32 or a number, for load_reduce"},
    kNameParameter,
};

int Rank(const Value& v) { return v.access.rank + 1; }

constexpr Rule kExponentialRules[] = {
    {"exponential.generation", "gen >= 4", "nki/api/nki/isa/__init__.py:2287",
     [](const Call& c) { return c.gen() >= 4; }, "src",
     "exponential needs trn3, and this is {target}",
     "use activation(op=\"exp\", bias=) on the scalar engine"},
    {"exponential.shape", "P(dst) == P(src) and F(dst) == F(src)",
     "nki/api/nki/isa/__init__.py:2311",
     [](const Call& c) { return SameShape(c[ex::kDst], c[ex::kSrc]); }, "dst",
     "dst must match src, but dst has {P:dst} partitions of {F:dst} elements "
     "and src {P:src} of {F:src}"},
    {"exponential.rank", "rank(src) <= 4 and rank(dst) <= 4",
     "nki/api/nki/isa/__init__.py:2313",
     [](const Call& c) {
       return Rank(c[ex::kSrc]) <= 4 && Rank(c[ex::kDst]) <= 4;
     },
     "src",
     "src and dst may have 4 dimensions at most, partitions included, but they "
     "are {shape:src} and {shape:dst}",
     "merge free dimensions with reshape, or use two instructions"},
    {"exponential.reduce_init",
     "not reduce_cmd != 'load_reduce' or (is_imm(reduce_init) and reduce_init "
     "== 0.0)",
     "nki/api/nki/isa/__init__.py:2314",
     [](const Call& c) {
       const Value& v = c[ex::kReduceInit];
       return c[ex::kReduceCmd].as<ReduceCmd>() == ReduceCmd::kLoadReduce ||
              (v.is_number() && v.number == 0);
     },
     "reduce_init",
     "reduce_init must be 0 unless reduce_cmd is load_reduce, but it is "
     "{value:reduce_init} and reduce_cmd {value:reduce_cmd}"},
    {"exponential.reduce_cmd",
     "reduce_cmd in ('idle', 'reset_reduce', 'reduce', 'load_reduce')",
     "nki/api/nki/isa/__init__.py:2344",
     [](const Call& c) {
       return c[ex::kReduceCmd].as<ReduceCmd>() != ReduceCmd::kReset;
     },
     "reduce_cmd",
     "reduce_cmd must be idle, reset_reduce, reduce or load_reduce, but it is "
     "{value:reduce_cmd}"},
    {"exponential.max_value",
     "not is_tile(max_value) or (P(max_value) == P(src) and F(max_value) == 1 "
     "and (dt(max_value) == 'float32'))",
     "nki/api/nki/isa/__init__.py:2337",
     [](const Call& c) { return IsColumnOf(c[ex::kMaxValue], c[ex::kSrc]); },
     "max_value",
     "max_value must be a number or a [{P:src}, 1] column, but it is "
     "{value:max_value}"},
    {"exponential.reduce_init_shape",
     "not is_tile(reduce_init) or (P(reduce_init) == P(src) and F(reduce_init) "
     "== 1)",
     "nki/api/nki/isa/__init__.py:2345",
     [](const Call& c) { return IsColumnOf(c[ex::kReduceInit], c[ex::kSrc]); },
     "reduce_init",
     "reduce_init must be a number or a [{P:src}, 1] column, but it is "
     "{value:reduce_init}",
     "", Layer::kDevice, Evidence::kInferred},
    {"exponential.reduce_res_shape",
     "not not is_none(reduce_res) or (P(reduce_res) == P(src) and "
     "F(reduce_res) == 1)",
     "nki/api/nki/isa/__init__.py:2338",
     [](const Call& c) { return IsColumnOf(c[ex::kReduceRes], c[ex::kSrc]); },
     "reduce_res",
     "reduce_res must be a [{P:src}, 1] column, but it is {shape:reduce_res}"},
};

}  // namespace

const OperationInfo kTensorTensorScan = {
    "tensor_tensor_scan",
    kScanParameters,
    kScanRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorTensorScan,
              {OperandOf(c[tts::kDst]), OperandOf(c[tts::kData0]),
               OperandOf(c[tts::kData1]), OperandOf(c[tts::kInitial])},
              {Int(c[tts::kOp0].integer), Int(c[tts::kReverse0].integer),
               Int(c[tts::kOp1].integer), Int(c[tts::kReverse1].integer)});
    },
    nullptr,
    "state = (data0 op0 state) op1 data1, each to dst.",
    "fp32 in access order, over all free dimensions; each state is cast to "
    "dst, and the next element takes the one before the cast.",
    "nki/api/nki/isa/__init__.py:1997-2050"};

const OperationInfo kExponential = {
    "exponential",
    kExponentialParameters,
    kExponentialRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kExponential,
              {OperandOf(c[ex::kDst]), OperandOf(c[ex::kSrc]),
               OperandOf(c[ex::kMaxValue]), OperandOf(c[ex::kReduceInit])},
              {Int(c[ex::kReduceCmd].integer)});
      EmitVectorReadOut(c, e, c[ex::kReduceRes], false);
    },
    [](const Expansion& e, Call& c) {
      return LiftWithReadOut(e, Opcode::kExponential,
                             Opcode::kReadVectorAccumulator, ex::kReduceRes, c);
    },
    "dst = exp(src - max_value) on the vector engine of trn3, and its sum.",
    "fp32: the difference rounded, exp within 1 ulp, one cast to dst. With "
    "reduce_cmd, the vector engine's accumulators add the values before the "
    "cast, one after the other in access order; reduce_res reads them. idle "
    "leaves them unknown.",
    "nki/api/nki/isa/__init__.py:2283-2386"};

}  // namespace trnemu::rows
