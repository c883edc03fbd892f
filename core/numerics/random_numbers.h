// The random number generators of the vector and the gpsimd engine.
//
// What documents say: the vector engine has an LFSR before generation 4 and
// four XORWOW generators a lane from then on; gpsimd has one XORWOW a lane, of
// six words (nki/guides/architecture/trainium3_arch.rst:206,
// nki/api/nki/isa/__init__.py:2197). What they leave open is fixed here
// [assumed: spec/numerics.md 11, 15.12, 15.13], so that results repeat, not so
// that they are a device's:
//  * The LFSR is a 32-bit xorshift, shifts 13, 17, 5; a draw is its new state.
//  * XORWOW has Marsaglia's constants and the words x, y, z, w, v, d in that
//    order. Element i of a row uses stream i % 4 where there are four, and
//    every row starts with stream 0.
//  * Lanes draw independently, the elements of a row in access order. A lane
//    is the tile's partition, counted from the tile's first.
//  * Reset words count up by 0x9E3779B9, and a run's seed moves all of them;
//    set_rng_seed spreads its seed over lanes and words.
#ifndef TRNEMU_CORE_NUMERICS_RANDOM_NUMBERS_H_
#define TRNEMU_CORE_NUMERICS_RANDOM_NUMBERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace trnemu {

inline constexpr size_t kRandomLanes = 128;
inline constexpr size_t kXorwowStreams = 4;  // of a lane of the vector engine

// One lane of a vector engine before generation 4. The state is never 0.
struct Lfsr {
  uint32_t state;
  void Draw(size_t n, uint32_t* out);
};

// The words x, y, z, w, v and the counter d.
using Xorwow = std::array<uint32_t, 6>;
uint32_t Next(Xorwow& words);

// A lane of n generators, one after the other in memory as in a state tensor;
// element i draws from generator i % kStreams.
template <size_t kStreams>
struct XorwowLane {
  std::array<Xorwow, kStreams> streams;
  // Holds what rand_set_state put there; nothing was drawn since.
  bool as_set = false;

  static constexpr size_t kWords = 6 * kStreams;
  void Draw(size_t n, uint32_t* out);
  void Set(const uint32_t* words);
  void Get(uint32_t* words) const;
};

// The generators of one core, at their reset values.
struct RandomState {
  // `seed` is the run's; 0 leaves the reset words as they are.
  explicit RandomState(uint64_t seed = 0);
  // set_rng_seed: every lane of the vector engine, whichever generator it has.
  void SeedVector(uint32_t seed);

  std::array<Lfsr, kRandomLanes> lfsr;                          // vector
  std::array<XorwowLane<kXorwowStreams>, kRandomLanes> vector;  // generation 4
  std::array<XorwowLane<1>, kRandomLanes> gpsimd;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_RANDOM_NUMBERS_H_
