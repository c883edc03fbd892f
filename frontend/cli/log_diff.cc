#include "frontend/cli/log_diff.h"

#include <charconv>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace trnemu::cli {
namespace {

using Key = std::tuple<int64_t, int64_t, int64_t>;

// The number that follows `prefix` at `at`, which moves behind it.
bool TakeNumber(const std::string& line, std::string_view prefix, size_t& at,
                int64_t& number) {
  if (line.compare(at, prefix.size(), prefix) != 0) return false;
  const char* const begin = line.data() + at + prefix.size();
  const char* const end = line.data() + line.size();
  const auto [next, error] = std::from_chars(begin, end, number);
  if (error != std::errc()) return false;
  at = static_cast<size_t>(next - line.data());
  return true;
}

bool IsTime(std::string_view field) {
  return !field.empty() && field[0] >= '0' && field[0] <= '9' &&
         field.ends_with(" ns");
}

bool ReadLog(const std::string& path, std::vector<LogEntry>& entries) {
  std::ifstream file(path);
  std::string line;
  std::map<std::pair<int64_t, int64_t>, int64_t> seen;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    auto entry = ParseLogLine(line);
    if (!entry) return false;
    entry->line = number;
    entry->occurrence = ++seen[{entry->core, entry->instruction}];
    entries.push_back(*std::move(entry));
  }
  return true;
}

}  // namespace

std::optional<LogEntry> ParseLogLine(const std::string& line) {
  LogEntry entry;
  size_t at = 0;
  if (!TakeNumber(line, "core ", at, entry.core)) return std::nullopt;
  const size_t number = line.find(" #", at);
  // Between them is the engine's name.
  if (number == line.npos || line.find(' ', at + 1) != number) {
    return std::nullopt;
  }
  at = number;
  if (!TakeNumber(line, " #", at, entry.instruction)) return std::nullopt;
  size_t end = line.find(" ; ");
  entry.text = line.substr(0, end);
  while (end != line.npos) {
    const size_t begin = end + 3;
    end = line.find(" ; ", begin);
    std::string field = line.substr(begin, end - begin);
    if (field.starts_with("wrote ") || field.starts_with("set ")) {
      entry.effect = std::move(field);
    } else if (IsTime(field)) {
      entry.time = std::move(field);
    } else {
      entry.source = line.substr(begin);
      break;
    }
  }
  return entry;
}

LogDifference CompareLogs(const std::string& path_a,
                          const std::string& path_b) {
  LogDifference d;
  std::vector<LogEntry> a, b;
  if (!ReadLog(path_a, a) || !ReadLog(path_b, b)) {
    d.kind = LogDifference::Kind::kNotLogs;
    return d;
  }
  std::map<Key, const LogEntry*> in_b;
  for (const LogEntry& e : b) {
    in_b[{e.core, e.instruction, e.occurrence}] = &e;
  }
  const auto note = [&](LogDifference::Kind kind, const LogEntry* from_a,
                        const LogEntry* from_b) {
    if (kind != LogDifference::Kind::kTimes && ++d.differences > 1) return;
    if (kind == LogDifference::Kind::kTimes &&
        d.kind != LogDifference::Kind::kEqual) {
      return;
    }
    d.kind = kind;
    d.a = from_a == nullptr ? std::nullopt : std::optional(*from_a);
    d.b = from_b == nullptr ? std::nullopt : std::optional(*from_b);
  };
  for (const LogEntry& e : a) {
    const auto other = in_b.find({e.core, e.instruction, e.occurrence});
    if (other == in_b.end()) {
      note(LogDifference::Kind::kMissing, &e, nullptr);
      continue;
    }
    ++d.compared;
    const LogEntry& f = *other->second;
    if (e.effect != f.effect || e.text != f.text) {
      note(LogDifference::Kind::kEffect, &e, &f);
    } else if (e.time != f.time && !e.time.empty() && !f.time.empty()) {
      note(LogDifference::Kind::kTimes, &e, &f);
    }
    in_b.erase(other);
  }
  const LogEntry* first = nullptr;
  for (const auto& [key, e] : in_b) {
    if (first == nullptr || e->line < first->line) first = e;
  }
  if (first != nullptr) note(LogDifference::Kind::kMissing, nullptr, first);
  return d;
}

}  // namespace trnemu::cli
