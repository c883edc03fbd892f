#include "core/engines/psum.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/duplicates.h"
#include "core/dynamic.h"
#include "core/engines/rows.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

using Meet = PsumSums::Meet;

constexpr unsigned kOnlyMatmul = 1u << static_cast<int>(PsumWriter::kMatmul);
constexpr unsigned kSomeNothing = 1u << static_cast<int>(PsumWriter::kNothing);
constexpr unsigned kSomeOther = 1u << static_cast<int>(PsumWriter::kOther);

// Where the first element of dst is whose last writer is `writer`.
struct Place {
  int64_t partition = 0;
  ptrdiff_t offset = 0;  // bytes
};

Place FirstWrittenBy(const Tile& dst, PsumWriter writer) {
  const Layout layout = RowLayout(dst);
  Place place;
  bool found = false;
  for (uint32_t p = 0; p < dst.partitions && !found; ++p) {
    ForEachRun(layout, 0, dst.free_size,
               [&](ptrdiff_t offset, int64_t, int64_t n) {
                 for (int64_t i = 0; i < n && !found; ++i) {
                   place = {p, offset + i * layout.step()};
                   found = PsumWriterAt(dst, p, place.offset) == writer;
                 }
                 return !found;
               });
  }
  return place;
}

absl::Status CannotAccumulate(const Tile& dst, PsumWriter writer) {
  const Place at = FirstWrittenBy(dst, writer);
  const int64_t bytes = static_cast<int64_t>(SizeOf(dst.dtype));
  const int64_t begin = dst.address + at.offset;
  const bool nothing = writer == PsumWriter::kNothing;
  Diagnostic d;
  d.category = nothing ? Category::kUninitialized : Category::kUnspecified;
  d.id = nothing ? "nc_matmul.accumulate_unwritten"
                 : "nc_matmul.accumulate_on_other";
  d.operand = "dst";
  d.message = absl::StrCat(
      "accumulate=True adds to ",
      DescribeBytes(dst, at.partition, at.offset, bytes),
      nothing ? ", which nothing has written since its allocation"
              : ", which an instruction other than a matmul wrote last");
  d.details = {
      {"bank", absl::StrCat(begin / kPsumBankBytes)},
      {"partition", absl::StrCat(dst.first_partition + at.partition)},
      {"byte_range", absl::StrCat("[", begin, ", ", begin + bytes, ")")}};
  d.remedy =
      "let the first matmul of the group overwrite: accumulate=False, or leave "
      "it out";
  d.reference = nothing ? "nki/api/nki/isa/__init__.py:543"
                        : "nki/api/nki/isa/__init__.py:554";
  return ToStatus(std::move(d));
}

absl::Status CannotOverwrite(std::pair<int64_t, int64_t> elements) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "nc_matmul.duplicate_elements";
  d.operand = "dst";
  d.message = absl::StrCat(
      "dst: its elements ", elements.first, " and ", elements.second,
      " of each partition are the same place, which both overwrite: no "
      "document says which product stays");
  d.details = {
      {"positions", absl::StrCat(elements.first, ", ", elements.second)}};
  d.remedy =
      "leave accumulate out: products for one place are then added up; or "
      "write every element once";
  d.reference = "nki/api/nki/isa/__init__.py:540, which does not say";
  return ToStatus(std::move(d));
}

// Whether dst has an element more than once, which overwriting may not.
absl::Status WritesOnce(Accumulate accumulate, const Tile& dst, bool& repeats,
                        CoreState& state) {
  const auto elements = DuplicateElements(dst);
  repeats = elements.first >= 0;
  return repeats && accumulate == Accumulate::kFalse
             ? Admit(state, CannotOverwrite(elements))
             : absl::OkStatus();
}

absl::StatusOr<Meet> MeetOf(Accumulate accumulate, unsigned writers,
                            bool repeats, const Tile& dst, CoreState& state) {
  if (accumulate == Accumulate::kFalse) return Meet::kOverwrite;
  if (accumulate == Accumulate::kTrue) {
    if (!state.check_memory) return Meet::kAdd;
    absl::Status status;
    if (writers & kSomeNothing) {
      status = Admit(state, CannotAccumulate(dst, PsumWriter::kNothing));
    }
    if (status.ok() && (writers & kSomeOther) &&
        !state.hardware->features.psum_accumulates_any) {
      status = Admit(state, CannotAccumulate(dst, PsumWriter::kOther));
    }
    if (!status.ok()) return status;
    return Meet::kAdd;
  }
  if (repeats && writers != 0 && writers != kOnlyMatmul) {
    return Meet::kByElement;
  }
  if ((writers & kOnlyMatmul) == 0) return Meet::kOverwrite;
  return writers == kOnlyMatmul ? Meet::kAdd : Meet::kByElement;
}

