// Operations and opcodes: info, and docs/operations.md.
#include <algorithm>
#include <array>

#include "frontend/cli/reference.h"
#include "isa/builder.h"

namespace trnemu::cli {
namespace {

// nki.isa of SDK 2.32 (spec/isa.json): what coverage is counted against.
constexpr std::string_view kNkiNames[] = {"nc_matmul",
                                          "nc_matmul_mx",
                                          "nc_transpose",
                                          "activation",
                                          "activation_reduce",
                                          "activate2",
                                          "tensor_reduce",
                                          "tensor_partition_reduce",
                                          "tensor_tensor",
                                          "tensor_tensor_scan",
                                          "scalar_tensor_tensor",
                                          "tensor_scalar",
                                          "tensor_scalar_reduce",
                                          "tensor_scalar_cumulative",
                                          "tensor_copy",
                                          "tensor_copy_predicated",
                                          "exponential",
                                          "reciprocal",
                                          "quantize_mx",
                                          "iota",
                                          "dropout",
                                          "affine_select",
                                          "range_select",
                                          "select_reduce",
                                          "sequence_bounds",
                                          "memset",
                                          "bn_stats",
                                          "bn_aggr",
                                          "local_gather",
                                          "nc_n_gather",
                                          "dma_copy",
                                          "dma_transpose",
                                          "dma_compute",
                                          "max8",
                                          "nc_find_index8",
                                          "nc_match_replace8",
                                          "nc_stream_shuffle",
                                          "register_alloc",
                                          "register_load",
                                          "register_move",
                                          "register_store",
                                          "core_barrier",
                                          "sendrecv",
                                          "rng",
                                          "rand2",
                                          "rand_set_state",
                                          "rand_get_state",
                                          "set_rng_seed",
                                          "nonzero_with_count",
                                          "topk",
                                          "get_nc_version",
                                          "get_nc_sub_version"};

// Operations that are not one opcode of their own name.
struct Expands {
  std::string_view operation;
  std::array<std::string_view, 3> opcodes;
};
constexpr Expands kExpansions[] = {
    {"nc_matmul", {"LoadStationary", "MultiplyMoving", ""}},
    {"nc_matmul_mx", {"LoadStationaryMx", "MultiplyMovingMx", ""}},
    {"nc_transpose", {"LoadStationary", "MultiplyMoving", "VectorTranspose"}},
    {"activation", {"Activate", "ReadAccumulator", ""}},
    {"range_select", {"ReadVectorAccumulator", "", ""}},
    {"select_reduce", {"ReadVectorAccumulator", "", ""}},
    {"nc_stream_shuffle", {"StreamShuffle", "", ""}},
    {"nc_find_index8", {"LoadMatchValues", "FindIndex8", ""}},
    {"nc_match_replace8", {"LoadMatchValues", "MatchReplace8", ""}},
    {"tensor_partition_reduce", {"PartitionReduce", "", ""}},
    {"nc_n_gather", {"NGather", "", ""}},
    {"topk", {"TopK", "", ""}},
    {"activation_reduce", {"Activate", "ReadAccumulator", ""}},
    {"activate2", {"ReadAccumulator", "", ""}},
    {"tensor_scalar_reduce", {"ReadVectorAccumulator", "", ""}},
    {"exponential", {"ReadVectorAccumulator", "", ""}},
};

bool IsNki(std::string_view name) {
  return std::find(std::begin(kNkiNames), std::end(kNkiNames), name) !=
         std::end(kNkiNames);
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += Cat(text.empty() ? "" : ", ", name);
  }
  return text;
}

std::string EnginesOf(const OpcodeInfo& opcode) {
  std::vector<std::string_view> names;
  for (const Engine engine : kSequencers) {
    if (opcode.engines & Bit(engine)) names.push_back(Name(engine));
  }
  return names.size() == kSequencers.size() ? "any" : Joined(names);
}

std::string OperandsOf(const OpcodeInfo& opcode) {
  std::vector<std::string_view> names;
  for (const OperandSpec& o : opcode.operands) names.push_back(o.name);
  return Joined(names);
}

std::string AttributesOf(const OpcodeInfo& opcode) {
  std::vector<std::string_view> names;
  for (const AttributeSpec& a : opcode.attributes) names.push_back(a.name);
  return Joined(names);
}

// "3 laws", of the engines that run it.
int64_t LawsOf(const Hardware& hardware, const OpcodeInfo& opcode) {
  int64_t laws = 0;
  std::vector<const CostLaw*> seen;
  for (const Engine engine : kSequencers) {
    if (!(opcode.engines & Bit(engine))) continue;
    for (const CostLaw& law : LawsFor(hardware, opcode.name, engine)) {
      if (std::find(seen.begin(), seen.end(), &law) != seen.end()) continue;
      seen.push_back(&law);
      ++laws;
    }
  }
  return laws;
}

std::string KindOf(const ParameterSpec& spec) {
  switch (spec.kind) {
    case ParameterKind::kTile:
      return "tile";
    case ParameterKind::kTileOrNumber:
      return "tile or number";
    case ParameterKind::kNumber:
      return "number";
    case ParameterKind::kInteger:
      return "integer";
    case ParameterKind::kBool:
      return "bool";
    case ParameterKind::kPattern:
      return "[[step, count], ...]";
    case ParameterKind::kAxes:
      return "axis or axes";
    case ParameterKind::kRegister:
      return "register";
    case ParameterKind::kRegisterOrInteger:
      return "register or integer";
    case ParameterKind::kMask:
      return "32 integers";
    case ParameterKind::kInts:
      return "integers";
    case ParameterKind::kScales:
      return "numbers";
    case ParameterKind::kIntPair:
      return "(int, int)";
    case ParameterKind::kText:
      return "text";
    default:
      return Joined(EnumNames(spec.kind));
  }
}

std::string SpacesOf(const ParameterSpec& spec) {
  std::vector<std::string_view> names;
  for (const Space s : {Space::kHbm, Space::kSbuf, Space::kPsum}) {
    if (spec.spaces & SetOf(s)) names.push_back(Name(s));
  }
  return Joined(names);
}

std::string DtypesOf(const ParameterSpec& spec) {
  if (spec.dtypes == 0) return "";
  if (spec.dtypes == kAnyTypeOrPacked) return "any";
  if (spec.dtypes == kAnyType) return "any but packed";
  std::vector<std::string_view> names;
  for (const DtypeInfo& info : kDtypes) {
    if (spec.dtypes & SetOf(info.dtype)) names.push_back(info.name);
  }
  return Joined(names);
}

std::string OperationPage(const OperationInfo& o) {
  std::string text = Cat("## `", o.name, "`\n\n```\n", Signature(o),
                         "\n```\n\n", o.summary, " ", o.semantics, "\n\n");
  text +=
      Cat("Opcodes: ", Joined(OpcodesOf(o)), ". Source: ", o.source, ".\n\n");
  if (!o.parameters.empty()) {
    Table parameters({"parameter", "takes", "default", "memory", "dtypes", ""});
    for (const ParameterSpec& p : o.parameters) {
      if (p.name.ends_with("]")) continue;
      parameters.Add({Cat("`", p.name, "`"), KindOf(p),
                      p.required ? "" : std::string(p.default_text),
                      SpacesOf(p), DtypesOf(p), std::string(p.doc)});
    }
    text += parameters.Markdown() + "\n";
  }
  if (RulesOf(o).empty()) return text;
  Table rules({"rule", "layer", "evidence", "must hold"});
  for (const Rule& r : RulesOf(o)) {
    rules.Add({Cat("`", r.id, "`"),
               std::string(kLayerNames[static_cast<size_t>(r.layer)]),
               std::string(kEvidenceNames[static_cast<size_t>(r.evidence)]),
               Cat("`", r.text, "`")});
  }
  return text + rules.Markdown() + "\n";
}

}  // namespace

