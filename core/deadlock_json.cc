// A WaitGraph as JSON (docs/deadlock.md) and as Graphviz.
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/deadlock.h"
#include "core/deadlock_text.h"

namespace trnemu {
namespace {

using Json = nlohmann::ordered_json;
using Place = WaitGraph::Place;
using Node = WaitGraph::Node;

constexpr int kSchema = 1;

std::string IdOf(const WaitGraph& graph, size_t n) {
  const Node& node = graph.nodes[n];
  return node.is_exchange() ? absl::StrCat("core", node.at.core, ".sendrecv.",
                                           node.at.instruction->order)
                            : absl::StrCat("core", node.at.core, ".",
                                           std::string(Name(node.at.engine)));
}

Json PlaceJson(const Program& program, const Place& at) {
  const Instruction& i = *at.instruction;
  Json json;
  json["core"] = at.core;
  json["engine"] = std::string(Name(at.engine));
  json["instruction"] = i.order;
  json["operation"] = program.operations[i.operation];
  json["opcode"] = std::string(Info(i.opcode).name);
  const std::string source = program.DescribeSource(i.source);
  json["source"] = source.empty() ? Json(nullptr) : Json(source);
  return json;
}

Json UsesJson(const Program& program, const std::vector<Place>& places) {
  Json list = Json::array();
  for (const Place& p : places) {
    Json json = PlaceJson(program, p);
    json["times"] = p.times;
    json["total"] = p.total;
    list.push_back(std::move(json));
  }
  return list;
}

Json WaitJson(const StalledRun& run, const WaitGraph& graph, const Node& node,
              const WaitGraph::Blocked& wait) {
  Json json;
  json["semaphore"] = run.program.semaphores[wait.semaphore].name;
  json["semaphore_core"] = run.program.semaphores[wait.semaphore].core;
  json["wanted"] = wait.wanted;
  json["value"] = wait.value;
  json["consume"] = wait.consume;
  json["could_signal"] = Json::array();
  for (const Place& p : wait.could_signal) {
    Json place = PlaceJson(run.program, p);
    const size_t behind = graph.NodeOf(p.core, p.engine);
    place["stuck_behind"] =
        behind < graph.nodes.size() ? Json(IdOf(graph, behind)) : Json(nullptr);
    place["why"] = StuckBehind(run, graph, p, node.at);
    json["could_signal"].push_back(std::move(place));
  }
  json["sendrecvs"] = Json::array();
  for (size_t x : wait.exchanges) json["sendrecvs"].push_back(IdOf(graph, x));
  json["signalled_by"] = UsesJson(run.program, wait.signalled);
  json["consumed_by"] = UsesJson(run.program, wait.taken);
  json["branched_past"] = UsesJson(run.program, wait.skipped);
  const bool hopeless = wait.could_signal.empty() && wait.exchanges.empty();
  json["repair"] =
      hopeless ? Json(RepairOf(run, wait, node.at)) : Json(nullptr);
  return json;
}

std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Text(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

std::string WaitGraphJson(const StalledRun& run, const WaitGraph& graph) {
  Json json;
  json["schema"] = kSchema;
  json["nodes"] = Json::array();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Json entry;
    entry["id"] = IdOf(graph, n);
    entry["kind"] = node.is_exchange() ? "sendrecv" : "engine";
    entry.update(PlaceJson(run.program, node.at));
    entry["hopeless"] = node.hopeless;
    entry["waits"] = Json::array();
    for (const WaitGraph::Blocked& wait : node.waits) {
      entry["waits"].push_back(WaitJson(run, graph, node, wait));
    }
    if (node.is_exchange()) {
      entry["pipe_id"] = node.exchange->pipe;
      entry["waits_for_core"] = 1 - node.at.core;
      Json partner = nullptr;
      if (node.partner) {
        partner = PlaceJson(run.program, *node.partner);
        const size_t behind =
            graph.NodeOf(node.partner->core, node.partner->engine);
        partner["stuck_behind"] = behind < graph.nodes.size()
                                      ? Json(IdOf(graph, behind))
                                      : Json(nullptr);
      }
      entry["partner"] = std::move(partner);
    }
    json["nodes"].push_back(std::move(entry));
  }
  json["cycle"] = Json::array();
  for (size_t n : graph.cycle) json["cycle"].push_back(IdOf(graph, n));
  json["causes"] = Json::array();
  for (size_t n : graph.causes) json["causes"].push_back(IdOf(graph, n));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string WaitGraphDot(std::string_view text) {
  const Json graph = Json::parse(text, nullptr, false);
  if (!graph.is_object() || !graph.contains("nodes")) return "";
  std::string dot = "digraph deadlock {\n  node [shape=box];\n";
  for (const Json& node : graph["nodes"]) {
    const std::string id = Text(node, "id");
    const bool hopeless = node.value("hopeless", false);
    absl::StrAppend(
        &dot, "  ", Quoted(id), " [label=",
        Quoted(absl::StrCat(
            id, "\ninstruction ", node.value("instruction", int64_t{0}), ": ",
            Text(node, "operation"), "\n", Text(node, "source"))),
        hopeless ? ", color=red" : "", "];\n");
    auto edge = [&](const std::string& to, const std::string& label) {
      absl::StrAppend(&dot, "  ", Quoted(id), " -> ", Quoted(to),
                      " [label=", Quoted(label), "];\n");
    };
    for (const Json& wait : node["waits"]) {
      const std::string label = absl::StrCat(
          Text(wait, "semaphore"), " >= ", wait.value("wanted", int64_t{0}),
          ", is ", wait.value("value", int64_t{0}));
      for (const Json& p : wait["could_signal"]) {
        edge(Text(p, "stuck_behind"), label);
      }
      for (const Json& x : wait["sendrecvs"]) {
        edge(x.get<std::string>(), label);
      }
      if (wait["could_signal"].empty() && wait["sendrecvs"].empty()) {
        edge("nothing", label);
      }
    }
    const auto partner = node.find("partner");
    if (partner == node.end()) continue;
    edge(partner->is_object() ? Text(*partner, "stuck_behind") : "nothing",
         absl::StrCat("pipe_id ", node.value("pipe_id", int64_t{0})));
  }
  return dot + "}\n";
}

}  // namespace trnemu
