// The same bits on every vector target, thread and build: one program through
// most of the arithmetic, and a fingerprint of its output as a literal. The
// literal was taken from a release build on AVX2; sanitizer and debug builds
// run this test too.
#include <limits>
#include <thread>

#include "tests/core/run_harness.h"
#include "tests/core/vector_targets.h"

namespace trnemu {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 96;
constexpr uint64_t kFingerprint = 0x76077f88ca827aa9;

// A spread of magnitudes and signs, some NaN and infinities; from an integer
// hash, so that it is the same everywhere.
std::vector<float> Inputs() {
  std::vector<float> x(kRows * kColumns);
  uint32_t state = 12345;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = (static_cast<float>(state >> 8) - 8388608.0f) / 1048576.0f;
  }
  x[7] = std::numeric_limits<float>::infinity();
  x[100] = -std::numeric_limits<float>::infinity();
  x[200] = std::numeric_limits<float>::quiet_NaN();
  return x;
}

// Every activation function, every cheap ALU operation, casts to every dtype,
// and both kinds of matmul, each into its own rows of y.
std::shared_ptr<const Program> Mixture() {
  TestProgram p;
  const View x = p.Input("x", {kRows, kColumns});
  const View t = p.Sbuf({kRows, kColumns});
  p.Copy(t, x);
  int outputs = 0;
  auto store = [&](const View& tile) {
    const View y =
        p.Output("y" + std::to_string(outputs++), tile.Shape(), tile.dtype);
    p.Copy(y, tile);
  };
  for (const ActInfo& info : kActFunctions) {
    const View u = p.Sbuf({kRows, kColumns});
    p.Add("activation", {{"dst", Arg(u)},
                         {"op", Arg(info.function)},
                         {"data", Arg(t)},
                         {"scale", Arg(0.75)}});
    store(u);
  }
  for (AluOp op :
       {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum,
        AluOp::kMinimum, AluOp::kPower, AluOp::kLess, AluOp::kLogicalXor}) {
    const View u = p.Sbuf({kRows, kColumns});
    p.Add("tensor_tensor", {{"dst", Arg(u)},
                            {"data1", Arg(t)},
                            {"data2", Arg(t)},
                            {"op", Arg(op)}});
    store(u);
  }
  for (const DtypeInfo& info : kDtypes) {
    if (info.kind == DtypeClass::kPacked) continue;
    const View u = p.Sbuf({kRows, kColumns}, info.dtype);
    p.Add("tensor_copy", {{"dst", Arg(u)}, {"src", Arg(t)}});
    store(u);
  }
  const View h = p.Sbuf({kRows, kColumns}, Dtype::kBFloat16);
  p.Add("tensor_copy", {{"dst", Arg(h)}, {"src", Arg(t)}});
  for (const View& operand : {t, h}) {
    const View sums = p.Psum({kColumns, kColumns});
    const View u = p.Sbuf({kColumns, kColumns});
    p.Add("nc_matmul", {{"dst", Arg(sums)},
                        {"stationary", Arg(operand)},
                        {"moving", Arg(operand)}});
    p.Add("tensor_copy", {{"dst", Arg(u)}, {"src", Arg(sums)}});
    store(u);
  }
  const View total = p.Sbuf({kRows, 1});
  p.Add("tensor_reduce", {{"dst", Arg(total)},
                          {"op", Arg(AluOp::kAdd)},
                          {"data", Arg(t)},
                          {"axis", Value::Ints(std::vector<int64_t>{1})}});
  store(total);
  return p.Build();
}

uint64_t FingerprintOf(const RunResult& result) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const auto& [name, array] : result.outputs) {
    for (std::byte b : array.bytes) {
      hash = (hash ^ static_cast<uint8_t>(b)) * 0x100000001b3;
    }
  }
  return hash;
}

uint64_t RunMixture(std::shared_ptr<const Program> program) {
  const std::vector<float> x = Inputs();
  const auto result =
      RunProgram(std::move(program),
                 {{"x", HostInput(Dtype::kFloat32, {kRows, kColumns}, x)}}, {});
  EXPECT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
  return result.ok() ? FingerprintOf(*result) : 0;
}

TEST(SameBits, EveryVectorTargetGivesTheFingerprint) {
  OnEachTarget([] {
    const uint64_t fingerprint = RunMixture(Mixture());
    EXPECT_EQ(fingerprint, kFingerprint) << std::hex << fingerprint;
  });
}

TEST(SameBits, TwoThreadsGiveTheBitsOfOne) {
  const auto program = Mixture();
  uint64_t a = 0, b = 0;
  std::thread first([&] { a = RunMixture(program); });
  std::thread second([&] { b = RunMixture(program); });
  first.join();
  second.join();
  EXPECT_EQ(a, kFingerprint);
  EXPECT_EQ(b, kFingerprint);
}

}  // namespace
}  // namespace trnemu
