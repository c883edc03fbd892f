#include "core/profile/trace_writer.h"

#include "absl/strings/str_cat.h"
#include "core/profile/columns.h"

namespace trnemu {
namespace {

// "1.234": microseconds.
std::string Us(int64_t ns) {
  const std::string digits = absl::StrCat(ns % 1000);
  return absl::StrCat(ns / 1000, ".", std::string(3 - digits.size(), '0'),
                      digits);
}

}  // namespace

TraceWriter::TraceWriter(std::string_view about) {
  json_ = absl::StrCat("{\"displayTimeUnit\":\"ns\",\"otherData\":{",
                       std::string(about), "},\"traceEvents\":[\n");
}

void TraceWriter::Open() {
  json_ += first_ ? "" : ",\n";
  first_ = false;
}

void TraceWriter::Slice(const Place& at, int64_t end, std::string_view name,
                        std::string_view category, std::string_view args) {
  Open();
  absl::StrAppend(&json_, "{\"ph\":\"X\",\"pid\":", at.process,
                  ",\"tid\":", at.thread, ",\"ts\":", Us(at.start),
                  ",\"dur\":", Us(end - at.start), ",\"name\":", Quoted(name),
                  ",\"cat\":\"", std::string(category), "\",\"args\":{",
                  std::string(args), "}}");
}

void TraceWriter::Arrow(std::string_view category, const Place& from,
                        const Place& to) {
  const auto end = [&](std::string_view phase, const Place& at) {
    Open();
    absl::StrAppend(&json_, "{\"ph\":\"", std::string(phase),
                    "\",\"id\":", next_flow_, ",\"pid\":", at.process,
                    ",\"tid\":", at.thread, ",\"ts\":", Us(at.start),
                    ",\"name\":\"", std::string(category), "\",\"cat\":\"",
                    std::string(category), "\"",
                    phase == "f" ? ",\"bp\":\"e\"}" : "}");
  };
  end("s", from);
  end("f", to);
  ++next_flow_;
}

void TraceWriter::Counter(int process, int64_t at, std::string_view name,
                          std::string_view unit, std::string_view value) {
  Open();
  absl::StrAppend(&json_, "{\"ph\":\"C\",\"pid\":", process,
                  ",\"tid\":0,\"ts\":", Us(at), ",\"name\":", Quoted(name),
                  ",\"args\":{\"", std::string(unit), "\":", std::string(value),
                  "}}");
}

void TraceWriter::NameProcess(int process, std::string_view name, int sort) {
  const auto meta = [&](std::string_view what, std::string_view key,
                        const std::string& value) {
    Open();
    absl::StrAppend(&json_, "{\"ph\":\"M\",\"pid\":", process,
                    ",\"tid\":0,\"name\":\"", std::string(what),
                    "\",\"args\":{\"", std::string(key), "\":", value, "}}");
  };
  meta("process_name", "name", Quoted(name));
  meta("process_sort_index", "sort_index", absl::StrCat(sort));
}

void TraceWriter::NameThread(int process, int thread, std::string_view name) {
  Open();
  absl::StrAppend(
      &json_, "{\"ph\":\"M\",\"pid\":", process, ",\"tid\":", thread,
      ",\"name\":\"thread_name\",\"args\":{\"name\":", Quoted(name), "}}");
}

std::string TraceWriter::Finish() && {
  json_ += "\n]}\n";
  return std::move(json_);
}

}  // namespace trnemu
