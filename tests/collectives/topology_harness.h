// What the tests of topologies share.
#ifndef TRNEMU_TESTS_COLLECTIVES_TOPOLOGY_HARNESS_H_
#define TRNEMU_TESTS_COLLECTIVES_TOPOLOGY_HARNESS_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trnemu {

inline std::shared_ptr<const Topology> Make(
    std::string_view name, int ranks, int lnc,
    std::vector<std::string> failed = {}) {
  const auto system = FindSystem(name);
  EXPECT_TRUE(system.ok()) << system.status();
  auto topology = Topology::Make(*system, ranks, lnc, failed);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

inline std::vector<std::string> RouteOf(const Topology& t, int from, int to) {
  std::vector<std::string> names;
  const auto route = t.Route(from, to);
  EXPECT_TRUE(route.ok()) << route.status();
  if (!route.ok()) return {"none"};
  for (const int32_t link : *route) {
    names.push_back(t.links()[static_cast<size_t>(link)].name);
  }
  return names;
}

// Of the links that are up, between chips: from, to.
inline std::set<std::pair<int, int>> LinksUp(const Topology& t) {
  std::set<std::pair<int, int>> up;
  for (size_t i = 0; i < t.links().size(); ++i) {
    const Link& link = t.links()[i];
    if (link.kind == Link::Kind::kChip && !t.failed(static_cast<int32_t>(i))) {
      EXPECT_TRUE(up.emplace(link.from, link.to).second) << link.name;
    }
  }
  return up;
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_COLLECTIVES_TOPOLOGY_HARNESS_H_
