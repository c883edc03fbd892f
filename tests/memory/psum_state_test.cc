#include "memory/psum_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trnemu {
namespace {

constexpr int64_t kEntries = 9000;  // several groups of words

TEST(PsumStateTest, EntriesHaveTheirLastWriter) {
  std::vector<uint64_t> memory(PsumState::Words(kEntries));
  const PsumState state(memory.data(), kEntries);
  EXPECT_TRUE(state.tracked());
  EXPECT_FALSE(PsumState().tracked());
  EXPECT_EQ(state.Writers(0, kEntries), 1u << 0);  // nobody
  state.Mark(10, 100, PsumWriter::kMatmul);
  state.Mark(50, 20, PsumWriter::kOther);
  state.Mark(60, 5, PsumWriter::kNothing);
  EXPECT_EQ(state[49], PsumWriter::kMatmul);
  EXPECT_EQ(state[50], PsumWriter::kOther);
  EXPECT_EQ(state[60], PsumWriter::kNothing);
  EXPECT_EQ(state[65], PsumWriter::kOther);
  EXPECT_EQ(state[110], PsumWriter::kNothing);
  EXPECT_EQ(state.Writers(10, 40), 1u << 1);
  EXPECT_EQ(state.Writers(49, 11), 1u << 1 | 1u << 2);
  EXPECT_EQ(state.Writers(49, 12), 1u << 0 | 1u << 1 | 1u << 2);
  EXPECT_EQ((state + 50)[0], PsumWriter::kOther);
}

// Against an array of them.
TEST(PsumStateTest, MarksChangeTheirEntriesAndNothingElse) {
  std::vector<uint64_t> memory(PsumState::Words(kEntries));
  const PsumState state(memory.data(), kEntries);
  std::vector<PsumWriter> expected(kEntries, PsumWriter::kNothing);
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const auto a = static_cast<int64_t>(random() % kEntries);
    const auto n = static_cast<int64_t>(random() % (round % 2 ? 70 : kEntries) %
                                        (kEntries - a)) +
                   1;
    const auto writer = static_cast<PsumWriter>(random() % 3);
    state.Mark(a, n, writer);
    std::fill_n(expected.begin() + a, n, writer);
    unsigned all = 0;
    for (int64_t i = 0; i < kEntries; ++i) {
      ASSERT_EQ(state[i], expected[static_cast<size_t>(i)])
          << round << " " << i;
    }
    const int64_t from = std::max<int64_t>(0, a - 3);
    const int64_t to = std::min(kEntries, a + n + 3);
    for (int64_t i = from; i < to; ++i) {
      all |= 1u << static_cast<unsigned>(expected[static_cast<size_t>(i)]);
    }
    ASSERT_EQ(state.Writers(from, to - from), all) << round;
  }
}

}  // namespace
}  // namespace trnemu
