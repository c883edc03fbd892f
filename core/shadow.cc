#include "core/shadow.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/layout.h"

namespace trnemu {
namespace {

int64_t CountOf(const Tile& tile, int64_t first, int64_t count) {
  return count >= 0 ? count : tile.partitions * tile.free_size - first;
}

// Calls visit(byte offset, step, n, bytes) for groups of n equal pieces of
// memory, `step` apart, that hold the elements [first, first + count).
template <typename Visit>
void ForEachGroup(const Tile& tile, int64_t first, int64_t count, Visit visit) {
  const Layout layout = FlatLayout(tile);
  const int64_t size = static_cast<int64_t>(SizeOf(tile.dtype));
  const int64_t run = layout.run();
  if (run > 1 && layout.step() != size) {
    ForEachRun(layout, first, count, [&](ptrdiff_t offset, int64_t, int64_t n) {
      visit(offset, layout.step(), n, size);
    });
    return;
  }
  // Whole runs are pieces; there may be a part of one before and after them.
  Layout runs = layout;
  runs.rank = std::max(1, layout.rank - 1);
  if (layout.rank == 1) runs.dims[0] = {0, 1};
  const int64_t before = std::min(count, (run - first % run) % run);
  const int64_t whole = (count - before) / run;
  const int64_t after = count - before - whole * run;
  const auto piece = [&](ptrdiff_t offset, int64_t, int64_t n) {
    visit(offset, 0, 1, n * size);
  };
  if (before > 0) ForEachRun(layout, first, before, piece);
  ForEachRun(runs, (first + before) / run, whole,
             [&](ptrdiff_t offset, int64_t, int64_t n) {
               visit(offset, runs.step(), n, run * size);
             });
  if (after > 0) ForEachRun(layout, first + count - after, after, piece);
}

// Where the first unwritten byte is, and how much is unwritten.
struct Unwritten {
  int64_t element = -1;
  ptrdiff_t offset = 0;  // of the first byte, from the tile's base
  int64_t bytes = 0;     // unwritten from there on without a gap
  int64_t elements = 0;  // that have an unwritten byte
};

void Examine(const Tile& tile, ptrdiff_t offset, int64_t element,
             Unwritten& found) {
  const int64_t size = static_cast<int64_t>(SizeOf(tile.dtype));
  const int64_t hole = tile.shadow.FirstClear(offset, size);
  if (hole == size) return;
  ++found.elements;
  const ptrdiff_t at = offset + hole;
  if (found.element < 0) {
    found.element = element;
    found.offset = at;
  }
  if (at != found.offset + found.bytes) return;
  while (found.offset + found.bytes < offset + size &&
         !tile.shadow[found.offset + found.bytes]) {
    ++found.bytes;
  }
}

absl::Status ReadUnwritten(const Tile& tile, std::string_view operand,
                           const Layout& layout, int64_t first, int64_t count) {
  Unwritten found;
  ForEachRun(layout, first, count,
             [&](ptrdiff_t offset, int64_t element, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 Examine(tile, offset + i * layout.step(), element + i, found);
               }
             });
  const int64_t partition = found.element / tile.free_size;
  const ptrdiff_t offset = found.offset - partition * tile.partition_stride;
  const int64_t begin = tile.address + offset;
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "memory.read_unwritten";
  d.operand = std::string(operand);
  d.message = absl::StrCat(std::string(operand), " reads ",
                           DescribeBytes(tile, partition, offset, found.bytes),
                           ", which nothing has written in this run");
  d.details = {
      {"element", absl::StrCat(found.element % tile.free_size)},
      {"byte_range", absl::StrCat("[", begin, ", ", begin + found.bytes, ")")},
      {"unwritten_elements", absl::StrCat(found.elements)},
      {"dtype", std::string(Name(tile.dtype))}};
  if (tile.space != Space::kHbm) {
    d.details.insert(
        d.details.begin(),
        {"partition", absl::StrCat(tile.first_partition + partition)});
  }
  d.remedy =
      "write all that the instruction reads, narrow its view, or wait for the "
      "instruction that writes it";
  return ToStatus(std::move(d));
}

// The entries of PSUM state that n bytes at `offset` of a partition have.
struct PsumEntries {
  ptrdiff_t begin;  // from the tile's
  int64_t size;
};

PsumEntries EntriesOf(const Tile& tile, int64_t partition, ptrdiff_t offset,
                      int64_t bytes) {
  const ptrdiff_t odd = tile.address & 1;
  const ptrdiff_t begin = (offset + odd) >> 1;
  const ptrdiff_t end = (offset + odd + bytes + 1) >> 1;
  return {partition * tile.psum_state_stride + begin, end - begin};
}

// Calls visit(partition, byte offset in it, bytes) for what lies one after the
// other.
template <typename Visit>
void ForEachPsumRun(const Tile& tile, int64_t first, int64_t count,
                    Visit visit) {
  const Layout layout = RowLayout(tile);
  const int64_t size = static_cast<int64_t>(SizeOf(tile.dtype));
  int64_t from = first % tile.free_size;
  for (int64_t partition = first / tile.free_size; count > 0; ++partition) {
    const int64_t n = std::min(count, tile.free_size - from);
    ForEachRun(layout, from, n, [&](ptrdiff_t offset, int64_t, int64_t run) {
      if (run == 1 || layout.step() == size) {
        visit(partition, offset, run * size);
        return;
      }
      for (int64_t i = 0; i < run; ++i) {
        visit(partition, offset + i * layout.step(), size);
      }
    });
    from = 0;
    count -= n;
  }
}

}  // namespace

