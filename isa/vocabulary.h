// The closed vocabularies of the instruction set: engines, ALU operations,
// activation functions and the modes that instructions take.
//
// Numbers are those of program.proto. Names are what users write. Sources:
// nki/api/nki.api.shared.rst:76-204, nki/api/nki/isa/__init__.py:26-136.
#ifndef TRNEMU_ISA_VOCABULARY_H_
#define TRNEMU_ISA_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace trnemu {

enum class Engine : uint8_t {
  kUnknown = 0,
  kTensor = 1,
  kScalar = 2,
  kGpsimd = 3,
  kDma = 4,
  kVector = 5,
  kSync = 6,
};
inline constexpr std::array<std::string_view, 7> kEngineNames = {
    "unknown", "tensor", "scalar", "gpsimd", "dma", "vector", "sync"};
// The engines that have an instruction stream, in the order reports use.
inline constexpr std::array<Engine, 5> kSequencers = {
    Engine::kTensor, Engine::kVector, Engine::kScalar, Engine::kGpsimd,
    Engine::kSync};

// Memory spaces an operand can lie in.
enum class Space : uint8_t { kInvalid = 0, kHbm = 1, kSbuf = 2, kPsum = 3 };
inline constexpr std::array<std::string_view, 4> kSpaceNames = {
    "invalid", "hbm", "sbuf", "psum"};

enum class AluOp : uint8_t {
  kNone = 0,
  kInvert = 1,
  kBitwiseAnd = 2,
  kBitwiseOr = 3,
  kBitwiseXor = 4,
  kLeftShift = 5,
  kRightShift = 6,
  kAdd = 7,
  kSubtract = 8,
  kMultiply = 9,
  kMaximum = 10,
  kMinimum = 11,
  kEqual = 12,
  kNotEqual = 13,
  kGreaterEqual = 14,
  kGreater = 15,
  kLessEqual = 16,
  kLess = 17,
  kLogicalAnd = 18,
  kLogicalOr = 19,
  kLogicalXor = 20,
  kPower = 21,
  kAbsMax = 22,
  kAbsMin = 23,
  kAbs = 24,
  kSquare = 25,
  kRelu = 26,
  kRsqrt = 27,
  kReciprocal = 28,
};

enum class AluClass : uint8_t { kBitvec, kArithmetic };

struct AluInfo {
  AluOp op;
  std::string_view name;
  AluClass kind;
  uint8_t arity;
  bool reduces;     // legal as a reduction
  uint8_t min_gen;  // first generation that has it at all
  std::string_view source;
};

inline constexpr std::string_view kShared = "nki/api/nki.api.shared.rst:76-134";
inline constexpr std::array<AluInfo, 28> kAluOps = {{
    {AluOp::kInvert, "invert", AluClass::kBitvec, 1, false, 2, kShared},
    {AluOp::kBitwiseAnd, "bitwise_and", AluClass::kBitvec, 2, true, 2, kShared},
    {AluOp::kBitwiseOr, "bitwise_or", AluClass::kBitvec, 2, true, 2, kShared},
    {AluOp::kBitwiseXor, "bitwise_xor", AluClass::kBitvec, 2, true, 2, kShared},
    {AluOp::kLeftShift, "left_shift", AluClass::kBitvec, 2, false, 2, kShared},
    {AluOp::kRightShift, "right_shift", AluClass::kBitvec, 2, false, 2,
     kShared},
    {AluOp::kAdd, "add", AluClass::kArithmetic, 2, true, 2, kShared},
    {AluOp::kSubtract, "subtract", AluClass::kArithmetic, 2, true, 2, kShared},
    {AluOp::kMultiply, "multiply", AluClass::kArithmetic, 2, true, 2, kShared},
    {AluOp::kMaximum, "maximum", AluClass::kArithmetic, 2, true, 2, kShared},
    {AluOp::kMinimum, "minimum", AluClass::kArithmetic, 2, true, 2, kShared},
    {AluOp::kEqual, "equal", AluClass::kArithmetic, 2, false, 2, kShared},
    {AluOp::kNotEqual, "not_equal", AluClass::kArithmetic, 2, false, 2,
     kShared},
    {AluOp::kGreaterEqual, "greater_equal", AluClass::kArithmetic, 2, false, 2,
     kShared},
    {AluOp::kGreater, "greater", AluClass::kArithmetic, 2, false, 2, kShared},
    {AluOp::kLessEqual, "less_equal", AluClass::kArithmetic, 2, false, 2,
     kShared},
    {AluOp::kLess, "less", AluClass::kArithmetic, 2, false, 2, kShared},
    {AluOp::kLogicalAnd, "logical_and", AluClass::kArithmetic, 2, true, 2,
     kShared},
    {AluOp::kLogicalOr, "logical_or", AluClass::kArithmetic, 2, true, 2,
     kShared},
    {AluOp::kLogicalXor, "logical_xor", AluClass::kArithmetic, 2, true, 2,
     kShared},
    {AluOp::kPower, "power", AluClass::kArithmetic, 2, false, 2, kShared},
    {AluOp::kAbsMax, "abs_max", AluClass::kArithmetic, 2, false, 4, kShared},
    {AluOp::kAbsMin, "abs_min", AluClass::kArithmetic, 2, false, 4, kShared},
    {AluOp::kAbs, "abs", AluClass::kArithmetic, 1, false, 2, kShared},
    {AluOp::kSquare, "square", AluClass::kArithmetic, 1, false, 2, kShared},
    {AluOp::kRelu, "relu", AluClass::kArithmetic, 1, false, 2, kShared},
    {AluOp::kRsqrt, "rsqrt", AluClass::kArithmetic, 1, false, 2, kShared},
    {AluOp::kReciprocal, "reciprocal", AluClass::kArithmetic, 1, false, 2,
     kShared},
}};

