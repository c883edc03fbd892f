// View: NumPy's indexing over isa/access.h.
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

nb::object Wrap(const BoundView& from, absl::StatusOr<View> view) {
  return nb::cast(BoundView{OrRaiseHere(std::move(view)), from.builder});
}

// One end of a slice; beyond 64 bits it is clipped, as NumPy does.
std::optional<int64_t> SliceEnd(PyObject* end) {
  if (end == Py_None) return std::nullopt;
  if (!PyIndex_Check(end) || PyBool_Check(end)) {
    RaiseTypeError(absl::StrCat("slice indices must be ints or None, not ",
                                TypeName(end)));
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(end, nullptr);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

Index ToIndex(nb::handle item) {
  Index index;
  if (item.is_none()) {
    index.kind = Index::Kind::kNewAxis;
  } else if (item.ptr() == Py_Ellipsis) {
    index.kind = Index::Kind::kEllipsis;
  } else if (PySlice_Check(item.ptr())) {
    const auto* slice = reinterpret_cast<PySliceObject*>(item.ptr());
    index.start = SliceEnd(slice->start);
    index.stop = SliceEnd(slice->stop);
    index.step = SliceEnd(slice->step).value_or(1);
  } else if (IsInt(item)) {
    index.kind = Index::Kind::kInteger;
    index.value = ToInt(item, "an index");
  } else {
    RaiseTypeError(absl::StrCat(
        "a view is indexed by ints, slices, ... and None, not ", TypeName(item),
        "; what is not a constant needs indirect access"));
  }
  return index;
}

nb::object GetItem(const BoundView& self, nb::handle key) {
  std::vector<Index> indices;
  if (PyTuple_Check(key.ptr())) {
    indices.reserve(static_cast<size_t>(PyTuple_GET_SIZE(key.ptr())));
    for (nb::handle item : nb::borrow<nb::tuple>(key)) {
      indices.push_back(ToIndex(item));
    }
  } else {
    indices.push_back(ToIndex(key));
  }
  return Wrap(self, Slice(self.view, indices));
}

int64_t Length(const BoundView& self) {
  if (self.view.dims.empty()) RaiseTypeError("len() of a view of one element");
  return self.view.dims[0].count;
}

nb::object Iterate(const BoundView& self) {
  nb::list items;
  for (int64_t i = 0; i < Length(self); ++i) {
    const Index index{Index::Kind::kInteger, i, {}, {}, 1};
    items.append(Wrap(self, Slice(self.view, {&index, 1})));
  }
  return nb::iter(items);
}

// f(4, 5) and f((4, 5)).
std::vector<int64_t> Integers(nb::args args, std::string_view what) {
  if (args.size() == 1 && !IsInt(args[0])) return ToInts(args[0], what);
  return ToInts(args, what);
}

// A register, or a view of one element, of the same builder.
DynamicIndex ToDynamicIndex(const BoundView& self, nb::handle object,
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
    index.tile = view->view;
    builder = view->builder;
  } else {
    RaiseTypeError(absl::StrCat(std::string(what),
                                " must be a View of one element or a Register, "
                                "not ",
                                TypeName(object)));
  }
  if (builder != self.builder) {
    RaiseHere(Category::kIllegal, "argument.builder",
              absl::StrCat(std::string(what), " is of another ProgramBuilder"));
  }
  return index;
}

const View& ToIndexView(const BoundView& self, nb::handle object,
                        std::string_view what) {
  BoundView* view = nullptr;
  if (!nb::try_cast(object, view) || view == nullptr) {
    RaiseTypeError(absl::StrCat(std::string(what), " must be a View, not ",
                                TypeName(object)));
  }
  if (view->builder != self.builder) {
    RaiseHere(Category::kIllegal, "argument.builder",
              absl::StrCat(std::string(what), " is of another ProgramBuilder"));
  }
  return view->view;
}

nb::object Ap(const BoundView& self, nb::handle pattern, nb::handle offset,
              nb::handle scalar_offset, nb::handle vector_offset,
              nb::handle indirect_dim, nb::handle dtype) {
  const Dtype as = dtype.is_none() ? self.view.dtype : ToDtype(dtype);
  const std::vector<Dim> dims = ToPattern(pattern, "pattern");
  const int64_t start = ToInt(offset, "offset");
  const int64_t dim = ToInt(indirect_dim, "indirect_dim");
  if (!scalar_offset.is_none() && !vector_offset.is_none()) {
    RaiseHere(Category::kIllegal, "access.two_offsets",
              "an access pattern has a scalar_offset or a vector_offset, not "
              "both");
  }
  if (!scalar_offset.is_none()) {
    return Wrap(self, AccessPattern(self.view, dims, start, as, dim,
                                    ToDynamicIndex(self, scalar_offset,
                                                   "scalar_offset")));
  }
  if (!vector_offset.is_none()) {
    return Wrap(
        self, AccessPattern(self.view, dims, start, as, dim,
                            ToIndexView(self, vector_offset, "vector_offset")));
  }
  if (dim != 0) {
    RaiseHere(Category::kIllegal, "access.no_offset",
              "without scalar_offset or vector_offset, indirect_dim has no "
              "effect: leave it out");
  }
  return Wrap(self, AccessPattern(self.view, dims, start, as));
}

nb::object SelectIndex(const BoundView& self, nb::handle dim,
                       nb::handle index) {
  const int64_t axis = ToInt(dim, "dim");
  if (IsInt(index)) {
    return Wrap(self, Select(self.view, axis, ToInt(index, "index")));
  }
  return Wrap(self,
              Select(self.view, axis, ToDynamicIndex(self, index, "index")));
}

nb::object IndirectElements(const BoundView& self, nb::handle index,
                            nb::handle num_elem) {
  std::optional<int64_t> count;
  if (!num_elem.is_none()) count = ToInt(num_elem, "num_elem");
  return Wrap(self,
              Indirect(self.view, ToIndexView(self, index, "index"), count));
}

std::string Repr(const BoundView& v) {
  return absl::StrCat("<View ", v.view.name, " ", DescribeShape(v.view.Shape()),
                      " ", std::string(Name(v.view.dtype)), " in ",
                      std::string(Name(v.view.space)), ">");
}

void BindMethods(nb::class_<BoundView>& view) {
  view.def("__getitem__", &GetItem, nb::arg("key").none(),
           nb::sig("def __getitem__(self, key: typing.Any, /) -> View"),
           "NumPy's basic indexing. On chip an int on axis 0 keeps it.")
      .def(
          "reshape",
          [](const BoundView& v, nb::args shape) {
            return Wrap(v, Reshape(v.view, Integers(shape, "shape")));
          },
          nb::sig("def reshape(self, *shape: int | "
                  "collections.abc.Sequence[int]) -> View"),
          "The same elements in another shape; one extent may be -1. Fault if "
          "it would need a copy, or on chip change axis 0.")
      .def(
          "permute",
          [](const BoundView& v, nb::args order) {
            return Wrap(v, Permute(v.view, Integers(order, "order")));
          },
          nb::sig("def permute(self, *order: int | "
                  "collections.abc.Sequence[int]) -> View"),
          "The axes in another order; on chip axis 0 stays first.")
      .def(
          "broadcast",
          [](const BoundView& v, nb::handle dim, nb::handle size) {
            return Wrap(
                v, Broadcast(v.view, ToInt(dim, "dim"), ToInt(size, "size")));
          },
          nb::arg("dim"), nb::arg("size"),
          nb::sig("def broadcast(self, dim: int, size: int) -> View"),
          "Repeats axis `dim`, of size 1, `size` times.")
      .def("select", &SelectIndex, nb::arg("dim"), nb::arg("index"),
           nb::sig("def select(self, dim: int, index: typing.Any) -> View"),
           "Drops axis `dim` at `index` (axis 0 on chip is kept, size 1): an "
           "int, or a register or SBUF view of one element whose value a run "
           "reads.")
      .def(
          "view",
          [](const BoundView& v, nb::handle dtype) {
            return Wrap(v, Reinterpret(v.view, ToDtype(dtype)));
          },
          nb::arg("dtype"),
          nb::sig("def view(self, dtype: typing.Any) -> View"),
          "The same bytes as another dtype; the last axis is rescaled.")
      .def("ap", &Ap, nb::arg("pattern"), nb::arg("offset") = 0,
           nb::arg("scalar_offset") = nb::none(),
           nb::arg("vector_offset") = nb::none(), nb::arg("indirect_dim") = 0,
           nb::arg("dtype") = nb::none(),
           nb::sig("def ap(self, pattern: "
                   "collections.abc.Sequence[collections.abc.Sequence[int]], "
                   "offset: int = 0, scalar_offset: typing.Any = None, "
                   "vector_offset: typing.Any = None, indirect_dim: int = 0, "
                   "dtype: typing.Any = None) -> View"),
           "[step, count] pairs over the tensor's whole storage, in elements "
           "of `dtype`. On chip the first pair is the partitions, its step the "
           "elements of a partition. scalar_offset, a register or SBUF view of "
           "one element, moves it along axis `indirect_dim` when it is used; "
           "vector_offset, an SBUF view, does so row by row (HBM, axis 0).")
      .def(
          "vector_select",
          [](const BoundView& v, nb::handle dim, nb::handle offsets) {
            return Wrap(v,
                        VectorSelect(v.view, ToInt(dim, "dim"),
                                     ToIndexView(v, offsets, "vector_offset")));
          },
          nb::arg("dim"), nb::arg("vector_offset"),
          nb::sig("def vector_select(self, dim: int, vector_offset: View) -> "
                  "View"),
          "The rows of axis 0 of an HBM view that `vector_offset` names, an "
          "SBUF view of one index a partition.")
      .def("indirect", &IndirectElements, nb::arg("index"),
           nb::arg("num_elem") = nb::none(),
           nb::sig("def indirect(self, index: View, num_elem: int | None = "
                   "None) -> View"),
           "Elements of each partition at the offsets in `index` (trn3). "
           "Groups of 16 partitions (tensor engine: 32) share a list, whose "
           "offset i is at index[i % 16, i // 16].");
}

}  // namespace

