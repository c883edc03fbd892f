// The chips, switches and links of a system as a graph, and ways through it.
#ifndef TRNEMU_COLLECTIVES_FABRIC_H_
#define TRNEMU_COLLECTIVES_FABRIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/topology.h"
#include "isa/system.h"

namespace trnemu {

// Of a system's first chips, as many as can reach each other without the
// network, or a multiple: a domain, the nodes of a ring of nodes.
class Fabric {
 public:
  Fabric(const SystemDescription& system, int domains);

  int chips() const { return chips_; }
  int domain_chips() const { return domain_chips_; }
  const std::vector<Link>& links() const { return links_; }
  bool failed(int32_t link) const {
    return failed_[static_cast<size_t>(link)] != 0;
  }
  bool any_failed() const { return !failed_links_.empty(); }
  // In the order in which they failed.
  const std::vector<int32_t>& failed_links() const { return failed_links_; }
  void Fail(int32_t link);
  // The link from a chip to another one; -1: not joined directly.
  int32_t Direct(int from_chip, int to_chip) const;
  // Chips joined directly to a chip, ascending.
  std::vector<int32_t> NeighboursOf(int chip) const;
  // Of a torus, a ring or a line; of nodes in rings their number comes last.
  const std::vector<int>& dims() const { return dims_; }
  bool wraps(size_t dim) const { return wraps_[dim]; }
  // By dimension, where a chip is in its domain.
  std::vector<int> CoordinatesOf(int chip) const;

  // Links of the way that Topology::Route documents; false if none is left.
  bool Route(int from, int to, std::vector<int32_t>& links) const;

 private:
  struct Edge {
    int32_t to = -1;    // a vertex: chips, then switches, the network
    int32_t link = -1;  // there
    int32_t back = -1;  // and back
  };
  int AddVertex(int domain);
  // Both directions.
  void Join(int a, int b, Link::Kind there, Link::Kind back, double bandwidth,
            double latency_there, double latency_back);
  std::string NameOf(int vertex) const;
  void AddGrid(const SystemDescription& system);
  void AddSwitches(const SystemDescription& system);
  void AddNetwork(const SystemDescription& system);
  int DomainOf(int vertex) const {
    return domain_[static_cast<size_t>(vertex)];
  }
  // Of the way without failures, the vertices after the first one.
  std::vector<int> Vertices(int from, int to) const;
  void GridVertices(int from, int to, std::vector<int>& out) const;
  void SwitchVertices(int from, int to, std::vector<int>& out) const;
  const Edge* EdgeBetween(int from, int to) const;
  bool Detour(int from, int to, std::vector<int32_t>& links) const;

  SystemDescription::Join join_;
  int chips_ = 0, domain_chips_ = 0;
  std::vector<int> dims_;
  std::vector<bool> wraps_;  // by dimension: not that of a line
  int server_chips_ = 0;     // with switches
  int rack_chips_ = 0;
  int first_server_switch_ = 0, first_rack_switch_ = -1;
  int network_ = -1;                      // vertices; -1: none
  std::vector<std::string> names_;        // of vertices that are no chips
  std::vector<int> domain_;               // by vertex; -1: the network
  std::vector<std::vector<Edge>> edges_;  // by vertex, ascending
  std::vector<Link> links_;
  std::vector<char> failed_;
  std::vector<int32_t> failed_links_;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_FABRIC_H_