Coverage CoverageOfNki() {
  Coverage coverage;
  for (const std::string_view name : kNkiNames) {
    (FindOperation(name) ? coverage.implemented : coverage.missing)
        .push_back(name);
  }
  for (const OperationInfo* o : Operations()) {
    if (!IsNki(o->name)) coverage.own.push_back(o->name);
  }
  return coverage;
}

std::vector<std::string_view> OpcodesOf(const OperationInfo& operation) {
  std::vector<std::string_view> names;
  for (const Expands& row : kExpansions) {
    if (row.operation != operation.name) continue;
    for (const std::string_view opcode : row.opcodes) {
      if (!opcode.empty()) names.push_back(opcode);
    }
  }
  for (const OpcodeInfo& opcode : Opcodes()) {
    if (opcode.field == operation.name) names.push_back(opcode.name);
  }
  return names;
}

std::string OperationsText() {
  Table table({"operation", "opcodes", "rules", "signature"});
  for (const OperationInfo* o : Operations()) {
    table.Add({std::string(o->name), Joined(OpcodesOf(*o)),
               Cat(RulesOf(*o).size()), Signature(*o)});
  }
  const Coverage c = CoverageOfNki();
  return Cat("Operations (docs/operations.md has all about each)\n\n",
             table.Text(), "\nCoverage: ", c.implemented.size(), " of the ",
             std::size(kNkiNames), " names of nki.isa (SDK 2.32)",
             c.own.empty() ? "" : Cat(", and of our own ", Joined(c.own)),
             ".\nNot in this version: ", Joined(c.missing), ".\n");
}

