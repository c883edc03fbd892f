// The description of a system: chips, how they are joined, and what that costs.
//
// isa/systems/*.textproto hold them, as isa/hardware/*.textproto hold cores;
// message System of hardware.proto. A user's file has the same format. Every
// number says how it is known.
#ifndef TRNEMU_ISA_SYSTEM_H_
#define TRNEMU_ISA_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "isa/hardware.h"

namespace trnemu {

struct SystemDescription {
  enum class Join : uint8_t {
    kSingle,  // one chip
    kRing,    // chips of a node in a ring
    kTorus,   // of `dims`
    kSwitch,  // every chip to a switch of its server; servers to each other
              // through further switches
  };
  std::string name;
  Target target = Target::kTrn2;
  Join join = Join::kSingle;
  int nodes = 1;
  int chips_per_node = 1;
  std::vector<int> dims;  // kTorus: of a node; the product is chips_per_node
  // Chips at the same place of all nodes joined in rings (UltraServer).
  bool nodes_in_rings = false;
  int chips_per_switch = 0;  // kSwitch: of a server
  int cores_per_chip = 8;    // physical
  int cc_cores_per_core = 2;
  // In one direction, B/ns. Of a link between two chips of a node; between
  // nodes in rings; of a chip to its server's switch and to the next one; of a
  // chip to the network.
  double link_bandwidth = 0, node_link_bandwidth = 0;
  double switch_bandwidth = 0, second_switch_bandwidth = 0;
  double network_bandwidth = 0;
  // Per link of a route, ns; of the network from chip to chip.
  double link_latency = 0, switch_latency = 0, network_latency = 0;
  // ns: a collective core takes up a move; from the last member's trigger to
  // its first move; from the last arrival to the semaphore.
  double cc_step = 0, start = 0, finish = 0;
  double packet_bytes = 65536;  // of DMA, beside 4096 of compute
  // The documented ranges of the automatic choice, bytes (-1: no such range):
  // mesh up to and with, then recursive doubling and halving, then KangaRing.
  double mesh_up_to = 0, rdh_up_to = 0;
  bool assumed_timing = false;  // documents conflict (trn3)
  std::string text;             // the description as written, for `info`
};

// By name, case-insensitive; `input` (option.system) naming the nearest and all
// there are.
absl::StatusOr<std::shared_ptr<const SystemDescription>> FindSystem(
    std::string_view name);
std::vector<std::string> SystemNames();
// A user's file. `input` (system.file) with the field's path if something is
// missing, negative, of the wrong unit, or does not fit together.
absl::StatusOr<std::shared_ptr<const SystemDescription>> ParseSystem(
    std::string_view text, std::string_view file);

}  // namespace trnemu

#endif  // TRNEMU_ISA_SYSTEM_H_
