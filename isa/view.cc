// The methods of View (isa/access.h) that make one view from another.
#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "isa/access.h"
#include "isa/diagnostic.h"
#include "isa/saturating.h"
#include "isa/view_error.h"

namespace trnemu {
namespace {

absl::Status IndexOutside(const View& view, int64_t axis, int64_t index) {
  const int64_t limit = view.dims[axis].count;
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = "access.index";
  d.message = absl::StrCat(
      "'", view.name, "' of shape ", DescribeShape(view.Shape()), ": index ",
      index, " is out of bounds for axis ", axis, " with size ", limit);
  d.operand = view.name;
  d.details = {{"axis", absl::StrCat(axis)},
               {"index", absl::StrCat(index)},
               {"limit", absl::StrCat(limit)}};
  return ToStatus(std::move(d));
}

absl::StatusOr<int64_t> NormalizeAxis(const View& view, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(view.dims.size());
  if (axis < -rank || axis >= rank) {
    return IllegalView(view, "axis",
                       absl::StrCat("axis ", axis, " does not exist; it has ",
                                    rank, " dimensions"));
  }
  return axis < 0 ? axis + rank : axis;
}

// A view on chip keeps a free dimension, whatever was dropped.
void KeepTwoDims(View& view) {
  if (view.on_chip() && view.dims.size() < 2) view.dims.push_back({1, 1});
}

// What a slice selects of a dimension of `size`, as CPython's
// PySlice_AdjustIndices has it.
struct Range {
  int64_t start;
  int64_t count;
};
Range Resolve(const Index& slice, int64_t size) {
  const bool back = slice.step < 0;
  auto clip = [&](int64_t value) {
    if (value < 0) {
      value = SaturatingAdd(value, size);
      return value < 0 ? (back ? -1 : 0) : value;
    }
    return value >= size ? (back ? size - 1 : size) : value;
  };
  const int64_t start = slice.start ? clip(*slice.start) : back ? size - 1 : 0;
  const int64_t stop = slice.stop ? clip(*slice.stop) : back ? -1 : size;
  if (back ? start <= stop : start >= stop) return {start, 0};
  // The magnitude as unsigned: -INT64_MIN has no int64 of its own.
  const uint64_t stride = back ? uint64_t{0} - static_cast<uint64_t>(slice.step)
                               : static_cast<uint64_t>(slice.step);
  const uint64_t length =
      static_cast<uint64_t>(back ? start - stop : stop - start);
  return {start, static_cast<int64_t>((length - 1) / stride + 1)};
}

// Applies basic indices one after the other to `view`, building `result`.
class Slicer {
 public:
  explicit Slicer(const View& view) : view_(view) {
    result_.tensor = view.tensor;
    result_.space = view.space;
    result_.dtype = view.dtype;
    result_.offset = view.offset;
    result_.start_partition = view.start_partition;
    result_.storage = view.storage;
    result_.tile_partitions = view.tile_partitions;
    result_.name = view.name;
    result_.indirection = view.indirection;
  }

  absl::StatusOr<View> Run(std::span<const Index> indices) {
    int64_t consumed = 0;
    int64_t ellipses = 0;
    for (const Index& index : indices) {
      if (index.kind == Index::Kind::kEllipsis) ++ellipses;
      if (index.kind == Index::Kind::kInteger ||
          index.kind == Index::Kind::kSlice) {
        ++consumed;
      }
    }
    const int64_t rank = static_cast<int64_t>(view_.dims.size());
    if (ellipses > 1) {
      return IllegalView(view_, "ellipsis",
                         "an index has at most one ellipsis");
    }
    if (consumed > rank) {
      return IllegalView(
          view_, "too_many_indices",
          absl::StrCat(consumed, " indices for ", rank, " dimensions"));
    }
    result_.dims.reserve(view_.dims.size() + indices.size());
    for (const Index& index : indices) {
      if (absl::Status s = Apply(index, rank - consumed); !s.ok()) return s;
    }
    CopyDims(rank - axis_);
    KeepTwoDims(result_);
    return std::move(result_);
  }

