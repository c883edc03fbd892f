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

// The sentence of a view that has an indirection already.
absl::Status IndirectAlready(const View& view, std::string_view method);
// Dimension 0 is what an indirection is about, and has to stay.
bool FirstIsIndexed(const View& view);
// Refuses what cannot be done to elements at scattered offsets.
absl::Status RefuseOffsets(const View& view, std::string_view method);

}  // namespace trnemu

#endif  // TRNEMU_ISA_VIEW_ERROR_H_
