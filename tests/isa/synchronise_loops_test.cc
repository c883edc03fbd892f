// Allocate, Replicate and Synchronise on programs with loops, judged by Replay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "tests/isa/draft_maker.h"
#include "tests/isa/random_draft.h"
#include "tests/isa/replay.h"

namespace trnemu {
namespace {

// What a core executes: the `order` of each instruction, loops unrolled. The
// numbers are those that FinishDraft will give.
class Unroller {
 public:
  explicit Unroller(const Draft& draft)
      : list_(draft.instructions[0]), loops_(draft.loops[0]) {
    uint32_t order = 0;
    for (const Instruction& i : list_) {
      orders_.push_back(order);
      if (!IsMarker(i)) ++order;
    }
    Walk(0, list_.size(), 0);
  }
  const std::vector<uint32_t>& sequence() const { return sequence_; }

 private:
  // Control of loops has no waits and touches nothing.
  static bool IsControl(const Instruction& i) {
    return i.opcode == Opcode::kBranch || i.opcode == Opcode::kRegisterMove ||
           i.opcode == Opcode::kRegisterAlu;
  }
  void Walk(size_t begin, size_t end, int depth) {
    for (size_t i = begin; i < end; ++i) {
      if (IsControl(list_[i]) && !IsMarker(list_[i])) continue;
      if (!IsMarker(list_[i])) {
        sequence_.push_back(orders_[i]);
        continue;
      }
      size_t last = i + 1;
      for (int open = 1; open > 0; ++last) {
        open += IsLoopBegin(list_[last]);
        open -= IsLoopEnd(list_[last]);
      }
      const double trips = loops_[LoopOf(list_[i])].hi.immediate;
      for (int trip = 0; trip < trips; ++trip) {
        Walk(i + 1, last - 1, depth + 1);
      }
      i = last - 1;
    }
  }

  const std::vector<Instruction>& list_;
  const std::vector<Loop>& loops_;
  std::vector<uint32_t> orders_;
  std::vector<uint32_t> sequence_;
};

struct Built {
  Program program;
  std::vector<uint32_t> sequence;
};

absl::StatusOr<Built> Build(Draft draft, const Hardware& h, bool synchronise) {
  absl::Status status = Allocate(draft, h);
  if (status.ok()) status = Replicate(draft);
  if (status.ok() && synchronise) status = Synchronise(draft, h);
  if (!status.ok()) return status;
  Built built;
  built.sequence = Unroller(draft).sequence();
  built.program = FinishDraft(std::move(draft));
  return built;
}

Hardware SmallHardware() {
  Hardware h = TinyHardware();
  h.memory.sbuf_usable_partition_bytes = 1024;
  return h;
}

std::string RunRandom(uint32_t seed, bool synchronise) {
  Hardware h = SmallHardware();
  h.sequencer.semaphore_max = 255;
  auto built =
      Build(RandomDraft(seed).MakeWithLoops(8 + static_cast<int>(seed % 40)), h,
            synchronise);
  if (!built.ok()) {
    const Diagnostic d = DiagnosticOf(built.status());
    return d.category == Category::kLimit ? "limit" : d.message;
  }
  Replay replay(built->program, h, built->sequence);
  for (uint32_t order = 0; order < 6; ++order) {
    const std::string problem = replay.Run(order);
    if (!problem.empty()) return problem;
  }
  return "";
}

TEST(SynchroniseLoopsTest, RandomLoopsFlowAsInProgramOrderInEveryOrder) {
  int limits = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    const std::string problem = RunRandom(seed, true);
    limits += problem == "limit";
    ASSERT_TRUE(problem.empty() || problem == "limit")
        << "seed " << seed << ": " << problem;
  }
  EXPECT_LT(limits, 60);
}

TEST(SynchroniseLoopsTest, WithoutSynchroniseTheSameLoopsGoWrong) {
  int wrong = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    wrong += !RunRandom(seed, false).empty();
  }
  EXPECT_GT(wrong, 40);
}

// A loop of `trips`: load, compute, store through one buffer.
Draft Pipeline(int64_t trips) {
  DraftMaker m;
  const uint32_t x = m.Hbm("x", 128, 16, TensorKind::kInput);
  const uint32_t y = m.Hbm("y", 128, 16, TensorKind::kOutput);
  const uint32_t in = m.Sbuf("in"), out = m.Sbuf("out");
  m.draft.loops.resize(1);
  Loop loop;
  loop.lo.kind = loop.hi.kind = Operand::Kind::kImmediate;
  loop.hi.immediate = static_cast<double>(trips);
  m.draft.loops[0].push_back(loop);
  m.draft.instructions[0].push_back(LoopMarker(true, 0));
  m.Dma(Engine::kSync, in, x);
  m.Copy(Engine::kVector, out, in);
  m.Dma(Engine::kSync, y, out);
  m.draft.instructions[0].push_back(LoopMarker(false, 0));
  return m.draft;
}

