// Drawings of systems: grids of chips, switches as boxes, nodes on the network.
#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "frontend/cli/system.h"

namespace trnemu::cli {
namespace {

using Join = SystemDescription::Join;

constexpr size_t kColumns = 100;

std::string Spaces(size_t n) { return std::string(n, ' '); }

// Text in the middle of `width` columns.
std::string Middle(const std::string& text, size_t width, char fill = ' ') {
  std::string out((width - std::min(width, text.size())) / 2, fill);
  out += text;
  out.resize(std::max(out.size(), width), fill);
  return out;
}

// Blocks of as many lines each, beside each other.
std::string Beside(const std::vector<std::vector<std::string>>& blocks,
                   const std::string& between) {
  std::string text;
  for (size_t line = 0; !blocks.empty() && line < blocks[0].size(); ++line) {
    std::string whole;
    for (const auto& block : blocks) {
      whole += Cat(whole.empty() ? "  " : between, block[line]);
    }
    whole.erase(whole.find_last_not_of(' ') + 1);
    text += whole + "\n";
  }
  return text;
}

std::string Cost(double bandwidth, double latency) {
  return absl::StrFormat("%.4g GB/s each way, %.6g ns", bandwidth, latency);
}

class Drawer {
 public:
  explicit Drawer(const Topology& topology)
      : topology_(topology), system_(topology.system()) {
    int chips = 0;
    for (size_t i = 0; i < topology.links().size(); ++i) {
      const Link& link = topology.links()[i];
      chips = std::max({chips, link.from + 1, link.to + 1});
      if (!topology.failed(static_cast<int32_t>(i))) continue;
      const auto ends = std::minmax(link.from, link.to);
      failed_[{ends.first, ends.second}] = true;
    }
    digits_ = Cat(std::max(chips - 1, 0)).size();
    chips_ = std::max(chips, 1);
  }

  std::string Draw() const {
    const int ring = system_.nodes_in_ring;
    const int domain_chips = ring * system_.chips_per_node;
    std::string text = system_.join == Join::kSwitch ? Switches() : Planes();
    if (ring > 1) text += Rings();
    if (chips_ > domain_chips) text += Network(chips_ / system_.chips_per_node);
    return text;
  }

 private:
  bool Failed(int a, int b) const {
    return failed_.count({std::min(a, b), std::max(a, b)}) != 0;
  }
  std::string Chip(int chip) const {
    return absl::StrFormat("[%*d]", static_cast<int>(digits_), chip);
  }

  // Chips side by side; with links of `gap` columns, and at both ends if the
  // row goes round.
  std::string Row(int first, int width, size_t gap, bool wraps) const {
    const auto link = [&](int a, int b) {
      std::string line(gap, '-');
      if (Failed(a, b)) line[gap / 2] = 'x';
      return line;
    };
    const int last = first + width - 1;
    const bool round = wraps && width > 2;
    std::string text = round ? link(last, first) : Spaces(gap);
    for (int chip = first; chip <= last; ++chip) {
      text += Chip(chip);
      if (chip < last) text += link(chip, chip + 1);
    }
    return text + (round ? link(last, first) : Spaces(gap));
  }

  // The links between a row of chips and the one below it.
  std::string Below(int first, int below, int width, size_t gap) const {
    std::string text = Spaces(gap);
    for (int i = 0; i < width; ++i) {
      text += Middle(Failed(first + i, below + i) ? "x" : "|", digits_ + 2) +
              Spaces(gap);
    }
    return text;
  }

  // A node's chips from `first` on, width x height of them.
  std::vector<std::string> Plane(int first, int width, int height,
                                 size_t gap) const {
    const bool round = height > 2;
    const int last = first + (height - 1) * width;
    std::vector<std::string> lines;
    if (round) lines.push_back(Below(last, first, width, gap));
    for (int row = first; row <= last; row += width) {
      lines.push_back(Row(row, width, gap, true));
      if (row < last) lines.push_back(Below(row, row + width, width, gap));
    }
    if (round) lines.push_back(Below(last, first, width, gap));
    return lines;
  }

  // Nodes of the first ring of nodes, by layers of two dimensions.
  std::string Planes() const {
    const auto& dims = system_.dims;
    const int width = dims.empty() ? system_.chips_per_node : dims[0];
    const int height = dims.size() < 2 ? 1 : dims[1];
    const int layers = system_.chips_per_node / (width * height);
    const int planes = layers * system_.nodes_in_ring;
    const size_t gap = planes > 1 ? 1 : 3;
    const size_t columns =
        static_cast<size_t>(width) * (digits_ + 2 + gap) + gap;
    std::string text;
    if (columns + 2 > kColumns || height > 16 || planes > 16) {
      text = Cat("  ", Count(chips_, "chip"), ", too many to draw\n");
    } else if (system_.join == Join::kLine || system_.join == Join::kRing) {
      text = RowOrRing(width, gap);
    } else {
      text = PlanesBeside(width, height, layers, planes, gap, columns);
    }
    if (system_.chips_per_node == 1) return text;
    text += Cat("\n  link of two chips: ",
                Cost(system_.link_bandwidth, system_.link_latency), "\n");
    if (system_.join == Join::kTorus && std::max(width, height) > 2) {
      text += "  what leaves on one side comes back on the other\n";
    }
    if (layers > 1) {
      text += Cat("  and from each layer to the next",
                  layers > 2 ? ", from the last to the first\n" : "\n");
    }
    return text;
  }

