// Short names for views and indices in the tests of isa/access.h.
#ifndef TRNEMU_TESTS_ISA_VIEW_HELPERS_H_
#define TRNEMU_TESTS_ISA_VIEW_HELPERS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "isa/access.h"
#include "isa/diagnostic.h"

namespace trnemu {

using Indices = std::vector<Index>;
using Sizes = std::vector<int64_t>;
using Dims = std::vector<Dim>;
inline constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

inline Index At(int64_t value) {
  Index index;
  index.kind = Index::Kind::kInteger;
  index.value = value;
  return index;
}
inline Index Sl(std::optional<int64_t> start, std::optional<int64_t> stop,
                int64_t step = 1) {
  Index index;
  index.start = start;
  index.stop = stop;
  index.step = step;
  return index;
}
inline Index Dots() {
  Index index;
  index.kind = Index::Kind::kEllipsis;
  return index;
}
inline Index New() {
  Index index;
  index.kind = Index::Kind::kNewAxis;
  return index;
}

inline View Hbm(const Sizes& shape, Dtype dtype = Dtype::kFloat32) {
  return WholeTensor(0, "x", Space::kHbm, dtype, shape);
}
inline View Tile(const Sizes& shape, Dtype dtype = Dtype::kFloat32) {
  return WholeTensor(1, "t", Space::kSbuf, dtype, shape);
}

// "7: 2x12 4x-1": the offset, then count x step of each dimension.
inline std::string Show(int64_t offset, const Dims& dims) {
  std::string text = std::to_string(offset) + ":";
  for (const Dim& dim : dims) {
    text += " " + std::to_string(dim.count);
    if (dim.count > 1) text += "x" + std::to_string(dim.step);
  }
  return text;
}
inline std::string Show(const View& view) {
  return Show(view.offset, view.dims);
}
template <typename T>
inline std::string Show(const absl::StatusOr<T>& view) {
  return view.ok() ? Show(*view) : DiagnosticOf(view.status()).id;
}
template <typename T>
inline Diagnostic FaultOf(const absl::StatusOr<T>& result) {
  return result.ok() ? Diagnostic{} : DiagnosticOf(result.status());
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_ISA_VIEW_HELPERS_H_
