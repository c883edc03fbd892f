#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "tests/isa/draft_maker.h"
#include "tests/isa/replay.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Engine kVector = Engine::kVector;
constexpr Engine kScalar = Engine::kScalar;
constexpr Engine kGpsimd = Engine::kGpsimd;
constexpr Engine kSync = Engine::kSync;

// Waits and signals of the instructions of core 0 as "name>=value" and
// "name+value", one string an instruction.
std::vector<std::string> Describe(const Draft& draft, uint32_t core = 0) {
  std::vector<std::string> lines;
  const CoreProgram& pools = draft.program.cores[core];
  auto name = [&](uint32_t s) { return draft.program.semaphores[s].name; };
  for (const Instruction& i : draft.instructions[core]) {
    std::string line;
    for (const Wait& w : pools.WaitsOf(i)) {
      if (!line.empty()) line += " ";
      line += name(w.semaphore) + ">=" + std::to_string(w.value);
      if (w.consume) line += " consume";
    }
    for (const Signal& s : pools.SignalsOf(i)) {
      if (!line.empty()) line += " ";
      line += name(s.semaphore) + "+" + std::to_string(s.value);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Synchronised(DraftMaker& m,
                                      Hardware hardware = TinyHardware()) {
  absl::Status status = Allocate(m.draft, hardware);
  EXPECT_TRUE(status.ok()) << status;
  status = Synchronise(m.draft, hardware);
  EXPECT_TRUE(status.ok()) << status;
  return Describe(m.draft);
}

TEST(SynchroniseTest, AChainOnOneEngineNeedsNoSemaphores) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b");
  m.Memset(kVector, a);
  m.Copy(kVector, b, a);
  m.Copy(kVector, a, b);
  EXPECT_THAT(Synchronised(m), ElementsAre("", "", ""));
  EXPECT_THAT(m.draft.program.semaphores, IsEmpty());
}

TEST(SynchroniseTest, EachPairOfProducerAndConsumerTakesOneWait) {
  DraftMaker m;
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 3; ++i) {
    tiles.push_back(m.Sbuf("a" + std::to_string(i)));
    tiles.push_back(m.Sbuf("b" + std::to_string(i)));
  }
  for (int i = 0; i < 3; ++i) {
    m.Memset(kVector, tiles[2 * i]);
    m.Copy(kScalar, tiles[2 * i + 1], tiles[2 * i]);
  }
  EXPECT_THAT(Synchronised(m),
              ElementsAre("auto.vector+1", "auto.vector>=1", "auto.vector+1",
                          "auto.vector>=2", "auto.vector+1", "auto.vector>=3"));
}

TEST(SynchroniseTest, OnlyTheLastOfSeveralProducersIsWaitedFor) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Memset(kVector, a);
  m.Memset(kVector, b);
  m.Emit(Opcode::kTensorTensor, kGpsimd, {m.Whole(c), m.Whole(a), m.Whole(b)});
  EXPECT_THAT(Synchronised(m),
              ElementsAre("", "auto.vector+1", "auto.vector>=1"));
}

TEST(SynchroniseTest, WhatAProducerWaitedForIsKnown) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Memset(kVector, a);
  m.Copy(kScalar, b, a);
  m.Emit(Opcode::kTensorTensor, kGpsimd, {m.Whole(c), m.Whole(a), m.Whole(b)});
  EXPECT_THAT(Synchronised(m),
              ElementsAre("auto.vector+1", "auto.vector>=1 auto.scalar+1",
                          "auto.scalar>=1"));
}

TEST(SynchroniseTest, AWriteWaitsForReadersAndWriters) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b");
  m.Memset(kVector, a);
  m.Copy(kScalar, b, a);
  m.Memset(kVector, a);  // after the read
  m.Memset(kGpsimd, b);  // after the write
  EXPECT_THAT(Synchronised(m),
              ElementsAre("auto.vector+1", "auto.vector>=1 auto.scalar+1",
                          "auto.scalar>=1", "auto.scalar>=1"));
}

TEST(SynchroniseTest, ReadsOfTheSameBytesAreUnordered) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Copy(kVector, b, a);
  m.Copy(kScalar, c, a);
  EXPECT_THAT(Synchronised(m), ElementsAre("", ""));
}

