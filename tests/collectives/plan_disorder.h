// A check that a plan orders whatever has to be ordered, for tests.
#ifndef TRNEMU_TESTS_COLLECTIVES_PLAN_DISORDER_H_
#define TRNEMU_TESTS_COLLECTIVES_PLAN_DISORDER_H_

#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "tests/collectives/plan_harness.h"

namespace trnemu {

struct Access {
  uint32_t move, piece;
  bool write;
};

using Key = std::tuple<int32_t, int, int64_t>;

inline std::string CheckPieces(const Plan& plan, const GroupShape& shape) {
  for (const Move& move : plan.moves) {
    if (move.channel >= move.channels) return "a channel past its channels";
    if (move.pieces == 0) return "a move without a piece";
    for (const Piece& piece : plan.PiecesOf(move)) {
      if (piece.destinations < 1 || piece.destinations > 2) {
        return "destinations of a piece";
      }
      for (const Place& p : plan.SourcesOf(piece)) {
        if (shape.chip[At(p.member)] != shape.chip[At(move.member)]) {
          return "a source on another chip";
        }
      }
    }
  }
  return "";
}

// A sentence about two accesses that nothing orders, or about a plan that
// breaks another rule of plan.h; empty if there are none.
inline std::string FindDisorder(const Plan& plan, const GroupShape& shape,
                                const Memory& memory) {
  const std::string wrong = CheckPieces(plan, shape);
  if (!wrong.empty()) return wrong;
  std::map<Key, std::vector<Access>> accesses;
  for (uint32_t id = 0; id < plan.moves.size(); ++id) {
    uint32_t number = 0;
    for (const Piece& piece : plan.PiecesOf(plan.moves[id])) {
      for (int64_t i = 0; i < piece.elements; ++i) {
        const auto add = [&](const Place& place, bool write) {
          const Place p = memory.Real(place, i);
          accesses[{p.member, static_cast<int>(p.buffer), p.offset}].push_back(
              {id, number, write});
        };
        for (const Place& p : plan.SourcesOf(piece)) add(p, false);
        for (const Place& p : plan.DestinationsOf(piece)) add(p, true);
      }
      ++number;
    }
  }
  const Orders orders(plan);
  for (const auto& [place, list] : accesses) {
    for (size_t a = 0; a < list.size(); ++a) {
      for (size_t b = a + 1; b < list.size(); ++b) {
        if (!list[a].write && !list[b].write) continue;
        const bool same = list[a].move == list[b].move &&
                          list[a].piece == list[b].piece &&
                          list[a].write != list[b].write;
        if (same || orders.Before(list[a].move, list[b].move)) continue;
        std::ostringstream out;
        out << "moves " << list[a].move << (list[a].write ? " (write)" : "")
            << " and " << list[b].move << (list[b].write ? " (write)" : "")
            << " at member " << std::get<0>(place) << " buffer "
            << std::get<1>(place) << " offset " << std::get<2>(place);
        return out.str();
      }
    }
  }
  return "";
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_COLLECTIVES_PLAN_DISORDER_H_
