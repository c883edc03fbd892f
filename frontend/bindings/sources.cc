#include "frontend/bindings/sources.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

nb::object FrameOf(PyFrameObject* frame) {
  return nb::steal(reinterpret_cast<PyObject*>(frame));
}

// Deeper chains are cut off at the far end.
constexpr int kMaxCalls = 32;

// Not an nb::object, which would be destroyed after the interpreter.
thread_local PyObject* kernel_code = nullptr;

// The line of a place in the code. Python looks for it from the function's
// start; a kernel that is launched again asks for the same ones.
class Lines {
 public:
  static Lines& Get() {
    static auto* const lines = new Lines();
    return *lines;
  }
  int Of(PyFrameObject* frame, PyCodeObject* code) {
    const auto [at, added] = known_.try_emplace(
        std::pair<PyCodeObject*, int>(code, PyFrame_GetLasti(frame)), 0);
    if (!added) return at->second;
    Py_INCREF(code);  // so that no other code takes its address
    const int line = at->second = PyFrame_GetLineNumber(frame);
    if (known_.size() > kMost) {
      for (const auto& [place, unused] : known_) Py_DECREF(place.first);
      known_.clear();
    }
    return line;
  }

 private:
  static constexpr size_t kMost = 1 << 16;
  absl::flat_hash_map<std::pair<PyCodeObject*, int>, int> known_;
};

std::string CallText(PyFrameObject* frame, PyCodeObject* code) {
  return absl::StrCat(", called at ", TextOf(code->co_filename), ":",
                      Lines::Get().Of(frame, code), " in ",
                      TextOf(code->co_name));
}

}  // namespace

void SetKernel(nb::handle code) {
  PyObject* const before = kernel_code;
  kernel_code = code.is_none() ? nullptr : code.ptr();
  Py_XINCREF(kernel_code);
  Py_XDECREF(before);
}

PyCodeObject* Kernel() { return reinterpret_cast<PyCodeObject*>(kernel_code); }

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

uint32_t Sources::Find(const Place& place) {
  const auto next = static_cast<uint32_t>(known_.size() + 1);
  const auto [at, added] = places_.try_emplace(place, next);
  if (added) known_.emplace_back();
  return at->second;
}

uint32_t Sources::CallerOf(PyFrameObject* frame) {
  // Outwards to the kernel, then places from there inwards.
  std::array<nb::object, kMaxCalls> frames;
  int count = 0;
  bool found = false;
  nb::object next = FrameOf(PyFrame_GetBack(frame));
  while (!found && next.is_valid() && count < kMaxCalls) {
    auto* raw = reinterpret_cast<PyFrameObject*>(next.ptr());
    PyCodeObject* const code = PyFrame_GetCode(raw);
    const nb::object hold = nb::steal(reinterpret_cast<PyObject*>(code));
    found = code == Kernel();
    const nb::object back = FrameOf(PyFrame_GetBack(raw));
    if (found || !IsOurs(code)) frames[count++] = std::move(next);
    next = back;
  }
  if (!found) return 0;
  uint32_t caller = 0;
  while (count > 0) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frames[--count].ptr());
    PyCodeObject* const code = PyFrame_GetCode(raw);
    const nb::object hold = nb::steal(reinterpret_cast<PyObject*>(code));
    IsOurs(code);  // keeps it
    const uint32_t before = caller;
    caller = Find({code, PyFrame_GetLasti(raw), 0, before});
    std::string& calls = known_[caller - 1].calls;
    if (!calls.empty()) continue;
    calls = CallText(raw, code);
    if (before != 0) calls += known_[before - 1].calls;
  }
  return caller;
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
    const bool called = Kernel() != nullptr && code != Kernel();
    const uint32_t caller = called ? CallerOf(raw) : 0;
    const uint32_t place =
        Find({code, PyFrame_GetLasti(raw), LabelIndex(label), caller});
    Known& known = known_[place - 1];
    if (known.source == kNoSource) {
      std::string function = TextOf(code->co_name);
      if (caller != 0) function += known_[caller - 1].calls;
      known.source = builder.AddSource(
          TextOf(code->co_filename),
          static_cast<uint32_t>(Lines::Get().Of(raw, code)), function, label);
    }
    return known.source;
  }
  return label.empty() ? kNoSource : builder.AddSource("", 0, "", label);
}

}  // namespace trnemu::bindings