TEST(SynchroniseTest, InterleavedWritesAreUnordered) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a");
  m.Emit(Opcode::kMemset, kVector, {m.Part(a, 0, {{2, 8}})});
  m.Emit(Opcode::kMemset, kGpsimd, {m.Part(a, 1, {{2, 8}})});
  m.Emit(Opcode::kMemset, kGpsimd, {m.Part(a, 15, {{-2, 8}})});
  EXPECT_THAT(Synchronised(m), ElementsAre("", "", ""));
}

TEST(SynchroniseTest, OtherPartitionsAreUnordered) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a");
  Operand low = m.Whole(a), high = m.Whole(a);
  low.access.partitions = high.access.partitions = 64;
  high.access.start_partition = 64;
  m.Emit(Opcode::kMemset, kVector, {low});
  m.Emit(Opcode::kMemset, kGpsimd, {high});
  EXPECT_THAT(Synchronised(m), ElementsAre("", ""));
  m.Memset(kScalar, a);
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.vector+1", "auto.gpsimd+1",
                                           "auto.gpsimd>=1 auto.vector>=1"));
}

TEST(SynchroniseTest, PinnedTilesThatAliasAreOrdered) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b");
  m.Pin(a, 0);
  m.Pin(b, 60);
  m.Memset(kVector, a);
  m.Memset(kGpsimd, b);
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.vector+1", "auto.vector>=1"));
}

TEST(SynchroniseTest, ReusedSpaceIsOrdered) {
  Hardware h = TinyHardware();
  h.memory.sbuf_usable_partition_bytes = 64;
  DraftMaker m;
  m.Memset(kVector, m.Sbuf("a"));
  m.Memset(kGpsimd, m.Sbuf("b"));
  EXPECT_THAT(Synchronised(m, h),
              ElementsAre("auto.vector+1", "auto.vector>=1"));
}

TEST(SynchroniseTest, ALoadIsWaitedForByAllItsQueues) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x"), a = m.Sbuf("a"), b = m.Sbuf("b");
  m.Dma(kSync, a, x);
  m.Copy(kVector, b, a);
  m.Dma(kSync, x, b);
  EXPECT_THAT(Synchronised(m),
              ElementsAre("auto.dma0+1", "auto.dma0>=16 auto.vector+1",
                          "auto.vector>=1"));
}

TEST(SynchroniseTest, ATriggerIsInTheOrderOfItsEngineButATransferIsNot) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x"), a = m.Sbuf("a");
  m.Memset(kVector, a);
  m.Dma(kVector, x, a);
  m.Memset(kVector, a);
  EXPECT_THAT(Synchronised(m), ElementsAre("", "auto.dma0+1", "auto.dma0>=16"));
}

TEST(SynchroniseTest, ADmaOnSeveralQueuesWaitsForTheOneBefore) {
  for (uint32_t queues : {1u, 2u}) {
    DraftMaker m;
    const uint32_t set = m.QueueSetOf(kSync, queues);
    const uint32_t x = m.Hbm("x"), y = m.Hbm("y"), a = m.Sbuf("a");
    m.Dma(kSync, m.Whole(a), m.Whole(x), set);
    m.Dma(kSync, m.Whole(y), m.Whole(a), set);
    if (queues == 1) {
      EXPECT_THAT(Synchronised(m), ElementsAre("", ""));
    } else {
      EXPECT_THAT(Synchronised(m), ElementsAre("auto.dma0+1", "auto.dma0>=2"));
    }
  }
}

TEST(SynchroniseTest, ADmaOntoItsSourceWaitsForReadersOnItsQueues) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x"), a = m.Sbuf("a");
  const uint32_t set = m.QueueSetOf(kSync);
  m.Dma(kSync, m.Whole(x), m.Whole(a), set);
  m.Dma(kSync, m.Part(a, 0, {{1, 8}}), m.Whole(a), set);
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.dma0+1", "auto.dma0>=16"));
}

