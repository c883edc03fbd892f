// The tensors of one member of a collective, and moving values between them.
#ifndef TRNEMU_COLLECTIVES_BUFFERS_H_
#define TRNEMU_COLLECTIVES_BUFFERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "core/execution.h"
#include "core/transport.h"

namespace trnemu {

// A member's buffers as a plan names them: lists of tensors, one after the
// other in their flat order (core/layout.h).
class MemberBuffers {
 public:
  MemberBuffers() = default;
  MemberBuffers(const CollectiveCall& call, Dtype dtype,
                int64_t scratch_elements);

  // The bits of n elements, to `out`.
  void Read(Buffer buffer, int64_t offset, int64_t n, std::byte* out) const;
  // Writes them, and marks them as written.
  void Write(Buffer buffer, int64_t offset, int64_t n, const std::byte* in);

 private:
  struct List {
    std::vector<Tile> tiles;
    std::vector<int64_t> starts;  // elements, of each tile; then their sum
    void Add(const Tile& tile);
  };
  template <typename Visit>
  static void ForEachSegment(const List& list, int64_t offset, int64_t n,
                             Visit visit);
  const List& ListOf(Buffer buffer) const {
    return lists_[buffer == Buffer::kSrc ? 0 : buffer == Buffer::kDst ? 1 : 2];
  }

  size_t element_bytes_ = 1;
  List lists_[3];  // src, dst, src1
  std::vector<std::byte> scratch_;
};

// Elements of a tile in its flat order, to and from one after the other.
void ReadElements(const Tile& tile, int64_t first, int64_t n, std::byte* out);
void WriteElements(const Tile& tile, int64_t first, int64_t n,
                   const std::byte* in);

// values = values op more, in fp32.
class Fp32Reduction {
 public:
  Fp32Reduction(AluOp op, Dtype dtype, const NumericsOptions& numerics)
      : op_(op), dtype_(dtype), numerics_(numerics) {}
  void Start(const std::byte* elements, int64_t n);
  void Add(const std::byte* elements);
  void Finish(std::byte* out) const;  // rounded to the dtype

 private:
  AluOp op_;
  Dtype dtype_;
  NumericsOptions numerics_;
  std::vector<float> sum_, more_;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_BUFFERS_H_
