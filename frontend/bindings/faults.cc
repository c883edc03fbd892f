// Finding, and how errors become Python exceptions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/sources.h"
#include "isa/diagnostic_catalog.h"

namespace trnemu::bindings {
namespace {

std::string& PackagePrefix() {
  static auto* const prefix = new std::string;
  return *prefix;
}

[[noreturn]] void RaiseBuiltin(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

std::string Place(const UserLine& at) {
  if (at.file.empty()) return "";
  return absl::StrCat(at.file, ":", at.line, " in ", at.function);
}

void InitFinding(Diagnostic* self, const std::string& category,
                 const std::string& id, const std::string& message,
                 const std::string& operation, const std::string& operand,
                 const std::string& remedy) {
  Diagnostic d;
  const auto known = CategoryFromName(category);
  if (!known) RaiseValueError(absl::StrCat("no category \"", category, "\""));
  d.category = *known;
  d.id = id;
  d.message = message;
  d.operation = operation;
  d.operand = operand;
  d.remedy = remedy;
  d.source = Place(FindUserLine());
  new (self) Diagnostic(std::move(d));
}

nb::dict DetailsOf(const Diagnostic& d) {
  nb::dict details;
  for (const auto& [key, value] : d.details) {
    // Keys are padded where a report aligns them.
    details[nb::str(key.c_str(), key.find_last_not_of(' ') + 1)] = value;
  }
  return details;
}

}  // namespace

std::string TextOf(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (text != nullptr) return std::string(text, static_cast<size_t>(size));
  PyErr_Clear();
  return "?";
}

bool IsPackageFile(std::string_view file) {
  const std::string& prefix = PackagePrefix();
  return !prefix.empty() && file.starts_with(prefix);
}

namespace {

// ", called at k.py:12 in kernel": the calls from the kernel being recorded to
// `frame`; "" if it is the kernel's, or there is none.
std::string CallsUpTo(PyFrameObject* frame) {
  std::string calls;
  nb::object next = nb::borrow(reinterpret_cast<PyObject*>(frame));
  for (bool first = true; Kernel() != nullptr && next.is_valid();
       first = false) {
    auto* raw = reinterpret_cast<PyFrameObject*>(next.ptr());
    const nb::object code =
        nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    const auto* c = reinterpret_cast<PyCodeObject*>(code.ptr());
    const std::string file = TextOf(c->co_filename);
    if (!first && !IsPackageFile(file)) {
      absl::StrAppend(&calls, ", called at ", file, ":",
                      PyFrame_GetLineNumber(raw), " in ", TextOf(c->co_name));
    }
    if (c == Kernel()) return calls;
    next = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return "";
}

}  // namespace

UserLine FindUserLine() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const nb::object code =
        nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    const auto* c = reinterpret_cast<PyCodeObject*>(code.ptr());
    std::string file = TextOf(c->co_filename);
    // An import that is refused comes through Python's own frozen modules.
    if (!IsPackageFile(file) && !file.starts_with("<frozen ")) {
      return {std::move(file),
              static_cast<uint32_t>(PyFrame_GetLineNumber(raw)),
              absl::StrCat(TextOf(c->co_name), CallsUpTo(raw))};
    }
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return {};
}

void SetPackagePrefix(std::string prefix) {
  PackagePrefix() = std::move(prefix);
}

void Raise(Diagnostic diagnostic) {
  const nb::object make =
      nb::module_::import_("trnemu._fault").attr("fault_of");
  const nb::object fault = make(nb::cast(std::move(diagnostic)));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(fault.ptr())),
                  fault.ptr());
  throw nb::python_error();
}

void Raise(const absl::Status& status) { Raise(DiagnosticOf(status)); }

void RaiseHere(const absl::Status& status) {
  Diagnostic d = DiagnosticOf(status);
  if (d.source.empty()) d.source = Place(FindUserLine());
  Raise(std::move(d));
}

void RaiseIfBroken(const BoundView& view) {
  if (view.broken == nullptr) return;
  Diagnostic d = *view.broken;
  if (!d.source.empty()) {
    d.related.push_back(absl::StrCat("the view was made at ", d.source));
    d.source.clear();
  }
  RaiseHere(ToStatus(std::move(d)));
}

