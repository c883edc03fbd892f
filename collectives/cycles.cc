#include "collectives/cycles.h"

#include <algorithm>
#include <cstddef>

namespace trnemu {
namespace {

// Of vertices that the search may add to a path; a 4x4 torus takes a hundred.
constexpr int64_t kBudget = 100'000;
// Larger graphs are not searched: the path is a recursion.
constexpr size_t kMaxVertices = 1024;

class Search {
 public:
  Search(std::span<const std::vector<int32_t>> neighbours, size_t wanted)
      : neighbours_(neighbours),
        size_(neighbours.size()),
        wanted_(wanted),
        used_(size_ * size_),
        on_path_(size_) {}

  // Whether there are `wanted` cycles, which cycles() then are.
  bool Run() { return NextCycle(); }
  std::vector<std::vector<int32_t>> TakeCycles() { return std::move(cycles_); }

 private:
  bool Used(int32_t a, int32_t b) const {
    return used_[static_cast<size_t>(a) * size_ + static_cast<size_t>(b)];
  }
  void Use(const std::vector<int32_t>& cycle, bool used) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      const auto a = static_cast<size_t>(cycle[i]);
      const auto b = static_cast<size_t>(cycle[(i + 1) % cycle.size()]);
      used_[a * size_ + b] = used_[b * size_ + a] = used;
    }
  }
  // Neighbours over free edges that are not yet on the path.
  int Ahead(int32_t v) const {
    int n = 0;
    for (const int32_t u : neighbours_[static_cast<size_t>(v)]) {
      n += !Used(v, u) && !on_path_[static_cast<size_t>(u)];
    }
    return n;
  }

  bool NextCycle() {
    if (cycles_.size() == wanted_) return true;
    std::vector<int32_t> outer_path = std::move(path_);
    std::vector<char> outer_on_path = on_path_;
    path_ = {0};
    std::fill(on_path_.begin(), on_path_.end(), 0);
    on_path_[0] = 1;
    const bool found = Extend();
    path_ = std::move(outer_path);
    on_path_ = std::move(outer_on_path);
    return found;
  }

  bool Close() {
    // Each cycle once: not in the other direction, too.
    if (Used(path_.back(), 0) || path_[1] > path_.back()) return false;
    const auto& around = neighbours_[0];
    if (!std::binary_search(around.begin(), around.end(), path_.back())) {
      return false;
    }
    cycles_.push_back(path_);
    const std::vector<int32_t> cycle = path_;
    Use(cycle, true);
    if (NextCycle()) return true;
    Use(cycle, false);
    cycles_.pop_back();
    return false;
  }

  // Whether a vertex that the head passes by can still be entered and left.
  bool NoneIsLost(int32_t left, int32_t head) const {
    for (const int32_t u : neighbours_[static_cast<size_t>(left)]) {
      if (on_path_[static_cast<size_t>(u)]) continue;
      const auto& around = neighbours_[static_cast<size_t>(u)];
      const auto reaches = [&](int32_t v) {
        return std::binary_search(around.begin(), around.end(), v) &&
               !Used(u, v);
      };
      if (Ahead(u) + reaches(head) + (head != 0 && reaches(0)) < 2) {
        return false;
      }
    }
    return true;
  }

  // Goes where least is ahead first: those vertices are the hard ones.
  bool Extend() {
    if (path_.size() == size_) return Close();
    const int32_t head = path_.back();
    std::vector<std::pair<int, int32_t>> next;
    for (const int32_t u : neighbours_[static_cast<size_t>(head)]) {
      if (!Used(head, u) && !on_path_[static_cast<size_t>(u)]) {
        next.emplace_back(Ahead(u), u);
      }
    }
    std::sort(next.begin(), next.end());
    for (const auto& [ahead, u] : next) {
      if (++steps_ > kBudget) return false;
      path_.push_back(u);
      on_path_[static_cast<size_t>(u)] = 1;
      if (NoneIsLost(head, u) && Extend()) return true;
      on_path_[static_cast<size_t>(u)] = 0;
      path_.pop_back();
    }
    return false;
  }

  std::span<const std::vector<int32_t>> neighbours_;
  size_t size_, wanted_;
  int64_t steps_ = 0;
  std::vector<bool> used_;  // edges, by both ends
  std::vector<char> on_path_;
  std::vector<int32_t> path_;
  std::vector<std::vector<int32_t>> cycles_;
};

// Whether the graph has two sides of different size: then no cycle goes through
// all vertices, which the search would take long to find out.
bool IsLopsided(std::span<const std::vector<int32_t>> neighbours) {
  std::vector<int> side(neighbours.size(), 0);
  std::vector<int32_t> reached = {0};
  side[0] = 1;
  int balance = 1;
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto v = static_cast<size_t>(reached[i]);
    for (const int32_t u : neighbours[v]) {
      int& other = side[static_cast<size_t>(u)];
      if (other == side[v]) return false;  // an odd cycle: no two sides
      if (other != 0) continue;
      other = -side[v];
      balance += other;
      reached.push_back(u);
    }
  }
  return balance != 0 || reached.size() < neighbours.size();
}

}  // namespace

std::vector<std::vector<int32_t>> EdgeDisjointCycles(
    std::span<const std::vector<int32_t>> neighbours) {
  if (neighbours.size() < 3 || neighbours.size() > kMaxVertices) return {};
  size_t degree = neighbours[0].size();
  for (const auto& n : neighbours) degree = std::min(degree, n.size());
  if (degree < 2 || IsLopsided(neighbours)) return {};
  for (size_t wanted = degree / 2; wanted > 0; --wanted) {
    Search search(neighbours, wanted);
    if (search.Run()) return search.TakeCycles();
  }
  return {};
}

}  // namespace trnemu
