#include "collectives/call_info.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/engines/dma.h"
#include "core/extent.h"
#include "core/layout.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

int64_t SizeOfTile(const Tile& tile) {
  return static_cast<int64_t>(tile.partitions) * tile.free_size;
}

// The list of the group that the rank is in; of a permute all that take part.
std::vector<uint32_t> MembersOf(const CollectiveCall& call, uint32_t rank) {
  const auto peer = static_cast<uint32_t>(call.peer);
  if (call.kind == CollectiveKind::kSend) return {rank, peer};
  if (call.kind == CollectiveKind::kRecv) return {peer, rank};
  std::vector<uint32_t> members;
  for (const auto& group : *call.groups) {
    const bool here =
        std::find(group.begin(), group.end(), rank) != group.end();
    if (call.kind != CollectiveKind::kPermute) {
      if (here) return group;
      continue;
    }
    for (uint32_t r : group) {
      if (std::find(members.begin(), members.end(), r) == members.end()) {
        members.push_back(r);
      }
    }
  }
  return members;
}

// Whether two tiles have a byte in common, as far as their extents tell.
bool Share(const Tile& a, const Tile& b) {
  if (a.space != b.space) return false;
  const auto [a_low, a_high] = RowExtent(a);
  const auto [b_low, b_high] = RowExtent(b);
  if (a.space == Space::kHbm) {
    return a.base + a_low < b.base + b_high && b.base + b_low < a.base + a_high;
  }
  return a.first_partition < b.first_partition + b.partitions &&
         b.first_partition < a.first_partition + a.partitions &&
         a.address + a_low < b.address + b_high &&
         b.address + b_low < a.address + a_high;
}

// Where element `first` of the tile's flat order is.
const std::byte* ElementOf(const Tile& tile, int64_t first) {
  const Layout layout = FlatLayout(tile);
  return tile.base + RunCursor(layout, first).offset();
}

// Sets in_place; false if src and dst share memory in a way that the
// collective's order of writes does not allow.
bool SharesWell(const CollectiveCall& call, int64_t member, CallInfo& info) {
  for (const CollectiveCall::Tensors& t : call.tensors) {
    if (!t.has_dst) continue;
    const bool src = t.has_src && Share(t.dst, t.src);
    const bool src1 = t.has_src1 && Share(t.dst, t.src1);
    if (!src && !src1) continue;
    info.in_place = true;
    const int64_t n = SizeOfTile(t.src), m = SizeOfTile(t.dst);
    switch (call.kind) {
      case CollectiveKind::kAllReduce:
      case CollectiveKind::kBroadcast:
        if (SourceAndDestinationOverlap(t.dst, t.src)) return false;
        break;
      case CollectiveKind::kAllGather:
        if (info.rows > 1 || ElementOf(t.dst, member * n) != t.src.base) {
          return false;
        }
        break;
      case CollectiveKind::kReduceScatter:
        if (ElementOf(t.src, member * m) != t.dst.base) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

std::string Pairs(const std::vector<std::vector<uint32_t>>& pairs) {
  constexpr size_t kShown = 8;
  std::string text = "[";
  for (size_t i = 0; i < std::min(pairs.size(), kShown); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "[",
                    absl::StrJoin(pairs[i], ", "), "]");
  }
  return text + (pairs.size() > kShown ? ", ...]" : "]");
}

std::string Sizes(const std::vector<int64_t>& sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes, ", "), "]");
}

}  // namespace

std::vector<uint32_t> CallInfo::Key() const {
  const bool pair =
      kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv;
  std::vector<uint32_t> key = {pair ? 1u : 0u,
                               pair ? 0u : static_cast<uint32_t>(stream),
                               static_cast<uint32_t>(core)};
  key.insert(key.end(), members.begin(), members.end());
  return key;
}

