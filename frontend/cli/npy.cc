#include "frontend/cli/npy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/file.h"

namespace trnemu::npy {
namespace {

using Bytes = std::span<const std::byte>;

// Of a shape that ParseHeader has accepted: it overflows only where a
// dimension is 0.
int64_t Product(std::span<const int64_t> shape) {
  uint64_t size = 1;
  for (const int64_t count : shape) size *= static_cast<uint64_t>(count);
  return static_cast<int64_t>(size);
}

// Fortran order to C order: walks the output in order, with a step per
// dimension through the input.
void Transpose(Bytes in, const Header& header, std::vector<std::byte>& out) {
  const size_t rank = header.shape.size();
  const auto width = static_cast<size_t>(header.type.bytes);
  std::vector<size_t> step(rank);
  size_t next = width;
  for (size_t d = 0; d < rank; ++d) {
    step[d] = next;
    next *= static_cast<size_t>(header.shape[d]);
  }
  out.resize(in.size());
  std::vector<int64_t> at(rank, 0);
  size_t from = 0;
  for (size_t to = 0; to < out.size(); to += width) {
    std::memcpy(out.data() + to, in.data() + from, width);
    for (size_t d = rank; d-- > 0;) {
      from += step[d];
      if (++at[d] < header.shape[d]) break;
      from -= step[d] * static_cast<size_t>(header.shape[d]);
      at[d] = 0;
    }
  }
}

template <typename T>
T Load(Bytes bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T),
              sizeof(T));
  return value;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24)
                               : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : NAN;
  return bits >> 15 ? -value : value;
}

}  // namespace

int64_t Array::size() const { return Product(header_.shape); }

bool Array::IsNumber() const {
  const char kind = header_.type.kind;
  const int64_t n = header_.type.bytes;
  if (header_.type.big_endian && n > 1) return false;
  if (kind == 'f') return n == 2 || n == 4 || n == 8;
  if (kind == 'i' || kind == 'u') return n == 1 || n == 2 || n == 4 || n == 8;
  return kind == 'b' && n == 1;
}

double Array::Number(int64_t i) const {
  const int64_t n = header_.type.bytes;
  switch (header_.type.kind) {
    case 'f':
      if (n == 2) return HalfToDouble(Load<uint16_t>(bytes_, i));
      return n == 4 ? Load<float>(bytes_, i) : Load<double>(bytes_, i);
    case 'i':
      if (n == 1) return Load<int8_t>(bytes_, i);
      if (n == 2) return Load<int16_t>(bytes_, i);
      return n == 4 ? Load<int32_t>(bytes_, i)
                    : static_cast<double>(Load<int64_t>(bytes_, i));
    default:
      if (n == 1) return Load<uint8_t>(bytes_, i);
      if (n == 2) return Load<uint16_t>(bytes_, i);
      return n == 4 ? Load<uint32_t>(bytes_, i)
                    : static_cast<double>(Load<uint64_t>(bytes_, i));
  }
}

absl::StatusOr<Array> Read(const std::string& path) {
  absl::StatusOr<MappedFile> opened = MappedFile::Open(path);
  if (!opened.ok()) return opened.status();
  auto file = std::make_shared<const MappedFile>(*std::move(opened));
  absl::StatusOr<Header> header = ParseHeader(file->bytes(), path);
  if (!header.ok()) return header.status();
  const Bytes data = file->bytes().subspan(header->data_offset);
  if (!header->fortran_order || header->shape.size() < 2) {
    return Array(*std::move(header), std::move(file), data);
  }
  auto converted = std::make_shared<std::vector<std::byte>>();
  Transpose(data, *header, *converted);
  const Bytes bytes = *converted;
  return Array(*std::move(header), std::move(converted), bytes);
}

std::string TypeName(const ElementType& type, const std::string& descr) {
  if (type.big_endian && type.bytes > 1) {
    return absl::StrCat("big-endian ", descr);
  }
  switch (type.kind) {
    case 'b':
      return "bool";
    case 'i':
      return absl::StrCat("int", type.bytes * 8);
    case 'u':
      return absl::StrCat("uint", type.bytes * 8);
    case 'f':
      return type.bytes == 1 ? "float8_e5m2"
                             : absl::StrCat("float", type.bytes * 8);
    case 'c':
      return absl::StrCat("complex", type.bytes * 8);
    case 'V':
      return absl::StrCat("raw (V", type.bytes, ")");
    default:
      return absl::StrCat("\"", descr, "\"");
  }
}

bool Holds(const ElementType& type, Dtype dtype) {
  const auto width = static_cast<int64_t>(SizeOf(dtype));
  if (type.bytes != width || (type.big_endian && width > 1)) return false;
  switch (dtype) {
    case Dtype::kBool:
      return type.kind == 'b';
    case Dtype::kUint8:
    case Dtype::kUint16:
    case Dtype::kUint32:
      return type.kind == 'u';
    case Dtype::kInt8:
    case Dtype::kInt16:
    case Dtype::kInt32:
      return type.kind == 'i';
    case Dtype::kFloat16:
    case Dtype::kFloat32:
    case Dtype::kTFloat32:
      return type.kind == 'f';
    case Dtype::kFloat8E5M2:  // which NumPy writes as f1
      return type.kind == 'V' || type.kind == 'u' || type.kind == 'f';
    default:
      return type.kind == 'V' || type.kind == 'u';
  }
}

std::string DescrOf(Dtype dtype) {
  const size_t width = SizeOf(dtype);
  switch (dtype) {
    case Dtype::kBool:
      return "|b1";
    case Dtype::kFloat16:
    case Dtype::kFloat32:
    case Dtype::kTFloat32:
      return absl::StrCat("<f", width);
    case Dtype::kInt8:
    case Dtype::kInt16:
    case Dtype::kInt32:
      return absl::StrCat(width == 1 ? "|i" : "<i", width);
    case Dtype::kBFloat16:
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E5M2:
    case Dtype::kFloat8E4M3FN:
    case Dtype::kFloat8E8M0FNU:
      return absl::StrCat("|V", width);
    default:  // unsigned, and the packed formats, whose carriers are
      return absl::StrCat(width == 1 ? "|u" : "<u", width);
  }
}

std::string HeaderFor(Dtype dtype, std::span<const int64_t> shape) {
  std::string dict = absl::StrCat("{'descr': '", DescrOf(dtype),
                                  "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&dict, i > 0 ? " " : "", shape[i],
                    i + 1 < shape.size() || shape.size() == 1 ? "," : "");
  }
  dict += "), }";
  // The data starts at a multiple of 64, and the dict ends with a newline.
  constexpr size_t kBefore = 10;  // magic, version, length
  const size_t length = (kBefore + dict.size() + 1 + 63) / 64 * 64 - kBefore;
  dict.resize(length - 1, ' ');
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 255);
  header += static_cast<char>(length >> 8);
  return header + dict + "\n";
}

}  // namespace trnemu::npy
