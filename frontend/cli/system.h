// Systems of chips: finding, describing and drawing them.
#ifndef TRNEMU_FRONTEND_CLI_SYSTEM_H_
#define TRNEMU_FRONTEND_CLI_SYSTEM_H_

#include <memory>
#include <string>
#include <vector>

#include "collectives/topology.h"
#include "frontend/cli/common.h"
#include "isa/system.h"

namespace trnemu::cli {

// By name (isa/system.h), or the description in a file of that name.
absl::StatusOr<std::shared_ptr<const SystemDescription>> SystemOf(
    const std::string& name);

// Its first `ranks` (0: all) of `lnc` cores (0: two where the cores can).
absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(
    const std::shared_ptr<const SystemDescription>& system, int ranks, int lnc,
    const std::vector<std::string>& failed);

// How its chips are joined, at most 100 columns; failed links are crossed out.
std::string Drawing(const Topology& topology);

// info --system: what to show.
struct SystemArgs {
  std::string name, only;  // "", "constants" or "description"
  int ranks = 0;           // 0: all
  int lnc = 0;             // 0: 2 where the cores can, else 1
  std::vector<std::string> failed;
  bool json = false;
};
int ShowSystem(const SystemArgs& args);
int ShowSystems(bool json);  // info --systems

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_SYSTEM_H_
