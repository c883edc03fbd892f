// SBUF or PSUM of one core: 128 partitions of the generation's size.
//
// The stride between partitions is padded, since a power-of-two-like stride
// makes the same element of all partitions fall into the same cache sets
// (measured 2 to 2.5 times slower).
#ifndef TRNEMU_MEMORY_ONCHIP_H_
#define TRNEMU_MEMORY_ONCHIP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/written_bits.h"

namespace trnemu {

inline constexpr int kPartitions = 128;

class OnChipMemory {
 public:
  // Zero-filled, page-aligned, touched only where used.
  explicit OnChipMemory(int64_t partition_bytes);
  ~OnChipMemory();
  OnChipMemory(const OnChipMemory&) = delete;
  OnChipMemory& operator=(const OnChipMemory&) = delete;

  int64_t partition_bytes() const { return partition_bytes_; }
  ptrdiff_t stride() const { return stride_; }
  std::byte* at(int64_t partition, int64_t byte) {
    return base_ + partition * stride_ + byte;
  }
  // The bit of the same byte: set once written in this run.
  WrittenBits shadow_at(int64_t partition, int64_t byte) {
    return shadow_ + (partition * stride_ + byte);
  }

 private:
  size_t bytes() const { return static_cast<size_t>(stride_) * kPartitions; }
  std::byte* shadow_bytes() { return base_ + bytes(); }
  size_t shadow_size() const {
    return static_cast<size_t>(
        8 * WrittenBits::Words(static_cast<int64_t>(bytes())));
  }

  int64_t partition_bytes_;
  ptrdiff_t stride_;
  std::byte* base_ = nullptr;
  WrittenBits shadow_;
};

}  // namespace trnemu

#endif  // TRNEMU_MEMORY_ONCHIP_H_
