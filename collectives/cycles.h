// Hamiltonian cycles that share no edge: what several rings at once run over.
#ifndef TRNEMU_COLLECTIVES_CYCLES_H_
#define TRNEMU_COLLECTIVES_CYCLES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace trnemu {

// Of an undirected graph without loops, by vertex its neighbours in ascending
// order: as many cycles over all vertices as a search of bounded length finds,
// no two with an edge in common; none if there are fewer than three vertices.
// Each starts with vertex 0 and goes on to the lower of its two neighbours
// there. The same graph gives the same cycles.
std::vector<std::vector<int32_t>> EdgeDisjointCycles(
    std::span<const std::vector<int32_t>> neighbours);

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_CYCLES_H_
