// What waits prove, and which accesses meet: the parts of the race detector,
// against orders worked out by hand and bytes enumerated one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/races/access_history.h"
#include "core/races/semaphore_order.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Sequencers of core 0 are lanes 0 to 4, queue set 0 lanes 5 to 20, set 1
// lanes 21 to 36.
constexpr uint32_t kA = 0, kB = 1, kWaiter = 2, kC = 3;
constexpr uint32_t kLanes = 37;

class SemaphoreOrderTest : public ::testing::Test {
 protected:
  SemaphoreOrderTest() {
    program_.cores.resize(1);
    program_.semaphores.resize(1);
    program_.queue_sets.resize(2);
    // That kWaiter is who waits.
    AddWaiter(kWaiter);
  }
  void AddWaiter(uint32_t lane) {
    Instruction i;
    i.num_waits = 1;
    i.first_wait = static_cast<uint32_t>(program_.cores[0].waits.size());
    program_.cores[0].waits.push_back({});
    program_.cores[0].stream(kSequencers[lane]).push_back(i);
  }
  void Start() {
    lanes_.emplace(program_);
    order_.emplace(program_, *lanes_);
    for (auto& clock : clocks_) clock.assign(kLanes, 0);
  }
  // An instruction of an engine signals once it is complete.
  void Signal(uint32_t lane, int64_t amount = 1) {
    const uint32_t n = ++clocks_[lane][lane];
    order_->Signal(0, {{lane, 1, n}, amount, Snapshot(lane), lane, n});
  }
  // An engine triggers a DMA whose 16 parts signal.
  void SignalDma(uint32_t lane, uint32_t set, int64_t amount = 1) {
    const uint32_t n = ++clocks_[lane][lane];
    const uint32_t k = 2 * ++issued_[set];
    order_->Signal(0, {{5 + 16 * set, 16, k}, amount, Snapshot(lane), lane, n});
  }
  void Wait(uint32_t lane, int64_t value, bool consume = false) {
    const uint32_t n = ++clocks_[lane][lane];
    order_->Wait(0, value, consume, lane, n, clocks_[lane]);
  }
  // Forgets what the waiter knows, to see what the next wait proves.
  void Ignorant(uint32_t lane) {
    const uint32_t own = clocks_[lane][lane];
    clocks_[lane].assign(kLanes, 0);
    clocks_[lane][lane] = own;
  }
  // Instructions of A, of B, and DMAs of both sets of which all parts are
  // known to the waiter.
  std::vector<uint32_t> Known(uint32_t lane = kWaiter) const {
    const auto& clock = clocks_[lane];
    std::vector<uint32_t> known = {clock[kA], clock[kB]};
    for (uint32_t set : {0u, 1u}) {
      known.push_back(
          *std::min_element(&clock[5 + 16 * set], &clock[5 + 16 * set] + 16) /
          2);
    }
    return known;
  }
  uint32_t Snapshot(uint32_t lane) {
    return order_->clocks().Add(clocks_[lane]);
  }

  Program program_;
  std::optional<RaceLanes> lanes_;
  std::optional<SemaphoreOrder> order_;
  std::array<std::vector<uint32_t>, 5> clocks_;
  std::array<uint32_t, 2> issued_{};
};

TEST_F(SemaphoreOrderTest, AValueOfOneEngineProvesItsSignalsUpToThere) {
  Start();
  for (int i = 0; i < 5; ++i) Signal(kA);
  Wait(kWaiter, 3);
  EXPECT_THAT(Known(), ElementsAre(3, 0, 0, 0));
}

TEST_F(SemaphoreOrderTest, SixteenProveADmaAndFifteenDoNot) {
  Start();
  SignalDma(kA, 0);
  Wait(kWaiter, 15);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
  Wait(kWaiter, 16);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 1, 0));
}

// Of 32 parts, 16 may be any. With 31 of 32, part i of the first is not the one
// that is missing: part i of the second, which follows it in the queue, would
// be missing too.
TEST_F(SemaphoreOrderTest, TwoDmasAtOnceAreTwoOnlyAtThirtyTwo) {
  Start();
  SignalDma(kA, 0);
  SignalDma(kA, 0);
  Wait(kWaiter, 16);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
  Wait(kWaiter, 31);
  EXPECT_THAT(Known(), ElementsAre(2, 0, 1, 0));
  Wait(kWaiter, 32);
  EXPECT_THAT(Known(), ElementsAre(2, 0, 2, 0));
}

TEST_F(SemaphoreOrderTest, ADmaTriggeredOnceTheFirstIsKnownDoesNotBlurIt) {
  Start();
  AddWaiter(kA);
  Start();
  SignalDma(kA, 0);
  Wait(kA, 16);
  SignalDma(kA, 1);
  Wait(kWaiter, 16);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 1, 0));
  Wait(kWaiter, 32);
  EXPECT_THAT(Known(), ElementsAre(3, 0, 1, 1));
}

