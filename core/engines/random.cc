// Rng, Rand2, RandSetState, RandGetState, SetRngSeed, Dropout: draws from the
// generators of core/numerics/random_numbers.h, whose header says what of them
// is documented. An instruction whose result depends on the rest says so.
//
// rand2 takes r * 2^-32 of a 32-bit draw, dropout the upper 24 bits times
// 2^-24 [assumed: spec/numerics.md 15.13, 15.21].
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/engines/engines.h"
#include "core/engines/rows.h"

namespace trnemu {
namespace {

// From generation 4 on the vector engine, too, has XORWOW
// (nki/guides/architecture/trainium3_arch.rst:208); rand2 came with it.
bool VectorHasXorwow(const CoreState& state) {
  return state.hardware->features.rand2;
}

// The generator that an engine's instruction uses.
enum class Generator : uint8_t { kVectorLfsr, kVectorXorwow, kGpsimd };

Generator GeneratorOf(Engine engine, const CoreState& state) {
  if (engine == Engine::kGpsimd) return Generator::kGpsimd;
  return VectorHasXorwow(state) ? Generator::kVectorXorwow
                                : Generator::kVectorLfsr;
}

// The numbers that a row's elements get.
void Draw(Generator generator, size_t lane, int64_t n, uint32_t* out,
          RandomState& random) {
  const size_t count = static_cast<size_t>(n);
  switch (generator) {
    case Generator::kVectorLfsr:
      return random.lfsr[lane].Draw(count, out);
    case Generator::kVectorXorwow:
      return random.vector[lane].Draw(count, out);
    case Generator::kGpsimd:
      return random.gpsimd[lane].Draw(count, out);
  }
}

std::string_view Describe(Generator generator) {
  switch (generator) {
    case Generator::kVectorLfsr:
      return "the vector engine's generator is an LFSR that no document gives; "
             "a xorshift stands for it";
    case Generator::kVectorXorwow:
      return "the constants, the word order and the use of the four streams "
             "of the vector engine's XORWOW generator are in no document; "
             "Marsaglia's constants and element i from stream i % 4 stand for "
             "them";
    case Generator::kGpsimd:
      return "the constants and the word order of the gpsimd engine's XORWOW "
             "generator are in no document; Marsaglia's stand for them";
  }
  return "";
}

// Once a run and operation (rng.generator).
void WarnGenerator(Opcode opcode, Generator generator, CoreState& state) {
  static_assert(kNumOpcodes <= 64, "random_reported has a bit an opcode");
  const uint64_t bit = uint64_t{1} << static_cast<unsigned>(opcode);
  if (state.random_reported & bit) return;
  state.random_reported |= bit;
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = "rng.generator";
  d.message =
      absl::StrCat("the numbers are repeatable, but not those of a device: ",
                   std::string(Describe(generator)));
  d.remedy =
      "rely on the distribution only, or draw on the host and load the numbers";
  d.reference = "nki/guides/architecture/trainium3_arch.rst:206";
  Warn(state, std::move(d));
}

Diagnostic Unspecified(std::string_view id, std::string_view operand,
                       const Tile& tile, int64_t partition) {
  Diagnostic d;
  d.category = Category::kUnspecified;
  d.id = std::string(id);
  d.operand = std::string(operand);
  d.details = {{"partition", absl::StrCat(tile.first_partition + partition)}};
  return d;
}

// "rand2.range" unless min < max, of a partition.
absl::Status CheckRange(float low, float high, const Tile& dst,
                        int64_t partition) {
  if (low < high) return absl::OkStatus();
  Diagnostic d = Unspecified("rand2.range", "min", dst, partition);
  d.message = absl::StrCat("min must be below max, but at partition ",
                           dst.first_partition + partition, " of dst they are ",
                           low, " and ", high);
  d.details.emplace_back("min", absl::StrCat(low));
  d.details.emplace_back("max", absl::StrCat(high));
  d.reference = "nki/api/nki/isa/__init__.py:2276";
  return ToStatus(std::move(d));
}

// Each step is rounded to fp32; ends at infinity give NaN.
void Uniform(const uint32_t* words, float low, float width, size_t n,
             float* out) {
  for (size_t i = 0; i < n; ++i) {
    const float value = low + static_cast<float>(words[i]) * 0x1p-32f * width;
    out[i] = value == value ? value : std::numeric_limits<float>::quiet_NaN();
  }
}

// The first of a lane's generators whose words x to v are all 0, or -1.
int64_t FirstZeroState(const uint32_t* words, int64_t n) {
  for (int64_t at = 0; at < n; at += 6) {
    const auto is_zero = [](uint32_t word) { return word == 0; };
    if (std::all_of(words + at, words + at + 5, is_zero)) return at;
  }
  return -1;
}

void WarnZeroState(const Tile& seeds, int64_t partition, int64_t element,
                   CoreState& state) {
  Diagnostic d =
      Unspecified("rand_set_state.zero_state", "src_seeds", seeds, partition);
  d.message = absl::StrCat(
      "src_seeds has five zeros in a generator's words, at partition ",
      seeds.first_partition + partition, ", elements ", element, " to ",
      element + 4,
      ": XORWOW then only counts, and no document says what a device does");
  d.details.emplace_back("element", absl::StrCat(element));
  d.remedy = "let one of the first five words be other than 0";
  d.reference = "nki/api/nki/isa/__init__.py:2197";
  Warn(state, std::move(d));
}

void WarnProbability(float prob, const Tile& data, int64_t partition,
                     CoreState& state) {
  Diagnostic d = Unspecified("dropout.probability", "prob", data, partition);
  d.message = absl::StrCat(
      "prob is ", prob, " at partition ", data.first_partition + partition,
      ", outside [0, 1]: no document says what that gives; an element was "
      "zeroed if a number in [0, 1) is below it");
  d.details.emplace_back("value", absl::StrCat(prob));
  d.reference = "nki/api/nki/isa/__init__.py:2127";
  Warn(state, std::move(d));
}

// numbers[i] becomes all ones where u >= prob (or prob is NaN), else 0.
void KeepMask(float prob, size_t n, uint32_t* numbers) {
  for (size_t i = 0; i < n; ++i) {
    const float u = static_cast<float>(numbers[i] >> 8) * 0x1p-24f;
    numbers[i] = u < prob ? 0 : ~uint32_t{0};
  }
}

// One row: bits, or fp32 where the dtypes differ.
void DropRow(const RowReader& reader, uint32_t partition, const uint32_t* keep,
             bool bits, RowWriter& writer, CoreState& state) {
  const size_t n = static_cast<size_t>(reader.size());
  if (bits) {
    uint32_t* const words = BitsBuffer(state, 1, reader.size());
    reader.ReadBits(partition, words);
    for (size_t i = 0; i < n; ++i) words[i] &= keep[i];
    return writer.WriteBits(partition, words);
  }
  float* const row = RowBuffer(state, 0, reader.size());
  reader.ReadInto(partition, row);
  for (size_t i = 0; i < n; ++i) row[i] = keep[i] != 0 ? row[i] : 0;
  writer.Write(partition, row);
}

}  // namespace

absl::Status ExecuteRng(const ExecuteArgs& args, CoreState& state) {
  const Tile& dst = args.slots[slot::Rng::kDst].tile;
  const Generator generator = GeneratorOf(args.engine, state);
  WarnGenerator(Opcode::kRng, generator, state);
  RowWriter writer(dst, "dst", state);
  uint32_t* const words = BitsBuffer(state, 0, dst.free_size);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    Draw(generator, p, dst.free_size, words, state.random);
    writer.WriteBits(p, words);
  }
  return absl::OkStatus();
}

