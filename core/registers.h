// The 32-bit registers of one sequencer.
#ifndef TRNEMU_CORE_REGISTERS_H_
#define TRNEMU_CORE_REGISTERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"
#include "isa/program.h"

namespace trnemu {

class RegisterFile {
 public:
  // Registers 0 to count - 1, none of which has a value yet.
  void Resize(size_t count) {
    values_.resize(count);
    known_.resize(count);
    unknown_ = count;
  }
  bool empty() const { return values_.empty(); }
  // Every register has a value.
  bool complete() const { return unknown_ == 0; }
  bool known(uint32_t number) const { return known_[number]; }
  int32_t value(uint32_t number) const { return values_[number]; }
  std::span<const int32_t> values() const { return values_; }
  void Set(uint32_t number, int32_t value) {
    values_[number] = value;
    if (known_[number]) return;
    known_[number] = true;
    --unknown_;
  }

 private:
  std::vector<int32_t> values_;
  std::vector<bool> known_;
  size_t unknown_ = 0;
};

// One more than the largest register a stream names.
size_t CountRegisters(const CoreProgram& core,
                      const std::vector<Instruction>& stream);

// `uninitialized` (register.unset) if the instruction reads a register that
// nothing has set.
absl::Status CheckRegisters(const RegisterFile& registers,
                            const CoreProgram& core,
                            const Instruction& instruction);

int32_t Compute(RegisterOp op, int32_t a, int32_t b);

// The value a register takes from one element: integers extended by their
// sign, other types as their bits.
int32_t LoadRegister(const Tile& src);
// Writes the low bytes.
void StoreRegister(int32_t value, const Tile& dst);

}  // namespace trnemu

#endif  // TRNEMU_CORE_REGISTERS_H_
