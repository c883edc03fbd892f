#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> ActivationOperations() { return {}; }

}  // namespace trnemu::rows
