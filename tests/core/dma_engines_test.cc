#include "core/dma_engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trnemu {
namespace {

using testing::ElementsAre;

// Adds jobs to one engine and keeps what is known of each.
class DmaEnginesTest : public testing::Test {
 protected:
  // A job of a queue that arrives at `now` and needs the engine for `busy`.
  void Add(Ticks now, uint32_t queue, Ticks busy, Ticks extra = 0) {
    const auto id = static_cast<int64_t>(done_.size());
    done_.push_back(
        engines_.Add(0, now, {id, 0, queue, now, busy, extra}, delays_));
    for (const auto& d : delays_) {
      EXPECT_GT(d.done, done_[static_cast<size_t>(d.transfer)]);
      done_[static_cast<size_t>(d.transfer)] = d.done;
    }
    delays_.clear();
  }
  DmaEngines engines_{1};
  std::vector<DmaEngines::Delay> delays_;
  std::vector<Ticks> done_;
};

TEST_F(DmaEnginesTest, ServesOneQueueInOrder) {
  Add(0, 1, 100);
  Add(10, 1, 50);
  Add(500, 1, 7);
  EXPECT_THAT(done_, ElementsAre(100, 150, 507));
}

TEST_F(DmaEnginesTest, SharesEvenlyBetweenQueues) {
  Add(0, 1, 100);
  Add(0, 2, 100);
  EXPECT_THAT(done_, ElementsAre(200, 200));
}

// A long transfer does not hold up a short one of another queue: 100 units
// served at half rate from 400 on take 200, and the long one ends at 1100.
TEST_F(DmaEnginesTest, LetsAShortPartOvertakeALongOneOfAnotherQueue) {
  Add(0, 1, 1000);
  Add(400, 2, 100);
  EXPECT_THAT(done_, ElementsAre(1100, 600));
}

TEST_F(DmaEnginesTest, MakesAShortPartOfTheSameQueueWait) {
  Add(0, 1, 1000);
  Add(400, 1, 100);
  EXPECT_THAT(done_, ElementsAre(1000, 1100));
}

// From 0 on a third each: the 30 is done at 90; then halves: the 60 has 30
// left, done at 150; the rest alone.
TEST_F(DmaEnginesTest, SharesBetweenThreeUntilEachIsDone) {
  Add(0, 1, 100);
  Add(0, 2, 60);
  Add(0, 3, 30);
  EXPECT_THAT(done_, ElementsAre(190, 150, 90));
}

// 2 is served from 200 to 300 (alone from 200), as it starts later than it
// arrives; the job that came first keeps the engine until then.
TEST_F(DmaEnginesTest, StartsNoPartBeforeItsTime) {
  done_.push_back(engines_.Add(0, 0, {0, 0, 1, 0, 200, 0}, delays_));
  done_.push_back(engines_.Add(0, 0, {1, 0, 2, 200, 100, 0}, delays_));
  EXPECT_TRUE(delays_.empty());
  EXPECT_THAT(done_, ElementsAre(200, 300));
}

TEST_F(DmaEnginesTest, AddsWhatFollowsTheEngineWithoutKeepingIt) {
  Add(0, 1, 100, 40);
  Add(0, 1, 100, 5);
  EXPECT_THAT(done_, ElementsAre(140, 205));
}

// A part may not signal before one that is ahead of it in its queue.
TEST_F(DmaEnginesTest, KeepsTheOrderOfAQueue) {
  Add(0, 1, 100, 90);
  Add(0, 1, 10, 0);
  EXPECT_THAT(done_, ElementsAre(190, 190));
}

// Work is neither lost nor made, whatever the order: the last one done is
// where one after the other would end.
TEST_F(DmaEnginesTest, IsBusyForTheSumOfItsParts) {
  Ticks sum = 0;
  for (int i = 0; i < 200; ++i) {
    const Ticks busy = 1000 + 37 * (i % 11);
    Add(10 * i, static_cast<uint32_t>(i * 7 % 5), busy);
    sum += busy;
  }
  const Ticks last = *std::max_element(done_.begin(), done_.end());
  EXPECT_GE(last, sum);
  EXPECT_LE(last, sum + 200 * 5);  // shares are rounded down
}

}  // namespace
}  // namespace trnemu
