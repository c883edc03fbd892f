// TensorTensor, TensorScalar, ScalarTensorTensor, Reciprocal.
//
// Arithmetic is in fp32, rounded after each operation [assumed: numerics.md
// 15.6], and cast once at the end. Bitvec operations see raw bits
// (nki/api/nki/isa/__init__.py:1029). GpSimd has exact 32-bit integers when
// all three operands are such (nki/api/nki/isa/__init__.py:1035).
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/engines/engines.h"
#include "core/engines/rows.h"
#include "core/numerics/alu.h"
#include "core/numerics/convert.h"

namespace trnemu {
namespace {

bool Is32BitInteger(Dtype d) {
  return d == Dtype::kInt32 || d == Dtype::kUint32;
}

// An unsigned dtype of each width, to ask for arrays of raw bits.
bool IsBitArray(const RowReader& reader) {
  return reader.IsArrayOf(reader.dtype());
}

// ---- TensorTensor ----

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
  if (IsBitArray(read_a) && IsBitArray(read_b) && writer.IsArrayOf(dst) &&
      SizeOf(b.dtype) == bytes && SizeOf(dst) == bytes) {
    for (uint32_t p = 0; p < a.partitions; ++p) {
      BitvecRows(op, static_cast<unsigned>(bytes), read_a.base(p),
                 read_b.base(p), static_cast<size_t>(a.free_size),
                 writer.base(p));
    }
    return;
  }
  const unsigned width =
      static_cast<unsigned>(std::max({bytes, SizeOf(b.dtype), SizeOf(dst)}));
  ForEachRowOfWords(
      a, b, writer, state,
      [op, width](uint32_t* x, uint32_t* y, size_t n, uint32_t* out) {
        if (op == AluOp::kLeftShift || op == AluOp::kRightShift) {
          // Amounts of the width or more give 0, also below 32 bits.
          for (size_t i = 0; i < n; ++i) {
            if (y[i] >= 8 * width) y[i] = 32;
          }
        }
        BitvecRows(op, 4, reinterpret_cast<const std::byte*>(x),
                   reinterpret_cast<const std::byte*>(y), n,
                   reinterpret_cast<std::byte*>(out));
      });
}

// Signed if both inputs are [assumed for mixed signs].
void IntegerTensorTensor(AluOp op, const Tile& a, const Tile& b,
                         RowWriter& writer, CoreState& state) {
  const bool is_signed = a.dtype == Dtype::kInt32 && b.dtype == Dtype::kInt32;
  ForEachRowOfWords(a, b, writer, state,
                    [op, is_signed](const uint32_t* x, const uint32_t* y,
                                    size_t n, uint32_t* out) {
                      IntegerRows(op, is_signed, x, y, n, out);
                    });
}

// All three are bfloat16 and lie in order: one pass without fp32 rows. False
// if not, or if `op` has no such path.
bool Bf16TensorTensor(AluOp op, const Tile& a, const Tile& b, RowWriter& writer,
                      CoreState& state) {
  const RowReader read_a(a, state.numerics);
  const RowReader read_b(b, state.numerics);
  if (!read_a.IsArrayOf(Dtype::kBFloat16) ||
      !read_b.IsArrayOf(Dtype::kBFloat16) ||
      !writer.IsArrayOf(Dtype::kBFloat16)) {
    return false;
  }
  const Bf16Row row = Bf16RowOf(op);
  if (row == nullptr) return false;
  writer.ForEachPartition([&](uint32_t p) {
    row(reinterpret_cast<const uint16_t*>(read_a.base(p)),
        reinterpret_cast<const uint16_t*>(read_b.base(p)),
        static_cast<size_t>(a.free_size),
        reinterpret_cast<uint16_t*>(writer.base(p)));
  });
  return true;
}

void FloatTensorTensor(AluOp op, const Tile& a, const Tile& b,
                       RowWriter& writer, CoreState& state) {
  const RowReader read_a(a, state.numerics);
  const RowReader read_b(b, state.numerics);
  float* const row_a = RowBuffer(state, 0, a.free_size);
  float* const row_b = RowBuffer(state, 1, a.free_size);
  const BinaryRow row = BinaryRowOf(op);
  writer.ForEachPartition([&](uint32_t p) {
    const float* const x = read_a.Read(p, row_a);
    const float* const y = read_b.Read(p, row_b);
    float* const out = writer.Place(p, row_a);
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

void ApplyBits(const ScalarStep& step, uint32_t operand, unsigned bytes,
               const std::byte* in, size_t n, std::byte* out) {
  if (IsUnary(step.op)) {
    BitvecRowUnary(step.op, bytes, in, n, out);
  } else {
    BitvecRowScalar(step.op, bytes, in, operand, step.reverse, n, out);
  }
}

void BitvecTensorScalar(const ScalarStep& step0, const ScalarStep& step1,
                        const Tile& data, RowWriter& writer, Dtype dst,
                        CoreState& state) {
  const RowReader reader(data, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  const bool arrays = IsBitArray(reader) && writer.IsArrayOf(dst) &&
                      SizeOf(dst) == SizeOf(data.dtype);
  const unsigned bytes = arrays ? static_cast<unsigned>(SizeOf(data.dtype)) : 4;
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
    ApplyBits(step0, operand0, bytes, in, n, out);
    if (step1.op != AluOp::kNone) {
      // The value in between has the width of an element.
      if (!arrays && mask != 0xffffffff) {
        for (size_t i = 0; i < n; ++i) words[i] &= mask;
      }
      ApplyBits(step1, operand1, bytes, out, n, out);
    }
    if (!arrays) writer.WriteBits(p, words);
  }
}

void FloatTensorScalar(const ScalarStep& step0, const ScalarStep& step1,
                       const Tile& data, RowWriter& writer, CoreState& state) {
  const RowReader reader(data, state.numerics);
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
    row0(in, operand0, n, out);
    if (twice) row1(out, operand1, n, out);
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
  } else if (!Bf16TensorTensor(op, a, b, writer, state)) {
    FloatTensorTensor(op, a, b, writer, state);
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
    FloatTensorScalar(step0, step1, data, writer, state);
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
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  writer.Reads(other);
  writer.Reads(step0.operand);
  const RowReader read_data(data, state.numerics);
  const RowReader read_other(other, state.numerics);
  const size_t n = static_cast<size_t>(data.free_size);
  float* const row = RowBuffer(state, 0, data.free_size);
  float* const other_row = RowBuffer(state, 1, data.free_size);
  const ScalarRow row0 = ScalarRowOf(step0.op, step0.reverse);
  const BinaryRow row1 = BinaryRowOf(op1);
  writer.ForEachPartition([&](uint32_t p) {
    // The intermediate never lies in dst, which may be `other`.
    row0(read_data.Read(p, row), step0.operand.At(p), n, row);
    const float* const y = read_other.Read(p, other_row);
    float* const out = writer.Place(p, row);
    row1(reverse1 ? y : row, reverse1 ? row : y, n, out);
    writer.Write(p, out);
  });
  return absl::OkStatus();
}

absl::Status ExecuteReciprocal(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Reciprocal;
  const Tile& data = args.slots[S::kData].tile;
  const RowReader reader(data, state.numerics);
  RowWriter writer(args.slots[S::kDst].tile, "dst", state);
  writer.Reads(data);
  float* const buffer = RowBuffer(state, 0, data.free_size);
  const ScalarRow row = ScalarRowOf(AluOp::kReciprocal, false);
  writer.ForEachPartition([&](uint32_t p) {
    float* const out = writer.Place(p, buffer);
    row(reader.Read(p, buffer), 0, static_cast<size_t>(data.free_size), out);
    writer.Write(p, out);
  });
  return absl::OkStatus();
}

}  // namespace trnemu
