// DmaCompute: the sum of its sources (core/engines/dma.h).
#include "core/engines/dma.h"
#include "core/engines/engines.h"

namespace trnemu {

absl::Status ExecuteDmaCompute(const ExecuteArgs& args, CoreState& state) {
  using S = slot::DmaCompute;
  DmaTransfer transfer;
  transfer.opcode = Opcode::kDmaCompute;
  transfer.dst.tile = args.slots[S::kDst].tile;
  transfer.num_srcs = 0;
  for (size_t s = S::kSrc0; s < args.slots.size(); ++s) {
    if (args.slots[s].kind != Operand::Kind::kAccess) break;
    transfer.srcs[static_cast<size_t>(transfer.num_srcs++)].tile =
        args.slots[s].tile;
  }
  return ExecuteDmaPart(transfer, {0, transfer.size()}, state);
}

}  // namespace trnemu
