// What the verbs of the trnemu binary share: exit codes, reports, JSON.
#ifndef TRNEMU_FRONTEND_CLI_COMMON_H_
#define TRNEMU_FRONTEND_CLI_COMMON_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/hardware.h"

namespace trnemu::cli {

using Json = nlohmann::ordered_json;

// The exit codes of the contract (design section 1), and the shell's for a
// program that SIGINT ended.
enum Exit : int {
  kSuccess = 0,
  kFault = 1,
  kUsage = 2,
  kUnsupported = 3,
  kMalformed = 4,
  kInternal = 70,
  kInterrupted = 130,
};
int ExitOf(Category category);

// absl::StrCat that takes std::string_view, which Debian's does not.
template <typename T>
auto Piece(const T& part) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return std::string(part);
  } else {
    return part;
  }
}
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(Piece(parts)...);
}

// Text for people. What a hostile file could put into it to steer a terminal
// is written as \xNN.
void Print(std::string_view text);       // standard output
void PrintError(std::string_view text);  // standard error
// Nothing is printed while it is on.
void MuteOutput(bool on);
// False once standard output could not be written.
bool FlushOutput();

// {"schema": "trnemu.<verb>", "version": 1}, to be extended by the verb.
Json Envelope(std::string_view verb);
Json ToJsonObject(const Diagnostic& diagnostic);
Json ToJsonArray(std::span<const Diagnostic> diagnostics);
void PrintJson(const Json& json);

// Errors that end a verb: on standard error as text, or on standard output as
// {..., "ok": false, "exit_code": n, "fault": {the first}, "findings": [all]}.
// Returns the exit code of the first. The fields of `more`, an object, follow
// in the JSON: what the verb has to show beside the errors.
int Fail(std::string_view verb, bool json, std::span<const Diagnostic> errors,
         const Json& more = Json::object());
int Fail(std::string_view verb, bool json, const absl::Status& status,
         const Json& more = Json::object());

// A diagnostic of category input.
Diagnostic InputError(std::string_view id, const std::string& message,
                      std::string_view remedy = "");
absl::Status UsageError(const std::string& message,
                        std::string_view remedy = "");

// "; did you mean x?", or "".
std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

// "trn2" and its other names; a usage error for anything else.
absl::StatusOr<Target> ParseTarget(const std::string& name);
// The description to use: of FILE if `file` is given, which must be of
// `target`, else the one built in.
absl::StatusOr<std::shared_ptr<const Hardware>> HardwareOf(
    Target target, const std::string& file);

absl::StatusOr<std::string> ReadText(const std::string& path);

// "1 finding", "2 findings".
std::string Count(int64_t n, std::string_view noun);
// "12,345,678".
std::string Grouped(int64_t n);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_COMMON_H_
