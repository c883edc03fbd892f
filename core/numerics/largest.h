// The eight largest numbers of a row.
#ifndef TRNEMU_CORE_NUMERICS_LARGEST_H_
#define TRNEMU_CORE_NUMERICS_LARGEST_H_

#include <array>
#include <cstddef>

namespace trnemu {

// Descending, equal ones in their order; NaN comes last, as 0x7FC00000.
std::array<float, 8> LargestEight(const float* row, size_t n);

}  // namespace trnemu

#endif  // TRNEMU_CORE_NUMERICS_LARGEST_H_
