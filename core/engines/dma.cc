#include "core/engines/dma.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/dynamic.h"
#include "core/engines/dma_pieces.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/select.h"
#include "core/numerics/transpose.h"
#include "core/numerics/unsettled.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// Elements that are cast, gathered or added at a time.
constexpr int64_t kChunk = 4096;

// Moves n elements of runs that do not end before.
class Mover {
 public:
  Mover(const Tile& dst, ptrdiff_t dst_step, const Tile& src,
        ptrdiff_t src_step, CoreState& state)
      : dst_(dst),
        src_(src),
        dst_step_(dst_step),
        src_step_(src_step),
        size_(SizeOf(src.dtype)),
        state_(state) {
    const ptrdiff_t size = static_cast<ptrdiff_t>(size_);
    bits_ = dst.dtype == src.dtype;
    integers_ = state.check_values && !bits_ && IsInteger(dst.dtype) &&
                Is32BitInteger(src.dtype);
    overflows_ = state.check_values && !bits_ && CanOverflow(dst.dtype);
    dense_ = bits_ && dst_step == size && src_step == size;
    if (bits_) {
      words_ = BitsBuffer(state, 0, kChunk);
    } else {
      values_ = RowBuffer(state, 0, kChunk);
    }
  }

  // Offsets in bytes from the tiles' bases; `element` is the flat index.
  void Move(ptrdiff_t to, ptrdiff_t from, int64_t element, int64_t n) {
    if (dense_ || (bits_ && n == 1)) {
      std::memmove(dst_.base + to, src_.base + from,
                   static_cast<size_t>(n) * size_);
      return;
    }
    for (int64_t done = 0; done < n; done += kChunk) {
      MoveChunk(dst_.base + to + done * dst_step_,
                src_.base + from + done * src_step_, element + done,
                static_cast<size_t>(std::min(kChunk, n - done)));
    }
  }

 private:
  void MoveChunk(std::byte* to, const std::byte* from, int64_t element,
                 size_t n) {
    if (bits_) {
      LoadBits(src_.dtype, from, src_step_, n, words_);
      StoreBits(dst_.dtype, words_, n, to, dst_step_);
      return;
    }
    WidenRow(src_.dtype, from, src_step_, n, state_.numerics, values_);
    if (integers_) LookAtIntegers(from, element, n);
    if (overflows_) LookForOverflow(element, n);
    if (IsInteger(dst_.dtype) && !reported_) {
      const size_t nan = FirstNan(values_, n);
      if (nan < n) {
        reported_ = true;
        const int64_t at = element + static_cast<int64_t>(nan);
        WarnNanToInteger(state_, "dst", dst_, at / dst_.free_size,
                         at % dst_.free_size);
      }
    }
    NarrowRow(values_, n, dst_.dtype, to, dst_step_, state_.numerics);
  }

  Found FoundAt(int64_t element, double before, double after = 0) const {
    return {element / dst_.free_size, element % dst_.free_size, before, after};
  }
  void LookAtIntegers(const std::byte* from, int64_t element, size_t n) {
    uint32_t* const words = BitsBuffer(state_, 0, kChunk);
    LoadBits(src_.dtype, from, src_step_, n, words);
    const bool is_signed = src_.dtype == Dtype::kInt32;
    const size_t at = FirstInexactWord(words, is_signed, n);
    if (at == n) return;
    integers_ = false;
    const double value =
        is_signed ? static_cast<double>(static_cast<int32_t>(words[at]))
                  : static_cast<double>(words[at]);
    WarnInexactElement(state_, "src", src_,
                       FoundAt(element + static_cast<int64_t>(at), value,
                               static_cast<double>(values_[at])));
  }
  void LookForOverflow(int64_t element, size_t n) {
    const size_t at = FirstOverflow(dst_.dtype, values_, n);
    if (at == n) return;
    overflows_ = false;
    WarnOverflow(state_, "dst", dst_,
                 FoundAt(element + static_cast<int64_t>(at),
                         static_cast<double>(values_[at])));
  }

  const Tile& dst_;
  const Tile& src_;
  ptrdiff_t dst_step_;
  ptrdiff_t src_step_;
  size_t size_;
  CoreState& state_;
  uint32_t* words_ = nullptr;
  float* values_ = nullptr;
  bool bits_ = false;
  bool dense_ = false;
  bool reported_ = false;
  bool integers_ = false;   // looks for integers that fp32 does not hold
  bool overflows_ = false;  // looks for what dst cannot hold
};

void MarkPiece(const Piece& dst, int64_t n, const CoreState& state) {
  if (state.check_memory) MarkWritten(*dst.tile, dst.first, n);
  MarkPsum(*dst.tile, PsumWriter::kOther, dst.first, n);
}

