// local_gather, nc_n_gather, topk.
#include "isa/operations/gpsimd.h"
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

Engine Gpsimd(const Call&, Engine) { return Engine::kGpsimd; }

namespace lg {
enum { kDst, kSrcBuffer, kIndex, kNumElemPerIdx, kNumValidIndices, kName };
}

constexpr ParameterSpec kLocalParameters[] = {
    Out("dst", kSbufOnly, kAnyType,
        "[P, num_valid_indices * num_elem_per_idx]"),
    In("src_buffer", kSbufOnly, kAnyType, "[P, S], P a multiple of 16"),
    In("index", kSbufOnly, SetOf(Dtype::kUint16),
       "[P, I]: 16 * I indices of each 16 partitions, down the partitions "
       "first; in elements"),
    Opt("num_elem_per_idx", ParameterKind::kInteger, "1",
        "contiguous elements per index: 1, 2, 4, 8, 16 or 32"),
    Opt("num_valid_indices", ParameterKind::kInteger, "None",
        "indices used of each 16 partitions; None: all"),
    kNameParameter,
};

int64_t ValidIndices(const Call& c) {
  const Value& n = c[lg::kNumValidIndices];
  return n.is_none() ? 16 * F(c[lg::kIndex]) : n.integer;
}
bool IsRun(int64_t n) {
  return n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || n == 32;
}

constexpr Rule kLocalRules[] = {
    {"local_gather.partitions",
     "P(src_buffer) == P(index) and P(src_buffer) % 16 == 0",
     "nki/api/nki/isa/__init__.py:1874",
     [](const Call& c) {
       return P(c[lg::kSrcBuffer]) == P(c[lg::kIndex]) &&
              P(c[lg::kSrcBuffer]) % 16 == 0;
     },
     "src_buffer",
     "src_buffer and index must have the same number of partitions, a "
     "multiple of 16, but they have {P:src_buffer} and {P:index}"},
    {"local_gather.dst_partitions", "P(dst) == P(src_buffer)",
     "nki/api/nki/isa/__init__.py:1867",
     [](const Call& c) { return P(c[lg::kDst]) == P(c[lg::kSrcBuffer]); },
     "dst",
     "dst must have the partitions of src_buffer, but dst has {P:dst} and "
     "src_buffer {P:src_buffer}",
     "", Layer::kDevice, Evidence::kInferred},
    {"local_gather.num_elem_per_idx",
     "num_elem_per_idx in (1, 2, 4, 8, 16, 32)",
     "nki/api/nki/isa/__init__.py:1877",
     [](const Call& c) { return IsRun(c[lg::kNumElemPerIdx].integer); },
     "num_elem_per_idx",
     "num_elem_per_idx must be 1, 2, 4, 8, 16 or 32, but it is "
     "{value:num_elem_per_idx}"},
    {"local_gather.most_indices",
     "(num_valid_indices if num_valid_indices is not None else 16 * F(index)) "
     "<= 4096",
     "nki/api/nki/isa/__init__.py:1878",
     [](const Call& c) { return ValidIndices(c) <= 4096; }, "index",
     "at most 4096 indices are used of 16 partitions, but num_valid_indices is "
     "{value:num_valid_indices} and index has {F:index} elements in each "
     "partition",
     "gather in several calls"},
    {"local_gather.num_valid_indices",
     "num_valid_indices is None or num_valid_indices <= 16 * F(index)",
     "nki/api/nki/isa/__init__.py:1853",
     [](const Call& c) { return ValidIndices(c) <= 16 * F(c[lg::kIndex]); },
     "num_valid_indices",
     "num_valid_indices must be at most 16 times the {F:index} elements that "
     "index has per partition, but it is {value:num_valid_indices}"},
    {"local_gather.dtype", "dt(dst) == dt(src_buffer)",
     "nki/api/nki/isa/__init__.py:1869",
     [](const Call& c) { return Dt(c[lg::kDst]) == Dt(c[lg::kSrcBuffer]); },
     "dst",
     "dst must have the dtype of src_buffer, but dst is {dt:dst} and "
     "src_buffer {dt:src_buffer}",
     "cast with tensor_copy before or after"},
    {"local_gather.dst_free_size",
     "F(dst) == (num_valid_indices if num_valid_indices is not None else 16 * "
     "F(index)) * num_elem_per_idx",
     "release-notes/components/nki.rst:102",
     [](const Call& c) {
       // Other rules speak of attributes out of range.
       const int64_t n = ValidIndices(c);
       const int64_t run = c[lg::kNumElemPerIdx].integer;
       return n > 4096 || !IsRun(run) || F(c[lg::kDst]) == n * run;
     },
     "dst",
     "dst must have num_valid_indices ({value:num_valid_indices}; None: 16 "
     "times the {F:index} elements of index) times num_elem_per_idx "
     "({value:num_elem_per_idx}) elements per partition, but it has {F:dst}; "
     "otherwise the device ignores num_elem_per_idx"},
};

