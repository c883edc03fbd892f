#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> RandomOperations() { return {}; }

}  // namespace trnemu::rows
