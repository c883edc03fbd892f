#include "isa/access.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/saturating.h"
#include "isa/view_error.h"

namespace trnemu {
namespace {

constexpr int64_t kMaxPartitions = 128;
constexpr size_t kMaxFreeDims = 4;  // nki-aps.rst:36
constexpr int64_t kMaxCount = std::numeric_limits<uint32_t>::max();

int64_t Product(std::span<const Dim> dims) {
  int64_t product = 1;
  for (const Dim& dim : dims) product = SaturatingMultiply(product, dim.count);
  return product;
}

std::string Quote(std::string_view name) {
  return absl::StrCat("'", std::string(name), "'");
}

// Dimensions that do the same as `dims`, as few as neighbours allow.
std::vector<Dim> Merge(std::span<const Dim> dims) {
  std::vector<Dim> merged;
  merged.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (dim.count == 1) continue;
    if (!merged.empty()) {
      Dim& outer = merged.back();
      const int64_t count = SaturatingMultiply(outer.count, dim.count);
      if (count <= kMaxCount &&
          outer.step == SaturatingMultiply(dim.step, dim.count)) {
        outer = {dim.step, count};
        continue;
      }
    }
    merged.push_back(dim);
  }
  if (merged.empty()) merged.push_back({1, 1});
  return merged;
}

// The dimensions of an operand in HBM.
std::vector<Dim> HbmDims(const View& view, bool keep_dims) {
  if (keep_dims && !view.dims.empty()) return view.dims;
  const bool rows =
      view.indirection && view.indirection->kind == IndirectionKind::kVector;
  if (!rows) return Merge(view.dims);
  std::vector<Dim> dims = {view.dims[0]};
  const std::vector<Dim> inner = Merge(std::span(view.dims).subspan(1));
  dims.insert(dims.end(), inner.begin(), inner.end());
  return dims;
}

absl::Status TooManyDims(const View& view, size_t needed, size_t limit) {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = "access.too_many_dims";
  d.message =
      absl::StrCat(Quote(view.name), " has shape ", DescribeShape(view.Shape()),
                   view.on_chip() ? ", that is " : ", which needs ", needed,
                   view.on_chip() ? " free dimensions" : " strided dimensions",
                   "; an instruction's operand has at most ", limit);
  d.operand = view.name;
  d.details = {{"dimensions", absl::StrCat(needed)},
               {"limit", absl::StrCat(limit)}};
  d.remedy = "reshape the view to fewer dimensions, or split the operation";
  d.reference = "nki/guides/nki-aps.rst:36";
  return ToStatus(std::move(d));
}

absl::Status TooLarge(const View& view, std::string_view what, int64_t count,
                      int64_t limit) {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = "access.too_large";
  d.message = absl::StrCat(Quote(view.name), " has ", count, " ",
                           std::string(what), "; the limit is ", limit);
  d.operand = view.name;
  d.details = {{"count", absl::StrCat(count)}, {"limit", absl::StrCat(limit)}};
  return ToStatus(std::move(d));
}

absl::Status Outside(std::string_view name, std::string_view what,
                     int64_t first, int64_t last, int64_t limit,
                     const Access& access) {
  const int64_t index = first < 0 ? first : last;
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = "access.out_of_bounds";
  d.message =
      absl::StrCat(Quote(name), ": ", Describe(access), " reaches ",
                   std::string(what), " ", index, ", outside 0 to ", limit - 1);
  d.operand = std::string(name);
  d.details = {{"axis", std::string(what)},
               {"index", absl::StrCat(index)},
               {"limit", absl::StrCat(limit)}};
  return ToStatus(std::move(d));
}

}  // namespace

int64_t Access::free_size() const { return Product(active_dims()); }

int64_t Access::size() const {
  return on_chip() ? SaturatingMultiply(free_size(), partitions) : free_size();
}

