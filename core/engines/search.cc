// Max8, LoadMatchValues, FindIndex8, MatchReplace8.
//
// Everything is compared as fp32 (nki/api/nki/isa/__init__.py:2418) with IEEE's
// equality, so +0 is -0 and NaN is nothing [assumed]. A value that is loaded
// several times takes its next occurrence each time: from column 0 on for
// FindIndex8 (spec/decisions.md), from column 7 down for MatchReplace8
// (documented). Lane 0 belongs to each tile's first partition [assumed].
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/convert.h"

namespace trnemu {
namespace {

constexpr size_t kValues = 8;
constexpr uint32_t kNotFound = 0xffffffff;
using Eight = std::array<float, kValues>;
using Indices = std::array<uint32_t, kValues>;

void WarnUnspecified(std::string_view id, std::string_view operand,
                     const std::string& message, std::string_view remedy,
                     std::string_view reference, CoreState& state) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = id;
  d.operand = operand;
  d.message = message;
  d.remedy = remedy;
  d.reference = reference;
  Warn(state, std::move(d));
}

// "at partition 3": the place of a tile's row.
std::string At(const Tile& tile, int64_t partition) {
  return absl::StrCat("at partition ", tile.first_partition + partition);
}

// ---- Max8 ----

// Whether an element of a chunk is above `least`.
constexpr int64_t kChunk = 64;
bool AnyAbove(const float* chunk, float least) {
  int any = 0;
  for (int64_t i = 0; i < kChunk; ++i) any |= chunk[i] > least ? 1 : 0;
  return any != 0;
}

// Puts x before the first of `top` that is smaller, keeping equals in order.
void Insert(Eight& top, size_t& filled, float x) {
  size_t at = filled;
  while (at > 0 && x > top[at - 1]) --at;
  if (at == kValues) return;
  filled = std::min(filled + 1, kValues);
  for (size_t i = filled - 1; i > at; --i) top[i] = top[i - 1];
  top[at] = x;
}

// The eight largest numbers; NaN in the places that are left.
Eight LargestEight(const float* row, int64_t n) {
  Eight top;
  size_t filled = 0;
  for (int64_t i = 0; i < n;) {
    if (filled == kValues && i + kChunk <= n &&
        !AnyAbove(row + i, top[kValues - 1])) {
      i += kChunk;
      continue;
    }
    const int64_t end = std::min(n, i + kChunk);
    for (; i < end; ++i) {
      if (filled == kValues && !(row[i] > top[kValues - 1])) continue;
      if (!std::isnan(row[i])) Insert(top, filled, row[i]);
    }
  }
  std::fill(top.begin() + static_cast<ptrdiff_t>(filled), top.end(),
            std::numeric_limits<float>::quiet_NaN());
  return top;
}

// ---- the searches ----

// The first element from `from` on that equals `value`, or n.
int64_t Find(const float* row, int64_t from, int64_t n, float value) {
  for (; from + kChunk <= n; from += kChunk) {
    int any = 0;
    for (int64_t i = 0; i < kChunk; ++i) any |= row[from + i] == value ? 1 : 0;
    if (any != 0) break;
  }
  while (from < n && !(row[from] == value)) ++from;
  return from;
}

struct Matches {
  Indices indices;  // kNotFound: none
  int absent = -1;  // a column without a match
  int spent = -1;   // one whose value has matches, but not enough
};

// Takes the columns in order, or from the last to the first.
Matches Match(const float* row, int64_t n, const Eight& values, bool reverse) {
  Matches m;
  for (size_t step = 0; step < kValues; ++step) {
    const size_t column = reverse ? kValues - 1 - step : step;
    int64_t from = 0;
    bool repeats = false;
    for (size_t before = 0; before < step; ++before) {
      const size_t other = reverse ? kValues - 1 - before : before;
      if (!(values[other] == values[column])) continue;
      const uint32_t index = m.indices[other];
      from = index == kNotFound ? n : int64_t{index} + 1;
      repeats = repeats || index != kNotFound;
    }
    const int64_t found = Find(row, from, n, values[column]);
    m.indices[column] = found < n ? static_cast<uint32_t>(found) : kNotFound;
    if (found < n) continue;
    m.absent = static_cast<int>(column);
    if (repeats) m.spent = static_cast<int>(column);
  }
  return m;
}

// `uninitialized` if fewer lanes were loaded than `data` has partitions.
absl::Status CheckLoaded(const Tile& data, const CoreState& state) {
  if (data.partitions <= state.match_lanes) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "match_values.nothing_loaded";
  d.operand = "data";
  d.message = absl::StrCat("data has ", data.partitions,
                           " partitions, but the values to look for are "
                           "loaded for ",
                           state.match_lanes, " lanes");
  d.remedy = "load the values first, as nc_find_index8 does";
  return ToStatus(std::move(d));
}

}  // namespace

