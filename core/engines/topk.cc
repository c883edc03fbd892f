// TopK: the largest of groups of 16 partitions.
//
// The documents contradict themselves: "each partition operates independently"
// and a 16-partition snake as the input (nki/api/nki/isa/__init__.py:3324),
// "[par_dim, k]" outputs and outputs that must be de-snaked
// (nki/library/api/gpsimd-topk.rst:46). Taken here: the group's n inputs are
// s[i] = src[i % 16, i / 16], and every partition of the group receives the
// same K values and indices, ascending [assumed]. Of equal values (+0 and -0,
// too) the one with the lower index is the larger; NaN is below everything
// [assumed: spec/numerics.md 15.22].
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr int64_t kGroup = 16;

// A key's upper half orders the values, its lower half is 0xFFFF - index.
// Indices have 16 bits: n < 65536.
uint32_t IndexOf(uint32_t key) { return 0xFFFF - (key & 0xFFFF); }

// Greater for greater bfloat16 values, equal for zeros, 0 for NaN.
uint32_t Rank(uint32_t bits, bool flush_subnormals) {
  const uint32_t magnitude = bits & 0x7FFF;
  if (magnitude > 0x7F80) return 0;
  if (magnitude == 0 || (flush_subnormals && magnitude < 0x80)) return 0x8000;
  return (bits & 0x8000) != 0 ? 0x8000 - magnitude : 0x8000 + magnitude;
}

// Once a run: what the outputs look like is not known (topk.layout).
void WarnLayout(CoreState& state) {
  if (state.topk_reported) return;
  state.topk_reported = true;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "topk.layout";
  d.operand = "val_dst";
  d.message =
      "documents contradict each other on where topk puts the K values of 16 "
      "partitions; here each of the 16 receives all of them, ascending";
  d.remedy = "rely on the set of values and on the pairs of value and index";
  d.reference = "nki/library/api/gpsimd-topk.rst:46";
  Warn(state, std::move(d));
}

// The result depends on how equal values or NaN are ordered (topk.order).
void WarnOrder(const Tile& src, int64_t group, bool nan, uint32_t first,
               uint32_t second, CoreState& state) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "topk.order";
  d.operand = "src";
  d.message = absl::StrCat(
      "in the 16 partitions from ", src.first_partition + group * kGroup,
      nan ? absl::StrCat(", input ", first, " of the snake is NaN")
          : absl::StrCat(", inputs ", first, " and ", second,
                         " of the snake are equal"),
      ": no document says how topk orders them; ",
      nan ? "NaN was taken as less than everything"
          : "the one with the lower index was taken as the larger");
  d.details = {{"partition", absl::StrCat(src.first_partition + group * kGroup +
                                          first % kGroup)},
               {"element", absl::StrCat(first / kGroup)}};
  d.reference = "nki/api/nki/isa/__init__.py:3321, which does not say";
  Warn(state, std::move(d));
}

// The group's snake, as bits.
absl::Status ReadSnake(const Tile& src, int64_t group, int64_t n,
                       uint32_t* snake, CoreState& state) {
  const RowReader reader(src, state.numerics);
  uint32_t* const row = BitsBuffer(state, 2, src.free_size);
  for (int64_t r = 0; r < kGroup && r < n; ++r) {
    const int64_t partition = group * kGroup + r;
    const int64_t used = (n - r + kGroup - 1) / kGroup;
    if (state.check_memory) {
      absl::Status status =
          AdmitUnwritten(state, src, "src", partition * src.free_size, used);
      if (!status.ok()) return status;
    }
    reader.ReadBits(partition, row);
    for (int64_t c = 0; c < used; ++c) snake[c * kGroup + r] = row[c];
  }
  return absl::OkStatus();
}

// Moves the k largest keys to the end, in order; returns the first of them.
uint32_t* SelectLargest(uint32_t* keys, int64_t n, int64_t k) {
  uint32_t* const top = keys + (n - k);
  if (k < n) std::nth_element(keys, top, keys + n);
  std::sort(top, keys + n);
  return top;
}

// Reports the first NaN. Returns whether there was one.
bool ReportNan(const Tile& src, int64_t group, const uint32_t* keys, int64_t n,
               CoreState& state) {
  const auto is_nan = [](uint32_t key) { return key >> 16 == 0; };
  const uint32_t* const nan = std::find_if(keys, keys + n, is_nan);
  if (nan == keys + n) return false;
  WarnOrder(src, group, true, IndexOf(*nan), 0, state);
  return true;
}

// Reports the least two equal values of which at least one was selected.
// Returns whether it did.
bool ReportTie(const Tile& src, int64_t group, const uint32_t* keys,
               const uint32_t* top, const uint32_t* end, CoreState& state) {
  uint32_t below = top == keys ? *top : *std::max_element(keys, top);
  const uint32_t* key = top == keys ? top + 1 : top;
  for (; key != end; below = *key++) {
    if (*key >> 16 != below >> 16) continue;
    WarnOrder(src, group, false, IndexOf(*key), IndexOf(below), state);
    return true;
  }
  return false;
}

// To every partition of the group.
void WriteGroup(RowWriter& writer, int64_t group, const uint32_t* row) {
  for (int64_t r = 0; r < kGroup; ++r)
    writer.WriteBits(group * kGroup + r, row);
}

}  // namespace

absl::Status ExecuteTopK(const ExecuteArgs& args, CoreState& state) {
  using S = slot::TopK;
  const Tile& values = args.slots[S::kValDst].tile;
  const Tile& indices = args.slots[S::kIdxDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  const int64_t n = args.attributes[S::kN].integer();
  const int64_t k = values.free_size;
  const bool flush = state.numerics.subnormals == Subnormals::kFlush;
  WarnLayout(state);
  RowWriter value_writer(values, "val_dst", state);
  RowWriter index_writer(indices, "idx_dst", state);
  uint32_t* const keys = BitsBuffer(state, 0, n);
  uint32_t* const snake = BitsBuffer(state, 1, n);
  bool reported = false;
  for (int64_t group = 0; group * kGroup < src.partitions; ++group) {
    absl::Status status = ReadSnake(src, group, n, snake, state);
    if (!status.ok()) return status;
    for (int64_t i = 0; i < n; ++i) {
      keys[i] =
          Rank(snake[i], flush) << 16 | (0xFFFF - static_cast<uint32_t>(i));
    }
    reported = reported || ReportNan(src, group, keys, n, state);
    uint32_t* const top = SelectLargest(keys, n, k);
    reported = reported || ReportTie(src, group, keys, top, keys + n, state);
    for (int64_t j = 0; j < k; ++j) top[j] = IndexOf(top[j]);
    WriteGroup(index_writer, group, top);
    for (int64_t j = 0; j < k; ++j) top[j] = snake[top[j]];
    WriteGroup(value_writer, group, top);
  }
  if (state.check_memory) {
    MarkWritten(values);
    MarkWritten(indices);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
