#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> SearchOperations() { return {}; }

}  // namespace trnemu::rows
