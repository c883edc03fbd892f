#include "memory/hbm.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

constexpr int64_t kAlignment = 64;
static_assert(kAlignment % WrittenBits::kWordBits == 0);
constexpr uintptr_t kPage = 4096;
// Blocks from here on are cleared by giving their pages back.
constexpr int64_t kLarge = 64 << 20;
// Pages below this address stay with the process when a block is freed: the
// next one would pay a page fault for each, which costs more than using them.
constexpr int64_t kKept = 256 << 20;

int64_t Aligned(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment *
         kAlignment;
}

int64_t ShadowBytes(int64_t bytes) { return 8 * WrittenBits::Words(bytes); }

void* Reserve(int64_t bytes) {
  void* memory =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Zeroes [begin, begin + bytes) and gives whole pages back to the host. The
// pages at the two ends may belong to neighbouring blocks too.
void Release(void* begin, int64_t bytes) {
  char* const first = static_cast<char*>(begin);
  char* const last = first + bytes;
  const uintptr_t address = reinterpret_cast<uintptr_t>(first);
  char* const inner = first + ((kPage - address % kPage) % kPage);
  char* const end = last - reinterpret_cast<uintptr_t>(last) % kPage;
  if (inner >= end) {
    std::memset(first, 0, static_cast<size_t>(bytes));
    return;
  }
  std::memset(first, 0, static_cast<size_t>(inner - first));
  std::memset(end, 0, static_cast<size_t>(last - end));
  const size_t inside = static_cast<size_t>(end - inner);
  if (madvise(inner, inside, MADV_DONTNEED) != 0) {
    std::memset(inner, 0, inside);
  }
}

absl::Status CannotReserve(int64_t bytes) {
  const int error = errno;
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "hbm.reserve";
  d.message = absl::StrCat("the host refuses to reserve ", bytes,
                           " bytes of address space for HBM and its shadow (",
                           std::strerror(error), ")");
  d.details = {{"bytes", absl::StrCat(bytes)}};
  d.remedy =
      "raise the address space limit (ulimit -v) or allow overcommit "
      "(vm.overcommit_memory 0 or 1)";
  return ToStatus(std::move(d));
}

}  // namespace

HbmBlock::HbmBlock(HbmBlock&& other) noexcept { *this = std::move(other); }

HbmBlock& HbmBlock::operator=(HbmBlock&& other) noexcept {
  if (this == &other) return *this;
  if (owner_) owner_->Free(address_, size_);
  owner_ = std::move(other.owner_);
  data_ = std::exchange(other.data_, nullptr);
  shadow_ = std::exchange(other.shadow_, WrittenBits());
  address_ = std::exchange(other.address_, 0);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

HbmBlock::~HbmBlock() {
  if (owner_) owner_->Free(address_, size_);
}

void HbmBlock::ClearShadow() {
  if (owner_) owner_->ClearShadow(address_, size_);
}

void HbmBlock::ClearData() {
  if (!owner_) return;
  if (size_ < kLarge) {
    std::memset(data_, 0, static_cast<size_t>(size_));
  } else {
    Release(data_, Aligned(size_));
  }
}

absl::StatusOr<std::shared_ptr<Hbm>> Hbm::Create(int64_t bytes) {
  std::shared_ptr<Hbm> hbm(new Hbm());
  hbm->size_ = std::max<int64_t>(bytes, kAlignment) / kAlignment * kAlignment;
  hbm->gaps_.emplace(0, hbm->size_);
  hbm->base_ = static_cast<std::byte*>(Reserve(hbm->size_));
  if (hbm->base_ != nullptr) {
    hbm->shadow_memory_ = Reserve(ShadowBytes(hbm->size_));
  }
  if (hbm->shadow_memory_ == nullptr) {
    return CannotReserve(hbm->size_ + ShadowBytes(hbm->size_));
  }
  hbm->shadow_ =
      WrittenBits(static_cast<uint64_t*>(hbm->shadow_memory_), hbm->size_);
  return hbm;
}

Hbm::~Hbm() {
  const size_t bytes = static_cast<size_t>(size_);
  if (base_ != nullptr) munmap(base_, bytes);
  if (shadow_memory_ != nullptr) {
    munmap(shadow_memory_, static_cast<size_t>(ShadowBytes(size_)));
  }
}

absl::StatusOr<HbmBlock> Hbm::Allocate(int64_t bytes, Fill fill) {
  const bool sane = bytes >= 0 && bytes <= size_;
  const int64_t wanted = sane ? Aligned(bytes) : size_ + kAlignment;
  int64_t largest = 0;
  auto gap = gaps_.begin();
  for (; gap != gaps_.end() && gap->second < wanted; ++gap) {
    largest = std::max(largest, gap->second);
  }
  if (gap == gaps_.end()) {
    Diagnostic d;
    d.category = Category::kCapacity;
    d.id = "hbm.capacity";
    d.message =
        absl::StrCat(bytes, " bytes do not fit into HBM: ", size_ - used_,
                     " of ", size_, " bytes are free");
    d.details = {{"bytes", absl::StrCat(bytes)},
                 {"free", absl::StrCat(size_ - used_)},
                 {"largest_free_block", absl::StrCat(largest)},
                 {"total", absl::StrCat(size_)}};
    return ToStatus(std::move(d));
  }
  const auto [address, room] = *gap;
  gaps_.erase(gap);
  if (room > wanted) gaps_.emplace(address + wanted, room - wanted);
  used_ += wanted;
  HbmBlock block;
  block.owner_ = shared_from_this();
  block.data_ = base_ + address;
  block.shadow_ = shadow_ + address;
  block.address_ = address;
  block.size_ = bytes;
  if (fill == Fill::kZero && address < left_) {
    std::memset(block.data_, 0, static_cast<size_t>(wanted));
  }
  return block;
}

// The shadow of a large block goes back to the host: writing zeros would make
// it take up memory that nothing has marked. A small one is marked again soon.
void Hbm::ClearShadow(int64_t address, int64_t bytes) {
  if (bytes < kLarge) {
    shadow_.Clear(address, bytes);
  } else {
    shadow_.ClearWith(address, bytes, Release);
  }
}

// What is free has a clear shadow; from left_ on its data is zero, too.
void Hbm::Free(int64_t address, int64_t bytes) {
  const int64_t length = Aligned(bytes);
  if (address + length <= kKept) {
    left_ = std::max(left_, address + length);
  } else {
    Release(base_ + address, length);
  }
  ClearShadow(address, bytes);
  used_ -= length;
  auto next = gaps_.lower_bound(address);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += length;
      next = before;
    }
  }
  if (next == gaps_.end() || next->first > address) {
    next = gaps_.emplace_hint(next, address, length);
  }
  const auto after = std::next(next);
  if (after != gaps_.end() && next->first + next->second == after->first) {
    next->second += after->second;
    gaps_.erase(after);
  }
}

}  // namespace trnemu
