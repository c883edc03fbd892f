// What lies around a tile that does not fit where a program puts it.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/passes/memory_map.h"
#include "isa/passes/tile_table.h"

namespace trnemu {
namespace {

// The tiles that are live while `tensor` is; all of its memory if nothing uses
// it. It comes first.
std::vector<MemorySpan> LiveWith(const Program& program, uint32_t tensor) {
  const Tensor& t = program.tensors[tensor];
  std::vector<MemorySpan> found;
  const auto spans = FindMemorySpans(program);
  const auto own =
      std::find_if(spans.begin(), spans.end(),
                   [&](const MemorySpan& s) { return s.tensor == tensor; });
  for (const MemorySpan& s : spans) {
    const bool here = s.core == t.core && s.space == t.space();
    if (!here || s.tensor == tensor) continue;
    if (own == spans.end() || s.Meets(*own)) found.push_back(s);
  }
  return found;
}

// The lowest aligned byte where `bytes` are free of `others`.
std::optional<int64_t> FreePlace(const std::vector<MemorySpan>& others,
                                 int64_t bytes, int64_t alignment,
                                 int64_t limit) {
  std::vector<int64_t> candidates = {0};
  for (const MemorySpan& s : others) {
    const int64_t end = s.address + s.bytes;
    candidates.push_back((end + alignment - 1) / alignment * alignment);
  }
  std::sort(candidates.begin(), candidates.end());
  for (const int64_t at : candidates) {
    if (at < 0 || at > limit - bytes) continue;
    const bool free =
        std::none_of(others.begin(), others.end(), [&](const MemorySpan& s) {
          return s.address < at + bytes && at < s.address + s.bytes;
        });
    if (free) return at;
  }
  return std::nullopt;
}

}  // namespace

void DescribeNeighbours(const Program& program, const Limit& limit,
                        uint32_t tensor, Diagnostic& d) {
  const Tensor& t = program.tensors[tensor];
  const int64_t bytes = t.bytes_per_partition();
  const auto others = LiveWith(program, tensor);
  std::vector<TileRow> rows = {
      {tensor, static_cast<int64_t>(t.byte_address), {}}};
  int64_t total = bytes;
  for (const MemorySpan& s : others) {
    rows.push_back({s.tensor, s.address, std::pair(s.first, s.last)});
    total += s.bytes;
  }
  d.details.emplace_back("total", absl::StrCat(total, " bytes per partition"));
  d.related = TileTable(program, std::move(rows));
  const int64_t alignment = std::max<int64_t>(
      t.space() == Space::kPsum ? 4 : 1, static_cast<int64_t>(SizeOf(t.dtype)));
  const auto place = FreePlace(others, bytes, alignment, limit.bytes);
  if (place) {
    d.remedy = absl::StrCat("place it at byte ", *place,
                            ", where nothing else is live with it");
  } else if (bytes > limit.bytes) {
    d.remedy = "make it smaller, or work on it in pieces";
  } else {
    d.remedy =
        absl::StrCat("make room for it below byte ", limit.bytes,
                     ": nothing of its size is free there while it is live");
  }
}

}  // namespace trnemu
