// tensor_partition_reduce, sequence_bounds, nonzero_with_count.
#include "isa/operations/gpsimd.h"

#include <limits>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

Engine Gpsimd(const Call&, Engine) { return Engine::kGpsimd; }

namespace pr {
enum { kDst, kOp, kData, kName };
}

constexpr ParameterSpec kReduceParameters[] = {
    Out("dst", kSbufOnly, kAnyType, "[1, ...], as many elements as data"),
    Attr("op", ParameterKind::kPartitionOp,
         "add, average, maximum, bitwise_or or bitwise_and"),
    In("data", kSbufOnly, kAnyType, "[P, ...]"),
    kNameParameter,
};

constexpr Rule kReduceRules[] = {
    {"tensor_partition_reduce.dst_shape", "P(dst) == 1 and F(dst) == F(data)",
     "nki/test/test_nki_isa_partition_reduce.py:28",
     [](const Call& c) {
       return P(c[pr::kDst]) == 1 && F(c[pr::kDst]) == F(c[pr::kData]);
     },
     "dst",
     "dst must be one partition of {F:data} elements, as many as data has, but "
     "it is {shape:dst}"},
    {"tensor_partition_reduce.bitvec_dtype",
     "op not in ('bitwise_or', 'bitwise_and') or (dt(data) in INT and dt(dst) "
     "in INT)",
     "nki/api/nki/isa/__init__.py:1250",
     [](const Call& c) {
       const PartitionOp op = c[pr::kOp].as<PartitionOp>();
       if (op != PartitionOp::kBitwiseOr && op != PartitionOp::kBitwiseAnd) {
         return true;
       }
       return IsInteger(Dt(c[pr::kData])) && IsInteger(Dt(c[pr::kDst]));
     },
     "data",
     "bitwise reductions need integer tiles, but data is {dt:data} and dst "
     "{dt:dst}",
     "view the bytes as an integer dtype", Layer::kDevice, Evidence::kInferred},
};

namespace sb {
enum { kDst, kSegmentIds, kName };
}

constexpr DtypeSet kFloat32OrInt32 =
    SetOf(Dtype::kFloat32) | SetOf(Dtype::kInt32);

constexpr ParameterSpec kBoundsParameters[] = {
    Out("dst", kSbufOnly, kFloat32OrInt32,
        "[1, 2, n]: the starts, then the ends"),
    In("segment_ids", kSbufOnly, kFloat32OrInt32,
       "[1, n] whole numbers, at least 0; 0 marks padding"),
    kNameParameter,
};

constexpr Rule kBoundsRules[] = {
    {"sequence_bounds.partitions", "P(segment_ids) == 1 and P(dst) == 1",
     "nki/api/nki/isa/__init__.py:2445",
     [](const Call& c) {
       return P(c[sb::kSegmentIds]) == 1 && P(c[sb::kDst]) == 1;
     },
     "segment_ids",
     "segment_ids and dst must have one partition, but they have "
     "{P:segment_ids} and {P:dst}"},
    {"sequence_bounds.free_size", "F(dst) == 2 * F(segment_ids)",
     "nki/api/nki/isa/__init__.py:2446",
     [](const Call& c) { return F(c[sb::kDst]) == 2 * F(c[sb::kSegmentIds]); },
     "dst",
     "dst must hold a start and an end for each of the {F:segment_ids} "
     "elements of segment_ids, but it has {F:dst} elements"},
};

namespace nz {
enum { kDst, kSrc, kIndexOffset, kPaddingVal, kName };
}

constexpr ParameterSpec kNonzeroParameters[] = {
    {"dst", ParameterKind::kTile, true, "", Role::kInOut, kSbufOnly,
     SetOf(Dtype::kInt32),
     "[P, T + 1]; partitions 0, 16, ..., 112 are written"},
    In("src", kSbufOnly, kFloat32OrInt32,
       "[P, T]; partitions 0, 16, ..., 112 are read"),
    Opt("index_offset", ParameterKind::kInteger, "0",
        "int32, added to each index"),
    Opt("padding_val", ParameterKind::kInteger, "-1",
        "int32, behind the indices"),
    kNameParameter,
};

bool IsInt32(const Value& v) {
  return v.integer >= std::numeric_limits<int32_t>::min() &&
         v.integer <= std::numeric_limits<int32_t>::max();
}

constexpr Rule kNonzeroRules[] = {
    {"nonzero_with_count.generation", "gen >= 3",
     "nki/api/nki/isa/__init__.py:3226",
     [](const Call& c) { return c.gen() >= 3; }, "dst",
     "nonzero_with_count needs trn2 or trn3, and this is {target}"},
    {"nonzero_with_count.partitions", "P(src) == P(dst)",
     "nki/api/nki/isa/__init__.py:3268",
     [](const Call& c) { return P(c[nz::kSrc]) == P(c[nz::kDst]); }, "dst",
     "dst must have the partitions of src, but dst has {P:dst} and src "
     "{P:src}"},
    {"nonzero_with_count.free_size", "F(dst) == F(src) + 1",
     "nki/api/nki/isa/__init__.py:3269",
     [](const Call& c) { return F(c[nz::kDst]) == F(c[nz::kSrc]) + 1; }, "dst",
     "dst must have one element more than src, for the count, but dst has "
     "{F:dst} and src {F:src}"},
    {"nonzero_with_count.int32",
     "is_int32_const(index_offset) and is_int32_const(padding_val)",
     "nki/api/nki/isa/__init__.py:3273",
     [](const Call& c) {
       return IsInt32(c[nz::kIndexOffset]) && IsInt32(c[nz::kPaddingVal]);
     },
     "index_offset",
     "index_offset and padding_val must fit int32, but they are "
     "{value:index_offset} and {value:padding_val}"},
};

}  // namespace

const OperationInfo kTensorPartitionReduce = {
    "tensor_partition_reduce",
    kReduceParameters,
    kReduceRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kPartitionReduce,
              {OperandOf(c[pr::kDst]), OperandOf(c[pr::kData])},
              {Int(c[pr::kOp].integer)});
    },
    nullptr,
    "Reduces the partitions of data to one.",
    "fp32, one partition after the other from the first on; average divides "
    "the sum by the number of partitions; one cast to dst. Bitwise reductions "
    "work on raw bits.",
    "nki/api/nki/isa/__init__.py:1246-1252"};

const OperationInfo kSequenceBounds = {
    "sequence_bounds",
    kBoundsParameters,
    kBoundsRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kSequenceBounds,
              {OperandOf(c[sb::kDst]), OperandOf(c[sb::kSegmentIds])}, {});
    },
    nullptr,
    "Start and end of the run of equal ids that each element belongs to.",
    "Ends are exclusive. Padding (id 0) has start n and end -1.",
    "nki/api/nki/isa/__init__.py:2434-2455"};

const OperationInfo kNonzeroWithCount = {
    "nonzero_with_count",
    kNonzeroParameters,
    kNonzeroRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(
          c, e, Opcode::kNonzeroWithCount,
          {OperandOf(c[nz::kDst]), OperandOf(c[nz::kSrc])},
          {Int(c[nz::kIndexOffset].integer), Int(c[nz::kPaddingVal].integer)});
    },
    nullptr,
    "Indices of the nonzero elements, and how many there are.",
    "In partitions 0, 16, ..., 112: the indices plus index_offset, then "
    "padding_val, in the last element the count. Other partitions of dst stay "
    "as they are.",
    "nki/api/nki/isa/__init__.py:3221-3319"};

}  // namespace trnemu::rows
