#include "collectives/plan.h"

#include <algorithm>
#include <utility>

namespace trnemu {

int64_t Plan::ElementsOf(const Move& m) const {
  int64_t n = 0;
  for (const Piece& p : PiecesOf(m)) n += p.elements;
  return n;
}

PlanWriter::PlanWriter(Algorithm algorithm, int32_t members) {
  plan_.algorithm = algorithm;
  plan_.members = members;
  plan_.scratch_elements.resize(static_cast<size_t>(members));
}

void PlanWriter::Reserve(int64_t moves, int64_t pieces, int64_t places) {
  const auto more = [](auto& v, int64_t n) {
    v.reserve(v.size() + static_cast<size_t>(n));
  };
  more(plan_.moves, moves);
  more(first_needed_, moves);
  more(follower_, moves);
  more(needed_, moves);
  more(plan_.pieces, pieces);
  more(plan_.places, places);
}

uint32_t PlanWriter::Begin(int32_t member, int channel, int channels,
                           int step) {
  const auto id = static_cast<uint32_t>(plan_.moves.size());
  Move& m = plan_.moves.emplace_back();
  m.member = member;
  m.channel = static_cast<uint8_t>(channel);
  m.channels = static_cast<uint8_t>(channels);
  m.step = static_cast<uint16_t>(step);
  m.first_piece = static_cast<uint32_t>(plan_.pieces.size());
  plan_.channels = std::max(plan_.channels, channels);
  first_needed_.push_back(static_cast<uint32_t>(needed_.size()));
  follower_.push_back(0);  // no move needs itself: 0 is free
  return id;
}

void PlanWriter::After(uint32_t move) {
  const auto last = static_cast<uint32_t>(plan_.moves.size() - 1);
  if (follower_[move] == last) return;
  follower_[move] = last;
  needed_.push_back(move);
  ++plan_.moves[last].needs;
  ++plan_.moves[move].successors;
}

void PlanWriter::After(std::span<const uint32_t> moves) {
  for (uint32_t move : moves) After(move);
}

void PlanWriter::AddPiece(int64_t elements, std::span<const Place> sources,
                          std::span<const Place> destinations) {
  Piece p;
  p.elements = elements;
  p.first_place = static_cast<uint32_t>(plan_.places.size());
  p.sources = static_cast<uint16_t>(sources.size());
  p.destinations = static_cast<uint16_t>(destinations.size());
  plan_.pieces.push_back(p);
  plan_.places.insert(plan_.places.end(), sources.begin(), sources.end());
  plan_.places.insert(plan_.places.end(), destinations.begin(),
                      destinations.end());
  ++plan_.moves.back().pieces;
}

int64_t PlanWriter::Scratch(int32_t member, int64_t elements) {
  int64_t& used = plan_.scratch_elements[static_cast<size_t>(member)];
  const int64_t at = used;
  used += elements;
  return at;
}

Plan PlanWriter::Finish() && {
  uint32_t at = 0;
  for (Move& m : plan_.moves) {
    m.first_successor = at;
    at += m.successors;
    m.successors = 0;
  }
  plan_.successors.resize(at);
  // Moves come after what they need, so one pass finds the longest chain.
  std::vector<int32_t> depth(plan_.moves.size(), 1);
  for (size_t id = 0; id < plan_.moves.size(); ++id) {
    const Move& m = plan_.moves[id];
    for (uint32_t i = 0; i < m.needs; ++i) {
      const uint32_t needed = needed_[first_needed_[id] + i];
      Move& n = plan_.moves[needed];
      plan_.successors[n.first_successor + n.successors++] =
          static_cast<uint32_t>(id);
      depth[id] = std::max(depth[id], depth[needed] + 1);
    }
    plan_.steps = std::max(plan_.steps, depth[id]);
  }
  return std::move(plan_);
}

}  // namespace trnemu
