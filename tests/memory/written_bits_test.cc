#include "memory/written_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <random>
#include <vector>

namespace trnemu {
namespace {

// Two groups of words, the second not whole.
constexpr int64_t kBits = 5000;
using Expected = std::bitset<kBits>;

// Positions around the ends of words, and starts near that of a group.
constexpr std::array<int64_t, 12> kPlaces = {0,  1,   31,  32,  63,  64,
                                             65, 127, 128, 129, 191, 200};
constexpr int64_t kGroup = WrittenBits::kGroupBits;

std::vector<int64_t> Starts() {
  std::vector<int64_t> starts(kPlaces.begin(), kPlaces.end());
  for (int64_t place : kPlaces) starts.push_back(kGroup - 128 + place);
  return starts;
}

struct Array {
  std::array<uint64_t, WrittenBits::Words(kBits)> words{};
  WrittenBits bits{words.data(), kBits};

  Expected value() const {
    Expected all;
    for (int64_t i = 0; i < kBits; ++i) all[i] = bits[i];
    return all;
  }
};

TEST(WrittenBitsTest, SetAndClearChangeTheSpanAndNothingElse) {
  for (int64_t begin : Starts()) {
    for (int64_t n : kPlaces) {
      Expected expected;
      for (int64_t i = 0; i < n; ++i) expected.set(begin + i);
      Array set;
      set.bits.Set(begin, n);
      EXPECT_EQ(set.value(), expected) << begin << " " << n;
      Array clear;
      clear.bits.Set(0, kBits);
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
  for (int64_t begin : Starts()) {
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

TEST(WrittenBitsTest, ClearingLongSpansReleasesWholeGroupsAndNothingElse) {
  constexpr int64_t kMany = 5 * kGroup;
  for (int64_t begin : {int64_t{0}, int64_t{5}, kGroup - 1, kGroup}) {
    for (int64_t n : {int64_t{9}, kGroup, 3 * kGroup, 3 * kGroup + 70}) {
      std::vector<uint64_t> words(WrittenBits::Words(kMany));
      const WrittenBits bits(words.data(), kMany);
      bits.Set(0, kMany);
      int64_t released = 0;
      bits.ClearWith(begin, n, [&](void* address, int64_t bytes) {
        std::memset(address, 0, static_cast<size_t>(bytes));
        released += bytes;
      });
      EXPECT_TRUE(bits.AllSet(0, begin));
      EXPECT_EQ(bits.FirstSet(begin, kMany - begin), n);
      EXPECT_TRUE(bits.AllSet(begin + n, kMany - begin - n));
      // Two words, and 64, of each group that is cleared whole.
      const int64_t first = (begin + kGroup - 1) / kGroup;
      const int64_t groups = std::max<int64_t>(0, (begin + n) / kGroup - first);
      EXPECT_EQ(released, groups * 66 * 8);
    }
  }
}

// Against the same, bit by bit.
TEST(WrittenBitsTest, EachIsTheUnionOfItsPieces) {
  std::mt19937 random(1);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 20000; ++round) {
    const int64_t size = round % 4 == 3 ? 1 + pick(150) : 1 << round % 4;
    const int64_t n = pick(9);
    ptrdiff_t step = pick(2) ? (ptrdiff_t{1} << pick(8)) : pick(110);
    step = std::min<ptrdiff_t>(step, 80);
    int64_t begin = 3 + pick(70) + (pick(2) ? kGroup - 500 : 0);
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
    for (const bool fill : {false, true}) {
      array.bits.Clear(0, kBits);
      if (fill) array.bits.Set(0, kBits);
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
