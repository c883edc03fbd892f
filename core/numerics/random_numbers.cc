#include "core/numerics/random_numbers.h"

#include <algorithm>

namespace trnemu {
namespace {

// 2^32 divided by the golden ratio, and two primes of xxHash and MurmurHash3:
// odd numbers whose multiples spread over all 32 bits.
constexpr uint32_t kStep = 0x9E3779B9;
constexpr uint32_t kWordStep = 0x85EBCA6B;
constexpr uint32_t kRunStep = 0xC2B2AE35;

// A xorshift stays 0 for ever.
constexpr uint32_t NotZero(uint32_t state) {
  return state != 0 ? state : kStep;
}

template <size_t kStreams>
void ResetLane(uint32_t lane, uint32_t shift, XorwowLane<kStreams>& out) {
  uint32_t number = static_cast<uint32_t>(out.kWords) * lane;
  for (Xorwow& words : out.streams) {
    for (uint32_t& word : words) word = kStep * ++number + shift;
  }
}

}  // namespace

void Lfsr::Draw(size_t n, uint32_t* out) {
  uint32_t x = state;
  for (size_t i = 0; i < n; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    out[i] = x;
  }
  state = x;
}

uint32_t Next(Xorwow& words) {
  auto& [x, y, z, w, v, d] = words;
  const uint32_t t = x ^ (x >> 2);
  x = y;
  y = z;
  z = w;
  w = v;
  v = (v ^ (v << 4)) ^ (t ^ (t << 1));
  d += 362437;
  return v + d;
}

template <size_t kStreams>
void XorwowLane<kStreams>::Draw(size_t n, uint32_t* out) {
  as_set = as_set && n == 0;
  std::array<Xorwow, kStreams> local = streams;
  size_t i = 0;
  for (; i + kStreams <= n; i += kStreams) {
    for (size_t s = 0; s < kStreams; ++s) out[i + s] = Next(local[s]);
  }
  for (size_t s = 0; i < n; ++i, ++s) out[i] = Next(local[s]);
  streams = local;
}

template <size_t kStreams>
void XorwowLane<kStreams>::Set(const uint32_t* words) {
  as_set = true;
  for (Xorwow& stream : streams) {
    std::copy_n(words, stream.size(), stream.begin());
    words += stream.size();
  }
}

template <size_t kStreams>
void XorwowLane<kStreams>::Get(uint32_t* words) const {
  for (const Xorwow& stream : streams) {
    words = std::copy(stream.begin(), stream.end(), words);
  }
}

template struct XorwowLane<1>;
template struct XorwowLane<kXorwowStreams>;

RandomState::RandomState(uint64_t seed) {
  const uint32_t shift = static_cast<uint32_t>(seed) * kRunStep;
  for (uint32_t lane = 0; lane < kRandomLanes; ++lane) {
    lfsr[lane].state = NotZero(kStep * (lane + 1) + shift);
    ResetLane(lane, shift, vector[lane]);
    ResetLane(lane, shift, gpsimd[lane]);
  }
}

// Neighbouring words of a lane differ by kWordStep, so that the words x to v,
// of which all zeros would be a bad state, never are.
void RandomState::SeedVector(uint32_t seed) {
  for (uint32_t lane = 0; lane < kRandomLanes; ++lane) {
    const uint32_t own = seed + kStep * lane;
    lfsr[lane].state = NotZero(own);
    uint32_t word = own * kStep;
    for (Xorwow& stream : vector[lane].streams) {
      for (uint32_t& w : stream) {
        w = word;
        word += kWordStep;
      }
    }
    vector[lane].as_set = false;
  }
}

}  // namespace trnemu
