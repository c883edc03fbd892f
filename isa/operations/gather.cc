#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> GatherOperations() { return {}; }

}  // namespace trnemu::rows
