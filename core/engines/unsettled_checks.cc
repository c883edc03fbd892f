#include "core/engines/unsettled_checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/rows.h"
#include "core/layout.h"
#include "core/numerics/alu.h"
#include "core/numerics/unsettled.h"

namespace trnemu {
namespace {

constexpr int64_t kChunk = 256;

bool Aligned(const std::byte* at) {
  return reinterpret_cast<uintptr_t>(at) % 4 == 0;
}

std::string Number(double value) {
  if (!(std::fabs(value) < 0x1p63)) return absl::StrCat(value);
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? absl::StrCat(whole)
                                             : absl::StrCat(value);
}

std::string At(const Tile& tile, const Found& found) {
  return absl::StrCat(" at partition ", tile.first_partition + found.partition,
                      ", element ", found.element);
}

Diagnostic Make(std::string_view id, std::string_view operand, const Tile& tile,
                const Found& found) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = std::string(id);
  d.operand = std::string(operand);
  d.details = {
      {"partition", absl::StrCat(tile.first_partition + found.partition)},
      {"element", absl::StrCat(found.element)},
      {"value", Number(found.before)},
      {"dtype", std::string(Name(tile.dtype))}};
  return d;
}

}  // namespace

void WarnInexactElement(CoreState& state, std::string_view operand,
                        const Tile& tile, const Found& found) {
  Diagnostic d = Make("integer.through_fp32", operand, tile, found);
  d.details.emplace_back("after", Number(found.after));
  d.message = absl::StrCat(
      std::string(operand), " is ", std::string(Name(tile.dtype)), " and has ",
      Number(found.before), At(tile, found), ", which this engine takes as ",
      Number(found.after), ": its arithmetic is fp32, exact up to 2^24");
  d.remedy =
      "use tensor_tensor on gpsimd with 32-bit integers in SBUF, which is "
      "exact, a bitwise operation, or smaller integers";
  d.reference = "nki/api/nki/isa/__init__.py:1035";
  Warn(state, std::move(d));
}

void WarnInexactResult(CoreState& state, const Tile& dst, const Found& found) {
  Diagnostic d = Make("integer.through_fp32", "dst", dst, found);
  d.details.emplace_back("after", Number(found.after));
  d.message = absl::StrCat(
      "the result", At(dst, found), " is ", Number(found.before),
      " in integers, and ", Number(found.after),
      " on this engine, whose arithmetic is fp32, exact up to 2^24");
  d.remedy =
      "use tensor_tensor on gpsimd with 32-bit integers in SBUF, which is "
      "exact, or smaller integers";
  d.reference = "nki/api/nki/isa/__init__.py:1035";
  Warn(state, std::move(d));
}

void WarnOverflow(CoreState& state, std::string_view operand, const Tile& tile,
                  const Found& found) {
  Diagnostic d = Make("cast.overflow", operand, tile, found);
  const bool e4m3fn = tile.dtype == Dtype::kFloat8E4M3FN;
  const bool saturates =
      e4m3fn ? state.numerics.e4m3fn_overflow == E4m3fnOverflow::kSaturate
             : state.numerics.float_overflow == FloatOverflow::kSaturate;
  d.message = absl::StrCat(
      std::string(operand), " casts ", Number(found.before), " to ",
      std::string(Name(tile.dtype)), At(tile, found),
      ", which it cannot hold: no document says what that gives; it was taken "
      "as ",
      saturates ? "the largest finite value"
      : e4m3fn  ? "NaN"
                : "infinity");
  d.remedy =
      "clamp to the dtype's range before the cast, or keep a wider dtype";
  Warn(state, std::move(d));
}

void WarnIntegerOverflow(CoreState& state, std::string_view what,
                         const Found& found) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "integer.overflow";
  d.operand = "dst";
  d.message = absl::StrCat(
      std::string(what), " gives ", Number(found.before), " for partition ",
      found.partition, ", element ", found.element,
      ", which 32 bits do not hold: no document says what that gives; it was "
      "taken as ",
      Number(found.after));
  d.details = {{"partition", absl::StrCat(found.partition)},
               {"element", absl::StrCat(found.element)},
               {"value", Number(found.before)},
               {"after", Number(found.after)}};
  d.remedy = "mask or scale the operands so that the result fits";
  Warn(state, std::move(d));
}

