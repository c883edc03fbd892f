// PartitionReduce, SequenceBounds, NonzeroWithCount.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// ---- PartitionReduce ----
//
// One partition after the other, from the first on, in fp32; average divides
// the sum by the number of partitions; one cast at the end. Bitwise operations
// see raw bits. [all assumed: documents give only the names]

bool IsBitwise(PartitionOp op) {
  return op == PartitionOp::kBitwiseOr || op == PartitionOp::kBitwiseAnd;
}

void ReduceBits(PartitionOp op, const Tile& data, RowWriter& writer,
                CoreState& state) {
  const RowReader reader(data, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  uint32_t* const result = BitsBuffer(state, 0, data.free_size);
  uint32_t* const row = BitsBuffer(state, 1, data.free_size);
  std::byte* const bytes = reinterpret_cast<std::byte*>(result);
  const AluOp alu =
      op == PartitionOp::kBitwiseOr ? AluOp::kBitwiseOr : AluOp::kBitwiseAnd;
  reader.ReadBits(0, result);
  for (uint32_t p = 1; p < data.partitions; ++p) {
    reader.ReadBits(p, row);
    BitvecRows(alu, 4, bytes, reinterpret_cast<const std::byte*>(row), n,
               bytes);
  }
  writer.WriteBits(0, result);
}

void DivideRow(float divisor, size_t n, float* row) {
  for (size_t i = 0; i < n; ++i) {
    const float quotient = row[i] / divisor;
    row[i] = quotient == quotient ? quotient
                                  : std::numeric_limits<float>::quiet_NaN();
  }
}

// fp32 holds every whole number up to here, where 2^24 + 1 ends, too.
constexpr float kExact = 16777216;

// Of 32-bit integers that leave fp32's exact range, or whose sum may.
void WarnInexact(const Tile& data, const float* magnitudes, CoreState& state) {
  const float* const end = magnitudes + data.free_size;
  const float* const at =
      std::find_if(magnitudes, end, [](float sum) { return sum >= kExact; });
  if (at == end) return;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "tensor_partition_reduce.int32";
  d.operand = "data";
  d.message = absl::StrCat(
      "data is ", std::string(Name(data.dtype)),
      " and reaches 2^24 where element ", at - magnitudes,
      " of its partitions is reduced: no document says whether gpsimd reduces "
      "integers as such or in fp32, which rounds there and was taken");
  d.details = {{"element", absl::StrCat(at - magnitudes)},
               {"dtype", std::string(Name(data.dtype))}};
  d.remedy = "keep 32-bit integers below 2^24, or add rows with tensor_tensor";
  d.reference = "nki/api/nki/isa/__init__.py:1246";
  Warn(state, std::move(d));
}

// Warns if 32-bit integers are reduced beyond what fp32 holds exactly.
void CheckMagnitudes(BinaryRow combine, const Tile& data, CoreState& state) {
  if (data.dtype != Dtype::kInt32 && data.dtype != Dtype::kUint32) return;
  const RowReader reader(data, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  float* const row = RowBuffer(state, 0, data.free_size);
  float* const magnitudes = RowBuffer(state, 1, data.free_size);
  std::fill_n(magnitudes, n, 0.0f);
  for (uint32_t p = 0; p < data.partitions; ++p) {
    reader.ReadInto(p, row);
    for (size_t i = 0; i < n; ++i) row[i] = std::abs(row[i]);
    combine(magnitudes, row, n, magnitudes);
  }
  WarnInexact(data, magnitudes, state);
}

void ReduceFloats(PartitionOp op, const Tile& data, RowWriter& writer,
                  CoreState& state) {
  const RowReader reader(data, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  const BinaryRow combine =
      BinaryRowOf(op == PartitionOp::kMaximum ? AluOp::kMaximum : AluOp::kAdd);
  CheckMagnitudes(combine, data, state);
  float* const result = RowBuffer(state, 0, data.free_size);
  float* const row = RowBuffer(state, 1, data.free_size);
  reader.ReadInto(0, result);
  for (uint32_t p = 1; p < data.partitions; ++p) {
    combine(result, reader.Read(p, row), n, result);
  }
  if (op == PartitionOp::kAverage) {
    DivideRow(static_cast<float>(data.partitions), n, result);
  }
  writer.Write(0, result);
}

// ---- SequenceBounds ----

// Bits that are equal where the ids are, and 0 where they are 0.
void ReadIds(const Tile& ids, uint32_t* words, CoreState& state) {
  const RowReader reader(ids, state.numerics);
  if (ids.dtype == Dtype::kInt32) return reader.ReadBits(0, words);
  float* const row = RowBuffer(state, 0, ids.free_size);
  reader.ReadInto(0, row);
  for (int64_t i = 0; i < ids.free_size; ++i) {
    words[i] = row[i] == 0 ? 0 : std::bit_cast<uint32_t>(row[i]);
  }
}

// A whole number, at least 0 (nki/api/nki/isa/__init__.py:2439).
bool IsSegmentId(Dtype dtype, uint32_t word) {
  if (dtype == Dtype::kInt32) return word <= 0x7FFFFFFFu;
  const float id = std::bit_cast<float>(word);
  return id >= 0 && id <= std::numeric_limits<float>::max() &&
         id == std::trunc(id);
}

absl::Status CheckIds(const Tile& ids, const uint32_t* words) {
  int64_t i = 0;
  while (i < ids.free_size && IsSegmentId(ids.dtype, words[i])) ++i;
  if (i == ids.free_size) return absl::OkStatus();
  const std::string value = ids.dtype == Dtype::kInt32
                                ? absl::StrCat(static_cast<int32_t>(words[i]))
                                : absl::StrCat(std::bit_cast<float>(words[i]));
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "sequence_bounds.segment_ids";
  d.operand = "segment_ids";
  d.message = absl::StrCat("segment_ids is ", value, " at element ", i,
                           "; segment ids are whole numbers, at least 0, and "
                           "no document says what others give");
  d.details = {{"partition", absl::StrCat(ids.first_partition)},
               {"element", absl::StrCat(i)},
               {"value", value}};
  d.remedy = "number the segments from 1 on; 0 marks padding";
  d.reference = "nki/api/nki/isa/__init__.py:2439";
  return ToStatus(std::move(d));
}

// bounds = n starts, then n ends, each of the run of equal ids that the
// element belongs to; padding (id 0) has n and -1
// (nki/test/test_nki_isa_sequence_bounds.py:56).
void FindBounds(const uint32_t* ids, int64_t n, int32_t* bounds) {
  int32_t* const start = bounds;
  int32_t* const end = bounds + n;
  for (int64_t i = 0; i < n; ++i) {
    const bool goes_on = i > 0 && ids[i] == ids[i - 1];
    start[i] = ids[i] == 0 ? static_cast<int32_t>(n)
               : goes_on   ? start[i - 1]
                           : static_cast<int32_t>(i);
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    const bool goes_on = i < n - 1 && ids[i] == ids[i + 1];
    end[i] = ids[i] == 0 ? -1
             : goes_on   ? end[i + 1]
                         : static_cast<int32_t>(i + 1);
  }
}

// ---- NonzeroWithCount ----

// Each gpsimd core has 16 partitions and works on the first of them.
constexpr int64_t kGroup = 16;

void WarnSpecialValue(const Tile& src, int64_t partition, int64_t element,
                      bool nan, CoreState& state) {
  const int64_t lane = src.first_partition + partition;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "nonzero_with_count.special_value";
  d.operand = "src";
  d.message = absl::StrCat(
      "src is ", nan ? "NaN" : "-0.0", " at partition ", lane, ", element ",
      element, ": no document says how it compares with 0; it was taken as ",
      nan ? "nonzero" : "zero");
  d.details = {{"partition", absl::StrCat(lane)},
               {"element", absl::StrCat(element)},
               {"value", nan ? "nan" : "-0.0"}};
  d.remedy = "replace NaN and -0.0 before";
  d.reference = "nki/api/nki/isa/__init__.py:3287, which does not say";
  Warn(state, std::move(d));
}

// Row `partition`, 0 where an element is 0.
void ReadNonzero(const RowReader& reader, const Tile& src, int64_t partition,
                 bool& reported, uint32_t* words, CoreState& state) {
  if (src.dtype == Dtype::kInt32) return reader.ReadBits(partition, words);
  float* const row = RowBuffer(state, 0, src.free_size);
  reader.ReadInto(partition, row);
  for (int64_t i = 0; i < src.free_size; ++i) {
    words[i] = row[i] != 0;
    const bool nan = row[i] != row[i];
    if (reported || !(nan || (row[i] == 0 && std::signbit(row[i])))) continue;
    reported = true;
    WarnSpecialValue(src, partition, i, nan, state);
  }
}

// out = the indices of what is not 0 plus offset (modulo 2^32 [assumed]), then
// padding, then how many there are.
void ListNonzero(const uint32_t* words, int64_t n, uint32_t offset,
                 uint32_t padding, uint32_t* out) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (words[i] != 0) out[count++] = static_cast<uint32_t>(i) + offset;
  }
  std::fill(out + count, out + n, padding);
  out[n] = static_cast<uint32_t>(count);
}

}  // namespace

