// Where outputs are written: all of them or none.
#ifndef TRNEMU_FRONTEND_CLI_OUTPUTS_H_
#define TRNEMU_FRONTEND_CLI_OUTPUTS_H_

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/run.h"
#include "isa/program.h"

namespace trnemu::cli {

// Files for the outputs of a run. Open creates them under temporary names
// before the run, so that what cannot be written is known at once; Commit
// fills and renames them; without Commit nothing stays behind.
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles() { Discard(); }

  // Makes `directory` (and its parents) if need be. Category input.
  absl::Status Open(const std::string& directory,
                    const std::vector<const Tensor*>& tensors);
  absl::Status Commit(const std::map<std::string, HostArray>& arrays);
  // The same in two steps, for several that are written together.
  absl::Status Fill(const std::map<std::string, HostArray>& arrays);
  absl::Status Publish();
  void Discard();

  // Where the tensor of that name goes; "" before Open.
  std::string PathOf(const std::string& tensor) const;

 private:
  struct File {
    std::string tensor, path, temporary;
    bool made = false;            // the temporary file is there
    std::FILE* stream = nullptr;  // while it is written
  };
  absl::Status OpenOne(File& file);

  std::vector<File> files_;
  std::vector<std::string> made_;  // directories, outermost first
};

// Writes a file. Category input.
absl::Status WriteText(const std::string& path, std::string_view text);

// A file and the option that names it; nothing is said of "".
struct NamedPath {
  std::string option, path;
};
// Refuses to write over what is read, or two things into one file. What exists
// and is no regular file (/dev/null) may be written as often as one likes.
absl::Status CheckPaths(const std::vector<NamedPath>& read,
                        const std::vector<NamedPath>& written);

// The file name of a tensor: its own, with what a file name cannot hold
// written as %XX, and ".npy".
std::string FileNameOf(const std::string& tensor);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_OUTPUTS_H_
