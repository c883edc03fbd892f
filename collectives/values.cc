#include "collectives/values.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/floating_point.h"

namespace trnemu {
namespace {

constexpr int64_t kBatchBytes = 64 << 20;
constexpr int64_t kWorthThreads = 256 << 10;

int64_t BytesOf(const MoveOfValues& m) {
  const Plan& plan = *m.active->plan;
  return plan.ElementsOf(plan.moves[m.move]) *
         static_cast<int64_t>(m.active->element_bytes);
}

// The elements that each piece of a move writes.
void ReadMove(const MoveOfValues& m, const NumericsOptions& numerics,
              std::vector<std::byte>& out) {
  Active& a = *m.active;
  const Plan& plan = *a.plan;
  const Move& move = plan.moves[m.move];
  const size_t size = a.element_bytes;
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

struct WriteOf {
  const MoveOfValues* move = nullptr;
  const std::vector<std::byte>* bytes = nullptr;
};

// What the moves write to one member's memory.
void WriteMember(const std::vector<WriteOf>& writes, int32_t member) {
  for (const WriteOf& w : writes) {
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

// Some moves, carried out together.
class Batch {
 public:
  Batch(std::span<const MoveOfValues> moves, Pool& pool, bool threads,
        ProcessExchange& exchange, const std::vector<int32_t>& process)
      : moves_(moves),
        pool_(pool),
        threads_(threads),
        exchange_(exchange),
        process_(process),
        bytes_(moves.size()) {}

  void Read(const NumericsOptions& numerics);
  void Send();
  void Write();

 private:
  void ForEach(size_t n, const std::function<void(size_t)>& work) {
    if (threads_) return pool_.ForEach(n, work);
    for (size_t i = 0; i < n; ++i) work(i);
  }
  int32_t ProcessOf(const Active& a, int32_t member) const {
    return process_[a.meeting->members[static_cast<size_t>(member)]];
  }
  int32_t Reader(const MoveOfValues& m) const {
    return ProcessOf(*m.active, m.active->plan->moves[m.move].member);
  }
  template <typename Visit>
  void ForEachSent(Visit visit);

  std::span<const MoveOfValues> moves_;
  Pool& pool_;
  const bool threads_;
  ProcessExchange& exchange_;
  const std::vector<int32_t>& process_;
  std::vector<std::vector<std::byte>> bytes_;  // by move; where they are needed
};

void Batch::Read(const NumericsOptions& numerics) {
  const bool flush = numerics.subnormals == Subnormals::kFlush;
  ForEach(moves_.size(), [&](size_t i) {
    if (Reader(moves_[i]) != exchange_.process()) return;
    bytes_[i].resize(static_cast<size_t>(BytesOf(moves_[i])));
    const CanonicalFloatingPoint scope(flush);
    ReadMove(moves_[i], numerics, bytes_[i]);
  });
}

// Calls visit(move, first byte, bytes, from, to) for each piece and each other
// process that it goes to: the same calls on all processes.
template <typename Visit>
void Batch::ForEachSent(Visit visit) {
  std::vector<int32_t> to;
  for (size_t i = 0; i < moves_.size(); ++i) {
    const Active& a = *moves_[i].active;
    const Plan& plan = *a.plan;
    const int32_t from = Reader(moves_[i]);
    size_t at = 0;
    for (const Piece& piece : plan.PiecesOf(plan.moves[moves_[i].move])) {
      const size_t bytes =
          static_cast<size_t>(piece.elements) * a.element_bytes;
      to.clear();
      for (const Place& place : plan.DestinationsOf(piece)) {
        const int32_t p = ProcessOf(a, place.member);
        if (p == from || std::find(to.begin(), to.end(), p) != to.end()) {
          continue;
        }
        to.push_back(p);
        visit(i, at, bytes, from, p);
      }
      at += bytes;
    }
  }
}

void Batch::Send() {
  if (exchange_.processes() == 1) return;
  const auto n = static_cast<size_t>(exchange_.processes());
  const int32_t self = exchange_.process();
  std::vector<std::vector<std::byte>> out(n), in(n);
  std::vector<size_t> come(n, 0);
  ForEachSent([&](size_t i, size_t at, size_t bytes, int32_t from, int32_t to) {
    if (from == self) {
      const auto first = bytes_[i].begin() + static_cast<ptrdiff_t>(at);
      auto& parcel = out[static_cast<size_t>(to)];
      parcel.insert(parcel.end(), first, first + static_cast<ptrdiff_t>(bytes));
    } else if (to == self) {
      come[static_cast<size_t>(from)] += bytes;
    }
  });
  for (size_t p = 0; p < n; ++p) in[p].resize(come[p]);
  exchange_.Swap(out, in);
  std::fill(come.begin(), come.end(), 0);
  ForEachSent([&](size_t i, size_t at, size_t bytes, int32_t from, int32_t to) {
    if (to != self) return;
    bytes_[i].resize(static_cast<size_t>(BytesOf(moves_[i])));
    const auto p = static_cast<size_t>(from);
    std::copy_n(in[p].begin() + static_cast<ptrdiff_t>(come[p]), bytes,
                bytes_[i].begin() + static_cast<ptrdiff_t>(at));
    come[p] += bytes;
  });
}

void Batch::Write() {
  // By rank, since members of several collectives may be the same.
  std::map<std::pair<uint32_t, std::pair<Active*, int32_t>>,
           std::vector<WriteOf>>
      writes;
  std::vector<int32_t> members;
  for (size_t i = 0; i < moves_.size(); ++i) {
    Active& a = *moves_[i].active;
    const Plan& plan = *a.plan;
    members.clear();
    for (const Piece& piece : plan.PiecesOf(plan.moves[moves_[i].move])) {
      for (const Place& place : plan.DestinationsOf(piece)) {
        if (std::find(members.begin(), members.end(), place.member) ==
            members.end()) {
          members.push_back(place.member);
        }
      }
    }
    for (int32_t member : members) {
      if (ProcessOf(a, member) != exchange_.process()) continue;
      const uint32_t rank = a.meeting->members[static_cast<size_t>(member)];
      writes[{rank, {&a, member}}].push_back({&moves_[i], &bytes_[i]});
    }
  }
  // A rank's memory is one thread's.
  std::vector<std::vector<std::pair<int32_t, const std::vector<WriteOf>*>>>
      ranks;
  uint32_t last = 0;
  for (const auto& [who, list] : writes) {
    if (ranks.empty() || who.first != last) ranks.emplace_back();
    last = who.first;
    ranks.back().emplace_back(who.second.second, &list);
  }
  ForEach(ranks.size(), [&](size_t r) {
    for (const auto& [member, list] : ranks[r]) WriteMember(*list, member);
  });
}

}  // namespace

void MoveValues(std::span<const MoveOfValues> moves,
                const NumericsOptions& numerics, Pool& pool,
                ProcessExchange& exchange,
                const std::vector<int32_t>& process) {
  size_t first = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < moves.size(); ++i) {
    bytes += BytesOf(moves[i]);
    if (bytes < kBatchBytes && i + 1 < moves.size()) continue;
    Batch batch(moves.subspan(first, i + 1 - first), pool,
                bytes >= kWorthThreads, exchange, process);
    batch.Read(numerics);
    batch.Send();
    batch.Write();
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
