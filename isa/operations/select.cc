#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> SelectOperations() { return {}; }

}  // namespace trnemu::rows
