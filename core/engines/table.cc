#include <array>
#include <utility>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// What an execute function is wrapped in.
enum class Wrap : uint8_t {
  kNone,
  // Inputs must have been written; outputs are then written, and their last
  // writer is not a matmul.
  kMemory,
  // And no operand may be of a packed dtype.
  kMemoryAndNumbers,
};

struct Row {
  Opcode opcode;
  Wrap wrap;
  ExecuteFunction execute;
};

constexpr std::array<Row, kNumOpcodes> kRows = {{
    {Opcode::kLoadStationary, Wrap::kMemoryAndNumbers, ExecuteLoadStationary},
    {Opcode::kMultiplyMoving, Wrap::kMemoryAndNumbers, ExecuteMultiplyMoving},
    {Opcode::kVectorTranspose, Wrap::kMemory, ExecuteVectorTranspose},
    {Opcode::kActivate, Wrap::kMemoryAndNumbers, ExecuteActivate},
    {Opcode::kReadAccumulator, Wrap::kMemoryAndNumbers, ExecuteReadAccumulator},
    {Opcode::kTensorTensor, Wrap::kMemoryAndNumbers, ExecuteTensorTensor},
    {Opcode::kTensorScalar, Wrap::kMemoryAndNumbers, ExecuteTensorScalar},
    {Opcode::kScalarTensorTensor, Wrap::kMemoryAndNumbers,
     ExecuteScalarTensorTensor},
    {Opcode::kTensorReduce, Wrap::kMemoryAndNumbers, ExecuteTensorReduce},
    {Opcode::kTensorCopy, Wrap::kMemory, ExecuteTensorCopy},
    {Opcode::kMemset, Wrap::kMemory, ExecuteMemset},
    {Opcode::kReciprocal, Wrap::kMemoryAndNumbers, ExecuteReciprocal},
    {Opcode::kIota, Wrap::kMemoryAndNumbers, ExecuteIota},
    {Opcode::kAffineSelect, Wrap::kMemoryAndNumbers, ExecuteAffineSelect},
    {Opcode::kDmaCopy, Wrap::kNone, ExecuteDmaCopy},
    {Opcode::kPsumReset, Wrap::kNone, ExecutePsumReset},
    {Opcode::kNop, Wrap::kNone, ExecuteNop},
    {Opcode::kLoadStationaryMx, Wrap::kNone, ExecuteLoadStationaryMx},
    {Opcode::kMultiplyMovingMx, Wrap::kNone, ExecuteMultiplyMovingMx},
    {Opcode::kQuantizeMx, Wrap::kNone, ExecuteQuantizeMx},
    {Opcode::kActivate2, Wrap::kMemoryAndNumbers, ExecuteActivate2},
    {Opcode::kReadVectorAccumulator, Wrap::kMemoryAndNumbers,
     ExecuteReadVectorAccumulator},
    {Opcode::kTensorScalarReduce, Wrap::kMemoryAndNumbers,
     ExecuteTensorScalarReduce},
    {Opcode::kTensorScalarCumulative, Wrap::kMemoryAndNumbers,
     ExecuteTensorScalarCumulative},
    {Opcode::kTensorTensorScan, Wrap::kMemoryAndNumbers,
     ExecuteTensorTensorScan},
    {Opcode::kExponential, Wrap::kMemoryAndNumbers, ExecuteExponential},
    {Opcode::kTensorCopyPredicated, Wrap::kMemory, ExecuteTensorCopyPredicated},
    {Opcode::kRangeSelect, Wrap::kMemoryAndNumbers, ExecuteRangeSelect},
    {Opcode::kSelectReduce, Wrap::kMemoryAndNumbers, ExecuteSelectReduce},
    {Opcode::kBnStats, Wrap::kMemoryAndNumbers, ExecuteBnStats},
    {Opcode::kBnAggr, Wrap::kMemoryAndNumbers, ExecuteBnAggr},
    {Opcode::kMax8, Wrap::kMemoryAndNumbers, ExecuteMax8},
    {Opcode::kLoadMatchValues, Wrap::kMemoryAndNumbers, ExecuteLoadMatchValues},
    {Opcode::kFindIndex8, Wrap::kMemoryAndNumbers, ExecuteFindIndex8},
    {Opcode::kMatchReplace8, Wrap::kMemoryAndNumbers, ExecuteMatchReplace8},
    {Opcode::kStreamShuffle, Wrap::kNone, ExecuteStreamShuffle},
    {Opcode::kPartitionReduce, Wrap::kMemoryAndNumbers, ExecutePartitionReduce},
    {Opcode::kSequenceBounds, Wrap::kMemoryAndNumbers, ExecuteSequenceBounds},
    {Opcode::kLocalGather, Wrap::kNone, ExecuteLocalGather},
    {Opcode::kNGather, Wrap::kNone, ExecuteNGather},
    {Opcode::kNonzeroWithCount, Wrap::kNone, ExecuteNonzeroWithCount},
    {Opcode::kTopK, Wrap::kNone, ExecuteTopK},
    {Opcode::kRng, Wrap::kMemory, ExecuteRng},
    {Opcode::kRand2, Wrap::kMemoryAndNumbers, ExecuteRand2},
    {Opcode::kRandSetState, Wrap::kMemory, ExecuteRandSetState},
    {Opcode::kRandGetState, Wrap::kMemory, ExecuteRandGetState},
    {Opcode::kSetRngSeed, Wrap::kMemory, ExecuteSetRngSeed},
    {Opcode::kDropout, Wrap::kMemoryAndNumbers, ExecuteDropout},
    {Opcode::kDmaTranspose, Wrap::kNone, ExecuteDmaTranspose},
    {Opcode::kDmaCompute, Wrap::kNone, ExecuteDmaCompute},
    {Opcode::kSendRecv, Wrap::kNone, ExecuteSendRecv},
    {Opcode::kCoreBarrier, Wrap::kNone, ExecuteCoreBarrier},
    {Opcode::kCollective, Wrap::kNone, ExecuteCollective},
    {Opcode::kCollectiveV, Wrap::kNone, ExecuteCollective},
    {Opcode::kRegisterMove, Wrap::kNone, ExecuteRegisterMove},
    {Opcode::kRegisterAlu, Wrap::kNone, ExecuteRegisterAlu},
    {Opcode::kRegisterLoad, Wrap::kNone, ExecuteRegisterLoad},
    {Opcode::kRegisterStore, Wrap::kNone, ExecuteRegisterStore},
    {Opcode::kRankId, Wrap::kNone, ExecuteRankId},
    {Opcode::kProcessingRank, Wrap::kNone, ExecuteRankId},
    {Opcode::kBranch, Wrap::kNone, ExecuteBranch},
}};

