// Text in aligned columns, and the same as Markdown.
#ifndef TRNEMU_FRONTEND_CLI_TABLE_H_
#define TRNEMU_FRONTEND_CLI_TABLE_H_

#include <string>
#include <vector>

namespace trnemu::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(head); }
  // As many cells as the head.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  // Two spaces between columns; the last is as long as it is.
  std::string Text() const;
  std::string Markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_TABLE_H_
