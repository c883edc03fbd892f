// trnemu.ProfileReport: a run's timeline and what follows from it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "core/profile/report.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/running.h"

namespace trnemu::bindings {

// The result and the profile. `program` is the executable's.
nb::tuple ProfileRun(BoundExecutable& self, const nb::list& given,
                     const nb::dict& options, const BoundProgram& program,
                     const std::string& name, int64_t max_records) {
  RunOptions run = ReadOptions(options);
  std::vector<InputBytes> keep;
  const Inputs inputs = ReadInputs(given, keep);
  SignalCheck signals;
  run.interrupted = [&signals] { return signals(); };
  auto timeline = std::make_shared<Timeline>(max_records);
  run.timeline = timeline.get();
  absl::StatusOr<RunResult> result;
  BoundProfile profile;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.shared->mutex);
    result = self.executable->Run(inputs, run);
    if (result.ok()) {
      profile.report = MakeProfileReport(
          program.program, {self.shared, &self.shared->device->hardware()},
          std::move(timeline), result->profile.end, name);
    }
  }
  signals.Rethrow();
  if (!result.ok()) Raise(result.status());
  return nb::make_tuple(ResultOf(*self.shared, *std::move(result)),
                        std::move(profile));
}

void BindProfile(nb::module_& m) {
  nb::class_<BoundProfile>(m, "ProfileData",
                           "What trnemu.ProfileReport is made of.")
      .def("json", [](const BoundProfile& p) { return ProfileJson(p.report); })
      .def("trace",
           [](const BoundProfile& p) { return ProfileTrace(p.report); })
      .def("text", [](const BoundProfile& p) { return ProfileText(p.report); })
      .def("tables",
           [](const BoundProfile& p) { return ProfileTables(p.report); });
}

}  // namespace trnemu::bindings
