// The options that name a system and its ranks, and how collectives go there.
#ifndef TRNEMU_FRONTEND_CLI_SYSTEM_OPTIONS_H_
#define TRNEMU_FRONTEND_CLI_SYSTEM_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "collectives/cluster.h"
#include "collectives/topology.h"
#include "frontend/cli/common.h"

namespace trnemu::cli {

struct SystemOptions {
  std::string name;
  int ranks = 0;  // 0: all
  int lnc = 0;    // 0: 2 where the cores can, else 1
  std::vector<std::string> failed;
  std::string algorithm = "auto";
  int64_t packet_bytes = 0;  // 0: the system's
  int threads = 0;           // 0: as many as the host has processors
};

// --system, --ranks, --lnc, --fail-link. All others need --system, unless there
// is a default in options.name.
void AddTopologyOptions(CLI::App& app, SystemOptions& options);
// --packet-bytes, --threads, --algorithm, which takes `more` names, too.
void AddClusterOptions(CLI::App& app, SystemOptions& options,
                       const std::string& algorithm_help,
                       const std::vector<std::string>& more = {});

absl::StatusOr<std::shared_ptr<const Topology>> TopologyOf(
    const SystemOptions& options);
ClusterOptions ClusterOptionsOf(const SystemOptions& options);

// "trn2.48xlarge: 64 ranks (lnc 2) on 16 chips".
std::string Describe(const Topology& topology);
// The same for --json: name, target, ranks, lnc, chips, nodes, failed links,
// assumed_timing.
Json ToJson(const Topology& topology);

// "1 MiB", or the number where it is no whole one of a unit.
std::string SizeText(int64_t bytes);
// "hierarchical (mesh, ring)".
std::string AlgorithmText(Algorithm algorithm, Algorithm inside,
                          Algorithm between);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_SYSTEM_OPTIONS_H_
