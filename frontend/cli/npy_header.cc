// The header of a .npy file: magic, version, length, a Python dict literal.
#include <cctype>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "frontend/cli/npy.h"
#include "isa/diagnostic.h"

namespace trnemu::npy {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 20;
constexpr size_t kMaxDimensions = 32;
constexpr int64_t kMaxElement = 1 << 20;

absl::Status Problem(std::string_view id, const std::string& path,
                     const std::string& what) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = absl::StrCat("input.", std::string(id));
  d.message = absl::StrCat(path, ": ", what);
  d.details = {{"file", path}};
  return ToStatus(std::move(d));
}

bool StartsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// Parses the dict. Every method returns false at what it does not expect.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Fills descr, fortran_order and shape; false sets `problem`.
  bool Dict(Header& header);
  std::string problem = "is not the dict that NumPy writes";

 private:
  void Skip() {
    while (at_ < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    }
  }
  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    Skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Text(std::string& value);
  bool Integer(int64_t& value);
  bool Shape(std::vector<int64_t>& shape);
  bool Field(const std::string& key, Header& header);
  bool Fail(std::string_view what) {
    problem = what;
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool Parser::Text(std::string& value) {
  Skip();
  if (at_ >= text_.size()) return false;
  const char quote = text_[at_];
  if (quote != '\'' && quote != '"') return false;
  const size_t end = text_.find(quote, at_ + 1);
  if (end == text_.npos) return false;
  value = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return value.find('\\') == value.npos;
}

bool Parser::Integer(int64_t& value) {
  Skip();
  const size_t first = at_;
  value = 0;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{text_[at_] - '0'}, &value)) {
      return Fail("has a dimension beyond 64 bits");
    }
  }
  const bool found = at_ > first;
  if (found && at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
  return found;
}

bool Parser::Shape(std::vector<int64_t>& shape) {
  shape.clear();
  if (!Take('(')) return false;
  while (!Take(')')) {
    int64_t count = 0;
    Skip();
    if (at_ < text_.size() && text_[at_] == '-') {
      return Fail("has a negative dimension");
    }
    if (!Integer(count)) return false;
    shape.push_back(count);
    if (shape.size() > kMaxDimensions) {
      return Fail("has more than 32 dimensions");
    }
    if (Take(',')) continue;
    return shape.size() > 1 && Take(')');  // "(3)" is not a tuple
  }
  return true;
}

bool Parser::Field(const std::string& key, Header& header) {
  if (key == "descr") {
    Skip();
    if (at_ < text_.size() && text_[at_] == '[') {
      return Fail("names a structured dtype, not one number per element");
    }
    return Text(header.descr);
  }
  if (key == "fortran_order") {
    header.fortran_order = Word("True");
    return header.fortran_order || Word("False");
  }
  if (key == "shape") return Shape(header.shape);
  return false;
}

bool Parser::Dict(Header& header) {
  if (!Take('{')) return false;
  unsigned seen = 0;
  while (!Take('}')) {
    std::string key;
    if (!Text(key) || !Take(':') || !Field(key, header)) return false;
    const unsigned bit = key == "descr" ? 1 : key == "shape" ? 2 : 4;
    if (seen & bit) return false;
    seen |= bit;
    if (Take(',')) continue;
    if (!Take('}')) return false;
    break;
  }
  Skip();
  return seen == 7 && at_ == text_.size();
}

std::optional<ElementType> ParseDescr(const std::string& descr) {
  ElementType type;
  size_t at = 0;
  if (at < descr.size() && std::strchr("<>|=", descr[at]) != nullptr) {
    type.big_endian = descr[at] == '>';
    ++at;
  }
  if (at >= descr.size() || std::strchr("?biufcmMOSUVa", descr[at]) == nullptr)
    return std::nullopt;
  type.kind = descr[at++];
  if (type.kind == '?') {
    type.kind = 'b';
    type.bytes = 1;
    return at == descr.size() ? std::optional(type) : std::nullopt;
  }
  if (type.kind == 'O') {  // whatever follows, its elements are pickled
    type.bytes = 8;
    return type;
  }
  for (; at < descr.size() && descr[at] >= '0' && descr[at] <= '9'; ++at) {
    type.bytes = type.bytes * 10 + (descr[at] - '0');
    if (type.bytes > kMaxElement) return std::nullopt;
  }
  // Dates have a unit in brackets.
  const bool date = type.kind == 'm' || type.kind == 'M';
  if (type.bytes < 1 || (at != descr.size() && !date)) return std::nullopt;
  return type;
}

