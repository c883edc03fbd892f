// Where an operand's elements are: pure geometry, no data.
//
// View is what people build, slice and reshape: any number of dimensions, with
// NumPy's meaning. Access is what an instruction carries: at most five strided
// dimensions. Offsets and steps count elements of the view's own dtype;
// on chip they are within one partition, and the first dimension of a View is
// the partition dimension
// (nki/guides/architecture/trainium_inferentia2_arch.rst:705).
#ifndef TRNEMU_ISA_ACCESS_H_
#define TRNEMU_ISA_ACCESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/dtype.h"
#include "isa/vocabulary.h"

namespace trnemu {

inline constexpr int kMaxDims = 5;
inline constexpr uint32_t kNoTensor = 0xffffffff;

struct Dim {
  int64_t step = 0;   // elements
  int64_t count = 0;  // at least 1
  bool operator==(const Dim&) const = default;
};

// An instruction's operand. On chip (SBUF, PSUM) `dims` are the free
// dimensions of each of `partitions` partitions; in HBM they are all there is
// and the partition fields are 0.
struct Access {
  uint32_t tensor = kNoTensor;
  Space space = Space::kInvalid;
  Dtype dtype = Dtype::kInvalid;
  uint8_t rank = 0;              // dims in use, 1 to kMaxDims
  uint16_t start_partition = 0;  // relative to the tile
  uint16_t partitions = 0;
  int64_t offset = 0;
  std::array<Dim, kMaxDims> dims{};

  bool on_chip() const { return space != Space::kHbm; }
  // Elements per partition on chip, all elements in HBM. Sizes and extents
  // of hostile patterns saturate at the ends of int64.
  int64_t free_size() const;
  // All elements.
  int64_t size() const;
  std::span<const Dim> active_dims() const { return {dims.data(), rank}; }
  // Smallest and largest element position touched, relative to `offset`.
  std::pair<int64_t, int64_t> Extent() const;
  // The count of each dimension, the partition dimension first on chip.
  std::vector<int64_t> Shape() const;
  // The elements lie one after the other (per partition).
  bool contiguous() const;
  bool operator==(const Access&) const = default;
};

// A view of a tensor as users hold it. Value type; methods return new views
// or an `illegal`/`out_of_bounds` diagnostic, never a view outside its tensor.
struct View {
  uint32_t tensor = kNoTensor;
  Space space = Space::kInvalid;
  Dtype dtype = Dtype::kInvalid;
  int64_t offset = 0;
  int32_t start_partition = 0;  // relative to the tile; 0 in HBM
  // On chip dims[0] is the partition dimension; its step is 0 and unused.
  std::vector<Dim> dims;
  // The size of the tensor's storage in elements of `dtype`: of one partition
  // on chip, of all in HBM. And the tile's partitions.
  int64_t storage = 0;
  int32_t tile_partitions = 0;
  std::string name;

  bool on_chip() const { return space != Space::kHbm; }
  std::vector<int64_t> Shape() const;
  int64_t size() const;
  int64_t nbytes() const {
    return size() * static_cast<int64_t>(SizeOf(dtype));
  }
};

// A whole tensor, row-major. On chip `shape[0]` is the partition dimension.
View WholeTensor(uint32_t tensor, std::string name, Space space, Dtype dtype,
                 std::span<const int64_t> shape);

// One item of NumPy's basic indexing.
struct Index {
  enum class Kind : uint8_t { kInteger, kSlice, kEllipsis, kNewAxis };
  Kind kind = Kind::kSlice;
  int64_t value = 0;  // kInteger
  // kSlice; unset start/stop take NumPy's defaults for the sign of step.
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};

// NumPy basic indexing, with one difference on chip: an integer on the
// partition dimension keeps it with size 1, and a view never has fewer than
// two dimensions. A partition slice must have step 1.
absl::StatusOr<View> Slice(const View& view, std::span<const Index> indices);
// One shape entry may be -1. On chip dimension 0 must stay. Refused where it
// would need a copy.
absl::StatusOr<View> Reshape(const View& view, std::span<const int64_t> shape);
// `order` is a permutation; on chip order[0] must be 0.
absl::StatusOr<View> Permute(const View& view, std::span<const int64_t> order);
// Repeats dimension `dim` of size 1 `size` times with step 0. On chip not the
// partition dimension.
absl::StatusOr<View> Broadcast(const View& view, int64_t dim, int64_t size);
// Drops `dim` at `index` (kept with size 1 for the partition dimension).
absl::StatusOr<View> Select(const View& view, int64_t dim, int64_t index);
// Reinterprets the bytes as another dtype; the last dimension is rescaled and
// must be contiguous.
absl::StatusOr<View> Reinterpret(const View& view, Dtype dtype);
// Explicit [step, count] pairs over the tensor's storage, in elements of
// `dtype`; on chip pattern[0] is the partition pair, whose step must be the
// elements per partition of the tile (any but 0 if its count is 1). `offset`
// is in elements from the tensor's start (on chip: partition * row + element).
// Every address must lie inside the storage, on chip inside one partition.
absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype);

// The operand form of a view. On chip the free dimensions stay as they are;
// more than four are refused. In HBM dimensions of size 1 go, neighbours that
// are one stride apart merge, and what still needs more than five is refused.
absl::StatusOr<Access> ToAccess(const View& view);

// That every address of `access` lies inside its tensor: `storage` elements
// of access.dtype (per partition on chip), `tile_partitions` (0 in HBM). The
// decoder does not check this; whoever executes an Access must have. `name`
// is the tensor's, for the out_of_bounds diagnostic.
absl::Status CheckBounds(const Access& access, int64_t storage,
                         int64_t tile_partitions, std::string_view name);

// "sbuf[0:128, 0+512x1] float32" for people: space, partitions, offset+dims.
std::string Describe(const Access& access);
std::string DescribeShape(std::span<const int64_t> shape);  // "(128, 512)"

}  // namespace trnemu

#endif  // TRNEMU_ISA_ACCESS_H_
