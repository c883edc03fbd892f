#include "core/registers.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/passes/registers.h"

namespace trnemu {

size_t CountRegisters(const CoreProgram& core,
                      const std::vector<Instruction>& stream) {
  uint32_t count = 0;
  for (const Instruction& i : stream) {
    ForEachRegisterRead(
        core, i, [&](uint32_t number) { count = std::max(count, number + 1); });
    const uint32_t written = WrittenRegister(core, i);
    if (written != kNoRegister) count = std::max(count, written + 1);
  }
  return count;
}

absl::Status CheckRegisters(const RegisterFile& registers,
                            const CoreProgram& core,
                            const Instruction& instruction) {
  uint32_t unset = kNoRegister;
  ForEachRegisterRead(core, instruction, [&](uint32_t number) {
    if (!registers.known(number)) unset = std::min(unset, number);
  });
  if (unset == kNoRegister) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "register.unset";
  d.message = absl::StrCat("register ", unset,
                           " is read, but nothing has given it a value");
  d.remedy = "give register_alloc a value, or move or load one first";
  d.reference = "nki/api/nki/isa/__init__.py:3053";
  return ToStatus(std::move(d));
}

int32_t Compute(RegisterOp op, int32_t a, int32_t b) {
  const auto x = static_cast<uint32_t>(a);
  const auto y = static_cast<uint32_t>(b);
  switch (op) {
    case RegisterOp::kAdd:
      return static_cast<int32_t>(x + y);
    case RegisterOp::kSubtract:
      return static_cast<int32_t>(x - y);
    case RegisterOp::kMultiply:
      return static_cast<int32_t>(x * y);
    case RegisterOp::kAnd:
      return static_cast<int32_t>(x & y);
    case RegisterOp::kOr:
      return static_cast<int32_t>(x | y);
    case RegisterOp::kXor:
      return static_cast<int32_t>(x ^ y);
    case RegisterOp::kShiftLeft:
      return y >= 32 ? 0 : static_cast<int32_t>(x << y);
    case RegisterOp::kShiftRight:
      return y >= 32 ? 0 : static_cast<int32_t>(x >> y);
    case RegisterOp::kMin:
      return std::min(a, b);
    case RegisterOp::kMax:
      return std::max(a, b);
    case RegisterOp::kEqual:
      return a == b;
    case RegisterOp::kNotEqual:
      return a != b;
    case RegisterOp::kGreaterEqual:
      return a >= b;
    case RegisterOp::kGreater:
      return a > b;
    case RegisterOp::kLessEqual:
      return a <= b;
    case RegisterOp::kLess:
      return a < b;
  }
  return 0;
}

int32_t LoadRegister(const Tile& src) {
  uint32_t bits = 0;
  std::memcpy(&bits, src.base, SizeOf(src.dtype));
  switch (src.dtype) {
    case Dtype::kInt8:
      return static_cast<int8_t>(bits);
    case Dtype::kInt16:
      return static_cast<int16_t>(bits);
    default:
      return static_cast<int32_t>(bits);
  }
}

void StoreRegister(int32_t value, const Tile& dst) {
  std::memcpy(dst.base, &value, SizeOf(dst.dtype));
}

}  // namespace trnemu
