// What the files of the extension module share.
//
// The module is thin: it turns Python objects into the types of isa/ and
// core/, and absl::Status into trnemu.Fault. Everything here runs under the
// GIL unless it says otherwise.
#ifndef TRNEMU_FRONTEND_BINDINGS_BINDINGS_H_
#define TRNEMU_FRONTEND_BINDINGS_BINDINGS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/access.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"
#include "isa/passes/memory_map.h"
#include "isa/program.h"

namespace trnemu::bindings {

namespace nb = nanobind;

// A view, and the builder it belongs to, so that one is not used with another.
struct BoundView {
  View view;
  uint64_t builder = 0;
  // Why it cannot be used: an access pattern of nki that leaves its tensor,
  // which a kernel may make and not use. Null for all others.
  std::shared_ptr<const Diagnostic> broken = nullptr;
};
struct BoundSemaphore {
  uint32_t index = 0;
  std::string name;
  uint64_t builder = 0;
};
// A 32-bit register of a core.
struct BoundRegister {
  uint32_t index = 0;
  uint64_t builder = 0;
  int8_t core = 0;
};
struct BoundWait {
  BoundSemaphore semaphore;
  Wait wait;
};
struct BoundSignal {
  BoundSemaphore semaphore;
  Signal signal;
};
struct BoundProgram {
  std::shared_ptr<const Program> program;
};

// The line of the user's that led here: the innermost frame outside the
// package. An empty file if there is none.
struct UserLine {
  std::string file;
  uint32_t line = 0;
  std::string function;
};
UserLine FindUserLine();
// Frames of files whose path starts with this are the package's own.
void SetPackagePrefix(std::string prefix);
bool IsPackageFile(std::string_view file);
// A str as UTF-8; "?" if that cannot be.
std::string TextOf(PyObject* unicode);

// Raise trnemu.Fault (InputFault for category input).
[[noreturn]] void Raise(Diagnostic diagnostic);
[[noreturn]] void Raise(const absl::Status& status);
// Raises what is wrong with a view, at the line that uses it; nothing if it is
// sound.
void RaiseIfBroken(const BoundView& view);
// The same with the user's line, where the diagnostic has none.
[[noreturn]] void RaiseHere(const absl::Status& status);
[[noreturn]] void RaiseHere(Category category, std::string_view id,
                            std::string message);
// Raise other exceptions of Python.
[[noreturn]] void RaiseTypeError(const std::string& message);
[[noreturn]] void RaiseValueError(const std::string& message);

template <typename T>
T OrRaiseHere(absl::StatusOr<T> value) {
  if (!value.ok()) RaiseHere(value.status());
  return *std::move(value);
}

// "int", "numpy.ndarray": for messages.
std::string TypeName(nb::handle object);
// "; did you mean 'accumulate'?", or "" if nothing is near.
std::string Suggestion(std::string_view name,
                       std::span<const std::string_view> candidates);

// A Python integer (anything with __index__ but bool), or TypeError that
// says what `what` must be.
int64_t ToInt(nb::handle object, std::string_view what);
// False unless it is an exact int of 64 bits, which nearly all are: what a
// message would say of it need not be put together first.
bool QuickInt(PyObject* object, int64_t& value);
bool IsInt(nb::handle object);
// The text of a str, which must live as long.
std::string_view Utf8(nb::handle unicode);
// A str, or TypeError that says what `what` must be.
std::string ToString(nb::handle object, std::string_view what);
// A sequence of integers, not a single one.
std::vector<int64_t> ToInts(nb::handle object, std::string_view what);
// [(step, count), ...].
std::vector<Dim> ToPattern(nb::handle object, std::string_view what);

// dtype arguments: names, NumPy and ml_dtypes types, torch dtypes.
Dtype ToDtype(nb::handle object);
// The trnemu.Dtype of a dtype.
nb::object FromDtype(Dtype dtype);
nb::tuple FromShape(std::span<const int64_t> shape);
// "trn2" and its other names; ValueError for anything else.
Target ToTarget(std::string_view name);

// What a use of an operation has besides its parameters.
struct CallExtras {
  std::vector<Wait> waits;
  std::vector<Signal> signals;
  std::string_view label;  // of one of the arguments
};
// Sets the arguments of a call that has its defaults. `nki`: as nki.isa takes
// them, without what trnemu adds to its operations (wait, signal, trigger,
// queues), and with NumPy's ufuncs and enums' numbers as names.
// Replica groups go into `to`.
CallExtras ReadArguments(Call& call, uint64_t builder, ProgramBuilder& to,
                         nb::tuple args, nb::dict kwargs, bool nki = false);

// Which tiles are live where; keeps its program.
struct BoundMap {
  std::shared_ptr<const Program> program;
  MemoryMap map;
};
BoundMap MapMemory(const BoundProgram& p,
                   const std::optional<std::string>& target);

void BindFaults(nb::module_& m);
void BindViews(nb::module_& m);
void BindNki(nb::module_& m);
void BindBuilder(nb::module_& m);
void BindProgram(nb::module_& m);
void BindDevice(nb::module_& m);
void BindSystem(nb::module_& m);
void BindMemoryMap(nb::module_& m);
void BindCostTable(nb::module_& m);
void BindTable(nb::module_& m);

}  // namespace trnemu::bindings

#endif  // TRNEMU_FRONTEND_BINDINGS_BINDINGS_H_
