// NumPy's .npy files: versions 1 to 3, read without trusting them.
//
// A problem is of category input, a sentence of its own that names the file.
// Only what a device can hold is accepted when an array is matched with a
// tensor: little-endian numbers of 8 to 32 bits. C order is used in place
// (the file stays mapped); Fortran order is converted.
#ifndef TRNEMU_FRONTEND_CLI_NPY_H_
#define TRNEMU_FRONTEND_CLI_NPY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/dtype.h"

namespace trnemu::npy {

// What the header's `descr` says: "<f4" is {'f', 4}.
struct ElementType {
  char kind = 0;  // b i u f c V O S U ..., as NumPy has it
  int64_t bytes = 0;
  bool big_endian = false;
};

struct Header {
  std::string descr;
  ElementType type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;  // in the file
  int64_t data_bytes = 0;  // shape times element, to the end of the file
};

// An array of a file; little-endian, C order.
class Array {
 public:
  Array(Header header, std::shared_ptr<const void> owner,
        std::span<const std::byte> bytes)
      : header_(std::move(header)), owner_(std::move(owner)), bytes_(bytes) {}

  const std::vector<int64_t>& shape() const { return header_.shape; }
  const ElementType& type() const { return header_.type; }
  const std::string& descr() const { return header_.descr; }
  std::span<const std::byte> bytes() const { return bytes_; }
  int64_t size() const;
  // Element `i` as a number; exact but for integers above 2^53. Only for
  // IsNumber().
  double Number(int64_t i) const;
  bool IsNumber() const;

 private:
  Header header_;
  std::shared_ptr<const void> owner_;  // keeps bytes_ valid
  std::span<const std::byte> bytes_;
};

// The header of a whole file in memory. `path` is for messages.
absl::StatusOr<Header> ParseHeader(std::span<const std::byte> file,
                                   const std::string& path);
absl::StatusOr<Array> Read(const std::string& path);

// "float64" for {'f', 8}; the descr itself for what has no such name.
std::string TypeName(const ElementType& type, const std::string& descr);

// Whether an array of that type holds a tensor of `dtype`: the same format,
// or, for formats that .npy cannot name, raw or unsigned elements as wide.
bool Holds(const ElementType& type, Dtype dtype);

// The bytes before the data in a version 1 file that holds `dtype`: "|V2" for
// bfloat16, "|V1" for the 8-bit formats.
std::string HeaderFor(Dtype dtype, std::span<const int64_t> shape);
// The descr that HeaderFor writes.
std::string DescrOf(Dtype dtype);

}  // namespace trnemu::npy

#endif  // TRNEMU_FRONTEND_CLI_NPY_H_
