#include "core/numerics/convert.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/numerics/options.h"
#include "gtest/gtest.h"
#include "tests/core/fp8_golden.h"
#include "tests/core/vector_targets.h"

namespace trnemu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

using Codes = std::vector<uint32_t>;  // zero-extended
using Floats = std::vector<float>;

uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }

std::vector<std::byte> Pack(Dtype dtype, const Codes& codes, size_t stride) {
  std::vector<std::byte> bytes(codes.size() * stride + 8);
  for (size_t i = 0; i < codes.size(); ++i) {
    std::memcpy(&bytes[i * stride], &codes[i], SizeOf(dtype));
  }
  return bytes;
}

Codes Unpack(Dtype dtype, const std::vector<std::byte>& bytes, size_t n,
             size_t stride) {
  Codes codes(n, 0);
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(&codes[i], &bytes[i * stride], SizeOf(dtype));
  }
  return codes;
}

// Widens as a contiguous row, and as a strided one, which is other code: both
// must give the same bits.
Floats Widen(Dtype dtype, const Codes& codes,
             const NumericsOptions& options = {}) {
  const size_t size = SizeOf(dtype);
  Floats contiguous(codes.size());
  WidenRow(dtype, Pack(dtype, codes, size).data(), static_cast<ptrdiff_t>(size),
           codes.size(), options, contiguous.data());
  Floats strided(codes.size());
  WidenRow(dtype, Pack(dtype, codes, size + 3).data(),
           static_cast<ptrdiff_t>(size + 3), codes.size(), options,
           strided.data());
  for (size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(Bits(contiguous[i]), Bits(strided[i]))
        << Name(dtype) << " code " << codes[i];
  }
  return contiguous;
}

Codes Narrow(Dtype dtype, const Floats& in,
             const NumericsOptions& options = {}) {
  const size_t size = SizeOf(dtype);
  std::vector<std::byte> bytes(in.size() * size + 8);
  NarrowRow(in.data(), in.size(), dtype, bytes.data(),
            static_cast<ptrdiff_t>(size), options);
  const Codes contiguous = Unpack(dtype, bytes, in.size(), size);
  std::vector<std::byte> apart(in.size() * (size + 3) + 8);
  NarrowRow(in.data(), in.size(), dtype, apart.data(),
            static_cast<ptrdiff_t>(size + 3), options);
  const Codes strided = Unpack(dtype, apart, in.size(), size + 3);
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(contiguous[i], strided[i]) << Name(dtype) << " of " << in[i];
  }
  return contiguous;
}

Codes Signed(const std::vector<int32_t>& values, Dtype dtype) {
  Codes codes;
  const uint32_t mask =
      SizeOf(dtype) == 4 ? ~0u : (1u << (8 * SizeOf(dtype))) - 1;
  for (int32_t v : values) codes.push_back(static_cast<uint32_t>(v) & mask);
  return codes;
}

void ExpectSameFloats(const Floats& got, const Floats& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "at " << i;
    } else {
      EXPECT_EQ(Bits(got[i]), Bits(want[i]))
          << "at " << i << ": " << got[i] << " for " << want[i];
    }
  }
}

// ---- Reading ----

Codes AllCodes(uint32_t count) {
  Codes codes(count);
  for (uint32_t i = 0; i < count; ++i) codes[i] = i;
  return codes;
}

TEST(Widen, EveryFp8CodeHasTheValueMlDtypesGivesIt) {
  const auto golden = [](const std::array<float, 256>& table) {
    return Floats(table.begin(), table.end());
  };
  const Codes all = AllCodes(256);
  OnEachTarget([&] {
    ExpectSameFloats(Widen(Dtype::kFloat8E4M3, all), golden(kE4M3Golden));
    ExpectSameFloats(Widen(Dtype::kFloat8E5M2, all), golden(kE5M2Golden));
    ExpectSameFloats(Widen(Dtype::kFloat8E4M3FN, all), golden(kE4M3FNGolden));
  });
}