 private:
  absl::Status Apply(const Index& index, int64_t left_over) {
    switch (index.kind) {
      case Index::Kind::kEllipsis:
        CopyDims(left_over);
        return absl::OkStatus();
      case Index::Kind::kNewAxis:
        if (view_.on_chip() && result_.dims.empty()) {
          return IllegalView(view_, "newaxis",
                             "a new axis cannot come before the partition "
                             "dimension");
        }
        result_.dims.push_back({0, 1});
        return absl::OkStatus();
      case Index::Kind::kInteger:
        return TakeInteger(index.value);
      case Index::Kind::kSlice:
        return TakeSlice(index);
    }
    return absl::OkStatus();
  }

  void CopyDims(int64_t n) {
    for (; n > 0; --n) result_.dims.push_back(view_.dims[axis_++]);
  }

  bool AtPartitions() const { return view_.on_chip() && axis_ == 0; }

  absl::Status TakeInteger(int64_t value) {
    const Dim& dim = view_.dims[axis_];
    if (value < -dim.count || value >= dim.count) {
      return IndexOutside(view_, axis_, value);
    }
    if (value < 0) value += dim.count;
    if (AtPartitions()) {
      result_.start_partition += static_cast<int32_t>(value);
      result_.dims.push_back({0, 1});
    } else {
      result_.offset += value * dim.step;
    }
    ++axis_;
    return absl::OkStatus();
  }

  absl::Status TakeSlice(const Index& slice) {
    const Dim& dim = view_.dims[axis_];
    if (slice.step == 0) {
      return IllegalView(
          view_, "step_zero",
          absl::StrCat("the slice of axis ", axis_, " has step 0"));
    }
    const Range range = Resolve(slice, dim.count);
    if (AtPartitions() && slice.step != 1 && range.count > 1) {
      return IllegalView(view_, "partition_step",
                         absl::StrCat("a slice of the partition dimension must "
                                      "have step 1, not ",
                                      slice.step));
    }
    if (range.count == 0) {
      return IllegalView(
          view_, "empty",
          absl::StrCat("the slice of axis ", axis_,
                       " selects nothing; its size is ", dim.count));
    }
    if (AtPartitions()) {
      result_.start_partition += static_cast<int32_t>(range.start);
      result_.dims.push_back({0, range.count});
    } else {
      result_.offset += range.start * dim.step;
      result_.dims.push_back(
          {range.count == 1 ? dim.step : dim.step * slice.step, range.count});
    }
    ++axis_;
    return absl::OkStatus();
  }

  const View& view_;
  View result_;
  int64_t axis_ = 0;  // of view_, the next to be indexed
};

// The shape with its -1 replaced; nothing if the sizes do not agree.
std::optional<std::vector<int64_t>> InferShape(std::span<const int64_t> shape,
                                               int64_t size) {
  std::vector<int64_t> result(shape.begin(), shape.end());
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& extent : result) {
    if (extent == -1 && unknown == nullptr) {
      unknown = &extent;
    } else if (extent < 1) {
      return std::nullopt;
    } else {
      known = SaturatingMultiply(known, extent);
    }
  }
  if (unknown != nullptr) {
    if (size % known != 0) return std::nullopt;
    *unknown = size / known;
    known = size;
  }
  if (known != size) return std::nullopt;
  return result;
}

// The dimensions of counts `shape` over the same elements in the same order
// as `dims` (of equal size); nothing if that needs a copy. NumPy's
// _attempt_nocopy_reshape.
std::optional<std::vector<Dim>> Restride(std::span<const Dim> dims,
                                         std::span<const int64_t> shape) {
  std::vector<Dim> old;
  for (const Dim& dim : dims) {
    if (dim.count != 1) old.push_back(dim);
  }
  std::vector<Dim> result(shape.size());
  size_t oi = 0;
  size_t ni = 0;
  while (oi < old.size() && ni < shape.size()) {
    size_t oj = oi + 1;
    size_t nj = ni + 1;
    int64_t np = shape[ni];
    int64_t op = old[oi].count;
    while (np != op) {
      if (np < op) {
        np *= shape[nj++];
      } else {
        op *= old[oj++].count;
      }
    }
    for (size_t k = oi; k + 1 < oj; ++k) {
      if (old[k].step != old[k + 1].step * old[k + 1].count) {
        return std::nullopt;
      }
    }
    result[nj - 1] = {old[oj - 1].step, shape[nj - 1]};
    for (size_t k = nj - 1; k > ni; --k) {
      result[k - 1] = {result[k].step * shape[k], shape[k - 1]};
    }
    oi = oj;
    ni = nj;
  }
  for (; ni < shape.size(); ++ni) result[ni] = {1, shape[ni]};
  return result;
}

// Whether the first item takes dimension 0 as it is.
bool TakesFirstWhole(const View& view, std::span<const Index> indices) {
  if (indices.empty() || indices[0].kind == Index::Kind::kEllipsis) return true;
  if (indices[0].kind != Index::Kind::kSlice || indices[0].step == 0) {
    return false;
  }
  const Range range = Resolve(indices[0], view.dims[0].count);
  return range.count == view.dims[0].count && indices[0].step == 1;
}

absl::Status FirstMustStay(const View& view) {
  return IllegalView(view, "indirect_dim",
                     "its dimension 0 has an index for each row, and must "
                     "stay whole and first");
}

}  // namespace

