// TensorCopyPredicated, RangeSelect, SelectReduce.
//
// A predicate is true where it is not zero [assumed: numerics.md 15.23];
// reverse_pred is a logical not (spec/decisions.md). TensorCopyPredicated moves
// bits, the other two compute in fp32 and cast once. Their running maximum is
// of the values before the cast, in access order.
#include "core/numerics/select.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/engines/vector_accumulators.h"
#include "core/layout.h"
#include "core/numerics/alu.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// ---- TensorCopyPredicated ----

// take[i] = 1 where the element is copied, else 0. In fp32 an integer is 0 only
// if it is.
void Decide(const RowReader& predicate, int64_t partition, bool reverse,
            float* buffer, uint32_t* take) {
  const float* const row = predicate.Read(partition, buffer);
  NonZero(row, reverse, static_cast<size_t>(predicate.size()), take);
}

template <typename Word>
inline void StoreTaken(Word word, const uint32_t* take, const uint32_t* bits,
                       int64_t n, std::byte* dst, ptrdiff_t step) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(&word, dst + i * step, sizeof(Word));
    const uint32_t mask = 0u - take[i];  // without branches
    word = static_cast<Word>((word & ~mask) | (bits[i] & mask));
    std::memcpy(dst + i * step, &word, sizeof(Word));
  }
}

void StoreTakenRow(const Tile& dst, const Layout& layout, int64_t partition,
                   const uint32_t* take, const uint32_t* bits) {
  std::byte* const row = dst.base + partition * dst.partition_stride;
  ForEachRun(layout, 0, dst.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               const auto store = [&](auto word) {
                 constexpr ptrdiff_t kSize = sizeof(word);
                 std::byte* const to = row + offset;
                 if (layout.step() == kSize) {  // which vectorizes
                   StoreTaken(word, take + first, bits + first, n, to, kSize);
                 } else {
                   StoreTaken(word, take + first, bits + first, n, to,
                              layout.step());
                 }
               };
               switch (SizeOf(dst.dtype)) {
                 case 1:
                   return store(uint8_t{});
                 case 2:
                   return store(uint16_t{});
                 default:
                   return store(uint32_t{});
               }
             });
}

// Records as written what was taken, and nothing else.
class TakenMarks {
 public:
  TakenMarks(const Tile& dst, const CoreState& state)
      : dst_(dst),
        fresh_(state.check_memory && !CheckWritten(dst, "dst").ok()),
        psum_((PsumWriters(dst) & ~kOthersAlone) != 0) {}

  void Row(int64_t partition, const uint32_t* take) {
    if (!fresh_ && !psum_) return;
    const uint32_t* const end = take + dst_.free_size;
    for (const uint32_t* at = std::find(take, end, 1u); at != end;) {
      const uint32_t* const stop = std::find(at, end, 0u);
      const int64_t first = partition * dst_.free_size + (at - take);
      if (fresh_) MarkWritten(dst_, first, stop - at);
      if (psum_) MarkPsum(dst_, PsumWriter::kOther, first, stop - at);
      at = std::find(stop, end, 1u);
    }
  }

 private:
  static constexpr unsigned kOthersAlone =
      1u << static_cast<unsigned>(PsumWriter::kOther);
  const Tile& dst_;
  const bool fresh_;  // something is not written yet
  const bool psum_;   // something was not written by another instruction last
};

// ---- RangeSelect, SelectReduce ----

// Partitions whose maxima run side by side.
constexpr int64_t kBlock = 16;

// Calls row(partition, buffer) for each, which returns the partition's values;
// folds them into the accumulators if `reduce`.
template <typename Row>
void ForEachSelectedRow(int64_t partitions, int64_t n, bool reduce,
                        CoreState& state, Row row) {
  float* const buffers =
      MatrixBuffer(state, 0, std::min(kBlock, partitions) * n);
  std::array<const float*, kBlock> rows{};
  for (int64_t first = 0; first < partitions; first += kBlock) {
    const int64_t count = std::min(kBlock, partitions - first);
    for (int64_t i = 0; i < count; ++i) {
      rows[static_cast<size_t>(i)] = row(first + i, buffers + i * n);
    }
    if (!reduce) continue;
    ReduceRows(AluOp::kMaximum, rows.data(), static_cast<size_t>(count),
               static_cast<size_t>(n),
               state.vector_accumulators.data() + first);
  }
}

bool Accumulates(ReduceCmd cmd) {
  return cmd == ReduceCmd::kReduce || cmd == ReduceCmd::kResetReduce;
}

// The indices of a row's elements, in fp32.
const float* Indices(int64_t start, int64_t n, CoreState& state) {
  float* const indices = RowBuffer(state, 0, n);
  for (int64_t i = 0; i < n; ++i) {
    indices[i] = static_cast<float>(static_cast<int64_t>(
        static_cast<uint64_t>(start) + static_cast<uint64_t>(i)));
  }
  return indices;
}

}  // namespace

