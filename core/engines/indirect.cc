#include "core/engines/indirect.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/dynamic.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

constexpr size_t kMaxOperands = 20;

// One operand: its elements in memory, and their scratch.
class Gathered {
 public:
  Gathered(const Tile& tile, Role role, IndirectScratch& scratch)
      : tile_(tile),
        role_(role),
        size_(static_cast<int64_t>(SizeOf(tile.dtype))),
        count_(tile.free_size),
        scratch_(scratch) {
    // In PSUM elements of one byte would share an entry of its state.
    step_ = tile.space == Space::kPsum ? std::max<int64_t>(size_, 2) : size_;
    constexpr int64_t kLine = 64;
    stride_ = (count_ * step_ + kLine - 1) / kLine * kLine;
    Grow(scratch_.bytes, stride_ * tile.partitions);
    Grow(scratch_.written, WrittenBits::Words(stride_ * tile.partitions));
    Grow(scratch_.psum_state, PsumState::Words(Entries()));
  }

  // The scratch as an operand.
  Tile Place() const {
    Tile t = tile_;
    t.base = scratch_.bytes.data();
    // What is only read has been checked where it lies.
    t.shadow = tile_.shadow.tracked() && role_ != Role::kIn ? Written()
                                                            : WrittenBits();
    t.partition_stride = stride_;
    t.address = 0;
    t.rank = 1;
    t.dims[0] = {step_, count_};
    t.contiguous = step_ == size_;
    t.psum_state = tile_.psum_state.tracked() ? PsumWriters() : PsumState();
    t.psum_state_stride = stride_ / 2;
    return t;
  }

  absl::Status CheckElements(std::string_view operand, CoreState& state) const {
    if (role_ != Role::kIn || !state.check_memory) return absl::OkStatus();
    absl::Status status;
    ForEach([&](const Tile& element, int64_t) {
      if (status.ok()) status = AdmitUnwritten(state, element, operand);
    });
    return status;
  }

  void Load() const {
    const WrittenBits written = Written();
    std::fill(scratch_.written.begin(), scratch_.written.end(), 0);
    ForEach([&](const Tile& element, int64_t at) {
      std::memcpy(scratch_.bytes.data() + at, element.base, Bytes());
      if (element.psum_state.tracked()) {
        PsumWriters().Mark(at / 2, (size_ + 1) / 2,
                           PsumWriterAt(element, 0, 0));
      }
      if (element.shadow.tracked() && element.shadow.AllSet(0, size_)) {
        written.Set(at, size_);
      }
    });
  }

  void Store() const {
    if (role_ == Role::kIn) return;
    const WrittenBits written = Written();
    ForEach([&](const Tile& element, int64_t at) {
      std::memcpy(element.base, scratch_.bytes.data() + at, Bytes());
      if (element.shadow.tracked() && written.AllSet(at, size_)) {
        element.shadow.Set(0, size_);
      }
      if (element.psum_state.tracked()) {
        MarkPsum(element, PsumWriters()[at / 2]);
      }
    });
  }

  void WarnOfDuplicates(std::string_view operand, CoreState& state) const {
    if (role_ == Role::kIn) return;
    std::vector<int64_t> row;
    for (int64_t p = 0; p < tile_.partitions; ++p) {
      const int64_t* const offsets = scratch_.offsets.data() + p * count_;
      row.assign(offsets, offsets + count_);
      std::sort(row.begin(), row.end());
      const auto twice = std::adjacent_find(row.begin(), row.end());
      if (twice == row.end()) continue;
      Diagnostic d;
      d.category = Category::kUnspecified;
      d.id = "access.duplicate_elements";
      d.operand = std::string(operand);
      d.message = absl::StrCat(
          std::string(operand), ": two offsets are the same, byte ", *twice,
          " of partition ", tile_.first_partition + p,
          ": no document says which of the two elements stays");
      d.remedy = "use every offset once";
      Warn(state, std::move(d));
      return;
    }
  }

 private:
  template <typename T>
  static void Grow(std::vector<T>& buffer, int64_t n) {
    if (buffer.size() < static_cast<size_t>(n)) {
      buffer.resize(static_cast<size_t>(n));
    }
  }
  int64_t Entries() const { return stride_ * tile_.partitions / 2; }
  PsumState PsumWriters() const {
    return PsumState(scratch_.psum_state.data(), Entries());
  }
  WrittenBits Written() const {
    return WrittenBits(scratch_.written.data(), stride_ * tile_.partitions);
  }
  size_t Bytes() const { return static_cast<size_t>(size_); }

  // Calls visit(element as a tile, byte of the scratch).
  template <typename Visit>
  void ForEach(Visit visit) const {
    Tile row = tile_;
    row.partitions = 1;
    row.rank = 1;
    row.dims[0] = {0, 1};
    row.free_size = 1;
    for (int64_t p = 0; p < tile_.partitions; ++p) {
      for (int64_t i = 0; i < count_; ++i) {
        visit(Moved(row, scratch_.offsets[static_cast<size_t>(p * count_ + i)]),
              p * stride_ + i * step_);
      }
      row.base += tile_.partition_stride;
      if (row.shadow.tracked()) row.shadow += tile_.partition_stride;
      if (row.psum_state.tracked()) row.psum_state += tile_.psum_state_stride;
      ++row.first_partition;
    }
  }

  const Tile& tile_;
  const Role role_;
  const int64_t size_;
  const int64_t count_;
  IndirectScratch& scratch_;
  int64_t step_ = 0;
  int64_t stride_ = 0;
};

}  // namespace

std::vector<int64_t>& OffsetsBuffer(CoreState& state, size_t o) {
  return state.indirect[o].offsets;
}

absl::Status ExecuteIndirect(Opcode opcode, const ExecuteArgs& args,
                             CoreState& state) {
  const auto specs = Info(opcode).operands;
  std::array<Slot, kMaxOperands> slots;
  std::copy(args.slots.begin(), args.slots.end(), slots.begin());
  std::vector<Gathered> gathered;
  for (size_t o = 0; o < args.slots.size(); ++o) {
    if (args.slots[o].indirection == nullptr) continue;
    gathered.emplace_back(args.slots[o].tile, specs[o].role, state.indirect[o]);
    absl::Status status = gathered.back().CheckElements(specs[o].name, state);
    if (!status.ok()) return status;
    gathered.back().Load();
    slots[o].tile = gathered.back().Place();
    slots[o].indirection = nullptr;
    gathered.back().WarnOfDuplicates(specs[o].name, state);
  }
  ExecuteArgs scratch = args;
  scratch.slots = {slots.data(), args.slots.size()};
  absl::Status status = ExecuteOf(opcode)(scratch, state);
  if (!status.ok()) return status;
  for (const Gathered& g : gathered) g.Store();
  return absl::OkStatus();
}

}  // namespace trnemu