// Either engine will do, but both have waited for C.
TEST_F(SemaphoreOrderTest, WhatAllCandidatesFollowHasComeWhicheverItIs) {
  Start();
  clocks_[kC][kC] = 7;
  clocks_[kA][kC] = 5;
  clocks_[kB][kC] = 6;
  Signal(kA);
  Signal(kB);
  Wait(kWaiter, 1);
  EXPECT_EQ(clocks_[kWaiter][kC], 5u);
  EXPECT_THAT(Known(), ElementsAre(0, 0, 0, 0));
}

TEST_F(SemaphoreOrderTest, AnyPartOfADmaProvesItsTrigger) {
  Start();
  SignalDma(kA, 0);
  Wait(kWaiter, 1);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
}

TEST_F(SemaphoreOrderTest, OneOfTwoEnginesMayBeEither) {
  Start();
  Signal(kA);
  Signal(kB);
  Wait(kWaiter, 1);
  EXPECT_THAT(Known(), ElementsAre(0, 0, 0, 0));
  Wait(kWaiter, 2);
  EXPECT_THAT(Known(), ElementsAre(1, 1, 0, 0));
}

// The wait comes before B's signal in this order, but might come after it.
TEST_F(SemaphoreOrderTest, ASignalThatComesLaterTakesTheProofAway) {
  Start();
  Signal(kA);
  Wait(kWaiter, 1);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
  Signal(kB);
  // What the first pass forgets it cannot judge by; the second does not.
  for (int pass = 2; pass <= 3; ++pass) {
    EXPECT_FALSE(order_->settled());
    order_->Restart();
    for (auto& clock : clocks_) clock.assign(kLanes, 0);
    Signal(kA);
    Wait(kWaiter, 1);
    EXPECT_THAT(Known(), ElementsAre(pass == 2 ? 1 : 0, 0, 0, 0));
    Signal(kB);
  }
  EXPECT_TRUE(order_->settled());
}

// B signals after the waiter, so it is no help to its wait.
TEST_F(SemaphoreOrderTest, ASignalThatFollowsTheWaitDoesNot) {
  Start();
  Signal(kA);
  Wait(kWaiter, 1);
  Join(clocks_[kB], clocks_[kWaiter]);
  Signal(kB);
  EXPECT_TRUE(order_->settled());
}

TEST_F(SemaphoreOrderTest, WhatIsConsumedCountsForTheNextWait) {
  Start();
  for (int i = 0; i < 3; ++i) Signal(kA);
  Wait(kWaiter, 1, true);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
  Wait(kWaiter, 1, true);
  EXPECT_THAT(Known(), ElementsAre(2, 0, 0, 0));
}

// A token that the waiter put there itself proves nothing of the producer.
TEST_F(SemaphoreOrderTest, TheWaitersOwnSignalsAreSpentFirst) {
  Start();
  Signal(kWaiter);
  Signal(kA);
  Wait(kWaiter, 1, true);
  EXPECT_THAT(Known(), ElementsAre(0, 0, 0, 0));
  Wait(kWaiter, 1, true);
  EXPECT_THAT(Known(), ElementsAre(1, 0, 0, 0));
}

TEST_F(SemaphoreOrderTest, TokensThatTwoTakeUnorderedProveAllThatCame) {
  AddWaiter(kC);
  Start();
  Signal(kA);
  Signal(kA);
  Wait(kC, 1, true);
  Wait(kWaiter, 1, true);
  EXPECT_THAT(Known(), ElementsAre(2, 0, 0, 0));
}

TEST_F(SemaphoreOrderTest, WhatIsKnownToAllIsForgottenWithoutChange) {
  Start();
  for (int i = 0; i < 4; ++i) Signal(kA);
  std::vector<uint32_t> least(kLanes, 0);
  least[kA] = 2;
  order_->Forget(least);
  Ignorant(kWaiter);
  Wait(kWaiter, 2);
  EXPECT_THAT(Known(), ElementsAre(0, 0, 0, 0));  // known to all
  Wait(kWaiter, 3);
  EXPECT_THAT(Known(), ElementsAre(3, 0, 0, 0));
}

// Footprints of up to two dimensions in 4 partitions of 64 bytes.
Footprint RandomFootprint(std::mt19937& random) {
  auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  Footprint f;
  f.first_partition = static_cast<uint32_t>(below(3));
  f.end_partition = f.first_partition + 1 + static_cast<uint32_t>(below(2));
  f.run = 1 + below(4);
  f.rank = static_cast<uint32_t>(below(3));
  int64_t size = f.run;
  for (uint32_t d = f.rank; d-- > 0;) {
    f.dims[d] = {size + 1 + below(4), 2 + below(2)};
    size += f.dims[d].step * (f.dims[d].count - 1);
  }
  f.begin = below(static_cast<uint32_t>(std::max<int64_t>(1, 64 - size)));
  f.end = f.begin + size;
  return f;
}