absl::Status ExecuteRand2(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Rand2;
  const Tile& dst = args.slots[S::kDst].tile;
  const ColumnReader min(args.slots[S::kMin], args.operands[S::kMin],
                         state.numerics);
  const ColumnReader max(args.slots[S::kMax], args.operands[S::kMax],
                         state.numerics);
  const Generator generator = GeneratorOf(args.engine, state);
  WarnGenerator(Opcode::kRand2, generator, state);
  RowWriter writer(dst, "dst", state);
  writer.Reads(min);
  writer.Reads(max);
  uint32_t* const words = BitsBuffer(state, 0, dst.free_size);
  float* const buffer = RowBuffer(state, 0, dst.free_size);
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    const float low = min.At(p);
    const float high = max.At(p);
    absl::Status status = Admit(state, CheckRange(low, high, dst, p));
    if (!status.ok()) return status;
    Draw(generator, p, dst.free_size, words, state.random);
    float* const out = writer.Place(p, buffer);
    Uniform(words, low, high - low, static_cast<size_t>(dst.free_size), out);
    writer.Write(p, out);
  }
  return absl::OkStatus();
}

absl::Status ExecuteRandSetState(const ExecuteArgs& args, CoreState& state) {
  const Tile& seeds = args.slots[slot::RandSetState::kSrcSeeds].tile;
  const RowReader reader(seeds, state.numerics);
  const bool gpsimd = args.engine == Engine::kGpsimd;
  uint32_t* const words = BitsBuffer(state, 0, seeds.free_size);
  bool reported = false;
  for (uint32_t p = 0; p < seeds.partitions; ++p) {
    reader.ReadBits(p, words);
    if (gpsimd) {
      state.random.gpsimd[p].Set(words);
    } else {
      state.random.vector[p].Set(words);
    }
    const int64_t zeros = FirstZeroState(words, seeds.free_size);
    if (zeros < 0 || reported) continue;
    reported = true;
    WarnZeroState(seeds, p, zeros, state);
  }
  return absl::OkStatus();
}