  std::string PlanesBeside(int width, int height, int layers, int planes,
                           size_t gap, size_t columns) const {
    const auto beside = static_cast<int>((kColumns - 2) / (columns + 1));
    std::string text;
    for (int first = 0; first < planes; first += std::max(beside, 1)) {
      std::vector<std::vector<std::string>> blocks;
      for (int i = first; i < std::min(first + beside, planes); ++i) {
        blocks.push_back(Plane(i * width * height, width, height, gap));
        if (planes == 1) continue;
        std::string name = Cat("node ", i / layers);
        if (layers > 1) name += Cat(", layer ", i % layers);
        blocks.back().insert(blocks.back().begin(), Middle(name, columns));
      }
      text += Cat(text.empty() ? "" : "\n", Beside(blocks, " "));
    }
    return text;
  }

  std::string RowOrRing(int width, size_t gap) const {
    const std::string row = Row(0, width, gap, system_.join == Join::kRing);
    if (system_.join == Join::kLine || width <= 2) {
      return Beside({{row}}, "");
    }
    const std::string closing = Failed(width - 1, 0) ? "x" : "-";
    return Cat("  +", row, "+\n  |", Spaces(row.size()), "|\n  +",
               std::string(row.size() / 2, '-'), closing,
               std::string(row.size() - row.size() / 2 - 1, '-'), "+\n");
  }

  // The rings over the nodes of the first ring of nodes.
  std::string Rings() const {
    const int stride = system_.chips_per_node;
    std::string text = "\n";
    const int shown = std::min(stride, 2);
    for (int chip = 0; chip < shown; ++chip) {
      std::string line = "  ";
      for (int node = 0; node < system_.nodes_in_ring; ++node) {
        const int at = chip + node * stride;
        const int next = chip + (node + 1) % system_.nodes_in_ring * stride;
        line += Cat(Chip(at), Failed(at, next) ? "=x=" : "===");
      }
      text += Cat(line, Chip(chip), "\n");
    }
    return Cat(text,
               stride > shown ? "  and so on for every chip of a node\n" : "",
               "  link of two nodes: ",
               Cost(system_.node_link_bandwidth, system_.link_latency), "\n");
  }

  // A server: its switch with its chips.
  std::vector<std::string> Server(int first) const {
    const int chips = system_.chips_per_switch;
    std::string names = " ";
    for (int chip = first; chip < first + std::min(chips, 4); ++chip) {
      if (chips <= 4) names += Cat(Chip(chip), " ");
    }
    if (chips > 4)
      names += Cat(Chip(first), " .. ", Chip(first + chips - 1), " ");
    return {Cat("+", Middle(" switch ", names.size(), '-'), "+"),
            Cat("|", names, "|"),
            Cat("+", std::string(names.size(), '-'), "+")};
  }

  // The servers of a rack, and the switch below that joins them.
  std::string Rack(int first, int servers) const {
    const int chips = system_.chips_per_switch;
    const size_t width = Server(first)[0].size() + 2;
    const auto beside = static_cast<int>(std::max<size_t>(kColumns / width, 1));
    std::string text;
    for (int server = 0; server < servers; server += beside) {
      std::vector<std::vector<std::string>> boxes;
      for (int i = server; i < std::min(server + beside, servers); ++i) {
        boxes.push_back(Server(first + i * chips));
      }
      text += Beside(boxes, "  ");
    }
    if (servers == 1) return text;
    const auto boxes = static_cast<size_t>(std::min(servers, beside));
    return Cat(text, "  ", Middle(" rack switch ", boxes * width - 2, '='),
               "\n");
  }

  std::string Switches() const {
    const int rack_chips = system_.chips_per_node / system_.racks;
    const int servers = rack_chips / system_.chips_per_switch;
    std::string text;
    for (int rack = 0; rack < system_.racks; ++rack) {
      if (system_.racks > 1) text += Cat("  rack ", rack, "\n");
      text += Cat(Rack(rack * rack_chips, servers), "\n");
    }
    text += Cat("  chip to the switch of its server: ",
                Cost(system_.switch_bandwidth, system_.switch_latency), "\n");
    if (servers > 1) {
      text += Cat("  chip to the switch of its rack: ",
                  Cost(system_.rack_switch_bandwidth, system_.switch_latency),
                  "\n");
    }
    if (system_.racks == 1) return text;
    return Cat(text, "  chip to the one at its place of the other rack (0 to ",
               rack_chips,
               "): ", Cost(system_.rack_link_bandwidth, system_.link_latency),
               "\n");
  }

  // All nodes on the network.
  std::string Network(int nodes) const {
    constexpr int kShown = 6;
    std::vector<std::vector<std::string>> boxes;
    for (int node = 0; node < std::min(nodes, kShown); ++node) {
      const std::string name = Cat(" node ", node, " ");
      const std::string edge = Cat("+", std::string(name.size(), '-'), "+");
      boxes.push_back(
          {edge, Cat("|", name, "|"), edge, Middle("|", edge.size())});
    }
    std::string text = Cat("\n", Beside(boxes, "  "));
    const size_t width = boxes.size() * (boxes[0][0].size() + 2) - 2;
    text += Cat("  ", std::string(width, '='), " network\n");
    if (nodes > kShown) text += Cat("  ", nodes, " nodes\n");
    return Cat(
        text, "  chip to the network: ",
        absl::StrFormat("%.4g GB/s each way; chip to chip %.6g ns\n",
                        system_.network_bandwidth, system_.network_latency));
  }

  const Topology& topology_;
  const SystemDescription& system_;
  std::map<std::pair<int, int>, bool> failed_;  // by their chips
  size_t digits_ = 1;
  int chips_ = 1;  // drawn
};

}  // namespace

std::string Drawing(const Topology& topology) {
  return Drawer(topology).Draw();
}

}  // namespace trnemu::cli
