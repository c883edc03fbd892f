// BnStats, BnAggr: fp32, each sum in access order, one cast at the end.
//
// The algorithm is not documented; sums then a division, and M2 by a second
// pass over (x - mean)^2, are assumed. The first element starts a sum, as in
// tensor_reduce. Of no elements, mean and M2 are 0; of no counts, mean and
// variance are NaN (numerics.md 15.18). NaN results are 0x7FC00000.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/open_choices.h"

namespace trnemu {
namespace {

constexpr int64_t kStats = 6;
constexpr int64_t kTriple = 3;
// Partitions side by side; each has two chains.
constexpr int64_t kBlock = 16;

float OneNan(float x) {
  return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x;
}

// ---- BnStats ----

void WarnEmptyOddSet(const Tile& data, CoreState& state) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "bn_stats.no_odd_elements";
  d.operand = "data";
  d.message =
      "data has 1 element per partition, so none at an odd position: no "
      "document says what the mean of none is; it was taken as 0";
  d.details = {{"elements", absl::StrCat(data.free_size)}};
  d.remedy = "give bn_stats two elements or more";
  d.reference = "nki/api/nki/isa/__init__.py:1943";
  Warn(state, std::move(d));
}

using Chains = std::array<const float*, 2 * kBlock>;
using Sums = std::array<float, 2 * kBlock>;

// sums[i] of `length` elements of each chain, one after the other.
void SumChains(const Chains& chains, size_t count, int64_t length,
               Reduction order, Sums& sums) {
  Chains rest{};
  if (order != Reduction::kSequential) {
    std::fill_n(sums.begin(), count, -0.0f);
    return ReduceRowsIn(order, AluOp::kAdd, chains.data(), count,
                        static_cast<size_t>(length), sums.data());
  }
  for (size_t i = 0; i < count; ++i) {
    sums[i] = *chains[i];
    rest[i] = chains[i] + 1;
  }
  ReduceRows(AluOp::kAdd, rest.data(), count, static_cast<size_t>(length - 1),
             sums.data());
}

// count, mean and M2 of `partitions` rows of `length` elements, `stride`
// apart, which are overwritten; to every kStats-th place of `stats`.
void Describe(float* rows, int64_t partitions, int64_t length, int64_t stride,
              Reduction order, float* stats) {
  const size_t n = static_cast<size_t>(length);
  const size_t count = static_cast<size_t>(partitions);
  Chains chains{};
  for (size_t i = 0; i < count; ++i) {
    chains[i] = rows + static_cast<int64_t>(i) * stride;
    float* const out = stats + static_cast<int64_t>(i) * kStats;
    out[0] = static_cast<float>(length);
    out[1] = out[2] = 0;
  }
  if (length == 0) return;
  Sums sums{};
  SumChains(chains, count, length, order, sums);
  for (size_t i = 0; i < count; ++i) {
    const float mean = OneNan(sums[i] / static_cast<float>(length));
    float* const row = rows + static_cast<int64_t>(i) * stride;
    AluRowScalar(AluOp::kSubtract, row, mean, false, n, row);
    AluRowUnary(AluOp::kSquare, row, n, row);
    stats[static_cast<int64_t>(i) * kStats + 1] = mean;
  }
  SumChains(chains, count, length, order, sums);
  for (size_t i = 0; i < count; ++i) {
    stats[static_cast<int64_t>(i) * kStats + 2] = OneNan(sums[i]);
  }
}

// ---- BnAggr ----

// mean and variance of triples (count, mean, M2).
std::array<float, 2> Aggregate(const float* triples, int64_t n) {
  float counts = triples[0];
  float means = triples[0] * triples[1];
  float squares = triples[2];
  for (int64_t i = kTriple; i < n; i += kTriple) {
    counts += triples[i];
    means += triples[i] * triples[i + 1];
    squares += triples[i + 2];
  }
  const float mean = means / counts;
  float shifts = 0;
  for (int64_t i = 0; i < n; i += kTriple) {
    const float away = triples[i + 1] - mean;
    const float shift = triples[i] * (away * away);
    shifts = i == 0 ? shift : shifts + shift;
  }
  return {OneNan(mean), OneNan((squares + shifts) / counts)};
}

float CountOf(const float* triples, int64_t n) {
  float counts = triples[0];
  for (int64_t i = kTriple; i < n; i += kTriple) counts += triples[i];
  return counts;
}

void WarnNoCount(const Tile& data, int64_t partition, CoreState& state) {
  const int64_t where = data.first_partition + partition;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "bn_aggr.no_count";
  d.operand = "data";
  d.message = absl::StrCat(
      "the counts of data add up to 0 at partition ", where,
      ": no document says what mean and variance are then; they were taken as "
      "0 divided by 0");
  d.details = {{"partition", absl::StrCat(where)}};
  d.remedy = "aggregate the statistics of at least one element";
  d.reference = "nki/api/nki/isa/__init__.py:1975";
  Warn(state, std::move(d));
}

}  // namespace

absl::Status ExecuteBnStats(const ExecuteArgs& args, CoreState& state) {
  using S = slot::BnStats;
  const Tile& data = args.slots[S::kData].tile;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  const int64_t n = data.free_size;
  const int64_t even = (n + 1) / 2;
  if (n == 1) WarnEmptyOddSet(data, state);
  float* const buffer = RowBuffer(state, 0, n);
  float* const rows = MatrixBuffer(state, 0, kBlock * 2 * even);
  std::array<float, kBlock * kStats> stats;
  for (int64_t first = 0; first < data.partitions; first += kBlock) {
    const int64_t count = std::min<int64_t>(kBlock, data.partitions - first);
    for (int64_t p = 0; p < count; ++p) {
      const float* const x = reader.Read(first + p, buffer);
      float* const row = rows + p * 2 * even;
      for (int64_t i = 0; i < n; ++i) row[i % 2 * even + i / 2] = x[i];
    }
    Describe(rows, count, even, 2 * even, state.numerics.reduce, stats.data());
    Describe(rows + even, count, n - even, 2 * even, state.numerics.reduce,
             stats.data() + kTriple);
    for (int64_t p = 0; p < count; ++p) {
      writer.Write(first + p, stats.data() + p * kStats);
    }
  }
  return absl::OkStatus();
}

absl::Status ExecuteBnAggr(const ExecuteArgs& args, CoreState& state) {
  using S = slot::BnAggr;
  const Tile& data = args.slots[S::kData].tile;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  float* const buffer = RowBuffer(state, 0, data.free_size);
  bool reported = false;
  for (uint32_t p = 0; p < data.partitions; ++p) {
    const float* const triples = reader.Read(p, buffer);
    if (!reported && CountOf(triples, data.free_size) == 0) {
      WarnNoCount(data, p, state);
      reported = true;
    }
    writer.Write(p, Aggregate(triples, data.free_size).data());
  }
  return absl::OkStatus();
}

}  // namespace trnemu
