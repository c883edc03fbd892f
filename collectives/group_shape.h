// The shape of a replica group on a fabric.
#ifndef TRNEMU_COLLECTIVES_GROUP_SHAPE_H_
#define TRNEMU_COLLECTIVES_GROUP_SHAPE_H_

#include <cstdint>
#include <span>

#include "collectives/fabric.h"
#include "collectives/problem.h"

namespace trnemu {

// Of ranks that are on the fabric, each once.
GroupShape ShapeOn(const Fabric& fabric, int ranks_per_chip, int chips_per_node,
                   std::span<const int32_t> group);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_GROUP_SHAPE_H_