absl::Status ExecuteTensorCopyPredicated(const ExecuteArgs& args,
                                         CoreState& state) {
  using S = slot::TensorCopyPredicated;
  const Tile& dst = args.slots[S::kDst].tile;
  const Slot& src = args.slots[S::kSrc];
  const bool from_tile = src.kind == Operand::Kind::kAccess;
  const bool reverse = args.attributes[S::kReversePred].boolean();
  const RowReader predicate(args.slots[S::kPredicate].tile, state.numerics);
  const RowReader reader(from_tile ? src.tile : dst, state.numerics);
  const Layout layout = RowLayout(dst);
  uint32_t* const take = BitsBuffer(state, 0, dst.free_size);
  uint32_t* const bits = BitsBuffer(state, 1, dst.free_size);
  float* const buffer = RowBuffer(state, 0, dst.free_size);
  if (!from_tile) {
    std::fill_n(bits, dst.free_size,
                BitsOfNumber(src.immediate, dst.dtype, state.numerics));
  }
  TakenMarks marks(dst, state);
  bool warn_nan =
      !from_tile && IsInteger(dst.dtype) && std::isnan(src.immediate);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    Decide(predicate, p, reverse, buffer, take);
    if (from_tile) reader.ReadBits(p, bits);
    StoreTakenRow(dst, layout, p, take, bits);
    marks.Row(p, take);
    const int64_t first = std::find(take, take + dst.free_size, 1u) - take;
    if (warn_nan && first < dst.free_size) {
      WarnNanToInteger(state, "src", dst, p, first);
      warn_nan = false;
    }
  }
  return absl::OkStatus();
}

absl::Status ExecuteRangeSelect(const ExecuteArgs& args, CoreState& state) {
  using S = slot::RangeSelect;
  constexpr float kFill = std::numeric_limits<float>::lowest();
  const Tile& data = args.slots[S::kOnTrueTile].tile;
  const int64_t n = data.free_size;
  const ReduceCmd cmd = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  absl::Status status = PrepareVectorAccumulators(cmd, AluOp::kMaximum, nullptr,
                                                  0, data.partitions, state);
  if (!status.ok()) return status;
  const RowReader reader(data, state.numerics);
  const ColumnReader bound0(args.slots[S::kBound0], args.operands[S::kBound0],
                            state.numerics);
  const ColumnReader bound1(args.slots[S::kBound1], args.operands[S::kBound1],
                            state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  writer.Reads(bound0);
  writer.Reads(bound1);
  const auto compare0 =
      ScalarRowOf(args.attributes[S::kCompOp0].as<AluOp>(), false);
  const auto compare1 =
      ScalarRowOf(args.attributes[S::kCompOp1].as<AluOp>(), false);
  const float* const indices =
      Indices(args.attributes[S::kRangeStart].integer(), n, state);
  float* const holds0 = RowBuffer(state, 1, n);
  float* const holds1 = RowBuffer(state, 2, n);
  ForEachSelectedRow(
      data.partitions, n, Accumulates(cmd), state,
      [&](int64_t p, float* buffer) -> const float* {
        compare0(indices, bound0.At(p), static_cast<size_t>(n), holds0);
        compare1(indices, bound1.At(p), static_cast<size_t>(n), holds1);
        const float* const x = reader.Read(p, buffer);
        float* const y = writer.Place(p, buffer);
        SelectFloatsOfBoth(holds0, holds1, x, kFill, static_cast<size_t>(n), y);
        writer.Write(p, y);
        return y;
      });
  return absl::OkStatus();
}

absl::Status ExecuteSelectReduce(const ExecuteArgs& args, CoreState& state) {
  using S = slot::SelectReduce;
  const Tile& data = args.slots[S::kOnTrue].tile;
  const Tile& predicate = args.slots[S::kPredicate].tile;
  const int64_t n = data.free_size;
  const bool reverse = args.attributes[S::kReversePred].boolean();
  const ReduceCmd cmd = args.attributes[S::kReduceCmd].as<ReduceCmd>();
  absl::Status status = PrepareVectorAccumulators(cmd, AluOp::kMaximum, nullptr,
                                                  0, data.partitions, state);
  if (!status.ok()) return status;
  const RowReader reader(data, state, "on_true",
                         IsInteger(args.slots[S::kDst].tile.dtype));
  const RowReader decider(predicate, state.numerics);
  const ColumnReader on_false(args.slots[S::kOnFalse],
                              args.operands[S::kOnFalse], state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  writer.Reads(predicate);
  writer.Reads(on_false);
  uint32_t* const take = BitsBuffer(state, 0, n);
  float* const decisions = RowBuffer(state, 0, n);
  ForEachSelectedRow(data.partitions, n, Accumulates(cmd), state,
                     [&](int64_t p, float* buffer) -> const float* {
                       Decide(decider, p, reverse, decisions, take);
                       const float other = on_false.At(p);
                       const float* const x = reader.Read(p, buffer);
                       float* const y = writer.Place(p, buffer);
                       SelectFloatsByWords(take, x, other,
                                           static_cast<size_t>(n), y);
                       writer.Write(p, y);
                       return y;
                     });
  return absl::OkStatus();
}

}  // namespace trnemu