std::pair<int64_t, int64_t> Access::Extent() const {
  int64_t low = 0;
  int64_t high = 0;
  for (const Dim& dim : active_dims()) {
    const int64_t reach = SaturatingMultiply(dim.step, dim.count - 1);
    int64_t& end = reach < 0 ? low : high;
    end = SaturatingAdd(end, reach);
  }
  return {low, high};
}

std::vector<int64_t> Access::Shape() const {
  std::vector<int64_t> shape;
  if (on_chip()) shape.push_back(partitions);
  for (const Dim& dim : active_dims()) shape.push_back(dim.count);
  return shape;
}

bool Access::contiguous() const {
  int64_t expected = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i].count == 1) continue;
    if (dims[i].step != expected) return false;
    expected = SaturatingMultiply(expected, dims[i].count);
  }
  return true;
}

std::vector<int64_t> View::Shape() const {
  std::vector<int64_t> shape;
  shape.reserve(dims.size());
  for (const Dim& dim : dims) shape.push_back(dim.count);
  return shape;
}

int64_t View::size() const { return Product(dims); }

View WholeTensor(uint32_t tensor, std::string name, Space space, Dtype dtype,
                 std::span<const int64_t> shape) {
  View view;
  view.tensor = tensor;
  view.space = space;
  view.dtype = dtype;
  view.name = std::move(name);
  view.dims.resize(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.dims[i] = {step, shape[i]};
    if (i > 0 || !view.on_chip()) step = SaturatingMultiply(step, shape[i]);
  }
  view.storage = step;
  if (view.on_chip() && !shape.empty()) {
    view.dims[0].step = 0;
    view.tile_partitions = static_cast<int32_t>(
        std::min<int64_t>(shape[0], std::numeric_limits<int32_t>::max()));
    if (shape.size() == 1) view.dims.push_back({1, 1});
  }
  return view;
}

absl::StatusOr<Access> ToAccess(const View& view) {
  if (view.indirection) {
    return IllegalView(view, "indirect_operand",
                       "an indirect view cannot be used here");
  }
  return PatternOf(view);
}

absl::StatusOr<Access> PatternOf(const View& view, bool keep_dims) {
  Access access;
  access.tensor = view.tensor;
  access.space = view.space;
  access.dtype = view.dtype;
  access.offset = view.offset;
  std::vector<Dim> merged;
  std::span<const Dim> dims;
  if (view.on_chip()) {
    const int64_t partitions = view.dims[0].count;
    if (partitions > kMaxPartitions) {
      return TooLarge(view, "partitions", partitions, kMaxPartitions);
    }
    access.start_partition = static_cast<uint16_t>(view.start_partition);
    access.partitions = static_cast<uint16_t>(partitions);
    dims = std::span(view.dims).subspan(1);
    if (dims.size() > kMaxFreeDims) {
      return TooManyDims(view, dims.size(), kMaxFreeDims);
    }
  } else {
    merged = HbmDims(view, keep_dims);
    dims = merged;
    if (dims.size() > kMaxDims) return TooManyDims(view, dims.size(), kMaxDims);
  }
  for (const Dim& dim : dims) {
    if (dim.count > kMaxCount) {
      return TooLarge(view, "elements in one dimension", dim.count, kMaxCount);
    }
  }
  access.rank = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), access.dims.begin());
  return access;
}

std::string MisfitOf(const Access& access, const Indirection& indirection) {
  using enum IndirectionKind;
  const Access& index = indirection.index;
  if (indirection.step == 0) return "has step 0";
  if (indirection.limit < 1) return "has no valid index";
  if (indirection.has_index()) {
    if (index.is_dynamic()) return "has an index that is dynamic itself";
    if (index.space != Space::kSbuf) return "has an index that is not in SBUF";
    if (!IsInteger(index.dtype) || SizeOf(index.dtype) < 2) {
      return "has an index that is not of 16- or 32-bit integers";
    }
  }
  if (indirection.is_scalar()) {
    return indirection.kind == kScalarTile && index.size() != 1
               ? "has an index of more than one element"
               : "";
  }
  if (access.rank < 1 || access.dims[0].step != 0) {
    return "indexes a first dimension whose step is not 0";
  }
  if (indirection.kind == kVector) {
    if (access.on_chip()) return "has rows, though the tensor is on chip";
    return access.dims[0].count > index.size() ? "has fewer indices than rows"
                                               : "";
  }
  if (!access.on_chip()) return "has offsets, though the tensor is in HBM";
  if (access.rank != 1) return "has offsets and more than one dimension";
  return index.partitions != access.partitions
             ? "has an index of other partitions than the operand's"
             : "";
}

