#include "collectives/direct.h"

#include <algorithm>

#include "collectives/layout.h"

namespace trnemu::plans {
namespace {

size_t Index(int64_t i) { return static_cast<size_t>(i); }

// Moves from members to members. In place all data goes through scratch: what
// is sent to a member may come before it has sent its own.
class Exchange {
 public:
  Exchange(const Problem& problem, PlanWriter& writer)
      : problem_(problem), writer_(writer) {
    const size_t n = Index(writer.plan().members);
    moves_of_.resize(n);
    landed_.resize(n);
  }

  void Begin(int32_t from) {
    from_ = from;
    move_ = writer_.Begin(from, 0, 1, 0);
    if (problem_.in_place) moves_of_[Index(from)].push_back(move_);
  }
  // Of the last move: from the sender's buffers at `at` to members' dst.
  void Add(int64_t elements, std::span<const Buffer> sources, int64_t at,
           std::span<const Place> dst) {
    std::vector<Place> from, to;
    for (Buffer b : sources) from.push_back({from_, b, at});
    for (Place place : dst) {
      if (problem_.in_place) {
        const Place landing = {place.member, Buffer::kScratch,
                               writer_.Scratch(place.member, elements)};
        landed_[Index(place.member)].push_back({elements, landing, place});
        moves_of_[Index(place.member)].push_back(move_);
        place = landing;
      }
      to.push_back(place);
    }
    writer_.AddPiece(elements, from, to);
  }
  void Add(int64_t elements, int64_t at, Place dst) {
    Add(elements, {{Buffer::kSrc}}, at, {{dst}});
  }

  void Finish() {
    for (size_t m = 0; m < landed_.size(); ++m) {
      if (landed_[m].empty()) continue;
      writer_.Begin(static_cast<int32_t>(m), 0, 1, 1);
      writer_.After(moves_of_[m]);
      for (const Landed& l : landed_[m]) {
        writer_.AddPiece(l.elements, {{l.at}}, {{l.to}});
      }
    }
  }

 private:
  struct Landed {
    int64_t elements;
    Place at, to;
  };
  const Problem& problem_;
  PlanWriter& writer_;
  int32_t from_ = 0;
  uint32_t move_ = 0;
  // By member: moves that it makes or that arrive there; what arrives.
  std::vector<std::vector<uint32_t>> moves_of_;
  std::vector<std::vector<Landed>> landed_;
};

// In step s member i sends to member i + s, so that nobody gets from two at a
// time; i sends the block for itself first.
void AllToAll(const Problem& problem, int32_t n, Exchange& exchange) {
  for (int32_t distance = 0; distance < n; ++distance) {
    for (int32_t from = 0; from < n; ++from) {
      const int32_t to = (from + distance) % n;
      exchange.Begin(from);
      int64_t src = 0, dst = 0;
      for (int64_t e : problem.src_elements) {
        const int64_t count = EvenCount(e, n, to);
        exchange.Add(count, src + EvenStart(e, n, to),
                     {to, Buffer::kDst, dst + from * count});
        src += e;
        dst += n * count;
      }
    }
  }
}

void AllToAllV(const Problem& problem, int32_t n, Exchange& exchange) {
  for (int32_t distance = 0; distance < n; ++distance) {
    for (int32_t from = 0; from < n; ++from) {
      const int32_t to = (from + distance) % n;
      const Problem::Block& b = problem.blocks[Index(from)][Index(to)];
      exchange.Begin(from);
      exchange.Add(b.count, b.from, {to, Buffer::kDst, b.to});
    }
  }
}

// A member's block is read once for each two receivers.
void AllGatherV(const Problem& problem, int32_t n, Exchange& exchange) {
  for (int32_t from = 0; from < n; ++from) {
    exchange.Begin(from);
    const std::vector<Problem::Block>& blocks = problem.blocks[Index(from)];
    const auto to = [&](int32_t i) {
      const int32_t m = (from + i) % n;
      return Place{m, Buffer::kDst, blocks[Index(m)].to};
    };
    const auto block = [&](int32_t i) { return blocks[Index((from + i) % n)]; };
    for (int32_t i = 0; i < n;) {
      const Problem::Block b = block(i);
      const bool two = i + 1 < n && block(i + 1).count == b.count &&
                       block(i + 1).from == b.from;
      const Place places[] = {to(i), to(two ? i + 1 : i)};
      exchange.Add(b.count, {{Buffer::kSrc}}, b.from,
                   std::span<const Place>(places).first(two ? 2 : 1));
      i += two ? 2 : 1;
    }
  }
}

void Permute(const Problem& problem,
             std::span<const std::pair<int32_t, int32_t>> pairs,
             std::span<const Buffer> sources, Exchange& exchange) {
  for (const auto& [from, to] : pairs) {
    exchange.Begin(from);
    const Place dst[] = {{to, Buffer::kDst, 0}};
    exchange.Add(problem.elements(), sources, 0, dst);
  }
}

std::vector<std::pair<int32_t, int32_t>> Successors(int32_t n) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int32_t m = 0; m < n; ++m) pairs.emplace_back(m, (m + 1) % n);
  return pairs;
}

// Dissemination: in round r everyone notifies the member 2^r further, so that
// after the last round it has heard, through others, from all.
void Barrier(int32_t n, PlanWriter& writer) {
  std::vector<std::vector<uint32_t>> heard(Index(n));
  int step = 0;
  for (int32_t distance = 1; distance < n; distance *= 2) {
    std::vector<uint32_t> sent(Index(n));
    for (int32_t m = 0; m < n; ++m) {
      sent[Index(m)] = writer.Begin(m, 0, 1, step);
      writer.After(heard[Index(m)]);
      const Place from[] = {{m, Buffer::kSrc, 0}};
      const Place to[] = {{(m + distance) % n, Buffer::kDst, 0}};
      writer.AddPiece(0, from, to);
    }
    for (int32_t m = 0; m < n; ++m) {
      heard[Index((m + distance) % n)].push_back(sent[Index(m)]);
    }
    ++step;
  }
}

}  // namespace

void Direct(const Problem& problem, PlanWriter& writer) {
  static constexpr Buffer kSrc[] = {Buffer::kSrc};
  static constexpr Buffer kBoth[] = {Buffer::kSrc, Buffer::kSrc1};
  const int32_t n = writer.plan().members;
  Exchange exchange(problem, writer);
  switch (problem.kind) {
    case CollectiveKind::kAllToAll:
      AllToAll(problem, n, exchange);
      break;
    case CollectiveKind::kAllToAllV:
      AllToAllV(problem, n, exchange);
      break;
    case CollectiveKind::kAllGatherV:
      AllGatherV(problem, n, exchange);
      break;
    case CollectiveKind::kPermute:
      Permute(problem, problem.pairs, kSrc, exchange);
      break;
    case CollectiveKind::kPermuteImplicit:
      Permute(problem, Successors(n), kSrc, exchange);
      break;
    case CollectiveKind::kPermuteImplicitReduce:
      Permute(problem, Successors(n), kBoth, exchange);
      break;
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv:
      Permute(problem, {{{0, 1}}}, kSrc, exchange);
      break;
    default:
      return Barrier(n, writer);
  }
  exchange.Finish();
}

}  // namespace trnemu::plans
