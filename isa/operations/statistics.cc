#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> StatisticsOperations() { return {}; }

}  // namespace trnemu::rows