// `described` is the source in its own order, for the diagnostic.
absl::Status CheckSource(const Piece& src, int64_t n, std::string_view name,
                         const Tile* described, CoreState& state) {
  if (!state.check_memory) return absl::OkStatus();
  if (described == nullptr) {
    return AdmitUnwritten(state, *src.tile, name, src.first, n);
  }
  absl::Status status = CheckWritten(*src.tile, name, src.first, n);
  if (!status.ok()) {
    absl::Status whole = CheckWritten(*described, name);
    if (!whole.ok()) status = whole;
  }
  return Admit(state, status);
}

// Goes through dense rows of a layout of at most two dimensions.
class RowPointer {
 public:
  RowPointer(std::byte* base, const Layout& layout, int64_t first,
             ptrdiff_t size)
      : run_(layout.run() * size),
        jump_(layout.rank == 2 ? layout.dims[0].step - run_ : 0),
        left_(run_ - first % layout.run() * size),
        at_(base + RunCursor(layout, first).offset()) {}
  // Through a tile that is contiguous within a partition.
  RowPointer(const Tile& tile, int64_t first, ptrdiff_t size)
      : run_(tile.free_size * size),
        jump_(tile.partition_stride - run_),
        left_(run_ - first % tile.free_size * size),
        at_(tile.base + first / tile.free_size * tile.partition_stride +
            first % tile.free_size * size) {}
  std::byte* at() const { return at_; }
  int64_t left() const { return left_; }  // bytes of the row
  void Advance(int64_t bytes) {
    at_ += bytes;
    left_ -= bytes;
    if (left_ != 0) return;
    left_ = run_;
    at_ += jump_;
  }

 private:
  int64_t run_;
  ptrdiff_t jump_;
  int64_t left_;
  std::byte* at_;
};

void MoveBytes(RowPointer to, RowPointer from, int64_t n) {
  while (n > 0) {
    const int64_t bytes = std::min({to.left(), from.left(), n});
    std::memmove(to.at(), from.at(), static_cast<size_t>(bytes));
    to.Advance(bytes);
    from.Advance(bytes);
    n -= bytes;
  }
}

// Bytes of dense rows, as most transfers are; false if it is something else.
bool MoveRows(const Piece& dst, const Layout& to, const Piece& src,
              const Layout& from, int64_t n) {
  const ptrdiff_t size = static_cast<ptrdiff_t>(SizeOf(src.tile->dtype));
  if (dst.tile->dtype != src.tile->dtype || to.rank > 2 || from.rank > 2 ||
      to.step() != size || from.step() != size) {
    return false;
  }
  MoveBytes(RowPointer(dst.tile->base, to, dst.first, size),
            RowPointer(src.tile->base, from, src.first, size), n * size);
  return true;
}

// The same without a look at the layouts; false if they have to be known.
bool MoveContiguous(const Piece& dst, const Piece& src, int64_t n) {
  if (dst.tile->dtype != src.tile->dtype || !dst.tile->contiguous ||
      !src.tile->contiguous) {
    return false;
  }
  const ptrdiff_t size = static_cast<ptrdiff_t>(SizeOf(src.tile->dtype));
  MoveBytes(RowPointer(*dst.tile, dst.first, size),
            RowPointer(*src.tile, src.first, size), n * size);
  return true;
}

// A transpose of whole columns of the source to dense rows of dst, in blocks;
// false, and nothing is done, if the piece is something else.
bool MoveBlocks(const Piece& dst, const Layout& to, const Piece& src,
                const Layout& from, int64_t n) {
  const ptrdiff_t size = static_cast<ptrdiff_t>(SizeOf(src.tile->dtype));
  if (dst.tile->dtype != src.tile->dtype || from.rank != 2 ||
      from.dims[0].step != size || to.rank > 2 || to.step() != size) {
    return false;
  }
  const int64_t rows = from.run();
  if ((to.rank == 2 && to.run() != rows) || src.first % rows != 0 ||
      dst.first % rows != 0 || n % rows != 0) {
    return false;
  }
  const ptrdiff_t step = to.rank == 2 ? to.dims[0].step : rows * size;
  TransposeBytes(static_cast<unsigned>(size),
                 {src.tile->base + src.first / rows * size, from.step()},
                 static_cast<size_t>(rows), static_cast<size_t>(n / rows),
                 {dst.tile->base + dst.first / rows * step, step});
  return true;
}

}  // namespace

