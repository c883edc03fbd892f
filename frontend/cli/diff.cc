// trnemu diff: where two programs, or two logs, first differ.
#include <fstream>

#include "frontend/cli/common.h"
#include "frontend/cli/log_diff.h"
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

// Files that are no logs, line by line.
int DiffLines(const DiffArgs& args, Progress& progress) {
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

std::string Describe(const std::optional<LogEntry>& e) {
  if (!e) return "(it is not in this log)";
  return Cat("line ", e->line, ": ",
             e->effect.empty() ? "no effect" : e->effect,
             e->time.empty() ? "" : ", " + e->time);
}

Json ToJson(const std::optional<LogEntry>& e) {
  if (!e) return nullptr;
  Json json;
  json["line"] = e->line;
  json["effect"] = e->effect;
  json["time"] = e->time;
  json["text"] = e->text;
  json["source"] = e->source;
  return json;
}

int DiffLogs(const DiffArgs& args, Progress& progress) {
  using Found = LogDifference::Kind;
  const LogDifference d = CompareLogs(args.a, args.b);
  if (d.kind == Found::kNotLogs) return DiffLines(args, progress);
  progress.Stop();
  const bool equal = d.kind == Found::kEqual || d.kind == Found::kTimes;
  std::string difference;
  if (!equal) {
    const LogEntry& e = d.a ? *d.a : *d.b;
    difference = Cat("instruction ", e.instruction, " of core ", e.core,
                     e.occurrence > 1 ? Cat(", time ", e.occurrence) : "",
                     e.source.empty() ? "" : ", at " + e.source, "\n  ", e.text,
                     "\n- ", Describe(d.a), "\n+ ", Describe(d.b));
    if (d.a && d.b && d.a->text != d.b->text) {
      difference += Cat("\n  The programs differ: there it is ", d.b->text);
    }
    difference += Cat(
        "\n", d.differences,
        d.differences == 1 ? " instruction differs" : " instructions differ");
  }
  if (args.json) {
    Json json = Envelope("diff");
    json["ok"] = equal;
    json["exit_code"] = equal ? kSuccess : kFault;
    json["kind"] = "log";
    json["equal"] = equal;
    json["difference"] = equal ? Json(nullptr) : Json(difference);
    json["instructions_compared"] = d.compared;
    json["instructions_that_differ"] = d.differences;
    json["times_differ"] = d.kind == Found::kTimes;
    if (!equal) {
      const LogEntry& e = d.a ? *d.a : *d.b;
      json["core"] = e.core;
      json["instruction"] = e.instruction;
      json["occurrence"] = e.occurrence;
      json["a"] = ToJson(d.a);
      json["b"] = ToJson(d.b);
    }
    PrintJson(json);
  } else if (equal) {
    Print(Cat("The two logs are equal: ", Count(d.compared, "instruction"),
              " with the same effects",
              d.kind == Found::kTimes
                  ? Cat(", though at other times (first: instruction ",
                        d.a->instruction, ")")
                  : "",
              ".\n"));
  } else {
    Print(Cat("The logs differ: - is ", args.a, ", + is ", args.b, "\n",
              difference, "\n"));
  }
  return equal ? kSuccess : kFault;
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
      "Logs are compared instruction by instruction, in whatever order they\n"
      "were written: the first whose effect differs, in the order of A, is "
      "the\n"
      "one to look at. Times do not count.\n"
      "\n"
      "Examples:\n"
      "  trnemu diff a.trn b.trn\n"
      "  trnemu run k.trn --input x=x.npy --log a.log\n"
      "  trnemu run k.trn --input x=x.npy --log b.log --numerics matmul=exact\n"
      "  trnemu run k.trn --input x=x.npy --log b.log --schedule 7\n"
      "  trnemu diff a.log b.log");
  sub->callback([args, &action] { action = [args] { return Diff(*args); }; });
}

}  // namespace trnemu::cli