void BindViews(nb::module_& m) {
  nb::class_<BoundView> view(
      m, "View",
      "A tensor of a program, or a part of it: geometry, no data.\n\n"
      "Axis 0 of a view on chip (SBUF, PSUM) is the partitions.");
  view.def_prop_ro(
          "shape", [](const BoundView& v) { return FromShape(v.view.Shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const BoundView& v) { return FromDtype(v.view.dtype); },
          nb::sig("def dtype(self) -> trnemu._dtype.Dtype"))
      .def_prop_ro(
          "nbytes", [](const BoundView& v) { return v.view.nbytes(); },
          "Bytes of the elements it shows.")
      .def_prop_ro(
          "size", [](const BoundView& v) { return v.view.size(); },
          "Number of elements.")
      .def_prop_ro("ndim",
                   [](const BoundView& v) { return v.view.dims.size(); })
      .def_prop_ro(
          "buffer",
          [](const BoundView& v) { return std::string(Name(v.view.space)); },
          "\"sbuf\", \"psum\" or \"hbm\".")
      .def_prop_ro(
          "name", [](const BoundView& v) { return v.view.name; },
          "The tensor's name.")
      .def("__len__", &Length)
      .def("__iter__", &Iterate,
           nb::sig("def __iter__(self) -> collections.abc.Iterator[View]"))
      .def("__repr__", &Repr);
  BindMethods(view);
}

}  // namespace trnemu::bindings
