// The steps of MakeProfileReport; each fills its part of the report from the
// timeline and from what those before it have filled in.
#ifndef TRNEMU_CORE_PROFILE_ANALYSIS_H_
#define TRNEMU_CORE_PROFILE_ANALYSIS_H_

#include "core/profile/report.h"

namespace trnemu {

void AddEngineTotals(ProfileReport& report);
void AddStalls(ProfileReport& report);
void AddCriticalPath(ProfileReport& report);
void AddOperations(ProfileReport& report);
void AddMemory(ProfileReport& report);
void AddMetrics(ProfileReport& report);
void AddRecommendations(ProfileReport& report);

// Rows of one engine, in their order.
std::vector<int32_t> RowsOf(const Timeline& timeline, size_t core,
                            Engine engine);
// Whose update it is, as seen from `core`.
Cause CauseOf(const Timeline& timeline, const SemaphoreRecord& update,
              size_t core);
Cause CauseOf(const DmaRecord& part);
Cause CauseOf(Engine engine);

// How long at least one of [from, to) covers; sorts them.
Ticks UnionOf(std::vector<std::pair<Ticks, Ticks>>& intervals);

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_ANALYSIS_H_
