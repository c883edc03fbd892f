// The rules behind a profile's recommendations. Each looks at one thing, and
// says what to do only where at least kLeastShare of the run's time could be
// saved: less is within the time model's error (docs/time.md).
#ifndef TRNEMU_CORE_PROFILE_RECOMMEND_H_
#define TRNEMU_CORE_PROFILE_RECOMMEND_H_

#include <optional>

#include "core/profile/report.h"

namespace trnemu {

inline constexpr double kLeastShare = 0.03;
// As many as people read; the vendor's profiler shows two to four.
inline constexpr size_t kMostRecommendations = 4;

using Advice = std::optional<Recommendation>;

// Transfers whose descriptors are shorter than 2 KiB, below which a DMA engine
// does not reach its rate (nki-dma-bandwidth-guide).
Advice SmallDescriptors(const ProfileReport& report);
// Activation tables loaded again that were loaded before.
Advice TableReloads(const ProfileReport& report);
// Loads and computation that take turns on the critical path; why, if it is
// that loads are behind transfers that wait in their sequencer's stream.
Advice NoOverlap(const ProfileReport& report);
// The tensor engine waits until PSUM is free or read.
Advice PsumEvacuation(const ProfileReport& report);
// Multiplications of fp32, which take four times as long as bf16.
Advice Fp32Matmul(const ProfileReport& report);
// Instructions that use less than half the partitions.
Advice FewPartitions(const ProfileReport& report);
// One elementwise engine works while the others are idle.
Advice EngineImbalance(const ProfileReport& report);
// A tensor engine that idles too often runs at half its rate.
Advice Throttled(const ProfileReport& report);

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_RECOMMEND_H_
