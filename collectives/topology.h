// Where ranks are, and the links between their chips.
//
// Made from a system's description (isa/system.h). Immutable; shared by
// threads.
#ifndef TRNEMU_COLLECTIVES_TOPOLOGY_H_
#define TRNEMU_COLLECTIVES_TOPOLOGY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/problem.h"
#include "isa/system.h"

namespace trnemu {

// One direction of a connection. Its name: "chip 3 > chip 7"; "chip 3 >
// switch", "switch > chip 3"; "chip 3 > rack switch", "rack switch > chip 3";
// "chip 3 > network", "network > chip 3".
struct Link {
  enum class Kind : uint8_t { kChip, kUp, kDown, kNetwork };
  std::string name;
  Kind kind = Kind::kChip;
  int32_t from = -1, to = -1;  // chips; -1: a switch or the network
  double bandwidth = 0;        // B/ns
  double latency_ns = 0;
};

class Topology {
 public:
  // `ranks` of the system's first chips, in the order of chips and cores; `lnc`
  // physical cores a rank. `failed`: names of links, or "3-7": both directions
  // between two chips. `input` (option.system, option.ranks, option.lnc,
  // option.fail_link) if the system has none such.
  static absl::StatusOr<std::shared_ptr<const Topology>> Make(
      std::shared_ptr<const SystemDescription> system, int ranks, int lnc,
      std::span<const std::string> failed);
  virtual ~Topology() = default;

  virtual const SystemDescription& system() const = 0;
  virtual int ranks() const = 0;
  virtual int lnc() const = 0;
  virtual int ranks_per_chip() const = 0;
  virtual int chips() const = 0;  // that have ranks
  virtual int nodes() const = 0;
  int ChipOf(int rank) const { return rank / ranks_per_chip(); }
  virtual int NodeOfChip(int chip) const = 0;

  // Of the chips that have ranks, and all others that these reach without the
  // network; with the network's only if ranks reach each other through it.
  virtual std::span<const Link> links() const = 0;
  virtual bool failed(int32_t link) const = 0;  // an index into links()
  // Links that data goes through, in order, as indices into links(); empty
  // between ranks of one chip. Dimension by dimension on a torus, the shorter
  // way round (the positive one of two equal ones); through the switch of a
  // server, else of a rack, then to the other rack; through the network out of
  // one chip into the other, never inside a node or a ring of nodes. If a link
  // of that way has failed, of the ways left one of fewest links, the lowest
  // chips first.
  // `input` (link.unreachable) naming both chips and the failed links if there
  // is none.
  virtual absl::StatusOr<std::span<const int32_t>> Route(int from_chip,
                                                         int to_chip) const = 0;
  // Shape of a replica group (ranks in the order given); `input`
  // (collective.group) if a rank is not there, or twice.
  virtual absl::StatusOr<GroupShape> ShapeOf(
      std::span<const int32_t> group) const = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_TOPOLOGY_H_
