#include "frontend/cli/outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "frontend/cli/common.h"
#include "frontend/cli/npy.h"

namespace trnemu::cli {
namespace {

absl::Status Unwritable(const std::string& path, int error) {
  return ToStatus(InputError(
      "unwritable",
      Cat("cannot write ", path, ": ", std::generic_category().message(error)),
      "give --output-dir a directory that can be written"));
}

// The directory and those above it, outermost first.
std::vector<std::string> Ancestry(const std::string& directory) {
  std::vector<std::string> all;
  for (size_t at = directory.find('/', 1); at != directory.npos;
       at = directory.find('/', at + 1)) {
    all.push_back(directory.substr(0, at));
  }
  all.push_back(directory);
  return all;
}

bool Write(std::FILE* file, const void* data, size_t n) {
  return std::fwrite(data, 1, n, file) == n;
}

}  // namespace

absl::Status WriteText(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr;
  good = good && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) != 0) good = false;
  if (good) return absl::OkStatus();
  return ToStatus(InputError("unwritable", Cat("cannot write ", path)));
}

absl::Status CheckPaths(const std::vector<NamedPath>& read,
                        const std::vector<NamedPath>& written) {
  namespace fs = std::filesystem;
  const auto place_of = [](const std::string& path) {
    std::error_code error;
    const fs::path place = fs::absolute(path, error);
    const fs::path canonical = fs::weakly_canonical(place, error);
    return error ? place.lexically_normal() : canonical;
  };
  for (size_t w = 0; w < written.size(); ++w) {
    std::error_code error;
    const NamedPath& to = written[w];
    const auto kind = fs::status(to.path, error).type();
    const bool device =
        kind != fs::file_type::regular && kind != fs::file_type::not_found;
    if (to.path.empty() || device) continue;
    const fs::path place = place_of(to.path);
    const auto same = [&](const NamedPath& other) {
      return !other.path.empty() && place_of(other.path) == place;
    };
    for (const NamedPath& from : read) {
      if (!same(from)) continue;
      return UsageError(Cat(to.option, " would write over ", to.path,
                            ", which is ", from.option));
    }
    for (size_t o = 0; o < w; ++o) {
      if (!same(written[o])) continue;
      return UsageError(Cat(written[o].option, " and ", to.option,
                            " are one file, ", to.path));
    }
  }
  return absl::OkStatus();
}

std::string FileNameOf(const std::string& tensor) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : tensor) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
                       (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return name + ".npy";
}

absl::Status OutputFiles::Open(const std::string& directory,
                               const std::vector<const Tensor*>& tensors) {
  for (const std::string& part : Ancestry(directory)) {
    if (mkdir(part.c_str(), 0777) == 0) {
      made_.push_back(part);
    } else if (errno != EEXIST) {
      return Unwritable(directory, errno);
    }
  }
  for (const Tensor* t : tensors) {
    if (!PathOf(t->name).empty()) continue;  // a run gives one of a name
    File file;
    file.tensor = t->name;
    file.path = Cat(directory, "/", FileNameOf(t->name));
    file.temporary = Cat(file.path, ".tmp.", getpid());
    files_.push_back(std::move(file));
    if (absl::Status s = OpenOne(files_.back()); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status OutputFiles::OpenOne(File& file) {
  struct stat info;
  if (stat(file.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return Unwritable(file.path, EISDIR);
  }
  const int fd = open(file.temporary.c_str(),
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Unwritable(file.path, errno);
  close(fd);  // a system has more outputs than a process may hold open
  file.made = true;
  return absl::OkStatus();
}

absl::Status OutputFiles::Commit(
    const std::map<std::string, HostArray>& arrays) {
  const absl::Status status = Fill(arrays);
  return status.ok() ? Publish() : status;
}

absl::Status OutputFiles::Fill(const std::map<std::string, HostArray>& arrays) {
  for (File& file : files_) {
    const auto found = arrays.find(file.tensor);
    if (found == arrays.end()) {
      return MakeFault(Category::kInternal, "internal.output",
                       Cat("the run gave no output ", file.tensor));
    }
    const HostArray& array = found->second;
    file.stream = std::fopen(file.temporary.c_str(), "wb");
    if (file.stream == nullptr) return Unwritable(file.path, errno);
    const std::string header = npy::HeaderFor(array.dtype, array.shape);
    const bool written =
        Write(file.stream, header.data(), header.size()) &&
        Write(file.stream, array.bytes.data(), array.bytes.size());
    const int error = errno;
    const bool closed = std::fclose(std::exchange(file.stream, nullptr)) == 0;
    if (!written || !closed) {
      return Unwritable(file.path, written ? errno : error);
    }
  }
  return absl::OkStatus();
}

absl::Status OutputFiles::Publish() {
  for (File& file : files_) {
    if (std::rename(file.temporary.c_str(), file.path.c_str()) != 0) {
      return Unwritable(file.path, errno);
    }
    file.temporary.clear();
    file.made = false;
  }
  made_.clear();
  return absl::OkStatus();
}

void OutputFiles::Discard() {
  for (File& file : files_) {
    if (file.stream) std::fclose(std::exchange(file.stream, nullptr));
    if (file.made) std::remove(file.temporary.c_str());
    file.made = false;
    file.temporary.clear();
  }
  for (; !made_.empty(); made_.pop_back()) rmdir(made_.back().c_str());
}

std::string OutputFiles::PathOf(const std::string& tensor) const {
  for (const File& file : files_) {
    if (file.tensor == tensor) return file.path;
  }
  return "";
}

}  // namespace trnemu::cli
