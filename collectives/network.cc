#include "collectives/network.h"

#include <algorithm>

#include "core/time_model.h"

namespace trnemu {

Ticks Network::Send(const Who& who, int64_t bytes, Ticks start, Ticks end,
                    int64_t& link_bytes) {
  const int from = topology_.ChipOf(who.from_rank);
  const int to = topology_.ChipOf(who.to_rank);
  if (from == to) return end;
  // Reachable: asked of every plan (Cluster::CheckRoutes).
  const auto route = topology_.Route(from, to);
  if (!route.ok()) return end;
  Ticks last = end;
  Ticks latency = 0;
  for (const int32_t index : *route) {
    const Link& link = topology_.links()[static_cast<size_t>(index)];
    Ticks& free = free_[static_cast<size_t>(index)];
    const Ticks begin = std::max(start, free);
    if (bytes > 0) {
      free = begin + ToTicks(static_cast<double>(bytes) / link.bandwidth);
      last = std::max(last, free);
      link_bytes += bytes;
      if (record_) {
        records_.push_back({index, who.collective, who.from_rank, who.to_rank,
                            who.step, begin, free, bytes});
      }
    }
    latency += ToTicks(link.latency_ns);
  }
  return last + latency;
}

int CollectiveCoreOf(int64_t stream, int channel, int cores) {
  if (stream > 0) return static_cast<int>(stream) % cores;
  return channel == 0 ? 0 : (cores - channel % cores) % cores;
}

}  // namespace trnemu