TEST(Widen, AnFp8NanKeepsItsSignAndIsQuiet) {
  for (float x : Widen(Dtype::kFloat8E4M3FN, {0xFF})) {
    EXPECT_EQ(Bits(x), 0xFFC00000);
  }
  // Signalling ones too: quiet bit set, payload kept.
  EXPECT_EQ(Bits(Widen(Dtype::kFloat8E4M3, {0x79})[0]), 0x7FD00000u);
  EXPECT_EQ(Bits(Widen(Dtype::kFloat8E5M2, {0xFD})[0]), 0xFFE00000u);
}

TEST(Widen, EveryFloat16CodeHasItsIeeeValue) {
  const Codes all = AllCodes(65536);
  Floats want;
  for (uint32_t code : all) {
    const int exponent = code >> 10 & 31;
    const double fraction = (code & 1023) / 1024.0;
    double value = exponent == 0 ? std::ldexp(fraction, -14)
                                 : std::ldexp(1 + fraction, exponent - 15);
    if (exponent == 31) value = fraction == 0 ? kInf : kNan;
    want.push_back(static_cast<float>(code >> 15 ? -value : value));
  }
  OnEachTarget([&] { ExpectSameFloats(Widen(Dtype::kFloat16, all), want); });
}

TEST(Widen, Bfloat16IsTheUpperHalfOfFp32) {
  ExpectSameFloats(
      Widen(Dtype::kBFloat16,
            {0x3F80, 0xC049, 0x0001, 0x8000, 0x7F7F, 0xFF80, 0x7FC0}),
      {1.0f, -3.140625f, 0x1p-133f, -0.0f, 0x1.FEp127f, -kInf, kNan});
}

TEST(Widen, IntegersAbove2To24RoundToNearestEven) {
  ExpectSameFloats(
      Widen(Dtype::kInt32, {16777217, 16777219, 0x7FFFFFFF, 0x80000000,
                            0xFFFFFFFF, 0, 5, 0xFEFFFFFF, 1}),
      {16777216, 16777220, 2147483648.0f, -2147483648.0f, -1, 0, 5, -16777216,
       1});
  ExpectSameFloats(
      Widen(Dtype::kUint32,
            {16777217, 16777219, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80000080,
             0x80000180, 0x80000081, 0xFFFFFF7F}),
      {16777216, 16777220, 2147483648.0f, 2147483648.0f, 4294967296.0f,
       2147483648.0f, 2147484160.0f, 2147483904.0f, 4294967040.0f});
}

TEST(Widen, SmallIntegersAreExact) {
  ExpectSameFloats(Widen(Dtype::kUint8, {0, 1, 127, 128, 255}),
                   {0, 1, 127, 128, 255});
  ExpectSameFloats(Widen(Dtype::kInt8, {0, 1, 127, 128, 255}),
                   {0, 1, 127, -128, -1});
  ExpectSameFloats(Widen(Dtype::kUint16, {0, 32767, 32768, 65535}),
                   {0, 32767, 32768, 65535});
  ExpectSameFloats(Widen(Dtype::kInt16, {0, 32767, 32768, 65535}),
                   {0, 32767, -32768, -1});
}

TEST(Widen, AnyNonzeroBoolIsOne) {
  ExpectSameFloats(Widen(Dtype::kBool, {0, 1, 2, 255}), {0, 1, 1, 1});
}

TEST(Widen, AScaleCodeIsAPowerOfTwoAnd255IsNan) {
  ExpectSameFloats(Widen(Dtype::kFloat8E8M0FNU, {0, 1, 127, 128, 254, 255}),
                   {0x1p-127f, 0x1p-126f, 1, 2, 0x1p127f, kNan});
}

TEST(Widen, Tfloat32KeepsTenMantissaBits) {
  const Codes stored = {
      Bits(0x1.001p0f),     Bits(0x1.002p0f),  Bits(0x1.006p0f),
      Bits(0x1.0020020p0f), Bits(-0x1.006p0f), Bits(kMax),
      Bits(kInf),           0x7F800001,        Bits(0x1.FFEp0f)};
  ExpectSameFloats(
      Widen(Dtype::kTFloat32, stored),
      {1, 1, 0x1.008p0f, 0x1.004p0f, -0x1.008p0f, kInf, kInf, kNan, 2});
  NumericsOptions cut;
  cut.tf32 = Tf32Rounding::kTruncate;
  ExpectSameFloats(
      Widen(Dtype::kTFloat32, stored, cut),
      {1, 1, 0x1.004p0f, 1, -0x1.004p0f, 0x1.FFCp127f, kInf, kNan, 0x1.FFCp0f});
}

