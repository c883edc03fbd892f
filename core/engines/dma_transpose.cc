// DmaTranspose: a copy whose source is read in another order. Bit exact.
#include "core/engines/dma.h"
#include "core/engines/engines.h"

namespace trnemu {
namespace {

// Dimension i of dst is dimension axes[i] of src. Without axes the default of
// the rank (nki/api/nki/isa/__init__.py:875).
std::array<int, 4> AxesOf(uint64_t attribute, int rank) {
  constexpr std::array<std::array<int, 4>, 3> kDefaults = {
      {{1, 0, 0, 0}, {2, 1, 0, 0}, {3, 1, 2, 0}}};
  if (attribute == kNoAxes) return kDefaults[static_cast<size_t>(rank - 2)];
  std::array<int, 4> axes{};
  for (int i = 0; i < rank; ++i) {
    axes[static_cast<size_t>(i)] = static_cast<int>(attribute >> (4 * i) & 0xf);
  }
  return axes;
}

}  // namespace

void MakeTranspose(DmaTransfer& t, uint64_t axes_attribute) {
  DmaOperand& src = t.srcs[0];
  const bool on_chip = t.dst.tile.space != Space::kHbm;
  const int rank = t.dst.tile.rank + (on_chip ? 1 : 0);
  const std::array<int, 4> axes = AxesOf(axes_attribute, rank);
  t.plain_src = src.tile;
  t.rows_are_columns = src.has_rows;
  if (!src.has_rows) {
    src.tile = Permuted(src.tile, {axes.data(), static_cast<size_t>(rank)});
    return;
  }
  // Axis 0, the rows, comes last in each of the permutations: what is left of
  // src.tile has the others, one lower.
  std::array<int, 4> inner{};
  for (int i = 0; i + 1 < rank; ++i) {
    inner[static_cast<size_t>(i)] = axes[static_cast<size_t>(i)] - 1;
  }
  src.tile = Permuted(src.tile, {inner.data(), static_cast<size_t>(rank - 1)});
  Tile& dst = t.dst.tile;
  const Dim last = dst.dims[dst.rank - 1u];
  t.column_step = last.step;
  dst.free_size /= last.count;
  dst.contiguous = false;
  if (dst.rank > 1) {
    --dst.rank;
  } else {
    dst.dims[0] = {0, 1};
  }
}

absl::Status ExecuteDmaTranspose(const ExecuteArgs& args, CoreState& state) {
  using S = slot::DmaTranspose;
  DmaTransfer transfer;
  transfer.opcode = Opcode::kDmaTranspose;
  transfer.dst.tile = args.slots[S::kDst].tile;
  transfer.srcs[0].tile = args.slots[S::kSrc].tile;
  MakeTranspose(transfer, args.attributes[S::kAxes].bits);
  return ExecuteDmaPart(transfer, {0, transfer.size()}, state);
}

}  // namespace trnemu
