#include "core/deadlock.h"

#include <algorithm>

namespace trnemu {
namespace {

using Place = WaitGraph::Place;
using Blocked = WaitGraph::Blocked;
using Node = WaitGraph::Node;

int64_t CountOf(const Sequencer& s, int64_t value, bool is_register) {
  if (!is_register) return value;
  const auto number = static_cast<uint32_t>(value);
  return s.registers.known(number) ? s.registers.value(number) : 0;
}

// Which instructions of a stream may still be executed, by index.
std::vector<bool> Reachable(const Program& program, const Sequencer& s) {
  const auto size = static_cast<size_t>(s.end - s.begin);
  std::vector<bool> reached(size, false);
  std::vector<size_t> open;
  if (!s.done()) open.push_back(static_cast<size_t>(s.next - s.begin));
  while (!open.empty()) {
    size_t at = open.back();
    open.pop_back();
    for (; at < size && !reached[at]; ++at) {
      reached[at] = true;
      const Instruction& i = s.begin[at];
      if (i.opcode != Opcode::kBranch) continue;
      open.push_back(
          static_cast<size_t>(program.cores[s.core]
                                  .AttributesOf(i)[slot::Branch::kTarget]
                                  .integer()));
    }
  }
  return reached;
}

// What one signal adds; 0 where it sets a value or a register says.
int64_t Added(const Signal& g) {
  if (g.is_register) return 0;
  switch (g.op) {
    case SignalOp::kAdd:
      return g.value;
    case SignalOp::kSub:
      return -g.value;
    case SignalOp::kInc:
      return 1;
    case SignalOp::kDec:
      return -1;
    case SignalOp::kSet:
      return 0;
  }
  return 0;
}

class Builder {
 public:
  explicit Builder(const StalledRun& run) : run_(run) {}
  WaitGraph Build();

 private:
  void AddEngines();
  void AddExchanges();
  void FindSignals(Blocked& wait) const;
  void FindPartner(Node& node) const;
  void FindCauses();
  bool FindCycle(size_t node, std::vector<int>& color,
                 std::vector<size_t>& path);
  std::vector<size_t> NextOf(const Node& node) const;

