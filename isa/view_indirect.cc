// The methods of View (isa/access.h) whose index only a run knows.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/access.h"
#include "isa/diagnostic.h"
#include "isa/saturating.h"
#include "isa/view_error.h"

namespace trnemu {
namespace {

absl::Status CheckIndexTile(const View& view, const View& index) {
  auto refuse = [&](std::string_view id, const std::string& what) {
    return IllegalView(view, id,
                       absl::StrCat("its index '", index.name, "' ", what));
  };
  if (index.indirection) {
    return refuse("indirect_index", "is an indirect view itself");
  }
  if (index.space != Space::kSbuf) {
    return refuse("indirect_index",
                  absl::StrCat("must be in SBUF, but it is in ",
                               std::string(Name(index.space))));
  }
  if (!IsInteger(index.dtype) || SizeOf(index.dtype) < 2) {
    return refuse("indirect_index",
                  absl::StrCat("must be of 16- or 32-bit integers, but it is ",
                               std::string(Name(index.dtype))));
  }
  return absl::OkStatus();
}

// The indirection of one index.
absl::StatusOr<Indirection> ScalarOf(const View& view,
                                     const DynamicIndex& index) {
  Indirection result;
  if (index.is_register) {
    result.kind = IndirectionKind::kScalarRegister;
    result.reg = index.reg;
    result.core = index.core;
    return result;
  }
  absl::Status status = CheckIndexTile(view, index.tile);
  if (!status.ok()) return status;
  if (index.tile.size() != 1) {
    return IllegalView(
        view, "indirect_index",
        absl::StrCat("a single index must be a register or a tile of one "
                     "element, but '",
                     index.tile.name, "' has shape ",
                     DescribeShape(index.tile.Shape())));
  }
  auto access = ToAccess(index.tile);
  if (!access.ok()) return access.status();
  result.kind = IndirectionKind::kScalarTile;
  result.index = *access;
  return result;
}

absl::StatusOr<Indirection> TableOf(const View& view, const View& index,
                                    IndirectionKind kind) {
  absl::Status status = CheckIndexTile(view, index);
  if (!status.ok()) return status;
  auto access = ToAccess(index);
  if (!access.ok()) return access.status();
  Indirection result;
  result.kind = kind;
  result.index = *access;
  return result;
}

absl::StatusOr<int64_t> AxisOf(const View& view, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(view.dims.size());
  if (axis < -rank || axis >= rank) {
    return IllegalView(view, "axis",
                       absl::StrCat("axis ", axis, " does not exist; it has ",
                                    rank, " dimensions"));
  }
  return axis < 0 ? axis + rank : axis;
}

// All of the tensor, row-major: what an index along a dimension refers to.
bool IsWhole(const View& view) {
  if (view.offset != 0 || view.start_partition != 0) return false;
  int64_t step = 1;
  for (size_t i = view.dims.size(); i-- > (view.on_chip() ? 1u : 0u);) {
    if (view.dims[i].count != 1 && view.dims[i].step != step) return false;
    step = SaturatingMultiply(step, view.dims[i].count);
  }
  return step == view.storage &&
         (!view.on_chip() || view.dims[0].count == view.tile_partitions);
}

// Checks what both forms of a dynamic access pattern ask; gives the dimension.
absl::StatusOr<int64_t> PatternAxis(const View& view, Dtype dtype, int64_t dim,
                                    bool any_base) {
  if (view.indirection) return IndirectAlready(view, "ap");
  if (!any_base && !IsWhole(view)) {
    return IllegalView(view, "indirect_base",
                       "a dynamic offset counts along a dimension of the whole "
                       "tensor; call ap on that, reshaped if need be");
  }
  if (SizeOf(dtype) != SizeOf(view.dtype)) {
    Diagnostic d = DiagnosticOf(IllegalView(
        view, "indirect_dtype",
        absl::StrCat("no document says whether a dynamic offset counts ",
                     std::string(Name(view.dtype)), " or ",
                     std::string(Name(dtype)),
                     "; reinterpret with view(dtype) before ap")));
    d.category = Category::kUnsupported;
    return ToStatus(std::move(d));
  }
  const auto axis = AxisOf(view, dim);
  if (axis.ok() && view.on_chip() && *axis == 0) {
    return IllegalView(view, "indirect_partition",
                       "a dynamic offset on chip cannot be along dimension 0, "
                       "the partitions");
  }
  return axis;
}

// How many indices along a dimension of `size` and stride `step` keep a
// pattern inside it: size minus the largest coordinate that the pattern
// reaches with index 0. A pattern that goes on past the end of the dimension
// has no coordinate in it; then what counts is the end of the storage.
int64_t LimitOf(int64_t offset, std::span<const Dim> pattern, int64_t step,
                int64_t size, int64_t storage) {
  const int64_t period = SaturatingMultiply(step, size);
  int64_t low = offset, high = offset, last = offset;
  for (const Dim& dim : pattern) {
    const int64_t reach = SaturatingMultiply(dim.step, dim.count - 1);
    last = SaturatingAdd(last, std::max<int64_t>(reach, 0));
    if (dim.step % period == 0) continue;
    int64_t& end = reach < 0 ? low : high;
    end = SaturatingAdd(end, reach);
  }
  if (low / period == high / period) return size - high % period / step;
  return (storage - 1 - last) / step + 1;
}

}  // namespace

absl::StatusOr<View> Select(const View& view, int64_t dim,
                            const DynamicIndex& index) {
  const auto axis = AxisOf(view, dim);
  if (!axis.ok()) return axis.status();
  if (view.indirection) return IndirectAlready(view, "select");
  if (view.on_chip() && *axis == 0) {
    return IllegalView(view, "indirect_partition",
                       "an index that only a run knows cannot select a "
                       "partition");
  }
  auto indirection = ScalarOf(view, index);
  if (!indirection.ok()) return indirection.status();
  const Dim& indexed = view.dims[*axis];
  // A broadcast dimension has the same elements at every index.
  indirection->step = indexed.step;
  indirection->limit = indexed.count;
  indirection->dim = static_cast<uint8_t>(std::min<int64_t>(*axis, 255));
  auto result = Select(view, *axis, int64_t{0});
  if (!result.ok()) return result;
  if (indirection->step == 0) {
    return IllegalView(view, "indirect_dim",
                       absl::StrCat("axis ", *axis,
                                    " is broadcast: all its elements are the "
                                    "same, select 0"));
  }
  result->indirection = *std::move(indirection);
  return result;
}

absl::StatusOr<View> SliceFrom(const View& view, int64_t dim,
                               const DynamicIndex& start, int64_t size) {
  const auto axis = AxisOf(view, dim);
  if (!axis.ok()) return axis.status();
  const int64_t extent = view.dims[*axis].count;
  if (size < 1 || size > extent) {
    return IllegalView(view, "empty",
                       absl::StrCat("a slice of ", size, " elements of axis ",
                                    *axis, ", whose size is ", extent));
  }
  // Selected, for what that refuses and the index it makes; then the axis
  // comes back.
  auto result = Select(view, *axis, start);
  if (!result.ok()) return result;
  result->indirection->limit = extent - size + 1;
  result->dims = view.dims;
  result->dims[*axis].count = size;
  return result;
}

absl::StatusOr<View> VectorSelect(const View& view, int64_t dim,
                                  const View& offsets) {
  if (view.indirection) return IndirectAlready(view, "vector_select");
  if (view.on_chip() || dim != 0 || view.dims.empty()) {
    return IllegalView(view, "vector_select",
                       "vector_select takes rows of dimension 0 of a tensor in "
                       "HBM");
  }
  auto indirection = TableOf(view, offsets, IndirectionKind::kVector);
  if (!indirection.ok()) return indirection.status();
  if (offsets.size() != offsets.dims[0].count) {
    return IllegalView(
        view, "indirect_index",
        absl::StrCat("vector_select takes one offset a partition, but '",
                     offsets.name, "' has shape ",
                     DescribeShape(offsets.Shape())));
  }
  View result = view;
  indirection->step = view.dims[0].step;
  indirection->limit = view.dims[0].count;
  if (indirection->step == 0) {
    return IllegalView(view, "indirect_dim",
                       "axis 0 is broadcast: all its rows are the same");
  }
  result.dims[0] = {0, offsets.dims[0].count};
  result.indirection = *std::move(indirection);
  return result;
}

absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype, int64_t dim,
                                   const DynamicIndex& scalar_offset,
                                   bool any_base) {
  const auto axis = PatternAxis(view, dtype, dim, any_base);
  if (!axis.ok()) return axis.status();
  auto indirection = ScalarOf(view, scalar_offset);
  if (!indirection.ok()) return indirection.status();
  auto result = AccessPattern(view, pattern, offset, dtype);
  if (!result.ok()) return result;
  const Dim& indexed = view.dims[static_cast<size_t>(*axis)];
  // Of a dimension of size 1 the step is that of what it would go to.
  int64_t step = indexed.step;
  if (IsWhole(view)) {
    step = 1;
    for (size_t i = static_cast<size_t>(*axis) + 1; i < view.dims.size(); ++i) {
      step *= view.dims[i].count;
    }
  }
  if (step < 1) {
    return IllegalView(view, "indirect_dim",
                       absl::StrCat("axis ", *axis, " has step ", step,
                                    ": an index along it leads nowhere"));
  }
  indirection->dim = static_cast<uint8_t>(*axis);
  indirection->step = step;
  indirection->limit =
      LimitOf(result->offset - view.offset,
              std::span(result->dims).subspan(view.on_chip() ? 1 : 0), step,
              indexed.count, result->storage - view.offset);
  result->indirection = *std::move(indirection);
  return result;
}

absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype, int64_t dim,
                                   const View& vector_offset, bool any_base) {
  const auto axis = PatternAxis(view, dtype, dim, any_base);
  if (!axis.ok()) return axis.status();
  if (view.on_chip() || *axis != 0) {
    return IllegalView(view, "vector_select",
                       "vector_offset takes rows of dimension 0 of a tensor in "
                       "HBM");
  }
  auto indirection = TableOf(view, vector_offset, IndirectionKind::kVector);
  if (!indirection.ok()) return indirection.status();
  // The row's own step is not used: it counts as a row at index 0.
  std::vector<Dim> row(pattern.begin(), pattern.end());
  if (!row.empty()) row[0].step = 0;
  auto result = AccessPattern(view, row, offset, dtype);
  if (!result.ok()) return result;
  if (row[0].count > vector_offset.size()) {
    return IllegalView(
        view, "indirect_index",
        absl::StrCat("the access pattern has ", row[0].count, " rows, but '",
                     vector_offset.name, "' has ", vector_offset.size(),
                     " offsets"));
  }
  indirection->step =
      IsWhole(view) ? view.storage / view.dims[0].count : view.dims[0].step;
  if (indirection->step < 1) {
    return IllegalView(view, "indirect_dim",
                       "axis 0 is broadcast: all its rows are the same");
  }
  indirection->limit =
      LimitOf(result->offset - view.offset, row, indirection->step,
              view.dims[0].count, result->storage - view.offset);
  result->indirection = *std::move(indirection);
  return result;
}

