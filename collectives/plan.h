// A plan: what a collective does, as moves of data between its members.
//
// The common language of all algorithms (collectives/ring.h and its
// neighbours) and the only thing that carries one out (collectives/cluster.h).
// A plan knows nothing of chips, links or time; it names members by their
// position in the replica group, buffers by elements. It is made once for a
// group and shared by its members.
//
// Reductions are in fp32, left to right over a piece's sources, rounded to the
// tensors' dtype where the result is written (docs/collectives.md).
//
// Two moves that touch the same element, one of them writing, are always
// ordered; within a move no piece writes what another one touches; an element
// that a piece both reads and writes is at the same place of its source and its
// destination. That holds for src and dst that share memory, too, as
// Problem::in_place says.
#ifndef TRNEMU_COLLECTIVES_PLAN_H_
#define TRNEMU_COLLECTIVES_PLAN_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/vocabulary.h"

namespace trnemu {

enum class Algorithm : uint8_t {
  kAuto = 0,
  kRing,
  kMesh,            // two steps: across chips, then inside them
  kSingleStepMesh,  // everyone to everyone
  kRdh,             // recursive doubling and halving
  kKangaRing,
  kHierarchical,
  kDirect,  // permutes, send and recv, all-to-all: straight to the receiver
};
inline constexpr std::array<std::string_view, 8> kAlgorithmNames = {
    "auto", "ring",      "mesh",         "single_step_mesh",
    "rdh",  "kangaring", "hierarchical", "direct"};
constexpr std::string_view Name(Algorithm a) {
  return kAlgorithmNames[static_cast<size_t>(a)];
}

enum class Buffer : uint8_t {
  kSrc,      // the member's source tensors, one after the other
  kDst,      // its destination tensors, one after the other
  kScratch,  // the collective's own HBM
  kSrc1,     // second operands of collective_permute_implicit_reduce
};

// Elements of a member's buffer, from `offset` on.
struct Place {
  int32_t member = 0;
  Buffer buffer = Buffer::kSrc;
  int64_t offset = 0;
  bool operator==(const Place&) const = default;
};

// sources[0] op sources[1] op ... (one source: its bits) to each destination,
// of which there are two at most (the documented duplication). A piece may have
// no elements: its destinations then say where the move's notice arrives.
struct Piece {
  int64_t elements = 0;
  uint32_t first_place = 0;  // of Plan::places: sources, then destinations
  uint16_t sources = 1;
  uint16_t destinations = 1;
};

// Done by the DMA engines of one member, in one go. Sources lie on its own
// chip; destinations anywhere.
struct Move {
  int32_t member = 0;  // whose engines
  // Its share of them: the channel-th of so many equal parts.
  uint8_t channel = 0, channels = 1;
  uint16_t step = 0;   // for reports: which step of the algorithm
  uint32_t needs = 0;  // so many moves have to arrive before it starts
  uint32_t first_piece = 0, pieces = 0;
  // Of Plan::successors: moves that wait for this one.
  uint32_t first_successor = 0, successors = 0;
};

struct Plan {
  Algorithm algorithm = Algorithm::kAuto;
  // Of kHierarchical: what it is made of.
  Algorithm inside_nodes = Algorithm::kAuto, between_nodes = Algorithm::kAuto;
  int32_t members = 0;
  int32_t channels = 1;  // the most that a move has
  int32_t steps = 0;     // moves on the longest chain
  // In an order in which they can be carried out.
  std::vector<Move> moves;
  std::vector<Piece> pieces;
  std::vector<Place> places;
  std::vector<uint32_t> successors;
  std::vector<int64_t> scratch_elements;  // by member

  std::span<const Piece> PiecesOf(const Move& m) const {
    return {pieces.data() + m.first_piece, m.pieces};
  }
  std::span<const Place> SourcesOf(const Piece& p) const {
    return {places.data() + p.first_place, p.sources};
  }
  std::span<const Place> DestinationsOf(const Piece& p) const {
    return {places.data() + p.first_place + p.sources, p.destinations};
  }
  std::span<const uint32_t> SuccessorsOf(const Move& m) const {
    return {successors.data() + m.first_successor, m.successors};
  }
  int64_t ElementsOf(const Move& m) const;  // once, however many destinations
};

// Adds moves one after the other; dependences by move number.
class PlanWriter {
 public:
  PlanWriter(Algorithm algorithm, int32_t members);

  // So many more are to come; a hint.
  void Reserve(int64_t moves, int64_t pieces, int64_t places);
  // The move that follows, of so far no pieces and no dependences.
  uint32_t Begin(int32_t member, int channel, int channels, int step);
  // Of the last move: moves whose arrival it needs; duplicates count once.
  void After(uint32_t move);
  void After(std::span<const uint32_t> moves);
  // Of the last move.
  void AddPiece(int64_t elements, std::span<const Place> sources,
                std::span<const Place> destinations);
  // Elements of a member's scratch, from the offset that comes back.
  int64_t Scratch(int32_t member, int64_t elements);
  Plan Finish() &&;

  Plan& plan() { return plan_; }

 private:
  Plan plan_;
  // Of move m: needed_[first_needed_[m]] and on, Move::needs of them.
  std::vector<uint32_t> needed_, first_needed_;
  std::vector<uint32_t> follower_;  // by move: the last move that needs it
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_PLAN_H_