absl::Status ExecutePartitionReduce(const ExecuteArgs& args, CoreState& state) {
  using S = slot::PartitionReduce;
  const Tile& data = args.slots[S::kData].tile;
  const PartitionOp op = args.attributes[S::kOp].as<PartitionOp>();
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  if (IsBitwise(op)) {
    ReduceBits(op, data, writer, state);
  } else {
    ReduceFloats(op, data, writer, state);
  }
  return absl::OkStatus();
}

absl::Status ExecuteSequenceBounds(const ExecuteArgs& args, CoreState& state) {
  using S = slot::SequenceBounds;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& ids = args.slots[S::kSegmentIds].tile;
  const int64_t n = ids.free_size;
  uint32_t* const words = BitsBuffer(state, 0, n);
  uint32_t* const bounds = BitsBuffer(state, 1, 2 * n);
  ReadIds(ids, words, state);
  absl::Status status = Admit(state, CheckIds(ids, words));
  if (!status.ok()) return status;
  FindBounds(words, n, reinterpret_cast<int32_t*>(bounds));
  RowWriter writer(dst, "dst", state);
  if (dst.dtype == Dtype::kInt32) {
    writer.WriteBits(0, bounds);
    return absl::OkStatus();
  }
  float* const row = RowBuffer(state, 0, 2 * n);
  for (int64_t i = 0; i < 2 * n; ++i) {
    row[i] = static_cast<float>(static_cast<int32_t>(bounds[i]));
  }
  writer.Write(0, row);
  return absl::OkStatus();
}

// Of both tiles only the first partition of each group of 16 is touched
// (nki/api/nki/isa/__init__.py:3228).
absl::Status ExecuteNonzeroWithCount(const ExecuteArgs& args,
                                     CoreState& state) {
  using S = slot::NonzeroWithCount;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& src = args.slots[S::kSrc].tile;
  const int64_t n = src.free_size;
  const auto offset =
      static_cast<uint32_t>(args.attributes[S::kIndexOffset].integer());
  const auto padding =
      static_cast<uint32_t>(args.attributes[S::kPaddingVal].integer());
  uint32_t* const words = BitsBuffer(state, 0, n);
  uint32_t* const out = BitsBuffer(state, 1, n + 1);
  const RowReader reader(src, state.numerics);
  RowWriter writer(dst, "dst", state);
  bool reported = false;
  for (int64_t p = 0; p < src.partitions; p += kGroup) {
    if (state.check_memory) {
      absl::Status status = AdmitUnwritten(state, src, "src", p * n, n);
      if (!status.ok()) return status;
    }
    ReadNonzero(reader, src, p, reported, words, state);
    ListNonzero(words, n, offset, padding, out);
    writer.WriteBits(p, out);
    if (state.check_memory) MarkWritten(dst, p * (n + 1), n + 1);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
