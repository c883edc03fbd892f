#include "isa/text_lexer.h"

#include <bit>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "isa/text_internal.h"

namespace trnemu::text {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte of the two digits at the start; -1 if they are not there.
int HexByte(std::string_view text) {
  if (text.size() < 2) return -1;
  const int high = HexDigit(text[0]);
  const int low = HexDigit(text[1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

void Lexer::SkipSpaces() {
  while (!rest_.empty() &&
         absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
    rest_.remove_prefix(1);
  }
}

bool Lexer::Fail(std::string_view expected) {
  constexpr size_t kQuoted = 24;
  if (!error_.empty()) return false;
  const std::string found =
      AtEnd() ? "the end of the line"
              : absl::StrCat("`", std::string(rest_.substr(0, kQuoted)),
                             rest_.size() > kQuoted ? "...`" : "`");
  error_ = absl::StrCat("expected ", std::string(expected), ", found ", found);
  return false;
}

bool Lexer::AtEnd() {
  SkipSpaces();
  return rest_.empty() || rest_[0] == ';';
}

char Lexer::Peek() { return AtEnd() ? '\0' : rest_[0]; }

bool Lexer::AcceptHere(std::string_view token) {
  if (rest_.substr(0, token.size()) != token) return false;
  rest_.remove_prefix(token.size());
  return true;
}

bool Lexer::Accept(std::string_view token) {
  SkipSpaces();
  return AcceptHere(token);
}

bool Lexer::AcceptNumbered(std::string_view prefix, uint32_t* number) {
  SkipSpaces();
  if (rest_.size() <= prefix.size() || HexDigit(rest_[prefix.size()]) < 0 ||
      HexDigit(rest_[prefix.size()]) > 9 || !AcceptHere(prefix)) {
    return false;
  }
  return Integer("a number", number);
}

bool Lexer::Expect(std::string_view token) {
  return Accept(token) || Fail(absl::StrCat("`", std::string(token), "`"));
}

bool Lexer::Word(std::string_view what, std::string* word) {
  SkipSpaces();
  size_t n = 0;
  while (n < rest_.size() && IsPlain(rest_.substr(0, n + 1))) ++n;
  if (n == 0) return Fail(what);
  *word = std::string(rest_.substr(0, n));
  rest_.remove_prefix(n);
  return true;
}

bool Lexer::Escape(std::string* text) {
  if (AcceptHere("\"")) {
    text->push_back('"');
  } else if (AcceptHere("\\")) {
    text->push_back('\\');
  } else if (AcceptHere("x")) {
    const int byte = HexByte(rest_);
    if (byte < 0 || byte > 0x7f) return Fail("two hex digits up to 7f");
    text->push_back(static_cast<char>(byte));
    rest_.remove_prefix(2);
  } else {
    return Fail("one of \" \\ x after a backslash");
  }
  return true;
}

bool Lexer::Quoted(std::string_view what, std::string* text) {
  if (!Accept("\"")) return Fail(what);
  text->clear();
  while (!AcceptHere("\"")) {
    if (rest_.empty()) return Fail("a closing quote");
    if (AcceptHere("\\")) {
      if (!Escape(text)) return false;
    } else {
      text->push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
  }
  return true;
}

bool Lexer::Name(std::string_view what, std::string* name) {
  return Peek() == '"' ? Quoted(what, name) : Word(what, name);
}

bool Lexer::Number(std::string_view what, double* value) {
  if (Accept("nan")) {
    uint64_t bits = 0x7ff8000000000000;
    if (AcceptHere(":")) {
      const char* const end = rest_.data() + rest_.size();
      const auto result = std::from_chars(rest_.data(), end, bits, 16);
      if (result.ec != std::errc() ||
          !std::isnan(std::bit_cast<double>(bits))) {
        return Fail("the bits of a NaN");
      }
      rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    }
    *value = std::bit_cast<double>(bits);
    return true;
  }
  return Integer(what, value);
}

bool Lexer::Bool(bool* value) {
  *value = Accept("true");
  return *value || Accept("false") || Fail("`true` or `false`");
}

bool Lexer::Hex(size_t limit, std::string* bytes) {
  SkipSpaces();
  for (size_t n = 0; n < limit; ++n) {
    const int byte = HexByte(rest_);
    if (byte < 0) {
      return Fail(absl::StrCat(limit, " bytes in hex, two digits each"));
    }
    bytes->push_back(static_cast<char>(byte));
    rest_.remove_prefix(2);
  }
  return true;
}

size_t FindInvalidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    size_t length = 1;
    if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
    } else if (lead >= 0x80) {
      return i;
    }
    if (length > text.size() - i) return i;
    uint32_t code = lead & (0xff >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return i;
      code = code << 6 | (next & 0x3f);
    }
    if ((length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (length == 4 && (code < 0x10000 || code > 0x10ffff))) {
      return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace trnemu::text