absl::Status MovePiece(const Piece& dst, const Piece& src, int64_t n,
                       const Tile* described, CoreState& state,
                       std::string_view name) {
  if (dst.tile->dtype != src.tile->dtype) {
    if (IsPacked(src.tile->dtype)) return PackedHasNoValue(*src.tile, "src");
    if (IsPacked(dst.tile->dtype)) return PackedHasNoValue(*dst.tile, "dst");
  }
  absl::Status status = CheckSource(src, n, name, described, state);
  if (!status.ok()) return status;
  if (MoveContiguous(dst, src, n)) {
    MarkPiece(dst, n, state);
    return absl::OkStatus();
  }
  const Layout dst_layout = FlatLayout(*dst.tile);
  const Layout src_layout = FlatLayout(*src.tile);
  if (MoveRows(dst, dst_layout, src, src_layout, n) ||
      MoveBlocks(dst, dst_layout, src, src_layout, n)) {
    MarkPiece(dst, n, state);
    return absl::OkStatus();
  }
  RunCursor to(dst_layout, dst.first);
  RunCursor from(src_layout, src.first);
  Mover mover(*dst.tile, to.step(), *src.tile, from.step(), state);
  for (int64_t done = 0; done < n;) {
    const int64_t run = std::min({to.remaining(), from.remaining(), n - done});
    mover.Move(to.offset(), from.offset(), dst.first + done, run);
    to.Advance(run);
    from.Advance(run);
    done += run;
  }
  MarkPiece(dst, n, state);
  return absl::OkStatus();
}

namespace {

// Where n fp32 elements lie one after the other, or null.
float* ArrayOf(const Piece& piece, int64_t n, const CoreState& state) {
  if (piece.tile->dtype != Dtype::kFloat32 ||
      state.numerics.subnormals != Subnormals::kKeep) {
    return nullptr;
  }
  if (piece.tile->contiguous && piece.tile->partitions == 1) {
    std::byte* const at = piece.tile->base + piece.first * sizeof(float);
    return reinterpret_cast<uintptr_t>(at) % alignof(float) == 0
               ? reinterpret_cast<float*>(at)
               : nullptr;
  }
  const Layout layout = FlatLayout(*piece.tile);
  const RunCursor cursor(layout, piece.first);
  std::byte* const at = piece.tile->base + cursor.offset();
  const bool aligned = reinterpret_cast<uintptr_t>(at) % alignof(float) == 0;
  return aligned && cursor.step() == sizeof(float) && cursor.remaining() >= n
             ? reinterpret_cast<float*>(at)
             : nullptr;
}

// The values where they lie, or in `values`.
const float* ReadPiece(const Piece& src, int64_t n, CoreState& state,
                       float* values) {
  if (const float* const array = ArrayOf(src, n, state)) return array;
  const Layout layout = FlatLayout(*src.tile);
  ForEachRun(layout, src.first, n,
             [&](ptrdiff_t offset, int64_t element, int64_t run) {
               WidenRow(src.tile->dtype, src.tile->base + offset, layout.step(),
                        static_cast<size_t>(run), state.numerics,
                        values + (element - src.first));
             });
  return values;
}

void WritePiece(const Piece& dst, int64_t n, const float* values,
                CoreState& state) {
  if (values == ArrayOf(dst, n, state)) return;
  const Dtype dtype = dst.tile->dtype;
  if (state.check_values && CanOverflow(dtype)) {
    const auto size = static_cast<size_t>(n);
    const size_t at = FirstOverflow(dtype, values, size);
    const int64_t element = dst.first + static_cast<int64_t>(at);
    if (at < size) {
      WarnOverflow(
          state, "dst", *dst.tile,
          {element / dst.tile->free_size, element % dst.tile->free_size,
           static_cast<double>(values[at])});
    }
  }
  if (IsInteger(dst.tile->dtype)) {
    const auto nan =
        static_cast<int64_t>(FirstNan(values, static_cast<size_t>(n)));
    if (nan < n) {
      const int64_t at = dst.first + nan;
      WarnNanToInteger(state, "dst", *dst.tile, at / dst.tile->free_size,
                       at % dst.tile->free_size);
    }
  }
  const Layout layout = FlatLayout(*dst.tile);
  ForEachRun(layout, dst.first, n,
             [&](ptrdiff_t offset, int64_t element, int64_t run) {
               NarrowRow(values + (element - dst.first),
                         static_cast<size_t>(run), dst.tile->dtype,
                         dst.tile->base + offset, layout.step(),
                         state.numerics);
             });
}

}  // namespace

bool LocatePiece(const DmaOperand& operand, int64_t at, int64_t& n,
                 std::optional<Tile>& moved, Piece& piece) {
  at -= operand.first;
  if (!operand.has_rows) {
    piece.tile = &operand.tile;
    piece.first = at;
    return true;
  }
  const int64_t row_size = operand.tile.partitions * operand.tile.free_size;
  piece.first = at % row_size;
  n = std::min(n, row_size - piece.first);
  const int64_t offset = operand.rows[static_cast<size_t>(at / row_size)];
  if (offset == kNoRow) return false;
  moved = Moved(operand.tile, offset);
  piece.tile = &*moved;
  return true;
}