bool IsWritten(const Tile& tile, int64_t first, int64_t count) {
  if (!tile.shadow.tracked()) return true;
  bool written = true;
  ForEachGroup(tile, first, CountOf(tile, first, count),
               [&](ptrdiff_t offset, ptrdiff_t step, int64_t n, int64_t bytes) {
                 written =
                     written && tile.shadow.EachSet(offset, step, n, bytes);
               });
  return written;
}

absl::Status CheckWritten(const Tile& tile, std::string_view operand,
                          int64_t first, int64_t count) {
  if (IsWritten(tile, first, count)) return absl::OkStatus();
  count = CountOf(tile, first, count);
  return ReadUnwritten(tile, operand, FlatLayout(tile), first, count);
}

void MarkWritten(const Tile& tile, int64_t first, int64_t count) {
  if (!tile.shadow.tracked()) return;
  ForEachGroup(tile, first, CountOf(tile, first, count),
               [&](ptrdiff_t offset, ptrdiff_t step, int64_t n, int64_t bytes) {
                 tile.shadow.SetEach(offset, step, n, bytes);
               });
}

void MarkPsum(const Tile& tile, PsumWriter writer, int64_t first,
              int64_t count) {
  if (!tile.psum_state.tracked()) return;
  ForEachPsumRun(tile, first, CountOf(tile, first, count),
                 [&](int64_t partition, ptrdiff_t offset, int64_t bytes) {
                   const auto [begin, size] =
                       EntriesOf(tile, partition, offset, bytes);
                   tile.psum_state.Mark(begin, size, writer);
                 });
}

unsigned PsumWriters(const Tile& tile) {
  if (!tile.psum_state.tracked()) return 0;
  unsigned writers = 0;
  ForEachPsumRun(tile, 0, tile.partitions * tile.free_size,
                 [&](int64_t partition, ptrdiff_t offset, int64_t bytes) {
                   const auto [begin, size] =
                       EntriesOf(tile, partition, offset, bytes);
                   writers |= tile.psum_state.Writers(begin, size);
                 });
  return writers;
}

PsumWriter PsumWriterAt(const Tile& tile, int64_t partition, ptrdiff_t offset) {
  const auto [begin, size] = EntriesOf(
      tile, partition, offset, static_cast<int64_t>(SizeOf(tile.dtype)));
  const PsumWriter first = tile.psum_state[begin];
  for (int64_t i = 1; i < size; ++i) {
    if (tile.psum_state[begin + i] != first) return PsumWriter::kNothing;
  }
  return first;
}

std::string DescribeBytes(const Tile& tile, int64_t partition, ptrdiff_t offset,
                          int64_t bytes) {
  const int64_t begin = tile.address + offset;
  std::string text =
      bytes == 1 ? absl::StrCat("byte ", begin)
                 : absl::StrCat("bytes ", begin, " to ", begin + bytes - 1);
  if (tile.space == Space::kHbm) return text + " of the HBM tensor";
  absl::StrAppend(&text, " of partition ", tile.first_partition + partition,
                  " of ", std::string(Name(tile.space)));
  if (tile.space == Space::kPsum) {
    absl::StrAppend(&text, ", bank ", begin / kPsumBankBytes);
  }
  return text;
}

}  // namespace trnemu