TEST(Widen, AStrideOfZeroRepeatsTheElement) {
  const std::vector<std::byte> bytes = Pack(Dtype::kBFloat16, {0x4040}, 2);
  Floats out(5);
  WidenRow(Dtype::kBFloat16, bytes.data(), 0, 5, {}, out.data());
  ExpectSameFloats(out, {3, 3, 3, 3, 3});
}

TEST(Widen, ANegativeStrideWalksBackwards) {
  const std::vector<std::byte> bytes = Pack(Dtype::kUint8, {1, 2, 3}, 1);
  Floats out(3);
  WidenRow(Dtype::kUint8, bytes.data() + 2, -1, 3, {}, out.data());
  ExpectSameFloats(out, {3, 2, 1});
}

// ---- Writing integers ----

TEST(Narrow, IntegersRoundToNearestEvenThenSaturate) {
  OnEachTarget([&] {
    EXPECT_EQ(
        Narrow(Dtype::kInt32,
               {.5f, 1.5f, 2.5f, -.5f, -1.5f, 3e9f, -3e9f, kInf, -kInf}),
        Signed({0, 2, 2, 0, -2, 2147483647, INT32_MIN, 2147483647, INT32_MIN},
               Dtype::kInt32));
    EXPECT_EQ(Narrow(Dtype::kUint8,
                     {254.5f, 255.5f, 300, -1, 253.5f, .5f, 1.5f, kInf, -kInf}),
              (Codes{254, 255, 255, 0, 254, 0, 2, 255, 0}));
    EXPECT_EQ(
        Narrow(Dtype::kInt8, {126.5f, 127.5f, 128, -128.5f, -129, -2.5f, 1e9f}),
        Signed({126, 127, 127, -128, -128, -2, 127}, Dtype::kInt8));
    EXPECT_EQ(Narrow(Dtype::kUint16, {65534.5f, 65535.5f, 65536, -.5f, -7}),
              (Codes{65534, 65535, 65535, 0, 0}));
    EXPECT_EQ(
        Narrow(Dtype::kInt16, {32766.5f, 32767.5f, 1e5f, -32768.5f, -1e5f}),
        Signed({32766, 32767, 32767, -32768, -32768}, Dtype::kInt16));
  });
}

TEST(Narrow, Uint32CoversItsUpperHalf) {
  OnEachTarget([&] {
    EXPECT_EQ(
        Narrow(Dtype::kUint32,
               {2147483520.0f, 2147483648.0f, 2147483904.0f, 4294967040.0f,
                4294967296.0f, 1e20f, kInf, -.5f, -1, -kInf, .5f, 1.5f, 2.5f}),
        (Codes{2147483520u, 2147483648u, 2147483904u, 4294967040u, 0xFFFFFFFF,
               0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0, 0, 2, 2}));
  });
}

TEST(Narrow, TheLargestInt32ComesBackSaturated) {
  const Floats wide = Widen(Dtype::kInt32, {0x7FFFFFFF});
  EXPECT_EQ(Narrow(Dtype::kInt32, wide), (Codes{2147483647}));
  EXPECT_EQ(Narrow(Dtype::kUint32, wide), (Codes{2147483648u}));
}

TEST(Narrow, NanBecomesTheIntegerZeroAndABoolOne) {
  const Floats nans(9, std::bit_cast<float>(0xFFC00001));
  for (Dtype dtype : {Dtype::kUint8, Dtype::kInt8, Dtype::kUint16,
                      Dtype::kInt16, Dtype::kUint32, Dtype::kInt32}) {
    EXPECT_EQ(Narrow(dtype, nans), Codes(9, 0)) << Name(dtype);
  }
  EXPECT_EQ(Narrow(Dtype::kBool, nans), Codes(9, 1));
}

