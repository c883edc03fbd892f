// Inputs and outputs of a run: what is checked of them, and how they get into
// and out of HBM.
#ifndef TRNEMU_CORE_HOST_DATA_H_
#define TRNEMU_CORE_HOST_DATA_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/run.h"
#include "isa/program.h"
#include "memory/hbm.h"

namespace trnemu {

// Names, dtypes and shapes of `inputs` against the program's input and inout
// tensors (inouts may be missing if `have_inouts`, and all of them if no
// `values` are computed). Category input.
absl::Status CheckInputs(const Program& program, const Inputs& inputs,
                         bool have_inouts, bool values);

// What a run needs of the values it is given for a tensor.
enum class InputUse : uint8_t {
  kCopied,
  kLent,  // no instruction writes to it: it is read where it is
  kGaps,  // no instruction reads it: it is what the program does not write
};
std::vector<InputUse> FindInputUses(const Program& program);

// Brings inputs to their blocks as `uses` says (empty: copies all), and says
// what is written before the program starts: inputs, constants, inouts. `zero`:
// what is not is filled with zeros.
void PrepareHbm(const Program& program, const Inputs& inputs,
                std::span<const InputUse> uses, bool zero,
                std::vector<HbmBlock>& blocks);

// After the program: what it has not written of inouts of use kGaps.
void FillGaps(const Program& program, const Inputs& inputs,
              std::span<const InputUse> uses, std::vector<HbmBlock>& blocks);

// The output and inout tensors. With `check`, every byte of an output must
// have been written (`uninitialized`, output.unwritten). What `into` has memory
// for goes there, once all are known to be written.
absl::StatusOr<std::map<std::string, HostArray>> CollectOutputs(
    const Program& program, const std::vector<HbmBlock>& blocks, bool check,
    const OutputMemory& into = {});

}  // namespace trnemu

#endif  // TRNEMU_CORE_HOST_DATA_H_