// A missing row would be a default one, whose opcode is the first. (Comparing
// function pointers is not a constant expression under UBSan.)
constexpr bool IsComplete() {
  for (int i = 0; i < kNumOpcodes; ++i) {
    if (static_cast<int>(kRows[static_cast<size_t>(i)].opcode) != i) {
      return false;
    }
  }
  return true;
}
static_assert(IsComplete(), "an opcode has no execute function");

absl::Status CheckOperands(const Row& row, const ExecuteArgs& args,
                           CoreState& state) {
  const std::span<const OperandSpec> specs = Info(row.opcode).operands;
  for (size_t i = 0; i < specs.size(); ++i) {
    const Slot& slot = args.slots[i];
    if (slot.kind != Operand::Kind::kAccess) continue;
    if (row.wrap == Wrap::kMemoryAndNumbers && IsPacked(slot.tile.dtype)) {
      return PackedHasNoValue(slot.tile, specs[i].name);
    }
    if (specs[i].role != Role::kIn || !state.check_memory) continue;
    absl::Status status = AdmitUnwritten(state, slot.tile, specs[i].name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void MarkResults(const Row& row, const ExecuteArgs& args,
                 const CoreState& state) {
  const std::span<const OperandSpec> specs = Info(row.opcode).operands;
  for (size_t i = 0; i < specs.size(); ++i) {
    const Slot& slot = args.slots[i];
    if (specs[i].role != Role::kOut) continue;
    if (slot.kind != Operand::Kind::kAccess) continue;
    if (state.check_memory) MarkWritten(slot.tile);
    MarkPsum(slot.tile, PsumWriter::kOther);
  }
}

template <size_t kIndex>
absl::Status Execute(const ExecuteArgs& args, CoreState& state) {
  constexpr const Row& kRow = kRows[kIndex];
  if constexpr (kRow.wrap == Wrap::kNone) {
    return kRow.execute(args, state);
  } else {
    absl::Status status = CheckOperands(kRow, args, state);
    if (status.ok()) status = kRow.execute(args, state);
    if (status.ok()) MarkResults(kRow, args, state);
    return status;
  }
}

template <size_t... kIndices>
constexpr std::array<ExecuteFunction, sizeof...(kIndices)> Wrapped(
    std::index_sequence<kIndices...>) {
  return {Execute<kIndices>...};
}
constexpr std::array<ExecuteFunction, kNumOpcodes> kExecute =
    Wrapped(std::make_index_sequence<kNumOpcodes>());

}  // namespace

ExecuteFunction ExecuteOf(Opcode opcode) {
  return kExecute[static_cast<size_t>(opcode)];
}

// Bytes stay written: pinned tiles may alias, and each has a reset of its own.
absl::Status ExecutePsumReset(const ExecuteArgs& args, CoreState&) {
  const Tile& tile = args.slots[slot::PsumReset::kDst].tile;
  MarkPsum(tile, PsumWriter::kNothing);
  return absl::OkStatus();
}

absl::Status ExecuteNop(const ExecuteArgs&, CoreState&) {
  return absl::OkStatus();
}

}  // namespace trnemu
