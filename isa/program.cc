#include "isa/program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/saturating.h"

namespace trnemu {
namespace {

class OwnedData : public DataSection {
 public:
  explicit OwnedData(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> bytes() const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

int64_t Product(std::span<const int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape) product = SaturatingMultiply(product, extent);
  return product;
}

int64_t BytesOf(int64_t elements, Dtype dtype) {
  if (!IsValid(dtype)) return 0;
  return SaturatingMultiply(elements, static_cast<int64_t>(SizeOf(dtype)));
}

}  // namespace

int64_t Tensor::size() const { return Product(shape); }

int64_t Tensor::nbytes() const { return BytesOf(size(), dtype); }

int64_t Tensor::bytes_per_partition() const {
  const std::span<const int64_t> extents = shape;
  if (extents.empty()) return 0;
  return BytesOf(Product(extents.subspan(1)), dtype);
}

int64_t CoreProgram::num_instructions() const {
  int64_t total = 0;
  for (const auto& stream : streams) {
    total += static_cast<int64_t>(stream.size());
  }
  return total;
}

int64_t Program::num_instructions() const {
  int64_t total = 0;
  for (const CoreProgram& core : cores) total += core.num_instructions();
  return total;
}

std::string Program::DescribeSource(uint32_t source) const {
  if (source >= sources.size()) return "";
  const SourceLocation& where = sources[source];
  std::string text = absl::StrCat(
      where.file < files.size() ? files[where.file] : std::string("?"), ":",
      where.line);
  if (!where.function.empty()) absl::StrAppend(&text, " in ", where.function);
  return text;
}

const Tensor* Program::FindTensor(std::string_view tensor_name) const {
  const auto it = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const Tensor& tensor) { return tensor.name == tensor_name; });
  return it == tensors.end() ? nullptr : &*it;
}

std::shared_ptr<const DataSection> OwnData(std::vector<std::byte> bytes) {
  return std::make_shared<OwnedData>(std::move(bytes));
}

}  // namespace trnemu
