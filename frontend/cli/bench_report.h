// Cost tables for people and for programs.
#ifndef TRNEMU_FRONTEND_CLI_BENCH_REPORT_H_
#define TRNEMU_FRONTEND_CLI_BENCH_REPORT_H_

#include <span>
#include <string>
#include <vector>

#include "core/cost_table/cost_table.h"
#include "frontend/cli/common.h"
#include "isa/hardware_diff.h"

namespace trnemu::cli {

struct CostTable {
  std::string operation, op;  // op: as it was asked for, may be ""
  std::vector<CostRow> rows;
};

// The operations that have a table.
std::string SubjectsText();
Json SubjectsJson();

std::string RowsText(std::span<const CostTable> tables);
Json RowsJson(std::span<const CostTable> tables);
// `changes` to the hardware are in the last column of each row.
std::string RowsCsv(std::span<const CostTable> tables,
                    const std::vector<HardwareChange>& changes);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_BENCH_REPORT_H_