TEST(SynchroniseTest, ALaterDmaOfAQueueSetImpliesTheEarlier) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x");
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Dma(kSync, a, x);
  m.Dma(kSync, b, x);
  m.Emit(Opcode::kTensorTensor, kVector, {m.Whole(c), m.Whole(a), m.Whole(b)});
  EXPECT_THAT(Synchronised(m), ElementsAre("", "auto.dma0+1", "auto.dma0>=16"));
}

TEST(SynchroniseTest, DmasInFlightHaveSemaphoresOfTheirOwn) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x");
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Dma(kSync, a, x);
  m.Dma(kSync, b, x);
  m.Copy(kVector, c, a);
  m.Copy(kVector, c, b);
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.dma0+1", "auto.dma1+1",
                                           "auto.dma0>=16", "auto.dma1>=16"));
}

TEST(SynchroniseTest, ADmaKnownCompleteAtTheTriggerFreesItsSemaphore) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x"), a = m.Sbuf("a"), b = m.Sbuf("b");
  m.Dma(kSync, a, x);
  m.Copy(kVector, b, a);
  m.Dma(kVector, a, x);
  m.Copy(kVector, b, a);
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.dma0+1", "auto.dma0>=16",
                                           "auto.dma0+1", "auto.dma0>=32"));
}

TEST(SynchroniseTest, WithoutFreeSemaphoresATriggerWaitsForTheOldest) {
  Hardware h = TinyHardware();
  h.sequencer.semaphores = 2;
  DraftMaker m;
  const uint32_t x = m.Hbm("x");
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 3; ++i) {
    tiles.push_back(m.Sbuf("a" + std::to_string(i)));
    m.Dma(kSync, tiles[i], x);
  }
  for (uint32_t tile : tiles) m.Copy(kVector, m.Sbuf("b"), tile);
  EXPECT_THAT(
      Synchronised(m, h),
      ElementsAre("auto.dma0+1", "auto.dma1+1", "auto.dma0>=16 auto.dma0+1",
                  "auto.dma0>=16", "auto.dma1>=16", "auto.dma0>=32"));
}

TEST(SynchroniseTest, HbmThatIsOnlyReadOrdersNothing) {
  DraftMaker m;
  const uint32_t w = m.Hbm("w", 128, 16, TensorKind::kConstant);
  m.Dma(kSync, m.Sbuf("a"), w);
  m.Dma(kScalar, m.Sbuf("b"), w);
  EXPECT_THAT(Synchronised(m), ElementsAre("", ""));
}

TEST(SynchroniseTest, ColumnsOfAnHbmTensorAreUnordered) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x", 128, 64);
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b");
  const uint32_t set = m.QueueSetOf(kSync);
  m.Dma(kSync, m.Part(x, 0, {{64, 128}, {1, 32}}), m.Whole(a), set);
  m.Dma(kSync, m.Part(x, 32, {{64, 128}, {1, 32}}), m.Whole(b), set);
  EXPECT_THAT(Synchronised(m), ElementsAre("", ""));
  m.Dma(kSync, m.Whole(b), m.Part(x, 31, {{64, 128}, {1, 2}}), set);
  EXPECT_THAT(Synchronised(m), ElementsAre("", "auto.dma0+1", "auto.dma0>=16"));
}

TEST(SynchroniseTest, ExplicitWaitsStayAndTeachNothing) {
  DraftMaker m;
  const uint32_t s = m.Semaphore("mine");
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b");
  m.AddSignal(m.Memset(kVector, a),
              {s, SignalOp::kAdd, SignalAt::kComplete, 3});
  m.AddWait(m.Copy(kScalar, b, a), {s, 3, true});
  EXPECT_THAT(Synchronised(m), ElementsAre("mine+3 auto.vector+1",
                                           "mine>=3 consume auto.vector>=1"));
}

TEST(SynchroniseTest, AFullCounterIsFollowedByAnother) {
  Hardware h = TinyHardware();
  h.sequencer.semaphore_max = 2;
  DraftMaker m;
  for (int i = 0; i < 3; ++i) {
    const uint32_t a = m.Sbuf("a" + std::to_string(i));
    m.Memset(kVector, a);
    m.Copy(kScalar, m.Sbuf("b" + std::to_string(i)), a);
  }
  EXPECT_THAT(
      Synchronised(m, h),
      ElementsAre("auto.vector+1", "auto.vector>=1", "auto.vector+1",
                  "auto.vector>=2", "auto.vector1+1", "auto.vector1>=1"));
}