absl::StatusOr<CallInfo> InfoOf(const CollectiveCall& call, uint32_t rank,
                                int ranks) {
  CallInfo info;
  info.rank = static_cast<int32_t>(rank);
  info.core = static_cast<int32_t>(call.core);
  info.kind = call.kind;
  info.op = call.op;
  info.dim = call.dim;
  info.channel = call.channel;
  info.peer = call.peer;
  info.stream = call.stream;
  info.recv_counts_known = call.recv_counts_known;
  info.has_rdispls = call.has_rdispls;
  info.trigger = call.trigger;
  info.ticket = call.ticket;
  info.members = MembersOf(call, rank);
  if (call.kind == CollectiveKind::kPermute) info.pairs = *call.groups;
  for (const CollectiveCall::Tensors& t : call.tensors) {
    info.src_elements.push_back(t.has_src ? SizeOfTile(t.src) : 0);
    info.dst_elements.push_back(t.has_dst ? SizeOfTile(t.dst) : 0);
    const Tile& some = t.has_src ? t.src : t.dst;
    info.dtype = some.dtype;
    info.in_sbuf = some.space == Space::kSbuf;
    if (call.kind == CollectiveKind::kAllGather && info.in_sbuf &&
        call.dim == 1) {
      info.rows = t.src.partitions;
    }
  }
  const bool in = std::find(info.members.begin(), info.members.end(), rank) !=
                  info.members.end();
  if (!in && call.kind == CollectiveKind::kPermute) {
    info.members = {rank};
    info.inactive = true;
    return info;
  }
  if (!in) {
    return MakeFault(
        Category::kIllegal, "collective.not_in_group",
        absl::StrCat("rank ", rank,
                     " calls it, but is in no list of its replica group"));
  }
  if (info.members.size() == 2 && info.members[0] == info.members[1]) {
    Diagnostic d;
    d.category = Category::kIllegal;
    d.id = "collective.rank";
    d.message = absl::StrCat("rank ", rank, " sends to itself");
    d.remedy = "copy with dma_copy, or name another rank";
    return ToStatus(std::move(d));
  }
  const auto position =
      std::find(info.members.begin(), info.members.end(), rank) -
      info.members.begin();
  if (!SharesWell(call, position, info)) {
    return MakeFault(
        Category::kIllegal, "collective.overlap",
        "src and dst share memory, but not element by element (all_reduce, "
        "broadcast), nor is src the rank's own block of dst (all_gather) or "
        "dst its own block of src (reduce_scatter)");
  }
  for (uint32_t member : info.members) {
    if (member < static_cast<uint32_t>(ranks)) continue;
    return MakeFault(Category::kIllegal, "collective.rank",
                     absl::StrCat("it names rank ", member,
                                  ", but the system has ranks 0 to ",
                                  ranks - 1));
  }
  return info;
}

std::string Disagreement(const CallInfo& a, const CallInfo& b) {
  const auto differ = [&](std::string_view what, std::string_view x,
                          std::string_view y) {
    return absl::StrCat(std::string(what), ": ", std::string(x), " on rank ",
                        a.rank, ", ", std::string(y), " on rank ", b.rank);
  };
  const bool pair =
      a.kind == CollectiveKind::kSend || a.kind == CollectiveKind::kRecv;
  if (pair && a.kind == b.kind) {
    return differ("direction", Name(a.kind), Name(b.kind));
  }
  if (!pair && a.kind != b.kind) {
    return differ("operation", Name(a.kind), Name(b.kind));
  }
  if (a.dtype != b.dtype) return differ("dtype", Name(a.dtype), Name(b.dtype));
  if (a.op != b.op) return differ("op", Name(a.op), Name(b.op));
  if (a.pairs != b.pairs) {
    return differ("source_target_pairs", Pairs(a.pairs), Pairs(b.pairs));
  }
  if (a.dim != b.dim) {
    return differ("collective_dim", absl::StrCat(a.dim), absl::StrCat(b.dim));
  }
  if (!pair && a.peer != b.peer) {
    return differ("root", absl::StrCat(a.peer), absl::StrCat(b.peer));
  }
  if (a.channel != b.channel) {
    return differ("channel", absl::StrCat(a.channel), absl::StrCat(b.channel));
  }
  if (a.has_rdispls != b.has_rdispls) {
    return differ("has_rdispls", a.has_rdispls ? "True" : "False",
                  b.has_rdispls ? "True" : "False");
  }
  if (a.is_v() || a.kind == CollectiveKind::kBarrier) return "";
  if (pair) {
    const CallInfo& send = a.kind == CollectiveKind::kSend ? a : b;
    const CallInfo& recv = a.kind == CollectiveKind::kSend ? b : a;
    if (send.src_elements == recv.dst_elements) return "";
    return absl::StrCat("elements: rank ", send.rank, " sends ",
                        Sizes(send.src_elements), ", rank ", recv.rank,
                        " receives ", Sizes(recv.dst_elements));
  }
  if (a.src_elements != b.src_elements) {
    return differ("elements of the sources", Sizes(a.src_elements),
                  Sizes(b.src_elements));
  }
  if (a.rows != b.rows) {
    return differ("partitions", absl::StrCat(a.rows), absl::StrCat(b.rows));
  }
  return "";
}

}  // namespace trnemu
