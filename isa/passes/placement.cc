#include "isa/passes/placement.h"

#include <algorithm>
#include <boost/icl/interval_set.hpp>
#include <boost/icl/right_open_interval.hpp>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace trnemu {
namespace {

using Interval = boost::icl::right_open_interval<int64_t>;
using IntervalSet = boost::icl::interval_set<int64_t, std::less, Interval>;

// Placing large tiles first compares all pairs of tiles.
constexpr size_t kMaxTilesBySize = 20000;
// What addresses are rounded to while there is room.
constexpr int64_t kRoomyAlignment = 64;
// Tiles spread over so many times the bytes that are live at once before a
// place is used again: enough that none waits for an earlier one to be done
// with it (further apart changes no simulated time of our kernels), and few
// enough that the host's caches hold what is in use.
constexpr int64_t kSpread = 5;

Interval SpanOf(const LiveTile& tile) {
  return Interval(tile.address, tile.address + tile.size);
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The first address from `at` that suits a tile of `size`.
int64_t Suitable(const Region& region, int64_t at, int64_t size,
                 int64_t alignment) {
  at = RoundUp(at, alignment);
  if (region.bank == 0) return at;
  if (size > region.bank) return RoundUp(at, region.bank);
  const bool straddles = at / region.bank != (at + size - 1) / region.bank;
  return straddles ? RoundUp(at, region.bank) : at;
}

// The lowest suitable address from `from` on with all of the tile in `free`.
std::optional<int64_t> FindRoom(const Region& region, const IntervalSet& free,
                                int64_t from, int64_t size, int64_t alignment) {
  auto it = free.lower_bound(Interval(from, from + 1));
  for (; it != free.end(); ++it) {
    const int64_t at =
        Suitable(region, std::max(from, it->lower()), size, alignment);
    if (at + size <= it->upper()) return at;
  }
  return std::nullopt;
}

// The obstacles that a tile may meet, for tiles in the order of `first`.
class Obstacles {
 public:
  explicit Obstacles(const std::vector<LiveTile>& all) : all_(all) {}

  // Calls visit(obstacle) for each obstacle that is live while `tile` is.
  template <typename Visit>
  void ForEach(const LiveTile& tile, Visit visit) {
    for (; next_ < all_.size() && all_[next_].first <= tile.first; ++next_) {
      begun_.push_back(next_);
    }
    std::erase_if(begun_, [&](size_t i) { return all_[i].last < tile.first; });
    for (size_t i : begun_) visit(all_[i]);
    for (size_t i = next_; i < all_.size() && all_[i].first <= tile.last; ++i) {
      visit(all_[i]);
    }
  }

 private:
  const std::vector<LiveTile>& all_;
  size_t next_ = 0;            // those before have begun
  std::vector<size_t> begun_;  // and not ended
};

using Expiry = std::pair<uint32_t, size_t>;  // last, tile
using Expiries =
    std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>>;

// Places tiles in the order of their first use. Returns the first that does
// not fit.
class InOrder {
 public:
  // `late`: reuse space as late as possible. Addresses are multiples of
  // `alignment`, and of the tile's own.
  InOrder(const Region& region, const std::vector<LiveTile>& obstacles,
          bool late, int64_t alignment)
      : region_(region),
        late_(late),
        alignment_(alignment),
        obstacles_(obstacles) {
    free_.add(Interval(0, region.size));
  }

  std::optional<size_t> Place(std::vector<LiveTile>& tiles) {
    turn_ = region_.size;
    if (late_ && region_.bank == 0) {
      turn_ = std::min(turn_, kSpread * MostLive(tiles));
    }
    for (size_t i = 0; i < tiles.size(); ++i) {
      Expire(tiles, tiles[i].first);
      if (!Place(tiles[i])) return i;
      free_.subtract(SpanOf(tiles[i]));
      live_.push({tiles[i].last, i});
    }
    return std::nullopt;
  }

 private:
  void Expire(const std::vector<LiveTile>& tiles, uint32_t now) {
    for (; !live_.empty() && live_.top().first < now; live_.pop()) {
      free_.add(SpanOf(tiles[live_.top().second]));
    }
  }

  // The most bytes that are live at once.
  int64_t MostLive(const std::vector<LiveTile>& tiles) const {
    Expiries live;
    int64_t now = 0, most = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
      for (; !live.empty() && live.top().first < tiles[i].first; live.pop()) {
        now -= RoundUp(tiles[live.top().second].size, alignment_);
      }
      now += RoundUp(tiles[i].size, alignment_);
      most = std::max(most, now);
      live.push({tiles[i].last, i});
    }
    return most;
  }

  // Room behind the tile before, or from the start where that ends the turn.
  std::optional<int64_t> Find(const IntervalSet& free, const LiveTile& tile,
                              int64_t alignment) const {
    const auto behind = FindRoom(region_, free, cursor_, tile.size, alignment);
    if (cursor_ == 0 || (behind && *behind + tile.size <= turn_)) return behind;
    const auto low = FindRoom(region_, free, 0, tile.size, alignment);
    if (!behind || (low && *low + tile.size <= turn_)) return low;
    return behind;
  }

  bool Place(LiveTile& tile) {
    bool blocked = false;
    IntervalSet room;
    obstacles_.ForEach(tile, [&](const LiveTile& obstacle) {
      if (!blocked) room = free_;
      blocked = true;
      room.subtract(SpanOf(obstacle));
    });
    const IntervalSet& free = blocked ? room : free_;
    const int64_t alignment = std::max(tile.alignment, alignment_);
    const std::optional<int64_t> at = Find(free, tile, alignment);
    if (!at) return false;
    tile.address = *at;
    if (late_) cursor_ = *at + tile.size;
    return true;
  }

  const Region region_;
  const bool late_;
  const int64_t alignment_;
  Obstacles obstacles_;
  IntervalSet free_;  // of tiles, obstacles not regarded
  int64_t cursor_ = 0;
  int64_t turn_ = 0;  // where the cursor goes back to the start
  Expiries live_;
};

// Places large tiles first, at the lowest address that is free all their life.
bool PlaceBySize(const Region& region, const std::vector<LiveTile>& obstacles,
                 std::vector<LiveTile>& tiles) {
  if (tiles.size() > kMaxTilesBySize) return false;
  std::vector<size_t> order(tiles.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tiles[a].size > tiles[b].size;
  });
  std::vector<size_t> placed;
  for (size_t i : order) {
    IntervalSet free;
    free.add(Interval(0, region.size));
    for (const LiveTile& obstacle : obstacles) {
      if (obstacle.Meets(tiles[i])) free.subtract(SpanOf(obstacle));
    }
    for (size_t other : placed) {
      if (tiles[other].Meets(tiles[i])) free.subtract(SpanOf(tiles[other]));
    }
    const auto at =
        FindRoom(region, free, 0, tiles[i].size, tiles[i].alignment);
    if (!at) return false;
    tiles[i].address = *at;
    placed.push_back(i);
  }
  return true;
}

}  // namespace

std::optional<size_t> PlaceTiles(const Region& region,
                                 const std::vector<LiveTile>& obstacles,
                                 std::vector<LiveTile>& tiles) {
  std::optional<size_t> failed =
      InOrder(region, obstacles, true, kRoomyAlignment).Place(tiles);
  if (failed) failed = InOrder(region, obstacles, true, 1).Place(tiles);
  if (failed) failed = InOrder(region, obstacles, false, 1).Place(tiles);
  if (failed && PlaceBySize(region, obstacles, tiles)) failed.reset();
  return failed;
}

}  // namespace trnemu
