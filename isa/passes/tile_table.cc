#include "isa/passes/tile_table.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace trnemu {
namespace {

constexpr size_t kMaxRows = 64;
constexpr size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

Cells CellsOf(const Program& program, const TileRow& row) {
  const Tensor& t = program.tensors[row.tensor];
  Cells cells;
  cells[0] = t.name;
  cells[1] = absl::StrCat(t.bytes_per_partition(), " bytes per partition");
  if (row.address) cells[2] = absl::StrCat("at byte ", *row.address);
  if (t.pinned) {
    absl::StrAppend(&cells[2], cells[2].empty() ? "" : ", ", "pinned");
  }
  cells[3] =
      absl::StrCat(DescribeShape(t.shape), " ", std::string(Name(t.dtype)));
  if (row.used) {
    cells[4] = absl::StrCat("instructions ", row.used->first, " to ",
                            row.used->second);
  }
  cells[5] = program.DescribeSource(t.source);
  return cells;
}

std::string Join(const Cells& cells,
                 const std::array<size_t, kColumns>& width) {
  std::string line;
  for (size_t c = 0; c < kColumns; ++c) {
    if (width[c] == 0) continue;
    if (!line.empty()) line += "  ";
    const std::string pad(width[c] - cells[c].size(), ' ');
    line += c == 1 ? pad + cells[c] : cells[c] + pad;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> TileTable(const Program& program,
                                   std::vector<TileRow> rows) {
  const auto size = [&program](const TileRow& row) {
    return program.tensors[row.tensor].bytes_per_partition();
  };
  std::stable_sort(
      rows.begin(), rows.end(),
      [&](const TileRow& a, const TileRow& b) { return size(a) > size(b); });
  std::vector<Cells> table;
  std::array<size_t, kColumns> width{};
  for (size_t r = 0; r < rows.size() && r < kMaxRows; ++r) {
    table.push_back(CellsOf(program, rows[r]));
    for (size_t c = 0; c < kColumns; ++c) {
      width[c] = std::max(width[c], table.back()[c].size());
    }
  }
  std::vector<std::string> lines;
  for (const Cells& cells : table) lines.push_back(Join(cells, width));
  if (rows.size() <= kMaxRows) return lines;
  int64_t more = 0;
  for (size_t r = kMaxRows; r < rows.size(); ++r) more += size(rows[r]);
  lines.push_back(absl::StrCat("and ", rows.size() - kMaxRows, " more, ", more,
                               " bytes per partition"));
  return lines;
}

}  // namespace trnemu
