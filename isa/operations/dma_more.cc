#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> DmaOperations() { return {}; }

}  // namespace trnemu::rows
