// A page of headings, paragraphs, tables and code: Markdown for docs/, or
// plain text for a terminal.
#ifndef TRNEMU_FRONTEND_CLI_PAGE_H_
#define TRNEMU_FRONTEND_CLI_PAGE_H_

#include <string>
#include <string_view>

#include "frontend/cli/table.h"

namespace trnemu::cli {

enum class Style { kText, kMarkdown };

class Page {
 public:
  explicit Page(Style style) : style_(style) {}
  bool markdown() const { return style_ == Style::kMarkdown; }

  void Heading(int level, std::string_view text);
  void Paragraph(std::string_view text);
  void Code(std::string_view language, std::string_view text);
  void Add(const Table& table);
  // A name: in backticks where that means something.
  std::string Tick(std::string_view text) const;
  // Ends with one newline.
  std::string Finish() const;

 private:
  Style style_;
  std::string text_;
};

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_PAGE_H_
