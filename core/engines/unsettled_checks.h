// Warnings about data on which a result depends that no document settles
// (docs/unspecified.md). Only with CoreState::check_values.
#ifndef TRNEMU_CORE_ENGINES_UNSETTLED_CHECKS_H_
#define TRNEMU_CORE_ENGINES_UNSETTLED_CHECKS_H_

#include <cstdint>
#include <string_view>

#include "core/execution.h"

namespace trnemu {

constexpr bool Is32BitInteger(Dtype d) {
  return d == Dtype::kInt32 || d == Dtype::kUint32;
}

// Where something was found first.
struct Found {
  int64_t partition = -1;  // of the view; -1: nowhere
  int64_t element = 0;
  double before = 0, after = 0;
  bool any() const { return partition >= 0; }
};

// integer.through_fp32: an element of `operand` that fp32 does not hold.
void WarnInexactElement(CoreState& state, std::string_view operand,
                        const Tile& tile, const Found& found);
// The same for a result that fp32 arithmetic rounds.
void WarnInexactResult(CoreState& state, const Tile& dst, const Found& found);
// cast.overflow
void WarnOverflow(CoreState& state, std::string_view operand, const Tile& tile,
                  const Found& found);
// integer.overflow: `what` says of what.
void WarnIntegerOverflow(CoreState& state, std::string_view what,
                         const Found& found);
// shift.amount: found.before is the amount.
void WarnShift(CoreState& state, std::string_view operand, const Tile& tile,
               unsigned width, const Found& found);
// alu.nan: maximum or minimum of a number and NaN.
void WarnNanOperand(CoreState& state, std::string_view op, const Tile& tile,
                    std::string_view operand, const Found& found);
// iota.inexact
void WarnIota(CoreState& state, const Tile& dst, const Found& found);
// reciprocal.zero
void WarnReciprocal(CoreState& state, const Tile& data, const Found& found);
// tensor_reduce.subtract
void WarnSubtract(CoreState& state, const Tile& data, int64_t length);

// The first element of a row of 32-bit integers that fp32 does not hold, n if
// there is none.
int64_t FirstInexact(const Tile& tile, int64_t partition);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_UNSETTLED_CHECKS_H_
