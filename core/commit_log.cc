// The commit log: one line per retired instruction, with its effect.
//
//   core 0 vector #3 tensor_scalar.0 TensorScalar dst=... @src0 ; wrote
//   0123456789abcdef at sbuf 0:4 [192, 224) ; 10.000 to 20.000 ns ; k.py:7 in f
//
// all on one line: the text form of the instruction; a hash of the places and
// bytes that it wrote, with their bounds, or the register that it set; its time
// in timed order; its source. A DMA has its line when its last part is done.
// `trnemu diff` reads it (frontend/cli/log_diff.cc).
#include "absl/strings/str_format.h"
#include "core/runner.h"

namespace trnemu {

std::string Runner::DigestOf(const Sequencer& s) const {
  const auto operands = program_.cores[s.core].OperandsOf(*s.next);
  if (!operands.empty() && operands[0].kind == Operand::Kind::kRegister &&
      Info(s.next->opcode).operands[0].role != Role::kIn) {
    return absl::StrFormat("r%d = %d", operands[0].reg(),
                           s.registers.value(operands[0].reg()));
  }
  if (!options_.values) return "";
  EffectDigest digest(program_);
  digest.Add(EffectOf(s));
  return digest.Text();
}

void Runner::Log(size_t core, const Instruction& i, Ticks start, Ticks end,
                 const std::string& digest) {
  if (!disassembler_) disassembler_.emplace(program_);
  std::string line = absl::StrFormat(
      "core %d %s", core, disassembler_->Line(static_cast<int>(core), i));
  if (!digest.empty()) {
    absl::StrAppendFormat(&line, " ; %s %s", digest[0] == 'r' ? "set" : "wrote",
                          digest);
  }
  if (options_.order == Order::kTimed) {
    absl::StrAppendFormat(&line, " ; %.3f to %.3f ns",
                          static_cast<double>(start) / kTicksPerNs,
                          static_cast<double>(end) / kTicksPerNs);
  }
  const std::string source = program_.DescribeSource(i.source);
  if (!source.empty()) absl::StrAppendFormat(&line, " ; %s", source);
  options_.log(line);
}

}  // namespace trnemu
