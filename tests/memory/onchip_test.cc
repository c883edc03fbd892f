#include "memory/onchip.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace trnemu {
namespace {

constexpr int64_t kBytes = 229376;

TEST(OnChipMemoryTest, StartsAsZerosThatNothingHasWritten) {
  OnChipMemory memory(kBytes);
  for (int64_t p : {0, 1, 127}) {
    for (int64_t byte : {int64_t{0}, kBytes / 2, kBytes - 1}) {
      EXPECT_EQ(*memory.at(p, byte), std::byte{0});
      EXPECT_FALSE(memory.shadow_at(p, byte)[0]);
    }
  }
}

TEST(OnChipMemoryTest, PartitionsDoNotShareBytes) {
  OnChipMemory memory(16384);
  for (int p = 0; p < kPartitions; ++p) {
    std::memset(memory.at(p, 0), p + 1, 16384);
  }
  for (int p = 0; p < kPartitions; p += 2) memory.shadow_at(p, 0).Set(0, 16384);
  for (int p = 0; p < kPartitions; ++p) {
    for (int64_t byte : {0, 8191, 16383}) {
      EXPECT_EQ(*memory.at(p, byte), static_cast<std::byte>(p + 1));
      EXPECT_EQ(memory.shadow_at(p, byte)[0], p % 2 == 0);
    }
  }
}

TEST(OnChipMemoryTest, AColumnSpreadsOverAllCacheSets) {
  for (int64_t bytes : {16384, 196608, 229376, 262144}) {
    OnChipMemory memory(bytes);
    EXPECT_GE(memory.stride(), bytes);
    EXPECT_EQ(memory.stride() % 64, 0);
    std::set<uintptr_t> sets;
    for (int p = 0; p < kPartitions; ++p) {
      sets.insert(reinterpret_cast<uintptr_t>(memory.at(p, 0)) / 64 % 64);
    }
    EXPECT_EQ(sets.size(), 64u);
  }
}

}  // namespace
}  // namespace trnemu
