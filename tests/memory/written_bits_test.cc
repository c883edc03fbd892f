#include "memory/written_bits.h"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <random>

namespace trnemu {
namespace {

constexpr int64_t kBits = 2048;
using Expected = std::bitset<kBits>;

// Positions around the ends of words.
constexpr std::array<int64_t, 12> kPlaces = {0,  1,   31,  32,  63,  64,
                                             65, 127, 128, 129, 191, 200};

struct Array {
  std::array<uint64_t, kBits / 64> words{};
  WrittenBits bits{words.data()};

  Expected value() const {
    Expected all;
    for (size_t i = 0; i < kBits; ++i) all[i] = words[i / 64] >> (i % 64) & 1;
    return all;
  }
};

TEST(WrittenBitsTest, SetAndClearChangeTheSpanAndNothingElse) {
  for (int64_t begin : kPlaces) {
    for (int64_t n : kPlaces) {
      Expected expected;
      for (int64_t i = 0; i < n; ++i) expected.set(begin + i);
      Array set;
      set.bits.Set(begin, n);
      EXPECT_EQ(set.value(), expected) << begin << " " << n;
      Array clear;
      clear.words.fill(~uint64_t{0});
      clear.bits.Clear(begin, n);
      EXPECT_EQ(clear.value(), ~expected) << begin << " " << n;
    }
  }
}

TEST(WrittenBitsTest, SetKeepsWhatIsSetAndClearWhatIsNot) {
  Array array;
  array.bits.Set(60, 2);
  array.bits.Set(63, 1);
  EXPECT_TRUE(array.bits[60] && array.bits[61] && array.bits[63]);
  EXPECT_FALSE(array.bits[62] || array.bits[59] || array.bits[64]);
  array.bits.Clear(61, 2);
  EXPECT_TRUE(array.bits[60] && array.bits[63]);
  EXPECT_FALSE(array.bits[61]);
}

TEST(WrittenBitsTest, FirstClearFindsEveryHoleAndNoneOutside) {
  for (int64_t begin : kPlaces) {
    for (int64_t n : kPlaces) {
      Array array;
      array.bits.Set(begin, n);
      EXPECT_EQ(array.bits.FirstClear(begin, n), n);
      EXPECT_TRUE(array.bits.AllSet(begin, n));
      for (int64_t hole = 0; hole < n; ++hole) {
        array.bits.Clear(begin + hole, 1);
        if (hole + 2 < n) array.bits.Clear(begin + hole + 2, 1);
        ASSERT_EQ(array.bits.FirstClear(begin, n), hole) << begin << " " << n;
        ASSERT_FALSE(array.bits.AllSet(begin, n)) << begin << " " << n;
        array.bits.Set(begin, n);
      }
    }
  }
}

TEST(WrittenBitsTest, AHoleInALongSpanIsFoundWhereverItIs) {
  Array array;
  array.bits.Set(0, kBits);
  for (int64_t hole = 3; hole < kBits - 3; ++hole) {
    array.bits.Clear(hole, 1);
    ASSERT_FALSE(array.bits.AllSet(3, kBits - 6)) << hole;
    ASSERT_EQ(array.bits.FirstClear(3, kBits - 6), hole - 3);
    array.bits.Set(hole, 1);
  }
  EXPECT_TRUE(array.bits.AllSet(3, kBits - 6));
}

TEST(WrittenBitsTest, PositionsCountFromWhereItPoints) {
  Array array;
  WrittenBits at = array.bits + 70;
  EXPECT_TRUE(at.tracked());
  EXPECT_FALSE(WrittenBits().tracked());
  at.Set(-10, 20);
  EXPECT_EQ(array.bits.FirstClear(60, 30), 20);
  EXPECT_FALSE(array.bits[59]);
  EXPECT_EQ(at.FirstClear(-3, 100), 13);
  at += 30;
  at.Set(0, 1);
  EXPECT_TRUE(array.bits[100]);
  EXPECT_EQ(array.value().count(), 21u);
}

// Against the same, bit by bit.
TEST(WrittenBitsTest, EachIsTheUnionOfItsPieces) {
  std::mt19937 random(1);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 20000; ++round) {
    const int64_t size = round % 4 == 3 ? 1 + pick(150) : 1 << round % 4;
    const int64_t n = pick(9);
    ptrdiff_t step = pick(2) ? (ptrdiff_t{1} << pick(8)) : pick(110);
    step = std::min<ptrdiff_t>(step, 110);
    int64_t begin = 3 + pick(70);
    if (pick(3) == 0) {
      begin += n * step;
      step = -step;
    }
    Expected expected;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < size; ++k) expected.set(begin + i * step + k);
    }
    Array array;
    const WrittenBits bits = array.bits + 3;
    bits.SetEach(begin - 3, step, n, size);
    ASSERT_EQ(array.value(), expected)
        << begin << " " << step << " " << n << " " << size;
    ASSERT_TRUE(bits.EachSet(begin - 3, step, n, size));
    if (n == 0) continue;
    // One bit fewer of them is found; what is not theirs does not matter.
    const int64_t hole = begin + pick(n) * step + pick(size);
    for (uint64_t fill : {uint64_t{0}, ~uint64_t{0}}) {
      array.words.fill(fill);
      bits.SetEach(begin - 3, step, n, size);
      ASSERT_TRUE(bits.EachSet(begin - 3, step, n, size));
      bits.Clear(hole - 3, 1);
      ASSERT_FALSE(bits.EachSet(begin - 3, step, n, size))
          << begin << " " << step << " " << n << " " << size << " " << hole;
    }
  }
}

}  // namespace
}  // namespace trnemu
