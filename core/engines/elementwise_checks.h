// What element-wise instructions look for in their data (docs/unspecified.md).
// Each object reports once, of the lowest partition, when it is destroyed:
// partitions come in any order.
#ifndef TRNEMU_CORE_ENGINES_ELEMENTWISE_CHECKS_H_
#define TRNEMU_CORE_ENGINES_ELEMENTWISE_CHECKS_H_

#include <cstdint>
#include <string_view>

#include "core/engines/unsettled_checks.h"
#include "core/execution.h"

namespace trnemu {

constexpr bool IsComparison(AluOp op) {
  return op == AluOp::kEqual || op == AluOp::kNotEqual ||
         op == AluOp::kGreater || op == AluOp::kGreaterEqual ||
         op == AluOp::kLess || op == AluOp::kLessEqual;
}

// Add, subtract and multiply of integers into 32-bit integers, in fp32: the
// result where fp32 rounds it.
class IntegerResultCheck {
 public:
  IntegerResultCheck(AluOp op, const Tile& a, const Tile& b, const Tile& dst,
                     CoreState& state);
  IntegerResultCheck(const IntegerResultCheck&) = delete;
  IntegerResultCheck& operator=(const IntegerResultCheck&) = delete;
  ~IntegerResultCheck();
  // Of the operands of a row, before the result overwrites them.
  void Look(int64_t partition, const float* x, const float* y) {
    if (on_) LookAt(partition, x, y);
  }

 private:
  void LookAt(int64_t partition, const float* x, const float* y);
  const AluOp op_;
  const Tile& dst_;
  CoreState& state_;
  const bool on_;
  Found found_;
};

// Maximum and minimum of NaN and a number.
class NanCheck {
 public:
  NanCheck(AluOp op, CoreState& state)
      : op_(op),
        state_(state),
        on_(state.check_values &&
            (op == AluOp::kMaximum || op == AluOp::kMinimum)) {}
  NanCheck(const NanCheck&) = delete;
  NanCheck& operator=(const NanCheck&) = delete;
  ~NanCheck();
  // A NaN of x where y has a number.
  void Look(const Tile& tile, std::string_view operand, int64_t partition,
            const float* x, const float* y) {
    if (on_) Find(tile, operand, partition, x, y, 0);
  }
  void LookAt(const Tile& tile, std::string_view operand, int64_t partition,
              const float* x, float y) {
    if (on_) Find(tile, operand, partition, x, nullptr, y);
  }

 private:
  void Find(const Tile& tile, std::string_view operand, int64_t partition,
            const float* x, const float* y, float number);
  const AluOp op_;
  CoreState& state_;
  const bool on_;
  const Tile* tile_ = nullptr;
  std::string_view operand_;
  Found found_;
};

// 32-bit integers of gpsimd that do not fit, rows in order.
class IntegerOverflowCheck {
 public:
  IntegerOverflowCheck(AluOp op, bool is_signed, CoreState& state)
      : op_(op), is_signed_(is_signed), state_(state) {}
  void Look(const uint32_t* x, const uint32_t* y, size_t n);

 private:
  const AluOp op_;
  const bool is_signed_;
  CoreState& state_;
  int64_t partition_ = 0;
  bool reported_ = false;
};

// Results of bfloat16 arithmetic beyond it, of rows that are computed without
// fp32 ones; maximum and minimum of NaN and a number.
class Bf16Check {
 public:
  Bf16Check(AluOp op, const Tile& a, const Tile& b, CoreState& state);
  // The operand's row as it will still be after `dst` is written: where it
  // lies, or a copy.
  const std::byte* Keep(size_t operand, const std::byte* row,
                        const std::byte* dst);
  void Look(int64_t partition, const std::byte* x, const std::byte* y,
            const std::byte* dst) {
    if (on_) LookAt(partition, x, y, dst);
  }
  const Found& found() const { return found_; }

 private:
  void LookAt(int64_t partition, const std::byte* x, const std::byte* y,
              const std::byte* dst);
  const AluOp op_;
  const Tile& a_;
  const Tile& b_;
  CoreState& state_;
  const bool on_;
  NanCheck nan_;
  Found found_;
};

// The vector engine's reciprocal of 0 and of subnormals.
class ReciprocalCheck {
 public:
  explicit ReciprocalCheck(CoreState& state) : state_(state) {}
  ReciprocalCheck(const ReciprocalCheck&) = delete;
  ReciprocalCheck& operator=(const ReciprocalCheck&) = delete;
  ~ReciprocalCheck();
  void Look(const Tile& data, int64_t partition, const float* x);

 private:
  CoreState& state_;
  const Tile* data_ = nullptr;
  Found found_;
};

// shift.amount, of a tile of amounts.
void LookForShifts(const Tile& amounts, std::string_view operand,
                   unsigned width, CoreState& state);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENGINES_ELEMENTWISE_CHECKS_H_
