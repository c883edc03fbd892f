// Sentences about a WaitGraph.
#ifndef TRNEMU_CORE_DEADLOCK_TEXT_H_
#define TRNEMU_CORE_DEADLOCK_TEXT_H_

#include <string>

#include "core/deadlock.h"

namespace trnemu {

// "instruction 3 (memset) on the vector engine of core 0"
std::string DescribePlace(const Program& program, const WaitGraph::Place& at);
// "handover", or "handover of core 1" where that is another core than `core`.
std::string SemaphoreName(const Program& program, uint32_t semaphore,
                          size_t core);
// "core 0 is at a core_barrier that core 1 has not reached: core 1 has ended,
// ..."; "" for other instructions.
std::string BarrierText(const StalledRun& run, const WaitGraph::Place& at);
// What would let a wait that nothing is left to signal hold.
std::string RepairOf(const StalledRun& run, const WaitGraph::Blocked& wait,
                     const WaitGraph::Place& at);
// Why an instruction that could signal has not been executed.
std::string StuckBehind(const StalledRun& run, const WaitGraph& graph,
                        const WaitGraph::Place& signaller,
                        const WaitGraph::Place& waiter);
// "vector of core 0 waits for ..., which waits for ..."
std::string CycleText(const Program& program, const WaitGraph& graph);
// The lines of one node.
void DescribeNode(const StalledRun& run, const WaitGraph& graph,
                  const WaitGraph::Node& node, std::vector<std::string>& lines);

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEADLOCK_TEXT_H_
