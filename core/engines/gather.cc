// LocalGather, NGather: elements of a partition by index, as bits.
//
// Only what is gathered must have been written. An index outside is an error
// (nki/api/nki/isa/__init__.py:1859, 1932): documents leave the result open.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/select.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// The partitions that one gpsimd core is connected to
// (nki/api/nki/isa/__init__.py:1841).
constexpr int64_t kGroup = 16;

// What a partition's row is gathered by: n indices, each of the first of `run`
// elements.
struct Indices {
  const uint32_t* values;
  int64_t n;
  int64_t run;
  bool in_place = false;  // words go straight to dst
};

// Whether dst's rows are words as source's are, and nothing is read from them.
bool GathersInPlace(const RowReader& reader, const RowWriter& writer,
                    const Tile& source, const Tile& dst) {
  return SizeOf(source.dtype) == sizeof(uint32_t) && reader.contiguous() &&
         writer.IsArrayOf(source.dtype) && !MayOverlap(dst, source);
}

// out[k * run + e] = row[values[k] + e], zero-extended.
template <typename Element, typename Out>
void GatherArray(const std::byte* row, const Indices& indices, Out* out) {
  if (indices.run == 1) {
    for (int64_t k = 0; k < indices.n; ++k) {
      Element element;
      std::memcpy(&element, row + indices.values[k] * sizeof(Element),
                  sizeof(Element));
      out[k] = element;
    }
    return;
  }
  for (int64_t k = 0; k < indices.n; ++k) {
    const std::byte* from = row + indices.values[k] * sizeof(Element);
    for (int64_t e = 0; e < indices.run; ++e, from += sizeof(Element)) {
      Element element;
      std::memcpy(&element, from, sizeof(Element));
      *out++ = element;
    }
  }
}

void GatherRow(const RowReader& source, int64_t partition,
               const Indices& indices, uint32_t* out, CoreState& state) {
  if (!source.contiguous()) {
    uint32_t* const row = BitsBuffer(state, 1, source.size());
    source.ReadBits(partition, row);
    return GatherArray<uint32_t>(reinterpret_cast<std::byte*>(row), indices,
                                 out);
  }
  const std::byte* const row = source.base(partition);
  switch (SizeOf(source.dtype())) {
    case 1:
      return GatherArray<uint8_t>(row, indices, out);
    case 2:
      return GatherArray<uint16_t>(row, indices, out);
    default:
      return GatherArray<uint32_t>(row, indices, out);
  }
}

// Each gathered element by itself, unless all of the row was written.
absl::Status CheckGathered(const Tile& source, std::string_view operand,
                           int64_t partition, const Indices& indices,
                           CoreState& state) {
  const int64_t first = partition * source.free_size;
  if (CheckWritten(source, operand, first, source.free_size).ok()) {
    return absl::OkStatus();
  }
  for (int64_t k = 0; k < indices.n; ++k) {
    absl::Status status =
        CheckWritten(source, operand, first + indices.values[k], indices.run);
    if (!status.ok()) return Admit(state, status);
  }
  return absl::OkStatus();
}

// Writes the gathered row of a partition.
absl::Status Gather(const RowReader& source, const Tile& tile,
                    std::string_view operand, bool check, int64_t partition,
                    const Indices& indices, RowWriter& writer,
                    CoreState& state) {
  if (check) {
    absl::Status status =
        CheckGathered(tile, operand, partition, indices, state);
    if (!status.ok()) return status;
  }
  if (indices.in_place) {
    GatherArray<uint32_t>(source.base(partition), indices,
                          reinterpret_cast<uint32_t*>(writer.base(partition)));
    return absl::OkStatus();
  }
  uint32_t* const out = BitsBuffer(state, 2, indices.n * indices.run);
  GatherRow(source, partition, indices, out, state);
  writer.WriteBits(partition, out);
  return absl::OkStatus();
}

// Whether the elements must be looked at one by one.
bool HasHoles(const Tile& source, std::string_view operand,
              const CoreState& state) {
  return state.check_memory && !CheckWritten(source, operand).ok();
}

// The position of the first index above `limit`, or -1.
int64_t FirstAbove(const uint32_t* values, int64_t n, uint32_t limit) {
  if (!AnyAbove(values, static_cast<size_t>(n), limit)) return -1;
  int64_t k = 0;
  while (values[k] <= limit) ++k;
  return k;
}

