// Which source location each line of the author's is in a builder's program.
#ifndef TRNEMU_FRONTEND_BINDINGS_SOURCES_H_
#define TRNEMU_FRONTEND_BINDINGS_SOURCES_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "isa/builder.h"

namespace trnemu::bindings {

namespace nb = nanobind;

// Asked for every instruction. A place in the code is looked at once; after
// that it is found by its code object and its position there, without strings.
// Needs the GIL.
class Sources {
 public:
  // The source of the innermost frame outside the package, added to `builder`
  // if it is new; kNoSource if there is neither such a frame nor a label.
  uint32_t Here(ProgramBuilder& builder, std::string_view label);

 private:
  struct Code {
    nb::object keep;  // so that no other code takes its address
    bool is_ours = false;
  };
  struct Place {
    const void* code = nullptr;
    int instruction = 0;
    uint32_t label = 0;
    bool operator==(const Place&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Place& p) {
      return H::combine(std::move(h), p.code, p.instruction, p.label);
    }
  };
  bool IsOurs(PyCodeObject* code);
  uint32_t LabelIndex(std::string_view label);

  absl::flat_hash_map<const void*, Code> codes_;
  absl::flat_hash_map<Place, uint32_t> places_;
  absl::flat_hash_map<std::string, uint32_t> labels_;
};

}  // namespace trnemu::bindings

#endif  // TRNEMU_FRONTEND_BINDINGS_SOURCES_H_
