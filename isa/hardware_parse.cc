// Parsing a hardware description, with the path of what is refused.
#include <algorithm>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "isa/hardware_internal.h"

namespace trnemu::hardware {
namespace {

// The dotted names of the blocks that are open at `line`, `column` (from 0)
// of a text-format message, then the last field named before it.
class PathFinder {
 public:
  PathFinder(std::string_view text, int line, int column)
      : text_(text), end_(OffsetOf(text, line, column)) {}

  std::string Find() {
    while (at_ < end_) Step();
    std::string path;
    for (const std::string& block : blocks_) {
      path += block + ".";
    }
    return path + name_;
  }

 private:
  static size_t OffsetOf(std::string_view text, int line, int column) {
    size_t at = 0;
    for (; line > 0 && at < text.size(); ++at) line -= text[at] == '\n';
    return std::min(text.size(), at + static_cast<size_t>(column));
  }
  static bool IsNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  }
  std::string TakeName() {
    const size_t start = at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  // Whether what precedes at_ is a field's name rather than a value.
  bool NamesAField() const {
    const size_t next = text_.find_first_not_of(" \t\r\n", at_);
    return next < text_.size() && (text_[next] == ':' || text_[next] == '{');
  }
  void SkipString() {
    const char quote = text_[at_++];
    while (at_ < end_ && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  void SkipComment() {
    while (at_ < end_ && text_[at_] != '\n') ++at_;
  }
  void Step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return SkipString();
    if (c == '#') return SkipComment();
    if (IsNameCharacter(c)) {
      const std::string name = TakeName();
      if (NamesAField()) name_ = name;
      return;
    }
    if (c == '{') blocks_.push_back(name_);
    if (c == '}' && !blocks_.empty()) blocks_.pop_back();
    ++at_;
  }

  std::string_view text_;
  size_t end_;
  size_t at_ = 0;
  std::string name_;
  std::vector<std::string> blocks_;
};

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(std::string_view text) : text_(text) {}
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    const std::string path = PathFinder(text_, line, column).Find();
    message_ = Join("line ", line + 1, ", at ", path, ": ", message);
  }
  const std::string& message() const { return message_; }

 private:
  std::string_view text_;
  std::string message_;
};

}  // namespace

absl::Status Parse(std::string_view text, google::protobuf::Message& out) {
  FirstError errors(text);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (parser.ParseFromString(std::string(text), &out)) {
    return absl::OkStatus();
  }
  return Error(errors.message());
}

}  // namespace trnemu::hardware
