// Which earlier accesses a RegionMap asks for, against all pairs of random
// accesses, and what that costs where tiles are strips of a matrix.
#include "isa/passes/region_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "isa/passes/footprint.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kLanes = 3;

Footprint Strided(int64_t begin, int64_t run, std::vector<Dim> dims) {
  Footprint f;
  f.begin = begin;
  f.run = run;
  f.end = begin + run;
  f.rank = static_cast<uint32_t>(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    f.dims[d] = dims[d];
    f.end += dims[d].step * (dims[d].count - 1);
  }
  return f;
}

// Of 128 bytes: tiles of rows of 16, and anything of up to two dimensions.
Footprint Random(std::mt19937& random) {
  auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  switch (below(4)) {
    case 0: {  // whole rows, or any bytes in a row
      const int64_t begin = below(128);
      return Strided(begin, 1 + below(128 - begin), {});
    }
    case 1: {  // rows
      const int64_t first = below(8);
      return Strided(16 * first, 16 * (1 + below(8 - first)), {});
    }
    case 2: {  // a tile; one of several rows leaves a gap
      const int64_t row = below(7), rows = 2 + below(7 - row);
      const int64_t column = below(15), run = 1 + below(15 - column);
      return Strided(16 * row + column, run, {{16, rows}});
    }
    default: {
      const int64_t run = 1 + below(3), inner = run + 1 + below(3);
      const int64_t outer = inner * 2 + run + 1 + below(20);
      const Footprint f = Strided(0, run, {{outer, 2}, {inner, 2}});
      return Strided(below(129 - f.end), run, {{outer, 2}, {inner, 2}});
    }
  }
}

// What is not asked for follows from what is: an access that was replaced is
// known to whoever knows the one that replaced it.
TEST(RegionMap, WhatAnAccessDependsOnFollowsFromWhatItIsMadeToWaitFor) {
  for (const int64_t pitch : {0, 16, 1, 24, 200}) {
    std::mt19937 random(5);
    int64_t asked = 0;
    for (int round = 0; round < 60; ++round) {
      RegionMap map(pitch);
      Needs needs(kLanes);
      struct Entry {
        Event event;
        bool write = false;
        Footprint footprint;
        std::set<size_t> before;  // that it follows
      };
      std::vector<Entry> all;
      std::vector<uint32_t> issued(kLanes);
      for (size_t n = 0; n < 40; ++n) {
        Entry mine;
        const auto lane = static_cast<uint32_t>(random() % kLanes);
        mine.event = {lane, ++issued[lane]};
        mine.write = random() % 2 == 0;
        mine.footprint = Random(random);
        auto follow = [&](Event event) {
          for (size_t i = 0; i < all.size(); ++i) {
            const Entry& other = all[i];
            if (other.event.lane != event.lane ||
                other.event.sequence > event.sequence) {
              continue;
            }
            mine.before.insert(i);
            mine.before.insert(other.before.begin(), other.before.end());
          }
        };
        map.Check(mine.footprint, mine.write, needs);
        std::vector<Event> checked;
        needs.Drain([&](Event e) { checked.push_back(e); });
        map.Add(mine.event, mine.footprint, mine.write, needs);
        std::vector<Event> added;
        needs.Drain([&](Event e) { added.push_back(e); });
        EXPECT_EQ(checked, added);
        for (Event e : added) follow(e);
        follow({lane, mine.event.sequence - 1});
        asked += static_cast<int64_t>(added.size());
        for (size_t i = 0; i < all.size(); ++i) {
          const bool meet = (mine.write || all[i].write) &&
                            MayOverlap(mine.footprint, all[i].footprint);
          if (meet) {
            ASSERT_TRUE(mine.before.contains(i))
                << "pitch " << pitch << ", round " << round
                << " of seed 5: accesses " << i << " and " << n;
          }
          for (Event e : added) {
            if (all[i].event == e) {
              ASSERT_TRUE(meet)
                  << "pitch " << pitch << ", round " << round
                  << " of seed 5: access " << n << " need not wait for " << i;
            }
          }
        }
        all.push_back(std::move(mine));
      }
    }
    EXPECT_GT(asked, 500);
  }
}

std::vector<uint32_t> Needed(RegionMap& map, uint32_t sequence,
                             const Footprint& f) {
  Needs needs(kLanes);
  map.Add({sequence % 2, sequence}, f, true, needs);
  std::vector<uint32_t> found;
  needs.Drain([&](Event e) { found.push_back(e.sequence); });
  return found;
}

// 4096 strips of 16 bytes in 64 rows of 65536 bytes, twice: with segments of
// bytes alone each would meet thousands of segments of hundreds of accesses,
// and some would be made to wait for others that they do not touch.
TEST(RegionMap, StripsOfAMatrixMeetOnlyTheirOwn) {
  PitchVote vote;
  auto strip = [&](uint32_t i) {
    return Strided(16 * int64_t{i}, 16, {{65536, 64}});
  };
  vote.Add(strip(0));
  RegionMap map(vote.pitch());
  for (uint32_t i = 0; i < 4096; ++i) {
    ASSERT_THAT(Needed(map, i + 1, strip(i)), IsEmpty()) << i;
  }
  for (uint32_t i = 0; i < 4096; ++i) {
    ASSERT_THAT(Needed(map, 4097 + i, strip(i)), ElementsAre(i + 1));
  }
}

TEST(PitchVote, FindsTheStepOfMoreThanHalf) {
  PitchVote vote;
  EXPECT_EQ(vote.pitch(), 0);
  vote.Add(Strided(0, 4, {}));
  EXPECT_EQ(vote.pitch(), 0);  // what has no gap has no say
  for (int64_t step : {512, 64, 512, 128, 512, 512}) {
    vote.Add(Strided(0, 4, {{step, 8}}));
  }
  EXPECT_EQ(vote.pitch(), 512);
}

}  // namespace
}  // namespace trnemu
