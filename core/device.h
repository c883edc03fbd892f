// A logical NeuronCore that programs are loaded on and run by.
//
// HBM persists: constants are copied once at load, inout tensors keep what the
// last run left. Everything else starts clean in every run. A Device and its
// Executables are used by one thread at a time; different Devices are
// independent.
#ifndef TRNEMU_CORE_DEVICE_H_
#define TRNEMU_CORE_DEVICE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/run.h"
#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

class Device;
class Observer;
class Runner;

// A run that can pause (core/observer.h). Until it is finished or destroyed
// nothing else may run on the device. Destroying it before it is finished
// leaves inout tensors as they were before it.
class Execution {
 public:
  virtual ~Execution() = default;
  // Goes on until an observer pauses it or it ends. After an error it has
  // ended, and inout tensors are as they were.
  virtual absl::Status Continue() = 0;
  virtual bool ended() const = 0;
  // How it stands; memory through runner().placement(). Also after its end.
  virtual const Runner& runner() const = 0;
  // For collectives (core/transport.h); Continue then pauses at its horizon.
  virtual Runner& connected_runner() = 0;
  // Once, after it has ended without an error.
  virtual absl::StatusOr<RunResult> Finish() = 0;
};

// A program on a device. Keeps the device's memory and the program alive.
class Executable {
 public:
  virtual ~Executable() = default;
  // Runs it to its end. `inputs` must name every input tensor; inout tensors
  // may be left out after the first run. Errors carry a Diagnostic; a failed
  // run gives nothing, and leaves inout tensors as they were before it.
  virtual absl::StatusOr<RunResult> Run(const Inputs& inputs,
                                        const RunOptions& options) = 0;
  // Prepares a run that Continue executes. `options` is copied; the observer
  // (may be null) is kept by pointer, as are the executable and its device.
  virtual absl::StatusOr<std::unique_ptr<Execution>> Start(
      const Inputs& inputs, const RunOptions& options, Observer* observer) = 0;
  virtual const Program& program() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  // `hardware` replaces the built-in description (what-if questions); it must
  // be of the same target. Null: the built-in one.
  static absl::StatusOr<std::unique_ptr<Device>> Create(
      Target target, int cores, std::shared_ptr<const Hardware> hardware = {});
  // Verifies `program` for this device and copies its constants to HBM. The
  // errors of VerifyProgram that `allow` does not lift.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Load(
      std::shared_ptr<const Program> program,
      std::span<const std::string> allow = {}) = 0;
  virtual const Hardware& hardware() const = 0;
  virtual int cores() const = 0;
};

// Loads and runs once on a fresh device; target from the program unless given.
absl::StatusOr<RunResult> RunProgram(
    std::shared_ptr<const Program> program, const Inputs& inputs,
    const RunOptions& options, std::optional<Target> target = {},
    std::shared_ptr<const Hardware> hardware = {});

// The processor lacks AVX2 and FMA (or NEON): a sentence; else "".
std::string UnsupportedProcessor();

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEVICE_H_