namespace ng {
enum { kDst, kData, kIndices, kName };
}

constexpr ParameterSpec kGatherParameters[] = {
    Out("dst", kSbufOnly, kAnyType, "[P, ...], as many elements as indices"),
    In("data", kSbufOnly, kAnyType, "[P, ...]"),
    In("indices", kSbufOnly, SetOf(Dtype::kUint32),
       "[P, ...] positions in the flattened row of data"),
    kNameParameter,
};

constexpr Rule kGatherRules[] = {
    {"nc_n_gather.dtype", "dt(dst) == dt(data)",
     "nki/api/nki/isa/__init__.py:1919",
     [](const Call& c) { return Dt(c[ng::kDst]) == Dt(c[ng::kData]); }, "dst",
     "dst must have the dtype of data, but dst is {dt:dst} and data {dt:data}",
     "cast with tensor_copy before or after"},
    {"nc_n_gather.partitions",
     "P(dst) == P(data) and P(indices) == P(data) and (P(data) <= 128)",
     "nki/api/nki/isa/__init__.py:1930",
     [](const Call& c) {
       return P(c[ng::kDst]) == P(c[ng::kData]) &&
              P(c[ng::kIndices]) == P(c[ng::kData]);
     },
     "dst",
     "dst, data and indices must have the same number of partitions, but they "
     "have {P:dst}, {P:data} and {P:indices}",
     "local_gather gathers by the indices of 16 partitions"},
    {"nc_n_gather.free_size", "F(dst) == F(indices)",
     "nki/api/nki/isa/__init__.py:1931",
     [](const Call& c) { return F(c[ng::kDst]) == F(c[ng::kIndices]); }, "dst",
     "dst must have as many elements per partition as indices, but dst has "
     "{F:dst} and indices {F:indices}"},
};

namespace tk {
enum { kValDst, kIdxDst, kSrc, kN, kName };
}

constexpr ParameterSpec kTopkParameters[] = {
    Out("val_dst", kSbufOnly, SetOf(Dtype::kBFloat16),
        "[P, K] the K largest values, ascending"),
    Out("idx_dst", kSbufOnly, SetOf(Dtype::kUint32),
        "[P, K] their positions in the snake"),
    In("src", kSbufOnly, SetOf(Dtype::kBFloat16),
       "[P, X]: element i of 16 partitions is at partition i % 16, column "
       "i / 16"),
    Attr("n", ParameterKind::kInteger,
         "active elements in 16 partitions, 8 to 65535"),
    kNameParameter,
};

// In 64 bits, whatever n is.
bool HoldsSnake(const Call& c) {
  const int64_t n = c[tk::kN].integer;
  return n / 16 + (n % 16 > 0) <= F(c[tk::kSrc]);
}

