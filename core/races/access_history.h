// Who touched the bytes of one memory (SBUF or PSUM of a core, or an HBM
// tensor): each access is held against those before it that it is not known to
// follow.
//
// The bytes of a partition (a row, see BoxOf) are cut into segments, each with
// the accesses that no later one has replaced: a write replaces what it covers,
// a read the reads of its own lane that it covers and knows. What is replaced
// is ordered before what replaced it, or that race has been found.
#ifndef TRNEMU_CORE_RACES_ACCESS_HISTORY_H_
#define TRNEMU_CORE_RACES_ACCESS_HISTORY_H_

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "core/races/clocks.h"
#include "isa/passes/footprint.h"
#include "isa/program.h"

namespace trnemu {

// An access of an instruction in a run.
struct RaceAccess {
  Work work;               // its completion
  uint32_t step = 0;       // which step it belongs to, by number
  uint32_t core = 0;       // whose memory it is
  uint32_t sequencer = 0;  // that executed or triggered it
  const Instruction* instruction = nullptr;
  uint32_t tensor = kNoTensor;
  uint16_t operand = 0;  // slot; kIndexOperand: of indices
  bool write = false;
  bool owns = true;  // a write that leaves data (not a reset)
  // Only some bytes of the footprint are touched.
  bool vague = false;
  uint32_t position = 0;  // in the sequencer's loops (RaceDetector)
  Footprint footprint;
};
inline constexpr uint16_t kIndexOperand = 0xffff;

// The first bytes that both touch, exactly.
struct Overlap {
  uint32_t first_partition = 0, end_partition = 0;
  int64_t begin = 0, end = 0;
};
bool FindOverlap(const Footprint& a, const Footprint& b, Overlap& overlap);

// What is done with what an access meets.
class RaceSink {
 public:
  virtual ~RaceSink() = default;
  // `earlier` touches bytes of `later` (exactly so), one of them writes, and
  // nothing that `later` knows orders them.
  virtual void Unordered(const RaceAccess& earlier, const RaceAccess& later,
                         const Overlap& where) = 0;
  // `read` reads bytes that `writer`, through another tensor, wrote last; the
  // first of them.
  virtual void Foreign(const RaceAccess& writer, const RaceAccess& read,
                       const Overlap& where) = 0;
};

class AccessHistory {
 public:
  // Of `bytes` a partition, or in all in HBM, on chip or not. `pitch`: of a
  // tensor in HBM, the bytes of a row that its tiles are parts of; 0: none.
  AccessHistory(int64_t bytes, bool on_chip, int64_t pitch = 0);

  // Enters an access that happens with `clock`. An instruction's reads come
  // before its writes. `least`: what every engine knows.
  void Enter(const RaceAccess& access, Clock clock, Clock least,
             RaceSink& sink);

 private:
  struct Record {
    RaceAccess access;
    uint64_t compared_at = 0;  // the number of the access ...
    bool touches = false;      // ... and what was found
    uint32_t references = 0;   // segments that list it
    Box box;
  };
  using List = boost::container::small_vector<uint32_t, 4>;
  struct Segment {
    int64_t begin = 0, end = 0;
    List records;  // in the order in which they were entered
    // All of this tensor's bytes here are known to be its own; kNoTensor: not
    // examined.
    uint32_t owner = kNoTensor;
    uint32_t compact_at = 32;
  };
  using Page = std::vector<Segment>;

  void EnterPage(Page& page, int64_t begin, int64_t end);
  void Split(Page& page, size_t index, int64_t at);
  void Update(Segment& segment);
  void Meet(Record& record);
  bool Replaces(const Record& record) const;
  bool CoversHere(const Record& record) const;
  // Whether a read finds bytes of another tensor, on chip.
  void CheckOwner(Segment& segment);
  // Who wrote each byte of the segment in a partition last: positions in the
  // list, counted from 1.
  void Paint(const Segment& segment, uint32_t partition);
  void DropHidden(Segment& segment);
  void Compact(Segment& segment);
  void MergeEqual(Page& page, size_t first, size_t last);
  uint32_t NewRecord(const RaceAccess& access);
  void Release(uint32_t id);

  const bool on_chip_;
  const int64_t pitch_;
  int64_t page_size_;  // bytes; with a pitch, rows
  std::vector<Page> pages_;
  std::vector<Record> records_;
  std::vector<uint32_t> unused_;
  uint64_t accesses_ = 0;
  // The access that is being entered.
  uint32_t mine_ = 0;
  Clock clock_, least_;
  RaceSink* sink_ = nullptr;
  bool foreign_found_ = false;
  int64_t page_begin_ = 0, page_end_ = 0;  // with a pitch, its rows
  std::vector<uint16_t> painted_;
  std::vector<bool> visible_;  // by position in the list
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_RACES_ACCESS_HISTORY_H_
