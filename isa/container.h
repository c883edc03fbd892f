// The file that holds a program.
//
//   8 bytes    magic "TRNEMU\r\n"
//   u32        container version, 1          (integers are little-endian)
//   u32        length of the header
//   ...        protobuf Header (program.proto)
//   u32, ...   Header.chunks times: length, protobuf Chunk
//   0 ...      zeros up to a multiple of 4096, if there is data
//   ...        Header.data_bytes of raw data, to the end of the file
//
// Reading checks everything (isa/codec.h) and never allocates by a size that
// the file does not back. A file that is not a program of this version is
// malformed, a NEFF file unsupported, a path that cannot be read or written
// of category input.
#ifndef TRNEMU_ISA_CONTAINER_H_
#define TRNEMU_ISA_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/program.h"

namespace trnemu {

inline constexpr uint32_t kContainerVersion = 1;

// Maps the file; the program's data stays mapped while the program lives, so
// the file must not be truncated meanwhile (WriteProgram never does).
absl::StatusOr<Program> ReadProgram(const std::string& path);
// The same of bytes in memory; copies the data section.
absl::StatusOr<Program> ReadProgramBytes(std::span<const std::byte> bytes);

// Writes a temporary file beside `path` and renames it: readers see the old
// file or the whole new one. The program must be well formed.
absl::Status WriteProgram(const Program& program, const std::string& path);
std::string SerializeProgram(const Program& program);

}  // namespace trnemu

#endif  // TRNEMU_ISA_CONTAINER_H_
