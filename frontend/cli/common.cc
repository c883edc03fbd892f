#include "frontend/cli/common.h"

#include <cstdio>

#include "isa/builder.h"
#include "isa/file.h"

namespace trnemu::cli {
namespace {

std::string Harmless(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 32 || c == '\n' || c == '\t') && byte != 127) {
      out += c;
      continue;
    }
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

bool muted = false;

void Write(std::FILE* file, std::string_view text) {
  if (muted) return;
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

int ExitOf(Category category) {
  switch (category) {
    case Category::kInput:
      return kUsage;
    case Category::kUnsupported:
      return kUnsupported;
    case Category::kMalformed:
      return kMalformed;
    case Category::kInternal:
      return kInternal;
    default:
      return kFault;
  }
}

void Print(std::string_view text) { Write(stdout, Harmless(text)); }
void PrintError(std::string_view text) { Write(stderr, Harmless(text)); }

void MuteOutput(bool on) { muted = on; }

bool FlushOutput() { return std::fflush(stdout) == 0 && !std::ferror(stdout); }

Json Envelope(std::string_view verb) {
  Json json;
  json["schema"] = Cat("trnemu.", verb);
  json["version"] = 1;
  return json;
}

Json ToJsonObject(const Diagnostic& diagnostic) {
  return Json::parse(ToJson(diagnostic));
}

Json ToJsonArray(std::span<const Diagnostic> diagnostics) {
  Json array = Json::array();
  for (const Diagnostic& d : diagnostics) array.push_back(ToJsonObject(d));
  return array;
}

void PrintJson(const Json& json) {
  // Names from files need not be UTF-8.
  Write(stdout, json.dump(2, ' ', false, Json::error_handler_t::replace));
  Write(stdout, "\n");
}

int Fail(std::string_view verb, bool json, std::span<const Diagnostic> errors,
         const Json& more) {
  const Diagnostic& first = errors.front();
  const int exit_code = ExitOf(first.category);
  if (json) {
    Json report = Envelope(verb);
    report["ok"] = false;
    report["exit_code"] = exit_code;
    report["fault"] = ToJsonObject(first);
    report["findings"] = ToJsonArray(errors);
    report.update(more);
    PrintJson(report);
    return exit_code;
  }
  for (const Diagnostic& d : errors) PrintError(Render(d) + "\n");
  if (exit_code == kInternal) {
    PrintError(
        "This is a bug in trnemu, not in your program. Please report it with "
        "the command, the program file and the output of trnemu --version.\n");
  }
  return exit_code;
}

int Fail(std::string_view verb, bool json, const absl::Status& status,
         const Json& more) {
  const Diagnostic d = DiagnosticOf(status);
  return Fail(verb, json, std::span(&d, 1), more);
}

Diagnostic InputError(std::string_view id, const std::string& message,
                      std::string_view remedy) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = Cat("input.", id);
  d.message = message;
  d.remedy = remedy;
  return d;
}

absl::Status UsageError(const std::string& message, std::string_view remedy) {
  return ToStatus(InputError("usage", message, remedy));
}

std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates) {
  const std::string_view nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : Cat("; did you mean ", nearest, "?");
}

absl::StatusOr<Target> ParseTarget(const std::string& name) {
  if (const auto target = TargetFromName(name)) return *target;
  return UsageError(
      Cat("--target must be trn1, trn2 or trn3, not \"", name, "\""));
}

absl::StatusOr<std::shared_ptr<const Hardware>> HardwareOf(
    Target target, const std::string& file) {
  if (file.empty()) {
    return std::shared_ptr<const Hardware>(&HardwareFor(target),
                                           [](const Hardware*) {});
  }
  const absl::StatusOr<std::string> text = ReadText(file);
  if (!text.ok()) return text.status();
  absl::StatusOr<Hardware> loaded = LoadHardware(*text);
  if (!loaded.ok()) {
    return ToStatus(InputError("hardware",
                               Cat(file, ": ", loaded.status().message()),
                               Cat("trnemu info --target ", Name(target),
                                   " --only description > FILE gives one to "
                                   "start from")));
  }
  if (loaded->target != target) {
    return ToStatus(
        InputError("hardware", Cat(file, " describes ", Name(loaded->target),
                                   ", but the target is ", Name(target))));
  }
  return std::make_shared<const Hardware>(*std::move(loaded));
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string Count(int64_t n, std::string_view noun) {
  return Cat(Grouped(n), " ", noun, n == 1 ? "" : "s");
}

std::string Grouped(int64_t n) {
  const std::string digits = Cat(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace trnemu::cli
