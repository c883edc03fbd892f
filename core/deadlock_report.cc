// The diagnostic of a deadlock, from its WaitGraph.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/deadlock.h"
#include "core/deadlock_text.h"

namespace trnemu {
namespace {

using Node = WaitGraph::Node;

void Locate(const Program& program, const Node& node, Diagnostic& d) {
  const Instruction& i = *node.at.instruction;
  d.instruction = i.order;
  d.opcode = Info(i.opcode).name;
  d.operation = program.operations[i.operation];
  d.engine = Name(node.at.engine);
  d.core = static_cast<int>(node.at.core);
  d.source = program.DescribeSource(i.source);
}

// The first wait that nothing is left to signal.
const WaitGraph::Blocked* Hopeless(const Node& node) {
  for (const WaitGraph::Blocked& wait : node.waits) {
    if (wait.could_signal.empty() && wait.exchanges.empty()) return &wait;
  }
  return nullptr;
}

// One sentence and the remedy for a node that nothing can end.
void ExplainHopeless(const StalledRun& run, const Node& node, Diagnostic& d) {
  if (node.is_exchange()) {
    d.message = absl::StrCat("nothing can proceed: the sendrecv of pipe_id ",
                             node.exchange->pipe, " on core ", node.at.core,
                             " waits for core ", 1 - node.at.core,
                             ", which never comes to its own");
    d.remedy =
        "give each core as many sendrecvs of a pipe_id and dma_engine as the "
        "other, in an order in which both come to them";
    return;
  }
  if (const std::string barrier = BarrierText(run, node.at); !barrier.empty()) {
    d.message = absl::StrCat("nothing can proceed: ", barrier);
    d.remedy =
        "call core_barrier as often on each of its cores, in an order in which "
        "all come to it";
    return;
  }
  const WaitGraph::Blocked& wait = *Hopeless(node);
  const std::string name =
      SemaphoreName(run.program, wait.semaphore, node.at.core);
  d.message = absl::StrCat(
      "nothing can proceed: the ", std::string(Name(node.at.engine)),
      " engine of core ", node.at.core, " waits for semaphore ", name,
      " >= ", wait.wanted, ", but it is ", wait.value,
      " and nothing that is left signals it");
  d.details = {{"waits", absl::StrCat(name, " >= ", wait.wanted)},
               {"value", absl::StrCat(wait.value)}};
  d.remedy = RepairOf(run, wait, node.at);
}

void ExplainCycle(const StalledRun& run, const WaitGraph& graph,
                  Diagnostic& d) {
  const std::string cycle = CycleText(run.program, graph);
  // A barrier in the cycle is what its author recognises.
  std::string barrier;
  for (size_t n : graph.cycle) {
    if (barrier.empty()) barrier = BarrierText(run, graph.nodes[n].at);
  }
  if (barrier.empty()) {
    d.message = absl::StrCat("nothing can proceed: ", cycle);
  } else {
    d.message = absl::StrCat("nothing can proceed: ", barrier);
  }
  d.details = {{"cycle", cycle}};
  d.remedy =
      "let one of them signal before it waits: the wait and the signal that "
      "the next needs are in an order that no schedule can satisfy";
}

}  // namespace

absl::Status ReportDeadlock(const StalledRun& run) {
  const WaitGraph graph = MakeWaitGraph(run);
  if (graph.nodes.empty()) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kDeadlock;
  d.id = "deadlock";
  const size_t first = graph.causes.empty() ? 0 : graph.causes.front();
  Locate(run.program, graph.nodes[first], d);
  if (graph.nodes[first].hopeless) {
    ExplainHopeless(run, graph.nodes[first], d);
  } else {
    ExplainCycle(run, graph, d);
  }
  // Causes first.
  std::vector<bool> told(graph.nodes.size(), false);
  for (size_t n : graph.causes) {
    if (!told[n]) DescribeNode(run, graph, graph.nodes[n], d.related);
    told[n] = true;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!told[n]) DescribeNode(run, graph, graph.nodes[n], d.related);
  }
  d.wait_graph = WaitGraphJson(run, graph);
  return ToStatus(std::move(d));
}

}  // namespace trnemu
