// The table of opcodes: what the device runs. The only list of them.
//
// A row gives the opcode's name, its engines, and the operands and attributes
// of its protobuf body (program.proto) in order. Decoding, the text form, the
// disassembler, diff and `trnemu info` are driven by it; core/engines/table.cc
// adds each opcode's execute function and core/time its cost.
// To add one: a message and a oneof entry in program.proto, a row here, an
// execute function, a cost law, a test. The self-test finds what is missing.
#ifndef TRNEMU_ISA_OPCODES_H_
#define TRNEMU_ISA_OPCODES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "isa/vocabulary.h"

namespace trnemu {

enum class Opcode : uint8_t {
  kLoadStationary = 0,
  kMultiplyMoving,
  kVectorTranspose,
  kActivate,
  kReadAccumulator,
  kTensorTensor,
  kTensorScalar,
  kScalarTensorTensor,
  kTensorReduce,
  kTensorCopy,
  kMemset,
  kReciprocal,
  kIota,
  kAffineSelect,
  kDmaCopy,
  kPsumReset,
  kNop,
  kLoadStationaryMx,
  kMultiplyMovingMx,
  kQuantizeMx,
  kActivate2,
  kReadVectorAccumulator,
  kTensorScalarReduce,
  kTensorScalarCumulative,
  kTensorTensorScan,
  kExponential,
  kTensorCopyPredicated,
  kRangeSelect,
  kSelectReduce,
  kBnStats,
  kBnAggr,
  kMax8,
  kLoadMatchValues,
  kFindIndex8,
  kMatchReplace8,
  kStreamShuffle,
  kPartitionReduce,
  kSequenceBounds,
  kLocalGather,
  kNGather,
  kNonzeroWithCount,
  kTopK,
  kRng,
  kRand2,
  kRandSetState,
  kRandGetState,
  kSetRngSeed,
  kDropout,
  kDmaTranspose,
  kDmaCompute,
  kSendRecv,
  kCoreBarrier,
  kCollective,
  kCollectiveV,
  kRegisterMove,
  kRegisterAlu,
  kRegisterLoad,
  kRegisterStore,
  kRankId,
  kProcessingRank,
  kBranch,
};
inline constexpr int kNumOpcodes = 61;
// On a sequencer's registers.
constexpr bool OnRegisters(Opcode opcode) {
  return opcode >= Opcode::kRegisterMove && opcode <= Opcode::kBranch;
}
constexpr bool IsCollective(Opcode opcode) {
  return opcode == Opcode::kCollective || opcode == Opcode::kCollectiveV;
}

enum class Role : uint8_t { kIn, kOut, kInOut };
// What an operand slot can hold.
enum class OperandKind : uint8_t {
  kAccess,             // a tile or HBM view
  kAccessOrImmediate,  // a [P, 1] tile or a number
  kPattern,            // [step, count] pairs, no memory
  kRegister,
  kRegisterOrImmediate,  // or a whole number of 32 bits
};
enum class AttributeType : uint8_t {
  kBool,
  kInteger,
  kDouble,
  kAluOp,  // kNone is a value
  kActFunction,
  kReduceCmd,
  kDgeMode,
  kOobMode,
  kPerfMode,
  kAccumulate,
  kPass,      // 0 whole, 1 LO, 2 HI
  kQueueSet,  // index into Program::queue_sets
  kRegisterOp,
  kPartitionOp,
  kDmaEngine,
  kMask,  // eight lanes of a shuffle mask, a byte each, the first lowest
  kAxes,  // a permutation, four bits each, the first lowest; 0xf: none
  kReplicaGroups,  // index into Program::replica_groups
  kCollectiveKind,
};
inline constexpr uint64_t kNoAxes = 0xffff;  // the default of the rank

inline constexpr int kNumAttributeTypes = 19;

struct OperandSpec {
  std::string_view name;  // the protobuf field's name
  Role role;
  OperandKind kind;
  bool optional = false;
};
struct AttributeSpec {
  std::string_view name;  // the protobuf field's name
  AttributeType type;
};

struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;   // CamelCase, the protobuf message's name
  std::string_view field;  // snake_case, the oneof field's name
  uint8_t engines;         // bit set of 1 << Engine
  std::span<const OperandSpec> operands;
  std::span<const AttributeSpec> attributes;
  std::string_view summary;
  // Triggers a transfer; its first attribute is the queue set.
  bool dma = false;
};

