// Files as the container needs them: mapped for reading, replaced as a whole.
// Failures are of category input and quote the operating system.
#ifndef TRNEMU_ISA_FILE_H_
#define TRNEMU_ISA_FILE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trnemu {

// A regular file, mapped read-only. Movable; unmaps when it dies.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// Writes `parts` one after the other to a new file beside `path`, then gives
// it that name. Nothing is left behind on failure.
absl::Status WriteFileAtomically(const std::string& path,
                                 std::span<const std::string_view> parts);

}  // namespace trnemu

#endif  // TRNEMU_ISA_FILE_H_
