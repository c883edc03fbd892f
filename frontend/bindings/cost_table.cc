// Simulated cost tables (core/cost_table/).
#include "core/cost_table/cost_table.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"
#include "frontend/bindings/running.h"

namespace trnemu::bindings {
namespace {

nb::list Laws(const CostRow& row) {
  nb::list laws;
  for (const CostFormula& f : row.formulas) {
    nb::dict law;
    law["instruction"] = f.instruction;
    law["issue"] = f.issue;
    law["completion"] = f.completion;
    law["issue_ns"] = f.issue_ns;
    law["completion_ns"] = f.completion_ns;
    law["status"] = f.status;
    law["source"] = f.source;
    laws.append(law);
  }
  return laws;
}

nb::dict RowDict(const CostRow& row) {
  nb::dict d;
  d["operation"] = row.operation;
  d["target"] = row.target;
  d["engine"] = row.engine;
  d["dtype"] = row.dtype;
  d["placement"] = row.placement;
  d["size"] = row.size;
  d["partitions"] = row.partitions;
  d["issue_ns"] = row.issue_ns;
  d["completion_ns"] = row.completion_ns;
  d["interval_ns"] = row.interval_ns;
  d["first_ns"] = row.first_ns;
  d["bytes_per_ns"] = row.bytes_per_ns;
  d["flops_per_ns"] = row.flops_per_ns;
  d["laws"] = Laws(row);
  d["refused"] = row.refused;
  return d;
}

Dtype ShortDtype(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) {
    const auto dtype = DtypeFromShortName(nb::cast<std::string>(object));
    if (dtype) return *dtype;
  }
  return ToDtype(object);
}

CostPlacement PlacementOf(const std::string& name) {
  const auto placement = PlacementFromName(name);
  if (placement) return *placement;
  RaiseValueError(absl::StrCat(
      "a placement is IN:OUT of sbuf, psum and hbm, not \"", name, "\""));
}

nb::list TableOf(const std::string& operation, std::vector<int64_t> sizes,
                 const nb::list& dtypes,
                 const std::vector<std::string>& placements,
                 const std::vector<std::string>& targets, const std::string& op,
                 const std::string& engine, int64_t partitions,
                 const std::string& hardware, const std::string& described) {
  CostQuery query;
  query.operation = operation;
  query.sizes = std::move(sizes);
  for (nb::handle dtype : dtypes) query.dtypes.push_back(ShortDtype(dtype));
  for (const std::string& name : placements) {
    query.placements.push_back(PlacementOf(name));
  }
  for (const std::string& name : targets) {
    auto given = ReadHardware(ToTarget(name), hardware, described);
    if (given == nullptr) {
      given = {&HardwareFor(ToTarget(name)), [](const Hardware*) {}};
    }
    query.targets.push_back(std::move(given));
  }
  query.op = op;
  query.engine = engine;
  query.partitions = partitions;
  SignalCheck signals;
  query.interrupted = [&signals] { return signals(); };
  absl::StatusOr<std::vector<CostRow>> rows = [&] {
    const nb::gil_scoped_release release;
    return CostTableOf(query);
  }();
  signals.Rethrow();
  nb::list list;
  for (const CostRow& row : OrRaiseHere(std::move(rows))) {
    list.append(RowDict(row));
  }
  return list;
}

}  // namespace

void BindCostTable(nb::module_& m) {
  m.def("cost_table", &TableOf, nb::arg("operation"), nb::arg("sizes"),
        nb::arg("dtypes"), nb::arg("placements"), nb::arg("targets"),
        nb::arg("op"), nb::arg("engine"), nb::arg("partitions"),
        nb::arg("hardware") = "", nb::arg("name") = "",
        nb::sig("def cost_table(operation: str, sizes: list[int], dtypes: "
                "list[typing.Any], placements: list[str], targets: list[str], "
                "op: str, engine: str, partitions: int, hardware: str = '', "
                "name: str = '') -> "
                "list[dict[str, typing.Any]]"),
        "Rows of a simulated cost table; trnemu.bench is the interface.");
  m.def(
      "cost_operations",
      [] {
        std::vector<std::string> names;
        for (const CostSubject& s : CostSubjects()) names.emplace_back(s.name);
        return names;
      },
      nb::sig("def cost_operations() -> list[str]"),
      "The operations that have a cost table.");
  m.def(
      "cost_sizes",
      [](const std::string& text) {
        const auto sizes = SizesFromText(text);
        if (sizes) return *sizes;
        RaiseValueError(absl::StrCat("sizes are written ",
                                     std::string(kSizesForm), "; not \"", text,
                                     "\""));
      },
      nb::arg("text"), nb::sig("def cost_sizes(text: str) -> list[int]"),
      "The sizes that a text like \"64:8192\" stands for.");
}

}  // namespace trnemu::bindings
