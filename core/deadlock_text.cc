#include "core/deadlock_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

using Place = WaitGraph::Place;
using Blocked = WaitGraph::Blocked;
using Node = WaitGraph::Node;

constexpr size_t kListed = 4;  // of each kind

std::string Times(int64_t n) {
  return n == 1 ? "once" : n == 2 ? "twice" : absl::StrCat(n, " times");
}

std::string EngineText(const Place& at) {
  return absl::StrCat("the ", std::string(Name(at.engine)), " engine of core ",
                      at.core);
}

std::string SourceSuffix(const Program& program, const Place& at) {
  const std::string source = program.DescribeSource(at.instruction->source);
  return source.empty() ? "" : absl::StrCat(", at ", source);
}

// core_barriers that a core came to.
int64_t BarriersReached(const StalledRun& run, size_t core) {
  using S = slot::CoreBarrier;
  const CoreProgram& program = run.program.cores[core];
  int64_t reached = 0;
  for (const auto& stream : program.streams) {
    for (const Instruction& i : stream) {
      if (i.opcode != Opcode::kCoreBarrier || i.num_signals == 0) continue;
      if (program.AttributesOf(i)[S::kPhase].integer() != 0) continue;
      reached += run.use.signals(core, i, 0);
    }
  }
  return reached;
}

// "core 1 has ended", or where it is.
std::string WhereIs(const StalledRun& run, size_t core) {
  std::string text;
  for (const Sequencer& s : run.sequencers) {
    if (s.core != core || s.done()) continue;
    absl::StrAppend(&text, text.empty() ? "it waits at " : " and ",
                    DescribePlace(run.program, {core, s.engine, s.next}));
  }
  if (text.empty()) return absl::StrCat("core ", core, " has ended");
  return text;
}

int64_t Sum(const std::vector<Place>& places, int64_t Place::*member) {
  int64_t sum = 0;
  for (const Place& p : places) sum += p.*member;
  return sum;
}

std::string List(const Program& program, const std::vector<Place>& places) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i == kListed) {
      return absl::StrCat(text, " and ", places.size() - i, " more");
    }
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    DescribePlace(program, places[i]),
                    SourceSuffix(program, places[i]));
    if (places[i].queues > 1) {
      absl::StrAppend(&text, " (once for each of its ", places[i].queues,
                      " queues)");
    }
  }
  return text;
}

// What has come of a semaphore that nothing is left to signal.
void DescribePast(const Program& program, const Blocked& wait,
                  std::vector<std::string>& lines) {
  std::string line = "  nothing that is left signals it";
  if (wait.signalled.empty()) {
    absl::StrAppend(&line, "; it was never signalled");
  } else {
    absl::StrAppend(&line, "; it was signalled ",
                    Times(Sum(wait.signalled, &Place::times)), ", by ",
                    List(program, wait.signalled), ", for a total of ",
                    Sum(wait.signalled, &Place::total));
  }
  lines.push_back(std::move(line));
}

void DescribeWait(const StalledRun& run, const WaitGraph& graph,
                  const Place& at, const Blocked& wait,
                  std::vector<std::string>& lines) {
  const Program& program = run.program;
  lines.push_back(absl::StrCat(
      "core ", at.core, " ", std::string(Name(at.engine)),
      " engine waits at instruction ", at.instruction->order, " (",
      program.operations[at.instruction->operation], ", opcode ",
      std::string(Info(at.instruction->opcode).name), ") for semaphore ",
      SemaphoreName(program, wait.semaphore, at.core), " >= ", wait.wanted,
      "; it is ", wait.value, SourceSuffix(program, at)));
  if (const std::string text = BarrierText(run, at); !text.empty()) {
    lines.push_back("  " + text);
  }
  for (size_t i = 0; i < wait.could_signal.size(); ++i) {
    const Place& p = wait.could_signal[i];
    if (i == kListed) {
      lines.push_back(absl::StrCat("  and ", wait.could_signal.size() - i,
                                   " more could still signal it"));
      break;
    }
    lines.push_back(absl::StrCat(
        "  ", DescribePlace(program, p), " could still signal it",
        SourceSuffix(program, p), "; ", StuckBehind(run, graph, p, at)));
  }
  for (size_t x : wait.exchanges) {
    lines.push_back(
        absl::StrCat("  the ", run.exchanges.Describe(*graph.nodes[x].exchange),
                     " signals it once the other core has come"));
  }
  if (wait.could_signal.empty() && wait.exchanges.empty()) {
    DescribePast(program, wait, lines);
  }
  if (!wait.skipped.empty()) {
    lines.push_back(absl::StrCat("  ", List(program, wait.skipped),
                                 " would have signalled it, but was branched "
                                 "past"));
  }
  if (!wait.taken.empty()) {
    lines.push_back(absl::StrCat("  ", List(program, wait.taken), " consumed ",
                                 Sum(wait.taken, &Place::total), " of it, ",
                                 Times(Sum(wait.taken, &Place::times))));
  }
  if (wait.could_signal.empty() && wait.exchanges.empty()) {
    lines.push_back("  nearest repair: " + RepairOf(run, wait, at));
  }
}

