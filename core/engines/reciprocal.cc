// Reciprocal of the vector engine: correctly rounded [assumed].
#include <cstddef>
#include <cstdint>

#include "core/engines/elementwise_checks.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"

namespace trnemu {

absl::Status ExecuteReciprocal(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Reciprocal;
  const Tile& data = args.slots[S::kData].tile;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  float* const buffer = RowBuffer(state, 0, data.free_size);
  const ScalarRow row = ScalarRowOf(AluOp::kReciprocal, false);
  ReciprocalCheck zero(state);
  writer.ForEachPartition([&](uint32_t p) {
    float* const out = writer.Place(p, buffer);
    const float* const x = reader.Read(p, buffer);
    zero.Look(data, p, x);
    row(x, 0, static_cast<size_t>(data.free_size), out);
    writer.Write(p, out);
  });
  return absl::OkStatus();
}

}  // namespace trnemu
