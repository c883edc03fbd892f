// Which tensors of a collective's call one rank reads and writes.
#ifndef TRNEMU_CORE_COLLECTIVE_TOUCH_H_
#define TRNEMU_CORE_COLLECTIVE_TOUCH_H_

#include <algorithm>
#include <cstdint>

#include "isa/program.h"
#include "isa/vocabulary.h"

namespace trnemu {

struct CollectiveTouch {
  bool src = true, dst = true;
};

// `peer`: the root's position in each group of a broadcast.
inline CollectiveTouch TouchedBy(CollectiveKind kind,
                                 const ReplicaGroups& groups, int64_t peer,
                                 uint32_t rank) {
  switch (kind) {
    case CollectiveKind::kBarrier:  // only orders
      return {false, false};
    case CollectiveKind::kPermute: {
      CollectiveTouch touch{false, false};
      for (const auto& pair : groups) {
        if (pair.size() != 2) continue;
        touch.src = touch.src || pair[0] == rank;
        touch.dst = touch.dst || pair[1] == rank;
      }
      return touch;
    }
    case CollectiveKind::kBroadcast: {
      for (const auto& group : groups) {
        if (std::find(group.begin(), group.end(), rank) == group.end()) {
          continue;
        }
        const auto root = static_cast<size_t>(peer);
        return {root < group.size() && group[root] == rank, true};
      }
      return {};
    }
    default:
      return {};
  }
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_COLLECTIVE_TOUCH_H_