constexpr Rule kTopkRules[] = {
    {"topk.n", "8 <= n < 65536", "nki/api/nki/isa/__init__.py:3351",
     [](const Call& c) {
       return c[tk::kN].integer >= 8 && c[tk::kN].integer < 65536;
     },
     "n", "n must be 8 to 65535, but it is {value:n}"},
    {"topk.k", "1 <= F(val_dst) < 32768 and F(val_dst) <= n",
     "nki/api/nki/isa/__init__.py:3352",
     [](const Call& c) {
       const int64_t k = F(c[tk::kValDst]);
       return k >= 1 && k < 32768 && k <= c[tk::kN].integer;
     },
     "val_dst",
     "K, the {F:val_dst} elements per partition of val_dst, must be 1 to "
     "32767 and at most n, which is {value:n}"},
    {"topk.src_free_size", "F(src) >= ceil(n / 16)",
     "nki/api/nki/isa/__init__.py:3353", HoldsSnake, "src",
     "src must hold n = {value:n} elements in 16 partitions, but it has "
     "{F:src} elements in each"},
    {"topk.groups", "P(src) % 16 == 0", "nki/api/nki/isa/__init__.py:3354",
     [](const Call& c) { return P(c[tk::kSrc]) % 16 == 0; }, "src",
     "src must have a multiple of 16 partitions, but it has {P:src}"},
    {"topk.dst_shape",
     "F(idx_dst) == F(val_dst) and P(val_dst) == P(src) and (P(idx_dst) == "
     "P(src))",
     "nki/api/nki/isa/__init__.py:3349",
     [](const Call& c) {
       return F(c[tk::kIdxDst]) == F(c[tk::kValDst]) &&
              P(c[tk::kValDst]) == P(c[tk::kSrc]) &&
              P(c[tk::kIdxDst]) == P(c[tk::kSrc]);
     },
     "idx_dst",
     "val_dst and idx_dst must have the {P:src} partitions of src and the same "
     "free size, but they are {shape:val_dst} and {shape:idx_dst}"},
};

constexpr OperationInfo kLocalGather = {
    "local_gather",
    kLocalParameters,
    kLocalRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kLocalGather,
              {OperandOf(c[lg::kDst]), OperandOf(c[lg::kSrcBuffer]),
               OperandOf(c[lg::kIndex])},
              {Int(c[lg::kNumElemPerIdx].integer), Int(ValidIndices(c))});
    },
    nullptr,
    "Gathers elements of each partition by indices that 16 partitions share.",
    "idx = the index tile of 16 partitions, down the partitions first; dst[p, "
    "k * E + e] = src_buffer[p, idx[k] + e], E = num_elem_per_idx. Moves bits.",
    "nki/api/nki/isa/__init__.py:1838-1889"};

constexpr OperationInfo kNcNGather = {
    "nc_n_gather",
    kGatherParameters,
    kGatherRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kNGather,
              {OperandOf(c[ng::kDst]), OperandOf(c[ng::kData]),
               OperandOf(c[ng::kIndices])},
              {});
    },
    nullptr,
    "Gathers elements of each partition by indices of its own.",
    "dst[p, j] = data[p].flat[indices[p, j]]. Moves bits.",
    "nki/api/nki/isa/__init__.py:1891-1937"};

constexpr OperationInfo kTopk = {
    "topk",
    kTopkParameters,
    kTopkRules,
    Gpsimd,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTopK,
              {OperandOf(c[tk::kValDst]), OperandOf(c[tk::kIdxDst]),
               OperandOf(c[tk::kSrc])},
              {Int(c[tk::kN].integer)});
    },
    nullptr,
    "The K largest of the n elements of each 16 partitions.",
    "Each of the 16 partitions receives the same K values, ascending, and "
    "their positions. Of equal values the earlier is the larger; NaN is below "
    "everything.",
    "nki/api/nki/isa/__init__.py:3321-3379"};

constexpr const OperationInfo* kOperations[] = {
    &kTensorPartitionReduce, &kSequenceBounds, &kLocalGather, &kNcNGather,
    &kNonzeroWithCount,      &kTopk,
};

}  // namespace

std::span<const OperationInfo* const> GatherOperations() { return kOperations; }

}  // namespace trnemu::rows
