// NkiTensor's fast part: a View with the indexing, methods and attributes of
// nki.language's tensors. trnemu.nki subclasses it in Python; what a method
// returns is of the class of the tensor it was called on.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

// A view, and which of nki's memory regions it is in.
struct BoundTensor : BoundView {
  int region = 0;
};

// nl.ds(start, size): `start` is a number, or a register or tile.
struct BoundSlice {
  nb::object start;
  int64_t size = 0;
};

const BoundTensor& Self(nb::handle self) {
  const BoundTensor& tensor = *nb::inst_ptr<BoundTensor>(self);
  RaiseIfBroken(tensor);
  return tensor;
}

// An instance of `type`, a Python class on top of BoundTensor.
nb::object Make(nb::handle type, BoundTensor tensor) {
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<BoundTensor>(made)) BoundTensor(std::move(tensor));
  nb::inst_mark_ready(made);
  return made;
}

nb::object Wrap(nb::handle self, absl::StatusOr<View> view) {
  const BoundTensor& from = Self(self);
  BoundTensor tensor;
  tensor.view = OrRaiseHere(std::move(view));
  tensor.builder = from.builder;
  tensor.region = from.region;
  return Make(self.type(), std::move(tensor));
}

[[noreturn]] void WrongIndex(nb::handle item) {
  RaiseTypeError(absl::StrCat(
      "a tensor is indexed by ints, slices, nl.ds, registers, tensors of one "
      "element, ... and None, not ",
      TypeName(item)));
}

