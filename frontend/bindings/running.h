// What the bindings of runs share: devices, options, inputs, Ctrl-C.
#ifndef TRNEMU_FRONTEND_BINDINGS_RUNNING_H_
#define TRNEMU_FRONTEND_BINDINGS_RUNNING_H_

#include <nanobind/ndarray.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/debugger.h"
#include "core/device.h"
#include "core/profile/report.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {

using InputBytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Asks Python now and then whether a signal (Ctrl-C) has come, and keeps the
// exception that its handler raised.
class SignalCheck {
 public:
  // Without the GIL.
  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return false;
    last_ = now;
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    raised_.emplace();
    return true;
  }
  void Rethrow() {
    if (raised_) throw *std::exchange(raised_, std::nullopt);
  }

 private:
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
  std::optional<nb::python_error> raised_;
};

// What a device and its executables share: one runs at a time.
struct SharedDevice {
  std::mutex mutex;
  std::unique_ptr<Device> device;
};

struct BoundResult {
  RunResult result;  // its outputs' bytes are moved out by Outputs()
  std::vector<HardwareChange> hardware_changes;
};
// The result with what the device's hardware differs in.
BoundResult ResultOf(const SharedDevice& device, RunResult result);

// The description in `text`; null for "", which is the one built in. A fault
// (input.hardware) names it as `name`.
std::shared_ptr<const Hardware> ReadHardware(Target target,
                                             const std::string& text,
                                             const std::string& name);

struct BoundExecutable {
  std::shared_ptr<SharedDevice> shared;
  std::unique_ptr<Executable> executable;
};

// A run that stops where one asks. The executable must outlive it.
struct BoundDebugger {
  std::shared_ptr<SharedDevice> shared;
  std::unique_ptr<SignalCheck> signals;
  std::unique_ptr<Debugger> debugger;
};
BoundDebugger Debug(BoundExecutable& self, const nb::list& inputs,
                    const nb::dict& options);
void BindDebugger(nb::module_& m);

struct BoundProfile {
  ProfileReport report;
};
nb::tuple ProfileRun(BoundExecutable& self, const nb::list& inputs,
                     const nb::dict& options, const BoundProgram& program,
                     const std::string& name, int64_t max_records);
void BindProfile(nb::module_& m);

// The dictionary of trnemu._run._options.
RunOptions ReadOptions(const nb::dict& given);
// Each input: (name, dtype name, shape, its bytes), which `keep` keeps.
Inputs ReadInputs(const nb::list& given, std::vector<InputBytes>& keep);

}  // namespace trnemu::bindings

#endif  // TRNEMU_FRONTEND_BINDINGS_RUNNING_H_
