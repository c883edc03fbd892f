#include "collectives/values.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/floating_point.h"

namespace trnemu {
namespace {

constexpr int64_t kBatchBytes = 64 << 20;
constexpr int64_t kWorthThreads = 256 << 10;

// The elements that each piece of a move writes.
void ReadMove(const MoveOfValues& m, const NumericsOptions& numerics,
              std::vector<std::byte>& out) {
  Active& a = *m.active;
  const Plan& plan = *a.plan;
  const Move& move = plan.moves[m.move];
  const size_t size = a.element_bytes;
  out.resize(static_cast<size_t>(plan.ElementsOf(move)) * size);
  std::vector<std::byte> source;
  size_t at = 0;
  for (const Piece& piece : plan.PiecesOf(move)) {
    if (piece.elements == 0) continue;
    const auto sources = plan.SourcesOf(piece);
    const auto read = [&](const Place& place, std::byte* to) {
      a.buffers[static_cast<size_t>(place.member)].Read(
          place.buffer, place.offset, piece.elements, to);
    };
    read(sources[0], &out[at]);
    const size_t bytes = static_cast<size_t>(piece.elements) * size;
    if (sources.size() > 1) {
      Fp32Reduction sum(a.op, a.dtype, numerics);
      sum.Start(&out[at], piece.elements);
      source.resize(bytes);
      for (const Place& place : sources.subspan(1)) {
        read(place, source.data());
        sum.Add(source.data());
      }
      sum.Finish(&out[at]);
    }
    at += bytes;
  }
}

struct Write {
  const MoveOfValues* move = nullptr;
  const std::vector<std::byte>* bytes = nullptr;
};

// What the moves write to one member's memory.
void WriteMember(const std::vector<Write>& writes, int32_t member) {
  for (const Write& w : writes) {
    Active& a = *w.move->active;
    const Plan& plan = *a.plan;
    size_t at = 0;
    for (const Piece& piece : plan.PiecesOf(plan.moves[w.move->move])) {
      for (const Place& place : plan.DestinationsOf(piece)) {
        if (place.member != member || piece.elements == 0) continue;
        a.buffers[static_cast<size_t>(member)].Write(
            place.buffer, place.offset, piece.elements, w.bytes->data() + at);
      }
      at += static_cast<size_t>(piece.elements) * a.element_bytes;
    }
  }
}

void MoveBatch(std::span<const MoveOfValues> moves,
               const NumericsOptions& numerics, Pool& pool, bool threads) {
  std::vector<std::vector<std::byte>> bytes(moves.size());
  // By rank, since members of several collectives may be the same.
  std::map<std::pair<uint32_t, std::pair<Active*, int32_t>>, std::vector<Write>>
      writes;
  const auto for_each = [&](size_t n, const std::function<void(size_t)>& work) {
    if (threads) return pool.ForEach(n, work);
    for (size_t i = 0; i < n; ++i) work(i);
  };
  const bool flush = numerics.subnormals == Subnormals::kFlush;
  for_each(moves.size(), [&](size_t i) {
    const CanonicalFloatingPoint scope(flush);
    ReadMove(moves[i], numerics, bytes[i]);
  });
  for (size_t i = 0; i < moves.size(); ++i) {
    Active& a = *moves[i].active;
    const Plan& plan = *a.plan;
    std::vector<int32_t> members;
    for (const Piece& piece : plan.PiecesOf(plan.moves[moves[i].move])) {
      for (const Place& place : plan.DestinationsOf(piece)) {
        if (std::find(members.begin(), members.end(), place.member) ==
            members.end()) {
          members.push_back(place.member);
        }
      }
    }
    for (int32_t member : members) {
      const uint32_t rank = a.meeting->members[static_cast<size_t>(member)];
      writes[{rank, {&a, member}}].push_back({&moves[i], &bytes[i]});
    }
  }
  // A rank's memory is one thread's.
  std::vector<std::vector<std::pair<int32_t, const std::vector<Write>*>>> ranks;
  uint32_t last = 0;
  for (const auto& [who, list] : writes) {
    if (ranks.empty() || who.first != last) ranks.emplace_back();
    last = who.first;
    ranks.back().emplace_back(who.second.second, &list);
  }
  for_each(ranks.size(), [&](size_t r) {
    for (const auto& [member, list] : ranks[r]) WriteMember(*list, member);
  });
}

}  // namespace

void MoveValues(std::span<const MoveOfValues> moves,
                const NumericsOptions& numerics, Pool& pool) {
  size_t first = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < moves.size(); ++i) {
    const Active& a = *moves[i].active;
    bytes += a.plan->ElementsOf(a.plan->moves[moves[i].move]) *
             static_cast<int64_t>(a.element_bytes);
    if (bytes < kBatchBytes && i + 1 < moves.size()) continue;
    MoveBatch(moves.subspan(first, i + 1 - first), numerics, pool,
              bytes >= kWorthThreads);
    first = i + 1;
    bytes = 0;
  }
}

int64_t DocumentedBytes(const Problem& problem, int64_t members) {
  switch (problem.kind) {
    case CollectiveKind::kAllGather:
      return problem.bytes() * members;
    case CollectiveKind::kAllGatherV:
    case CollectiveKind::kAllToAllV: {
      int64_t elements = 0;
      for (const auto& row : problem.blocks) {
        for (const Problem::Block& block : row) elements += block.count;
      }
      return elements * static_cast<int64_t>(SizeOf(problem.dtype)) /
             std::max<int64_t>(1, members);
    }
    default:
      return problem.bytes();
  }
}

}  // namespace trnemu
