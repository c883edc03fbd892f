#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> AccumulateOperations() { return {}; }

}  // namespace trnemu::rows