TEST(Narrow, BoolIsWhetherTheValueIsNotZero) {
  EXPECT_EQ(Narrow(Dtype::kBool, {0, -0.0f, 1, -2, .25f, 1e-45f, kInf, 256}),
            (Codes{0, 0, 1, 1, 1, 1, 1, 1}));
}

// ---- Writing floats ----

TEST(Narrow, Float16EdgesAreThoseOfIeee) {
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kFloat16,
                     {1, -2, 65504, 65519.99f, 65520, -65520, kInf, 0x1p-24f,
                      0x1p-25f, 0x1.8p-25f, 0x1.8p-24f, 0x1.FFEp-15f, -0.0f,
                      0x1.002p0f, 0x1.006p0f, 1e-45f}),
              (Codes{0x3C00, 0xC000, 0x7BFF, 0x7BFF, 0x7C00, 0xFC00, 0x7C00, 1,
                     0, 1, 2, 0x0400, 0x8000, 0x3C00, 0x3C02, 0}));
  });
}

TEST(Narrow, Bfloat16EdgesAreThoseOfRoundToNearestEven) {
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kBFloat16, {1, 0x1.01p0f, 0x1.03p0f, 0x1.010002p0f,
                                        kMax, -kMax, 0x1.FEp127f, 0x1p-133f,
                                        0x1p-134f, 0x1.8p-134f, -0.0f, kInf}),
              (Codes{0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0xFF80, 0x7F7F, 1,
                     0, 1, 0x8000, 0x7F80}));
  });
}

TEST(Narrow, E4M3OverflowsToInfinity) {
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3,
                     {1, 240, 247.9f, 248, 480, -kMax, kInf, 0x1p-9f, 0x1p-10f,
                      0x1.8p-10f, 0x1.8p-9f, 0x1.Ep-7f, -0.0f, 17, 19}),
              (Codes{0x38, 0x77, 0x77, 0x78, 0x78, 0xF8, 0x78, 1, 0, 1, 2, 8,
                     0x80, 0x58, 0x5A}));
  });
}

TEST(Narrow, E5M2OverflowsToInfinity) {
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kFloat8E5M2,
                     {1, 57344, 61439, 61440, -kMax, kInf, 0x1p-16f, 0x1p-17f,
                      0x1.8p-17f, 0x1.Cp-15f, -0.0f, 9, 11}),
              (Codes{0x3C, 0x7B, 0x7B, 0x7C, 0xFC, 0x7C, 1, 0, 1, 4, 0x80, 0x48,
                     0x4A}));
  });
}

TEST(Narrow, E4M3FNOverflowsToNanOrByOptionTo448) {
  const Floats in = {448, 464, 464.1f, 480, -1000, kInf, -kInf, 1, 0x1p-10f};
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3FN, in),
              (Codes{0x7E, 0x7E, 0x7F, 0x7F, 0xFF, 0x7F, 0xFF, 0x38, 0}));
    NumericsOptions saturate;
    saturate.e4m3fn_overflow = E4m3fnOverflow::kSaturate;
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3FN, in, saturate),
              (Codes{0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7E, 0xFE, 0x38, 0}));
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3FN, {kNan}, saturate), (Codes{0x7F}));
  });
}

TEST(Narrow, NanStaysAQuietNanOfItsSign) {
  Floats nans;
  for (uint32_t bits :
       {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFBFFFFFu, 0x7FFFFFFFu}) {
    nans.push_back(std::bit_cast<float>(bits));
  }
  OnEachTarget([&] {
    EXPECT_EQ(Narrow(Dtype::kFloat16, nans),
              (Codes{0x7E00, 0xFE00, 0x7E00, 0xFFFF, 0x7FFF}));
    EXPECT_EQ(Narrow(Dtype::kBFloat16, nans),
              (Codes{0x7FC0, 0xFFC0, 0x7FC0, 0xFFFF, 0x7FFF}));
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3, nans),
              (Codes{0x7C, 0xFC, 0x7C, 0xFC, 0x7C}));
    EXPECT_EQ(Narrow(Dtype::kFloat8E5M2, nans),
              (Codes{0x7E, 0xFE, 0x7E, 0xFE, 0x7E}));
    EXPECT_EQ(Narrow(Dtype::kFloat8E4M3FN, nans),
              (Codes{0x7F, 0xFF, 0x7F, 0xFF, 0x7F}));
    EXPECT_EQ(
        Narrow(Dtype::kTFloat32, nans),
        (Codes{0x7FC00000, 0xFFC00000, 0x7FC00000, 0xFFFFE000, 0x7FFFE000}));
    // fp32 moves bits, signalling NaNs too.
    EXPECT_EQ(
        Narrow(Dtype::kFloat32, nans),
        (Codes{0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFBFFFFF, 0x7FFFFFFF}));
  });
}