std::set<std::pair<uint32_t, int64_t>> BytesOf(const Footprint& f) {
  std::set<std::pair<uint32_t, int64_t>> bytes;
  const int64_t outer = f.rank > 0 ? f.dims[0].count : 1;
  const int64_t inner = f.rank > 1 ? f.dims[1].count : 1;
  for (uint32_t p = f.first_partition; p < f.end_partition; ++p) {
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        for (int64_t b = 0; b < f.run; ++b) {
          bytes.insert(
              {p, f.begin + i * f.dims[0].step + j * f.dims[1].step + b});
        }
      }
    }
  }
  return bytes;
}

TEST(FindOverlap, IsTrueExactlyWhereAByteIsInBoth) {
  std::mt19937 random(7);
  int met = 0;
  for (int n = 0; n < 20000; ++n) {
    const Footprint a = RandomFootprint(random);
    const Footprint b = RandomFootprint(random);
    const auto bytes = BytesOf(a);
    bool both = false;
    for (const auto& byte : BytesOf(b)) both = both || bytes.contains(byte);
    Overlap where;
    ASSERT_EQ(FindOverlap(a, b, where), both) << "pair " << n << " of seed 7";
    if (!both) continue;
    ++met;
    ASSERT_TRUE(bytes.contains({where.first_partition, where.begin}));
    ASSERT_TRUE(BytesOf(b).contains({where.end_partition - 1, where.end - 1}));
  }
  EXPECT_GT(met, 2000);
}

class Recorder : public RaceSink {
 public:
  void Unordered(const RaceAccess& before, const RaceAccess& after,
                 const Overlap&) override {
    pairs.insert({before.step, after.step});
    // As the detector does.
    if (clock != nullptr) {
      uint32_t& lane = (*clock)[before.work.lane];
      lane = std::max(lane, before.work.sequence);
    }
  }
  void Foreign(const RaceAccess& writer, const RaceAccess& read,
               const Overlap&) override {
    foreign.push_back({writer.step, read.step});
  }
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<std::pair<uint32_t, uint32_t>> foreign;
  std::vector<uint32_t>* clock = nullptr;  // of who is entering
};

// Random accesses of three engines with random knowledge, against a list of
// all of them. An access is only held against those that nothing known to it
// replaced, so what is missing must be explained by one that covers it.
void CheckPairs(bool on_chip, int64_t pitch) {
  std::mt19937 random(11);
  int64_t found = 0;
  for (int round = 0; round < 300; ++round) {
    AccessHistory history(96, on_chip, pitch);  // room for all
    Recorder recorder;
    std::vector<RaceAccess> all;
    // What each engine knows; `taught` is without what reports made known.
    std::array<std::vector<uint32_t>, 3> clocks, taught;
    for (auto& c : clocks) c.assign(3, 0);
    taught = clocks;
    const std::vector<uint32_t> least(3, 0);
    for (uint32_t step = 1; step <= 40; ++step) {
      const uint32_t lane = static_cast<uint32_t>(random() % 3);
      const uint32_t from = static_cast<uint32_t>(random() % 3);
      if (random() % 2 == 0) {
        Join(clocks[lane], clocks[from]);
        Join(taught[lane], taught[from]);
      }
      RaceAccess a;
      a.work = {lane, 1, ++clocks[lane][lane]};
      taught[lane][lane] = a.work.sequence;
      a.step = step;
      a.write = random() % 2 == 0;
      a.tensor = 0;
      a.footprint = RandomFootprint(random);
      if (!on_chip) {
        a.footprint.first_partition = 0;
        a.footprint.end_partition = 1;
      }
      const std::vector<uint32_t> knows = clocks[lane];
      recorder.clock = &clocks[lane];
      history.Enter(a, clocks[lane], least, recorder);
      const auto bytes = BytesOf(a.footprint);
      for (const RaceAccess& b : all) {
        bool meet = false;
        for (const auto& byte : BytesOf(b.footprint)) {
          meet = meet || bytes.contains(byte);
        }
        // With what was known before, and what is still unknown after.
        const bool conflict = meet && (a.write || b.write);
        const bool race = conflict && !b.work.KnownBy(knows);
        const bool open = conflict && !b.work.KnownBy(clocks[lane]);
        const bool reported = recorder.pairs.contains({b.step, a.step});
        if (reported) {
          ASSERT_TRUE(race)
              << "round " << round << " of seed 11, step " << step;
        }
        found += reported ? 1 : 0;
        if (!open || reported) continue;
        // Replaced by a write, or by a read of its lane, since.
        bool replaced = false;
        for (const RaceAccess& c : all) {
          replaced = replaced || (c.step > b.step &&
                                  (c.write || c.work.lane == b.work.lane) &&
                                  !c.work.KnownBy(taught[lane]));
        }
        ASSERT_TRUE(replaced) << "round " << round << " of seed 11: steps "
                              << b.step << " and " << step;
      }
      all.push_back(a);
    }
  }
  EXPECT_GT(found, 4000);
}