constexpr bool IsValid(AluOp op) {
  return op > AluOp::kNone && op <= AluOp::kReciprocal;
}
constexpr const AluInfo& Info(AluOp op) {
  return kAluOps[static_cast<size_t>(op) - 1];
}
constexpr bool IsBitvec(AluOp op) {
  return IsValid(op) && Info(op).kind == AluClass::kBitvec;
}
constexpr bool IsUnary(AluOp op) { return IsValid(op) && Info(op).arity == 1; }
constexpr bool IsArithmetic(AluOp op) {
  return IsValid(op) && Info(op).kind == AluClass::kArithmetic;
}
constexpr bool IsCompare(AluOp op) {
  return op >= AluOp::kEqual && op <= AluOp::kLess;
}

enum class ActFunction : uint8_t {
  kInvalid = 0,
  kCopy = 1,
  kSquare = 2,
  kSigmoid = 3,
  kRelu = 4,
  kPrelu = 5,
  kGelu = 6,
  kGeluDx = 7,
  kGeluApprxTanh = 8,
  kGeluApprxSigmoid = 9,
  kGeluApprxSigmoidDx = 10,
  kSilu = 11,
  kSiluDx = 12,
  kTanh = 13,
  kSoftplus = 14,
  kMish = 15,
  kErf = 16,
  kErfDx = 17,
  kExp = 18,
  kLog = 19,
  kSin = 20,
  kArctan = 21,
  kSqrt = 22,
  kRsqrt = 23,
  kReciprocal = 24,
  kSign = 25,
  kAbs = 26,
};