TEST(Narrow, ScalesRoundToThePowerOfTwoNearest) {
  EXPECT_EQ(
      Narrow(Dtype::kFloat8E8M0FNU,
             {1, 1.5f, 1.499f, 0.75f, 0, -0.0f, 0x1p-127f, 0x1.8p-127f, 1e-45f,
              0x1p127f, 0x1.8p127f, kInf, kNan, -1, -1e-45f}),
      (Codes{127, 128, 127, 127, 0, 0, 0, 1, 0, 254, 255, 255, 255, 255, 255}));
}

TEST(Narrow, Tfloat32StoresTenMantissaBits) {
  const Floats in = {0x1.002p0f, 0x1.006p0f, kMax, 0x1.4p-147f, -3};
  EXPECT_EQ(Narrow(Dtype::kTFloat32, in),
            (Codes{0x3F800000, 0x3F804000, 0x7F800000, 0, 0xC0400000}));
  NumericsOptions cut;
  cut.tf32 = Tf32Rounding::kTruncate;
  EXPECT_EQ(Narrow(Dtype::kTFloat32, in, cut),
            (Codes{0x3F800000, 0x3F802000, 0x7F7FE000, 0, 0xC0400000}));
}

TEST(Subnormals, AreFlushedToSignedZerosByOptionBothWays) {
  NumericsOptions flush;
  flush.subnormals = Subnormals::kFlush;
  EXPECT_EQ(Narrow(Dtype::kFloat16, {0x1p-15f, -0x1p-15f, 0x1p-14f}, flush),
            (Codes{0, 0x8000, 0x0400}));
  EXPECT_EQ(Narrow(Dtype::kFloat8E4M3, {-0x1p-7f, 0x1p-6f}, flush),
            (Codes{0x80, 8}));
  EXPECT_EQ(Narrow(Dtype::kFloat32, {1e-40f, -1e-40f, 0x1p-126f}, flush),
            (Codes{0, 0x80000000, 0x00800000}));
  ExpectSameFloats(Widen(Dtype::kFloat16, {1, 0x83FF, 0x0400}, flush),
                   {0, -0.0f, 0x1p-14f});
  ExpectSameFloats(Widen(Dtype::kBFloat16, {1, 0x807F, 0x0080}, flush),
                   {0, -0.0f, 0x1p-126f});
  ExpectSameFloats(Widen(Dtype::kFloat8E5M2, {3, 0x83, 4}, flush),
                   {0, -0.0f, 0x1p-14f});
  ExpectSameFloats(Widen(Dtype::kFloat32, {1, 0x807FFFFF}, flush), {0, -0.0f});
}

// ---- Properties ----

struct Layout {
  Dtype dtype;
  int mantissa_bits;
  int bias;
  uint32_t largest;  // code of the largest finite value
};

double ValueOf(const Layout& layout, uint32_t code) {
  const double one = 1 << layout.mantissa_bits;
  const auto fraction =
      static_cast<double>(code % (1u << layout.mantissa_bits));
  const int exponent = static_cast<int>(code >> layout.mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction / one, 1 - layout.bias)
                       : std::ldexp(1 + fraction / one, exponent - layout.bias);
}

