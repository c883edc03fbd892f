// Inputs and outputs of a run: what is checked of them, and how they get into
// and out of HBM.
#ifndef TRNEMU_CORE_HOST_DATA_H_
#define TRNEMU_CORE_HOST_DATA_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/run.h"
#include "isa/program.h"
#include "memory/hbm.h"

namespace trnemu {

// Names, dtypes and shapes of `inputs` against the program's input and inout
// tensors (inouts may be missing if `have_inouts`). Category input.
absl::Status CheckInputs(const Program& program, const Inputs& inputs,
                         bool have_inouts);

// Copies inputs to their blocks and says what is written before the program
// starts: inputs, constants, inouts. `zero`: what is not is filled with zeros.
void PrepareHbm(const Program& program, const Inputs& inputs, bool zero,
                std::vector<HbmBlock>& blocks);

// The output and inout tensors. With `check`, every byte of an output must
// have been written (`uninitialized`, output.unwritten).
absl::StatusOr<std::map<std::string, HostArray>> CollectOutputs(
    const Program& program, const std::vector<HbmBlock>& blocks, bool check);

}  // namespace trnemu

#endif  // TRNEMU_CORE_HOST_DATA_H_
