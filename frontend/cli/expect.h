// --expect: an output against the array of a file.
#ifndef TRNEMU_FRONTEND_CLI_EXPECT_H_
#define TRNEMU_FRONTEND_CLI_EXPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/run.h"
#include "frontend/cli/common.h"
#include "frontend/cli/tensors.h"

namespace trnemu::cli {

struct Comparison {
  std::string name, file;
  double rtol = 0, atol = 0;
  int64_t elements = 0;
  int64_t mismatches = 0;  // |got - want| > atol + rtol * |want|
  // Over the elements whose difference is finite; relative where want != 0.
  double max_abs_error = 0;
  double max_rel_error = 0;
  // The element furthest beyond its tolerance, or closest to it.
  std::vector<int64_t> worst_index;
  double worst_got = 0, worst_want = 0;

  bool ok() const { return mismatches == 0; }
};

// NaN equals NaN and infinities equal themselves, as in numpy.allclose with
// equal_nan. Packed formats and scales compare by bits.
Comparison Compare(const HostArray& got, const NamedArray& want, double rtol,
                   double atol);

std::string Describe(const Comparison& comparison);  // a line or two
Json ToJson(const Comparison& comparison);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_EXPECT_H_
