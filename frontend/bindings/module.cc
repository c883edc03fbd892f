// The extension module trnemu._trnemu. The package around it is the interface;
// names here may change.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <string>

#include "frontend/bindings/bindings.h"
#include "frontend/bindings/sources.h"
#include "frontend/report/report.h"
#include "isa/diagnostic_catalog.h"

NB_MODULE(_trnemu, m) {
  namespace bindings = trnemu::bindings;
  namespace nb = nanobind;
  m.attr("__version__") = TRNEMU_VERSION;
  bindings::BindFaults(m);
  bindings::BindViews(m);
  bindings::BindNki(m);
  bindings::BindBuilder(m);
  bindings::BindMemoryMap(m);
  bindings::BindProgram(m);
  bindings::BindDevice(m);
  bindings::BindSystem(m);
  bindings::BindCostTable(m);
  bindings::BindTable(m);
  m.def("set_kernel", &bindings::SetKernel, nb::arg("code").none(),
        nb::sig("def set_kernel(code: types.CodeType | None) -> None"),
        "The kernel that this thread records: sources have the calls from it.");
  m.def("set_package", &bindings::SetPackagePrefix, nb::arg("directory"),
        "Frames of files in this directory are not the user's.");
  m.def(
      "render_report",
      [](const std::string& profile) {
        absl::StatusOr<std::string> page = [&] {
          const nb::gil_scoped_release release;
          return trnemu::RenderReport(profile);
        }();
        if (!page.ok()) bindings::Raise(page.status());
        return *std::move(page);
      },
      nb::arg("profile"),
      "The HTML report of a profile, given as its JSON text.");
  m.def(
      "diagnostic_ids",
      [] {
        std::vector<std::string> ids;
        for (const std::string_view id : trnemu::DiagnosticIds()) {
          ids.emplace_back(id);
        }
        return ids;
      },
      nb::sig("def diagnostic_ids() -> list[str]"),
      "The ids that faults and warnings have, sorted.");
  m.def(
      "nearest",
      [](const std::string& name, const nb::iterable& candidates) {
        std::vector<std::string> names;
        for (nb::handle candidate : candidates) {
          names.push_back(nb::cast<std::string>(candidate));
        }
        const std::vector<std::string_view> views(names.begin(), names.end());
        return std::string(trnemu::NearestName(name, views));
      },
      nb::arg("name"), nb::arg("candidates"),
      nb::sig("def nearest(name: str, candidates: "
              "collections.abc.Iterable[str]) -> str"),
      "The candidate spelt most like `name`, or \"\".");
  m.def(
      "environment",
      [](const nb::tuple& names) {
        nb::list values;
        for (nb::handle name : names) {
          const char* const value = std::getenv(nb::cast<const char*>(name));
          values.append(value == nullptr
                            ? nb::none()
                            : nb::steal(PyUnicode_DecodeFSDefault(value)));
        }
        return nb::tuple(values);
      },
      nb::arg("names"),
      nb::sig("def environment(names: tuple[str, ...]) -> "
              "tuple[str | None, ...]"),
      "The values of environment variables, None where one is not set; "
      "os.environ, in a tenth of the time.");
}