std::optional<int64_t> SliceEnd(PyObject* end) {
  if (end == Py_None) return std::nullopt;
  if (PyLong_CheckExact(end)) {
    const Py_ssize_t value = PyLong_AsSsize_t(end);
    if (value != -1 || !PyErr_Occurred()) return value;
    PyErr_Clear();
  }
  if (!PyIndex_Check(end) || PyBool_Check(end)) {
    RaiseTypeError(absl::StrCat(
        "the ends of a slice must be ints or None, not ", TypeName(end),
        "; a start that only the device knows is nl.ds(start, size)"));
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(end, nullptr);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

// A register or tile, if the object is one of this tensor's kernel.
std::optional<DynamicIndex> ToDynamic(const BoundTensor& self,
                                      nb::handle object,
                                      std::string_view what) {
  DynamicIndex index;
  uint64_t builder = 0;
  BoundRegister* reg = nullptr;
  BoundView* view = nullptr;
  if (nb::try_cast(object, reg) && reg != nullptr) {
    index.is_register = true;
    index.reg = reg->index;
    index.core = reg->core;
    builder = reg->builder;
  } else if (nb::try_cast(object, view) && view != nullptr) {
    RaiseIfBroken(*view);
    index.tile = view->view;
    builder = view->builder;
  } else {
    return std::nullopt;
  }
  if (builder != self.builder) {
    RaiseHere(Category::kIllegal, "argument.builder",
              absl::StrCat(std::string(what), " is of another kernel"));
  }
  return index;
}

// NumPy's indexing, with at most one index that only a run knows.
class Indexer {
 public:
  explicit Indexer(const BoundTensor& self) : self_(self) {}

  absl::StatusOr<View> Run(nb::handle key) {
    if (PyTuple_Check(key.ptr())) {
      const Py_ssize_t n = PyTuple_GET_SIZE(key.ptr());
      Count(key);
      for (Py_ssize_t i = 0; i < n; ++i) Take(PyTuple_GET_ITEM(key.ptr(), i));
    } else {
      Take(key);
    }
    if (!dynamic_) return Slice(self_.view, indices_);
    auto moved = SliceFrom(self_.view, axis_of_dynamic_, *dynamic_, size_);
    if (!moved.ok()) return moved;
    return Slice(*moved, indices_);
  }

 private:
  // How many dimensions the items of a tuple take, for "...".
  void Count(nb::handle key) {
    int64_t taken = 0;
    for (nb::handle item : nb::borrow<nb::tuple>(key)) {
      taken += !item.is_none() && item.ptr() != Py_Ellipsis;
    }
    left_over_ = static_cast<int64_t>(self_.view.dims.size()) - taken;
  }

  void Take(nb::handle item) {
    Index index;
    BoundSlice* ds = nullptr;
    if (PySlice_Check(item.ptr())) {
      const auto* slice = reinterpret_cast<PySliceObject*>(item.ptr());
      index.start = SliceEnd(slice->start);
      index.stop = SliceEnd(slice->stop);
      index.step = SliceEnd(slice->step).value_or(1);
      ++axis_;
    } else if (IsInt(item)) {
      index.kind = Index::Kind::kInteger;
      index.value = ToInt(item, "an index");
      ++axis_;
    } else if (item.is_none()) {
      index.kind = Index::Kind::kNewAxis;
    } else if (item.ptr() == Py_Ellipsis) {
      index.kind = Index::Kind::kEllipsis;
      axis_ += std::max<int64_t>(left_over_, 0);
    } else if (nb::try_cast(item, ds) && ds != nullptr) {
      TakeSlice(*ds, index);
      ++axis_;
    } else if (auto dynamic = ToDynamic(self_, item, "an index")) {
      Keep(*std::move(dynamic), 1);
      index.kind = Index::Kind::kInteger;
      ++axis_;
    } else {
      WrongIndex(item);
    }
    indices_.push_back(index);
  }

  void TakeSlice(const BoundSlice& ds, Index& index) {
    if (auto dynamic = ToDynamic(self_, ds.start, "the start of nl.ds")) {
      Keep(*std::move(dynamic), ds.size);
      return;
    }
    const int64_t start = ToInt(ds.start, "the start of nl.ds");
    const size_t axis = static_cast<size_t>(axis_);
    // Unlike a slice's, its end may not lie past the dimension.
    if (axis < self_.view.dims.size() &&
        (start < 0 || ds.size < 1 ||
         start > self_.view.dims[axis].count - ds.size)) {
      RaiseHere(Category::kOutOfBounds, "access.index",
                absl::StrCat("'", self_.view.name, "' of shape ",
                             DescribeShape(self_.view.Shape()), ": nl.ds(",
                             start, ", ", ds.size, ") goes outside axis ", axis,
                             " with size ", self_.view.dims[axis].count));
    }
    index.start = start;
    index.stop = start + ds.size;
  }

  void Keep(DynamicIndex dynamic, int64_t size) {
    if (dynamic_) {
      RaiseHere(IndirectTwice());
    }
    dynamic_ = std::move(dynamic);
    axis_of_dynamic_ = axis_;
    size_ = size;
  }

  absl::Status IndirectTwice() const {
    return MakeFault(
        Category::kIllegal, "access.indirect_again",
        absl::StrCat("'", self_.view.name,
                     "': only one index may be one that only a run knows"));
  }

  const BoundTensor& self_;
  std::vector<Index> indices_;
  int64_t axis_ = 0;
  int64_t left_over_ = 0;
  std::optional<DynamicIndex> dynamic_;
  int64_t axis_of_dynamic_ = 0;
  int64_t size_ = 1;
};

nb::object GetItem(nb::handle self, nb::handle key) {
  return Wrap(self, Indexer(Self(self)).Run(key));
}

// The elements of a partition, which is what a step of the partitions counts.
int64_t RowOf(const View& view) { return view.storage; }

int64_t OffsetOf(const View& view) {
  return view.offset + (view.on_chip() ? view.start_partition * RowOf(view)
                                       : int64_t{0});
}

std::vector<int64_t> StridesOf(const View& view) {
  std::vector<int64_t> strides;
  for (const Dim& dim : view.dims) strides.push_back(dim.step);
  if (view.on_chip() && !strides.empty()) strides[0] = RowOf(view);
  return strides;
}

bool IsContiguous(const View& view) {
  int64_t step = 1;
  for (size_t i = view.dims.size(); i-- > (view.on_chip() ? 1u : 0u);) {
    const Dim& dim = view.dims[i];
    if (dim.count == 1) continue;
    if (dim.step != step) return false;
    step *= dim.count;
  }
  return true;
}

nb::list PatternList(const View& view) {
  nb::list pattern;
  const std::vector<int64_t> strides = StridesOf(view);
  for (size_t i = 0; i < strides.size(); ++i) {
    nb::list pair;
    pair.append(strides[i]);
    pair.append(view.dims[i].count);
    pattern.append(pair);
  }
  return pattern;
}

// The view's own start in elements of `dtype`.
int64_t StartIn(const View& view, Dtype dtype) {
  const int64_t bytes = OffsetOf(view) * static_cast<int64_t>(SizeOf(view.dtype));
  const int64_t size = static_cast<int64_t>(SizeOf(dtype));
  if (bytes % size != 0) {
    RaiseHere(Category::kIllegal, "access.reinterpret",
              absl::StrCat("'", view.name, "' cannot be addressed as ",
                           std::string(Name(dtype)),
                           ": it starts inside an element"));
  }
  return bytes / size;
}

// The view of an access pattern; one that leaves its tensor can be made, and is
// refused where it is used.
nb::object WrapPattern(nb::handle self, std::span<const Dim> pattern,
                       absl::StatusOr<View> view) {
  if (view.ok()) return Wrap(self, std::move(view));
  Diagnostic d = DiagnosticOf(view.status());
  if (d.category != Category::kOutOfBounds || pattern.empty()) {
    RaiseHere(view.status());
  }
  const UserLine at = FindUserLine();
  d.source = absl::StrCat(at.file, ":", at.line, " in ", at.function);
  const BoundTensor& from = Self(self);
  BoundTensor tensor;
  tensor.view = from.view;
  tensor.view.dims.assign(pattern.begin(), pattern.end());
  tensor.builder = from.builder;
  tensor.region = from.region;
  tensor.broken = std::make_shared<const Diagnostic>(std::move(d));
  return Make(self.type(), std::move(tensor));
}

nb::object Ap(nb::handle self, nb::handle pattern, nb::handle offset,
              nb::handle scalar_offset, nb::handle vector_offset,
              nb::handle indirect_dim, nb::handle dtype) {
  const BoundTensor& from = Self(self);
  const View& view = from.view;
  const Dtype as = dtype.is_none() ? view.dtype : ToDtype(dtype);
  const std::vector<Dim> dims = ToPattern(pattern, "pattern");
  const int64_t added = offset.is_none() ? 0 : ToInt(offset, "offset");
  const int64_t start = StartIn(view, as) + added;
  const int64_t dim = ToInt(indirect_dim, "indirect_dim");
  if (!scalar_offset.is_none() && !vector_offset.is_none()) {
    RaiseHere(Category::kIllegal, "access.two_offsets",
              "an access pattern has a scalar_offset or a vector_offset, not "
              "both");
  }
  if (!scalar_offset.is_none()) {
    auto index = ToDynamic(from, scalar_offset, "scalar_offset");
    if (!index) {
      RaiseTypeError(absl::StrCat(
          "scalar_offset must be a register or a tensor of one element, not ",
          TypeName(scalar_offset)));
    }
    return WrapPattern(
        self, dims, AccessPattern(view, dims, start, as, dim, *index, true));
  }
  if (!vector_offset.is_none()) {
    auto index = ToDynamic(from, vector_offset, "vector_offset");
    if (!index || index->is_register) {
      RaiseTypeError(absl::StrCat("vector_offset must be a tensor, not ",
                                  TypeName(vector_offset)));
    }
    return WrapPattern(
        self, dims,
        AccessPattern(view, dims, start, as, dim, index->tile, true));
  }
  // What moves nothing may be given, but not for an axis that is none.
  if (dim < 0 || dim >= std::max(int64_t{1}, static_cast<int64_t>(view.dims.size()))) {
    RaiseHere(Category::kIllegal, "access.no_offset",
              absl::StrCat("indirect_dim is ", dim, ", which is no axis of '",
                           view.name, "', and there is no scalar_offset or "
                           "vector_offset that would move along it"));
  }
  return WrapPattern(self, dims, AccessPattern(view, dims, start, as));
}

// The shape with dimensions `first` to `last` replaced by `inner`.
std::vector<int64_t> Spliced(const View& view, size_t first, size_t last,
                             std::span<const int64_t> inner) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < first; ++i) shape.push_back(view.dims[i].count);
  shape.insert(shape.end(), inner.begin(), inner.end());
  for (size_t i = last + 1; i < view.dims.size(); ++i) {
    shape.push_back(view.dims[i].count);
  }
  return shape;
}