bool FirstIsIndexed(const View& view) {
  return view.indirection && view.indirection->kind == IndirectionKind::kVector;
}

absl::Status RefuseOffsets(const View& view, std::string_view method) {
  if (!view.indirection || view.indirection->kind != IndirectionKind::kTensor) {
    return absl::OkStatus();
  }
  return IndirectAlready(view, method);
}

absl::Status IndirectAlready(const View& view, std::string_view method) {
  return IllegalView(
      view, "indirect_again",
      absl::StrCat(std::string(method),
                   " cannot follow an index that only a run knows"));
}

absl::StatusOr<View> Slice(const View& view, std::span<const Index> indices) {
  if (absl::Status s = RefuseOffsets(view, "indexing"); !s.ok()) return s;
  if (FirstIsIndexed(view) && !TakesFirstWhole(view, indices)) {
    return FirstMustStay(view);
  }
  return Slicer(view).Run(indices);
}

absl::StatusOr<View> Reshape(const View& view, std::span<const int64_t> shape) {
  if (absl::Status s = RefuseOffsets(view, "reshape"); !s.ok()) return s;
  const int64_t size = view.size();
  const auto full = InferShape(shape, size);
  if (!full || size == std::numeric_limits<int64_t>::max()) {
    return IllegalView(
        view, "reshape",
        absl::StrCat("cannot be reshaped to ", DescribeShape(shape),
                     ", its size is ", size));
  }
  View result = view;
  std::span<const Dim> dims = view.dims;
  std::span<const int64_t> target = *full;
  if (view.on_chip()) {
    if (target.size() < 2 || target[0] != dims[0].count) {
      return IllegalView(view, "reshape_partition",
                         absl::StrCat("a reshape on chip keeps the partition "
                                      "dimension and a free one, which ",
                                      DescribeShape(shape), " does not"));
    }
    dims = dims.subspan(1);
    target = target.subspan(1);
  } else if (FirstIsIndexed(view)) {
    if (target.empty() || target[0] != dims[0].count) {
      return FirstMustStay(view);
    }
    dims = dims.subspan(1);
    target = target.subspan(1);
  }
  const auto restrided = Restride(dims, target);
  if (!restrided) {
    return IllegalView(view, "reshape_copy",
                       absl::StrCat("a reshape to ", DescribeShape(shape),
                                    " would need a copy, since the view is not "
                                    "contiguous there"));
  }
  result.dims.resize(view.on_chip() || FirstIsIndexed(view) ? 1 : 0);
  result.dims.insert(result.dims.end(), restrided->begin(), restrided->end());
  return result;
}

