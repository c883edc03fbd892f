// TensorTensor, TensorScalar, ScalarTensorTensor.
//
// Arithmetic is in fp32, rounded after each operation [assumed: numerics.md
// 15.6], and cast once at the end. Bitvec operations see raw bits
// (nki/api/nki/isa/__init__.py:1029). GpSimd has exact 32-bit integers when
// all three operands are such (nki/api/nki/isa/__init__.py:1035).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/engines/elementwise_checks.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"
#include "core/numerics/open_choices.h"

namespace trnemu {
namespace {

// Where the bits that an integer loses in fp32 change what is written.
bool LostBitsMatter(AluOp op, Dtype dst) {
  return IsInteger(dst) || IsComparison(op);
}

// An unsigned dtype of each width, to ask for arrays of raw bits.
bool IsBitArray(const RowReader& reader) {
  return reader.IsArrayOf(reader.dtype());
}

// ---- TensorTensor ----

bool IsShift(AluOp op) {
  return op == AluOp::kLeftShift || op == AluOp::kRightShift;
}

bool IsModuloShift(AluOp op, const CoreState& state) {
  return IsShift(op) && state.numerics.shift_overflow == ShiftOverflow::kModulo;
}

// Row by row on 32-bit words: zero-extended bits in, low bits out.
template <typename Function>
void ForEachRowOfWords(const Tile& a, const Tile& b, RowWriter& writer,
                       CoreState& state, Function function) {
  const RowReader read_a(a, state.numerics);
  const RowReader read_b(b, state.numerics);
  uint32_t* const words_a = BitsBuffer(state, 0, a.free_size);
  uint32_t* const words_b = BitsBuffer(state, 1, a.free_size);
  for (uint32_t p = 0; p < a.partitions; ++p) {
    read_a.ReadBits(p, words_a);
    read_b.ReadBits(p, words_b);
    function(words_a, words_b, static_cast<size_t>(a.free_size), words_a);
    writer.WriteBits(p, words_a);
  }
}

// Mixed widths are operated on as zero-extended 32-bit words [assumed].
void BitvecTensorTensor(AluOp op, const Tile& a, const Tile& b,
                        RowWriter& writer, Dtype dst, CoreState& state) {
  const RowReader read_a(a, state.numerics);
  const RowReader read_b(b, state.numerics);
  const size_t bytes = SizeOf(a.dtype);
  if (IsShift(op)) {
    const size_t width = 8 * std::max({bytes, SizeOf(b.dtype), SizeOf(dst)});
    LookForShifts(b, "data2", static_cast<unsigned>(width), state);
  }
  const bool modulo = IsModuloShift(op, state);
  if (!modulo && IsBitArray(read_a) && IsBitArray(read_b) &&
      writer.IsArrayOf(dst) && SizeOf(b.dtype) == bytes &&
      SizeOf(dst) == bytes) {
    for (uint32_t p = 0; p < a.partitions; ++p) {
      BitvecRows(op, static_cast<unsigned>(bytes), read_a.base(p),
                 read_b.base(p), static_cast<size_t>(a.free_size),
                 writer.base(p));
    }
    return;
  }
  const unsigned width =
      static_cast<unsigned>(std::max({bytes, SizeOf(b.dtype), SizeOf(dst)}));
  ForEachRowOfWords(a, b, writer, state,
                    [=](uint32_t* x, uint32_t* y, size_t n, uint32_t* out) {
                      if (modulo) {
                        for (size_t i = 0; i < n; ++i) y[i] %= 8 * width;
                      } else if (IsShift(op)) {
                        // Amounts of the width or more give 0, also below 32
                        // bits.
                        for (size_t i = 0; i < n; ++i) {
                          if (y[i] >= 8 * width) y[i] = 32;
                        }
                      }
                      BitvecRows(op, 4, reinterpret_cast<const std::byte*>(x),
                                 reinterpret_cast<const std::byte*>(y), n,
                                 reinterpret_cast<std::byte*>(out));
                    });
}

// Add, subtract or multiply, clamped to the range of Int; Wide holds products.
template <typename Int, typename Wide>
uint32_t Saturated(AluOp op, Wide x, Wide y) {
  // Below 0 only where Wide is signed.
  if (std::is_unsigned_v<Int> && op == AluOp::kSubtract && y > x) return 0;
  const Wide exact = op == AluOp::kAdd        ? x + y
                     : op == AluOp::kSubtract ? x - y
                                              : x * y;
  return static_cast<uint32_t>(std::clamp<Wide>(
      exact, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max()));
}

void SaturatedRows(AluOp op, bool is_signed, const uint32_t* a,
                   const uint32_t* b, size_t n, uint32_t* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = is_signed
                 ? Saturated<int32_t, int64_t>(op, static_cast<int32_t>(a[i]),
                                               static_cast<int32_t>(b[i]))
                 : Saturated<uint32_t, uint64_t>(op, a[i], b[i]);
  }
}

// Signed if both inputs are [assumed for mixed signs].
void IntegerTensorTensor(AluOp op, const Tile& a, const Tile& b,
                         RowWriter& writer, CoreState& state) {
  const bool is_signed = a.dtype == Dtype::kInt32 && b.dtype == Dtype::kInt32;
  const bool saturate =
      state.numerics.integer_overflow == IntegerOverflow::kSaturate &&
      (op == AluOp::kAdd || op == AluOp::kSubtract || op == AluOp::kMultiply);
  const bool check = state.check_values;
  IntegerOverflowCheck overflow(op, is_signed, state);
  const auto look = [&overflow](const uint32_t* x, const uint32_t* y,
                                size_t n) { overflow.Look(x, y, n); };
  ForEachRowOfWords(
      a, b, writer, state,
      [=](const uint32_t* x, const uint32_t* y, size_t n, uint32_t* out) {
        if (check) look(x, y, n);
        if (saturate) {
          SaturatedRows(op, is_signed, x, y, n, out);
        } else {
          IntegerRows(op, is_signed, x, y, n, out);
        }
      });
}

// All three are bfloat16 and lie in order: one pass without fp32 rows. False
// if not, or if `op` has no such path.
bool Bf16TensorTensor(AluOp op, const Tile& a, const Tile& b, const Tile& dst,
                      RowWriter& writer, CoreState& state) {
  const RowReader read_a(a, state.numerics);
  const RowReader read_b(b, state.numerics);
  if (!read_a.IsArrayOf(Dtype::kBFloat16) ||
      !read_b.IsArrayOf(Dtype::kBFloat16) ||
      !writer.IsArrayOf(Dtype::kBFloat16)) {
    return false;
  }
  const Bf16Row row = Bf16RowOf(op);
  if (row == nullptr ||
      state.numerics.float_overflow != FloatOverflow::kToInfinity) {
    return false;
  }
  Bf16Check check(op, a, b, state);
  writer.ForEachPartition([&](uint32_t p) {
    const std::byte* const x = check.Keep(0, read_a.base(p), writer.base(p));
    const std::byte* const y = check.Keep(1, read_b.base(p), writer.base(p));
    row(reinterpret_cast<const uint16_t*>(read_a.base(p)),
        reinterpret_cast<const uint16_t*>(read_b.base(p)),
        static_cast<size_t>(a.free_size),
        reinterpret_cast<uint16_t*>(writer.base(p)));
    check.Look(p, x, y, writer.base(p));
  });
  if (check.found().any()) {
    WarnOverflow(state, "dst", dst, check.found());
  }
  return true;
}

void FloatTensorTensor(AluOp op, const Tile& a, const Tile& b, const Tile& dst,
                       RowWriter& writer, CoreState& state) {
  const bool matters = LostBitsMatter(op, dst.dtype);
  const RowReader read_a(a, state, "data1", matters);
  const RowReader read_b(b, state, "data2", matters);
  IntegerResultCheck integers(op, a, b, dst, state);
  NanCheck nan(op, state);
  float* const row_a = RowBuffer(state, 0, a.free_size);
  float* const row_b = RowBuffer(state, 1, a.free_size);
  const BinaryRow row = BinaryRowOf(op);
  writer.ForEachPartition([&](uint32_t p) {
    const float* const x = read_a.Read(p, row_a);
    const float* const y = read_b.Read(p, row_b);
    float* const out = writer.Place(p, row_a);
    integers.Look(p, x, y);
    nan.Look(a, "data1", p, x, y);
    nan.Look(b, "data2", p, y, x);
    row(x, y, static_cast<size_t>(a.free_size), out);
    writer.Write(p, out);
  });
}

// ---- TensorScalar, ScalarTensorTensor ----

// One operation with a number, column or nothing on the right.
struct ScalarStep {
  AluOp op;
  bool reverse;
  ColumnReader operand;
};

ScalarStep StepOf(const ExecuteArgs& args, const CoreState& state,
                  size_t operand, size_t op, size_t reverse) {
  return {args.attributes[op].as<AluOp>(), args.attributes[reverse].boolean(),
          ColumnReader(args.slots[operand], args.operands[operand],
                       state.numerics)};
}

// `modulo` is not 0 if amounts of a shift count modulo that width.
void ApplyBits(const ScalarStep& step, uint32_t operand, unsigned bytes,
               uint32_t modulo, const std::byte* in, size_t n, std::byte* out) {
  if (modulo != 0 && IsShift(step.op)) {
    if (step.reverse) {  // the amounts are the elements
      BitvecRowScalar(AluOp::kBitwiseAnd, bytes, in, modulo - 1, false, n, out);
      in = out;
    } else {
      operand %= modulo;
    }
  }
  if (IsUnary(step.op)) {
    BitvecRowUnary(step.op, bytes, in, n, out);
  } else {
    BitvecRowScalar(step.op, bytes, in, operand, step.reverse, n, out);
  }
}

// Amounts are the operand, or reversed the elements (of the first step: those
// of the second are not looked at).
void LookForShifts(const ScalarStep& step, std::string_view operand, bool first,
                   const Tile& data, CoreState& state) {
  if (!IsShift(step.op)) return;
  const auto width = static_cast<unsigned>(8 * SizeOf(data.dtype));
  if (step.reverse) {
    if (first) LookForShifts(data, "data", width, state);
    return;
  }
  if (!state.check_values) return;
  for (uint32_t p = 0; p < data.partitions; ++p) {
    const uint32_t amount = step.operand.BitsAt(p);
    if (amount < width) continue;
    return WarnShift(state, operand, data, width,
                     {p, 0, static_cast<double>(amount)});
  }
}

void BitvecTensorScalar(const ScalarStep& step0, const ScalarStep& step1,
                        const Tile& data, RowWriter& writer, Dtype dst,
                        CoreState& state) {
  LookForShifts(step0, "operand0", true, data, state);
  LookForShifts(step1, "operand1", false, data, state);
  const RowReader reader(data, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  const bool arrays = IsBitArray(reader) && writer.IsArrayOf(dst) &&
                      SizeOf(dst) == SizeOf(data.dtype);
  const unsigned bytes = arrays ? static_cast<unsigned>(SizeOf(data.dtype)) : 4;
  const bool is_modulo =
      state.numerics.shift_overflow == ShiftOverflow::kModulo;
  const auto modulo =
      is_modulo ? static_cast<uint32_t>(8 * SizeOf(data.dtype)) : uint32_t{0};
  uint32_t* const words = BitsBuffer(state, 0, data.free_size);
  const uint32_t mask = 0xffffffff >> (32 - 8 * SizeOf(data.dtype));
  for (uint32_t p = 0; p < data.partitions; ++p) {
    // Both before the first write: a column may be dst.
    const uint32_t operand0 = step0.operand.BitsAt(p);
    const uint32_t operand1 = step1.operand.BitsAt(p);
    const std::byte* in = reader.base(p);
    std::byte* out = writer.base(p);
    if (!arrays) {
      reader.ReadBits(p, words);
      in = out = reinterpret_cast<std::byte*>(words);
    }
    ApplyBits(step0, operand0, bytes, modulo, in, n, out);
    if (step1.op != AluOp::kNone) {
      // The value in between has the width of an element.
      if (!arrays && mask != 0xffffffff) {
        for (size_t i = 0; i < n; ++i) words[i] &= mask;
      }
      ApplyBits(step1, operand1, bytes, modulo, out, n, out);
    }
    if (!arrays) writer.WriteBits(p, words);
  }
}

// Multiply, then add or subtract, which two_ops=fused rounds once.
bool IsFused(AluOp op0, AluOp op1, const CoreState& state) {
  return state.numerics.two_ops == TwoOps::kFused && op0 == AluOp::kMultiply &&
         (op1 == AluOp::kAdd || op1 == AluOp::kSubtract);
}

void FloatTensorScalar(const ScalarStep& step0, const ScalarStep& step1,
                       const Tile& data, Dtype dst, RowWriter& writer,
                       CoreState& state) {
  const RowReader reader(
      data, state, "data",
      LostBitsMatter(step0.op, dst) || IsComparison(step1.op));
  NanCheck nan0(step0.op, state), nan1(step1.op, state);
  const bool fused = IsFused(step0.op, step1.op, state);
  const size_t n = static_cast<size_t>(data.free_size);
  float* const buffer = RowBuffer(state, 0, data.free_size);
  const bool twice = step1.op != AluOp::kNone;
  const ScalarRow row0 = ScalarRowOf(step0.op, step0.reverse);
  const ScalarRow row1 = ScalarRowOf(step1.op, step1.reverse);
  writer.ForEachPartition([&](uint32_t p) {
    const float operand0 = step0.operand.At(p);
    const float operand1 = step1.operand.At(p);
    const float* const in = reader.Read(p, buffer);
    float* const out = writer.Place(p, buffer);
    nan0.LookAt(data, "data", p, in, operand0);
    if (fused) {
      MultiplyAddRow(in, operand0, step1.op, step1.reverse, operand1, n, out);
    } else {
      row0(in, operand0, n, out);
      if (twice) nan1.LookAt(data, "data", p, out, operand1);
      if (twice) row1(out, operand1, n, out);
    }
    writer.Write(p, out);
  });
}

}  // namespace

absl::Status ExecuteTensorTensor(const ExecuteArgs& args, CoreState& state) {
  using S = slot::TensorTensor;
  const AluOp op = args.attributes[S::kOp].as<AluOp>();
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& a = args.slots[S::kData1].tile;
  const Tile& b = args.slots[S::kData2].tile;
  RowWriter writer(dst, "dst", state);
  writer.Reads(a);
  writer.Reads(b);
  if (IsBitvec(op)) {
    BitvecTensorTensor(op, a, b, writer, dst.dtype, state);
  } else if (args.engine == Engine::kGpsimd && HasIntegerAlu(op) &&
             Is32BitInteger(a.dtype) && Is32BitInteger(b.dtype) &&
             Is32BitInteger(dst.dtype)) {
    IntegerTensorTensor(op, a, b, writer, state);
  } else if (!Bf16TensorTensor(op, a, b, dst, writer, state)) {
    FloatTensorTensor(op, a, b, dst, writer, state);
  }
  return absl::OkStatus();
}

absl::Status ExecuteTensorScalar(const ExecuteArgs& args, CoreState& state) {
  using S = slot::TensorScalar;
  const Tile& dst = args.slots[S::kDst].tile;
  const Tile& data = args.slots[S::kData].tile;
  const ScalarStep step0 =
      StepOf(args, state, S::kOperand0, S::kOp0, S::kReverse0);
  const ScalarStep step1 =
      StepOf(args, state, S::kOperand1, S::kOp1, S::kReverse1);
  RowWriter writer(dst, "dst", state);
  writer.Reads(data);
  writer.Reads(step0.operand);
  writer.Reads(step1.operand);
  if (IsBitvec(step0.op)) {
    BitvecTensorScalar(step0, step1, data, writer, dst.dtype, state);
  } else {
    FloatTensorScalar(step0, step1, data, dst.dtype, writer, state);
  }
  return absl::OkStatus();
}

absl::Status ExecuteScalarTensorTensor(const ExecuteArgs& args,
                                       CoreState& state) {
  using S = slot::ScalarTensorTensor;
  const Tile& data = args.slots[S::kData].tile;
  const Tile& other = args.slots[S::kOperand1].tile;
  const ScalarStep step0 =
      StepOf(args, state, S::kOperand0, S::kOp0, S::kReverse0);
  const AluOp op1 = args.attributes[S::kOp1].as<AluOp>();
  const bool reverse1 = args.attributes[S::kReverse1].boolean();
  const Tile& dst = args.slots[S::kDst].tile;
  RowWriter writer(dst, "dst", state);
  writer.Reads(data);
  writer.Reads(other);
  writer.Reads(step0.operand);
  const bool matters = LostBitsMatter(op1, dst.dtype) || IsComparison(step0.op);
  const RowReader read_data(data, state, "data", matters);
  const RowReader read_other(other, state, "operand1", matters);
  const bool fused = IsFused(step0.op, op1, state);
  const size_t n = static_cast<size_t>(data.free_size);
  float* const row = RowBuffer(state, 0, data.free_size);
  float* const other_row = RowBuffer(state, 1, data.free_size);
  const ScalarRow row0 = ScalarRowOf(step0.op, step0.reverse);
  const BinaryRow row1 = BinaryRowOf(op1);
  writer.ForEachPartition([&](uint32_t p) {
    // The intermediate never lies in dst, which may be `other`.
    const float* const x = read_data.Read(p, row);
    const float operand0 = step0.operand.At(p);
    const float* const y = read_other.Read(p, other_row);
    if (fused) {
      float* const out = writer.Place(p, row);
      MultiplyAddRows(x, operand0, op1, reverse1, y, n, out);
      return writer.Write(p, out);
    }
    row0(x, operand0, n, row);
    float* const out = writer.Place(p, row);
    row1(reverse1 ? y : row, reverse1 ? row : y, n, out);
    writer.Write(p, out);
  });
  return absl::OkStatus();
}

}  // namespace trnemu
