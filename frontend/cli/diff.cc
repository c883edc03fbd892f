// trnemu diff: where two programs, or two logs, first differ.
#include <fstream>

#include "frontend/cli/common.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/verbs.h"
#include "isa/container.h"
#include "isa/file.h"
#include "isa/text.h"

namespace trnemu::cli {
namespace {

struct DiffArgs {
  std::string a, b;
  bool json = false;
};

enum class Kind { kProgram, kText, kLog };

absl::StatusOr<Kind> KindOf(const std::string& path) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  if (text.starts_with("trnemu-text")) return Kind::kText;
  // Logs are text; a program file or a NEFF has zeros near its start.
  return text.substr(0, 4096).find('\0') == text.npos ? Kind::kLog
                                                      : Kind::kProgram;
}

absl::StatusOr<Program> ReadEither(const std::string& path, Kind kind) {
  if (kind == Kind::kProgram) return ReadProgram(path);
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return text.status();
  return FromText(*text);
}

int Answer(const DiffArgs& args, std::string_view kind,
           const std::string& difference) {
  const int exit_code = difference.empty() ? kSuccess : kFault;
  if (args.json) {
    Json json = Envelope("diff");
    json["ok"] = difference.empty();
    json["exit_code"] = exit_code;
    json["kind"] = std::string(kind);
    json["equal"] = difference.empty();
    json["difference"] = difference.empty() ? Json(nullptr) : Json(difference);
    PrintJson(json);
  } else if (difference.empty()) {
    Print(Cat("The two ", kind, "s are equal.\n"));
  } else {
    Print(Cat("The ", kind, "s differ: - is ", args.a, ", + is ", args.b, "\n",
              difference, "\n"));
  }
  return exit_code;
}

int DiffPrograms(const DiffArgs& args, Kind kind_a, Kind kind_b,
                 Progress& progress) {
  const auto a = ReadEither(args.a, kind_a);
  const auto b = a.ok() ? ReadEither(args.b, kind_b) : a.status();
  if (!b.ok()) {
    progress.Stop();
    return Fail("diff", args.json, b.status());
  }
  const std::string difference = FirstDifference(*a, *b);
  progress.Stop();
  return Answer(args, "program", difference);
}

int DiffLogs(const DiffArgs& args, Progress& progress) {
  std::ifstream a(args.a), b(args.b);
  std::string difference, line_a, line_b;
  for (int64_t number = 1; difference.empty(); ++number) {
    const bool has_a = static_cast<bool>(std::getline(a, line_a));
    const bool has_b = static_cast<bool>(std::getline(b, line_b));
    if (!has_a && !has_b) break;
    if (has_a && has_b && line_a == line_b) continue;
    difference = Cat("line ", number, "\n- ", has_a ? line_a : "(no more)",
                     "\n+ ", has_b ? line_b : "(no more)");
  }
  progress.Stop();
  return Answer(args, "log", difference);
}

int Diff(const DiffArgs& args) {
  Progress progress(Cat("comparing ", args.a, " with ", args.b));
  const auto fail = [&](const absl::Status& status) {
    progress.Stop();
    return Fail("diff", args.json, status);
  };
  const auto kind_a = KindOf(args.a);
  if (!kind_a.ok()) return fail(kind_a.status());
  const auto kind_b = KindOf(args.b);
  if (!kind_b.ok()) return fail(kind_b.status());
  const int logs = (*kind_a == Kind::kLog) + (*kind_b == Kind::kLog);
  if (logs == 2) return DiffLogs(args, progress);
  if (logs == 0) return DiffPrograms(args, *kind_a, *kind_b, progress);
  return fail(UsageError(
      Cat((*kind_a == Kind::kLog ? args.a : args.b),
          " is a log or other text, and ",
          (*kind_a == Kind::kLog ? args.b : args.a), " is a program"),
      "compare two programs, or two logs"));
}

}  // namespace

void AddDiff(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand(
      "diff", "First difference of two programs or two logs");
  auto args = std::make_shared<DiffArgs>();
  sub->add_option("A", args->a, "Program file, text form or log")->required();
  sub->add_option("B", args->b, "The other one")->required();
  sub->add_flag("--json", args->json, "Print one JSON object");
  sub->footer(
      "Exit code 0 if they are equal, 1 if they differ.\n"
      "\n"
      "Examples:\n"
      "  trnemu diff a.trn b.trn\n"
      "  trnemu run k.trn --input x=x.npy --log a.log\n"
      "  trnemu run k.trn --input x=x.npy --log b.log --numerics matmul=exact\n"
      "  trnemu diff a.log b.log");
  sub->callback([args, &action] { action = [args] { return Diff(*args); }; });
}

}  // namespace trnemu::cli
