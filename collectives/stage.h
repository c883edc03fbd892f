// One stage of a collective: a scatter, a gather, or both, of one team.
#ifndef TRNEMU_COLLECTIVES_STAGE_H_
#define TRNEMU_COLLECTIVES_STAGE_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/layout.h"
#include "collectives/plan.h"
#include "collectives/team.h"

namespace trnemu::plans {

// A buffer of a member, in one of the ways to count.
struct End {
  int32_t member = 0;
  Buffer buffer = Buffer::kSrc;
  Count count = Count::kBlocks;
  int64_t base = 0;
  Place At(const Extent& e) const {
    return {member, buffer, e.elements == 0 ? 0 : base + e[count]};
  }
  bool operator==(const End&) const = default;
};

enum class Goal : uint8_t {
  kScatter,  // every position has all chunks in `in`; its own reduced to `out`
  kGather,   // every position has its own chunk in `in`; all to `out`
  kReduce,   // scatter, then gather: all reduced to `out`
};

// What a stage is to do, by position of its team. `in` and `out` of a gather
// may be the same place.
struct Stage {
  PlanWriter& writer;
  const Team& team;
  const Chunks& chunks;  // by position; Numbered
  Goal goal = Goal::kReduce;
  std::vector<End> in, out;
  // Moves after whose arrival a position's `in` may be read.
  std::vector<std::vector<uint32_t>> ready;
  bool in_place = false;  // `in` and `out` may share memory
  int step = 0;           // of the first moves; then of the next stage's
  // Set by the stage if asked for: moves after whose arrival all that the
  // position gets is there.
  bool want_done = false;
  std::vector<std::vector<uint32_t>> done = {};

  int size() const { return team.size(); }
  bool scatters() const { return goal != Goal::kGather; }
  bool gathers() const { return goal != Goal::kScatter; }
  const End& In(int32_t p) const { return in[static_cast<size_t>(p)]; }
  const End& Out(int32_t p) const { return out[static_cast<size_t>(p)]; }
  // A gather has to bring a position's own chunk to `out`.
  bool copies_own(int32_t p) const { return !(In(p) == Out(p)); }
  uint32_t Begin(int32_t p, int at_step, int channel = 0, int channels = 1) {
    return writer.Begin(team.member[static_cast<size_t>(p)], channel, channels,
                        at_step);
  }
  void AfterReady(int32_t p) {
    if (!ready.empty()) writer.After(ready[static_cast<size_t>(p)]);
  }
  void Done(int32_t p, uint32_t move) {
    if (want_done) done[static_cast<size_t>(p)].push_back(move);
  }
  // Scratch for `elements` of a position, counted in kTeam from `start` on.
  End Scratch(int32_t p, int64_t elements, int64_t start = 0) {
    const int32_t m = team.member[static_cast<size_t>(p)];
    return {m, Buffer::kScratch, Count::kTeam,
            writer.Scratch(m, elements) - start};
  }
};

// Pieces of the last move, one for each extent; one of no elements if there are
// none. At most two destinations.
void AddPieces(PlanWriter& writer, std::span<const Extent> extents,
               std::span<const End> sources, std::span<const End> destinations);
// The same to any number of destinations, two for each time that it is read.
void AddBroadcast(PlanWriter& writer, std::span<const Extent> extents,
                  const End& source, std::span<const End> destinations);

// A stage of one position.
void Alone(Stage& stage);

}  // namespace trnemu::plans

#endif  // TRNEMU_COLLECTIVES_STAGE_H_
