// Python integers, shapes, patterns and dtypes.
#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

// The items of a list, tuple or other sequence; text is none. `what` must be
// `form`.
nb::object Sequence(nb::handle object, std::string_view what,
                    std::string_view form) {
  PyObject* items = nullptr;
  if (!PyUnicode_Check(object.ptr()) && !PyBytes_Check(object.ptr())) {
    items = PySequence_Fast(object.ptr(), "");
  }
  if (items == nullptr) {
    PyErr_Clear();
    RaiseTypeError(absl::StrCat(std::string(what), " must be ",
                                std::string(form), ", not ", TypeName(object)));
  }
  return nb::steal(items);
}

// A list or tuple of two ints.
bool QuickPair(PyObject* item, Dim& dim) {
  if (!PyList_Check(item) && !PyTuple_Check(item)) return false;
  if (PySequence_Fast_GET_SIZE(item) != 2) return false;
  PyObject** const items = PySequence_Fast_ITEMS(item);
  return QuickInt(items[0], dim.step) && QuickInt(items[1], dim.count);
}

std::span<PyObject*> Items(const nb::object& fast) {
  return {PySequence_Fast_ITEMS(fast.ptr()),
          static_cast<size_t>(PySequence_Fast_GET_SIZE(fast.ptr()))};
}

// The name that a dtype object goes by, or "" if it is none.
std::string DtypeName(nb::handle object) {
  if (PyUnicode_Check(object.ptr())) return std::string(Utf8(object));
  const std::string type = TypeName(object);
  if (type == "torch.dtype") {
    const std::string name = nb::str(object).c_str();
    return name.substr(name.find('.') + 1);
  }
  const nb::object numpy = nb::module_::import_("numpy").attr("dtype");
  if (!nb::isinstance(object, numpy) && !PyType_Check(object.ptr())) return "";
  PyObject* dtype = PyObject_CallOneArg(numpy.ptr(), object.ptr());
  if (dtype == nullptr) {
    PyErr_Clear();
    return "";
  }
  const nb::object owned = nb::steal(dtype);
  // A type that NumPy does not know is an "object".
  const std::string name = nb::str(owned.attr("name")).c_str();
  if (!nb::cast<bool>(owned.attr("isnative"))) return name + " (byte-swapped)";
  return name == "object" ? "" : name;
}

}  // namespace

std::string_view Utf8(nb::handle unicode) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<size_t>(size)};
}

bool IsInt(nb::handle object) {
  if (PyLong_CheckExact(object.ptr())) return true;
  // A register of nki has __index__ to say that its value is not known.
  return PyIndex_Check(object.ptr()) && !PyBool_Check(object.ptr()) &&
         !nb::isinstance<BoundRegister>(object);
}

bool QuickInt(PyObject* object, int64_t& value) {
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

int64_t ToInt(nb::handle object, std::string_view what) {
  int64_t quick = 0;
  if (QuickInt(object.ptr(), quick)) return quick;
  const nb::object index =
      IsInt(object) ? nb::steal(PyNumber_Index(object.ptr())) : nb::object();
  if (!index.is_valid()) {
    PyErr_Clear();  // an array has __index__ and may refuse
    RaiseTypeError(absl::StrCat(std::string(what), " must be an int, not ",
                                TypeName(object)));
  }
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) {
    RaiseTypeError(absl::StrCat(std::string(what),
                                " must be an int of 64 bits, not ",
                                nb::str(index).c_str()));
  }
  return value;
}

std::string ToString(nb::handle object, std::string_view what) {
  if (PyUnicode_Check(object.ptr())) return std::string(Utf8(object));
  RaiseTypeError(absl::StrCat(std::string(what), " must be a str, not ",
                              TypeName(object)));
}

std::vector<int64_t> ToInts(nb::handle object, std::string_view what) {
  const nb::object items = Sequence(object, what, "a sequence of ints");
  std::vector<int64_t> ints;
  ints.reserve(Items(items).size());
  for (PyObject* item : Items(items)) {
    int64_t value = 0;
    if (!QuickInt(item, value)) {
      value = ToInt(item, absl::StrCat("every item of ", std::string(what)));
    }
    ints.push_back(value);
  }
  return ints;
}

