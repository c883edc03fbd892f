// Reads the tokens of one line of the text form. Internal to isa/.
#ifndef TRNEMU_ISA_TEXT_LEXER_H_
#define TRNEMU_ISA_TEXT_LEXER_H_

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace trnemu::text {

// Every reader returns false, and keeps the first failure's sentence, if what
// it expects is not next. Spaces before a token are skipped.
class Lexer {
 public:
  explicit Lexer(std::string_view line) : rest_(line) {}

  const std::string& error() const { return error_; }
  // Records "expected X, found Y"; returns false.
  bool Fail(std::string_view expected);

  // Nothing but a comment is left.
  bool AtEnd();
  bool ExpectEnd() { return AtEnd() || Fail("the end of the line"); }
  bool Accept(std::string_view token);
  bool Expect(std::string_view token);
  // Accept, only directly after the previous token.
  bool AcceptHere(std::string_view token);
  // `prefix` with a number directly after it.
  bool AcceptNumbered(std::string_view prefix, uint32_t* number);
  char Peek();  // the next character that is not a space; 0 at the end

  bool Word(std::string_view what, std::string* word);
  bool Quoted(std::string_view what, std::string* text);
  bool Name(std::string_view what, std::string* name);  // either
  bool Number(std::string_view what, double* value);
  // "true" or "false".
  bool Bool(bool* value);
  // Two digits a byte, at most `limit` bytes.
  bool Hex(size_t limit, std::string* bytes);

  template <typename T>
  bool Integer(std::string_view what, T* value) {
    SkipSpaces();
    const char* const end = rest_.data() + rest_.size();
    const auto result = std::from_chars(rest_.data(), end, *value);
    if (result.ec != std::errc()) return Fail(what);
    rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    return true;
  }
  // word=integer
  template <typename T>
  bool Field(std::string_view word, T* value) {
    return Expect(word) && Expect("=") && Integer("a number", value);
  }

 private:
  void SkipSpaces();
  bool Escape(std::string* text);

  std::string_view rest_;
  std::string error_;
};

// The position of the first byte that is not part of valid UTF-8; npos: none.
size_t FindInvalidUtf8(std::string_view text);

}  // namespace trnemu::text

#endif  // TRNEMU_ISA_TEXT_LEXER_H_