TEST(Narrow, EveryTieOfEveryFormatGoesToTheEvenCode) {
  for (const Layout& layout : {Layout{Dtype::kFloat16, 10, 15, 0x7BFF},
                               Layout{Dtype::kBFloat16, 7, 127, 0x7F7F},
                               Layout{Dtype::kFloat8E4M3, 3, 7, 0x77},
                               Layout{Dtype::kFloat8E5M2, 2, 15, 0x7B},
                               Layout{Dtype::kFloat8E4M3FN, 3, 7, 0x7E}}) {
    Floats in;
    Codes want;
    for (uint32_t code = 0; code < layout.largest; ++code) {
      const double low = ValueOf(layout, code);
      const double high = ValueOf(layout, code + 1);
      const auto middle = static_cast<float>((low + high) / 2);
      ASSERT_EQ(middle, (low + high) / 2);
      in.insert(in.end(),
                {static_cast<float>(low), middle, std::nextafter(middle, 0.0f),
                 std::nextafter(middle, kInf)});
      want.insert(want.end(), {code, code + (code & 1), code, code + 1});
    }
    OnEachTarget([&] { EXPECT_EQ(Narrow(layout.dtype, in), want); });
  }
}

TEST(Convert, EveryTargetGivesTheBitsOfTheScalarCode) {
  std::mt19937 random(1);
  Codes words(100003);
  for (uint32_t& word : words) word = random();
  Floats floats;
  for (uint32_t word : words) floats.push_back(std::bit_cast<float>(word));
  OnEachTarget([&] {
    for (const DtypeInfo& info : kDtypes) {
      if (IsPacked(info.dtype)) continue;
      Codes codes = words;
      const uint32_t mask = info.bytes == 4 ? ~0u : (1u << 8 * info.bytes) - 1;
      for (uint32_t& code : codes) code &= mask;
      Widen(info.dtype, codes);  // each compares its two paths
      Narrow(info.dtype, floats);
    }
  });
}

TEST(Convert, RowsOfEveryLengthAreWrittenToTheirEndAndNoFurther) {
  for (size_t n = 0; n < 40; ++n) {
    const Floats in(n, 1.0f);
    std::vector<std::byte> out(2 * n + 2, std::byte{0xEE});
    NarrowRow(in.data(), n, Dtype::kBFloat16, out.data(), 2, {});
    EXPECT_EQ(Unpack(Dtype::kBFloat16, out, n, 2), Codes(n, 0x3F80));
    EXPECT_EQ(out[2 * n], std::byte{0xEE});
  }
}

TEST(FirstNan, IsTheIndexOfTheFirstOrTheLength) {
  Floats row(37, 1.0f);
  EXPECT_EQ(FirstNan(row.data(), 37), 37u);
  EXPECT_EQ(FirstNan(row.data(), 0), 0u);
  for (size_t at = 37; at-- > 0;) {
    row[at] = kNan;
    EXPECT_EQ(FirstNan(row.data(), 37), at);
  }
  row[0] = kInf;
  EXPECT_EQ(FirstNan(row.data(), 37), 1u);
}

// ---- Options ----

TEST(NumericsOptions, EveryValueOfEveryKeyCanBeSetAndReadBack) {
  for (const NumericsKey& key : NumericsKeys()) {
    EXPECT_FALSE(key.doc.empty());
    EXPECT_EQ(NumericsOptionValue({}, key.name), key.values.front());
    for (std::string_view value : key.values) {
      NumericsOptions options;
      EXPECT_EQ(SetNumericsOption(options, key.name, value), "");
      EXPECT_EQ(NumericsOptionValue(options, key.name), value);
      EXPECT_EQ(options == NumericsOptions(), value == key.values.front());
    }
  }
}

TEST(NumericsOptions, AMistakeIsExplainedAndChangesNothing) {
  NumericsOptions options;
  EXPECT_EQ(SetNumericsOption(options, "tf32", "up"),
            "numerics tf32 cannot be 'up'; it is one of rne, truncate");
  EXPECT_EQ(SetNumericsOption(options, "tf31", "rne"),
            "unknown numerics key 'tf31'; the keys are matmul, tf32, "
            "e4m3fn_overflow, scale_bias, subnormals, mx_scale, "
            "nan_to_integer, float_overflow, integer_overflow, "
            "shift_overflow, repeated_index, reduce, two_ops, table_error");
  EXPECT_EQ(options, NumericsOptions());
  EXPECT_EQ(SetNumericsOption(options, "matmul", "exact"), "");
  EXPECT_EQ(options.matmul, MatmulRule::kExact);
}

}  // namespace
}  // namespace trnemu