std::vector<Dim> ToPattern(nb::handle object, std::string_view what) {
  const nb::object pairs =
      Sequence(object, what, "a list of [step, count] pairs");
  std::vector<Dim> pattern;
  pattern.reserve(Items(pairs).size());
  for (PyObject* item : Items(pairs)) {
    Dim dim;
    if (QuickPair(item, dim)) {
      pattern.push_back(dim);
      continue;
    }
    const std::vector<int64_t> pair =
        ToInts(item, absl::StrCat("a pair of ", std::string(what)));
    if (pair.size() != 2) {
      RaiseTypeError(absl::StrCat(std::string(what),
                                  " must be a list of [step, count] "
                                  "pairs; one has ",
                                  pair.size(), " items"));
    }
    pattern.push_back({pair[0], pair[1]});
  }
  return pattern;
}

// What people call some dtypes elsewhere, which no edit distance finds.
std::string_view UsualName(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
      {"bf16", "bfloat16"},   {"fp16", "float16"},    {"half", "float16"},
      {"f16", "float16"},     {"fp32", "float32"},    {"f32", "float32"},
      {"float", "float32"},   {"tf32", "tfloat32"},   {"float64", "float32"},
      {"double", "float32"},  {"fp64", "float32"},    {"int64", "int32"},
      {"uint64", "uint32"},   {"fp8", "float8_e4m3"}, {"e4m3", "float8_e4m3"},
      {"e5m2", "float8_e5m2"}};
  for (const auto& [given, meant] : kUsual) {
    if (given == name) return meant;
  }
  return "";
}

Dtype ToDtype(nb::handle object) {
  const std::string name = DtypeName(object);
  if (name.empty() && !PyUnicode_Check(object.ptr())) {
    RaiseTypeError(absl::StrCat(
        "a dtype must be a name, a NumPy or ml_dtypes dtype or a torch dtype, "
        "not ",
        std::string(nb::str(nb::repr(object)).c_str())));
  }
  if (const auto dtype = DtypeFromName(name)) return *dtype;
  std::array<std::string_view, kDtypes.size()> names;
  std::string list;
  for (size_t i = 0; i < kDtypes.size(); ++i) {
    names[i] = kDtypes[i].name;
    absl::StrAppend(&list, i > 0 ? ", " : "", std::string(names[i]));
  }
  const std::string_view usual = UsualName(name);
  RaiseHere(Category::kIllegal, "tensor.dtype",
            absl::StrCat("there is no dtype \"", name, "\" on the device",
                         usual.empty() ? Suggestion(name, names)
                                       : absl::StrCat("; did you mean ",
                                                      std::string(usual), "?"),
                         " It has ", list));
}

nb::object FromDtype(Dtype dtype) {
  // They are immutable, and kept.
  static std::array<PyObject*, kDtypes.size() + 1> made{};
  PyObject*& known = made.at(static_cast<size_t>(dtype));
  if (known == nullptr) {
    const std::string_view name = Name(dtype);
    known = nb::module_::import_("trnemu._dtype")
                .attr("Dtype")(nb::str(name.data(), name.size()))
                .release()
                .ptr();
  }
  return nb::borrow(known);
}

nb::tuple FromShape(std::span<const int64_t> shape) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  if (tuple == nullptr) throw nb::python_error();
  for (size_t i = 0; i < shape.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i),
                     PyLong_FromLongLong(shape[i]));
  }
  return nb::steal<nb::tuple>(tuple);
}

Target ToTarget(std::string_view name) {
  if (const auto target = TargetFromName(name)) return *target;
  RaiseValueError(absl::StrCat("there is no target \"", std::string(name),
                               "\"; there are trn1, trn2 and trn3"));
}

}  // namespace trnemu::bindings
