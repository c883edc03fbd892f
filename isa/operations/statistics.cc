// bn_stats, bn_aggr.
#include <array>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

enum { kDst, kData, kName };  // of both

Engine OnVector(const Call&, Engine) { return Engine::kVector; }

bool HasRowsOf(const Call& c, int64_t elements) {
  return F(c[kDst]) == elements && P(c[kDst]) == P(c[kData]);
}

constexpr ParameterSpec kStatsParameters[] = {
    Out("dst", kOnChip, kAnyType,
        "[P, 6]: count, mean, variance * count of the even and of the odd "
        "elements"),
    In("data", kOnChip, kAnyType, "[P, ...], at most 512 elements"),
    kNameParameter,
};

constexpr int64_t kMostElements = 512;

constexpr Rule kStatsRules[] = {
    {"bn_stats.free_size", "F(data) <= 512", "nki/api/nki/isa/__init__.py:1961",
     [](const Call& c) { return F(c[kData]) <= kMostElements; }, "data",
     "data must have at most 512 elements per partition, but it has {F:data}",
     "use bn_stats on each 512 elements, with neighbouring parts of one tile "
     "as dst, and one bn_aggr on that tile"},
    {"bn_stats.dst_shape", "F(dst) == 6 and P(dst) == P(data)",
     "nki/api/nki/isa/__init__.py:1943",
     [](const Call& c) { return HasRowsOf(c, 6); }, "dst",
     "dst must have 6 elements in each of data's {P:data} partitions, but it "
     "is {shape:dst}"},
};

constexpr OperationInfo kBnStats = {
    "bn_stats",
    kStatsParameters,
    kStatsRules,
    OnVector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kBnStats, {OperandOf(c[kDst]), OperandOf(c[kData])},
              {});
    },
    nullptr,
    "Count, mean and variance * count of the even and the odd elements.",
    "fp32 in access order: mean = sum / count, then the sum of (x - mean)^2; "
    "even and odd count along the flattened free dimensions. One cast to dst.",
    "nki/api/nki/isa/__init__.py:1939-1973"};

constexpr ParameterSpec kAggrParameters[] = {
    Out("dst", kOnChip, kAnyType, "[P, 2]: mean, variance"),
    In("data", kOnChip, kAnyType,
       "[P, 3 t]: t triples of count, mean, variance * count"),
    kNameParameter,
};

constexpr Rule kAggrRules[] = {
    {"bn_aggr.free_size", "F(data) % 3 == 0",
     "nki/api/nki/isa/__init__.py:1982",
     [](const Call& c) { return F(c[kData]) % 3 == 0; }, "data",
     "data must hold triples of count, mean and variance * count, but it has "
     "{F:data} elements per partition"},
    {"bn_aggr.dst_shape", "F(dst) == 2 and P(dst) == P(data)",
     "nki/api/nki/isa/__init__.py:1993",
     [](const Call& c) { return HasRowsOf(c, 2); }, "dst",
     "dst must have 2 elements, mean and variance, in each of data's {P:data} "
     "partitions, but it is {shape:dst}"},
};

constexpr OperationInfo kBnAggr = {
    "bn_aggr",
    kAggrParameters,
    kAggrRules,
    OnVector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kBnAggr, {OperandOf(c[kDst]), OperandOf(c[kData])},
              {});
    },
    nullptr,
    "Mean and variance of several bn_stats.",
    "Of triples (c, m, v), fp32 sums in order: C = sum c, mean = sum c m / C, "
    "variance = (sum v + sum c (m - mean)^2) / C. One cast to dst.",
    "nki/api/nki/isa/__init__.py:1975-1995"};

constexpr std::array kOperations = {&kBnStats, &kBnAggr};

}  // namespace

std::span<const OperationInfo* const> StatisticsOperations() {
  return kOperations;
}

}  // namespace trnemu::rows
