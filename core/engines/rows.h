// Operands as rows: the elements of one partition, in order, as fp32 or bits.
//
// Every element-wise instruction reads whole rows before it writes the same
// partition's result, so that in-place use works. Where source and destination
// overlap otherwise, the device's result is undefined; here it is what reading
// each row first gives, with a warning where it matters (overlap.h).
#ifndef TRNEMU_CORE_ENGINES_ROWS_H_
#define TRNEMU_CORE_ENGINES_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/engines/unsettled_checks.h"
#include "core/execution.h"
#include "core/layout.h"

namespace trnemu {

// Scratch of at least n elements; stays valid until the same index is asked
// for again with a larger n.
float* RowBuffer(CoreState& state, size_t index, int64_t n);
float* MatrixBuffer(CoreState& state, size_t index, int64_t n);
uint32_t* BitsBuffer(CoreState& state, size_t index, int64_t n);

// Reports a warning, unless nobody listens.
void Warn(CoreState& state, Diagnostic diagnostic);
// OK if `fault` is, or if its id is in state.allow: then it is reported, still
// as an error, and the instruction goes on.
absl::Status Admit(CoreState& state, absl::Status fault);
// Admit(state, CheckWritten(...)), without saying it again of an instruction of
// which it was said.
absl::Status AdmitUnwritten(CoreState& state, const Tile& tile,
                            std::string_view operand, int64_t first = 0,
                            int64_t count = -1);
// `unspecified` (cast.packed): no document says what a cast of `tile` gives.
absl::Status PackedHasNoValue(const Tile& tile, std::string_view operand);

// Whether the tiles share bytes. Exact for tiles of one memory with the same
// partitions, else conservative.
bool MayOverlap(const Tile& a, const Tile& b);

class RowReader {
 public:
  RowReader(const Tile& tile, const NumericsOptions& options);
  // The same, and says so (integer.through_fp32) if fp32 does not hold one of
  // its integers, where `matters`.
  RowReader(const Tile& tile, CoreState& state, std::string_view operand,
            bool matters);
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  ~RowReader();

  int64_t size() const { return tile_.free_size; }
  Dtype dtype() const { return tile_.dtype; }
  bool contiguous() const { return contiguous_; }
  std::byte* base(int64_t partition) const {
    return tile_.base + partition * tile_.partition_stride;
  }
  // The row as fp32: in `buffer`, or where it lies if that is what it is.
  const float* Read(int64_t partition, float* buffer) const {
    return in_place_ ? reinterpret_cast<const float*>(base(partition))
                     : ReadInto(partition, buffer);
  }
  const float* ReadInto(int64_t partition, float* buffer) const;
  // The row's bits, zero-extended.
  void ReadBits(int64_t partition, uint32_t* buffer) const;
  // Whether a row is an array of aligned elements of `dtype`, needing no
  // conversion.
  bool IsArrayOf(Dtype dtype) const;
  // Whether Read returns where the row lies.
  bool in_place() const { return in_place_; }

 private:
  void Look(int64_t partition) const;

  const Tile& tile_;
  const NumericsOptions& options_;
  Layout layout_;
  bool contiguous_;
  bool in_place_;
  CoreState* watch_ = nullptr;  // null: nobody asks
  std::string_view operand_;
  mutable Found found_;  // in the lowest partition: they come in any order
};

// A number, or a column with one element a partition.
class ColumnReader {
 public:
  ColumnReader(const Slot& slot, const Operand& operand,
               const NumericsOptions& options)
      : slot_(slot), operand_(operand), options_(options) {}
  // 0 if the operand is absent.
  float At(int64_t partition) const;
  // The element's bits; of a number, the integer modulo 2^32.
  uint32_t BitsAt(int64_t partition) const;
  // The column, null if it is a number.
  const Tile* tile() const {
    return slot_.kind == Operand::Kind::kAccess ? &slot_.tile : nullptr;
  }

 private:
  const Slot& slot_;
  const Operand& operand_;
  const NumericsOptions& options_;
};

class RowWriter {
 public:
  RowWriter(const Tile& tile, std::string_view operand, CoreState& state);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  // Reports what did not fit into the dtype.
  ~RowWriter();

  // Says what the instruction reads: rows are then not computed in place where
  // that could change what is read later.
  void Reads(const Tile& source);
  void Reads(const ColumnReader& source);
  // Calls visit(partition) for each. Where no order can be told from another,
  // every second instruction goes from the last partition to the first: it
  // meets the rows that the one before touched last while they are in a cache.
  template <typename Visit>
  void ForEachPartition(Visit visit) {
    const uint32_t count = tile_.partitions;
    if (AnyOrder()) state_.backwards = !state_.backwards;
    if (AnyOrder() && state_.backwards) {
      for (uint32_t p = count; p-- > 0;) visit(p);
    } else {
      for (uint32_t p = 0; p < count; ++p) visit(p);
    }
  }
  // Where to compute a row: its place, or `buffer`.
  float* Place(int64_t partition, float* buffer) const {
    return in_place_ ? reinterpret_cast<float*>(base(partition)) : buffer;
  }
  // Casts and stores a row that was computed in Place.
  void Write(int64_t partition, const float* row);
  void WriteBits(int64_t partition, const uint32_t* row);
  bool IsArrayOf(Dtype dtype) const;
  bool in_place() const { return in_place_; }
  // Whether rows must be read before any of it is written.
  bool overlaps() const { return overlaps_; }
  std::byte* base(int64_t partition) const {
    return tile_.base + partition * tile_.partition_stride;
  }

 private:
  // Rows do not read each other's results, and no first NaN is reported.
  bool AnyOrder() const { return !overlaps_ && !IsInteger(tile_.dtype); }
  void ReportNan(int64_t partition, const float* row);
  void LookForOverflow(int64_t partition, const float* row);

  const Tile& tile_;
  std::string_view operand_;
  CoreState& state_;
  Layout layout_;
  bool in_place_;
  bool overlaps_ = false;
  bool reported_ = false;
  bool may_overflow_;  // and somebody asks
  Found overflow_;     // in the lowest partition
};

// Casts a number to one element of `dtype`, as its bits: integers exactly
// where they fit, else saturated; other types through fp32.
uint32_t BitsOfNumber(double value, Dtype dtype,
                      const NumericsOptions& options);
// Reports that a NaN was cast to an integer (cast.nan_to_integer).
void WarnNanToInteger(CoreState& state, std::string_view operand,
                      const Tile& tile, int64_t partition, int64_t element);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ROWS_H_
