// What a program costs on the host besides its arithmetic: loading a million
// instructions, and executing a hundred thousand tiny ones.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "isa/builder.h"
#include "isa/container.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

// Stops the benchmark with the diagnostic where a step fails.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", Render(DiagnosticOf(value.status())).c_str());
    std::exit(1);
  }
  return *std::move(value);
}
void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", Render(DiagnosticOf(status)).c_str());
  std::exit(1);
}

// `n` vector instructions on [1, 8] tiles, then one store.
std::shared_ptr<const Program> TinyProgram(int n) {
  ProgramBuilder b(Target::kTrn2, "tiny", 1, ProgramBuilder::Sync::kAuto);
  const int64_t shape[] = {1, 8};
  const View y =
      Must(b.AddTensor(TensorKind::kOutput, "y", Dtype::kFloat32, shape));
  const Value t = Value::Of(Must(ToAccess(
      Must(b.AddTile(TensorKind::kSbuf, "t", Dtype::kFloat32, shape)))));
  const Value u = Value::Of(Must(ToAccess(
      Must(b.AddTile(TensorKind::kSbuf, "u", Dtype::kFloat32, shape)))));
  Must(b.Add("memset", {{"dst", t}, {"value", Value::Number(0)}}));
  for (int i = 0; i < n; ++i) {
    const Value& from = i % 2 == 0 ? t : u;
    const Value& to = i % 2 == 0 ? u : t;
    Must(b.Add("tensor_tensor", {{"dst", to},
                                 {"data1", from},
                                 {"data2", from},
                                 {"op", Value::OfEnum(AluOp::kMaximum)}}));
  }
  Must(b.Add("dma_copy", {{"dst", Value::Of(Must(ToAccess(y)))},
                          {"src", n % 2 == 0 ? t : u}}));
  return Must(b.Build());
}

void ExecuteTiny(benchmark::State& state, Checks checks, bool time) {
  constexpr int kInstructions = 100'000;
  static const auto program = TinyProgram(kInstructions);
  auto device = Must(Device::Create(Target::kTrn2, 1));
  auto executable = Must(device->Load(program));
  RunOptions options;
  options.checks = checks;
  options.time = time;
  if (!time) options.order = Order::kProgram;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Must(executable->Run({}, options)));
  }
  state.counters["us_per_instruction"] = benchmark::Counter(
      kInstructions * 1e-6, benchmark::Counter::kIsIterationInvariantRate |
                                benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(ExecuteTiny, timed_checked, Checks::kFull, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExecuteTiny, timed_unchecked, Checks::kOff, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ExecuteTiny, untimed_unchecked, Checks::kOff, false)
    ->Unit(benchmark::kMillisecond);

// A file of a million instructions, written once.
const std::string& MillionFile() {
  static const std::string path = [] {
    const std::string file =
        (std::filesystem::temp_directory_path() / "trnemu_million.trn")
            .string();
    Must(WriteProgram(*TinyProgram(1'000'000), file));
    return file;
  }();
  return path;
}

// Reading alone (what --checks off needs besides the rules), then with every
// rule checked.
void LoadMillion(benchmark::State& state, bool verify) {
  const std::string& path = MillionFile();
  for (auto _ : state) {
    const Program program = Must(ReadProgram(path));
    if (verify) {
      const auto findings = VerifyProgram(program, HardwareFor(Target::kTrn2));
      if (!findings.empty()) std::exit(1);
    }
    benchmark::DoNotOptimize(program.num_instructions());
  }
}
BENCHMARK_CAPTURE(LoadMillion, read, false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);
BENCHMARK_CAPTURE(LoadMillion, read_and_verify, true)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

}  // namespace
}  // namespace trnemu
