#include "isa/operations/rows.h"

namespace trnemu::rows {

std::span<const OperationInfo* const> RegisterOperations() { return {}; }

}  // namespace trnemu::rows
