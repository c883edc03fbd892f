#include "memory/onchip.h"

#include <sys/mman.h>

#include <new>

namespace trnemu {
namespace {

constexpr ptrdiff_t kPage = 4096;
constexpr ptrdiff_t kCacheLine = 64;

// Consecutive partitions start one cache line further into a page, so that a
// column of 128 elements spreads over all cache sets.
ptrdiff_t PaddedStride(int64_t partition_bytes) {
  const ptrdiff_t pages = (partition_bytes + kPage - 1) / kPage;
  return pages * kPage + kCacheLine;
}

// Zero-filled pages that cost nothing until touched.
void* Reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

}  // namespace

OnChipMemory::OnChipMemory(int64_t partition_bytes)
    : partition_bytes_(partition_bytes),
      stride_(PaddedStride(partition_bytes)) {
  // One mapping for both, so that a failure leaves nothing behind. 128 lines
  // are whole pages, so the shadow starts at one.
  base_ = static_cast<std::byte*>(Reserve(bytes() + shadow_size()));
  shadow_ = WrittenBits(reinterpret_cast<uint64_t*>(shadow_bytes()),
                        static_cast<int64_t>(bytes()));
}

OnChipMemory::~OnChipMemory() { munmap(base_, bytes() + shadow_size()); }

}  // namespace trnemu
