#include "collectives/counts.h"

namespace trnemu {

std::vector<TrafficCounts> CountTraffic(const Plan& plan,
                                        const GroupShape& shape,
                                        int64_t element_bytes) {
  std::vector<TrafficCounts> counts(static_cast<size_t>(plan.members));
  const auto of = [&](int32_t m) -> TrafficCounts& {
    return counts[static_cast<size_t>(m)];
  };
  const auto chip = [&](int32_t m) {
    return shape.chip[static_cast<size_t>(m)];
  };
  for (const Move& move : plan.moves) {
    for (const Piece& piece : plan.PiecesOf(move)) {
      const int64_t bytes = piece.elements * element_bytes;
      for (const Place& p : plan.SourcesOf(piece)) of(p.member).read += bytes;
      for (const Place& p : plan.DestinationsOf(piece)) {
        of(p.member).written += bytes;
        if (p.member == move.member) continue;
        of(move.member).sent += bytes;
        if (chip(p.member) != chip(move.member)) {
          of(move.member).sent_to_chips += bytes;
        }
      }
    }
  }
  return counts;
}

int64_t AccessesOfStep(const Plan& plan, int step, int64_t element_bytes) {
  int64_t elements = 0;
  for (const Move& move : plan.moves) {
    if (move.step != step) continue;
    for (const Piece& piece : plan.PiecesOf(move)) {
      elements += piece.elements * (piece.sources + piece.destinations);
    }
  }
  return elements * element_bytes;
}

}  // namespace trnemu