void WarnShift(CoreState& state, std::string_view operand, const Tile& tile,
               unsigned width, const Found& found) {
  Diagnostic d = Make("shift.amount", operand, tile, found);
  const bool modulo = state.numerics.shift_overflow == ShiftOverflow::kModulo;
  d.message = absl::StrCat(
      std::string(operand), " shifts by ", Number(found.before),
      At(tile, found), ", and an element has ", width,
      " bits: no document says what that gives; ",
      modulo ? "the amount was taken modulo the width" : "it was taken as 0");
  d.remedy = "keep amounts below the width";
  Warn(state, std::move(d));
}

void WarnNanOperand(CoreState& state, std::string_view op, const Tile& tile,
                    std::string_view operand, const Found& found) {
  Diagnostic d = Make("alu.nan", operand, tile, found);
  d.details[2].second = "nan";
  d.message = absl::StrCat(
      std::string(op), " meets NaN in ", std::string(operand), At(tile, found),
      ": no document says what that gives; the operand that is a number was "
      "taken");
  d.remedy = "replace NaN first";
  Warn(state, std::move(d));
}

void WarnIota(CoreState& state, const Tile& dst, const Found& found) {
  Diagnostic d = Make("iota.inexact", "dst", dst, found);
  d.details.emplace_back("after", Number(found.after));
  d.message = absl::StrCat("iota writes the index ", Number(found.before),
                           At(dst, found), " as ", Number(found.after),
                           ", since ", std::string(Name(dst.dtype)),
                           " does not hold it: two indices become one");
  d.remedy = "write indices as int32 or uint32";
  Warn(state, std::move(d));
}

void WarnReciprocal(CoreState& state, const Tile& data, const Found& found) {
  Diagnostic d = Make("reciprocal.zero", "data", data, found);
  d.message = absl::StrCat(
      "reciprocal of ", Number(found.before), At(data, found),
      ": no document says what that of 0 or of a subnormal gives; it was taken "
      "as ",
      Number(found.after));
  d.remedy = "add a small number or replace zeros first";
  Warn(state, std::move(d));
}

void WarnSubtract(CoreState& state, const Tile& data, int64_t length) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "tensor_reduce.subtract";
  d.operand = "op";
  d.message = absl::StrCat(
      "op is subtract and reduces ", length,
      " elements: no document says in which order; it was taken as a0 - a1 - "
      "...");
  d.details = {{"elements", absl::StrCat(length)},
               {"dtype", std::string(Name(data.dtype))}};
  d.remedy = "add all but the first, and subtract that sum";
  Warn(state, std::move(d));
}

int64_t FirstInexact(const Tile& tile, int64_t partition) {
  const std::byte* const row = tile.base + partition * tile.partition_stride;
  const bool is_signed = tile.dtype == Dtype::kInt32;
  int64_t found = tile.free_size;
  const Layout layout = RowLayout(tile);
  std::array<uint32_t, kChunk> words;
  ForEachRun(layout, 0, tile.free_size,
             [&](ptrdiff_t offset, int64_t first, int64_t n) {
               if (found < tile.free_size) return;
               const std::byte* const from = row + offset;
               if (layout.step() == 4 && Aligned(from)) {
                 const auto at = static_cast<int64_t>(
                     FirstInexactWord(reinterpret_cast<const uint32_t*>(from),
                                      is_signed, static_cast<size_t>(n)));
                 if (at < n) found = first + at;
                 return;
               }
               for (int64_t done = 0; done < n; done += kChunk) {
                 const int64_t count = std::min(kChunk, n - done);
                 LoadBits(tile.dtype, row + offset + done * layout.step(),
                          layout.step(), static_cast<size_t>(count),
                          words.data());
                 const auto at = static_cast<int64_t>(FirstInexactWord(
                     words.data(), is_signed, static_cast<size_t>(count)));
                 if (at == count) continue;
                 found = first + done + at;
                 return;
               }
             });
  return found;
}

}  // namespace trnemu