TEST(AccessHistory, FindsUnorderedPairsAndNoOthers) { CheckPairs(true, 0); }

// As rows of so many bytes: of its patterns some are boxes, most are not.
TEST(AccessHistory, FindsTheSameInAMatrix) {
  for (const int64_t pitch : {0, 1, 6, 8, 16, 100}) CheckPairs(false, pitch);
}

RaceAccess AccessOf(uint32_t step, uint32_t tensor, bool write, int64_t begin,
                    int64_t end) {
  RaceAccess a;
  a.work = {0, 1, step};
  a.step = step;
  a.tensor = tensor;
  a.write = write;
  a.footprint.begin = begin;
  a.footprint.end = end;
  a.footprint.run = end - begin;
  return a;
}

// Of a matrix of rows of 16 bytes, which lie three to a page.
TEST(AccessHistory, ATileHidesOnlyItsOwnRows) {
  auto tile = [](uint32_t step, uint32_t lane, bool write, int64_t row,
                 int64_t rows) {
    RaceAccess a = AccessOf(step, 0, write, 16 * row + 4, 16 * row + 8);
    a.work = {lane, 1, step};
    if (rows > 1) {
      a.footprint.rank = 1;
      a.footprint.dims[0] = {16, rows};
      a.footprint.end += 16 * (rows - 1);
    }
    return a;
  };
  AccessHistory history(16 * 128, false, 16);
  Recorder recorder;
  const std::vector<uint32_t> writer = {1000, 0}, reader = {0, 1000};
  const std::vector<uint32_t> least = {0, 0};
  history.Enter(tile(1, 0, true, 0, 1), writer, least, recorder);
  history.Enter(tile(2, 0, true, 1, 2), writer, least, recorder);
  history.Enter(tile(3, 1, false, 0, 1), reader, least, recorder);
  EXPECT_THAT(recorder.pairs, ElementsAre(std::pair(1u, 3u)));
  history.Enter(tile(4, 0, true, 0, 3), writer, least, recorder);
  history.Enter(tile(5, 1, false, 2, 1), reader, least, recorder);
  EXPECT_THAT(recorder.pairs, ElementsAre(std::pair(1u, 3u), std::pair(3u, 4u),
                                          std::pair(4u, 5u)));
}

class OwnerTest : public ::testing::Test {
 protected:
  void Enter(uint32_t tensor, bool write, int64_t begin, int64_t end) {
    history_.Enter(AccessOf(++step_, tensor, write, begin, end), clock_, clock_,
                   recorder_);
  }
  AccessHistory history_{64, true};
  Recorder recorder_;
  std::vector<uint32_t> clock_ = {1000};
  uint32_t step_ = 0;
};

TEST_F(OwnerTest, ATileThatAnotherHasOverwrittenIsNotItsOwn) {
  Enter(1, true, 0, 16);
  Enter(1, false, 0, 16);
  Enter(2, true, 8, 24);
  Enter(1, false, 0, 8);
  EXPECT_THAT(recorder_.foreign, IsEmpty());
  Enter(1, false, 0, 16);
  EXPECT_THAT(recorder_.foreign, ElementsAre(std::pair(3u, 5u)));
}

TEST_F(OwnerTest, ATileThatIsWrittenInPiecesIsItsOwnWhenTheLastIsThere) {
  Enter(1, true, 0, 32);
  for (int64_t at = 0; at < 32; at += 8) Enter(2, true, at, at + 8);
  Enter(2, false, 0, 32);
  EXPECT_THAT(recorder_.foreign, IsEmpty());
}

// Every second byte, then the others: neither write covers what was before.
TEST_F(OwnerTest, APatternOfWritesHidesWhatItCoversTogether) {
  Enter(1, true, 0, 8);
  for (int64_t odd : {0, 1}) {
    RaceAccess a = AccessOf(++step_, 2, true, odd, 7 + odd);
    a.footprint.run = 1;
    a.footprint.rank = 1;
    a.footprint.dims[0] = {2, 4};
    history_.Enter(a, clock_, clock_, recorder_);
    if (odd == 0) {
      Enter(2, false, 0, 1);
      EXPECT_THAT(recorder_.foreign, IsEmpty());
    }
  }
  Enter(2, false, 0, 8);
  EXPECT_THAT(recorder_.foreign, IsEmpty());
}

}  // namespace
}  // namespace trnemu
