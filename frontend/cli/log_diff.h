// Two commit logs (core/commit_log.cc) compared by instruction.
//
// Two schedules log the same instructions in different orders. An instruction
// is known by its core, its number and how often it has come (in loops); what
// is compared is its text and its effect, not its time.
#ifndef TRNEMU_FRONTEND_CLI_LOG_DIFF_H_
#define TRNEMU_FRONTEND_CLI_LOG_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>

namespace trnemu::cli {

struct LogEntry {
  int64_t line = 0;                                   // of the file, from 1
  int64_t core = 0, instruction = 0, occurrence = 0;  // from 1
  std::string text;    // engine, number, operation, operands
  std::string effect;  // "wrote ... at ...", "set r1 = 5", or ""
  std::string time;    // "10.000 to 20.000 ns", or ""
  std::string source;
};
// A line without its occurrence; nothing if it is none of a log.
std::optional<LogEntry> ParseLogLine(const std::string& line);

struct LogDifference {
  enum class Kind { kEqual, kTimes, kEffect, kMissing, kNotLogs };
  Kind kind = Kind::kEqual;
  // The first in the order of A; of kMissing one of them.
  std::optional<LogEntry> a, b;
  int64_t differences = 0;  // instructions whose effects differ
  int64_t compared = 0;
};
// kNotLogs: a line of one of them is not of a log.
LogDifference CompareLogs(const std::string& path_a, const std::string& path_b);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_LOG_DIFF_H_
