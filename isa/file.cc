#include "isa/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

absl::Status FileError(std::string_view id, std::string_view doing,
                       const std::string& path, const std::string& why) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = absl::StrCat("input.", std::string(id));
  d.message = absl::StrCat("cannot ", std::string(doing), " ", path, ": ", why);
  d.details = {{"file", path}};
  return ToStatus(std::move(d));
}

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

// Closes a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || close(fd) == 0;
  }

 private:
  int fd_;
};

// Writes all of `part`; false leaves the reason in errno.
bool WriteAll(int fd, std::string_view part) {
  while (!part.empty()) {
    const ssize_t n = write(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    part.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool WriteAndRename(const std::string& temporary, const std::string& path,
                    std::span<const std::string_view> parts) {
  Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return false;
  for (const std::string_view part : parts) {
    if (!WriteAll(file.get(), part)) return false;
  }
  return file.Close() && std::rename(temporary.c_str(), path.c_str()) == 0;
}

// What is no regular file (a device, a pipe) is written, never replaced.
bool WriteInPlace(const std::string& path,
                  std::span<const std::string_view> parts) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  for (const std::string_view part : parts) {
    if (!WriteAll(file.get(), part)) return false;
  }
  return file.Close();
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe waits for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) {
    return FileError("unreadable", "read", path, ErrorText(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return FileError(
        "unreadable", "read", path,
        S_ISDIR(info.st_mode) ? ErrorText(EISDIR) : "Not a regular file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile({});
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    return FileError("unreadable", "map", path, ErrorText(errno));
  }
  return MappedFile({static_cast<const std::byte*>(memory), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

absl::Status WriteFileAtomically(const std::string& given,
                                 std::span<const std::string_view> parts) {
  // A link stays, and what it points to is replaced.
  std::error_code no_target;
  const std::filesystem::path target =
      std::filesystem::canonical(given, no_target);
  const std::string path = no_target ? given : target.string();
  std::error_code unused;
  const auto kind = std::filesystem::status(path, unused).type();
  if (kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::directory) {
    if (WriteInPlace(path, parts)) return absl::OkStatus();
    return FileError("unwritable", "write", path, ErrorText(errno));
  }
  static std::atomic<uint64_t> serial{0};
  const std::string temporary =
      absl::StrCat(path, ".tmp.", getpid(), ".", serial.fetch_add(1));
  if (WriteAndRename(temporary, path, parts)) return absl::OkStatus();
  const int error = errno;
  if (error != EEXIST) std::remove(temporary.c_str());
  return FileError("unwritable", "write", path, ErrorText(error));
}

}  // namespace trnemu
