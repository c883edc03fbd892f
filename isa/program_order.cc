#include "isa/program_order.h"

namespace trnemu {

const Instruction* ProgramOrder::Next() {
  const Instruction* first = nullptr;
  size_t stream_of_first = 0;
  for (size_t i = 0; i < core_.streams.size(); ++i) {
    if (at_[i] >= core_.streams[i].size()) continue;
    const Instruction& next = core_.streams[i][at_[i]];
    if (first != nullptr &&
        (next.order > first->order ||
         (next.order == first->order && next.step >= first->step))) {
      continue;
    }
    first = &next;
    stream_of_first = i;
  }
  if (first != nullptr) ++at_[stream_of_first];
  return first;
}

}  // namespace trnemu
