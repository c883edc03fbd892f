// Rules and capacity of a whole program: what `trnemu verify` lists and what
// a device asks before it runs anything.
#ifndef TRNEMU_ISA_VERIFY_H_
#define TRNEMU_ISA_VERIFY_H_

#include <vector>

#include "isa/diagnostic.h"
#include "isa/hardware.h"
#include "isa/operations.h"
#include "isa/program.h"

namespace trnemu {

struct VerifyOptions {
  unsigned layers = kDefaultLayers;
  // Different findings at most, 0 for all; repeats of the same rule at the same
  // source are counted, not listed.
  int max_findings = 100;
};

// Every finding, in program order, errors and warnings; empty for a program
// that `hardware` can run. After it returns no error, every operand lies inside
// its tensor, every tensor inside its memory, and every instruction is part of
// a legal use of an operation.
std::vector<Diagnostic> VerifyProgram(const Program& program,
                                      const Hardware& hardware,
                                      const VerifyOptions& options = {});

// The findings that stop a run: errors whose id is not in `allow`. Structural
// rules cannot be allowed: asking for one is a finding of its own.
bool IsAllowed(const Diagnostic& finding, std::span<const std::string> allow);

}  // namespace trnemu

#endif  // TRNEMU_ISA_VERIFY_H_