absl::Status ExecuteRandGetState(const ExecuteArgs& args, CoreState& state) {
  const Tile& dst = args.slots[slot::RandGetState::kDst].tile;
  const Generator generator = GeneratorOf(args.engine, state);
  RowWriter writer(dst, "dst", state);
  uint32_t* const words = BitsBuffer(state, 0, dst.free_size);
  bool as_set = true;
  for (uint32_t p = 0; p < dst.partitions; ++p) {
    if (generator == Generator::kGpsimd) {
      state.random.gpsimd[p].Get(words);
      as_set = as_set && state.random.gpsimd[p].as_set;
    } else {
      state.random.vector[p].Get(words);
      as_set = as_set && state.random.vector[p].as_set;
    }
    writer.WriteBits(p, words);
  }
  // What rand_set_state put there comes back whatever the generator does.
  if (!as_set) WarnGenerator(Opcode::kRandGetState, generator, state);
  return absl::OkStatus();
}

absl::Status ExecuteSetRngSeed(const ExecuteArgs& args, CoreState& state) {
  const Tile& seeds = args.slots[slot::SetRngSeed::kSrcSeeds].tile;
  uint32_t seed = 0;
  RowReader(seeds, state.numerics).ReadBits(0, &seed);
  state.random.SeedVector(seed);
  return absl::OkStatus();
}

absl::Status ExecuteDropout(const ExecuteArgs& args, CoreState& state) {
  using S = slot::Dropout;
  const Tile& data = args.slots[S::kData].tile;
  const ColumnReader prob(args.slots[S::kProb], args.operands[S::kProb],
                          state.numerics);
  const Generator generator = GeneratorOf(args.engine, state);
  WarnGenerator(Opcode::kDropout, generator, state);
  const Tile& dst = args.slots[S::kDst].tile;
  const RowReader reader(data, state.numerics);
  RowWriter writer(dst, "dst", state);
  uint32_t* const keep = BitsBuffer(state, 0, data.free_size);
  bool reported = false;
  for (uint32_t p = 0; p < data.partitions; ++p) {
    const float limit = prob.At(p);
    if (!(limit >= 0 && limit <= 1) && !reported) {
      reported = true;
      WarnProbability(limit, data, p, state);
    }
    Draw(generator, p, data.free_size, keep, state.random);
    KeepMask(limit, static_cast<size_t>(data.free_size), keep);
    DropRow(reader, p, keep, dst.dtype == data.dtype, writer, state);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
