#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> MxOperations() { return {}; }

}  // namespace trnemu::rows
