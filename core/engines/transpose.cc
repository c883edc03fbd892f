// VectorTranspose: dst[f][p] = data[p][f], bits, within one block of 32 lanes.
#include "core/numerics/transpose.h"

#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {
namespace {
constexpr int64_t kLanes = 32;
}  // namespace

absl::Status ExecuteVectorTranspose(const ExecuteArgs& args, CoreState& state) {
  using S = slot::VectorTranspose;
  const Tile& data = args.slots[S::kData].tile;
  const Tile& dst = args.slots[S::kDst].tile;
  const int64_t rows = data.partitions;
  const int64_t columns = data.free_size;
  if (rows > kLanes || columns > kLanes || dst.partitions != columns ||
      dst.free_size != rows) {
    return MakeFault(
        Category::kIllegal, "nc_transpose.vector_block",
        absl::StrCat("the vector engine transposes at most ", kLanes, " x ",
                     kLanes, " elements, and dst is ", dst.partitions, " x ",
                     dst.free_size, " for data of ", rows, " x ", columns));
  }
  const RowReader reader(data, state.numerics);
  RowWriter writer(dst, "dst", state);
  if (data.dtype == dst.dtype && reader.contiguous() &&
      RowLayout(dst).contiguous(SizeOf(dst.dtype)) && !MayOverlap(dst, data)) {
    TransposeBytes(static_cast<unsigned>(SizeOf(dst.dtype)),
                   {data.base, data.partition_stride},
                   static_cast<size_t>(rows), static_cast<size_t>(columns),
                   {dst.base, dst.partition_stride});
    return absl::OkStatus();
  }
  std::array<uint32_t, kLanes * kLanes> block;
  std::array<uint32_t, kLanes> row;
  for (int64_t p = 0; p < rows; ++p) {
    reader.ReadBits(p, block.data() + p * columns);
  }
  for (int64_t f = 0; f < columns; ++f) {
    for (int64_t p = 0; p < rows; ++p) {
      row[static_cast<size_t>(p)] = block[static_cast<size_t>(p * columns + f)];
    }
    writer.WriteBits(f, row.data());
  }
  return absl::OkStatus();
}

}  // namespace trnemu
