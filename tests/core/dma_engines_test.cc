#include "core/dma_engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace trnemu {
namespace {

using testing::ElementsAre;

// Adds jobs to one engine and keeps what is known of each.
class DmaEnginesTest : public testing::Test {
 protected:
  // A job of a queue that arrives at `now` and needs the engine for `busy`.
  void Add(Ticks now, uint32_t queue, Ticks busy, Ticks extra = 0) {
    const auto id = static_cast<int64_t>(done_.size());
    AddAt(now, {id, 0, queue, now, busy, extra});
  }
  void AddAt(Ticks now, const DmaJob& job) {
    times_.push_back(engines_.Add(0, now, job, delays_));
    done_.push_back(times_.back().done);
    for (const auto& d : delays_) {
      const auto id = static_cast<size_t>(d.transfer);
      EXPECT_GE(d.times.done, done_[id]);
      EXPECT_GE(d.times.end, times_[id].end);
      times_[id] = d.times;
      done_[id] = d.times.done;
    }
    delays_.clear();
  }
  // From when to when the engine works on each.
  std::vector<std::pair<Ticks, Ticks>> Served() const {
    std::vector<std::pair<Ticks, Ticks>> served;
    for (const auto& t : times_) served.emplace_back(t.taken, t.end);
    return served;
  }
  DmaEngines engines_{1};
  std::vector<DmaEngines::Delay> delays_;
  std::vector<DmaEngines::Times> times_;
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
  AddAt(0, {0, 0, 1, 0, 200, 0});
  AddAt(0, {1, 0, 2, 200, 100, 0});
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

// The first is taken up at 0, alone until 10, and has 90 left; the two of
// queue 2 share with it until it is done, 10 + 2 x 90: of the second, taken up
// when the first of its queue is done, 10 + 2 x 40, 50 are done by then and 10
// are left.
TEST_F(DmaEnginesTest, TakesAPartUpWhenTheOneBeforeItInItsQueueIsDone) {
  Add(0, 1, 100);
  Add(10, 2, 40);
  Add(10, 2, 60);
  using Interval = std::pair<Ticks, Ticks>;
  EXPECT_THAT(Served(), ElementsAre(Interval(0, 190), Interval(10, 90),
                                    Interval(90, 200)));
}

// At every instant the parts that it has share it, so that what each gets
// adds up to what it needs.
TEST_F(DmaEnginesTest, GivesEachPartItsOwnTimeBetweenItsStartAndItsEnd) {
  std::vector<Ticks> needs;
  for (int i = 0; i < 60; ++i) {
    needs.push_back(60'000 + 37 * (i % 11));
    Add(9'000 * i, static_cast<uint32_t>(i * 7 % 5), needs.back());
  }
  std::vector<Ticks> moments;
  for (const auto& [from, to] : Served()) {
    moments.push_back(from);
    moments.push_back(to);
  }
  std::sort(moments.begin(), moments.end());
  std::vector<double> gets(needs.size(), 0);
  for (size_t m = 0; m + 1 < moments.size(); ++m) {
    std::vector<size_t> here;
    for (size_t i = 0; i < times_.size(); ++i) {
      if (times_[i].taken <= moments[m] && moments[m + 1] <= times_[i].end) {
        here.push_back(i);
      }
    }
    for (const size_t i : here) {
      gets[i] += static_cast<double>(moments[m + 1] - moments[m]) /
                 static_cast<double>(here.size());
    }
  }
  for (size_t i = 0; i < needs.size(); ++i) {
    EXPECT_NEAR(gets[i], static_cast<double>(needs[i]), 300) << i;
  }
}

// What AddToEach does for all engines at once is what Add does for one after
// the other; transfers of some parts alone come in between.
class DmaEnginesTogetherTest : public testing::TestWithParam<uint32_t> {
 protected:
  static constexpr size_t kEngines = 4;

  void Each(int64_t transfer, Ticks now, uint32_t set, Ticks busy,
            Ticks extra) {
    DmaEngines::Times times;
    if (!together_.AddToEach(now,
                             {transfer, 0, set * kDmaQueues, now, busy, extra},
                             times, delays_)) {
      ++refused_;
      for (size_t e = 0; e < kEngines; ++e) {
        Part(together_, at_once_, transfer, e, now, set, busy, extra);
      }
    } else {
      for (const auto& d : delays_) {
        for (size_t e = 0; e < kEngines; ++e) Put(at_once_, d.transfer, e, d);
      }
      delays_.clear();
      for (size_t e = 0; e < kEngines; ++e)
        at_once_[{transfer, e}] = times.done;
    }
    for (size_t e = 0; e < kEngines; ++e) {
      Part(apart_, one_by_one_, transfer, e, now, set, busy, extra);
    }
  }
  void One(int64_t transfer, size_t engine, Ticks now, uint32_t set, Ticks busy,
           Ticks extra) {
    Part(together_, at_once_, transfer, engine, now, set, busy, extra);
    Part(apart_, one_by_one_, transfer, engine, now, set, busy, extra);
  }

  using Ends = std::map<std::pair<int64_t, size_t>, Ticks>;
  static void Put(Ends& ends, int64_t transfer, size_t engine,
                  const DmaEngines::Delay& d) {
    Ticks& end = ends[{transfer, engine}];
    end = std::max(end, d.times.done);
  }
  void Part(DmaEngines& engines, Ends& ends, int64_t transfer, size_t e,
            Ticks now, uint32_t set, Ticks busy, Ticks extra) {
    const uint32_t queue = set * kDmaQueues + static_cast<uint32_t>(e);
    ends[{transfer, e}] =
        engines
            .Add(e, now,
                 {transfer, static_cast<int32_t>(e), queue, now, busy, extra},
                 delays_)
            .done;
    for (const auto& d : delays_) {
      Put(ends, d.transfer, static_cast<size_t>(d.part), d);
    }
    delays_.clear();
  }

  DmaEngines together_{kEngines}, apart_{kEngines};
  std::vector<DmaEngines::Delay> delays_;
  Ends at_once_, one_by_one_;
  int refused_ = 0;
};

TEST_P(DmaEnginesTogetherTest, EndsEachPartWhenItWouldEndAlone) {
  std::mt19937 random(GetParam());
  const auto below = [&](uint32_t n) { return random() % n; };
  Ticks now = 0;
  int each = 0;
  for (int64_t transfer = 0; transfer < 200; ++transfer) {
    now += below(4) == 0 ? 2000 : below(150);
    const uint32_t set = below(3);
    const Ticks busy = 12 * (1 + below(40)), extra = below(60);
    if (below(8) == 0) {
      One(transfer, below(kEngines), now, set, busy, extra);
    } else {
      ++each;
      Each(transfer, now, set, busy, extra);
    }
    ASSERT_EQ(at_once_, one_by_one_) << "after transfer " << transfer;
  }
  // Both ways were taken, and the engines stood alike again.
  EXPECT_GT(refused_, 0);
  EXPECT_LT(refused_, each / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DmaEnginesTogetherTest,
                         testing::Range(0U, 20U));

}  // namespace
}  // namespace trnemu
