// Simulated cost tables: what an operation costs, measured as one would on a
// device, by programs that are built and run in simulated time alone; with the
// law of the hardware description beside it.
//
// For each combination of target, dtype, placement and size two programs run.
// One holds the operation twice, the second waiting for the first: the second
// gives the completion. The other is a stream of independent copies: its last
// two give the issue interval, its second half the steady interval.
#ifndef TRNEMU_CORE_COST_TABLE_COST_TABLE_H_
#define TRNEMU_CORE_COST_TABLE_COST_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "isa/dtype.h"
#include "isa/hardware.h"
#include "isa/vocabulary.h"

namespace trnemu {

// Where the main input and the result are.
struct CostPlacement {
  Space in = Space::kSbuf;
  Space out = Space::kSbuf;
  bool operator==(const CostPlacement&) const = default;
};
// "psum:sbuf"; of one name, "psum", the result is in SBUF. Nothing for others.
std::optional<CostPlacement> PlacementFromName(std::string_view name);
std::string Name(const CostPlacement& placement);
// "fp32", "bf16", "fp16", "fp8" and the full names. Nothing for others.
std::optional<Dtype> DtypeFromShortName(std::string_view name);
// "64:8192" (each twice the one before), "64:8192:64" (a step), "1,2,48", and
// lists of these. Nothing if it is something else, or more than 10,000 sizes.
std::optional<std::vector<int64_t>> SizesFromText(std::string_view text);
// What it takes, for who wrote something else.
inline constexpr std::string_view kSizesForm =
    "64:8192 (each twice the one before), 64:512:64 (a step) or 1,2,48 (a "
    "list): from 1, upwards, 10,000 sizes at most";

// What is left out (empty) takes the operation's own.
struct CostQuery {
  std::string operation;
  std::vector<int64_t> sizes;
  std::vector<Dtype> dtypes;
  std::vector<CostPlacement> placements;
  std::vector<std::shared_ptr<const Hardware>> targets;
  std::string op;      // ALU operation or activation function
  std::string engine;  // of those that may run it
  int64_t partitions = 128;
  // Asked before each row; true ends with limit.interrupted.
  std::function<bool()> interrupted;
};

// A law that applied to an instruction of the operation.
struct CostFormula {
  std::string instruction;  // opcode
  // "160.3 + 0.5208 N", in ns.
  std::string issue, completion;
  double issue_ns = 0, completion_ns = 0;  // at this size
  std::string status, source;              // of the completion's constants
};

struct CostRow {
  std::string operation, target, engine, dtype, placement;
  int64_t size = 0;
  int64_t partitions = 0;
  // What was simulated.
  double issue_ns = 0;       // until the sequencer goes on
  double completion_ns = 0;  // alone, until the result is there
  double interval_ns = 0;    // from one to the next in a long stream
  double first_ns = 0;  // as a program's only one: with what it has to load
  // Bytes that one moves, operations per ns: of the interval; 0: no such.
  double bytes_per_ns = 0, flops_per_ns = 0;
  std::vector<CostFormula> formulas;  // by instruction, in order
  // Why there is no figure: a sentence; "" if there is.
  std::string refused;
};

// An operation that has a table.
struct CostSubject {
  std::string_view name;
  std::string_view size;  // what N counts
  std::string_view op;    // the default, "" if it takes none
  std::vector<int64_t> sizes;
  std::vector<Dtype> dtypes;
  std::vector<CostPlacement> placements;
};
std::vector<CostSubject> CostSubjects();
const CostSubject* FindCostSubject(std::string_view name);

// Rows by target, placement, dtype and size. `input` for a query that no row
// can answer; a combination that the device refuses is a row that says why.
absl::StatusOr<std::vector<CostRow>> CostTableOf(const CostQuery& query);

}  // namespace trnemu

#endif  // TRNEMU_CORE_COST_TABLE_COST_TABLE_H_
