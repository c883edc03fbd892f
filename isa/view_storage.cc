// The methods of View (isa/access.h) that look at the storage itself:
// other dtypes and explicit access patterns.
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "isa/access.h"
#include "isa/diagnostic.h"
#include "isa/saturating.h"
#include "isa/view_error.h"

namespace trnemu {
namespace {

// `value` units of `from` bytes in units of `to` bytes, if it comes out even.
std::optional<int64_t> Rescale(int64_t value, int64_t from, int64_t to) {
  const int64_t bytes = SaturatingMultiply(value, from);
  if (bytes % to != 0) return std::nullopt;
  return bytes / to;
}

absl::Status PatternOutside(const View& view, std::string_view axis,
                            int64_t index, int64_t limit) {
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = "access.pattern_out_of_bounds";
  d.message =
      absl::StrCat("the access pattern on '", view.name, "' reaches ",
                   std::string(axis), " ", index, ", outside 0 to ", limit - 1);
  d.operand = view.name;
  d.details = {{"axis", std::string(axis)},
               {"index", absl::StrCat(index)},
               {"limit", absl::StrCat(limit)}};
  return ToStatus(std::move(d));
}

// That counts are positive and every element lies in [0, storage).
absl::Status CheckPattern(const View& view, std::span<const Dim> pattern,
                          int64_t offset, int64_t storage) {
  int64_t low = offset;
  int64_t high = offset;
  for (const Dim& dim : pattern) {
    const int64_t reach = SaturatingMultiply(dim.step, dim.count - 1);
    int64_t& end = reach < 0 ? low : high;
    end = SaturatingAdd(end, reach);
  }
  if (low < 0) return PatternOutside(view, "element", low, storage);
  if (high >= storage) return PatternOutside(view, "element", high, storage);
  return absl::OkStatus();
}

absl::Status CheckPartitionPair(const View& view, const Dim& pair,
                                int64_t row) {
  if (pair.step == row || (pair.count == 1 && pair.step != 0)) {
    return absl::OkStatus();
  }
  return IllegalView(
      view, "partition_step",
      absl::StrCat("the step of an access pattern's partition pair must be ",
                   row, ", the elements of a partition, not ", pair.step));
}

// Places the partition pair of an access pattern; `offset` becomes the
// element within the partition.
absl::Status PlacePartitions(const Dim& pair, int64_t row, int64_t& offset,
                             View& view) {
  if (absl::Status s = CheckPartitionPair(view, pair, row); !s.ok()) return s;
  if (offset < 0) return PatternOutside(view, "element", offset, row);
  const int64_t start = offset / row;
  const int64_t last = SaturatingAdd(start, pair.count - 1);
  if (last >= view.tile_partitions) {
    return PatternOutside(view, "partition", last, view.tile_partitions);
  }
  view.start_partition = static_cast<int32_t>(start);
  view.dims.push_back({0, pair.count});
  offset %= row;
  return absl::OkStatus();
}

}  // namespace

absl::Status IllegalView(const View& view, std::string_view id,
                         const std::string& what) {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = absl::StrCat("access.", std::string(id));
  d.message = absl::StrCat(
      "'", view.name, "'",
      view.dims.empty() ? "" : " of shape " + DescribeShape(view.Shape()), ": ",
      what);
  d.operand = view.name;
  d.details = {{"shape", DescribeShape(view.Shape())},
               {"space", std::string(Name(view.space))}};
  return ToStatus(std::move(d));
}

absl::StatusOr<View> Reinterpret(const View& view, Dtype dtype) {
  if (view.indirection) return IndirectAlready(view, "view(dtype)");
  const int64_t from = static_cast<int64_t>(SizeOf(view.dtype));
  const int64_t to = static_cast<int64_t>(SizeOf(dtype));
  View result = view;
  result.dtype = dtype;
  if (from == to) return result;
  auto refuse = [&](const std::string& why) {
    return IllegalView(view, "reinterpret",
                       absl::StrCat("cannot be viewed as ",
                                    std::string(Name(dtype)), ": ", why));
  };
  if (view.dims.empty() ||
      (view.dims.back().step != 1 && view.dims.back().count != 1)) {
    return refuse("its last dimension is not contiguous");
  }
  const auto offset = Rescale(view.offset, from, to);
  if (!offset) return refuse("it starts inside an element");
  const auto last = Rescale(view.dims.back().count, from, to);
  if (!last) return refuse("its last dimension ends inside an element");
  for (size_t i = view.on_chip() ? 1 : 0; i + 1 < view.dims.size(); ++i) {
    const Dim& dim = view.dims[i];
    const auto step = Rescale(dim.step, from, to);
    if (!step && dim.count != 1) {
      return refuse(absl::StrCat("the step of axis ", i,
                                 " is not a whole number of elements"));
    }
    result.dims[i].step = step.value_or(0);
  }
  result.dims.back() = {1, *last};
  result.offset = *offset;
  result.storage = SaturatingMultiply(view.storage, from) / to;
  return result;
}

absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype) {
  if (view.indirection) return IndirectAlready(view, "ap");
  if (pattern.empty()) {
    return IllegalView(view, "pattern", "an access pattern has no pairs");
  }
  for (const Dim& dim : pattern) {
    if (dim.count < 1) {
      return IllegalView(view, "pattern",
                         absl::StrCat("a count of an access pattern is ",
                                      dim.count, "; it must be at least 1"));
    }
  }
  View result = view;
  result.dtype = dtype;
  result.storage = SaturatingMultiply(
                       view.storage, static_cast<int64_t>(SizeOf(view.dtype))) /
                   static_cast<int64_t>(SizeOf(dtype));
  if (result.storage == 0) {
    return IllegalView(view, "pattern",
                       absl::StrCat("it holds no whole element of ",
                                    std::string(Name(dtype))));
  }
  result.dims.clear();
  if (view.on_chip()) {
    absl::Status s =
        PlacePartitions(pattern[0], result.storage, offset, result);
    if (!s.ok()) return s;
    pattern = pattern.subspan(1);
  }
  if (absl::Status s = CheckPattern(view, pattern, offset, result.storage);
      !s.ok()) {
    return s;
  }
  result.dims.insert(result.dims.end(), pattern.begin(), pattern.end());
  result.offset = offset;
  if (view.on_chip() && result.dims.size() < 2) result.dims.push_back({1, 1});
  return result;
}

}  // namespace trnemu
