// Operations and opcodes: info, and docs/operations.md.
#include <algorithm>
#include <array>

#include "frontend/cli/reference.h"
#include "isa/builder.h"

namespace trnemu::cli {
namespace {

// The operations of nki.isa (SDK 2.32), which coverage is counted against.
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
                                          "topk"};
// Queries of the target: methods of the Python ProgramBuilder.
constexpr std::string_view kNkiQueries[] = {"get_nc_version",
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
    {"sendrecv", {"SendRecv", "", ""}},
    {"register_alloc", {"RegisterMove", "", ""}},
    {"all_reduce", {"Collective", "", ""}},
    {"all_gather", {"Collective", "", ""}},
    {"reduce_scatter", {"Collective", "", ""}},
    {"all_to_all", {"Collective", "", ""}},
    {"collective_permute", {"Collective", "", ""}},
    {"collective_permute_implicit", {"Collective", "", ""}},
    {"collective_permute_implicit_reduce", {"Collective", "", ""}},
    {"broadcast", {"Collective", "", ""}},
    {"send", {"Collective", "", ""}},
    {"recv", {"Collective", "", ""}},
    {"collective_barrier", {"Collective", "", ""}},
    {"all_gather_v", {"CollectiveV", "", ""}},
    {"all_to_all_v", {"CollectiveV", "", ""}},
    {"collective_permute_implicit_current_processing_rank_id",
     {"ProcessingRank", "", ""}},
};

bool IsNki(std::string_view name) {
  return std::find(std::begin(kNkiNames), std::end(kNkiNames), name) !=
         std::end(kNkiNames);
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

}  // namespace

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += Cat(text.empty() ? "" : ", ", name);
  }
  return text;
}

// "50 of the 50 operations ...", with what is missing, if anything.
std::string NkiCoverageText() {
  const Coverage c = CoverageOfNki();
  return Cat(c.implemented.size(), " of the ", std::size(kNkiNames),
             " operations of nki.isa (SDK 2.32) are here",
             c.missing.empty() ? "" : Cat(", all but ", Joined(c.missing)),
             "; its queries ",
             Joined({std::begin(kNkiQueries), std::end(kNkiQueries)}),
             " are methods of the Python ProgramBuilder. Of nki.collectives "
             "are here ",
             Joined(c.collectives), ". trnemu's own are ", Joined(c.own), ".");
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

Coverage CoverageOfNki() {
  Coverage coverage;
  for (const std::string_view name : kNkiNames) {
    (FindOperation(name) ? coverage.implemented : coverage.missing)
        .push_back(name);
  }
  for (const OperationInfo* o : Operations()) {
    if (IsNki(o->name)) continue;
    const bool collective = o->source.starts_with("nki/api/nki/collectives/");
    (collective ? coverage.collectives : coverage.own).push_back(o->name);
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
  return Cat("Operations (docs/operations.md has all about each)\n\n",
             table.Text(), "\n", NkiCoverageText(), "\n");
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
    for (const Rule& r : RulesOf(*o))
      json["rules"].push_back(std::string(r.id));
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
        std::pair("missing", &c.missing),
        std::pair("collectives", &c.collectives), std::pair("own", &c.own)}) {
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
  std::string text =
      "# Operations\n\n"
      "<!-- Generated by scripts/gen_docs from the tables; do not edit. "
      "-->\n\n";
  text += Cat(
      "The operations of nki.isa and nki.collectives that programs are built "
      "of, with the rules "
      "that are asked of every use (`trnemu explain RULE` says more), and the "
      "opcodes they become. ",
      NkiCoverageText(), "\n\n");
  text +=
      "Each has a page with its operands, limits, cost, numbers and an "
      "example; `trnemu info OPERATION` prints it. What runs with which "
      "dtypes, memories and modes was tried out: [coverage](coverage.md).\n\n";
  text += OperationsIndex() + "\n" + OperandRules() + "\n## Opcodes\n\n";
  Table table({"opcode", "engines", "operands", "attributes", ""});
  for (const OpcodeInfo& o : Opcodes()) {
    table.Add({Cat("`", o.name, "`"), EnginesOf(o), OperandsOf(o),
               AttributesOf(o), std::string(o.summary)});
  }
  return text + table.Markdown();
}

}  // namespace trnemu::cli