// `out_of_bounds`: index `value` at (partition, element) of the index tile,
// where `run` elements from it on must lie within `size`.
absl::Status IndexOutside(std::string_view id, std::string_view operand,
                          std::string_view source, const Tile& tile,
                          int64_t partition, int64_t element, uint32_t value,
                          int64_t run, int64_t size) {
  const int64_t lane = tile.first_partition + partition;
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = std::string(id);
  d.operand = std::string(operand);
  d.message =
      absl::StrCat(std::string(operand), " is ", value, " at partition ", lane,
                   ", element ", element, "; ", std::string(source), " has ",
                   size, " elements per partition, so that an index",
                   run == 1 ? "" : absl::StrCat(" of ", run, " elements"),
                   " is at most ", size - run);
  d.details = {{"partition", absl::StrCat(lane)},
               {"element", absl::StrCat(element)},
               {"value", absl::StrCat(value)},
               {"limit", absl::StrCat(size - run)}};
  d.remedy = "clamp the indices, or gather fewer";
  return ToStatus(std::move(d));
}

// The list that a group's 16 rows of indices are: down the partitions first,
// then along the free dimension (nki/api/nki/isa/__init__.py:1847).
absl::Status ReadGroupIndices(const Tile& index, int64_t group, int64_t n,
                              uint32_t* list, CoreState& state) {
  const RowReader reader(index, state.numerics);
  uint32_t* const row = BitsBuffer(state, 1, index.free_size);
  for (int64_t r = 0; r < kGroup && r < n; ++r) {
    const int64_t partition = group * kGroup + r;
    const int64_t used = (n - r + kGroup - 1) / kGroup;
    if (state.check_memory) {
      absl::Status status = AdmitUnwritten(state, index, "index",
                                           partition * index.free_size, used);
      if (!status.ok()) return status;
    }
    reader.ReadBits(partition, row);
    for (int64_t c = 0; c < used; ++c) list[c * kGroup + r] = row[c];
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteLocalGather(const ExecuteArgs& args, CoreState& state) {
  using S = slot::LocalGather;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& source = args.slots[S::kSrcBuffer].tile;
  const Tile& index = args.slots[S::kIndex].tile;
  const int64_t run = args.attributes[S::kNumElemPerIdx].integer();
  const int64_t n = args.attributes[S::kNumValidIndices].integer();
  uint32_t* const list = BitsBuffer(state, 0, n);
  const RowReader reader(source, state.numerics);
  RowWriter writer(dst, "dst", state);
  const Indices indices = {list, n, run,
                           GathersInPlace(reader, writer, source, dst)};
  const bool check = HasHoles(source, "src_buffer", state);
  for (int64_t group = 0; group * kGroup < source.partitions; ++group) {
    absl::Status status = ReadGroupIndices(index, group, n, list, state);
    if (!status.ok()) return status;
    // Below 0 where `run` is more than there is: no index is right then.
    const int64_t limit = source.free_size - run;
    const int64_t bad =
        limit < 0 ? 0 : FirstAbove(list, n, static_cast<uint32_t>(limit));
    if (bad >= 0) {
      return IndexOutside("local_gather.index", "index", "src_buffer", index,
                          group * kGroup + bad % kGroup, bad / kGroup,
                          list[bad], run, source.free_size);
    }
    for (int64_t p = group * kGroup; p < (group + 1) * kGroup; ++p) {
      status = Gather(reader, source, "src_buffer", check, p, indices, writer,
                      state);
      if (!status.ok()) return status;
    }
  }
  if (state.check_memory) MarkWritten(dst);
  return absl::OkStatus();
}

absl::Status ExecuteNGather(const ExecuteArgs& args, CoreState& state) {
  using S = slot::NGather;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& source = args.slots[S::kData].tile;
  const Tile& index = args.slots[S::kIndices].tile;
  if (state.check_memory) {
    absl::Status status = AdmitUnwritten(state, index, "indices");
    if (!status.ok()) return status;
  }
  const int64_t n = index.free_size;
  uint32_t* const list = BitsBuffer(state, 0, n);
  const RowReader reader(source, state.numerics);
  const RowReader index_reader(index, state.numerics);
  RowWriter writer(dst, "dst", state);
  const Indices indices = {list, n, 1,
                           GathersInPlace(reader, writer, source, dst)};
  const bool check = HasHoles(source, "data", state);
  const uint32_t last = static_cast<uint32_t>(source.free_size - 1);
  for (uint32_t p = 0; p < source.partitions; ++p) {
    index_reader.ReadBits(p, list);
    const int64_t bad = FirstAbove(list, n, last);
    if (bad >= 0) {
      return IndexOutside("nc_n_gather.index", "indices", "data", index, p, bad,
                          list[bad], 1, source.free_size);
    }
    absl::Status status =
        Gather(reader, source, "data", check, p, indices, writer, state);
    if (!status.ok()) return status;
  }
  if (state.check_memory) MarkWritten(dst);
  return absl::OkStatus();
}

}  // namespace trnemu
