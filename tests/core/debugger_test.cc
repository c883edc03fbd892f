// Runs that pause, and those who look on.
#include "core/debugger.h"

#include "tests/core/run_harness.h"

namespace trnemu {
namespace {

constexpr Dtype kF32 = Dtype::kFloat32;

// y = 2 x over (128, 8): a load, a product, a store.
std::shared_ptr<const Program> Doubled() {
  TestProgram p;
  const View x = p.Input("x", {128, 8});
  const View y = p.Output("y", {128, 8});
  const View t = p.Sbuf({128, 8});
  p.Copy(t, x);
  p.Add("tensor_scalar", {{"dst", Arg(t)},
                          {"data", Arg(t)},
                          {"op0", Arg(AluOp::kMultiply)},
                          {"operand0", Arg(2.0)}});
  p.Copy(y, t);
  return p.Build();
}

// Notes effects; pauses before instruction `pause_at`, or ends the run after
// effect `fail_at`.
class Recorder : public Observer {
 public:
  bool PausesBefore(size_t, const Instruction& i) override {
    const bool pause = i.order == pause_at && !paused;
    paused = paused || pause;
    return pause;
  }
  absl::Status Before(const Effect& e) override {
    before.push_back(e.kind);
    return absl::OkStatus();
  }
  absl::Status After(const Effect& e) override {
    after.push_back(e.kind);
    if (static_cast<int64_t>(after.size()) != fail_at) return absl::OkStatus();
    return MakeFault(Category::kLimit, "debug.stopped", "enough");
  }
  uint32_t pause_at = 1000;
  int64_t fail_at = -1;
  bool paused = false;
  std::vector<Effect::Kind> before, after;
};

class Observed : public testing::TestWithParam<Order> {
 protected:
  Observed() : x_(1024, 3.0f) {
    device_ = *Device::Create(Target::kTrn2, 1);
    executable_ = *device_->Load(Doubled());
    options_.order = GetParam();
    options_.schedule_seed = 5;
  }
  Inputs Given() const { return {{"x", HostInput(kF32, {128, 8}, x_)}}; }
  std::unique_ptr<Execution> Start(Observer& observer) {
    auto run = executable_->Start(Given(), options_, &observer);
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }

  std::vector<float> x_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executable> executable_;
  RunOptions options_;
};

TEST_P(Observed, EveryInstructionAndPartIsSeenOnce) {
  Recorder seen;
  auto run = Start(seen);
  ASSERT_TRUE(run->Continue().ok());
  EXPECT_TRUE(run->ended());
  using Kind = Effect::Kind;
  const auto count = [](const std::vector<Kind>& kinds, Kind kind) {
    return std::count(kinds.begin(), kinds.end(), kind);
  };
  // Two DMAs of 16 parts, one instruction.
  const bool random = GetParam() == Order::kRandom;
  EXPECT_EQ(count(seen.after, Kind::kTrigger), 2);
  EXPECT_EQ(count(seen.after, Kind::kInstruction), 1);
  EXPECT_EQ(count(seen.after, Kind::kPart), 32);
  EXPECT_EQ(count(seen.after, Kind::kRead), random ? 32 : 0);
  EXPECT_EQ(count(seen.before, Kind::kInstruction), 1);
  EXPECT_EQ(count(seen.before, Kind::kPart), 32);
  auto result = run->Finish();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Values<float>(*result, "y"), std::vector<float>(1024, 6.0f));
}

TEST_P(Observed, APauseComesBeforeItsInstructionAndChangesNothing) {
  auto whole = executable_->Run(Given(), options_);
  ASSERT_TRUE(whole.ok());
  Recorder seen;
  seen.pause_at = 1;
  auto run = Start(seen);
  ASSERT_TRUE(run->Continue().ok());
  EXPECT_FALSE(run->ended());
  EXPECT_EQ(std::count(seen.after.begin(), seen.after.end(),
                       Effect::Kind::kInstruction),
            0);
  ASSERT_TRUE(run->Continue().ok());
  ASSERT_TRUE(run->ended());
  auto result = run->Finish();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Values<float>(*result, "y"), Values<float>(*whole, "y"));
  EXPECT_EQ(result->time_ns, whole->time_ns);
}

TEST_P(Observed, AnErrorOfAnObserverEndsTheRunWithItsPlace) {
  Recorder seen;
  seen.fail_at = 3;
  auto run = Start(seen);
  const absl::Status status = run->Continue();
  ASSERT_EQ(FaultId(status), "debug.stopped");
  EXPECT_EQ(DiagnosticOf(status).instruction, 0);
  EXPECT_TRUE(run->ended());
  EXPECT_EQ(seen.after.size(), 3u);
  run.reset();
  EXPECT_TRUE(executable_->Run(Given(), options_).ok());  // starts clean
}

TEST_P(Observed, ADebuggerThatIsDroppedLeavesTheDeviceUsable) {
  {
    auto debugger = Debugger::Start(*executable_, Given(), options_);
    ASSERT_TRUE(debugger.ok());
    ASSERT_TRUE((*debugger)->Break("tensor_scalar").ok());
    auto stop = (*debugger)->Continue();
    ASSERT_TRUE(stop.ok());
    EXPECT_EQ(stop->kind, DebugStop::Kind::kBreak);
  }
  auto result = executable_->Run(Given(), options_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Values<float>(*result, "y"), std::vector<float>(1024, 6.0f));
}

INSTANTIATE_TEST_SUITE_P(Orders, Observed,
                         testing::Values(Order::kTimed, Order::kProgram,
                                         Order::kRandom));

}  // namespace
}  // namespace trnemu