std::string OpcodesText(const Hardware& hardware) {
  Table table({"opcode", "engines", "cost laws", "operands", "attributes"});
  for (const OpcodeInfo& o : Opcodes()) {
    table.Add({std::string(o.name), EnginesOf(o), Cat(LawsOf(hardware, o)),
               OperandsOf(o), AttributesOf(o)});
  }
  return Cat("Opcodes, with the rows of the cost table of ", hardware.name,
             "\n\n", table.Text());
}

Json OperationsJson() {
  Json list = Json::array();
  for (const OperationInfo* o : Operations()) {
    Json json;
    json["name"] = std::string(o->name);
    json["signature"] = Signature(*o);
    json["summary"] = std::string(o->summary);
    json["opcodes"] = Json::array();
    for (const auto name : OpcodesOf(*o)) {
      json["opcodes"].push_back(std::string(name));
    }
    json["rules"] = Json::array();
    for (const Rule& r : RulesOf(*o)) json["rules"].push_back(std::string(r.id));
    json["source"] = std::string(o->source);
    list.push_back(std::move(json));
  }
  return list;
}

Json CoverageJson() {
  const Coverage c = CoverageOfNki();
  Json json;
  for (const auto& [key, names] :
       {std::pair("implemented", &c.implemented),
        std::pair("missing", &c.missing), std::pair("own", &c.own)}) {
    json[key] = Json::array();
    for (const auto name : *names) json[key].push_back(std::string(name));
  }
  return json;
}

Json OpcodesJson(const Hardware& hardware) {
  Json list = Json::array();
  for (const OpcodeInfo& o : Opcodes()) {
    Json json;
    json["name"] = std::string(o.name);
    json["summary"] = std::string(o.summary);
    json["engines"] = Json::array();
    for (const Engine engine : kSequencers) {
      if (o.engines & Bit(engine)) {
        json["engines"].push_back(std::string(Name(engine)));
      }
    }
    json["cost_laws"] = LawsOf(hardware, o);
    list.push_back(std::move(json));
  }
  return list;
}

std::string OperationsMarkdown() {
  const Coverage c = CoverageOfNki();
  std::string text =
      "# Operations\n\n"
      "<!-- Generated by scripts/gen_docs from the tables; do not edit. "
      "-->\n\n";
  text +=
      Cat("The operations of nki.isa that programs are built of, with the "
          "rules that are asked of every use (",
          "`trnemu explain RULE` "
          "says more), and the opcodes they become. ",
          c.implemented.size(), " of the ", std::size(kNkiNames),
          " names of nki.isa (SDK 2.32) are here; of trnemu's own are ",
          Joined(c.own), ". Not in this version: ", Joined(c.missing), ".\n\n");
  for (const OperationInfo* o : Operations()) text += OperationPage(*o);
  text += "## Opcodes\n\n";
  Table table({"opcode", "engines", "operands", "attributes", ""});
  for (const OpcodeInfo& o : Opcodes()) {
    table.Add({Cat("`", o.name, "`"), EnginesOf(o), OperandsOf(o),
               AttributesOf(o), std::string(o.summary)});
  }
  return text + table.Markdown();
}

}  // namespace trnemu::cli
