#include "core/dynamic.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {

Tile Moved(const Tile& tile, int64_t bytes) {
  Tile t = tile;
  t.base += bytes;
  if (t.shadow.tracked()) t.shadow += bytes;
  if (t.psum_state.tracked()) {
    t.psum_state += (t.address + bytes) / 2 - t.address / 2;
  }
  t.address += bytes;
  return t;
}

int64_t IndexAt(const Tile& tile, int64_t p, int64_t j) {
  const std::byte* at = tile.base + p * tile.partition_stride;
  for (int d = tile.rank - 1; d >= 0 && j > 0; --d) {
    at += j % tile.dims[d].count * tile.dims[d].step;
    j /= tile.dims[d].count;
  }
  uint32_t word = 0;
  std::memcpy(&word, at, SizeOf(tile.dtype));
  switch (tile.dtype) {
    case Dtype::kInt32:
      return static_cast<int32_t>(word);
    case Dtype::kInt16:
      return static_cast<int16_t>(word);
    default:
      return word;
  }
}

absl::Status IndexReader::CheckIndexWritten(int64_t count) {
  if (!state_.check_memory) return absl::OkStatus();
  const std::string what = absl::StrCat("the index of ", std::string(operand_));
  const int64_t columns = index_.free_size;
  if (columns == 1 || count >= index_.partitions * columns) {
    return AdmitUnwritten(state_, index_, what, 0, columns * count);
  }
  absl::Status status;
  for (int64_t w = 0; w < count && status.ok(); ++w) {
    const int64_t at = w % index_.partitions * columns + w / index_.partitions;
    status = AdmitUnwritten(state_, index_, what, at, 1);
  }
  return status;
}

absl::Status IndexReader::Place(int64_t value, int64_t position,
                                int64_t element_bytes, int64_t& bytes) const {
  if (value >= 0 && value < indirection_.limit) {
    bytes = value * indirection_.step * element_bytes;
    return absl::OkStatus();
  }
  if (mode_ == OobMode::kSkip) {
    bytes = kNoRow;
    return absl::OkStatus();
  }
  const bool one = indirection_.is_scalar();
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = "access.dynamic_out_of_bounds";
  d.operand = std::string(operand_);
  d.message = absl::StrCat(std::string(operand_), ": index ", value,
                           one ? "" : absl::StrCat(" at position ", position),
                           " is outside 0 to ", indirection_.limit - 1,
                           " of dimension ", static_cast<int>(indirection_.dim),
                           " of '", std::string(tensor_), "'");
  d.details = {{"index", absl::StrCat(value)},
               {"position", absl::StrCat(position)},
               {"limit", absl::StrCat(indirection_.limit)}};
  if (indirection_.kind == IndirectionKind::kScalarRegister) {
    d.details.emplace_back("register", absl::StrCat("r", indirection_.reg));
  } else {
    d.details.emplace_back(
        "index_partition",
        absl::StrCat(index_.first_partition +
                     (one ? 0 : position % index_.partitions)));
  }
  d.remedy =
      "keep indices inside, or use oob_mode=\"skip\" where the operation has "
      "it";
  d.reference = "nki/api/nki/isa/__init__.py:375";
  return ToStatus(std::move(d));
}

absl::Status IndexReader::ReadScalar(int64_t element_bytes, int64_t& bytes) {
  if (indirection_.kind != IndirectionKind::kScalarRegister) {
    absl::Status status = CheckIndexWritten(1);
    if (!status.ok()) return status;
    return Place(IndexAt(index_, 0, 0), 0, element_bytes, bytes);
  }
  return Place(registers_[indirection_.reg], 0, element_bytes, bytes);
}

absl::Status IndexReader::ReadRows(int64_t element_bytes, int64_t count,
                                   std::vector<int64_t>& bytes) {
  absl::Status status = CheckIndexWritten(count);
  bytes.resize(static_cast<size_t>(count));
  const int64_t partitions = index_.partitions;
  for (int64_t w = 0; w < count && status.ok(); ++w) {
    status = Place(IndexAt(index_, w % partitions, w / partitions), w,
                   element_bytes, bytes[static_cast<size_t>(w)]);
  }
  return status;
}

absl::Status IndexReader::ReadOffsets(int64_t element_bytes, int64_t partitions,
                                      int64_t count, int64_t group,
                                      std::vector<int64_t>& bytes) {
  // An element at a time: a list may be shorter than the index tile.
  absl::Status status;
  const std::string what = absl::StrCat("the index of ", std::string(operand_));
  bytes.resize(static_cast<size_t>(partitions * count));
  for (int64_t p = 0; p < partitions && status.ok(); ++p) {
    int64_t* row = bytes.data() + p * count;
    if (p % group != 0) {
      std::copy_n(row - count, count, row);
      continue;
    }
    for (int64_t i = 0; i < count && status.ok(); ++i) {
      if (state_.check_memory) {
        const int64_t at = (p + i % group) * index_.free_size + i / group;
        status = AdmitUnwritten(state_, index_, what, at, 1);
        if (!status.ok()) break;
      }
      status = Place(IndexAt(index_, p + i % group, i / group), p + i % group,
                     element_bytes, row[i]);
    }
  }
  return status;
}

}  // namespace trnemu
