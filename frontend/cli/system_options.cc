#include "frontend/cli/system_options.h"

#include <algorithm>

#include "frontend/cli/system.h"

namespace trnemu::cli {

void AddTopologyOptions(CLI::App& app, SystemOptions& options) {
  const bool has_default = !options.name.empty();
  CLI::Option* system =
      app.add_option("--system", options.name,
                     has_default
                         ? "System of chips: a name (trnemu info --systems), "
                           "NAME*N or the file of a description"
                         : "Run on every rank of a system of chips: a name "
                           "(trnemu info --systems), NAME*N or the file of a "
                           "description")
          ->type_name("NAME|FILE");
  if (has_default) system->capture_default_str();
  const auto of_system = [&](CLI::Option* option) {
    if (!has_default) option->needs(system);
  };
  of_system(app.add_option("--ranks", options.ranks,
                           "So many ranks, on its first chips (default: all)")
                ->type_name("N")
                ->check(CLI::PositiveNumber));
  of_system(app.add_option("--lnc", options.lnc,
                           "Physical cores of a rank: 1, or 2 (default where "
                           "the cores can)")
                ->type_name("1|2")
                ->check(CLI::IsMember({1, 2})));
  of_system(app.add_option("--fail-link", options.failed,
                           "Links that have failed: 3-7 between two chips, or "
                           "a link's name")
                ->type_name("LINK"));
}

void AddClusterOptions(CLI::App& app, SystemOptions& options,
                       const std::string& algorithm_help,
                       const std::vector<std::string>& more) {
  CLI::Option* system = app.get_option("--system");
  const bool has_default = !options.name.empty();
  std::vector<std::string> algorithms(kAlgorithmNames.begin(),
                                      kAlgorithmNames.end());
  std::string list;
  for (const std::string& name : algorithms) {
    if (name != "auto") list += Cat(list.empty() ? "" : ", ", name);
  }
  algorithms.insert(algorithms.end(), more.begin(), more.end());
  CLI::IsMember known(algorithms);
  known.description("");  // too long a word for the help
  CLI::Option* algorithm = app.add_option("--algorithm", options.algorithm,
                                          Cat(algorithm_help, ": ", list))
                               ->type_name("NAME")
                               ->capture_default_str()
                               ->check(known);
  CLI::Option* packet =
      app.add_option("--packet-bytes", options.packet_bytes,
                     "DMA packets of collectives (default: the system's, "
                     "64 KiB; compute's have 4 KiB)")
          ->type_name("N")
          ->check(CLI::PositiveNumber);
  CLI::Option* threads =
      app.add_option("--threads", options.threads,
                     "Of this host; bits and times do not depend on it")
          ->type_name("N")
          ->check(CLI::Range(1, 1024));
  if (has_default) return;
  algorithm->needs(system);
  packet->needs(system);
  threads->needs(system);
}

absl::StatusOr<std::shared_ptr<const Topology>> TopologyOf(
    const SystemOptions& options) {
  const auto system = SystemOf(options.name);
  if (!system.ok()) return system.status();
  return MakeTopology(*system, options.ranks, options.lnc, options.failed);
}

ClusterOptions ClusterOptionsOf(const SystemOptions& options) {
  ClusterOptions cluster;
  cluster.threads = options.threads;
  cluster.packet_bytes = options.packet_bytes;
  const auto algorithm =
      FromName<Algorithm>(kAlgorithmNames, options.algorithm);
  cluster.algorithm = algorithm.value_or(Algorithm::kAuto);
  return cluster;
}

std::string Describe(const Topology& topology) {
  return Cat(
      topology.system().name, ": ", Count(topology.ranks(), "rank"), " (lnc ",
      topology.lnc(), ") on ", Count(topology.chips(), "chip"),
      topology.nodes() > 1 ? Cat(" of ", topology.nodes(), " nodes") : "");
}

Json ToJson(const Topology& topology) {
  const SystemDescription& system = topology.system();
  Json json;
  json["name"] = system.name;
  json["target"] = std::string(Name(system.target));
  json["ranks"] = topology.ranks();
  json["lnc"] = topology.lnc();
  json["chips"] = topology.chips();
  json["nodes"] = topology.nodes();
  json["failed_links"] = Json::array();
  for (size_t i = 0; i < topology.links().size(); ++i) {
    if (!topology.failed(static_cast<int32_t>(i))) continue;
    json["failed_links"].push_back(topology.links()[i].name);
  }
  json["assumed_timing"] = system.assumed_timing;
  return json;
}

std::string SizeText(int64_t bytes) {
  constexpr std::pair<int, const char*> kUnits[] = {
      {30, " GiB"}, {20, " MiB"}, {10, " KiB"}};
  for (const auto& [bits, name] : kUnits) {
    const int64_t unit = int64_t{1} << bits;
    if (bytes >= unit && bytes % unit == 0) return Cat(bytes / unit, name);
  }
  return Cat(bytes, " B");
}

std::string AlgorithmText(Algorithm algorithm, Algorithm inside,
                          Algorithm between) {
  std::string text(Name(algorithm));
  if (algorithm != Algorithm::kHierarchical) return text;
  return Cat(text, " (", Name(inside), ", ", Name(between), ")");
}

}  // namespace trnemu::cli
