// Reading the description of a system, with the path of what is refused.
#include <algorithm>
#include <optional>
#include <string>

#include "isa/diagnostic.h"
#include "isa/hardware_internal.h"
#include "isa/system.h"

namespace trnemu {
namespace {

using hardware::Error;
using hardware::PbConstant;
using Join = SystemDescription::Join;

static_assert(static_cast<int>(Join::kSingle) + 1 == pb::System::SINGLE);
static_assert(static_cast<int>(Join::kSwitch) + 1 == pb::System::SWITCH);

// A count of things that there must be at least one of.
absl::Status ReadCount(const PbConstant& in, std::string_view path, int& out) {
  if (in.value() < 1 || in.value() > kMaxChips) {
    return Error(path, ".value is ", in.value(), "; it must be 1 to ",
                 kMaxChips);
  }
  out = static_cast<int>(in.value());
  return absl::OkStatus();
}

// An optional constant that a system has exactly if `needed`; and one that it
// may have whether or not.
enum class Need { kNo, kMay, kYes };
struct Optional {
  const char* path;
  bool present;
  Need need;
  const char* why;  // "a torus", "nodes in rings"
};
absl::Status CheckNeeds(std::initializer_list<Optional> constants) {
  for (const Optional& c : constants) {
    if (c.present && c.need == Need::kNo) {
      return Error(c.path, " is of ", c.why, ", which this system has not");
    }
    if (!c.present && c.need == Need::kYes) {
      return Error(c.path, " is missing; ", c.why, " needs it");
    }
  }
  return absl::OkStatus();
}
Need YesIf(bool yes) { return yes ? Need::kYes : Need::kNo; }

absl::Status ReadTorus(const pb::System::Layout& in, SystemDescription& out) {
  absl::Status status =
      CheckNeeds({{"layout.torus", in.torus_size() > 0,
                   YesIf(out.join == Join::kTorus), "a torus"}});
  int64_t product = 1;
  for (int i = 0; status.ok() && i < in.torus_size(); ++i) {
    int count = 0;
    status =
        ReadCount(in.torus(i), hardware::Join("layout.torus[", i, "]"), count);
    out.dims.push_back(count);
    product = std::min<int64_t>(product * count, int64_t{kMaxChips} + 1);
  }
  if (status.ok() && out.join == Join::kTorus &&
      product != out.chips_per_node) {
    return Error("layout.torus has ", product,
                 " chips, but layout.chips_per_node is ", out.chips_per_node);
  }
  return status;
}

absl::Status ReadSwitches(const pb::System::Layout& in,
                          SystemDescription& out) {
  const bool switches = out.join == Join::kSwitch;
  absl::Status status =
      CheckNeeds({{"layout.chips_per_switch", in.has_chips_per_switch(),
                   YesIf(switches), "join SWITCH"},
                  {"layout.racks", in.has_racks(),
                   switches ? Need::kMay : Need::kNo, "join SWITCH"}});
  if (!status.ok() || !switches) return status;
  status = ReadCount(in.chips_per_switch(), "layout.chips_per_switch",
                     out.chips_per_switch);
  if (status.ok() && in.has_racks()) {
    status = ReadCount(in.racks(), "layout.racks", out.racks);
  }
  if (!status.ok()) return status;
  if (out.racks > 2) {
    return Error("layout.racks.value is ", out.racks,
                 "; direct links join two racks at most");
  }
  if (out.chips_per_node % (out.racks * out.chips_per_switch) != 0) {
    return Error("layout.chips_per_node is ", out.chips_per_node,
                 ", which is no multiple of layout.racks x "
                 "layout.chips_per_switch, ",
                 out.racks * out.chips_per_switch);
  }
  return absl::OkStatus();
}

absl::Status CheckJoin(const SystemDescription& out) {
  const int chips = out.chips_per_node;
  if (out.join == Join::kSingle && chips != 1) {
    return Error("layout.chips_per_node.value is ", chips,
                 ", but layout.join is SINGLE: one chip");
  }
  if (out.join != Join::kSingle && chips == 1) {
    return Error(
        "layout.chips_per_node.value is 1; layout.join of one chip is "
        "SINGLE");
  }
  if (int64_t{out.nodes} * chips > kMaxChips) {
    return Error("layout.nodes x layout.chips_per_node is ",
                 int64_t{out.nodes} * chips, "; it must be at most ",
                 kMaxChips);
  }
  if (out.nodes % out.nodes_in_ring != 0) {
    return Error("layout.nodes is ", out.nodes,
                 ", which is no multiple of layout.nodes_in_ring, ",
                 out.nodes_in_ring);
  }
  return absl::OkStatus();
}

absl::Status ReadLayout(const pb::System::Layout& in, SystemDescription& out) {
  out.join = static_cast<Join>(in.join() - 1);
  absl::Status status = ReadCount(in.nodes(), "layout.nodes", out.nodes);
  if (status.ok()) {
    status = ReadCount(in.chips_per_node(), "layout.chips_per_node",
                       out.chips_per_node);
  }
  if (status.ok()) {
    status = CheckNeeds({{"layout.nodes_in_ring", in.has_nodes_in_ring(),
                          out.join == Join::kSwitch ? Need::kNo : Need::kMay,
                          "chips that are joined directly"}});
  }
  if (status.ok() && in.has_nodes_in_ring()) {
    status = ReadCount(in.nodes_in_ring(), "layout.nodes_in_ring",
                       out.nodes_in_ring);
  }
  if (status.ok()) status = CheckJoin(out);
  if (status.ok()) status = ReadTorus(in, out);
  return status.ok() ? ReadSwitches(in, out) : status;
}

absl::Status ReadChip(const pb::System::Chip& in, SystemDescription& out) {
  absl::Status status = ReadCount(in.cores(), "chip.cores", out.cores_per_chip);
  if (status.ok()) {
    status = ReadCount(in.cc_cores_per_core(), "chip.cc_cores_per_core",
                       out.cc_cores_per_core);
  }
  const int64_t cores = HardwareFor(out.target).memory.cores_per_device;
  if (status.ok() && out.cores_per_chip != cores) {
    return Error("chip.cores.value is ", out.cores_per_chip, ", but a chip of ",
                 Name(out.target), " has ", cores);
  }
  return status;
}

absl::Status CheckLinks(const pb::System::Links& in,
                        const SystemDescription& s) {
  const bool direct =
      s.join == Join::kLine || s.join == Join::kRing || s.join == Join::kTorus;
  const bool rings = s.nodes_in_ring > 1;
  const bool switches = s.join == Join::kSwitch;
  const bool servers =
      switches && s.chips_per_node > s.racks * s.chips_per_switch;
  const bool network = s.nodes > s.nodes_in_ring;
  const bool some = in.has_network_bandwidth() || in.has_network_latency();
  const Need net = network || some ? Need::kYes : Need::kMay;
  return CheckNeeds(
      {{"links.bandwidth", in.has_bandwidth(), YesIf(direct),
        "chips that are joined directly"},
       {"links.node_bandwidth", in.has_node_bandwidth(), YesIf(rings),
        "nodes in rings"},
       {"links.latency", in.has_latency(),
        YesIf(direct || rings || s.racks > 1),
        "chips that are joined directly"},
       {"links.switch_bandwidth", in.has_switch_bandwidth(), YesIf(switches),
        "join SWITCH"},
       {"links.rack_switch_bandwidth", in.has_rack_switch_bandwidth(),
        YesIf(servers), "several servers in a rack"},
       {"links.switch_latency", in.has_switch_latency(), YesIf(switches),
        "join SWITCH"},
       {"links.rack_bandwidth", in.has_rack_bandwidth(), YesIf(s.racks > 1),
        "two racks"},
       {"links.network_bandwidth", in.has_network_bandwidth(), net,
        "the network between nodes"},
       {"links.network_latency", in.has_network_latency(), net,
        "the network between nodes"}});
}

absl::Status ReadLinks(const pb::System::Links& in, SystemDescription& out) {
  absl::Status status = CheckLinks(in, out);
  const struct {
    const char* name;
    bool present;
    const PbConstant& constant;
    double& value;
  } bandwidths[] = {
      {"bandwidth", in.has_bandwidth(), in.bandwidth(), out.link_bandwidth},
      {"node_bandwidth", in.has_node_bandwidth(), in.node_bandwidth(),
       out.node_link_bandwidth},
      {"switch_bandwidth", in.has_switch_bandwidth(), in.switch_bandwidth(),
       out.switch_bandwidth},
      {"rack_switch_bandwidth", in.has_rack_switch_bandwidth(),
       in.rack_switch_bandwidth(), out.rack_switch_bandwidth},
      {"rack_bandwidth", in.has_rack_bandwidth(), in.rack_bandwidth(),
       out.rack_link_bandwidth},
      {"network_bandwidth", in.has_network_bandwidth(), in.network_bandwidth(),
       out.network_bandwidth}};
  for (const auto& b : bandwidths) {
    if (!status.ok()) return status;
    if (!b.present) continue;
    if (b.constant.value() <= 0) {
      return Error("links.", b.name, ".value is 0; it must be positive");
    }
    b.value = b.constant.value();
    if (b.constant.status() == pb::Hardware::ASSUMED &&
        b.name != std::string_view("network_bandwidth")) {
      out.assumed_timing = true;
    }
  }
  out.link_latency = in.latency().value();
  out.switch_latency = in.switch_latency().value();
  out.network_latency = in.network_latency().value();
  return status;
}

absl::Status ReadCollectives(const pb::System::Collectives& in,
                             SystemDescription& out) {
  out.cc_step = in.cc_step().value();
  out.start = in.start().value();
  out.finish = in.finish().value();
  out.packet_bytes = in.packet_bytes().value();
  if (in.has_mesh_up_to()) out.mesh_up_to = in.mesh_up_to().value();
  if (in.has_rdh_up_to()) out.rdh_up_to = in.rdh_up_to().value();
  if (out.packet_bytes < 1) {
    return Error("collectives.packet_bytes.value is 0; it must be positive");
  }
  if (in.has_mesh_up_to() && in.has_rdh_up_to() &&
      out.rdh_up_to < out.mesh_up_to) {
    return Error("collectives.rdh_up_to is ", out.rdh_up_to,
                 ", below collectives.mesh_up_to, ", out.mesh_up_to);
  }
  return absl::OkStatus();
}

absl::Status ReadIdentity(const pb::System& in, SystemDescription& out) {
  out.name = in.name();
  if (out.name.find('*') != std::string::npos) {
    return Error("name is \"", out.name,
                 "\"; a * stands for the number of systems");
  }
  const std::optional<Target> target = TargetFromName(in.target());
  if (!target) {
    return Error("target is \"", in.target(),
                 "\"; it must be trn1, trn2 or trn3");
  }
  out.target = *target;
  return absl::OkStatus();
}

absl::Status Read(std::string_view text, SystemDescription& out) {
  pb::System in;
  absl::Status status = hardware::Parse(text, in);
  if (status.ok()) status = hardware::CheckComplete(in, out.constants);
  if (status.ok()) status = ReadIdentity(in, out);
  if (status.ok()) status = ReadLayout(in.layout(), out);
  if (status.ok()) status = ReadChip(in.chip(), out);
  if (status.ok()) status = ReadLinks(in.links(), out);
  if (status.ok()) status = ReadCollectives(in.collectives(), out);
  return status;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SystemDescription>> ParseSystem(
    std::string_view text, std::string_view file) {
  auto out = std::make_shared<SystemDescription>();
  const absl::Status status = Read(text, *out);
  if (!status.ok()) {
    const absl::string_view message = status.message();
    return MakeFault(
        Category::kInput, "system.file",
        hardware::Join(file, " describes no system: ",
                       std::string_view(message.data(), message.size())));
  }
  out->text = std::string(text);
  return out;
}

}  // namespace trnemu
