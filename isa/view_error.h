// How the methods of View refuse. Internal to isa/.
#ifndef TRNEMU_ISA_VIEW_ERROR_H_
#define TRNEMU_ISA_VIEW_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "isa/access.h"

namespace trnemu {

// Category illegal, id "access." + `id`, "'name' of shape (...): " + `what`.
absl::Status IllegalView(const View& view, std::string_view id,
                         const std::string& what);

}  // namespace trnemu

#endif  // TRNEMU_ISA_VIEW_ERROR_H_
