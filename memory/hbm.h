// The HBM a core can address: reserved whole, touched only where used.
#ifndef TRNEMU_MEMORY_HBM_H_
#define TRNEMU_MEMORY_HBM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "memory/written_bits.h"

namespace trnemu {

// A region [address, address + bytes) of HBM, freed when destroyed. Keeps the
// memory alive.
class Hbm;
class HbmBlock {
 public:
  HbmBlock() = default;
  HbmBlock(HbmBlock&& other) noexcept;
  HbmBlock& operator=(HbmBlock&& other) noexcept;
  ~HbmBlock();
  std::byte* data() const { return lent_ != nullptr ? lent_ : data_; }
  // Until it is called with null, the block's bytes are those at `data`.
  void Lend(std::byte* data) { lent_ = data; }
  // Which of its bytes have been written.
  WrittenBits shadow() const { return shadow_; }
  void ClearShadow();
  void ClearData();  // zeroes it
  int64_t size() const { return size_; }
  int64_t address() const { return address_; }

 private:
  friend class Hbm;
  std::shared_ptr<Hbm> owner_;
  std::byte* data_ = nullptr;
  std::byte* lent_ = nullptr;
  WrittenBits shadow_;
  int64_t address_ = 0;
  int64_t size_ = 0;
};

// First-fit allocation of 64-byte aligned blocks. Not thread-safe.
class Hbm : public std::enable_shared_from_this<Hbm> {
 public:
  // Reserves address space; `limit` if the host refuses even that.
  static absl::StatusOr<std::shared_ptr<Hbm>> Create(int64_t bytes);
  ~Hbm();
  enum class Fill { kZero, kAny };  // kAny: what a block before it left
  // Its shadow is clear. `capacity` when it does not fit, with size, free and
  // total.
  absl::StatusOr<HbmBlock> Allocate(int64_t bytes, Fill fill = Fill::kZero);
  int64_t size() const { return size_; }
  int64_t used() const { return used_; }

 private:
  friend class HbmBlock;
  Hbm() = default;
  void Free(int64_t address, int64_t bytes);
  void ClearShadow(int64_t address, int64_t bytes);
  std::byte* base_ = nullptr;
  // One bit a byte of memory; blocks are aligned to a word of it.
  void* shadow_memory_ = nullptr;
  WrittenBits shadow_;
  int64_t size_ = 0;
  int64_t used_ = 0;
  int64_t left_ = 0;  // below it, what is free may hold what a block left
  std::map<int64_t, int64_t> gaps_;  // address -> bytes, free, never adjacent
};

}  // namespace trnemu

#endif  // TRNEMU_MEMORY_HBM_H_
