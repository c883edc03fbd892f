#include "frontend/cli/help.h"

#include <sstream>

namespace trnemu::cli {
namespace {

std::string Wrapped(const std::string& text, size_t width) {
  std::istringstream words(text);
  std::string out, word;
  size_t column = 0;
  while (words >> word) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

class WrappingFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return Wrapped(option->get_description(), 80 - get_column_width());
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> HelpWithColumn(size_t width) {
  auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(width);
  return formatter;
}

}  // namespace trnemu::cli