TEST(SynchroniseLoopsTest, SemaphoresStayInRangeWhateverTheTripCount) {
  int64_t largest[2] = {};
  for (int i = 0; i < 2; ++i) {
    auto built = Build(Pipeline(i == 0 ? 8 : 200), TinyHardware(), true);
    ASSERT_TRUE(built.ok()) << built.status();
    const Hardware h = TinyHardware();
    Replay replay(built->program, h, built->sequence);
    EXPECT_EQ(replay.Run(1), "");
    largest[i] = replay.largest_semaphore();
  }
  EXPECT_EQ(largest[0], largest[1]);
  EXPECT_LE(largest[1], 32);
}

TEST(SynchroniseLoopsTest, EveryWaitInsideALoopConsumes) {
  auto built = Build(Pipeline(3), TinyHardware(), true);
  ASSERT_TRUE(built.ok());
  const CoreProgram& core = built->program.cores[0];
  for (const auto& stream : core.streams) {
    bool inside = false;
    for (const Instruction& i : stream) {
      if (i.opcode == Opcode::kBranch) inside = !inside;
      if (!inside) continue;
      for (const Wait& w : core.WaitsOf(i)) EXPECT_TRUE(w.consume) << i.order;
    }
  }
}

TEST(SynchroniseLoopsTest, EnginesWithNothingInALoopTakeNoPart) {
  auto built = Build(Pipeline(3), TinyHardware(), true);
  ASSERT_TRUE(built.ok());
  const CoreProgram& core = built->program.cores[0];
  for (Engine e : {Engine::kTensor, Engine::kScalar, Engine::kGpsimd}) {
    EXPECT_TRUE(core.stream(e).empty()) << Name(e);
  }
}

TEST(SynchroniseLoopsTest, LoopsOneAfterTheOtherShareTheirSemaphores) {
  Draft draft = Pipeline(3);
  const std::vector<Instruction> body = draft.instructions[0];
  size_t first = 0;
  for (uint32_t n = 1; n < 100; ++n) {
    draft.loops[0].push_back(draft.loops[0][0]);
    for (Instruction i : body) {
      if (IsMarker(i)) i = LoopMarker(IsLoopBegin(i), n);
      draft.instructions[0].push_back(i);
    }
    if (n != 1) continue;
    auto built = Build(draft, TinyHardware(), true);
    ASSERT_TRUE(built.ok());
    first = built->program.semaphores.size();
  }
  auto built = Build(draft, TinyHardware(), true);
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_LE(built->program.semaphores.size(), first + 2);
  const Hardware h = TinyHardware();
  Replay replay(built->program, h, built->sequence);
  EXPECT_EQ(replay.Run(5), "");
}

// Tiles: which bytes they may share.
Tensor Placed(const Program& program, std::string_view name) {
  return *program.FindTensor(name);
}

TEST(AllocateLoopsTest, WhatALoopReadsIsKeptUntilItsEnd) {
  DraftMaker m;
  const uint32_t before = m.Sbuf("before", 200), inside = m.Sbuf("inside", 200);
  m.draft.loops.resize(1);
  Loop loop;
  loop.hi.kind = loop.lo.kind = Operand::Kind::kImmediate;
  loop.hi.immediate = 2;
  m.draft.loops[0].push_back(loop);
  m.draft.tensor_loop = {-1, 0};
  m.Memset(Engine::kVector, before);
  m.draft.instructions[0].push_back(LoopMarker(true, 0));
  m.Copy(Engine::kVector, m.Sbuf("copy", 4), before);
  m.draft.tensor_loop.push_back(-1);
  m.Memset(Engine::kVector, inside);
  m.draft.instructions[0].push_back(LoopMarker(false, 0));
  auto built = Build(m.draft, TinyHardware(), true);
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_NE(Placed(built->program, "before").byte_address,
            Placed(built->program, "inside").byte_address);
}

TEST(AllocateLoopsTest, ATileMadeInALoopIsResetInEveryIteration) {
  for (bool made_inside : {false, true}) {
    DraftMaker m;
    const uint32_t p = m.Psum("p");
    m.draft.loops.resize(1);
    Loop loop;
    loop.hi.kind = loop.lo.kind = Operand::Kind::kImmediate;
    loop.hi.immediate = 3;
    m.draft.loops[0].push_back(loop);
    m.draft.tensor_loop = {made_inside ? 0 : -1};
    m.draft.instructions[0].push_back(LoopMarker(true, 0));
    m.Memset(Engine::kVector, p);
    m.draft.instructions[0].push_back(LoopMarker(false, 0));
    ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
    const auto& list = m.draft.instructions[0];
    const size_t at = made_inside ? 1 : 0;
    EXPECT_EQ(list[at].opcode, Opcode::kPsumReset) << made_inside;
  }
}

}  // namespace
}  // namespace trnemu
