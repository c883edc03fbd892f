// Where a stream is in its loops, so that "program order" means something for
// streams that go round: an instruction of an earlier iteration comes first.
#ifndef TRNEMU_CORE_LOOP_POSITION_H_
#define TRNEMU_CORE_LOOP_POSITION_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "isa/program.h"

namespace trnemu {

// The loops of one stream: what lies between the target of a branch that goes
// back and that branch.
class StreamLoops {
 public:
  struct Span {
    size_t first = 0, last = 0;  // indices into the stream
    uint32_t order = 0;          // the loop's place, the same in all streams
  };
  // `places` are of the core, from FindLoopPlaces.
  StreamLoops(const CoreProgram& core, const std::vector<Instruction>& stream,
              const std::map<int64_t, uint32_t>& places);

  bool empty() const { return spans_.empty(); }
  std::span<const Span> spans() const { return spans_; }

 private:
  std::vector<Span> spans_;  // outer ones before inner ones
};

// By loop number of a core: the largest order of the branches before its body.
std::map<int64_t, uint32_t> FindLoopPlaces(const CoreProgram& core);

// What a run needs to know of one stream, found once for all runs.
struct StreamFacts {
  size_t registers = 0;  // one more than the largest that it names
  StreamLoops loops;
};
// By core, then as kSequencers.
std::vector<StreamFacts> FindStreamFacts(const Program& program);

class LoopPosition {
 public:
  // The stream goes from instruction `from` to `to`. Whether that is another
  // place in its loops.
  bool Move(const StreamLoops& loops, size_t from, size_t to);
  // Whether an instruction of order `mine` here comes before one of order
  // `other` there.
  bool Before(uint32_t mine, const LoopPosition& there, uint32_t other) const;

 private:
  struct Entry {
    size_t span = 0;
    uint32_t order = 0;
    uint64_t iteration = 0;
  };
  std::vector<Entry> entries_;  // outermost first
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_LOOP_POSITION_H_