TEST(SynchroniseTest, TooFewSemaphoresAreALimit) {
  Hardware h = TinyHardware();
  h.sequencer.semaphores = 1;
  DraftMaker m;
  m.Semaphore("mine");
  const uint32_t a = m.Sbuf("a");
  m.Memset(kVector, a);
  m.Copy(kScalar, m.Sbuf("b"), a);
  ASSERT_TRUE(Allocate(m.draft, h).ok());
  const absl::Status status = Synchronise(m.draft, h);
  ASSERT_FALSE(status.ok());
  const Diagnostic d = DiagnosticOf(status);
  EXPECT_EQ(d.category, Category::kLimit);
  EXPECT_EQ(d.id, "synchronise.semaphores");
  EXPECT_THAT(d.message, HasSubstr("1 semaphores"));
}

TEST(SynchroniseTest, ADmaOfMorePartsThanASemaphoreCountsIsALimit) {
  Hardware h = TinyHardware();
  h.sequencer.semaphore_max = 15;
  DraftMaker m;
  const uint32_t a = m.Sbuf("a");
  m.Dma(kSync, a, m.Hbm("x"));
  m.Copy(kVector, m.Sbuf("b"), a);
  ASSERT_TRUE(Allocate(m.draft, h).ok());
  EXPECT_EQ(DiagnosticOf(Synchronise(m.draft, h)).category, Category::kLimit);
}

TEST(SynchroniseTest, CoresAreSeparate) {
  DraftMaker m(2);
  const uint32_t x = m.Hbm("x");
  for (m.core = 0; m.core < 2; ++m.core) {
    const uint32_t a = m.Sbuf("a" + std::to_string(m.core));
    m.Memset(kVector, a);
    m.Dma(kSync, x, a);
  }
  m.core = 0;
  EXPECT_THAT(Synchronised(m), ElementsAre("auto.vector+1", "auto.vector>=1"));
  EXPECT_THAT(Describe(m.draft, 1),
              ElementsAre("auto.core1.vector+1", "auto.core1.vector>=1"));
}

TEST(SynchroniseTest, ManyReadersOfOneSegmentAreStillWaitedFor) {
  const Hardware h = TinyHardware();
  DraftMaker m;
  const uint32_t x = m.Hbm("x"), a = m.Sbuf("a");
  for (int i = 0; i < 2000; ++i) {
    Operand rows = m.Whole(a);
    rows.access.start_partition = static_cast<uint16_t>(i * 37 % 96);
    rows.access.partitions = static_cast<uint16_t>(1 + i * 11 % 31);
    const Engine engine = i % 2 ? kScalar : kSync;
    const uint32_t set = m.QueueSetOf(engine, 2 + i % 7);
    m.Dma(engine, m.Part(x, i % 100 * 16, {{1, 16}}), rows, set);
  }
  m.Memset(kVector, a);
  ASSERT_TRUE(Allocate(m.draft, h).ok());
  ASSERT_TRUE(Synchronise(m.draft, h).ok());
  const Program program = FinishDraft(m.draft);
  Replay replay(program, h);
  for (uint32_t seed = 0; seed < 5; ++seed) EXPECT_EQ(replay.Run(seed), "");
}

TEST(SynchroniseTest, FinishSortsInstructionsByEngine) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a");
  m.Memset(kVector, a);
  m.Copy(kScalar, m.Sbuf("b"), a);
  m.Memset(kVector, a);
  Synchronised(m);
  const Program p = FinishDraft(m.draft);
  ASSERT_EQ(p.cores[0].stream(kVector).size(), 2u);
  ASSERT_EQ(p.cores[0].stream(kScalar).size(), 1u);
  EXPECT_EQ(p.cores[0].stream(kVector)[1].order, 2u);
  EXPECT_EQ(p.cores[0].stream(kScalar)[0].order, 1u);
}

}  // namespace
}  // namespace trnemu
