// The text form: lossless both ways, and errors with line, expectation and
// finding.
#include "isa/text.h"

#include <bit>
#include <limits>
#include <random>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/container.h"
#include "isa/diagnostic.h"
#include "tests/isa/example_program.h"

namespace trnemu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSmall[] = R"(trnemu-text 1
name "small"
target trn2
producer "by hand"
cores 1
swdge false
file 0 "k.py"
source 0 file=0 line=12 function="f" label=""
queue_set 0 core=0 owner=sync queues=16
semaphore 0 core=0 name="s"
operation 0 tensor_scalar
operation 1 dma_copy
operation 2 tensor_scalar
tensor 0 x input float32 (128, 512) @src0
tensor 1 w constant uint8 (3,) data=0
tensor 2 t sbuf float32 (128, 512) core=0 partition=0 address=4096 pinned
tensor 3 "odd name" psum float32 (128, 512) core=0 partition=0 address=0
data 3
  0: 01ff7f
core 0
  sync #0 dma_copy.0 DmaCopy dst=t[0:128, 0+512x1]:float32 src=x[0+65536x1]:float32 queue_set=0 dge_mode=hwdge oob_mode=error priority=-1 signal s0+=1 s0--2/read @src0
  vector #1 %2"tensor_scalar".0 TensorScalar dst="odd name"[0:128, 511+4x0,128x-1]:float32 data=t[0:128, 0+512x1]:float32 operand0=0.1 op0=add reverse0=false op1=none reverse1=true wait s0>=16/consume s0>=0
)";

// What parsing `text` says, as "id: message"; "" if it parses.
std::string Verdict(const std::string& text) {
  const auto program = FromText(text);
  if (program.ok()) return "";
  const Diagnostic d = DiagnosticOf(program.status());
  EXPECT_EQ(d.category, Category::kMalformed) << d.message;
  return d.id + ": " + d.message;
}

// The same after replacing a part of kSmall that occurs once.
std::string Edited(const std::string& part, const std::string& by) {
  std::string text = kSmall;
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  EXPECT_EQ(text.find(part, at + 1), std::string::npos) << part;
  text.replace(at, part.size(), by);
  return Verdict(text);
}

TEST(Text, IsWhatThePageSays) {
  const auto program = FromText(kSmall);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(ToText(*program), kSmall);
}