absl::StatusOr<View> Permute(const View& view, std::span<const int64_t> order) {
  if (absl::Status s = RefuseOffsets(view, "permute"); !s.ok()) return s;
  View result = view;
  std::vector<bool> used(view.dims.size(), false);
  result.dims.clear();
  for (const int64_t axis : order) {
    const auto at = NormalizeAxis(view, axis);
    if (!at.ok()) return at.status();
    if (used[*at]) break;
    used[*at] = true;
    result.dims.push_back(view.dims[*at]);
  }
  if (result.dims.size() != view.dims.size() ||
      order.size() != view.dims.size()) {
    return IllegalView(
        view, "permute",
        absl::StrCat(DescribeShape(order), " is not a permutation of its ",
                     view.dims.size(), " dimensions"));
  }
  const int64_t rank = static_cast<int64_t>(view.dims.size());
  if (view.on_chip() && order[0] != 0 && order[0] != -rank) {
    return IllegalView(view, "permute_partition",
                       absl::StrCat("a permutation on chip starts with 0, the "
                                    "partition dimension, not ",
                                    order[0]));
  }
  if (FirstIsIndexed(view) && order[0] != 0 && order[0] != -rank) {
    return FirstMustStay(view);
  }
  return result;
}

absl::StatusOr<View> Broadcast(const View& view, int64_t dim, int64_t size) {
  if (absl::Status s = RefuseOffsets(view, "broadcast"); !s.ok()) return s;
  const auto axis = NormalizeAxis(view, dim);
  if (!axis.ok()) return axis.status();
  if (view.on_chip() && *axis == 0) {
    return IllegalView(view, "broadcast_partition",
                       "the partition dimension cannot be broadcast");
  }
  if (FirstIsIndexed(view) && *axis == 0) return FirstMustStay(view);
  if (view.dims[*axis].count != 1) {
    return IllegalView(
        view, "broadcast",
        absl::StrCat("axis ", *axis, " has size ", view.dims[*axis].count,
                     "; only size 1 can be broadcast"));
  }
  if (size < 1) {
    return IllegalView(view, "broadcast",
                       absl::StrCat("cannot be broadcast to size ", size));
  }
  View result = view;
  result.dims[*axis] = {0, size};
  return result;
}

absl::StatusOr<View> ExpandDim(const View& view, int64_t dim) {
  if (absl::Status s = RefuseOffsets(view, "expand_dim"); !s.ok()) return s;
  const int64_t rank = static_cast<int64_t>(view.dims.size());
  const int64_t at = dim < 0 ? dim + rank + 1 : dim;
  if (at < 0 || at > rank) {
    return IllegalView(view, "axis",
                       absl::StrCat("there is no place ", dim,
                                    " for a new dimension; it has ", rank));
  }
  if (at == 0 && view.on_chip()) {
    return IllegalView(view, "newaxis",
                       "a new axis cannot come before the partition dimension");
  }
  if (at == 0 && FirstIsIndexed(view)) return FirstMustStay(view);
  View result = view;
  result.dims.insert(result.dims.begin() + at, Dim{0, 1});
  return result;
}

absl::StatusOr<View> SqueezeDim(const View& view, int64_t dim) {
  if (absl::Status s = RefuseOffsets(view, "squeeze_dim"); !s.ok()) return s;
  const auto axis = NormalizeAxis(view, dim);
  if (!axis.ok()) return axis.status();
  if (*axis == 0 && view.on_chip()) {
    return IllegalView(view, "squeeze",
                       "the partition dimension cannot be removed");
  }
  if (*axis == 0 && FirstIsIndexed(view)) return FirstMustStay(view);
  if (view.dims[*axis].count != 1) {
    return IllegalView(
        view, "squeeze",
        absl::StrCat("axis ", *axis, " has size ", view.dims[*axis].count,
                     "; only size 1 can be removed"));
  }
  View result = view;
  result.dims.erase(result.dims.begin() + *axis);
  KeepTwoDims(result);
  return result;
}

absl::StatusOr<View> Select(const View& view, int64_t dim, int64_t index) {
  const auto axis = NormalizeAxis(view, dim);
  if (!axis.ok()) return axis.status();
  std::vector<Index> indices(static_cast<size_t>(*axis) + 1);
  indices.back().kind = Index::Kind::kInteger;
  indices.back().value = index;
  return Slice(view, indices);
}

}  // namespace trnemu
