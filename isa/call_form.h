// What the rows say about every call of an operation, found once.
#ifndef TRNEMU_ISA_CALL_FORM_H_
#define TRNEMU_ISA_CALL_FORM_H_

#include <cstddef>
#include <vector>

#include "isa/operations.h"

namespace trnemu {

struct CallForm {
  size_t number = 0;            // of the operation in Operations()
  std::vector<Value> defaults;  // by parameter; None where there is none
  // Positions of parameters; -1 where the operation has none of that name.
  int engine = -1;
  int queues = -1;
  int dge_mode = -1;
  int stream = -1;  // of a collective
};
const CallForm& FormOf(const OperationInfo& operation);

}  // namespace trnemu

#endif  // TRNEMU_ISA_CALL_FORM_H_
