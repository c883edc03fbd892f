// The tensor engine's kernels against the core's FMA peak and OpenBLAS, on the
// device's tile: 128 x 128 stationary, 128 x 512 moving, one thread.
//
//   env -u OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS=1 matmul_bench
//
// Repetitions are interleaved at random; the ratios at the end compare medians
// and fastest repetitions of one run (the latter hold on a busy machine).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/numerics/matmul.h"

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_AVX3 | HWY_NEON))
#endif
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/matmul_bench.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trnemu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// FMAs of a register-only loop of `steps` rounds of 12 chains.
template <size_t... kChain>
HWY_INLINE float Rounds(size_t steps, std::index_sequence<kChain...>) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[] = {hn::Set(d, float{kChain})...};
  const auto factor = hn::Set(d, 0.5f);
  const auto term = hn::Set(d, 1.0f);
  for (size_t i = 0; i < steps; ++i) {
    ((sums[kChain] = hn::MulAdd(sums[kChain], factor, term)), ...);
  }
  return (hn::GetLane(sums[kChain]) + ...);
}

float PeakLoop(size_t steps) {
  return Rounds(steps, std::make_index_sequence<12>());
}
size_t PeakLanes() { return hn::MaxLanes(hn::ScalableTag<float>()); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trnemu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

// The two BLAS entry points used; no header, which Debian puts elsewhere.
extern "C" {
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc);
char* openblas_get_corename();
void openblas_set_num_threads(int threads);
}

namespace trnemu {
namespace {

HWY_EXPORT(PeakLoop);
HWY_EXPORT(PeakLanes);

constexpr size_t kK = 128;
constexpr size_t kM = 128;
constexpr size_t kN = 512;
constexpr size_t kPsumStride = kN + 32;  // PSUM rows are padded

std::vector<float> Normal(size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<uint16_t> Bf16(const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  bits.reserve(values.size());
  for (float value : values) {
    bits.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  }
  return bits;
}

void SetFlops(benchmark::State& state, double fmas) {
  state.counters["flops"] = benchmark::Counter(
      2 * fmas, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_FmaPeak(benchmark::State& state) {
  constexpr size_t kSteps = 20000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(PeakLoop)(kSteps));
  }
  SetFlops(state, 12.0 * kSteps * HWY_DYNAMIC_DISPATCH(PeakLanes)());
}

// C (M x N) += A^T (M x K) B (K x N), as PSUM accumulation does.
void BM_OpenBlasSgemm(benchmark::State& state) {
  constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
  const std::vector<float> a = Normal(kK * kM, 1), b = Normal(kK * kN, 2);
  std::vector<float> c(kM * kPsumStride);
  for (auto _ : state) {
    cblas_sgemm(kRowMajor, kTranspose, kNoTranspose, kM, kN, kK, 1.0f, a.data(),
                kM, b.data(), kN, 1.0f, c.data(), kPsumStride);
    benchmark::ClobberMemory();
  }
  SetFlops(state, kK * kM * kN);
}

// What MultiplyMoving of a bf16 tile does to values: widen, multiply,
// accumulate. With `load`, LoadStationary of its bf16 tile too.
void Bf16Tile(benchmark::State& state, MatmulRule rule, bool load) {
  const auto a = Bf16(Normal(kK * kM, 1)), b = Bf16(Normal(kK * kN, 2));
  std::vector<float> psum(kM * kPsumStride);
  const auto stationary = std::make_unique<Stationary>();
  stationary->LoadBf16(a.data(), kM, kK, kM);
  for (auto _ : state) {
    if (load) stationary->LoadBf16(a.data(), kM, kK, kM);
    MultiplyMovingBf16(*stationary, b.data(), kN, kN, rule, psum.data(),
                       kPsumStride, PsumWrite::kAccumulate);
    benchmark::ClobberMemory();
  }
  SetFlops(state, kK * kM * kN);
}
void BM_Bf16Silicon(benchmark::State& state) {
  Bf16Tile(state, MatmulRule::kSilicon, false);
}
void BM_Bf16SiliconLoad(benchmark::State& state) {
  Bf16Tile(state, MatmulRule::kSilicon, true);
}
void BM_Bf16Chain(benchmark::State& state) {
  Bf16Tile(state, MatmulRule::kChain, false);
}
void BM_Bf16Exact(benchmark::State& state) {
  Bf16Tile(state, MatmulRule::kExact, false);
}

// The device's two passes; flops are those of the product asked for.
void BM_Fp32TwoPasses(benchmark::State& state) {
  const std::vector<float> a = Normal(kK * kM, 1), b = Normal(kK * kN, 2);
  std::vector<float> psum(kM * kPsumStride);
  const auto stationary = std::make_unique<Stationary>();
  constexpr MatmulRule kRule = MatmulRule::kSilicon;
  for (auto _ : state) {
    for (const Fp32Half half : {Fp32Half::kLo, Fp32Half::kHi}) {
      stationary->LoadHalf(half, kRule, a.data(), kM, kK, kM);
      MultiplyMovingFp32Pass(*stationary, b.data(), kN, kN, kRule, psum.data(),
                             kPsumStride, PsumWrite::kAccumulate);
    }
    benchmark::ClobberMemory();
  }
  SetFlops(state, kK * kM * kN);
}

BENCHMARK(BM_FmaPeak);
BENCHMARK(BM_OpenBlasSgemm);
BENCHMARK(BM_Bf16Silicon);
BENCHMARK(BM_Bf16SiliconLoad);
BENCHMARK(BM_Bf16Chain);
BENCHMARK(BM_Bf16Exact);
BENCHMARK(BM_Fp32TwoPasses);

// Prints the aggregates, and keeps the rates of every repetition.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    if (runs.front().run_type == Run::RT_Aggregate) {
      ConsoleReporter::ReportRuns(runs);
    }
    for (const Run& run : runs) {
      const auto flops = run.counters.find("flops");
      if (run.run_type != Run::RT_Iteration || run.error_occurred ||
          flops == run.counters.end()) {
        continue;
      }
      rates_[run.run_name.function_name].push_back(flops->second.value);
    }
  }

