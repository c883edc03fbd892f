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
  // What a run adds to the pattern: 1 + the position in its core's
  // CoreProgram::indirections; 0 if the pattern is all there is.
  uint32_t indirection = 0;
  int64_t offset = 0;
  std::array<Dim, kMaxDims> dims{};

  bool on_chip() const { return space != Space::kHbm; }
  bool is_dynamic() const { return indirection != 0; }
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

// How a run moves an access: indices that it reads when the instruction starts,
// a DMA when it is triggered. Index v adds v * step elements.
enum class IndirectionKind : uint8_t {
  kScalarRegister = 1,  // one index, in a register
  kScalarTile = 2,      // one index, in a [1, 1] tile
  // HBM: dims[0], whose own step is 0, are rows with an index each: row w
  // has the one at partition w % P and element w / P of a tile of P
  // partitions (nki/deep-dives/nki-aps.rst:358;
  // nki/api/nki/isa/__init__.py:908).
  kVector = 3,
  // On chip: dims[0], the only dimension, whose own step is 0, are elements
  // with an index each, a list for every group of G partitions: element i has
  // the one at partition i % G of the group and element i / G
  // (nki/api/nki/language/__init__.py:556). G: see TensorGroup.
  kTensor = 4,
};
inline constexpr std::array<std::string_view, 5> kIndirectionKindNames = {
    "unset", "register", "scalar", "vector", "tensor"};

struct Indirection {
  IndirectionKind kind = IndirectionKind::kScalarTile;
  // The dimension of the tensor that is indexed; for rules.
  uint8_t dim = 0;
  uint32_t reg = 0;   // kScalarRegister
  Access index;       // the others: an SBUF tile of offsets
  int64_t step = 0;   // elements of the Access's dtype
  int64_t limit = 0;  // an index v is in bounds if 0 <= v < limit
  // Before a builder has entered it: whose register `reg` is, where known.
  int8_t core = -1;

  bool has_index() const { return kind != IndirectionKind::kScalarRegister; }
  bool is_scalar() const {
    return kind == IndirectionKind::kScalarRegister ||
           kind == IndirectionKind::kScalarTile;
  }
  bool operator==(const Indirection&) const = default;
};

// Partitions that share a list of offsets, on the engine that reads it.
constexpr int64_t TensorGroup(Engine engine) {
  return engine == Engine::kTensor ? 32 : 16;
}

// That an indirection belongs to an access of that form: the kinds' counts and
// memories above, a step and a limit of at least 1, an index tile in SBUF of
// 16- or 32-bit integers, itself static. A sentence without its subject; ""
// if all is well. `index` must have its tensor's memory.
std::string MisfitOf(const Access& access, const Indirection& indirection);

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
  // A view with one is an operand only: what is indexed cannot be sliced,
  // reshaped or indexed again.
  std::optional<Indirection> indirection;

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
// A new dimension of size 1 before dimension `dim` (may be the rank); on chip,
// and of rows that are indexed, not before the first
// (nki/api/nki/language/__init__.py:281).
absl::StatusOr<View> ExpandDim(const View& view, int64_t dim);
// Without dimension `dim`, of size 1; on chip, and of rows that are indexed,
// not the first. A tile of two dimensions keeps two.
absl::StatusOr<View> SqueezeDim(const View& view, int64_t dim);
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

// An index that only a run knows.
struct DynamicIndex {
  bool is_register = false;
  uint32_t reg = 0;
  View tile;         // else
  int8_t core = -1;  // of the register, where known
};
// Select at a run-time index; not of the partition dimension
// (nki/api/nki/language/__init__.py:417).
absl::StatusOr<View> Select(const View& view, int64_t dim,
                            const DynamicIndex& index);
// `size` elements of dimension `dim` from a run-time start; not of the partition
// dimension.
absl::StatusOr<View> SliceFrom(const View& view, int64_t dim,
                               const DynamicIndex& start, int64_t size);
// Dimension 0 of an HBM view becomes one row for each partition of `offsets`
// (nki/api/nki/language/__init__.py:447).
absl::StatusOr<View> VectorSelect(const View& view, int64_t dim,
                                  const View& offsets);
// An access pattern that moves along dimension `dim` of the tensor, as `view`
// shapes it: by one index, or by one for each count of pattern[0] (HBM, dim
// 0; the step of pattern[0] does not count). `view` must be all of the tensor,
// row-major, unless `any_base`, when the index counts from the view's start;
// and `dtype` as wide as its own.
absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype, int64_t dim,
                                   const DynamicIndex& scalar_offset,
                                   bool any_base = false);
absl::StatusOr<View> AccessPattern(const View& view,
                                   std::span<const Dim> pattern, int64_t offset,
                                   Dtype dtype, int64_t dim,
                                   const View& vector_offset,
                                   bool any_base = false);
// On chip: `num_elem` elements of each partition, at offsets in elements of
// its free dimensions, which must be one stride apart. Without `num_elem` as
// many as `index` holds for groups of 16.
absl::StatusOr<View> Indirect(const View& view, const View& index,
                              std::optional<int64_t> num_elem);

// The operand form of a view without an indirection (isa/call.h has ToValue
// for those). On chip the free dimensions stay as they are; more than four are
// refused. In HBM dimensions of size 1 go, neighbours that are one stride
// apart merge, and what still needs more than five is refused.
absl::StatusOr<Access> ToAccess(const View& view);
// The pattern of any view, as an operand. `keep_dims`: HBM dimensions stay as
// they are too. Rows of a kVector always do.
absl::StatusOr<Access> PatternOf(const View& view, bool keep_dims = false);

// That every address of `access` lies inside its tensor: `storage` elements
// of access.dtype (per partition on chip), `tile_partitions` (0 in HBM). The
// decoder does not check this; whoever executes an Access must have. `name`
// is the tensor's, for the out_of_bounds diagnostic.
// With an indirection, whichever valid index it has.
absl::Status CheckBounds(const Access& access, int64_t storage,
                         int64_t tile_partitions, std::string_view name,
                         const Indirection* indirection = nullptr);

// "sbuf[0:128, 0+512x1] float32" for people: space, partitions, offset+dims.
std::string Describe(const Access& access);
std::string DescribeShape(std::span<const int64_t> shape);  // "(128, 512)"
// "[0:2, 1, :]", of an access to HBM that is a slice of a tensor of that shape
// and of the same dtype; "" of any other.
std::string DescribeSlice(const Access& access, std::span<const int64_t> shape);

}  // namespace trnemu

#endif  // TRNEMU_ISA_ACCESS_H_
