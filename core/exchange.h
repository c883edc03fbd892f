// sendrecv: the two cores of a logical core exchange tiles.
//
// The k-th sendrecv of a pipe and path that one core triggers meets the k-th
// that the other does; until then nothing moves (nki/api/nki/isa/__init__.py:
// 2993-3003: a group completes together, other pipes do not hold it up, and
// the path dma starts with a barrier of the cores). Once both are there, a
// joint transfer starts, whose part p is read on both cores before any of it is
// written, so that a tile may be exchanged in place.
#ifndef TRNEMU_CORE_EXCHANGE_H_
#define TRNEMU_CORE_EXCHANGE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/engines/dma.h"
#include "core/execution.h"
#include "core/run.h"
#include "isa/program.h"

namespace trnemu {

// One core's sendrecv, triggered.
struct ExchangeEnd {
  const Instruction* instruction = nullptr;
  size_t core = 0;       // its rank
  size_t sequencer = 0;  // that triggered it, of the runner
  Tile dst, src;
  int64_t send_to = 0;
  int64_t receive_from = 0;
  int64_t pipe = 0;
  DmaEngine path = DmaEngine::kDma;
  uint32_t queue_set = 0;
  Ticks trigger = 0;
  int32_t resolved = -1;  // its signals, as the runner resolved them
  int64_t step = 0;       // of the trace (core/races/trace.h)
  int32_t record = -1;    // of the timeline (core/profile/timeline.h)
};

struct Exchange {
  std::array<ExchangeEnd, 2> ends;  // by core
  // What comes into each core's dst, a part a queue.
  std::array<std::vector<DmaPart>, 2> parts;

  const Tile& SourceOf(size_t receiver) const {
    return ends[static_cast<size_t>(ends[receiver].receive_from)].src;
  }
};

class Exchanges {
 public:
  // Keeps a reference.
  explicit Exchanges(const Program& program) : program_(program) {}

  // The exchange that `end` completes, or -1 if the other core has yet to come.
  // `deadlock` (sendrecv.pairing) if the ranks of the two name different
  // partners, `illegal` (sendrecv.mismatch) if their tiles differ.
  absl::StatusOr<int64_t> Enter(const ExchangeEnd& end);
  const Exchange& at(int64_t index) const {
    return slots_[static_cast<size_t>(index)];
  }
  // The exchange is over; its slot is used again by a later Enter.
  void Release(int64_t index) { free_.push_back(index); }

  // A part: first both cores' Read, then both cores' Write.
  absl::Status Read(int64_t index, int32_t part, size_t core, CoreState& state);
  absl::Status Write(int64_t index, int32_t part, size_t core,
                     CoreState& state);

  // Ends that wait for the other core, in the order of pipes.
  std::vector<const ExchangeEnd*> Waiting() const;
  // "sendrecv of pipe_id 3 at instruction 5 of core 0, at file.py:7"
  std::string Describe(const ExchangeEnd& end) const;

 private:
  absl::Status Check(const Exchange& exchange) const;
  int QueuesOf(const ExchangeEnd& end) const;
  // The elements that `like` of `core` sends, one after the other.
  Tile BufferOf(size_t core, const Tile& like);

  const Program& program_;
  // Who waits, of one core at a time.
  std::map<std::pair<int64_t, DmaEngine>, std::deque<ExchangeEnd>> waiting_;
  std::vector<Exchange> slots_;
  std::vector<int64_t> free_;
  std::array<std::vector<std::byte>, 2> buffers_;  // of one part's time
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_EXCHANGE_H_