absl::Status CheckBounds(const Access& access, int64_t storage,
                         int64_t tile_partitions, std::string_view name,
                         const Indirection* indirection) {
  if (access.on_chip()) {
    const int64_t last = access.start_partition + access.partitions - 1;
    if (last >= tile_partitions) {
      return Outside(name, "partition", access.start_partition, last,
                     tile_partitions, access);
    }
  }
  const auto [low, high] = access.Extent();
  int64_t first = SaturatingAdd(access.offset, low);
  int64_t last = SaturatingAdd(access.offset, high);
  if (indirection != nullptr) {
    const int64_t reach =
        SaturatingMultiply(indirection->step, indirection->limit - 1);
    int64_t& end = reach < 0 ? first : last;
    end = SaturatingAdd(end, reach);
  }
  if (first < 0 || last >= storage) {
    return Outside(name, "element", first, last, storage, access);
  }
  return absl::OkStatus();
}

std::string Describe(const Access& access) {
  std::string text = absl::StrCat(std::string(Name(access.space)), "[");
  if (access.on_chip()) {
    absl::StrAppend(&text, access.start_partition, ":",
                    access.start_partition + access.partitions, ", ");
  }
  absl::StrAppend(&text, access.offset);
  char separator = '+';
  for (const Dim& dim : access.active_dims()) {
    absl::StrAppend(&text, std::string(1, separator), dim.count, "x", dim.step);
    separator = ',';
  }
  absl::StrAppend(&text, access.is_dynamic() ? " + a dynamic offset" : "", "] ",
                  std::string(Name(access.dtype)));
  return text;
}

std::string DescribeShape(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", shape[i]);
  }
  absl::StrAppend(&text, shape.size() == 1 ? ",)" : ")");
  return text;
}

std::string DescribeSlice(const Access& access,
                          std::span<const int64_t> shape) {
  if (access.on_chip() || access.is_dynamic() || shape.empty()) return "";
  std::vector<Dim> dims;
  for (const Dim& d : access.active_dims()) {
    if (d.count == 1) continue;
    if (!dims.empty() && dims.back().step <= d.step) return "";
    dims.push_back(d);
  }
  std::string text;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t extent = shape[i];
    if (extent <= 0) return "";
    const int64_t start = access.offset / stride % extent;
    int64_t count = 1, step = 1;
    if (!dims.empty() && dims.back().step < stride * extent) {
      Dim& d = dims.back();
      if (d.step < stride || d.step % stride != 0) return "";
      count = d.count;
      step = d.step / stride;
      if (start + (count - 1) * step < extent) {
        dims.pop_back();
      } else {
        // It goes on in the axis before: whole rows.
        if (step != 1 || start != 0 || count % extent != 0) return "";
        count = extent;
        d = {stride * extent, d.count / extent};
      }
    }
    std::string part = absl::StrCat(start);
    if (count == extent) {
      part = ":";
    } else if (count > 1) {
      part = absl::StrCat(start, ":", start + (count - 1) * step + 1);
      if (step > 1) absl::StrAppend(&part, ":", step);
    }
    text = absl::StrCat(part, text.empty() ? "" : ", ", text);
    stride *= extent;
  }
  if (!dims.empty() || access.offset >= stride) return "";
  return absl::StrCat("[", text, "]");
}

}  // namespace trnemu
