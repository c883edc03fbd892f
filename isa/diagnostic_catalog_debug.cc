// Diagnostics of looking on: --stop-at-nan, --explore, --break, --watch.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"nan.produced", kLimit,
     "With --stop-at-nan: an instruction or a DMA made a NaN, and none of the "
     "inputs that the element depends on was NaN. The details have the place, "
     "the value, and the inputs' values where the instruction works element by "
     "element. NaNs of run inputs and fill values are not reported.",
     "the row maximum of a row of -inf, subtracted from it: (-inf) - (-inf)",
     "Repair what led here: mask with a large finite number, add a small "
     "number "
     "to a divisor, guard a row that is masked throughout.",
     Severity::kError, true},
    {"nan.infinity_produced", kLimit,
     "With --stop-at-nan: an instruction or a DMA made an infinity, and every "
     "input that the element depends on was finite. Infinities of run inputs "
     "and fill values, of which masks are made, are not reported.",
     "reciprocal of 0; 1e30 cast to float16",
     "Repair what led here; or --allow nan.infinity_produced to stop at NaNs "
     "only.",
     Severity::kError, true},
    {"option.stop_at_nan", kInput,
     "stop_at_nan looks at values, which are off.",
     "stop_at_nan=True, values=False", "Run with values on."},
    {"schedule.outputs_differ", kRace,
     "Two legal schedules of the program give different outputs: something is "
     "read or overwritten before the instruction that it should wait for. The "
     "message has the seed, and the first element that differs.",
     "a store that does not wait for the instruction that computes its source",
     "Add the missing wait; related says which, with checks full. Or run again "
     "with --checks memory --schedule SEED, write logs with --log, and compare "
     "them with trnemu diff to see where it begins."},
    {"option.explore", kInput,
     "explore needs a positive number of schedules, values, and checks that "
     "are not off: without them a run could read what the run before it left "
     "in the same bytes, and a race would stay hidden.",
     "explore(program, inputs, 0)",
     "Give a number of schedules, and leave checks and values on."},
    {"debug.place", kInput,
     "A breakpoint, watch or dump names an instruction, operation, line, "
     "tensor or byte that the program does not have, or a tensor by a name "
     "that several have.",
     "--break tensor_tensr; --dump t[0:200] of a tile of 128 partitions; "
     "--dump t where two tiles are named t",
     "Write a name, line or number that trnemu disasm shows, and an index "
     "inside the tensor's shape; of several tensors with one name %3 or "
     "%3\"t\", as trnemu disasm writes them."},
    {"debug.stopped", kLimit,
     "With --stop: the run was stopped at its first breakpoint or watch. It "
     "gives no outputs.",
     "--break 12 --stop", "Leave --stop out to print and go on."},
    {"debug.ended", kInput,
     "A debugged run has ended, in a result or a fault, and cannot go on.",
     "dbg.result(); dbg.step()", "Start another with trnemu.debug."},
};

}  // namespace

std::span<const CatalogEntry> DebugEntries() { return kEntries; }

}  // namespace trnemu::catalog
