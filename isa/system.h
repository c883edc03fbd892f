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

inline constexpr int kMaxChips = 65536;  // of a system

struct SystemDescription {
  enum class Join : uint8_t {
    kSingle,  // one chip
    kLine,    // each chip of a node to the next one
    kRing,    // and the last one to the first
    kTorus,   // of `dims`
    kSwitch,  // every chip to the switch of its server, and to that of its rack
  };
  std::string name;  // "trn2.48xlarge", "trn2.48xlarge*4"
  Target target = Target::kTrn2;
  Join join = Join::kSingle;
  int nodes = 1;
  int chips_per_node = 1;
  // kTorus: of a node; the product is chips_per_node. Chip i of a node is at
  // i % dims[0], i / dims[0] % dims[1], ... A dimension of two chips has one
  // link between them.
  std::vector<int> dims;
  // So many successive nodes are joined in a ring, chip i of one to chip i of
  // the next (UltraServer: 4). 1: only the network joins nodes.
  int nodes_in_ring = 1;
  // kSwitch: of a server; racks of a node, whose chips at the same place have a
  // direct link.
  int chips_per_switch = 0;
  int racks = 1;
  int cores_per_chip = 8;  // physical
  int cc_cores_per_core = 2;
  // In one direction, B/ns; 0: none such. Of a link between two chips of a
  // node; between nodes in rings; of a chip to the switch of its server and to
  // that of its rack; to the chip at its place of the other rack; of a chip to
  // the network.
  double link_bandwidth = 0, node_link_bandwidth = 0;
  double switch_bandwidth = 0, rack_switch_bandwidth = 0;
  double rack_link_bandwidth = 0;
  double network_bandwidth = 0;
  // Per link of a route, ns (through a switch: two links); of the network from
  // chip to chip.
  double link_latency = 0, switch_latency = 0, network_latency = 0;
  // ns: a collective core takes up a move; from the last member's trigger to
  // its first move; from the last arrival to the semaphore.
  double cc_step = 0, start = 0, finish = 0;
  double packet_bytes = 65536;  // of DMA, beside 4096 of compute
  // The documented ranges of the automatic choice, bytes (-1: no such range):
  // mesh up to and with, then recursive doubling and halving up to and with,
  // then KangaRing.
  double mesh_up_to = -1, rdh_up_to = -1;
  bool assumed_timing = false;  // a bandwidth is assumed: documents conflict
  std::vector<ConstantInfo> constants;  // in the file's order
  std::string text;  // the description as written, for `info`

  int chips() const { return nodes * chips_per_node; }
  int cores() const { return chips() * cores_per_chip; }
  bool has_network() const { return network_bandwidth > 0; }
};
std::string_view Name(SystemDescription::Join join);

// By name, case-insensitive; "NAME*N" is N of them joined by the network, at
// most 65536 chips in all. `input` (option.system) naming the nearest and all
// there are, or saying that its nodes have no network.
absl::StatusOr<std::shared_ptr<const SystemDescription>> FindSystem(
    std::string_view name);
std::vector<std::string> SystemNames();
// A user's file. `input` (system.file) with the field's path if something is
// missing, negative, of the wrong unit, or does not fit together.
absl::StatusOr<std::shared_ptr<const SystemDescription>> ParseSystem(
    std::string_view text, std::string_view file);

}  // namespace trnemu

#endif  // TRNEMU_ISA_SYSTEM_H_