struct ActInfo {
  ActFunction function;
  std::string_view name;
  // The documented valid inputs: |x| or x in [low, high]; 0 is inside for
  // sqrt. Outside, the result is unspecified. `magnitude` says that the range
  // is of |x| (reciprocal).
  double low, high;
  bool magnitude;
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr std::array<ActInfo, 26> kActFunctions = {{
    {ActFunction::kCopy, "copy", -kInfinity, kInfinity, false},
    {ActFunction::kSquare, "square", -kInfinity, kInfinity, false},
    {ActFunction::kSigmoid, "sigmoid", -kInfinity, kInfinity, false},
    {ActFunction::kRelu, "relu", -kInfinity, kInfinity, false},
    {ActFunction::kPrelu, "prelu", -kInfinity, kInfinity, false},
    {ActFunction::kGelu, "gelu", -kInfinity, kInfinity, false},
    {ActFunction::kGeluDx, "gelu_dx", -kInfinity, kInfinity, false},
    {ActFunction::kGeluApprxTanh, "gelu_apprx_tanh", -kInfinity, kInfinity,
     false},
    {ActFunction::kGeluApprxSigmoid, "gelu_apprx_sigmoid", -kInfinity,
     kInfinity, false},
    {ActFunction::kGeluApprxSigmoidDx, "gelu_apprx_sigmoid_dx", -kInfinity,
     kInfinity, false},
    {ActFunction::kSilu, "silu", -kInfinity, kInfinity, false},
    {ActFunction::kSiluDx, "silu_dx", -kInfinity, kInfinity, false},
    {ActFunction::kTanh, "tanh", -kInfinity, kInfinity, false},
    {ActFunction::kSoftplus, "softplus", -kInfinity, kInfinity, false},
    {ActFunction::kMish, "mish", -kInfinity, kInfinity, false},
    {ActFunction::kErf, "erf", -kInfinity, kInfinity, false},
    {ActFunction::kErfDx, "erf_dx", -kInfinity, kInfinity, false},
    {ActFunction::kExp, "exp", -kInfinity, kInfinity, false},
    {ActFunction::kLog, "log", 0x1p-64, 0x1p64, false},
    {ActFunction::kSin, "sin", -kPi, kPi, false},
    {ActFunction::kArctan, "arctan", -kPi / 2, kPi / 2, false},
    {ActFunction::kSqrt, "sqrt", 0x1p-116, 0x1p118, false},
    {ActFunction::kRsqrt, "rsqrt", 0x1p-87, 0x1p97, false},
    {ActFunction::kReciprocal, "reciprocal", 0x1p-42, 0x1p42, true},
    {ActFunction::kSign, "sign", -kInfinity, kInfinity, false},
    {ActFunction::kAbs, "abs", -kInfinity, kInfinity, false},
}};

constexpr bool IsValid(ActFunction f) {
  return f > ActFunction::kInvalid && f <= ActFunction::kAbs;
}
constexpr const ActInfo& Info(ActFunction f) {
  return kActFunctions[static_cast<size_t>(f) - 1];
}

enum class ReduceCmd : uint8_t {
  kIdle = 0,
  kReset = 1,
  kReduce = 2,
  kResetReduce = 3,
  kLoadReduce = 4,
};
inline constexpr std::array<std::string_view, 5> kReduceCmdNames = {
    "idle", "reset", "reduce", "reset_reduce", "load_reduce"};

// What a sequencer does with two 32-bit registers. Sums, differences and
// products wrap; min, max and comparisons are signed; shifts by 32 or more
// give 0; a comparison gives 1 or 0.
enum class RegisterOp : uint8_t {
  kAdd = 0,
  kSubtract = 1,
  kMultiply = 2,
  kAnd = 3,
  kOr = 4,
  kXor = 5,
  kShiftLeft = 6,
  kShiftRight = 7,  // logical
  kMin = 8,
  kMax = 9,
  kEqual = 10,
  kNotEqual = 11,
  kGreaterEqual = 12,
  kGreater = 13,
  kLessEqual = 14,
  kLess = 15,
};
inline constexpr std::array<std::string_view, 16> kRegisterOpNames = {
    "add",           "subtract",    "multiply",   "and", "or",    "xor",
    "shift_left",    "shift_right", "min",        "max", "equal", "not_equal",
    "greater_equal", "greater",     "less_equal", "less"};

// The reductions of tensor_partition_reduce.
enum class PartitionOp : uint8_t {
  kAdd = 0,
  kAverage = 1,
  kMaximum = 2,
  kBitwiseOr = 3,
  kBitwiseAnd = 4,
};
inline constexpr std::array<std::string_view, 5> kPartitionOpNames = {
    "add", "average", "maximum", "bitwise_or", "bitwise_and"};

// The path of sendrecv.
enum class DmaEngine : uint8_t { kDma = 0, kGpsimdDma = 1 };
inline constexpr std::array<std::string_view, 2> kDmaEngineNames = {
    "dma", "gpsimd_dma"};

// What ranks do together (nki/api/nki/collectives/__init__.py; broadcast, send,
// recv and barrier are of the runtime's own set).
enum class CollectiveKind : uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kAllToAll = 3,
  kPermute = 4,
  kPermuteImplicit = 5,
  kPermuteImplicitReduce = 6,
  kBroadcast = 7,
  kSend = 8,
  kRecv = 9,
  kBarrier = 10,
  kAllGatherV = 11,
  kAllToAllV = 12,
};
// The names of their operations.
inline constexpr std::array<std::string_view, 13> kCollectiveKindNames = {
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_reduce",
    "broadcast",
    "send",
    "recv",
    "collective_barrier",
    "all_gather_v",
    "all_to_all_v"};

enum class DgeMode : uint8_t {
  kUnknown = 0,
  kSwdge = 1,
  kHwdge = 2,
  kNone = 3
};
inline constexpr std::array<std::string_view, 4> kDgeModeNames = {
    "unknown", "swdge", "hwdge", "none"};

enum class OobMode : uint8_t { kError = 0, kSkip = 1 };
inline constexpr std::array<std::string_view, 2> kOobModeNames = {"error",
                                                                  "skip"};

enum class PerfMode : uint8_t { kNone = 0, kDoubleRow = 1 };
inline constexpr std::array<std::string_view, 2> kPerfModeNames = {
    "none", "double_row"};

// accumulate of nc_matmul: None decides per element (see MultiplyMoving).
enum class Accumulate : uint8_t { kNone = 0, kFalse = 1, kTrue = 2 };
inline constexpr std::array<std::string_view, 3> kAccumulateNames = {
    "none", "false", "true"};

constexpr std::string_view Name(Engine e) {
  return kEngineNames[static_cast<size_t>(e)];
}
constexpr std::string_view Name(CollectiveKind k) {
  return kCollectiveKindNames[static_cast<size_t>(k)];
}
constexpr std::string_view Name(Space s) {
  return kSpaceNames[static_cast<size_t>(s)];
}
constexpr std::string_view Name(AluOp op) {
  return IsValid(op) ? Info(op).name : std::string_view("none");
}
constexpr std::string_view Name(ActFunction f) {
  return IsValid(f) ? Info(f).name : std::string_view("invalid");
}

// The value whose name is `name` in a table of names indexed by value.
template <typename Enum, size_t n>
constexpr std::optional<Enum> FromName(
    const std::array<std::string_view, n>& names, std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
constexpr std::optional<AluOp> AluOpFromName(std::string_view name) {
  for (const AluInfo& info : kAluOps) {
    if (info.name == name) return info.op;
  }
  return std::nullopt;
}
constexpr std::optional<ActFunction> ActFunctionFromName(
    std::string_view name) {
  for (const ActInfo& info : kActFunctions) {
    if (info.name == name) return info.function;
  }
  return std::nullopt;
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_VOCABULARY_H_