TEST(Text, KeepsEveryByteOfAProgram) {
  const Program program = ExampleProgram();
  const std::string text = ToText(program);
  const auto again = FromText(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(SerializeProgram(*again), SerializeProgram(program));
  EXPECT_EQ(ToText(*again), text);
}

TEST(Text, KeepsEveryBitOfADouble) {
  constexpr uint64_t kBits[] = {
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
      0x7fefffffffffffff, 0x3fb999999999999a, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
      0x7ff0000000000001, 0x7fffffffffffffff, 0x3ff0000000000001};
  for (const uint64_t bits : kBits) {
    Program program = *FromText(kSmall);
    for (Operand& operand : program.cores[0].operands) {
      operand.immediate = std::bit_cast<double>(bits);
    }
    const auto again = FromText(ToText(program));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(SerializeProgram(*again), SerializeProgram(program))
        << ToText(program);
    EXPECT_EQ(FirstDifference(program, *again), "");
  }
}

TEST(Text, IgnoresCommentsBlankLinesAndSpacing) {
  EXPECT_EQ(Edited("cores 1", "  cores\t1 ; how many\n\n ; nothing"), "");
  EXPECT_EQ(Edited("op0=add", "op0 = add"), "");
  EXPECT_EQ(Verdict(absl::StrReplaceAll(kSmall, {{"\n", "\r\n"}})), "");
  EXPECT_EQ(Edited("\"small\"", "\"a;b\""), "");
}

TEST(Text, TakesOperandsInAnyOrder) {
  EXPECT_EQ(Edited("operand0=0.1 op0=add", "op0=add operand0=0.1"), "");
  EXPECT_THAT(Edited("op0=add", "op0=add op0=add"),
              HasSubstr("expected `op0` only once, found `add reverse0"));
}

TEST(Text, TellsATensorCalledInfFromTheNumber) {
  const std::string text =
      absl::StrReplaceAll(kSmall, {{"tensor 2 t ", "tensor 2 inf "},
                                   {"=t[", "=inf["},
                                   {"operand0=0.1", "operand0=inf"}});
  const auto program = FromText(text);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(ToText(*program), text);
}

TEST(TextErrors, NameLineExpectationAndFinding) {
  EXPECT_EQ(Verdict(""),
            "malformed.text: line 1: expected `trnemu-text 1`, found the end "
            "of the line");
  EXPECT_EQ(Verdict("trnemu-text 2\n"),
            "malformed.text: line 1: expected `trnemu-text 1`, found "
            "`trnemu-text 2`");
  EXPECT_EQ(Edited("target trn2", "target \"trn2\""),
            "malformed.text: line 3: expected a target, found `\"trn2\"`");
  EXPECT_EQ(Edited("swdge false", "swdge no"),
            "malformed.text: line 6: expected `true` or `false`, found `no`");
  EXPECT_THAT(Edited("cores 1", "cores 1 2"),
              HasSubstr("line 5: expected the end of the line, found `2`"));
  EXPECT_THAT(Edited("cores 1", "cores 1\ncores 1"),
              HasSubstr("line 6: expected `cores` only once"));
  EXPECT_THAT(Edited("cores 1", "kernels 1"), HasSubstr("line 5: expected"));
  EXPECT_THAT(Edited("operation 1", "operation 2"),
              HasSubstr("expected index 1 instead of 2"));
  EXPECT_THAT(Edited("name=\"s\"", "name=\"s"),
              HasSubstr("expected a closing quote"));
  EXPECT_THAT(Edited("\"k.py\"", "\"k\\n.py\""), HasSubstr("backslash"));
  EXPECT_THAT(Edited("x input", "x in"), HasSubstr("kind of tensor"));
  EXPECT_THAT(Edited("\"by hand\"", "\"\xff\""), HasSubstr("not UTF-8"));
}

TEST(TextErrors, NameTheFieldThatIsWrong) {
  EXPECT_EQ(Edited("target trn2", "target trn9"),
            "malformed.enum: line 3: header.target is \"trn9\", not trn1, "
            "trn2 or trn3");
  EXPECT_THAT(Edited("swdge false\n", ""),
              HasSubstr("header.swdge is not set"));
  EXPECT_THAT(Edited("address=4096", "address=4294967296"),
              StartsWith("malformed.address: line 16: "
                         "header.tensors[2].byte_address"));
  EXPECT_THAT(Edited("data=0", "data=1"),
              StartsWith("malformed.data: line 15: "));
  EXPECT_EQ(Edited("511+4x0", "511+0x0"),
            "malformed.count: line 22: tensor_scalar.dst.count[0] is 0");
  EXPECT_EQ(Edited("s0>=0", "s7>=0"),
            "malformed.index: line 22: waits[1].semaphore is 7; there are 1 "
            "semaphores");
  EXPECT_THAT(Edited(" op0=add", ""),
              HasSubstr("tensor_scalar.op0 is not set"));
  EXPECT_THAT(
      Edited("#1", "#0"),
      HasSubstr("cores[0].sync[0].order is 0 (step 0), as in the vector"));
}

TEST(TextErrors, CoverInstructions) {
  EXPECT_THAT(Edited("op0=add", "op0=plus"),
              HasSubstr("square, relu, rsqrt, reciprocal instead of `plus`"));
  EXPECT_THAT(Edited("op0=add", "op7=add"),
              HasSubstr("an operand or attribute of TensorScalar"));
  EXPECT_THAT(Edited("vector #1", "pool #1"), HasSubstr("an engine"));
  EXPECT_THAT(Edited(" DmaCopy", " DmaMove"), HasSubstr("an opcode"));
  EXPECT_THAT(Edited("src=x[", "src=z["),
              HasSubstr("a known tensor instead of \"z\""));
  EXPECT_THAT(Edited("%2\"tensor_scalar\"", "tensor_scalar"),
              HasSubstr("ambiguous operation"));
  EXPECT_THAT(Edited("%2\"tensor_scalar\"", "%1\"tensor_scalar\""),
              HasSubstr("operation 1 to be called"));
  EXPECT_THAT(Edited("511+4x0", "511+4"), HasSubstr("expected `x`"));
  EXPECT_THAT(Edited("s0+=1", "s0=1"), HasSubstr("+= -= ++ -- :="));
  EXPECT_THAT(Edited("core 0\n", "core 1\n"), HasSubstr("a core below 1"));
}

TEST(TextErrors, CoverData) {
  EXPECT_THAT(Edited("0: 01ff7f", "0: 01ff"), HasSubstr("3 bytes in hex"));
  EXPECT_THAT(Edited("0: 01ff7f", "0: 01ff7f00"),
              HasSubstr("the end of the line"));
  EXPECT_THAT(Edited("0: 01ff7f", "1: 01ff7f"), HasSubstr("position 0"));
  EXPECT_THAT(Edited("0: 01ff7f", "0: 01fg7f"), HasSubstr("in hex"));
  const std::string text = kSmall;
  EXPECT_THAT(Verdict(text.substr(0, text.find("  0: 01"))),
              HasSubstr("expected 3 bytes of data, found 0"));
  EXPECT_THAT(Edited("data 3", "data 18446744073709551615"),
              HasSubstr("line 19: expected 64 bytes in hex"));
}

TEST(TextErrors, RandomDamageGivesADiagnosticOrAValidProgram) {
  constexpr unsigned kSeed = 20240502;
  std::mt19937 random(kSeed);
  const std::string good = ToText(ExampleProgram());
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " +
                 std::to_string(round));
    std::string text = good;
    const size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text[at] = "0x;\"[:=\n%~"[random() % 10];
        break;
      case 1:
        text.erase(at, 1 + random() % 6);
        break;
      default:
        text.insert(random() % text.size(), text.substr(at, random() % 9));
    }
    const auto program = FromText(text);
    if (program.ok()) {
      ASSERT_TRUE(FromText(ToText(*program)).ok());
    } else {
      ASSERT_EQ(DiagnosticOf(program.status()).category, Category::kMalformed);
    }
  }
}

