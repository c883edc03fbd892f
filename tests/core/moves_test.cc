// Transposes of bytes, identities, and the eight largest of a row.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "core/numerics/largest.h"
#include "core/numerics/transpose.h"
#include "gtest/gtest.h"
#include "tests/core/vector_targets.h"

namespace trnemu {
namespace {

template <typename T>
void ExpectTransposed(size_t rows, size_t columns, size_t slack) {
  std::mt19937 random(static_cast<unsigned>(rows * 1000 + columns));
  std::vector<T> from(rows * (columns + slack));
  for (T& x : from) x = static_cast<T>(random());
  std::vector<T> to(columns * (rows + slack), T{7});
  TransposeBytes(sizeof(T),
                 {reinterpret_cast<const std::byte*>(from.data()),
                  static_cast<ptrdiff_t>((columns + slack) * sizeof(T))},
                 rows, columns,
                 {reinterpret_cast<std::byte*>(to.data()),
                  static_cast<ptrdiff_t>((rows + slack) * sizeof(T))});
  for (size_t c = 0; c < columns; ++c) {
    for (size_t r = 0; r < rows + slack; ++r) {
      const T want = r < rows ? from[r * (columns + slack) + c] : T{7};
      ASSERT_EQ(to[c * (rows + slack) + r], want) << rows << " x " << columns;
    }
  }
}

TEST(TransposeTest, MovesEveryElementAndNothingElse) {
  for (const size_t rows : {1, 7, 8, 32, 127, 128, 129, 300}) {
    for (const size_t columns : {1, 5, 8, 19, 128}) {
      ExpectTransposed<uint8_t>(rows, columns, 3);
      ExpectTransposed<uint16_t>(rows, columns, 3);
      ExpectTransposed<uint32_t>(rows, columns, 3);
    }
  }
}

TEST(TransposeTest, AnIdentityHasOnesOnItsDiagonalAndZerosOfEitherSign) {
  constexpr size_t kN = 17;
  constexpr uint32_t kOne = std::bit_cast<uint32_t>(1.0f);
  std::vector<float> m(kN * kN, 0.0f);
  for (size_t i = 0; i < kN; ++i) m[i * kN + i] = 1.0f;
  const auto is_identity = [&m] {
    return IsIdentity<uint32_t>({reinterpret_cast<std::byte*>(m.data()),
                                 static_cast<ptrdiff_t>(kN * sizeof(float))},
                                kN, kOne);
  };
  EXPECT_TRUE(is_identity());
  m[3] = -0.0f;
  EXPECT_TRUE(is_identity());
  m[3] = 1e-45f;
  EXPECT_FALSE(is_identity());
  m[3] = 0;
  std::swap(m[0], m[1]);
  EXPECT_FALSE(is_identity());
}

// One after the other, as max8 is defined.
std::vector<float> EightBySorting(const std::vector<float>& row) {
  std::vector<float> numbers;
  std::copy_if(row.begin(), row.end(), std::back_inserter(numbers),
               [](float x) { return !std::isnan(x); });
  std::stable_sort(numbers.begin(), numbers.end(),
                   [](float a, float b) { return a > b; });
  numbers.resize(8, std::numeric_limits<float>::quiet_NaN());
  return numbers;
}

TEST(LargestTest, TheEightLargestAreThoseOfAStableSort) {
  OnEachTarget([] {
    std::mt19937 random(5);
    for (int round = 0; round < 3000; ++round) {
      std::vector<float> row(8 + random() % 90);
      const uint32_t kinds = 1 + random() % 12;
      for (float& x : row) {
        const uint32_t kind = random() % kinds;
        x = static_cast<float>(static_cast<int>(random() % 21) - 10) * 0.0f +
            static_cast<float>(static_cast<int>(random() % (4 * kinds)) - 2);
        if (random() % 2 == 0 && x == 0) x = -0.0f;
        if (kind == 7) x = std::numeric_limits<float>::quiet_NaN();
        if (kind == 9) x = -std::numeric_limits<float>::infinity();
      }
      const std::vector<float> want = EightBySorting(row);
      const auto got = LargestEight(row.data(), row.size());
      for (size_t i = 0; i < 8; ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(got[i]),
                  std::bit_cast<uint32_t>(want[i]))
            << "round " << round << ", place " << i;
      }
    }
  });
}

}  // namespace
}  // namespace trnemu
