// Synchronise on random programs, judged by Replay, and on a long one.
#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <string>
#include <utility>

#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "tests/isa/draft_maker.h"
#include "tests/isa/random_draft.h"
#include "tests/isa/replay.h"

namespace trnemu {
namespace {

constexpr Engine kVector = Engine::kVector;
constexpr Engine kScalar = Engine::kScalar;
constexpr Engine kSync = Engine::kSync;

// What a random program does in random orders. Each seed also varies what the
// machine has.
std::string RunRandom(uint32_t seed, bool synchronise) {
  Hardware h = TinyHardware();
  h.memory.sbuf_usable_partition_bytes = 768;
  h.sequencer.semaphores = seed % 3 == 0 ? 7 : 256;
  if (seed % 5 == 0) h.sequencer.semaphore_max = 9;
  Draft draft = RandomDraft(seed).Make(10 + static_cast<int>(seed % 50));
  absl::Status status = Allocate(draft, h);
  if (status.ok() && synchronise) status = Synchronise(draft, h);
  if (!status.ok()) {
    // The small machines may be too small.
    const Diagnostic d = DiagnosticOf(status);
    return d.category == Category::kLimit ? "limit" : d.message;
  }
  const Program program = FinishDraft(std::move(draft));
  Replay replay(program, h);
  for (uint32_t order = 0; order < 8; ++order) {
    const std::string problem = replay.Run(order);
    if (!problem.empty()) return problem;
  }
  return "";
}

TEST(SynchroniseRandomTest, RandomProgramsFlowAsInProgramOrderInEveryOrder) {
  int limits = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string problem = RunRandom(seed, true);
    limits += problem == "limit";
    ASSERT_TRUE(problem.empty() || problem == "limit")
        << "seed " << seed << ": " << problem;
  }
  EXPECT_LT(limits, 40);
}

TEST(SynchroniseRandomTest, WithoutSynchroniseTheSameProgramsGoWrong) {
  int wrong = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    wrong += !RunRandom(seed, false).empty();
  }
  EXPECT_GT(wrong, 45);
}

// Hardly any wait of a random program can be left out without some order going
// wrong; overlaps that are only suspected are few.
TEST(SynchroniseRandomTest, FewWaitsAreSuperfluous) {
  int waits = 0, needed = 0;
  const Hardware h = TinyHardware();
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Draft draft = RandomDraft(seed).Make(20);
    ASSERT_TRUE(Allocate(draft, h).ok());
    ASSERT_TRUE(Synchronise(draft, h).ok());
    Program program = FinishDraft(std::move(draft));
    for (Wait& wait : program.cores[0].waits) {
      const int64_t value = std::exchange(wait.value, 0);
      Replay replay(program, h);
      bool wrong = false;
      for (uint32_t order = 0; order < 60 && !wrong; ++order) {
        wrong = !replay.Run(order).empty();
      }
      wait.value = value;
      ++waits;
      needed += wrong;
    }
  }
  std::cout << needed << " of " << waits << " waits shown to be needed\n";
  EXPECT_GT(needed, waits * 8 / 10);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kLong = 100000;
#else
constexpr size_t kLong = 1000000;
#endif

// Unrolled: load, matmul of four tiles into PSUM, activate, add, store.
Draft LongProgram(size_t instructions) {
  DraftMaker m;
  const int64_t rows = 128, columns = 512;
  const uint32_t x = m.Hbm("x", rows, columns * 64, TensorKind::kInput);
  const uint32_t y = m.Hbm("y", rows, columns * 64, TensorKind::kOutput);
  const uint32_t w = m.Sbuf("w", 512);
  const uint32_t set = m.QueueSetOf(kSync);
  m.Memset(kVector, w);
  for (uint32_t n = 0; m.draft.instructions[0].size() < instructions; ++n) {
    const uint32_t in = m.Sbuf("in", 512), act = m.Sbuf("act", 512);
    const uint32_t out = m.Sbuf("out", 512);
    const uint32_t acc = m.Psum("acc", 512);
    const int64_t column = n % 64 * columns;
    const std::initializer_list<Dim> block = {{columns * 64, rows},
                                              {1, columns}};
    m.Dma(kSync, m.Whole(in), m.Part(x, column, block), set);
    for (int64_t k = 0; k < 4; ++k) {
      m.Emit(Opcode::kLoadStationary, Engine::kTensor,
             {m.Part(w, 128 * k, {{1, 128}})});
      m.Emit(Opcode::kMultiplyMoving, Engine::kTensor,
             {m.Whole(acc), m.Whole(in)});
    }
    m.Copy(kScalar, act, acc);
    m.Emit(Opcode::kTensorTensor, kVector,
           {m.Whole(out), m.Whole(act), m.Whole(in)});
    m.Dma(kSync, m.Part(y, column, block), m.Whole(out), set);
  }
  return std::move(m.draft);
}

TEST(SynchroniseRandomTest, AMillionInstructionsTakeSeconds) {
  Hardware h = TinyHardware();
  h.memory.sbuf_usable_partition_bytes = 196608;
  h.memory.psum_partition_bytes = 16384;
  h.memory.psum_bank_bytes = 2048;
  h.sequencer.semaphore_max = 2147483647;
  Draft draft = LongProgram(kLong);
  // Of this process, since the machine may be busy.
  std::clock_t last = std::clock();
  const std::clock_t begin = last;
  auto seconds = [](std::clock_t time) {
    return static_cast<double>(time) / CLOCKS_PER_SEC;
  };
  auto lap = [&](const char* what) {
    const std::clock_t now = std::clock();
    std::cout << what << ": " << seconds(now - last) << " s\n";
    last = now;
  };
  ASSERT_TRUE(Allocate(draft, h).ok());
  lap("allocate");
  ASSERT_TRUE(Synchronise(draft, h).ok());
  lap("synchronise");
  const Program program = FinishDraft(std::move(draft));
  lap("finish");
  std::cout << program.num_instructions() << " instructions, "
            << program.cores[0].waits.size() << " waits, "
            << program.semaphores.size() << " semaphores\n";
  EXPECT_LT(seconds(last - begin), 30);
}

}  // namespace
}  // namespace trnemu
