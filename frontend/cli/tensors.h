// NAME=FILE.npy options, matched with the tensors of a program.
#ifndef TRNEMU_FRONTEND_CLI_TENSORS_H_
#define TRNEMU_FRONTEND_CLI_TENSORS_H_

#include <map>
#include <string>
#include <vector>

#include "core/run.h"
#include "frontend/cli/npy.h"
#include "isa/diagnostic.h"
#include "isa/program.h"

namespace trnemu::cli {

// What --input and --expect gave, by tensor. Arrays stay mapped.
struct NamedArray {
  const Tensor* tensor = nullptr;
  std::string file;
  npy::Array array;
};

// The tensors a run takes and gives, in the program's order.
std::vector<const Tensor*> InputsOf(const Program& program);
std::vector<const Tensor*> OutputsOf(const Program& program);

// Reads and checks every --input; each problem (missing, extra, misspelled,
// unreadable, wrong shape or dtype) is a sentence in `problems`. Without
// `need_all` none is missing.
std::vector<NamedArray> ReadInputs(const Program& program,
                                   const std::vector<std::string>& options,
                                   bool need_all,
                                   std::vector<Diagnostic>& problems);
// The same for --expect, which need not name every output and may hold wider
// numbers than the tensor.
std::vector<NamedArray> ReadExpected(const Program& program,
                                     const std::vector<std::string>& options,
                                     std::vector<Diagnostic>& problems);

// What Executable::Run takes; refers to the arrays.
Inputs AsInputs(const std::vector<NamedArray>& arrays);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_TENSORS_H_