// total[i] becomes sums[i] where the last writer is not a matmul.
void KeepSums(const Tile& dst, int64_t partition, const float* sums,
              float* total) {
  const Layout layout = RowLayout(dst);
  ForEachRun(layout, 0, dst.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 const ptrdiff_t at = offset + i * layout.step();
                 if (PsumWriterAt(dst, partition, at) != PsumWriter::kMatmul) {
                   total[first + i] = sums[first + i];
                 }
               }
             });
}

// The same where dst has elements more than once: each meets what those before
// it have left.
void StoreInTurn(const PsumSums& sums, const Tile& dst, CoreState& state) {
  const Layout layout = RowLayout(dst);
  ForEachRun(
      layout, 0, dst.free_size,
      [&](ptrdiff_t offset, int64_t first, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          Tile one = Moved(dst, offset + i * layout.step());
          one.rank = 1;
          one.dims[0] = {0, 1};
          one.free_size = 1;
          const RowReader reader(one, state.numerics);
          RowWriter writer(one, "dst", state);
          for (uint32_t p = 0; p < one.partitions; ++p) {
            float value =
                sums.sums[p * sums.stride + static_cast<size_t>(first + i)];
            const bool adds = sums.meet == Meet::kAdd ||
                              (sums.meet == Meet::kByElement &&
                               PsumWriterAt(one, p, 0) == PsumWriter::kMatmul);
            if (adds) {
              float total = 0;
              reader.ReadInto(p, &total);
              AccumulateRow(&total, &value, 1);
              value = total;
            }
            writer.Write(p, &value);
          }
          MarkMatmul(one, state);
        }
      });
}

// Writes or adds the rows of scratch to dst.
void Store(const PsumSums& sums, const Tile& dst, CoreState& state) {
  const int64_t n = dst.free_size;
  const RowReader reader(dst, state.numerics);
  RowWriter writer(dst, "dst", state);
  float* const total = RowBuffer(state, 0, n);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    float* const row = sums.sums + p * sums.stride;
    if (sums.meet == Meet::kOverwrite) {
      writer.Write(p, row);
      continue;
    }
    reader.ReadInto(p, total);
    AccumulateRow(total, row, static_cast<size_t>(n));
    if (sums.meet == Meet::kByElement) KeepSums(dst, p, row, total);
    writer.Write(p, total);
  }
}

}  // namespace

absl::StatusOr<PsumSums> BeginSums(Accumulate accumulate, const Tile& dst,
                                   CoreState& state, bool may_be_in_place) {
  PsumSums sums;
  if (accumulate != Accumulate::kFalse) sums.writers = PsumWriters(dst);
  absl::Status once = WritesOnce(accumulate, dst, sums.repeats, state);
  if (!once.ok()) return once;
  absl::StatusOr<Meet> meet =
      MeetOf(accumulate, sums.writers, sums.repeats, dst, state);
  if (!meet.ok()) return meet.status();
  sums.meet = *meet;
  const RowReader target(dst, state.numerics);
  sums.in_place = may_be_in_place && sums.meet != Meet::kByElement &&
                  !sums.repeats && target.in_place();
  if (sums.in_place) {
    sums.sums = reinterpret_cast<float*>(target.base(0));
    sums.stride = static_cast<size_t>(dst.partition_stride) / sizeof(float);
    if (sums.meet == Meet::kAdd) sums.write = PsumWrite::kAccumulate;
    return sums;
  }
  sums.sums = MatrixBuffer(state, 1, dst.partitions * dst.free_size);
  sums.stride = static_cast<size_t>(dst.free_size);
  return sums;
}

void EndSums(const PsumSums& sums, const Tile& dst, CoreState& state) {
  if (sums.repeats) {
    StoreInTurn(sums, dst, state);
    return;
  }
  if (!sums.in_place) Store(sums, dst, state);
  // What a matmul wrote last is marked already.
  if (sums.writers != kOnlyMatmul) MarkMatmul(dst, state);
}

void MarkMatmul(const Tile& dst, CoreState& state) {
  MarkPsum(dst, PsumWriter::kMatmul);
  if (state.check_memory) MarkWritten(dst);
}

}  // namespace trnemu
