// Places of a program that people name: instructions, tensors, bytes.
#ifndef TRNEMU_CORE_DEBUG_PLACE_H_
#define TRNEMU_CORE_DEBUG_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/runner.h"
#include "isa/program.h"

namespace trnemu {

// What to stop before. "12": the instruction of that number, of any core;
// "tensor_copy": each instruction of the operation; "k.py:7": what this line
// built. The path of a file may be left out, or begin later.
struct Breakpoint {
  enum class Kind : uint8_t { kNumber, kOperation, kLine };
  Kind kind = Kind::kNumber;
  int64_t number = 0;
  std::vector<bool> operations;  // by index into Program::operations
  std::vector<bool> sources;     // by index into Program::sources
  std::string text;

  bool Matches(const Instruction& i) const;
};
// debug.place if the program has nothing like it.
absl::StatusOr<Breakpoint> ParseBreakpoint(const std::string& text,
                                           const Program& program);

// Elements of a tensor: "t" or, as in NumPy, "t[0:4, 8]".
struct TensorPlace {
  std::string text;
  Access access;  // static
  std::vector<int64_t> shape;
  size_t core = 0;  // of a tile
};
absl::StatusOr<TensorPlace> ParseTensorPlace(const std::string& text,
                                             const Program& program);

// What is there now, in row-major order, and which bytes were written.
struct TensorValues {
  Dtype dtype = Dtype::kInvalid;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  std::vector<bool> written;  // by byte; all true where nothing keeps track
};
TensorValues ReadTensor(const Runner& runner, const TensorPlace& place);

// Bytes that are watched.
struct WatchPlace {
  struct Range {
    size_t core = 0;
    Space space = Space::kInvalid;
    uint32_t tensor = kNoTensor;  // in HBM
    int64_t partition = 0;        // of the memory; 0 in HBM
    int64_t begin = 0, end = 0;   // bytes of the partition, or of the tensor
    std::byte* data = nullptr;
    WrittenBits shadow;
  };
  std::string text;
  Dtype dtype = Dtype::kInvalid;  // of a tensor's elements
  std::vector<Range> ranges;
};
// "sbuf:3:4096+4" (memory, partition, first byte, how many: 1 if left out),
// "1/psum:0:0+8" of core 1, or a tensor's elements.
absl::StatusOr<WatchPlace> ParseWatch(const std::string& text,
                                      const Runner& runner);
WatchPlace WatchOf(const TensorPlace& place, const Runner& runner);

}  // namespace trnemu

#endif  // TRNEMU_CORE_DEBUG_PLACE_H_