void RaiseHere(Category category, std::string_view id, std::string message) {
  RaiseHere(MakeFault(category, id, message));
}

void RaiseTypeError(const std::string& message) {
  RaiseBuiltin(PyExc_TypeError, message);
}

void RaiseValueError(const std::string& message) {
  RaiseBuiltin(PyExc_ValueError, message);
}

std::string TypeName(nb::handle object) {
  if (object.is_none()) return "None";
  // Types of C extensions have their module in tp_name, others do not.
  const PyTypeObject* type = Py_TYPE(object.ptr());
  if (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE)) {
    return type->tp_name;
  }
  return nb::type_name(object.type()).c_str();
}

std::string Suggestion(std::string_view name,
                       std::span<const std::string_view> candidates) {
  const std::string_view nearest = NearestName(name, candidates);
  if (nearest.empty()) return "";
  return absl::StrCat("; did you mean '", std::string(nearest), "'?");
}

void BindFaults(nb::module_& m) {
  nb::class_<Diagnostic>(
      m, "Finding",
      "One thing that is wrong, or doubtful, with a program or its inputs.\n\n"
      "str() is the report that people read, to_json() the same for machines.")
      .def("__init__", &InitFinding, nb::arg("category"), nb::arg("id"),
           nb::arg("message"), nb::kw_only(), nb::arg("operation") = "",
           nb::arg("operand") = "", nb::arg("remedy") = "")
      .def_prop_ro(
          "category",
          [](const Diagnostic& d) {
            const std::string_view name = Name(d.category);
            return nb::str(name.data(), name.size());
          },
          "\"illegal\", \"race\", ...: a closed list.")
      .def_prop_ro(
          "severity",
          [](const Diagnostic& d) {
            return d.severity == Severity::kWarning ? "warning" : "error";
          },
          "\"error\" or \"warning\".")
      .def_ro("id", &Diagnostic::id, "Stable; what allow= takes.")
      .def_ro("message", &Diagnostic::message, "One sentence.")
      .def_ro("operation", &Diagnostic::operation,
              "The operation's name, \"\" where none is involved.")
      .def_ro("opcode", &Diagnostic::opcode, "The device instruction, or \"\".")
      .def_ro("instruction", &Diagnostic::instruction,
              "Position in program order within the core, or None.")
      .def_ro("engine", &Diagnostic::engine, "Engine name, or \"\".")
      .def_ro("core", &Diagnostic::core, "Core index, or None.")
      .def_ro("rank", &Diagnostic::rank, "Rank, or None.")
      .def_ro("operand", &Diagnostic::operand,
              "Parameter, tensor or view it speaks of, or \"\".")
      .def_ro("source", &Diagnostic::source,
              "\"file:line in function\" of the user's code, or \"\".")
      .def_prop_ro("details", &DetailsOf,
                   nb::sig("def details(self) -> dict[str, str]"),
                   "What else is known: shapes, limits, values.")
      .def_prop_ro(
          "related",
          [](const Diagnostic& d) { return nb::tuple(nb::cast(d.related)); },
          nb::sig("def related(self) -> tuple[str, ...]"),
          "Other instructions or tensors, a sentence each.")
      .def_prop_ro("remedy", &RemedyOf, "What to do next, or \"\".")
      .def_ro("reference", &Diagnostic::reference,
              "Where the rule is documented, or \"\".")
      .def_ro("count", &Diagnostic::count, "How often it occurred.")
      .def("to_json", &ToJson, "One JSON object on one line.")
      .def("__str__", &Render)
      .def("__repr__",
           [](const Diagnostic& d) {
             return absl::StrCat("<Finding ", std::string(Name(d.category)),
                                 " [", d.id, "]>");
           })
      .def("__getstate__", &ToJson)
      .def("__setstate__", [](Diagnostic& d, const std::string& json) {
        auto parsed = FromJson(json);
        if (!parsed) RaiseValueError("not a finding");
        new (&d) Diagnostic(*std::move(parsed));
      });
}

}  // namespace trnemu::bindings
