#include "frontend/cli/table.h"

#include <algorithm>

namespace trnemu::cli {
namespace {

std::string Escaped(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string Table::Text() const {
  std::vector<size_t> width(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      width[i] = std::max(width[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(width[i] + 2 - row[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    text += line;
  }
  return text;
}

std::string Table::Markdown() const {
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    text += "|";
    for (const std::string& cell : rows_[r]) {
      text += ' ';
      text += Escaped(cell);
      text += " |";
    }
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (size_t i = 0; i < rows_[0].size(); ++i) text += "---|";
    text += "\n";
  }
  return text;
}

}  // namespace trnemu::cli