absl::StatusOr<View> Indirect(const View& view, const View& index,
                              std::optional<int64_t> num_elem) {
  constexpr int64_t kGroup = TensorGroup(Engine::kVector);
  if (view.indirection) return IndirectAlready(view, "indirect");
  if (!view.on_chip()) {
    return IllegalView(view, "indirect",
                       "indirect takes elements of a tile in SBUF or PSUM; an "
                       "HBM tensor has vector_select");
  }
  auto flat = Reshape(view, std::vector<int64_t>{view.dims[0].count, -1});
  if (!flat.ok()) return flat;
  auto indirection = TableOf(view, index, IndirectionKind::kTensor);
  if (!indirection.ok()) return indirection.status();
  const int64_t partitions = view.dims[0].count;
  if (index.dims[0].count != partitions) {
    return IllegalView(
        view, "indirect_index",
        absl::StrCat("indirect takes an index of as many partitions, but '",
                     index.name, "' has shape ", DescribeShape(index.Shape())));
  }
  const int64_t columns = index.size() / partitions;
  // A group that is not whole has its first row of offsets only.
  const int64_t held =
      partitions % kGroup == 0 ? kGroup * columns : partitions % kGroup;
  const int64_t count = num_elem.value_or(held);
  if (count < 1) {
    return IllegalView(view, "indirect_index",
                       absl::StrCat("indirect of ", count, " elements"));
  }
  const Dim& free = flat->dims[1];
  if (free.step == 0) {
    return IllegalView(view, "indirect_dim", "its elements are all the same");
  }
  indirection->dim = 1;
  indirection->step = free.step;
  indirection->limit = free.count;
  flat->dims[1] = {0, count};
  flat->indirection = *std::move(indirection);
  return flat;
}

}  // namespace trnemu
