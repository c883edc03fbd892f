// What an instruction is worth: floating point operations, bytes, partitions.
// Properties of the program, the same in every iteration.
#ifndef TRNEMU_CORE_PROFILE_FACTS_H_
#define TRNEMU_CORE_PROFILE_FACTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

struct InstructionFacts {
  // Of a multiplication: 2 K M N; each of the two passes of an fp32 one has
  // half of it.
  double flops = 0;
  // The same as if in bf16: times 4 in fp32 (2 if hinted to be 0 or 1), half
  // for fp8 where the array takes two at a time, a quarter for MX; of
  // transposes and of fp32 what the array takes for them, in bf16's rows.
  double adjusted_flops = 0;
  bool transpose = false;  // moves data through the tensor engine
  bool fp32 = false;       // a multiplication of fp32
  bool loads_weights = false;
  int64_t sbuf_read = 0, sbuf_written = 0;  // bytes
  int64_t psum_read = 0, psum_written = 0;
  int64_t partitions = 0;  // of the widest operand on chip; 0: none
};

// InstructionFacts::flops; 0 of what multiplies no matrices.
double FlopsOf(const CoreProgram& core, const Instruction& i);

// Facts of all instructions of a program, by their place in it.
class ProgramFacts {
 public:
  ProgramFacts(const Program& program, const Hardware& hardware);

  // `i` must be in a stream of that core.
  size_t IndexOf(size_t core, const Instruction& i) const {
    const auto e = static_cast<size_t>(i.engine);
    return first_[core][e] +
           static_cast<size_t>(&i - program_.cores[core].streams[e].data());
  }
  const InstructionFacts& Of(size_t core, const Instruction& i) const {
    return facts_[IndexOf(core, i)];
  }
  size_t size() const { return facts_.size(); }

 private:
  const Program& program_;
  std::vector<std::array<size_t, 7>> first_;
  std::vector<InstructionFacts> facts_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_FACTS_H_
