// Which accesses to one memory (SBUF, PSUM or an HBM tensor) a later access
// may have to wait for.
#ifndef TRNEMU_ISA_PASSES_REGION_MAP_H_
#define TRNEMU_ISA_PASSES_REGION_MAP_H_

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "isa/passes/footprint.h"
#include "isa/passes/lanes.h"

namespace trnemu {

// Cuts the bytes into segments and keeps, for each, the accesses that no later
// one has replaced. A write replaces what it covers, since whoever comes
// after it waits for it and it waited for them; a read replaces reads of its
// own lane. Where too many remain, the next access is made to wait for all of
// them and stands for them: correct, if more than the data asks for.
//
// A matrix is cut both ways, into bands of rows and segments of these, so that
// its tiles are segments of their own.
//
// Adding costs O(log segments + segments touched * accesses kept there).
class RegionMap {
 public:
  // Rows of `pitch` bytes; 0: all in one.
  explicit RegionMap(int64_t pitch = 0) : pitch_(pitch) {}

  // Enters an access of instruction `event`, which comes after all instructions
  // entered so far, and requires of `needs` the events it depends on. The
  // writes of an instruction must be entered before its reads.
  // An `opaque` one (the end of a loop) neither waits for nor replaces others.
  void Add(Event event, const Footprint& footprint, bool write, Needs& needs,
           bool opaque = false);
  // Requires the events that an access would depend on, without entering it.
  void Check(const Footprint& footprint, bool write, Needs& needs) const;

 private:
  struct Record {
    Event event;
    bool write = false;
    bool opaque = false;
    bool touches = false;      // what was found at ...
    uint64_t compared_at = 0;  // ... this access
    bool full = false;         // has all of the segments that list it
    uint32_t references = 0;   // segments that list it, and Add
    Footprint footprint;
  };
  // Indices into records_.
  using List = boost::container::small_vector<uint32_t, 4>;
  struct Segment {
    int64_t end = 0;
    List records;
    bool operator==(const Segment&) const = default;
  };
  using Segments = std::map<int64_t, Segment>;  // by first byte in the row
  struct Band {
    int64_t end = 0;
    Segments segments;
  };
  using Bands = std::map<int64_t, Band>;  // by first row

  uint32_t NewRecord(Event event, const Footprint& footprint, bool write);
  void Release(uint32_t record);
  bool Conflicts(uint32_t record, uint32_t mine);
  bool Replaces(const Record& mine, const Record& record) const;
  void SplitBand(int64_t row);
  void EnterBand(uint32_t mine, Bands::value_type& band, const Box& box,
                 Needs& needs);
  void MergeBands(int64_t first, int64_t end);
  void Split(Segments& segments, int64_t at);
  void Enter(uint32_t mine, const Bands::value_type& band,
             Segments::value_type& segment, Needs& needs);
  void Collapse(uint32_t mine, const Bands::value_type& band,
                Segments::value_type& segment, Needs& needs);
  void MergeEqual(Segments& segments, int64_t begin, int64_t end);

  const int64_t pitch_;
  Bands bands_;
  std::vector<Record> records_;
  std::vector<uint32_t> unused_;  // of records_
  uint64_t accesses_ = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_ISA_PASSES_REGION_MAP_H_