absl::Status WrongMagic(Bytes file, const std::string& path) {
  if (file.empty()) return Problem("not_npy", path, "the file is empty");
  if (StartsWith(file, "PK\x03\x04")) {
    return Problem("not_npy", path,
                   "this is an .npz archive; save each array on its own with "
                   "numpy.save");
  }
  if (file.size() < kMagic.size() &&
      StartsWith(file, kMagic.substr(0, file.size()))) {
    return Problem(
        "truncated", path,
        absl::StrCat("the file is truncated: it ends after ", file.size(),
                     " bytes, inside its magic "
                     "number"));
  }
  return Problem("not_npy", path,
                 "this is not a .npy file: it does not start with \"\\x93NUMPY"
                 "\"; write it with numpy.save");
}

size_t Little(Bytes file, size_t at, size_t bytes) {
  size_t value = 0;
  for (size_t i = bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<size_t>(file[at + i]);
  }
  return value;
}

// Finds the dict: fills data_offset.
absl::StatusOr<std::string_view> FindDict(Bytes file, const std::string& path,
                                          Header& header) {
  if (!StartsWith(file, kMagic)) return WrongMagic(file, path);
  const size_t version_end = kMagic.size() + 2;
  if (file.size() < version_end) {
    return Problem("truncated", path,
                   "the file is truncated: it ends before its version");
  }
  const auto major = std::to_integer<int>(file[kMagic.size()]);
  if (major < 1 || major > 3) {
    return Problem("not_npy", path,
                   absl::StrCat("version ", major,
                                " of the .npy format is not known; 1, 2 and 3 "
                                "are"));
  }
  const size_t width = major == 1 ? 2 : 4;
  const size_t start = version_end + width;
  if (file.size() < start) {
    return Problem("truncated", path,
                   "the file is truncated: it ends inside its header");
  }
  const size_t length = Little(file, version_end, width);
  if (length > kMaxHeader) {
    return Problem("not_npy", path,
                   absl::StrCat("its header claims ", length,
                                " bytes, more than any array needs"));
  }
  if (length > file.size() - start) {
    return Problem(
        "truncated", path,
        absl::StrCat("the file is truncated: its header needs ", length,
                     " bytes, and ", file.size() - start, " are left"));
  }
  header.data_offset = start + length;
  return std::string_view(reinterpret_cast<const char*>(file.data()) + start,
                          length);
}

absl::Status CheckLength(Bytes file, const std::string& path, Header& header) {
  // An empty array has no bytes, whatever its other dimensions are.
  bool empty = false;
  for (const int64_t count : header.shape) empty = empty || count == 0;
  int64_t bytes = empty ? 0 : header.type.bytes;
  for (const int64_t count : header.shape) {
    if (__builtin_mul_overflow(bytes, count, &bytes)) {
      return Problem("shape", path, "its header claims more than 2^63 bytes");
    }
  }
  const auto have = static_cast<int64_t>(file.size() - header.data_offset);
  if (have < bytes) {
    return Problem("truncated", path,
                   absl::StrCat("the file is truncated: its array needs ",
                                bytes, " bytes, and ", have, " are there"));
  }
  if (have > bytes) {
    return Problem("trailing", path,
                   absl::StrCat("its array has ", bytes, " bytes, but ", have,
                                " are there; a file holds one array"));
  }
  header.data_bytes = bytes;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Header> ParseHeader(Bytes file, const std::string& path) {
  Header header;
  const auto dict = FindDict(file, path, header);
  if (!dict.ok()) return dict.status();
  Parser parser(*dict);
  if (!parser.Dict(header)) {
    return Problem("not_npy", path,
                   absl::StrCat("its header ", parser.problem));
  }
  const auto type = ParseDescr(header.descr);
  if (!type) {
    return Problem(
        "dtype", path,
        absl::StrCat("its dtype \"", header.descr, "\" is not one of NumPy's"));
  }
  if (type->kind == 'O') {
    return Problem("dtype", path,
                   "it holds pickled Python objects, which trnemu does not "
                   "load; convert the array to a numeric dtype");
  }
  header.type = *type;
  if (absl::Status s = CheckLength(file, path, header); !s.ok()) return s;
  return header;
}

}  // namespace trnemu::npy
