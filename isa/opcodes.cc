#include "isa/opcodes.h"

#include <array>

namespace trnemu {
namespace {

constexpr Role kIn = Role::kIn;
constexpr Role kOut = Role::kOut;
constexpr OperandKind kTile = OperandKind::kAccess;
constexpr OperandKind kTileOrNumber = OperandKind::kAccessOrImmediate;
using A = AttributeType;

constexpr OperandSpec kLoadStationaryOperands[] = {{"stationary", kIn, kTile}};
constexpr AttributeSpec kLoadStationaryAttributes[] = {
    {"pass", A::kPass},
    {"transpose", A::kBool},
    {"onezero", A::kBool},
    {"start_row", A::kInteger},
    {"start_column", A::kInteger},
    {"rows", A::kInteger},
    {"columns", A::kInteger},
    {"perf_mode", A::kPerfMode}};
constexpr OperandSpec kMultiplyMovingOperands[] = {{"dst", Role::kInOut, kTile},
                                                   {"moving", kIn, kTile}};
constexpr AttributeSpec kMultiplyMovingAttributes[] = {
    {"pass", A::kPass},         {"transpose", A::kBool},
    {"onezero", A::kBool},      {"accumulate", A::kAccumulate},
    {"start_row", A::kInteger}, {"start_column", A::kInteger},
    {"rows", A::kInteger},      {"columns", A::kInteger},
    {"perf_mode", A::kPerfMode}};
constexpr OperandSpec kDstData[] = {{"dst", kOut, kTile}, {"data", kIn, kTile}};
constexpr OperandSpec kActivateOperands[] = {{"dst", kOut, kTile},
                                             {"data", kIn, kTile},
                                             {"bias", kIn, kTileOrNumber, true},
                                             {"scale", kIn, kTileOrNumber}};
constexpr AttributeSpec kActivateAttributes[] = {{"op", A::kActFunction},
                                                 {"reduce_op", A::kAluOp},
                                                 {"reduce_cmd", A::kReduceCmd}};
constexpr OperandSpec kDst[] = {{"dst", kOut, kTile}};
constexpr OperandSpec kTensorTensorOperands[] = {
    {"dst", kOut, kTile}, {"data1", kIn, kTile}, {"data2", kIn, kTile}};
constexpr AttributeSpec kTensorTensorAttributes[] = {{"op", A::kAluOp}};
constexpr OperandSpec kTensorScalarOperands[] = {
    {"dst", kOut, kTile},
    {"data", kIn, kTile},
    {"operand0", kIn, kTileOrNumber, true},
    {"operand1", kIn, kTileOrNumber, true}};
constexpr AttributeSpec kTwoOpAttributes[] = {{"op0", A::kAluOp},
                                              {"reverse0", A::kBool},
                                              {"op1", A::kAluOp},
                                              {"reverse1", A::kBool}};
constexpr OperandSpec kScalarTensorTensorOperands[] = {
    {"dst", kOut, kTile},
    {"data", kIn, kTile},
    {"operand0", kIn, kTileOrNumber, true},
    {"operand1", kIn, kTile}};
constexpr AttributeSpec kTensorReduceAttributes[] = {{"op", A::kAluOp},
                                                     {"axes", A::kInteger},
                                                     {"negate", A::kBool},
                                                     {"keepdims", A::kBool}};
constexpr OperandSpec kDstSrc[] = {{"dst", kOut, kTile}, {"src", kIn, kTile}};
constexpr AttributeSpec kMemsetAttributes[] = {{"value", A::kDouble}};
constexpr OperandSpec kIotaOperands[] = {
    {"dst", kOut, kTile}, {"pattern", kIn, OperandKind::kPattern}};
constexpr AttributeSpec kIotaAttributes[] = {
    {"offset", A::kInteger}, {"channel_multiplier", A::kInteger}};
constexpr OperandSpec kAffineSelectOperands[] = {
    {"dst", kOut, kTile},
    {"pattern", kIn, OperandKind::kPattern},
    {"on_true_tile", kIn, kTile}};
constexpr AttributeSpec kAffineSelectAttributes[] = {
    {"channel_multiplier", A::kInteger},
    {"on_false_value", A::kDouble},
    {"cmp_op", A::kAluOp},
    {"offset", A::kInteger}};
constexpr AttributeSpec kDmaCopyAttributes[] = {{"queue_set", A::kQueueSet},
                                                {"dge_mode", A::kDgeMode},
                                                {"oob_mode", A::kOobMode},
                                                {"priority", A::kInteger}};

constexpr uint8_t kTensor = Bit(Engine::kTensor);
constexpr uint8_t kVector = Bit(Engine::kVector);
constexpr uint8_t kScalar = Bit(Engine::kScalar);
constexpr uint8_t kGpsimd = Bit(Engine::kGpsimd);

constexpr std::array<OpcodeInfo, kNumOpcodes> kTable = {{
    {Opcode::kLoadStationary, "LoadStationary", "load_stationary", kTensor,
     kLoadStationaryOperands, kLoadStationaryAttributes,
     "Loads K x M elements into the tensor engine's array."},
    {Opcode::kMultiplyMoving, "MultiplyMoving", "multiply_moving", kTensor,
     kMultiplyMovingOperands, kMultiplyMovingAttributes,
     "Streams K x N elements through the array into M x N of PSUM."},
    {Opcode::kVectorTranspose,
     "VectorTranspose",
     "vector_transpose",
     kVector,
     kDstData,
     {},
     "Transposes a block of at most 32 x 32."},
    {Opcode::kActivate, "Activate", "activate", kScalar, kActivateOperands,
     kActivateAttributes, "f(data * scale + bias), with running sums."},
    {Opcode::kReadAccumulator,
     "ReadAccumulator",
     "read_accumulator",
     kScalar,
     kDst,
     {},
     "Reads the scalar engine's accumulators into a column."},
    {Opcode::kTensorTensor, "TensorTensor", "tensor_tensor", kVector | kGpsimd,
     kTensorTensorOperands, kTensorTensorAttributes,
     "Element-wise operation of two tiles."},
    {Opcode::kTensorScalar, "TensorScalar", "tensor_scalar",
     kVector | kScalar | kGpsimd, kTensorScalarOperands, kTwoOpAttributes,
     "One or two operations with a number or column each."},
    {Opcode::kScalarTensorTensor, "ScalarTensorTensor", "scalar_tensor_tensor",
     kVector, kScalarTensorTensorOperands, kTwoOpAttributes,
     "(data op0 column) op1 tile."},
    {Opcode::kTensorReduce, "TensorReduce", "tensor_reduce", kVector, kDstData,
     kTensorReduceAttributes, "Reduces trailing free dimensions."},
    {Opcode::kTensorCopy,
     "TensorCopy",
     "tensor_copy",
     kVector | kScalar | kGpsimd,
     kDstSrc,
     {},
     "Copies or casts a tile."},
    {Opcode::kMemset, "Memset", "memset", kVector | kGpsimd, kDst,
     kMemsetAttributes, "Fills a tile with a constant."},
    {Opcode::kReciprocal,
     "Reciprocal",
     "reciprocal",
     kVector,
     kDstData,
     {},
     "1 / data."},
    {Opcode::kIota, "Iota", "iota", kGpsimd, kIotaOperands, kIotaAttributes,
     "Affine index values."},
    {Opcode::kAffineSelect, "AffineSelect", "affine_select", kGpsimd,
     kAffineSelectOperands, kAffineSelectAttributes,
     "Keeps elements where an affine value compares with 0."},
    {Opcode::kDmaCopy, "DmaCopy", "dma_copy", kAnySequencer, kDstSrc,
     kDmaCopyAttributes, "Triggers a DMA transfer on a queue set."},
    {Opcode::kPsumReset,
     "PsumReset",
     "psum_reset",
     kAnySequencer,
     kDst,
     {},
     "Marks a PSUM region as newly allocated; takes no time."},
    {Opcode::kNop,
     "Nop",
     "nop",
     kAnySequencer,
     {},
     {},
     "Waits and signals only."},
}};

constexpr bool RowsAreInOrder() {
  for (int i = 0; i < kNumOpcodes; ++i) {
    if (static_cast<int>(kTable[i].opcode) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

}  // namespace

const OpcodeInfo& Info(Opcode opcode) {
  return kTable[static_cast<size_t>(opcode)];
}

std::span<const OpcodeInfo> Opcodes() { return kTable; }

std::optional<Opcode> OpcodeFromName(std::string_view name) {
  for (const OpcodeInfo& info : kTable) {
    if (info.name == name) return info.opcode;
  }
  return std::nullopt;
}

}  // namespace trnemu
