#include "frontend/cli/page.h"

#include "frontend/cli/common.h"

namespace trnemu::cli {

void Page::Heading(int level, std::string_view text) {
  if (markdown()) {
    text_ += Cat(std::string(level, '#'), " ", text, "\n\n");
  } else {
    text_ += Cat(text, "\n", std::string(text.size(), level == 1 ? '=' : '-'),
                 "\n\n");
  }
}

void Page::Paragraph(std::string_view text) { text_ += Cat(text, "\n\n"); }

void Page::Code(std::string_view language, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  text_ += markdown() ? Cat("```", language, "\n", text, "\n```\n\n")
                      : Cat(text, "\n\n");
}

void Page::Add(const Table& table) {
  text_ += Cat(markdown() ? table.Markdown() : table.Text(), "\n");
}

std::string Page::Tick(std::string_view text) const {
  return markdown() ? Cat("`", text, "`") : std::string(text);
}

std::string Page::Finish() const {
  std::string text = text_;
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace trnemu::cli
