#include "isa/opcodes.h"

#include <array>

namespace trnemu {
namespace {

constexpr Role kIn = Role::kIn;
constexpr Role kOut = Role::kOut;
constexpr OperandKind kTile = OperandKind::kAccess;
constexpr OperandKind kTileOrNumber = OperandKind::kAccessOrImmediate;
constexpr Role kInOut = Role::kInOut;
constexpr OperandKind kRegister = OperandKind::kRegister;
constexpr OperandKind kRegisterOrNumber = OperandKind::kRegisterOrImmediate;
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
constexpr OperandSpec kLoadStationaryMxOperands[] = {
    {"stationary", kIn, kTile}, {"stationary_scale", kIn, kTile}};
constexpr AttributeSpec kLoadStationaryMxAttributes[] = {
    {"start_row", A::kInteger}, {"rows", A::kInteger}};
constexpr OperandSpec kMultiplyMovingMxOperands[] = {
    {"dst", kInOut, kTile},
    {"moving", kIn, kTile},
    {"moving_scale", kIn, kTile}};
constexpr AttributeSpec kMultiplyMovingMxAttributes[] = {
    {"accumulate", A::kAccumulate},
    {"start_row", A::kInteger},
    {"rows", A::kInteger}};
constexpr OperandSpec kQuantizeMxOperands[] = {
    {"dst", kOut, kTile}, {"src", kIn, kTile}, {"dst_scale", kOut, kTile}};
constexpr OperandSpec kActivate2Operands[] = {
    {"dst", kOut, kTile},
    {"data", kIn, kTile},
    {"imm0", kIn, kTileOrNumber},
    {"imm1", kIn, kTileOrNumber},
    {"relu_param", kIn, kTileOrNumber}};
constexpr AttributeSpec kActivate2Attributes[] = {
    {"op", A::kActFunction},      {"op0", A::kAluOp},
    {"op1", A::kAluOp},           {"reverse0", A::kBool},
    {"reverse1", A::kBool},       {"reduce_op", A::kAluOp},
    {"reduce_cmd", A::kReduceCmd}};
constexpr OperandSpec kReadVectorAccumulatorOperands[] = {{"dst", kOut, kTile}};
constexpr AttributeSpec kReadVectorAccumulatorAttributes[] = {
    {"negate", A::kBool}};
constexpr OperandSpec kTensorScalarReduceOperands[] = {
    {"dst", kOut, kTile},
    {"data", kIn, kTile},
    {"operand0", kIn, kTileOrNumber, true},
    {"reduce_init", kIn, kTileOrNumber, true}};
constexpr AttributeSpec kTensorScalarReduceAttributes[] = {
    {"op0", A::kAluOp},
    {"reverse0", A::kBool},
    {"reduce_op", A::kAluOp},
    {"reduce_cmd", A::kReduceCmd}};
constexpr OperandSpec kTensorScalarCumulativeOperands[] = {
    {"dst", kOut, kTile},
    {"src", kIn, kTile},
    {"imm0", kIn, kTileOrNumber, true},
    {"imm1", kIn, kTileOrNumber, true}};
constexpr AttributeSpec kTensorScalarCumulativeAttributes[] = {
    {"op0", A::kAluOp}, {"op1", A::kAluOp}, {"reduce_cmd", A::kReduceCmd}};
constexpr OperandSpec kTensorTensorScanOperands[] = {
    {"dst", kOut, kTile},
    {"data0", kIn, kTile},
    {"data1", kIn, kTile},
    {"initial", kIn, kTileOrNumber}};
constexpr AttributeSpec kTensorTensorScanAttributes[] = {
    {"op0", A::kAluOp},
    {"reverse0", A::kBool},
    {"op1", A::kAluOp},
    {"reverse1", A::kBool}};
constexpr OperandSpec kExponentialOperands[] = {
    {"dst", kOut, kTile},
    {"src", kIn, kTile},
    {"max_value", kIn, kTileOrNumber},
    {"reduce_init", kIn, kTileOrNumber}};
constexpr AttributeSpec kExponentialAttributes[] = {
    {"reduce_cmd", A::kReduceCmd}};
constexpr OperandSpec kTensorCopyPredicatedOperands[] = {
    {"dst", kInOut, kTile},
    {"src", kIn, kTileOrNumber},
    {"predicate", kIn, kTile}};
constexpr AttributeSpec kTensorCopyPredicatedAttributes[] = {
    {"reverse_pred", A::kBool}};
constexpr OperandSpec kRangeSelectOperands[] = {{"dst", kOut, kTile},
                                                {"on_true_tile", kIn, kTile},
                                                {"bound0", kIn, kTile},
                                                {"bound1", kIn, kTile}};
constexpr AttributeSpec kRangeSelectAttributes[] = {
    {"comp_op0", A::kAluOp},       {"comp_op1", A::kAluOp},
    {"reduce_cmd", A::kReduceCmd}, {"reduce_op", A::kAluOp},
    {"range_start", A::kInteger},  {"on_false_value", A::kDouble}};
constexpr OperandSpec kSelectReduceOperands[] = {
    {"dst", kOut, kTile},
    {"predicate", kIn, kTile},
    {"on_true", kIn, kTile},
    {"on_false", kIn, kTileOrNumber}};
constexpr AttributeSpec kSelectReduceAttributes[] = {
    {"reduce_cmd", A::kReduceCmd},
    {"reduce_op", A::kAluOp},
    {"reverse_pred", A::kBool}};
constexpr OperandSpec kBnStatsOperands[] = {{"dst", kOut, kTile},
                                            {"data", kIn, kTile}};
constexpr OperandSpec kBnAggrOperands[] = {{"dst", kOut, kTile},
                                           {"data", kIn, kTile}};
constexpr OperandSpec kMax8Operands[] = {{"dst", kOut, kTile},
                                         {"src", kIn, kTile}};
constexpr OperandSpec kLoadMatchValuesOperands[] = {{"vals", kIn, kTile}};
constexpr OperandSpec kFindIndex8Operands[] = {{"dst", kOut, kTile},
                                               {"data", kIn, kTile}};
constexpr OperandSpec kMatchReplace8Operands[] = {
    {"dst", kOut, kTile}, {"data", kIn, kTile}, {"dst_idx", kOut, kTile, true}};
constexpr AttributeSpec kMatchReplace8Attributes[] = {{"imm", A::kDouble}};
constexpr OperandSpec kStreamShuffleOperands[] = {{"dst", kInOut, kTile},
                                                  {"src", kIn, kTile}};
constexpr AttributeSpec kStreamShuffleAttributes[] = {{"mask0", A::kMask},
                                                      {"mask1", A::kMask},
                                                      {"mask2", A::kMask},
                                                      {"mask3", A::kMask}};
constexpr OperandSpec kPartitionReduceOperands[] = {{"dst", kOut, kTile},
                                                    {"data", kIn, kTile}};
constexpr AttributeSpec kPartitionReduceAttributes[] = {
    {"op", A::kPartitionOp}};
constexpr OperandSpec kSequenceBoundsOperands[] = {{"dst", kOut, kTile},
                                                   {"segment_ids", kIn, kTile}};
constexpr OperandSpec kLocalGatherOperands[] = {
    {"dst", kOut, kTile}, {"src_buffer", kIn, kTile}, {"index", kIn, kTile}};
constexpr AttributeSpec kLocalGatherAttributes[] = {
    {"num_elem_per_idx", A::kInteger}, {"num_valid_indices", A::kInteger}};
constexpr OperandSpec kNGatherOperands[] = {
    {"dst", kOut, kTile}, {"data", kIn, kTile}, {"indices", kIn, kTile}};
constexpr OperandSpec kNonzeroWithCountOperands[] = {{"dst", kInOut, kTile},
                                                     {"src", kIn, kTile}};
constexpr AttributeSpec kNonzeroWithCountAttributes[] = {
    {"index_offset", A::kInteger}, {"padding_val", A::kInteger}};
constexpr OperandSpec kTopKOperands[] = {
    {"val_dst", kOut, kTile}, {"idx_dst", kOut, kTile}, {"src", kIn, kTile}};
constexpr AttributeSpec kTopKAttributes[] = {{"n", A::kInteger}};
constexpr OperandSpec kRngOperands[] = {{"dst", kOut, kTile}};
constexpr OperandSpec kRand2Operands[] = {{"dst", kOut, kTile},
                                          {"min", kIn, kTileOrNumber},
                                          {"max", kIn, kTileOrNumber}};
constexpr OperandSpec kRandSetStateOperands[] = {{"src_seeds", kIn, kTile}};
constexpr OperandSpec kRandGetStateOperands[] = {{"dst", kOut, kTile}};
constexpr OperandSpec kSetRngSeedOperands[] = {{"src_seeds", kIn, kTile}};
constexpr OperandSpec kDropoutOperands[] = {
    {"dst", kOut, kTile}, {"data", kIn, kTile}, {"prob", kIn, kTileOrNumber}};
constexpr OperandSpec kDmaTransposeOperands[] = {{"dst", kOut, kTile},
                                                 {"src", kIn, kTile}};
constexpr AttributeSpec kDmaTransposeAttributes[] = {
    {"queue_set", A::kQueueSet},
    {"axes", A::kAxes},
    {"dge_mode", A::kDgeMode},
    {"oob_mode", A::kOobMode},
    {"priority", A::kInteger}};
constexpr OperandSpec kDmaComputeOperands[] = {
    {"dst", kOut, kTile},        {"src0", kIn, kTile},
    {"src1", kIn, kTile, true},  {"src2", kIn, kTile, true},
    {"src3", kIn, kTile, true},  {"src4", kIn, kTile, true},
    {"src5", kIn, kTile, true},  {"src6", kIn, kTile, true},
    {"src7", kIn, kTile, true},  {"src8", kIn, kTile, true},
    {"src9", kIn, kTile, true},  {"src10", kIn, kTile, true},
    {"src11", kIn, kTile, true}, {"src12", kIn, kTile, true},
    {"src13", kIn, kTile, true}, {"src14", kIn, kTile, true},
    {"src15", kIn, kTile, true}};
constexpr AttributeSpec kDmaComputeAttributes[] = {
    {"queue_set", A::kQueueSet},
    {"oob_mode", A::kOobMode},
    {"unique_indices", A::kBool}};
constexpr OperandSpec kSendRecvOperands[] = {{"dst", kOut, kTile},
                                             {"src", kIn, kTile}};
constexpr AttributeSpec kSendRecvAttributes[] = {
    {"queue_set", A::kQueueSet},
    {"send_to_rank", A::kInteger},
    {"recv_from_rank", A::kInteger},
    {"pipe_id", A::kInteger},
    {"dma_engine", A::kDmaEngine}};
constexpr OperandSpec kCoreBarrierOperands[] = {{"data", kInOut, kTile}};
constexpr AttributeSpec kCoreBarrierAttributes[] = {{"cores", A::kInteger},
                                                    {"phase", A::kInteger}};
constexpr OperandSpec kCollectiveOperands[] = {{"dst", kOut, kTile, true},
                                               {"src", kIn, kTile, true},
                                               {"src1", kIn, kTile, true}};
constexpr AttributeSpec kCollectiveAttributes[] = {
    {"queue_set", A::kQueueSet}, {"kind", A::kCollectiveKind},
    {"op", A::kAluOp},           {"groups", A::kReplicaGroups},
    {"dim", A::kInteger},        {"channel", A::kInteger},
    {"tensor", A::kInteger},     {"tensors", A::kInteger},
    {"peer", A::kInteger},       {"stream", A::kInteger},
    {"priority", A::kInteger},   {"both_cores", A::kBool}};
constexpr OperandSpec kCollectiveVOperands[] = {
    {"dst", kOut, kTile}, {"src", kIn, kTile}, {"metadata", kInOut, kTile}};
constexpr AttributeSpec kCollectiveVAttributes[] = {
    {"queue_set", A::kQueueSet},   {"kind", A::kCollectiveKind},
    {"groups", A::kReplicaGroups}, {"recv_counts_known", A::kBool},
    {"has_rdispls", A::kBool},     {"stream", A::kInteger},
    {"priority", A::kInteger},     {"both_cores", A::kBool}};
constexpr OperandSpec kRankIdOperands[] = {{"dst", kOut, kRegister}};
constexpr OperandSpec kProcessingRankOperands[] = {
    {"dst", kOut, kRegister}, {"iteration", kIn, kRegisterOrNumber}};
constexpr AttributeSpec kProcessingRankAttributes[] = {
    {"groups", A::kReplicaGroups}, {"channel", A::kInteger}};
constexpr OperandSpec kRegisterMoveOperands[] = {
    {"dst", kOut, kRegister}, {"src", kIn, kRegisterOrNumber}};
constexpr OperandSpec kRegisterAluOperands[] = {{"dst", kOut, kRegister},
                                                {"a", kIn, kRegisterOrNumber},
                                                {"b", kIn, kRegisterOrNumber}};
constexpr AttributeSpec kRegisterAluAttributes[] = {{"op", A::kRegisterOp}};
constexpr OperandSpec kRegisterLoadOperands[] = {{"dst", kOut, kRegister},
                                                 {"src", kIn, kTile}};
constexpr OperandSpec kRegisterStoreOperands[] = {
    {"dst", kOut, kTile}, {"src", kIn, kRegisterOrNumber}};
constexpr OperandSpec kBranchOperands[] = {{"a", kIn, kRegisterOrNumber},
                                           {"b", kIn, kRegisterOrNumber}};
constexpr AttributeSpec kBranchAttributes[] = {
    {"op", A::kRegisterOp}, {"target", A::kInteger}, {"loop", A::kInteger}};

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
     kDmaCopyAttributes, "Triggers a DMA transfer on a queue set.", true},
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
    {Opcode::kLoadStationaryMx, "LoadStationaryMx", "load_stationary_mx",
     kTensor, kLoadStationaryMxOperands, kLoadStationaryMxAttributes,
     "Loads packed K x M elements and their scales into the array."},
    {Opcode::kMultiplyMovingMx, "MultiplyMovingMx", "multiply_moving_mx",
     kTensor, kMultiplyMovingMxOperands, kMultiplyMovingMxAttributes,
     "Streams packed K x N elements and their scales through the array."},
    {Opcode::kQuantizeMx,
     "QuantizeMx",
     "quantize_mx",
     kVector,
     kQuantizeMxOperands,
     {},
     "Quantises groups of 32 elements to packed fp8 and a scale each."},
    {Opcode::kActivate2, "Activate2", "activate2", kScalar, kActivate2Operands,
     kActivate2Attributes,
     "f((data op0 imm0) op1 imm1), with running results."},
    {Opcode::kReadVectorAccumulator, "ReadVectorAccumulator",
     "read_vector_accumulator", kVector, kReadVectorAccumulatorOperands,
     kReadVectorAccumulatorAttributes,
     "Reads the vector engine's accumulators into a column."},
    {Opcode::kTensorScalarReduce, "TensorScalarReduce", "tensor_scalar_reduce",
     kVector, kTensorScalarReduceOperands, kTensorScalarReduceAttributes,
     "data op0 column, and its running reduction."},
    {Opcode::kTensorScalarCumulative, "TensorScalarCumulative",
     "tensor_scalar_cumulative", kVector, kTensorScalarCumulativeOperands,
     kTensorScalarCumulativeAttributes, "Running results of src op0 column."},
    {Opcode::kTensorTensorScan, "TensorTensorScan", "tensor_tensor_scan",
     kVector, kTensorTensorScanOperands, kTensorTensorScanAttributes,
     "state = (data0 op0 state) op1 data1, element by element."},
    {Opcode::kExponential, "Exponential", "exponential", kVector,
     kExponentialOperands, kExponentialAttributes,
     "exp(src - column), and its running sum."},
    {Opcode::kTensorCopyPredicated, "TensorCopyPredicated",
     "tensor_copy_predicated", kVector, kTensorCopyPredicatedOperands,
     kTensorCopyPredicatedAttributes,
     "Copies the elements whose predicate holds."},
    {Opcode::kRangeSelect, "RangeSelect", "range_select", kVector,
     kRangeSelectOperands, kRangeSelectAttributes,
     "Keeps the elements whose index lies between two bounds."},
    {Opcode::kSelectReduce, "SelectReduce", "select_reduce", kVector,
     kSelectReduceOperands, kSelectReduceAttributes,
     "Selects by a predicate, with a running maximum."},
    {Opcode::kBnStats,
     "BnStats",
     "bn_stats",
     kVector,
     kBnStatsOperands,
     {},
     "Count, mean and M2 of even and odd elements."},
    {Opcode::kBnAggr,
     "BnAggr",
     "bn_aggr",
     kVector,
     kBnAggrOperands,
     {},
     "Mean and variance of count, mean and M2 triples."},
    {Opcode::kMax8,
     "Max8",
     "max8",
     kVector,
     kMax8Operands,
     {},
     "The eight largest elements, descending."},
    {Opcode::kLoadMatchValues,
     "LoadMatchValues",
     "load_match_values",
     kVector,
     kLoadMatchValuesOperands,
     {},
     "Loads the eight values a search looks for."},
    {Opcode::kFindIndex8,
     "FindIndex8",
     "find_index8",
     kVector,
     kFindIndex8Operands,
     {},
     "Positions of the eight loaded values."},
    {Opcode::kMatchReplace8, "MatchReplace8", "match_replace8", kVector,
     kMatchReplace8Operands, kMatchReplace8Attributes,
     "Replaces the first of each of the eight loaded values."},
    {Opcode::kStreamShuffle, "StreamShuffle", "stream_shuffle", kVector,
     kStreamShuffleOperands, kStreamShuffleAttributes,
     "Moves lanes within quadrants of 32 partitions."},
    {Opcode::kPartitionReduce, "PartitionReduce", "partition_reduce", kGpsimd,
     kPartitionReduceOperands, kPartitionReduceAttributes,
     "Reduces the partitions to one."},
    {Opcode::kSequenceBounds,
     "SequenceBounds",
     "sequence_bounds",
     kGpsimd,
     kSequenceBoundsOperands,
     {},
     "Start and end of the segment of each element."},
    {Opcode::kLocalGather, "LocalGather", "local_gather", kGpsimd,
     kLocalGatherOperands, kLocalGatherAttributes,
     "Gathers elements by indices that 16 partitions share."},
    {Opcode::kNGather,
     "NGather",
     "n_gather",
     kGpsimd,
     kNGatherOperands,
     {},
     "Gathers elements of each partition by its own indices."},
    {Opcode::kNonzeroWithCount, "NonzeroWithCount", "nonzero_with_count",
     kGpsimd, kNonzeroWithCountOperands, kNonzeroWithCountAttributes,
     "Indices of the nonzero elements, and their number."},
    {Opcode::kTopK, "TopK", "top_k", kGpsimd, kTopKOperands, kTopKAttributes,
     "The largest elements of groups of 16 partitions, with their indices."},
    {Opcode::kRng,
     "Rng",
     "rng",
     kVector | kGpsimd,
     kRngOperands,
     {},
     "Random bits."},
    {Opcode::kRand2,
     "Rand2",
     "rand2",
     kVector,
     kRand2Operands,
     {},
     "Uniform random numbers."},
    {Opcode::kRandSetState,
     "RandSetState",
     "rand_set_state",
     kVector | kGpsimd,
     kRandSetStateOperands,
     {},
     "Sets the state of a random number generator."},
    {Opcode::kRandGetState,
     "RandGetState",
     "rand_get_state",
     kVector | kGpsimd,
     kRandGetStateOperands,
     {},
     "Reads the state of a random number generator."},
    {Opcode::kSetRngSeed,
     "SetRngSeed",
     "set_rng_seed",
     kVector,
     kSetRngSeedOperands,
     {},
     "Seeds the vector engine's generator."},
    {Opcode::kDropout,
     "Dropout",
     "dropout",
     kVector,
     kDropoutOperands,
     {},
     "Zeroes elements at random."},
    {Opcode::kDmaTranspose, "DmaTranspose", "dma_transpose", kAnySequencer,
     kDmaTransposeOperands, kDmaTransposeAttributes,
     "Triggers a DMA transfer that permutes dimensions.", true},
    {Opcode::kDmaCompute, "DmaCompute", "dma_compute", kAnySequencer,
     kDmaComputeOperands, kDmaComputeAttributes,
     "Triggers a DMA transfer that adds its sources.", true},
    {Opcode::kSendRecv, "SendRecv", "send_recv", kAnySequencer,
     kSendRecvOperands, kSendRecvAttributes,
     "Exchanges tiles with the other core of a logical core.", true},
    {Opcode::kCoreBarrier, "CoreBarrier", "core_barrier", kAnySequencer,
     kCoreBarrierOperands, kCoreBarrierAttributes,
     "Meets the other core of a logical core: 0 arrives, 1 leaves."},
    {Opcode::kCollective, "Collective", "collective", kAnySequencer,
     kCollectiveOperands, kCollectiveAttributes,
     "Triggers a collective of ranks, or gives it one of its tensors.", true},
    {Opcode::kCollectiveV, "CollectiveV", "collective_v", kAnySequencer,
     kCollectiveVOperands, kCollectiveVAttributes,
     "Triggers a collective whose sizes are in memory.", true},
    {Opcode::kRegisterMove,
     "RegisterMove",
     "register_move",
     kAnySequencer,
     kRegisterMoveOperands,
     {},
     "dst = src, in a register."},
    {Opcode::kRegisterAlu, "RegisterAlu", "register_alu", kAnySequencer,
     kRegisterAluOperands, kRegisterAluAttributes,
     "dst = a op b, in 32-bit registers."},
    {Opcode::kRegisterLoad,
     "RegisterLoad",
     "register_load",
     kAnySequencer,
     kRegisterLoadOperands,
     {},
     "Loads a register from memory."},
    {Opcode::kRegisterStore,
     "RegisterStore",
     "register_store",
     kAnySequencer,
     kRegisterStoreOperands,
     {},
     "Stores a register to memory."},
    {Opcode::kRankId,
     "RankId",
     "rank_id",
     kAnySequencer,
     kRankIdOperands,
     {},
     "dst = the rank that executes it."},
    {Opcode::kProcessingRank, "ProcessingRank", "processing_rank",
     kAnySequencer, kProcessingRankOperands, kProcessingRankAttributes,
     "dst = the rank whose data a step of a ring has."},
    {Opcode::kBranch, "Branch", "branch", kAnySequencer, kBranchOperands,
     kBranchAttributes, "Goes to an instruction of its stream if a op b."},
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