const OpcodeInfo& Info(Opcode opcode);
std::span<const OpcodeInfo> Opcodes();
std::optional<Opcode> OpcodeFromName(std::string_view name);

constexpr uint8_t Bit(Engine engine) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(engine));
}
constexpr uint8_t kAnySequencer = Bit(Engine::kTensor) | Bit(Engine::kVector) |
                                  Bit(Engine::kScalar) | Bit(Engine::kGpsimd) |
                                  Bit(Engine::kSync);

// Positions of operands and attributes in each opcode's row, for code that
// executes or builds the opcode.
namespace slot {
struct LoadStationary {
  enum Operand { kStationary };
  enum Attribute {
    kPass,
    kTranspose,
    kOnezero,
    kStartRow,
    kStartColumn,
    kRows,
    kColumns,
    kPerfMode
  };
};
struct MultiplyMoving {
  enum Operand { kDst, kMoving };
  enum Attribute {
    kPass,
    kTranspose,
    kOnezero,
    kAccumulate,
    kStartRow,
    kStartColumn,
    kRows,
    kColumns,
    kPerfMode
  };
};
struct VectorTranspose {
  enum Operand { kDst, kData };
};
struct Activate {
  enum Operand { kDst, kData, kBias, kScale };
  enum Attribute { kOp, kReduceOp, kReduceCmd };
};
struct ReadAccumulator {
  enum Operand { kDst };
};
struct TensorTensor {
  enum Operand { kDst, kData1, kData2 };
  enum Attribute { kOp };
};
struct TensorScalar {
  enum Operand { kDst, kData, kOperand0, kOperand1 };
  enum Attribute { kOp0, kReverse0, kOp1, kReverse1 };
};
struct ScalarTensorTensor {
  enum Operand { kDst, kData, kOperand0, kOperand1 };
  enum Attribute { kOp0, kReverse0, kOp1, kReverse1 };
};
struct TensorReduce {
  enum Operand { kDst, kData };
  enum Attribute { kOp, kAxes, kNegate, kKeepdims };
};
struct TensorCopy {
  enum Operand { kDst, kSrc };
};
struct Memset {
  enum Operand { kDst };
  enum Attribute { kValue };
};
struct Reciprocal {
  enum Operand { kDst, kData };
};
struct Iota {
  enum Operand { kDst, kPattern };
  enum Attribute { kOffset, kChannelMultiplier };
};
struct AffineSelect {
  enum Operand { kDst, kPattern, kOnTrueTile };
  enum Attribute { kChannelMultiplier, kOnFalseValue, kCmpOp, kOffset };
};
struct DmaCopy {
  enum Operand { kDst, kSrc };
  enum Attribute { kQueueSet, kDgeMode, kOobMode, kPriority };
};
struct PsumReset {
  enum Operand { kDst };
};
struct LoadStationaryMx {
  enum Operand { kStationary, kStationaryScale };
  enum Attribute { kStartRow, kRows };
};
struct MultiplyMovingMx {
  enum Operand { kDst, kMoving, kMovingScale };
  enum Attribute { kAccumulate, kStartRow, kRows };
};
struct QuantizeMx {
  enum Operand { kDst, kSrc, kDstScale };
};
struct Activate2 {
  enum Operand { kDst, kData, kImm0, kImm1, kReluParam };
  enum Attribute {
    kOp,
    kOp0,
    kOp1,
    kReverse0,
    kReverse1,
    kReduceOp,
    kReduceCmd
  };
};
struct ReadVectorAccumulator {
  enum Operand { kDst };
  enum Attribute { kNegate };
};
struct TensorScalarReduce {
  enum Operand { kDst, kData, kOperand0, kReduceInit };
  enum Attribute { kOp0, kReverse0, kReduceOp, kReduceCmd };
};
struct TensorScalarCumulative {
  enum Operand { kDst, kSrc, kImm0, kImm1 };
  enum Attribute { kOp0, kOp1, kReduceCmd };
};
struct TensorTensorScan {
  enum Operand { kDst, kData0, kData1, kInitial };
  enum Attribute { kOp0, kReverse0, kOp1, kReverse1 };
};
struct Exponential {
  enum Operand { kDst, kSrc, kMaxValue, kReduceInit };
  enum Attribute { kReduceCmd };
};
struct TensorCopyPredicated {
  enum Operand { kDst, kSrc, kPredicate };
  enum Attribute { kReversePred };
};
struct RangeSelect {
  enum Operand { kDst, kOnTrueTile, kBound0, kBound1 };
  enum Attribute {
    kCompOp0,
    kCompOp1,
    kReduceCmd,
    kReduceOp,
    kRangeStart,
    kOnFalseValue
  };
};
struct SelectReduce {
  enum Operand { kDst, kPredicate, kOnTrue, kOnFalse };
  enum Attribute { kReduceCmd, kReduceOp, kReversePred };
};
struct BnStats {
  enum Operand { kDst, kData };
};
struct BnAggr {
  enum Operand { kDst, kData };
};
struct Max8 {
  enum Operand { kDst, kSrc };
};
struct LoadMatchValues {
  enum Operand { kVals };
};
struct FindIndex8 {
  enum Operand { kDst, kData };
};
struct MatchReplace8 {
  enum Operand { kDst, kData, kDstIdx };
  enum Attribute { kImm };
};
struct StreamShuffle {
  enum Operand { kDst, kSrc };
  enum Attribute { kMask0, kMask1, kMask2, kMask3 };
};
struct PartitionReduce {
  enum Operand { kDst, kData };
  enum Attribute { kOp };
};
struct SequenceBounds {
  enum Operand { kDst, kSegmentIds };
};
struct LocalGather {
  enum Operand { kDst, kSrcBuffer, kIndex };
  enum Attribute { kNumElemPerIdx, kNumValidIndices };
};
struct NGather {
  enum Operand { kDst, kData, kIndices };
};
struct NonzeroWithCount {
  enum Operand { kDst, kSrc };
  enum Attribute { kIndexOffset, kPaddingVal };
};
struct TopK {
  enum Operand { kValDst, kIdxDst, kSrc };
  enum Attribute { kN };
};
struct Rng {
  enum Operand { kDst };
};
struct Rand2 {
  enum Operand { kDst, kMin, kMax };
};
struct RandSetState {
  enum Operand { kSrcSeeds };
};
struct RandGetState {
  enum Operand { kDst };
};
struct SetRngSeed {
  enum Operand { kSrcSeeds };
};
struct Dropout {
  enum Operand { kDst, kData, kProb };
};
struct DmaTranspose {
  enum Operand { kDst, kSrc };
  enum Attribute { kQueueSet, kAxes, kDgeMode, kOobMode, kPriority };
};
struct DmaCompute {
  enum Operand { kDst, kSrc0 };  // sixteen sources, one after another
  enum Attribute { kQueueSet, kOobMode, kUniqueIndices };
};
struct SendRecv {
  enum Operand { kDst, kSrc };
  enum Attribute { kQueueSet, kSendToRank, kRecvFromRank, kPipeId, kDmaEngine };
};
struct CoreBarrier {
  enum Operand { kData };
  enum Attribute { kCores, kPhase };
};
struct Collective {
  enum Operand { kDst, kSrc, kSrc1 };
  enum Attribute {
    kQueueSet,
    kKind,
    kOp,
    kGroups,
    kDim,
    kChannel,
    kTensor,
    kTensors,
    kPeer,
    kStream,
    kPriority,
    kBothCores
  };
};
struct CollectiveV {
  enum Operand { kDst, kSrc, kMetadata };
  enum Attribute {
    kQueueSet,
    kKind,
    kGroups,
    kRecvCountsKnown,
    kHasRdispls,
    kStream,
    kPriority,
    kBothCores
  };
};
struct RankId {
  enum Operand { kDst };
};
struct ProcessingRank {
  enum Operand { kDst, kIteration };
  enum Attribute { kGroups, kChannel };
};
struct RegisterMove {
  enum Operand { kDst, kSrc };
};
struct RegisterAlu {
  enum Operand { kDst, kA, kB };
  enum Attribute { kOp };
};
struct RegisterLoad {
  enum Operand { kDst, kSrc };
};
struct RegisterStore {
  enum Operand { kDst, kSrc };
};
struct Branch {
  enum Operand { kA, kB };
  enum Attribute { kOp, kTarget, kLoop };
};
}  // namespace slot

}  // namespace trnemu

#endif  // TRNEMU_ISA_OPCODES_H_
