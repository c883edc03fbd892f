#include "frontend/bindings/sources.h"

#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

nb::object FrameOf(PyFrameObject* frame) {
  return nb::steal(reinterpret_cast<PyObject*>(frame));
}

}  // namespace

bool Sources::IsOurs(PyCodeObject* code) {
  const auto [at, added] = codes_.try_emplace(code);
  if (added) {
    at->second.keep = nb::borrow(reinterpret_cast<PyObject*>(code));
    const std::string file = TextOf(code->co_filename);
    // What is refused while a module is imported comes through frozen ones.
    at->second.is_ours = IsPackageFile(file) || file.starts_with("<frozen ");
  }
  return at->second.is_ours;
}

uint32_t Sources::LabelIndex(std::string_view label) {
  if (label.empty()) return 0;
  const auto next = static_cast<uint32_t>(labels_.size() + 1);
  return labels_.try_emplace(std::string(label), next).first->second;
}

uint32_t Sources::Here(ProgramBuilder& builder, std::string_view label) {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    PyCodeObject* code = PyFrame_GetCode(raw);
    const nb::object hold = nb::steal(reinterpret_cast<PyObject*>(code));
    if (IsOurs(code)) {
      frame = FrameOf(PyFrame_GetBack(raw));
      continue;
    }
    const Place place{code, PyFrame_GetLasti(raw), LabelIndex(label)};
    const auto [at, added] = places_.try_emplace(place);
    if (added) {
      at->second =
          builder.AddSource(TextOf(code->co_filename),
                            static_cast<uint32_t>(PyFrame_GetLineNumber(raw)),
                            TextOf(code->co_name), label);
    }
    return at->second;
  }
  return label.empty() ? kNoSource : builder.AddSource("", 0, "", label);
}

}  // namespace trnemu::bindings