absl::Status ExecuteMax8(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Max8;
  const Tile& src = args.slots[S::kSrc].tile;
  const RowReader reader(src, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  const size_t n = static_cast<size_t>(src.free_size);
  float* const buffer = RowBuffer(state, 0, src.free_size);
  bool reported = false;
  for (uint32_t p = 0; p < src.partitions; ++p) {
    const float* const row = reader.Read(p, buffer);
    const size_t nan = reported ? n : FirstNan(row, n);
    if (nan < n) {
      WarnUnspecified(
          "max8.nan", "src",
          absl::StrCat("src has NaN ", At(src, p), ", element ", nan,
                       ": no document says how it compares; it was taken as "
                       "less than every number"),
          "replace NaN first", "nki/api/nki/isa/__init__.py:2418", state);
      reported = true;
    }
    writer.Write(p, LargestEight(row, src.free_size).data());
  }
  return absl::OkStatus();
}

absl::Status ExecuteLoadMatchValues(const ExecuteArgs& args, CoreState& state) {
  const Tile& vals = args.slots[slot::LoadMatchValues::kVals].tile;
  const RowReader reader(vals, state.numerics);
  state.match_lanes = vals.partitions;
  bool reported = false;
  for (uint32_t p = 0; p < vals.partitions; ++p) {
    float* const row = state.match_values[p].data();
    reader.ReadInto(p, row);
    const size_t nan = reported ? kValues : FirstNan(row, kValues);
    if (nan == kValues) continue;
    WarnUnspecified(
        "match_values.nan", "vals",
        absl::StrCat("vals has NaN ", At(vals, p), ", column ", nan,
                     ": no document says what equals it; it was taken to equal "
                     "nothing"),
        "replace NaN first", "nki/api/nki/isa/__init__.py:3169", state);
    reported = true;
  }
  return absl::OkStatus();
}

absl::Status ExecuteFindIndex8(const ExecuteArgs& args, CoreState& state) {
  using S = slot::FindIndex8;
  const Tile& data = args.slots[S::kData].tile;
  absl::Status status = CheckLoaded(data, state);
  if (!status.ok()) return status;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  float* const buffer = RowBuffer(state, 0, data.free_size);
  bool reported = false;
  for (uint32_t p = 0; p < data.partitions; ++p) {
    const Matches m = Match(reader.Read(p, buffer), data.free_size,
                            state.match_values[p], false);
    if (m.spent >= 0 && !reported) {
      WarnUnspecified(
          "nc_find_index8.too_few", "vals",
          absl::StrCat("vals repeats ",
                       state.match_values[p][static_cast<size_t>(m.spent)],
                       " more often than data has it ", At(data, p),
                       ": no document says what column ", m.spent,
                       " is then; it was taken as not found, all ones"),
          "look for a value at most as often as it occurs",
          "release-notes/components/nki.rst:76", state);
      reported = true;
    }
    writer.WriteBits(p, m.indices.data());
  }
  return absl::OkStatus();
}

absl::Status ExecuteMatchReplace8(const ExecuteArgs& args, CoreState& state) {
  using S = slot::MatchReplace8;
  const Tile& data = args.slots[S::kData].tile;
  absl::Status status = CheckLoaded(data, state);
  if (!status.ok()) return status;
  const Slot& dst_idx = args.slots[S::kDstIdx];
  const bool wants_indices = dst_idx.kind == Operand::Kind::kAccess;
  const float imm = static_cast<float>(args.attributes[S::kImm].real());
  const int64_t n = data.free_size;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  RowWriter indices(wants_indices ? dst_idx.tile : data, "dst_idx", state);
  writer.Reads(data);
  float* const buffer = RowBuffer(state, 0, n);
  bool reported = !wants_indices;
  for (uint32_t p = 0; p < data.partitions; ++p) {
    const float* const row = reader.Read(p, buffer);
    const Matches m = Match(row, n, state.match_values[p], true);
    float* const out = writer.Place(p, buffer);
    if (out != row) std::copy_n(row, n, out);
    for (const uint32_t i : m.indices) {
      if (i != kNotFound) out[i] = imm;
    }
    writer.Write(p, out);
    if (wants_indices) indices.WriteBits(p, m.indices.data());
    if (m.absent < 0 || reported) continue;
    WarnUnspecified(
        "nc_match_replace8.absent", "dst_idx",
        absl::StrCat("data does not have ",
                     state.match_values[p][static_cast<size_t>(m.absent)],
                     " of vals (often enough) ", At(data, p), ": column ",
                     m.absent,
                     " of dst_idx is undefined; it was taken as all ones"),
        "leave out dst_idx, or look only for what data has",
        "aws-neuron-sdk v2.26.0: general/nki/api/nki/isa/__init__.py:767",
        state);
    reported = true;
  }
  return absl::OkStatus();
}

}  // namespace trnemu
