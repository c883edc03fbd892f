// Which source location each line of the author's is in a builder's program.
#ifndef TRNEMU_FRONTEND_BINDINGS_SOURCES_H_
#define TRNEMU_FRONTEND_BINDINGS_SOURCES_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "isa/builder.h"

namespace trnemu::bindings {

namespace nb = nanobind;

// The code of the kernel that this thread records, or none: where chains of
// calls end. Needs the GIL.
void SetKernel(nb::handle code);
PyCodeObject* Kernel();

// Asked for every instruction. A place in the code is looked at once; after
// that it is found by its code object, its position there and the place it was
// called from, without strings. Needs the GIL.
class Sources {
 public:
  // The source of the innermost frame outside the package, added to `builder`
  // if it is new; kNoSource if there is neither such a frame nor a label.
  // Inside a kernel its function has the calls that led to it: "f, called at
  // k.py:12 in kernel".
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
    uint32_t caller = 0;  // 1 + its position in known_; 0: none
    bool operator==(const Place&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Place& p) {
      return H::combine(std::move(h), p.code, p.instruction, p.label, p.caller);
    }
  };
  struct Known {
    uint32_t source = kNoSource;  // once an instruction was issued there
    std::string calls;  // ", called at k.py:12 in kernel", once it has called
  };
  bool IsOurs(PyCodeObject* code);
  uint32_t LabelIndex(std::string_view label);
  // The place's position in known_, and 1.
  uint32_t Find(const Place& place);
  // The place that called `frame`, and 1; 0 if the kernel is not among its
  // callers.
  uint32_t CallerOf(PyFrameObject* frame);

  absl::flat_hash_map<const void*, Code> codes_;
  absl::flat_hash_map<Place, uint32_t> places_;
  std::vector<Known> known_;
  absl::flat_hash_map<std::string, uint32_t> labels_;
};

}  // namespace trnemu::bindings

#endif  // TRNEMU_FRONTEND_BINDINGS_SOURCES_H_
