// Whole programs on a device: orders, time, semaphores, faults, persistence.
// Every program is a load, a little arithmetic and a store; expected values
// are worked out beside it.
#include <numeric>

#include "tests/core/run_harness.h"

namespace trnemu {
namespace {

constexpr Dtype kF32 = Dtype::kFloat32;

std::vector<float> Ramp(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

// y = 2 x + 1 over (128, 8).
std::shared_ptr<const Program> DoubleAndAddOne() {
  TestProgram p;
  const View x = p.Input("x", {128, 8});
  const View y = p.Output("y", {128, 8});
  const View t = p.Sbuf({128, 8});
  const View u = p.Sbuf({128, 8});
  p.Copy(t, x);
  p.Add("tensor_scalar", {{"dst", Arg(u)},
                          {"data", Arg(t)},
                          {"op0", Arg(AluOp::kMultiply)},
                          {"operand0", Arg(2.0)},
                          {"op1", Arg(AluOp::kAdd)},
                          {"operand1", Arg(1.0)}});
  p.Copy(y, u);
  return p.Build();
}

absl::StatusOr<RunResult> RunDouble(const RunOptions& options) {
  const std::vector<float> x = Ramp(1024);
  return RunProgram(DoubleAndAddOne(), {{"x", HostInput(kF32, {128, 8}, x)}},
                    options);
}

TEST(Run, GivesTheSameValuesInEveryOrder) {
  for (int order = 0; order < 12; ++order) {
    RunOptions options;
    if (order == 1) options.order = Order::kProgram;
    if (order >= 2) {
      options.order = Order::kRandom;
      options.schedule_seed = order;
    }
    auto result = RunDouble(options);
    ASSERT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
    const auto y = Values<float>(*result, "y");
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2.0f * i + 1) << i;
  }
}

TEST(Run, GivesTheSameTimeTwice) {
  auto a = RunDouble({});
  auto b = RunDouble({});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->profile.end, b->profile.end);
  EXPECT_GT(a->time_ns, 2000) << "two DMA transfers take more than that";
  EXPECT_LT(a->time_ns, 10000);
}

TEST(Run, SimulatesNoTimeWhenTimeIsOff) {
  RunOptions options;
  options.time = false;
  options.order = Order::kProgram;
  auto result = RunDouble(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->time_ns, 0);
  EXPECT_FALSE(result->timed);
}

TEST(Run, RefusesTheTimedOrderWithoutTime) {
  RunOptions options;
  options.time = false;
  EXPECT_EQ(FaultId(RunDouble(options).status()), "option.schedule");
}

TEST(Run, SimulatesTimeAloneWithValuesOff) {
  RunOptions options;
  options.values = false;
  auto timed = RunDouble(options);
  auto full = RunDouble({});
  ASSERT_TRUE(timed.ok() && full.ok());
  EXPECT_EQ(timed->profile.end, full->profile.end);
  EXPECT_TRUE(timed->outputs.empty());
}

TEST(Run, StopsAtTheInstructionBudget) {
  RunOptions options;
  options.max_instructions = 2;
  EXPECT_EQ(FaultId(RunDouble(options).status()), "limit.instructions");
  options.max_instructions = 3;
  EXPECT_TRUE(RunDouble(options).ok()) << "the program has 3 instructions";
}

TEST(Run, StopsWhenInterrupted) {
  RunOptions options;
  options.interrupted = [] { return true; };
  EXPECT_EQ(FaultId(RunDouble(options).status()), "limit.interrupted");
}

TEST(Run, LogsOneLineForEachRetiredInstruction) {
  std::vector<std::string> lines;
  RunOptions options;
  options.log = [&lines](const std::string& line) { lines.push_back(line); };
  ASSERT_TRUE(RunDouble(options).ok());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("TensorScalar"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("wrote "), std::string::npos) << lines[1];
}

TEST(Run, NamesAMissingInput) {
  auto result = RunProgram(DoubleAndAddOne(), {}, {});
  EXPECT_EQ(FaultId(result.status()), "input.missing");
}

TEST(Run, NamesTheNearestInputOfAMisspelledOne) {
  const std::vector<float> x = Ramp(1024);
  auto result =
      RunProgram(DoubleAndAddOne(), {{"z", HostInput(kF32, {128, 8}, x)}}, {});
  EXPECT_EQ(FaultId(result.status()), "input.unknown");
  EXPECT_NE(DiagnosticOf(result.status()).message.find("\"x\""),
            std::string::npos);
}

TEST(Run, RefusesAnInputOfAnotherShapeOrDtype) {
  const std::vector<float> x = Ramp(1024);
  auto shape =
      RunProgram(DoubleAndAddOne(), {{"x", HostInput(kF32, {8, 128}, x)}}, {});
  EXPECT_EQ(FaultId(shape.status()), "input.shape");
  auto dtype = RunProgram(DoubleAndAddOne(),
                          {{"x", HostInput(Dtype::kInt32, {128, 8}, x)}}, {});
  EXPECT_EQ(FaultId(dtype.status()), "input.dtype");
}

TEST(Run, ReportsAnOutputThatIsNotWrittenInFull) {
  TestProgram p;
  const View x = p.Input("x", {128, 8});
  p.Output("y", {128, 8});
  p.Copy(p.Sbuf({128, 8}), x);
  const std::vector<float> values = Ramp(1024);
  const Inputs inputs = {{"x", HostInput(kF32, {128, 8}, values)}};
  EXPECT_EQ(FaultId(RunProgram(p.Build(), inputs, {}).status()),
            "output.unwritten");
}

TEST(Run, ReportsTheFirstReadOfAnUnwrittenPartition) {
  TestProgram p;
  const View y = p.Output("y", {128, 4});
  const View t = p.Sbuf({128, 4});
  const View u = p.Sbuf({128, 4});
  const Index partitions{.start = 0, .stop = 64};
  p.Add("memset", {{"dst", Arg(*Slice(t, std::vector{partitions}))},
                   {"value", Arg(1.0)}});
  p.Add("tensor_copy", {{"dst", Arg(u)}, {"src", Arg(t)}});
  p.Copy(y, u);
  const absl::Status status = RunProgram(p.Build(), {}, {}).status();
  EXPECT_EQ(FaultId(status), "memory.read_unwritten");
  EXPECT_NE(Render(DiagnosticOf(status)).find("partition 64"),
            std::string::npos)
      << Render(DiagnosticOf(status));
}

TEST(Run, WaitsForSemaphoresOfTheAuthor) {
  // Explicit: the copy waits for all 16 queues of the load, the store for the
  // copy.
  TestProgram p(Target::kTrn2, ProgramBuilder::Sync::kExplicit);
  const View x = p.Input("x", {128, 8});
  const View y = p.Output("y", {128, 8});
  const View t = p.Sbuf({128, 8});
  const View u = p.Sbuf({128, 8});
  const uint32_t loaded = p.builder.AddSemaphore("loaded");
  const uint32_t copied = p.builder.AddSemaphore("copied");
  p.Copy(t, x, {}, {{loaded}});
  p.Add("tensor_copy", {{"dst", Arg(u)}, {"src", Arg(t)}}, {{loaded, 16}},
        {{copied}});
  p.Copy(y, u, {{copied, 1}});
  const auto program = p.Build();
  const std::vector<float> values = Ramp(1024);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunOptions options;
    options.order = Order::kRandom;
    options.schedule_seed = seed;
    auto result = RunProgram(
        program, {{"x", HostInput(kF32, {128, 8}, values)}}, options);
    ASSERT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
    EXPECT_EQ(Values<float>(*result, "y"), values);
  }
}

