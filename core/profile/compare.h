// A measured instruction table beside a simulated one.
#ifndef TRNEMU_CORE_PROFILE_COMPARE_H_
#define TRNEMU_CORE_PROFILE_COMPARE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace trnemu {

// A row of the vendor profiler's table Instruction; nanoseconds.
struct TableInstruction {
  int core = 0;
  std::string engine;  // "tensor", ...: under whatever name it was
  std::string opcode;  // upper case
  double start = 0;
  double duration = 0;
};

// Reads an Instruction.csv: columns engine, opcode, start_ts and one of
// duration_ns and end_ts; pcore_idx if it is there, others are not looked at.
// `renames` says what an opcode is called on the other side, in whatever case.
// An error is malformed (profile.table) and names the line or the column: a row
// as long as the header and a duration that is not negative are asked for.
absl::StatusOr<std::vector<TableInstruction>> ReadInstructionTable(
    std::string_view csv, const std::map<std::string, std::string>& renames);

// Rows of both tables that are the same instruction; -1: only in the other.
struct MatchedRow {
  int ours = -1, theirs = -1;
};

struct OpcodeComparison {
  std::string engine, opcode;
  int64_t ours = 0, theirs = 0, matched = 0;
  double ours_ns = 0, theirs_ns = 0;  // durations of those that match
  // |ours / theirs - 1| and its sign, over those that match and took time.
  double median_error = 0, mean_error = 0, worst_error = 0;
};

struct TableComparison {
  std::vector<TableInstruction> ours, theirs;  // by core, engine and start
  std::vector<MatchedRow> rows;                // in the same order
  std::vector<OpcodeComparison> opcodes;       // most time first
  int64_t matched = 0;
  // Of those that match: theirs takes no time, so that there is no error.
  int64_t without_duration = 0;
  double median_error = 0, mean_error = 0;
  double ours_span = 0, theirs_span = 0;  // first start to last end
};

// Matches instruction by instruction: the streams of each engine in order,
// by opcode. Opcodes that only one side has match nothing.
TableComparison CompareTables(std::vector<TableInstruction> ours,
                              std::vector<TableInstruction> theirs);

// Text for a terminal, without newline at the end; a table with a row an
// instruction as CSV.
std::string ComparisonText(const TableComparison& comparison);
std::string ComparisonCsv(const TableComparison& comparison);

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_COMPARE_H_