size_t Axis(const View& view, nb::handle dim, std::string_view what) {
  const int64_t rank = static_cast<int64_t>(view.dims.size());
  const int64_t axis = ToInt(dim, what);
  if (axis < -rank || axis >= rank) {
    RaiseHere(Category::kIllegal, "access.axis",
              absl::StrCat("'", view.name, "' of shape ",
                           DescribeShape(view.Shape()), ": axis ", axis,
                           " does not exist"));
  }
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

nb::object ReshapeDim(nb::handle self, nb::handle dim, nb::handle shape) {
  const View& view = Self(self).view;
  const size_t axis = Axis(view, dim, "dim");
  std::vector<int64_t> inner = ToInts(shape, "shape");
  const int64_t size = view.dims[axis].count;
  int64_t known = 1;
  for (int64_t n : inner) known *= n == -1 ? 1 : n;
  for (int64_t& n : inner) {
    if (n == -1 && known > 0 && size % known == 0) {
      n = size / known;
      known = size;
    }
  }
  if (known != size) {
    RaiseHere(Category::kIllegal, "access.reshape",
              absl::StrCat("'", view.name, "' of shape ",
                           DescribeShape(view.Shape()), ": axis ", axis,
                           " of size ", size, " cannot be split into ",
                           DescribeShape(inner)));
  }
  return Wrap(self, Reshape(view, Spliced(view, axis, axis, inner)));
}

nb::object FlattenDims(nb::handle self, nb::handle start_dim,
                       nb::handle end_dim) {
  const View& view = Self(self).view;
  const size_t first = Axis(view, start_dim, "start_dim");
  const size_t last = Axis(view, end_dim, "end_dim");
  if (first > last) {
    RaiseHere(Category::kIllegal, "access.axis",
              absl::StrCat("flatten_dims from ", first, " to ", last,
                           ": the first must not come after the last"));
  }
  int64_t size = 1;
  for (size_t i = first; i <= last; ++i) size *= view.dims[i].count;
  return Wrap(self, Reshape(view, Spliced(view, first, last, {&size, 1})));
}

nb::object SliceDim(nb::handle self, nb::handle dim, nb::handle start,
                    nb::handle end, nb::handle step) {
  const View& view = Self(self).view;
  const size_t axis = Axis(view, dim, "dim");
  std::vector<Index> indices(axis + 1);
  Index& index = indices.back();
  index.start = ToInt(start, "start");
  index.stop = ToInt(end, "end");
  index.step = ToInt(step, "step");
  const int64_t size = view.dims[axis].count;
  if (*index.start < 0 || *index.start >= *index.stop || *index.stop > size ||
      index.step < 1) {
    RaiseHere(Category::kOutOfBounds, "access.index",
              absl::StrCat("'", view.name, "' of shape ",
                           DescribeShape(view.Shape()), ": slice(", axis, ", ",
                           *index.start, ", ", *index.stop, ", ", index.step,
                           ") needs 0 <= start < end <= ", size,
                           " and a step of at least 1"));
  }
  return Wrap(self, Slice(view, indices));
}

nb::object SelectIndex(nb::handle self, nb::handle dim, nb::handle index) {
  const BoundTensor& from = Self(self);
  const int64_t axis = ToInt(dim, "dim");
  if (IsInt(index)) {
    const int64_t at = ToInt(index, "index");
    // Documented: 0 <= index (nki/api/nki/language/__init__.py:442).
    if (at < 0) {
      RaiseHere(Category::kOutOfBounds, "access.index",
                absl::StrCat("'", from.view.name, "': select takes indices "
                             "from 0 on, not ", at, "; tensor[..., ", at,
                             "] counts from the end"));
    }
    return Wrap(self, Select(from.view, axis, at));
  }
  auto dynamic = ToDynamic(from, index, "index");
  if (!dynamic) {
    RaiseTypeError(absl::StrCat(
        "index must be an int, a register or a tensor of one element, not ",
        TypeName(index)));
  }
  return Wrap(self, Select(from.view, axis, *dynamic));
}

const BoundView& Tensor(const BoundTensor& self, nb::handle object,
                        std::string_view what) {
  BoundView* view = nullptr;
  if (!nb::try_cast(object, view) || view == nullptr) {
    RaiseTypeError(absl::StrCat(std::string(what), " must be a tensor, not ",
                                TypeName(object)));
  }
  if (view->builder != self.builder) {
    RaiseHere(Category::kIllegal, "argument.builder",
              absl::StrCat(std::string(what), " is of another kernel"));
  }
  RaiseIfBroken(*view);
  return *view;
}

nb::object RowsOf(nb::handle self, nb::handle dim, nb::handle offsets) {
  const BoundTensor& from = Self(self);
  return Wrap(self, VectorSelect(
                        from.view, ToInt(dim, "dim"),
                        Tensor(from, offsets, "vector_offset").view));
}

nb::object IndirectElements(nb::handle self, nb::handle index,
                            nb::handle num_elem) {
  const BoundTensor& from = Self(self);
  std::optional<int64_t> count;
  if (!num_elem.is_none()) count = ToInt(num_elem, "num_elem");
  return Wrap(self,
              Indirect(from.view, Tensor(from, index, "index").view, count));
}

// What _trnemu.NkiTensor.make gives: a tensor of the class `type`.
nb::object MakeFrom(nb::handle type, const BoundView& view, int region) {
  BoundTensor tensor;
  tensor.view = view.view;
  tensor.builder = view.builder;
  tensor.region = region;
  return Make(type, std::move(tensor));
}

void BindShapes(nb::class_<BoundTensor, BoundView>& tensor) {
  tensor
      .def("__getitem__", &GetItem, nb::arg("key").none(),
           nb::sig("def __getitem__(self, key: typing.Any, /) -> typing.Any"),
           "NumPy's basic indexing, with nl.ds, and one register or tensor of "
           "one element as an index. On chip an int on axis 0 keeps it.")
      .def(
          "reshape",
          [](nb::handle self, nb::handle shape) {
            return Wrap(self, Reshape(Self(self).view, ToInts(shape, "shape")));
          },
          nb::arg("shape"),
          nb::sig("def reshape(self, shape: "
                  "collections.abc.Sequence[int]) -> typing.Any"),
          "The same elements in another shape; one extent may be -1. Fault if "
          "it would need a copy, or on chip change axis 0.")
      .def(
          "permute",
          [](nb::handle self, nb::handle dims) {
            return Wrap(self, Permute(Self(self).view, ToInts(dims, "dims")));
          },
          nb::arg("dims"),
          nb::sig("def permute(self, dims: "
                  "collections.abc.Sequence[int]) -> typing.Any"),
          "The axes in another order; on chip axis 0 stays first.")
      .def(
          "broadcast",
          [](nb::handle self, nb::handle dim, nb::handle size) {
            return Wrap(self, Broadcast(Self(self).view, ToInt(dim, "dim"),
                                        ToInt(size, "size")));
          },
          nb::arg("dim"), nb::arg("size"),
          nb::sig("def broadcast(self, dim: int, size: int) -> typing.Any"),
          "Repeats axis `dim`, of size 1, `size` times.")
      .def(
          "expand_dim",
          [](nb::handle self, nb::handle dim) {
            return Wrap(self, ExpandDim(Self(self).view, ToInt(dim, "dim")));
          },
          nb::arg("dim"), nb::sig("def expand_dim(self, dim: int) -> typing.Any"),
          "A new axis of size 1 at position `dim`; on chip not the first.")
      .def(
          "squeeze_dim",
          [](nb::handle self, nb::handle dim) {
            return Wrap(self, SqueezeDim(Self(self).view, ToInt(dim, "dim")));
          },
          nb::arg("dim"),
          nb::sig("def squeeze_dim(self, dim: int) -> typing.Any"),
          "Without axis `dim`, of size 1; on chip not the first.")
      .def("reshape_dim", &ReshapeDim, nb::arg("dim"), nb::arg("shape"),
           nb::sig("def reshape_dim(self, dim: int, shape: "
                   "collections.abc.Sequence[int]) -> typing.Any"),
           "Splits axis `dim` into several, of which one may be -1.")
      .def("flatten_dims", &FlattenDims, nb::arg("start_dim"),
           nb::arg("end_dim"),
           nb::sig("def flatten_dims(self, start_dim: int, end_dim: int) -> "
                   "typing.Any"),
           "Merges the axes from start_dim to end_dim, both included; their "
           "elements must be one stride apart.");
}

void BindIndexing(nb::class_<BoundTensor, BoundView>& tensor) {
  tensor
      .def("slice", &SliceDim, nb::arg("dim"), nb::arg("start"), nb::arg("end"),
           nb::arg("step") = 1,
           nb::sig("def slice(self, dim: int, start: int, end: int, step: int "
                   "= 1) -> typing.Any"),
           "Elements start, start + step, ... below end of axis `dim`; 0 <= "
           "start < end <= its size, else Fault (out_of_bounds).")
      .def("select", &SelectIndex, nb::arg("dim"), nb::arg("index"),
           nb::sig("def select(self, dim: int, index: typing.Any) -> "
                   "typing.Any"),
           "Drops axis `dim` at `index` (axis 0 on chip is kept, size 1): an "
           "int, or a register or SBUF tensor of one element whose value a run "
           "reads.")
      .def("vector_select", &RowsOf, nb::arg("dim"), nb::arg("vector_offset"),
           nb::sig("def vector_select(self, dim: int, vector_offset: "
                   "typing.Any) -> typing.Any"),
           "The rows of axis 0 of an HBM tensor that `vector_offset` names, an "
           "SBUF tensor of one index a partition.")
      .def("ap", &Ap, nb::arg("pattern"), nb::arg("offset") = nb::none(),
           nb::arg("scalar_offset") = nb::none(),
           nb::arg("vector_offset") = nb::none(), nb::arg("indirect_dim") = 0,
           nb::arg("dtype") = nb::none(),
           nb::sig("def ap(self, pattern: "
                   "collections.abc.Sequence[collections.abc.Sequence[int]], "
                   "offset: int | None = None, scalar_offset: typing.Any = "
                   "None, vector_offset: typing.Any = None, indirect_dim: int "
                   "= 0, dtype: typing.Any = None) -> typing.Any"),
           "[stride, count] pairs over the tensor's storage, in elements of "
           "`dtype`, from this view's own start plus `offset`. On chip the "
           "first pair is the partitions, its stride the elements of a "
           "partition.")
      .def("indirect", &IndirectElements, nb::arg("index"),
           nb::arg("num_elem") = nb::none(),
           nb::sig("def indirect(self, index: typing.Any, num_elem: int | None "
                   "= None) -> typing.Any"),
           "Elements of each partition at the offsets in `index` (trn3); "
           "groups of 16 partitions (tensor engine: 32) share a list.")
      .def(
          "view",
          [](nb::handle self, nb::handle dtype) {
            return Wrap(self, Reinterpret(Self(self).view, ToDtype(dtype)));
          },
          nb::arg("dtype"),
          nb::sig("def view(self, dtype: typing.Any) -> typing.Any"),
          "The same bytes as another dtype; the last axis is rescaled.");
}

void BindTensor(nb::module_& m) {
  nb::class_<BoundTensor, BoundView> tensor(
      m, "NkiView", "What trnemu.nki's NkiTensor is made of.");
  tensor
      .def_prop_ro(
          "strides",
          [](const BoundTensor& t) { return FromShape(StridesOf(t.view)); },
          nb::sig("def strides(self) -> tuple[int, ...]"),
          "Of each axis, in elements; on chip of axis 0 the elements of a "
          "partition.")
      .def_prop_ro(
          "offset", [](const BoundTensor& t) { return OffsetOf(t.view); },
          "Its first element, counted in the storage.")
      .def_prop_ro("region", [](const BoundTensor& t) { return t.region; })
      .def_prop_ro(
          "tensor", [](const BoundTensor& t) { return t.view.tensor; },
          "The position of its tensor in the program.")
      .def_prop_ro(
          "storage_size",
          [](const BoundTensor& t) {
            return t.view.storage *
                   (t.view.on_chip() ? t.view.tile_partitions : 1);
          },
          "Elements of its dtype in the whole tensor.")
      .def("get_pattern",
           [](const BoundTensor& t) { return PatternList(t.view); },
           nb::sig("def get_pattern(self) -> list[list[int]]"),
           "[[stride, count], ...] of the axes.")
      .def("is_contiguous",
           [](const BoundTensor& t) { return IsContiguous(t.view); },
           "Whether the elements lie one after the other; on chip those of a "
           "partition.")
      .def("is_indirect",
           [](const BoundTensor& t) { return t.view.indirection.has_value(); },
           "Whether an index of it is one that only a run knows.")
      .def_static("make", &MakeFrom, nb::arg("cls"), nb::arg("view"),
                  nb::arg("region"),
                  nb::sig("def make(cls: type, view: View, region: int) -> "
                          "typing.Any"));
  BindShapes(tensor);
  BindIndexing(tensor);
}

nb::object MakeRegister(nb::handle type, const BoundRegister& from) {
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<BoundRegister>(made)) BoundRegister(from);
  nb::inst_mark_ready(made);
  return made;
}

}  // namespace

void BindNki(nb::module_& m) {
  nb::class_<BoundSlice>(m, "DynamicSlice",
                         "nl.ds(start, size): `size` elements of an axis from "
                         "`start`, an int, or a register or tensor of one "
                         "element.")
      .def(
          "__init__",
          [](BoundSlice* self, nb::object start, nb::handle size) {
            new (self) BoundSlice{std::move(start), ToInt(size, "size")};
          },
          nb::arg("start"), nb::arg("size"),
          nb::sig("def __init__(self, start: typing.Any, size: int) -> None"))
      .def_ro("start", &BoundSlice::start)
      .def_ro("size", &BoundSlice::size)
      .def("__repr__", [](const BoundSlice& s) {
        return absl::StrCat("ds(", nb::repr(s.start).c_str(), ", ", s.size,
                            ")");
      });
  BindTensor(m);
  m.def("make_register", &MakeRegister, nb::arg("cls"), nb::arg("register"),
        nb::sig("def make_register(cls: type, register: Register) -> "
                "typing.Any"));
}

}  // namespace trnemu::bindings
