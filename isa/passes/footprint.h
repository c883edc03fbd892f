// The bytes an operand touches, in a form that compares quickly.
#ifndef TRNEMU_ISA_PASSES_FOOTPRINT_H_
#define TRNEMU_ISA_PASSES_FOOTPRINT_H_

#include <array>
#include <cstdint>

#include "isa/access.h"
#include "isa/program.h"

namespace trnemu {

// In each partition of [first_partition, end_partition): `run` bytes at
// begin + sum of i_d * dims[d].step for all 0 <= i_d < dims[d].count. Steps are
// in bytes, positive, decreasing, and leave gaps (what touches is merged), so
// that equal byte patterns have equal footprints. HBM counts as one partition.
struct Footprint {
  uint32_t first_partition = 0;
  uint32_t end_partition = 1;
  int64_t begin = 0;  // of the partition on chip, of the tensor in HBM
  int64_t end = 0;    // one past the last byte
  int64_t run = 0;
  uint32_t rank = 0;
  std::array<Dim, kMaxDims> dims{};

  // No gaps between begin and end.
  bool dense() const { return rank == 0; }
};

// `tensor` is the access's; on chip it must have its address. Of a dynamic
// access all that its tensor has.
Footprint FootprintOf(const Access& access, const Tensor& tensor);

// False only if no byte is in both. Exact for boxes and for patterns that
// interleave with a common period; true where telling would take longer.
bool MayOverlap(const Footprint& a, const Footprint& b);

// Every byte of `part` between the ends of `whole` is in `whole`. May say
// false for odd patterns.
bool Covers(const Footprint& whole, const Footprint& part);

// A memory as rows of `pitch` bytes: the rows that a footprint reaches into,
// and the bytes of them.
struct Box {
  int64_t first_row = 0;
  int64_t end_row = 1;
  int64_t begin = 0;
  int64_t end = 0;
  bool full = false;  // the footprint has every byte of the box
};
// A pitch of 0 is one row of everything.
Box BoxOf(const Footprint& footprint, int64_t pitch);

// The pitch that most of a tensor's patterns have, so that tiles of a matrix
// are boxes beside each other. One that more than half of them have is found.
class PitchVote {
 public:
  void Add(const Footprint& footprint);
  int64_t pitch() const { return pitch_; }  // 0: none

 private:
  int64_t pitch_ = 0;
  uint32_t lead_ = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_FOOTPRINT_H_
