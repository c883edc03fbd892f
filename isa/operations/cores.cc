#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> CoreOperations() { return {}; }

}  // namespace trnemu::rows