void DescribeExchange(const StalledRun& run, const WaitGraph& graph,
                      const Node& node, std::vector<std::string>& lines) {
  const ExchangeEnd& end = *node.exchange;
  const size_t peer = 1 - end.core;
  lines.push_back(absl::StrCat(run.exchanges.Describe(end), ": rank ", end.core,
                               " waits for rank ", peer));
  if (node.partner) {
    lines.push_back(
        absl::StrCat("  core ", peer, " has not come to its own, instruction ",
                     node.partner->instruction->order, " on the ",
                     std::string(Name(node.partner->engine)), " engine",
                     SourceSuffix(run.program, *node.partner), "; ",
                     StuckBehind(run, graph, *node.partner, node.at)));
  } else if (node.hopeless) {
    lines.push_back(
        absl::StrCat("  core ", peer, " has no sendrecv of pipe_id ", end.pipe,
                     end.path == DmaEngine::kDma ? "" : " over gpsimd_dma",
                     " left; ", WhereIs(run, peer)));
  } else {
    lines.push_back(
        "  both cores have come, but a part of it is behind a part of another "
        "sendrecv in a queue of one of them");
  }
}

}  // namespace

std::string DescribePlace(const Program& program, const Place& at) {
  return absl::StrCat("instruction ", at.instruction->order, " (",
                      program.operations[at.instruction->operation],
                      ") on the ", std::string(Name(at.engine)),
                      " engine of core ", at.core);
}

std::string SemaphoreName(const Program& program, uint32_t semaphore,
                          size_t core) {
  const SemaphoreInfo& info = program.semaphores[semaphore];
  return info.core == core ? info.name
                           : absl::StrCat(info.name, " of core ", info.core);
}

std::string BarrierText(const StalledRun& run, const Place& at) {
  using S = slot::CoreBarrier;
  const Instruction& i = *at.instruction;
  if (i.opcode != Opcode::kCoreBarrier) return "";
  const auto attributes = run.program.cores[at.core].AttributesOf(i);
  if (attributes[S::kPhase].integer() == 0) return "";
  std::string others, why;
  for (size_t core = 0; core < run.program.cores.size(); ++core) {
    if (core == at.core || !(attributes[S::kCores].integer() >> core & 1)) {
      continue;
    }
    absl::StrAppend(&others, others.empty() ? "core " : ", ", core);
    absl::StrAppend(&why, why.empty() ? "" : "; ", WhereIs(run, core),
                    ", having come to ", BarriersReached(run, core),
                    " core_barriers, and core ", at.core, " is at number ",
                    BarriersReached(run, at.core));
  }
  return absl::StrCat("core ", at.core, " is at a core_barrier that ", others,
                      " has not reached: ", why);
}

std::string RepairOf(const StalledRun& run, const Blocked& wait,
                     const Place& at) {
  if (at.instruction->opcode == Opcode::kCoreBarrier) {
    return "call core_barrier as often on each of its cores";
  }
  const std::string name = SemaphoreName(run.program, wait.semaphore, at.core);
  const int64_t lacks = wait.wanted - wait.value;
  if (!wait.skipped.empty()) {
    return absl::StrCat("signal ", name, " on the way that was taken, too");
  }
  if (wait.signalled.empty()) {
    return absl::StrCat(
        "give signal=[(", name, ", ", wait.wanted,
        ")] to the instruction that it is to wait for, or remove the wait");
  }
  const int64_t taken = Sum(wait.taken, &Place::total);
  if (taken > 0) {
    return absl::StrCat(
        wait.value + taken, " came in all, of which ", taken,
        " was consumed by other waits: signal ", lacks,
        " more, one share for each consuming wait, or wait without consume");
  }
  const std::string total = absl::StrCat("the total that comes is ", wait.value,
                                         ": wait for ", wait.value);
  for (const Place& p : wait.signalled) {
    if (p.queues == 1) continue;
    return absl::StrCat(total, ", since a DMA signals once for each of its ",
                        p.queues, " queues");
  }
  return absl::StrCat(total, ", or signal ",
                      lacks == 1 ? "once" : absl::StrCat(lacks), " more");
}

std::string StuckBehind(const StalledRun& run, const WaitGraph& graph,
                        const Place& p, const Place& waiter) {
  if (p.instruction == waiter.instruction) {
    return "it is the instruction that waits";
  }
  const size_t at = graph.NodeOf(p.core, p.engine);
  if (at == graph.nodes.size()) return "its engine has ended";
  const Instruction* next = graph.nodes[at].at.instruction;
  if (next == waiter.instruction) {
    return "but it comes after the wait, on the same engine";
  }
  if (next == p.instruction) return "it waits itself";
  return absl::StrCat("it is behind ",
                      DescribePlace(run.program, graph.nodes[at].at),
                      ", which waits");
}

std::string CycleText(const Program& program, const WaitGraph& graph) {
  std::string text;
  auto name = [&](size_t n) {
    const Node& node = graph.nodes[n];
    return node.is_exchange()
               ? absl::StrCat("the sendrecv of core ", node.at.core)
               : absl::StrCat(
                     EngineText(node.at), " (instruction ",
                     node.at.instruction->order, ", ",
                     program.operations[node.at.instruction->operation], ")");
  };
  for (size_t i = 0; i < graph.cycle.size(); ++i) {
    absl::StrAppend(&text,
                    i == 0   ? ""
                    : i == 1 ? " waits for "
                             : ", which waits for ",
                    name(graph.cycle[i]));
  }
  if (graph.cycle.size() == 1) return text + " waits for itself";
  return text + ", which waits for the first";
}

void DescribeNode(const StalledRun& run, const WaitGraph& graph,
                  const Node& node, std::vector<std::string>& lines) {
  if (node.is_exchange()) return DescribeExchange(run, graph, node, lines);
  for (const Blocked& wait : node.waits) {
    DescribeWait(run, graph, node.at, wait, lines);
  }
}

}  // namespace trnemu
