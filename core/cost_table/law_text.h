// The law that applied to an instruction, written as a formula in N.
#ifndef TRNEMU_CORE_COST_TABLE_LAW_TEXT_H_
#define TRNEMU_CORE_COST_TABLE_LAW_TEXT_H_

#include "core/cost_table/cost_table.h"
#include "core/engines/dma.h"
#include "core/execution.h"
#include "core/time_model.h"

namespace trnemu {

// Of an instruction with these operands, of an operation of N = `n`; 0: what
// it counts does not depend on N.
CostFormula FormulaOf(const Hardware& hardware, const TimeModel& time,
                      Opcode opcode, const ExecuteArgs& args, int64_t n);
// Of a transfer; its parts are alike.
CostFormula FormulaOfDma(const Hardware& hardware, const TimeModel& time,
                         const DmaTransfer& transfer, Engine trigger,
                         int64_t size);

}  // namespace trnemu

#endif  // TRNEMU_CORE_COST_TABLE_LAW_TEXT_H_