TEST(Disassembler, WritesOneLineAnInstruction) {
  const Program program = *FromText(kSmall);
  EXPECT_EQ(
      DisassembleInstruction(program, 0,
                             program.cores[0].stream(Engine::kSync)[0]),
      "sync #0 dma_copy.0 DmaCopy dst=t[0:128, 0+512x1]:float32 "
      "src=x[0+65536x1]:float32 queue_set=0 dge_mode=hwdge oob_mode=error "
      "priority=-1 signal s0+=1 s0--2/read @src0");
}

TEST(FirstDifference, NamesHeaderDataOrInstruction) {
  const Program a = *FromText(kSmall);
  auto differs = [&](const std::string& part, const std::string& by) {
    return FirstDifference(
        a, *FromText(absl::StrReplaceAll(kSmall, {{part, by}})));
  };
  EXPECT_EQ(FirstDifference(a, a), "");
  EXPECT_EQ(differs("target trn2", "target trn3"),
            "header\n- target trn2\n+ target trn3");
  EXPECT_EQ(differs("01ff7f", "01ff80"),
            "constant \"w\", byte 2\n- 127\n+ "
            "128");
  EXPECT_THAT(differs("op0=add", "op0=subtract"),
              StartsWith("core 0, vector stream, instruction 0\n- vector #1 "));
  Program shorter = a;
  shorter.cores[0].stream(Engine::kVector).clear();
  EXPECT_THAT(FirstDifference(a, shorter), HasSubstr("\n+ (no more)"));
}

}  // namespace
}  // namespace trnemu
