// The public test header: builder, outcomes, matchers.
#include <gtest/gtest-spi.h>
#include <trnemu/testing.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trnemu::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StringMatchResultListener;

class Header : public TrnTest {
 protected:
  // y = x + number, of four floats.
  void AddNumber(double number) {
    auto x = kernel.Input("x", {1, 4}, "float32", {1.f, 2.f, 3.f, 4.f});
    auto t = kernel.Sbuf({1, 4}, "float32");
    kernel.Do("dma_copy", {{"dst", t}, {"src", x}});
    kernel.Do("tensor_scalar",
              {{"dst", t}, {"data", t}, {"op0", "add"}, {"operand0", number}});
    kernel.Do("dma_copy",
              {{"dst", kernel.Output("y", {1, 4}, "float32")}, {"src", t}});
  }
};

TEST_F(Header, RunsToComparesTheBytesOfTheOutput) {
  AddNumber(1);
  EXPECT_THAT(kernel, RunsTo(std::vector<float>{2, 3, 4, 5}));
  EXPECT_THAT(kernel, RunsTo("y", std::vector<float>{2, 3, 4, 5}));
  EXPECT_THAT(kernel, RunsTo(BytesOf(std::vector<float>{2, 3, 4, 5})));
  EXPECT_THAT(kernel, Not(RunsTo(std::vector<float>{2, 3, 4, 6})));
  EXPECT_THAT(kernel, Not(RunsTo(std::vector<float>{2, 3, 4})));
  EXPECT_THAT(kernel, Not(RunsTo("z", std::vector<float>{2, 3, 4, 5})));
}

TEST_F(Header, RunsToSaysWhichBytesDiffer) {
  AddNumber(1);
  StringMatchResultListener listener;
  // 5.0f is 0x40a00000, 6.0f is 0x40c00000: byte 2 of the last element.
  ::testing::Matcher<const Kernel&> matcher =
      RunsTo(std::vector<float>{2, 3, 4, 6});
  EXPECT_FALSE(matcher.MatchAndExplain(kernel, &listener));
  EXPECT_THAT(listener.str(), HasSubstr("byte 14: 0xa0, expected 0xc0"));
  EXPECT_THAT(listener.str(), HasSubstr("1 of 16 bytes differ"));
}

TEST_F(Header, FaultsWithTakesTheFirstThingThatIsWrong) {
  auto x = kernel.Input("x", {1, 4}, "float32", {1.f, 2.f, 3.f, 4.f});
  kernel.Do("tensor_copy",
            {{"dst", kernel.Sbuf({1, 4}, "float32")}, {"src", x}});
  kernel.Do("no_such_operation", {});
  EXPECT_THAT(kernel, FaultsWith("operand.buffer"));
  EXPECT_THAT(kernel, Not(FaultsWith("operation.name")));
  EXPECT_THAT(kernel, Not(RunsTo(std::vector<float>{1, 2, 3, 4})));
  const Outcome outcome = kernel.Run();
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->category, "illegal");
  EXPECT_EQ(outcome.fault->operand, "src");
  EXPECT_THAT(outcome.fault->message, HasSubstr("hbm"));
  EXPECT_THAT(outcome.fault->report, HasSubstr("fix"));
  EXPECT_THAT(outcome.fault->source, HasSubstr("testing_test.cc:"));
  EXPECT_THAT(outcome.fault->json, HasSubstr("\"trnemu.diagnostic\""));
  EXPECT_TRUE(outcome.outputs.empty());
}

TEST_F(Header, AFaultOfTheRunIsAnOutcomeToo) {
  auto t = kernel.Sbuf({1, 4}, "float32");
  kernel.Do("tensor_copy",
            {{"dst", kernel.Sbuf({1, 4}, "float32")}, {"src", t}});
  EXPECT_THAT(kernel, FaultsWith("memory.read_unwritten"));
  Options allowed;
  allowed.allow = {"memory.read_unwritten"};
  EXPECT_THAT(kernel, WarnsWith("memory.read_unwritten", allowed));
}

TEST_F(Header, NamesAndOptionsThatDoNotExistAreFaults) {
  auto t = kernel.Sbuf({1, 4}, "float32");
  kernel.Do("activation", {{"dst", t}, {"op", "softmax"}, {"data", t}});
  EXPECT_THAT(kernel, FaultsWith("operand.value"));
  EXPECT_THAT(Kernel("trn9"), FaultsWith("input.usage"));
  Kernel other;
  other.Sbuf({1, 4}, "float64");
  EXPECT_THAT(other, FaultsWith("tensor.dtype"));
  Kernel empty;
  Options options;
  options.schedule = "sometimes";
  EXPECT_THAT(empty, FaultsWith("option.schedule", options));
  options = {};
  options.numerics = {{"matmul", "fast"}};
  EXPECT_THAT(empty, FaultsWith("option.numerics", options));
}