namespace {

absl::Status SumPiece(const DmaTransfer& t, int64_t at, const Piece& dst,
                      int64_t n, CoreState& state) {
  float* const sum = RowBuffer(state, 0, kChunk);
  float* const term = RowBuffer(state, 1, kChunk);
  float* const place = ArrayOf(dst, n, state);
  const float* total = nullptr;
  std::optional<Tile> moved;
  Piece src;
  for (int s = 0; s < t.num_srcs; ++s) {
    if (!LocatePiece(t.srcs[static_cast<size_t>(s)], at, n, moved, src)) {
      return absl::OkStatus();  // its row has no index: nothing is added
    }
    if (state.check_memory) {
      absl::Status status =
          CheckSource(src, n, absl::StrCat("src", s), nullptr, state);
      if (!status.ok()) return status;
    }
    const float* const values = ReadPiece(src, n, state, s == 0 ? sum : term);
    if (s == 0) {
      total = values;
      continue;
    }
    // The last sum goes where it belongs: nothing is read after it.
    float* const out = s + 1 == t.num_srcs && place != nullptr ? place : sum;
    SumRows(total, values, static_cast<size_t>(n), out);
    total = out;
  }
  WritePiece(dst, n, total, state);
  MarkPiece(dst, n, state);
  return absl::OkStatus();
}

}  // namespace

int64_t SegmentLength(const DmaTransfer& t, int64_t at, int64_t n) {
  for (const DmaOperand& src : t.sources()) {
    if (!src.has_rows) continue;
    const int64_t row_size = src.tile.partitions * src.tile.free_size;
    n = std::min(n, row_size - at % row_size);
  }
  return t.opcode == Opcode::kDmaCompute ? std::min(n, kChunk) : n;
}

namespace {

// Column by column: the part's share of each.
absl::Status MoveColumns(const DmaTransfer& t, DmaPart part, CoreState& state) {
  const int64_t columns = t.columns();
  for (int64_t w = 0; w < columns; ++w) {
    const int64_t offset = t.srcs[0].rows[static_cast<size_t>(w)];
    if (offset == kNoRow) continue;
    const Tile to = Moved(t.dst.tile, w * t.column_step);
    const Tile from = Moved(t.srcs[0].tile, offset);
    const int64_t first = part.first / columns;
    const int64_t source = first - t.srcs[0].first / columns;
    absl::Status status = MovePiece({&to, first}, {&from, source},
                                    part.count / columns, nullptr, state);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteDmaPart(const DmaTransfer& t, DmaPart part,
                            CoreState& state) {
  if (t.nothing || part.count == 0) return absl::OkStatus();
  if (t.rows_are_columns) return MoveColumns(t, part, state);
  const Tile* const described =
      t.opcode == Opcode::kDmaTranspose ? &t.plain_src : nullptr;
  if (t.opcode != Opcode::kDmaCompute && !t.dst.has_rows &&
      !t.srcs[0].has_rows) {
    return MovePiece({&t.dst.tile, part.first},
                     {&t.srcs[0].tile, part.first - t.srcs[0].first},
                     part.count, described, state);
  }
  std::optional<Tile> moved_dst, moved_src;
  Piece dst, src;
  for (int64_t at = part.first; at < part.first + part.count;) {
    int64_t n = SegmentLength(t, at, part.first + part.count - at);
    absl::Status status;
    if (!LocatePiece(t.dst, at, n, moved_dst, dst)) {
      at += n;
      continue;
    }
    if (t.opcode == Opcode::kDmaCompute) {
      status = SumPiece(t, at, dst, n, state);
    } else if (LocatePiece(t.srcs[0], at, n, moved_src, src)) {
      status = MovePiece(dst, src, n, described, state);
    }
    if (!status.ok()) return status;
    at += n;
  }
  return absl::OkStatus();
}

absl::Status ExecuteDmaPart(const Tile& dst, const Tile& src, DmaPart part,
                            CoreState& state) {
  if (part.count == 0) return absl::OkStatus();
  return MovePiece({&dst, part.first}, {&src, part.first}, part.count, nullptr,
                   state);
}

absl::Status ExecuteDmaCopy(const ExecuteArgs& args, CoreState& state) {
  using S = slot::DmaCopy;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  return ExecuteDmaPart(dst, src, {0, dst.partitions * dst.free_size}, state);
}

}  // namespace trnemu
