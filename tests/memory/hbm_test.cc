#include "memory/hbm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "isa/diagnostic.h"

namespace trnemu {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::shared_ptr<Hbm> Make(int64_t bytes) {
  auto hbm = Hbm::Create(bytes);
  EXPECT_TRUE(hbm.ok()) << hbm.status();
  return *std::move(hbm);
}

HbmBlock Get(const std::shared_ptr<Hbm>& hbm, int64_t bytes) {
  auto block = hbm->Allocate(bytes);
  EXPECT_TRUE(block.ok()) << block.status();
  return *std::move(block);
}

TEST(HbmTest, ReservesAWholeDeviceWithoutTouchingIt) {
  const auto hbm = Make(96ll << 30);
  EXPECT_EQ(hbm->size(), 96ll << 30);
  HbmBlock block = Get(hbm, 64ll << 30);
  block.data()[block.size() - 1] = std::byte{1};
  block.shadow().Set(block.size() - 1, 1);
  EXPECT_TRUE(block.shadow()[block.size() - 1]);
  EXPECT_FALSE(block.shadow()[block.size() - 2]);
  EXPECT_EQ(hbm->used(), 64ll << 30);
}

TEST(HbmTest, BlocksAreAlignedAndDisjoint) {
  const auto hbm = Make(kMiB);
  std::vector<HbmBlock> blocks;
  for (int64_t bytes : {1, 64, 65, 4096, 0, 100}) {
    blocks.push_back(Get(hbm, bytes));
    EXPECT_EQ(blocks.back().address() % 64, 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data()) % 64, 0u);
    EXPECT_EQ(blocks.back().size(), bytes);
  }
  for (size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_GE(blocks[i].address(),
              blocks[i - 1].address() + blocks[i - 1].size());
    EXPECT_NE(blocks[i].address(), blocks[i - 1].address());
  }
}

TEST(HbmTest, AFreedBlockIsUsedAgainAndZeroAgain) {
  const auto hbm = Make(kMiB);
  HbmBlock before = Get(hbm, 1000);
  int64_t address = 0;
  {
    HbmBlock block = Get(hbm, 20000);
    HbmBlock after = Get(hbm, 1000);
    address = block.address();
    std::memset(block.data(), 5, 20000);
    block.shadow().Set(0, 20000);
  }
  std::memset(before.data(), 9, 1000);
  HbmBlock again = Get(hbm, 20000);
  EXPECT_EQ(again.address(), address);
  for (int64_t i = 0; i < 20000; ++i) {
    ASSERT_EQ(again.data()[i], std::byte{0}) << i;
    ASSERT_FALSE(again.shadow()[i]) << i;
  }
  EXPECT_EQ(before.data()[999], std::byte{9});
}

// Blocks freed in any order leave one gap, at the lowest address.
TEST(HbmTest, WhatIsFreedInAnyOrderIsWholeAgain) {
  const auto hbm = Make(8 * 64);
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2, 3},
                                           {3, 2, 1, 0},
                                           {0, 2, 1, 3},
                                           {1, 3, 0, 2},
                                           {2, 0, 3, 1}}) {
    std::vector<HbmBlock> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(Get(hbm, 128));
    EXPECT_FALSE(hbm->Allocate(1).ok());
    for (size_t i : order) blocks[i] = HbmBlock();
    EXPECT_EQ(hbm->used(), 0);
    EXPECT_EQ(Get(hbm, 8 * 64).address(), 0);
  }
}

// A program may have a tensor for each of its instructions.
TEST(HbmTest, ManyBlocksTakeNoLongerEach) {
  const auto hbm = Make(64 * kMiB);
  std::vector<HbmBlock> blocks;
  for (int64_t i = 0; i < 200000; ++i) {
    blocks.push_back(Get(hbm, 64));
    ASSERT_EQ(blocks.back().address(), 64 * i);
  }
}

TEST(HbmTest, BlocksDoNotShareShadow) {
  const auto hbm = Make(64 * kMiB);
  HbmBlock before = Get(hbm, 100);
  HbmBlock small = Get(hbm, 1);
  HbmBlock large = Get(hbm, 20 * kMiB + 1);
  HbmBlock after = Get(hbm, 100);
  for (HbmBlock* block : {&small, &large}) {
    before.shadow().Set(0, 100);
    block->shadow().Set(0, block->size());
    after.shadow().Set(0, 100);
    block->ClearShadow();
    EXPECT_EQ(block->shadow().FirstClear(0, block->size()), 0);
    EXPECT_FALSE(block->shadow()[block->size() / 2]);
    EXPECT_FALSE(block->shadow()[block->size() - 1]);
    EXPECT_TRUE(before.shadow().AllSet(0, 100));
    EXPECT_TRUE(after.shadow().AllSet(0, 100));
  }
}

TEST(HbmTest, FirstFitTakesTheFirstGapThatIsLargeEnough) {
  const auto hbm = Make(kMiB);
  std::vector<HbmBlock> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(Get(hbm, 1024));
  const int64_t small = blocks[1].address();
  blocks[1] = HbmBlock();
  EXPECT_EQ(hbm->used(), 4 * 1024);
  EXPECT_EQ(Get(hbm, 2048).address(), 5 * 1024);
  EXPECT_EQ(Get(hbm, 512).address(), small);
}

TEST(HbmTest, WhatDoesNotFitIsACapacityFaultWithTheFigures) {
  const auto hbm = Make(4096);
  HbmBlock block = Get(hbm, 3000);
  const auto refused = hbm->Allocate(2000);
  ASSERT_FALSE(refused.ok());
  const Diagnostic d = DiagnosticOf(refused.status());
  EXPECT_EQ(d.category, Category::kCapacity);
  EXPECT_EQ(d.id, "hbm.capacity");
  EXPECT_EQ(d.message,
            "2000 bytes do not fit into HBM: 1088 of 4096 bytes are free");
  EXPECT_FALSE(hbm->Allocate(-1).ok());
  EXPECT_FALSE(hbm->Allocate(INT64_MAX).ok());
  EXPECT_TRUE(hbm->Allocate(1088).ok());
}

TEST(HbmTest, ABlockKeepsTheMemoryAliveAndMovesOnce) {
  HbmBlock kept;
  {
    const auto hbm = Make(kMiB);
    HbmBlock block = Get(hbm, 100);
    kept = std::move(block);
    EXPECT_EQ(hbm->used(), 128);
  }
  kept.data()[99] = std::byte{1};
  EXPECT_EQ(kept.data()[99], std::byte{1});
}

TEST(HbmTest, MoreThanTheHostCanAddressIsALimit) {
  const auto refused = Hbm::Create(int64_t{1} << 60);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(DiagnosticOf(refused.status()).category, Category::kLimit);
  EXPECT_EQ(DiagnosticOf(refused.status()).id, "hbm.reserve");
}

}  // namespace
}  // namespace trnemu