TEST_F(Header, SlicesAreViewsWithBounds) {
  auto t = kernel.Sbuf({4, 8}, "float32");
  kernel.Do("memset", {{"dst", t}, {"value", 1.0}});
  kernel.Do("memset", {{"dst", t.Slice(1, 2, 1)}, {"value", 2.0}});
  kernel.Do("dma_copy", {{"dst", kernel.Output("y", {1, 3}, "float32")},
                         {"src", t.Slice(0, 3, 1).Slice(1, 1, 3)}});
  EXPECT_THAT(kernel, RunsTo(std::vector<float>{1, 2, 1}));
  kernel.Do("memset", {{"dst", t.Slice(1, 8, 1)}, {"value", 2.0}});
  EXPECT_TRUE(kernel.Run().fault.has_value());
}

TEST_F(Header, AnIdThatNoReportHasFailsAlsoUnderNot) {
  AddNumber(1);
  static const Kernel* used;
  used = &kernel;
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(*used, Not(FaultsWith("race.bogus"))),
                          "there is no diagnostic \"race.bogus\"");
  EXPECT_THAT(kernel, Not(FaultsWith("memory.read_unwritten")));
}

TEST_F(Header, ExplicitWaitsAreTheAuthors) {
  for (const int64_t reached : {1, 2}) {
    Kernel k("trn2", Kernel::Waits::kExplicit);
    const Semaphore s = k.NewSemaphore();
    auto t = k.Sbuf({1, 4}, "float32");
    k.Do("memset", {{"dst", t}, {"value", 3.0}}, {{}, {{s, 1}}});
    k.Do("dma_copy", {{"dst", k.Output("y", {1, 4}, "float32")}, {"src", t}},
         {{{s, reached}}, {}});
    if (reached == 1) {
      EXPECT_THAT(k, RunsTo(std::vector<float>{3, 3, 3, 3}));
    } else {
      EXPECT_THAT(k, FaultsWith("deadlock"));
    }
  }
}

constexpr char kCopy[] = R"(trnemu-text 1
name "copy"
target trn2
producer "test"
cores 1
swdge false
queue_set 0 core=0 owner=sync queues=16
operation 0 dma_copy
tensor 0 x input float32 (1, 4)
tensor 1 y output float32 (1, 4)
core 0
  sync #0 dma_copy.0 DmaCopy dst=y[0+4x1]:float32 src=x[0+4x1]:float32 queue_set=0 dge_mode=unknown oob_mode=error priority=-1
)";

TEST_F(Header, AProgramMayComeAsText) {
  Kernel copy = Kernel::FromText(kCopy);
  EXPECT_THAT(copy, FaultsWith("input.missing"));
  copy.Set("x", BytesOf(std::vector<float>{1, 2, 3, 4}));
  EXPECT_THAT(copy, RunsTo(std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(ValuesOf<float>(copy.Run().outputs["y"])[3], 4);
  copy.Set("z", {});
  EXPECT_THAT(copy, FaultsWith("input.unknown"));
  EXPECT_THAT(Kernel::FromText(kCopy), Not(RunsTo(std::vector<float>{})));
}

TEST_F(Header, TextThatIsNoProgramIsMalformed) {
  EXPECT_THAT(Kernel::FromText("hello"), FaultsWith("malformed.text"));
}

class Generations : public EveryTarget {};
TRNEMU_EVERY_TARGET(Generations);

TEST_P(Generations, RunTheSameCopy) {
  auto x = kernel.Input("x", {1, 3}, "float32", {0.5f, 1.5f, 2.5f});
  auto t = kernel.Sbuf({1, 3}, "float32");
  auto i = kernel.Sbuf({1, 3}, "int32");
  kernel.Do("dma_copy", {{"dst", t}, {"src", x}});
  kernel.Do("tensor_copy", {{"dst", i}, {"src", t}});
  kernel.Do("dma_copy",
            {{"dst", kernel.Output("y", {1, 3}, "int32")}, {"src", i}});
  EXPECT_THAT(kernel, RunsTo(std::vector<int32_t>{0, 2, 2}));
}

}  // namespace
}  // namespace trnemu::testing
