#include "core/hbm_share.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trnemu {
namespace {

MemoryLimits Stack(double bandwidth, int64_t cores) {
  MemoryLimits m;
  m.hbm_stack_bandwidth = bandwidth;
  m.hbm_stack_cores = cores;
  return m;
}

TEST(HbmShareTest, GivesTheStackToTheOnlyCoreOfAProgram) {
  HbmShare share(Stack(750, 2), 1);
  share.Take(0, 0, 100, 750);
  EXPECT_EQ(share.Grant(0, 50, 50), 750);
}

// 750: three quarters to one alone, what is left to the second, at most half.
TEST(HbmShareTest, GivesWhatTheOtherCoreHasLeft) {
  HbmShare share(Stack(750, 2), 2);
  EXPECT_EQ(share.Grant(0, 0, 0), 562.5);
  share.Take(0, 0, 100, 435);
  EXPECT_EQ(share.Grant(1, 10, 10), 315);
  share.Take(1, 10, 200, 315);
  EXPECT_EQ(share.Grant(0, 20, 20), 375);
  share.Take(0, 20, 300, 375);
  // The first of core 0 is over.
  EXPECT_EQ(share.Grant(1, 150, 150), 375);
  EXPECT_EQ(share.Grant(1, 300, 300), 562.5);
}

// The other core's transfer is over when this one is foreseen to start; that it
// is at work now makes it a sharer all the same.
TEST(HbmShareTest, SharesEvenlyWithACoreThatIsAtWork) {
  HbmShare share(Stack(750, 2), 2);
  share.Take(0, 0, 100, 435);
  EXPECT_EQ(share.Grant(1, 50, 150), 375);
  EXPECT_EQ(share.Grant(1, 100, 150), 562.5);
}

TEST(HbmShareTest, KeepsTheStacksOfOtherCoresApart) {
  HbmShare share(Stack(750, 1), 2);
  share.Take(0, 0, 100, 750);
  EXPECT_EQ(share.Grant(1, 10, 10), 750);
}

// Whatever two cores ask for: at no time do the most that each may take add up
// to more than the stack has.
TEST(HbmShareTest, NeverGivesMoreThanTheStackHas) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    HbmShare share(Stack(750, 2), 2);
    struct Taken {
      size_t core;
      Ticks until;
      double rate;
    };
    std::vector<Taken> all;
    for (Ticks now = 0; now < 3000; now += random() % 20) {
      const size_t core = random() % 2;
      const double rate =
          std::min(share.Grant(core, now, now), 100.0 + random() % 900);
      ASSERT_GE(rate, 100);
      all.push_back({core, now + 1 + static_cast<Ticks>(random() % 200), rate});
      share.Take(core, now, all.back().until, rate);
      double most[2] = {0, 0};
      for (const Taken& t : all) {
        if (t.until > now) most[t.core] = std::max(most[t.core], t.rate);
      }
      ASSERT_LE(most[0] + most[1], 750.0 + 1e-9) << seed << " at " << now;
    }
  }
}

}  // namespace
}  // namespace trnemu