TEST(Run, FindsADeadlockAtOnceAndSaysWhoWaits) {
  // The copy waits for 17, but the load's 16 queues signal 16.
  TestProgram p(Target::kTrn2, ProgramBuilder::Sync::kExplicit);
  const View x = p.Input("x", {128, 8});
  const View y = p.Output("y", {128, 8});
  const View t = p.Sbuf({128, 8});
  const uint32_t loaded = p.builder.AddSemaphore("loaded");
  p.Copy(t, x, {}, {{loaded}});
  p.Copy(y, t, {{loaded, 17}});
  const std::vector<float> values = Ramp(1024);
  const absl::Status status =
      RunProgram(p.Build(), {{"x", HostInput(kF32, {128, 8}, values)}}, {})
          .status();
  EXPECT_EQ(FaultId(status), "deadlock");
  const std::string report = Render(DiagnosticOf(status));
  EXPECT_NE(report.find("loaded >= 17; it is 16"), std::string::npos) << report;
}

TEST(Device, KeepsInoutTensorsBetweenRuns) {
  // state += 1 each run.
  TestProgram p;
  const View state =
      *p.builder.AddTensor(TensorKind::kInOut, "state", kF32, Shape{4, 2});
  const View t = p.Sbuf({4, 2});
  p.Copy(t, state);
  p.Add("tensor_scalar", {{"dst", Arg(t)},
                          {"data", Arg(t)},
                          {"op0", Arg(AluOp::kAdd)},
                          {"operand0", Arg(1.0)}});
  p.Copy(state, t);
  auto device = Device::Create(Target::kTrn2, 1);
  ASSERT_TRUE(device.ok());
  auto executable = (*device)->Load(p.Build());
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ(FaultId((*executable)->Run({}, {}).status()), "input.missing");
  const std::vector<float> zeros(8, 0.0f);
  auto first =
      (*executable)->Run({{"state", HostInput(kF32, {4, 2}, zeros)}}, {});
  ASSERT_TRUE(first.ok());
  auto second = (*executable)->Run({}, {});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(Values<float>(*second, "state"), std::vector<float>(8, 2.0f));
}

TEST(Device, RefusesATensorOfATerabyte) {
  TestProgram p;
  p.Input("x", {int64_t{1} << 20, int64_t{1} << 18});
  const auto program = p.builder.Build();
  EXPECT_EQ(FaultId(program.status()), "capacity.hbm");
}

}  // namespace
}  // namespace trnemu