  void PrintRatios() {
    std::printf("\nOpenBLAS core: %s; our vectors: %zu lanes\n",
                openblas_get_corename(), HWY_DYNAMIC_DISPATCH(PeakLanes)());
    PrintTable("median", 0.5);
    PrintTable("fastest", 1.0);
  }

 private:
  // 0 when the benchmark did not run.
  double Rate(const std::string& name, double quantile) {
    std::vector<double>& rates = rates_[name];
    if (rates.empty()) return 0;
    std::sort(rates.begin(), rates.end());
    return rates[static_cast<size_t>(quantile * (rates.size() - 1))];
  }

  void PrintTable(const char* title, double quantile) {
    const double peak = Rate("BM_FmaPeak", quantile);
    const double blas = Rate("BM_OpenBlasSgemm", quantile);
    std::printf("%-20s %9s %12s %14s\n", title, "GFLOP/s", "of FMA peak",
                "over OpenBLAS");
    for (const auto& [name, unused] : rates_) {
      const double rate = Rate(name, quantile);
      std::printf("%-20s %9.2f %11.1f%% %13.3fx\n", name.c_str(), rate / 1e9,
                  peak > 0 ? 100 * rate / peak : 0, blas > 0 ? rate / blas : 0);
    }
  }

  std::map<std::string, std::vector<double>> rates_;
};

}  // namespace
}  // namespace trnemu

int main(int argc, char** argv) {
  // Defaults first, so that the command line can change them.
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  char repetitions[] = "--benchmark_repetitions=9";
  char min_time[] = "--benchmark_min_time=0.1";
  std::vector<char*> arguments = {argv[0], interleave, repetitions, min_time};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) {
    std::fprintf(stderr, "unset OPENBLAS_CORETYPE: the comparison is unfair\n");
    return 2;
  }
  openblas_set_num_threads(1);
  trnemu::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.PrintRatios();
  return 0;
}
#endif  // HWY_ONCE
