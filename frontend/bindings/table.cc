// The tables as data: operations, dtypes, names of enums.
#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "core/numerics/options.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

nb::str Text(std::string_view text) {
  return nb::str(text.data(), text.size());
}

constexpr std::array<std::string_view, 27> kKindNames = {"tile",
                                                         "tile_or_number",
                                                         "number",
                                                         "integer",
                                                         "bool",
                                                         "alu_op",
                                                         "activation",
                                                         "reduce_cmd",
                                                         "engine",
                                                         "dge_mode",
                                                         "oob_mode",
                                                         "perf_mode",
                                                         "accumulate",
                                                         "pattern",
                                                         "axes",
                                                         "int_pair",
                                                         "text",
                                                         "register",
                                                         "register_or_integer",
                                                         "register_op",
                                                         "partition_op",
                                                         "dma_engine",
                                                         "mask",
                                                         "ints",
                                                         "scales",
                                                         "alu_op_or_bypass",
                                                         "replica_groups"};
static_assert(static_cast<size_t>(ParameterKind::kReplicaGroups) + 1 ==
              kKindNames.size());

std::string_view KindName(ParameterKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

nb::dict RuleOf(const Rule& rule) {
  nb::dict row;
  row["id"] = Text(rule.id);
  row["text"] = Text(rule.text);
  row["source"] = Text(rule.source);
  row["operand"] = Text(rule.operand);
  row["message"] = Text(rule.message);
  row["remedy"] = Text(rule.remedy);
  row["layer"] = Text(kLayerNames[static_cast<size_t>(rule.layer)]);
  row["evidence"] = Text(kEvidenceNames[static_cast<size_t>(rule.evidence)]);
  row["severity"] = rule.severity == Severity::kWarning ? "warning" : "error";
  row["category"] = Text(Name(rule.category));
  row["structural"] = rule.structural;
  return row;
}

nb::dict ParameterOf(const ParameterSpec& p) {
  nb::list values;
  for (std::string_view name : EnumNames(p.kind)) values.append(Text(name));
  nb::list spaces;
  for (Space s : {Space::kHbm, Space::kSbuf, Space::kPsum}) {
    if (p.spaces & SetOf(s)) spaces.append(Text(Name(s)));
  }
  nb::list dtypes;
  for (const DtypeInfo& info : kDtypes) {
    if (p.dtypes & SetOf(info.dtype)) dtypes.append(Text(info.name));
  }
  nb::dict row;
  row["name"] = Text(p.name);
  row["kind"] = p.repeats > 1 ? Text("tile_list") : Text(KindName(p.kind));
  row["required"] = p.required;
  row["default"] = Text(p.default_text);
  row["role"] = p.role == Role::kOut     ? "out"
                : p.role == Role::kInOut ? "inout"
                                         : "in";
  row["values"] = nb::tuple(values);
  row["spaces"] = nb::tuple(spaces);
  row["dtypes"] = nb::tuple(dtypes);
  row["doc"] = Text(p.doc);
  return row;
}

nb::list OperationRows() {
  nb::list rows;
  for (const OperationInfo* operation : Operations()) {
    nb::list parameters;
    for (const ParameterSpec& p : operation->parameters) {
      if (p.name.ends_with("]")) continue;
      parameters.append(ParameterOf(p));
    }
    nb::list rules;
    for (const Rule& r : RulesOf(*operation)) rules.append(RuleOf(r));
    nb::dict row;
    row["name"] = Text(operation->name);
    row["signature"] = Signature(*operation);
    row["summary"] = Text(operation->summary);
    row["semantics"] = Text(operation->semantics);
    row["source"] = Text(operation->source);
    row["parameters"] = parameters;
    row["rules"] = rules;

    rows.append(row);
  }
  return rows;
}

nb::dict DtypeRows() {
  nb::dict rows;
  for (const DtypeInfo& info : kDtypes) {
    rows[Text(info.name)] = nb::make_tuple(Text(info.carrier), info.bytes);
  }
  return rows;
}

nb::dict NumericsRows() {
  nb::dict rows;
  for (const NumericsKey& key : NumericsKeys()) {
    nb::list values;
    for (std::string_view value : key.values) values.append(Text(value));
    rows[Text(key.name)] = nb::make_tuple(nb::tuple(values), Text(key.doc));
  }
  return rows;
}

nb::dict TargetGenerations() {
  nb::dict rows;
  for (Target target : kTargets) {
    rows[Text(Name(target))] = static_cast<int>(target);
  }
  return rows;
}

}  // namespace

void BindTable(nb::module_& m) {
  m.def("operation_rows", &OperationRows,
        nb::sig("def operation_rows() -> list[dict[str, typing.Any]]"),
        "The operations table.");
  m.def("dtype_rows", &DtypeRows,
        nb::sig("def dtype_rows() -> dict[str, tuple[str, int]]"),
        "name -> (NumPy carrier, bytes).");
  m.def("numerics_rows", &NumericsRows,
        nb::sig("def numerics_rows() -> "
                "dict[str, tuple[tuple[str, ...], str]]"),
        "key -> (values, the first is the default; what it decides).");
  m.def("target_generations", &TargetGenerations,
        nb::sig("def target_generations() -> dict[str, int]"),
        "name -> generation of NeuronCore.");
}

}  // namespace trnemu::bindings
