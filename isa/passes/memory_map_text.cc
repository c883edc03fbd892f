// The map of a program's memories for a terminal.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "isa/passes/memory_map.h"

namespace trnemu {
namespace {

constexpr int kColumns = 64;
constexpr int kRows = 16;
constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

char LetterOf(size_t span) { return kLetters[span % kLetters.size()]; }

// Bytes of a row, instructions of a column, and, where there are few of them,
// columns of an instruction; at least 1 each.
struct Scale {
  int64_t bytes = 1;
  int64_t instructions = 1;
  int64_t repeat = 1;
  int rows = 1;
  int columns = 1;
};

Scale ScaleOf(const MemoryMapPart& part) {
  Scale scale;
  // Whole words of 4 bytes: most tiles begin and end there.
  scale.bytes = std::max<int64_t>(4, (part.end + kRows - 1) / kRows);
  scale.bytes = (scale.bytes + 3) / 4 * 4;
  scale.rows = static_cast<int>((part.end + scale.bytes - 1) / scale.bytes);
  const int64_t n = std::max<int64_t>(1, part.instructions);
  scale.instructions = (n + kColumns - 1) / kColumns;
  scale.repeat = std::clamp<int64_t>(kColumns / n, 1, 4);
  scale.columns = static_cast<int>((n + scale.instructions - 1) /
                                   scale.instructions * scale.repeat);
  return scale;
}

// Rows from the lowest bytes on. A cell shows the tile that has most of its
// bytes, of equals the one that begins last.
std::vector<std::string> Draw(const MemoryMapPart& part, const Scale& scale) {
  const auto height = static_cast<size_t>(std::max(1, scale.rows));
  const auto width = static_cast<size_t>(scale.columns);
  std::vector<std::string> rows(height, std::string(width, '.'));
  std::vector<int64_t> most(height * width, 1);
  for (size_t i = 0; i < part.spans.size(); ++i) {
    const MemorySpan& s = part.spans[i];
    const auto left =
        static_cast<size_t>(s.first / scale.instructions * scale.repeat);
    const auto right = static_cast<size_t>(
        (s.last / scale.instructions + 1) * scale.repeat - 1);
    for (auto y = static_cast<size_t>(s.address / scale.bytes); y < height;
         ++y) {
      const int64_t row = static_cast<int64_t>(y) * scale.bytes;
      const int64_t bytes = std::min(s.address + s.bytes, row + scale.bytes) -
                            std::max(s.address, row);
      if (bytes <= 0) break;
      for (size_t x = left; x <= right && x < width; ++x) {
        if (bytes < most[y * width + x]) continue;
        most[y * width + x] = bytes;
        rows[y][x] = LetterOf(i);
      }
    }
  }
  return rows;
}

void AddPart(const MemoryMapPart& part, const Program& program,
             std::string& text) {
  const Scale scale = ScaleOf(part);
  const auto rows = Draw(part, scale);
  const std::string space(Name(part.limit.space));
  absl::StrAppend(&text, space, " of core ", part.core, ": at most ", part.peak,
                  " bytes per partition are live, at instruction ",
                  part.peak_at, "\n");
  const auto free = part.limit.bytes - part.end;
  absl::StrAppend(&text, "limit ", part.limit.bytes, " (", part.limit.constant,
                  "), ");
  if (free >= 0) {
    absl::StrAppend(&text, free, " bytes above the highest tile are free\n\n");
  } else {
    absl::StrAppend(&text, "which the highest tile exceeds by ", -free,
                    " bytes\n\n");
  }
  for (size_t y = rows.size(); y-- > 0;) {
    absl::StrAppendFormat(&text, "%10d |%s\n",
                          static_cast<int64_t>(y) * scale.bytes, rows[y]);
  }
  std::string peak(static_cast<size_t>(scale.columns), '-');
  peak[static_cast<size_t>(part.peak_at / scale.instructions * scale.repeat)] =
      '^';
  absl::StrAppendFormat(&text, "%10s +%s\n", "byte", peak);
  const std::string right = absl::StrCat(part.instructions - 1);
  absl::StrAppendFormat(&text, "%10s  0%*s  instruction, ^ the peak\n\n", "",
                        std::max(1, scale.columns - 1), right);
  size_t width = 4;
  for (const MemorySpan& s : part.spans) {
    width = std::max(width, program.tensors[s.tensor].name.size());
  }
  absl::StrAppendFormat(&text, "  %-*s %10s %10s  %-13s %s\n",
                        static_cast<int>(width) + 2, "tile", "byte", "bytes",
                        "instructions", "made at");
  for (size_t i = 0; i < part.spans.size(); ++i) {
    const MemorySpan& s = part.spans[i];
    const Tensor& t = program.tensors[s.tensor];
    std::string line = absl::StrFormat(
        "  %c %-*s %10d %10d  %-13s %s", LetterOf(i), static_cast<int>(width),
        t.name, s.address, s.bytes, absl::StrCat(s.first, " to ", s.last),
        program.DescribeSource(t.source));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
}

}  // namespace

std::string MemoryMapText(const MemoryMap& map, const Program& program) {
  std::string text =
      absl::StrCat("Memory of ", map.program, " on ", map.target, "\n");
  for (const MemoryMapPart& part : map.parts) {
    text += "\n";
    AddPart(part, program, text);
  }
  if (map.parts.empty()) text += "\nIt has no tiles.\n";
  return text;
}

}  // namespace trnemu