  const StalledRun& run_;
  std::vector<std::vector<bool>> reachable_;  // by sequencer
  WaitGraph graph_;
};

WaitGraph Builder::Build() {
  for (const Sequencer& s : run_.sequencers) {
    reachable_.push_back(Reachable(run_.program, s));
  }
  AddEngines();
  AddExchanges();
  for (Node& node : graph_.nodes) {
    for (Blocked& wait : node.waits) {
      FindSignals(wait);
      node.hopeless = node.hopeless ||
                      (wait.could_signal.empty() && wait.exchanges.empty());
    }
    if (node.is_exchange()) FindPartner(node);
  }
  FindCauses();
  return std::move(graph_);
}

void Builder::AddEngines() {
  for (const Sequencer& s : run_.sequencers) {
    if (s.done()) continue;
    Node node;
    node.at = {s.core, s.engine, s.next};
    for (const Wait& w : run_.program.cores[s.core].WaitsOf(*s.next)) {
      const int64_t value = run_.semaphores.value(w.semaphore);
      const int64_t wanted = CountOf(s, w.value, w.is_register);
      if (value >= wanted) continue;
      Blocked blocked;
      blocked.semaphore = w.semaphore;
      blocked.wanted = wanted;
      blocked.value = value;
      blocked.consume = w.consume;
      node.waits.push_back(std::move(blocked));
    }
    graph_.nodes.push_back(std::move(node));
  }
}

void Builder::AddExchanges() {
  std::vector<const ExchangeEnd*> ends = run_.exchanges.Waiting();
  ends.insert(ends.end(), run_.crossed.begin(), run_.crossed.end());
  for (const ExchangeEnd* end : ends) {
    Node node;
    node.at = {end->core, run_.sequencers[end->sequencer].engine,
               end->instruction};
    node.exchange = end;
    graph_.nodes.push_back(std::move(node));
  }
}

void Builder::FindSignals(Blocked& wait) const {
  for (size_t q = 0; q < run_.sequencers.size(); ++q) {
    const Sequencer& s = run_.sequencers[q];
    const CoreProgram& core = run_.program.cores[s.core];
    for (const Instruction* n = s.begin; n != s.end; ++n) {
      const auto signals = core.SignalsOf(*n);
      Place place{s.core, s.engine, n};
      bool signals_it = false;
      for (size_t k = 0; k < signals.size(); ++k) {
        if (signals[k].semaphore != wait.semaphore) continue;
        signals_it = true;
        place.queues = QueuesOf(run_.program, s.core, *n);
        const int64_t times = run_.use.signals(s.core, *n, k);
        place.times += times;
        place.total += times * Added(signals[k]);
      }
      if (signals_it) {
        const bool left = reachable_[q][static_cast<size_t>(n - s.begin)];
        if (left) wait.could_signal.push_back(place);
        if (place.times > 0) wait.signalled.push_back(place);
        if (!left && place.times == 0) wait.skipped.push_back(place);
      }
      const auto waits = core.WaitsOf(*n);
      for (size_t k = 0; k < waits.size(); ++k) {
        const int64_t times = run_.use.takes(s.core, *n, k);
        if (waits[k].semaphore != wait.semaphore || times == 0) continue;
        const int64_t each = waits[k].is_register ? 0 : waits[k].value;
        wait.taken.push_back({s.core, s.engine, n, times, times * each});
      }
    }
  }
  for (size_t x = 0; x < graph_.nodes.size(); ++x) {
    const Node& node = graph_.nodes[x];
    if (!node.is_exchange()) continue;
    for (const Signal& g :
         run_.program.cores[node.at.core].SignalsOf(*node.at.instruction)) {
      if (g.semaphore == wait.semaphore) {
        wait.exchanges.push_back(x);
        break;
      }
    }
  }
  // A sendrecv that was triggered is on its way, not branched past.
  std::erase_if(wait.skipped, [this](const Place& p) {
    return std::any_of(
        graph_.nodes.begin(), graph_.nodes.end(), [&p](const Node& node) {
          return node.is_exchange() && node.at.instruction == p.instruction;
        });
  });
}

void Builder::FindPartner(Node& node) const {
  using S = slot::SendRecv;
  const ExchangeEnd& end = *node.exchange;
  for (size_t q = 0; q < run_.sequencers.size(); ++q) {
    const Sequencer& s = run_.sequencers[q];
    if (s.core == end.core) continue;
    for (const Instruction* n = s.begin; n != s.end; ++n) {
      if (n->opcode != Opcode::kSendRecv ||
          !reachable_[q][static_cast<size_t>(n - s.begin)]) {
        continue;
      }
      const auto a = run_.program.cores[s.core].AttributesOf(*n);
      if (a[S::kPipeId].integer() == end.pipe &&
          a[S::kDmaEngine].as<DmaEngine>() == end.path) {
        node.partner = {s.core, s.engine, n};
        return;
      }
    }
  }
  node.hopeless = std::find(run_.crossed.begin(), run_.crossed.end(),
                            node.exchange) == run_.crossed.end();
}

std::vector<size_t> Builder::NextOf(const Node& node) const {
  std::vector<size_t> next;
  auto add = [&](size_t index) {
    if (index < graph_.nodes.size()) next.push_back(index);
  };
  for (const Blocked& wait : node.waits) {
    for (const Place& p : wait.could_signal) {
      add(graph_.NodeOf(p.core, p.engine));
    }
    for (size_t x : wait.exchanges) add(x);
  }
  if (node.partner) {
    add(graph_.NodeOf(node.partner->core, node.partner->engine));
  } else if (node.is_exchange() && !node.hopeless) {  // crossed
    for (size_t x = 0; x < graph_.nodes.size(); ++x) {
      if (graph_.nodes[x].is_exchange() && &graph_.nodes[x] != &node) add(x);
    }
  }
  return next;
}

bool Builder::FindCycle(size_t node, std::vector<int>& color,
                        std::vector<size_t>& path) {
  color[node] = 1;
  path.push_back(node);
  for (size_t next : NextOf(graph_.nodes[node])) {
    if (color[next] == 1) {
      graph_.cycle.assign(std::find(path.begin(), path.end(), next),
                          path.end());
      return true;
    }
    if (color[next] == 0 && FindCycle(next, color, path)) return true;
  }
  color[node] = 2;
  path.pop_back();
  return false;
}

void Builder::FindCauses() {
  std::vector<int> color(graph_.nodes.size(), 0);
  std::vector<size_t> path;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    path.clear();
    if (color[n] == 0 && FindCycle(n, color, path)) break;
  }
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    if (graph_.nodes[n].hopeless) graph_.causes.push_back(n);
  }
  if (graph_.causes.empty()) graph_.causes = graph_.cycle;
}

}  // namespace

size_t WaitGraph::NodeOf(size_t core, Engine engine) const {
  size_t n = 0;
  for (; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (!node.is_exchange() && node.at.core == core &&
        node.at.engine == engine) {
      break;
    }
  }
  return n;
}

WaitGraph MakeWaitGraph(const StalledRun& run) { return Builder(run).Build(); }

}  // namespace trnemu
