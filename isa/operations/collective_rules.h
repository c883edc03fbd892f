// What the operations of collectives share: lists of tensors, replica groups,
// and the rules that several of them have.
#ifndef TRNEMU_ISA_OPERATIONS_COLLECTIVE_RULES_H_
#define TRNEMU_ISA_OPERATIONS_COLLECTIVE_RULES_H_

#include <array>
#include <string_view>

#include "isa/operations/dma_rows.h"

namespace trnemu::rows {

inline constexpr int kMaxCoalesced = 8;  // tensors of a list
inline constexpr int kMaxChannels = 4;
inline constexpr SpaceSet kHbmOrSbuf = SetOf(Space::kHbm) | kSbufOnly;

// The tensors of a list parameter that were given.
struct TensorList {
  int first = -1;  // its parameter; -1: the operation has none of that name
  int count = 0;
  const Value& at(const Call& c, int i) const { return c[first + i]; }
};
TensorList ListOf(const Call& c, std::string_view name);
// The operation's sources and destinations, by whichever name it has.
TensorList SourcesOf(const Call& c);
TensorList SecondSourcesOf(const Call& c);
TensorList DestinationsOf(const Call& c);

const ReplicaGroups& GroupsOf(const Call& c);
int64_t GroupSize(const Call& c);  // of the first list
int64_t IntegerOf(const Call& c, std::string_view parameter, int64_t none);

// Rules by name; a row lists those that it has.
extern const Rule kLists, kOneTensor, kMemory, kHbmOnly, kCoalesced, kDtypes,
    kReduction, kInteger, kGroups, kEqualGroups, kPairs, kPriority, kStream,
    kTrigger, kSameSize, kGathered, kScattered, kSwapped, kGatherDim,
    kFirstDim, kChannels, kChannelId, kTwoDimensions, kMetadata, kMetadataShape, kFourRanks,
    kNoDisplacements, kRoot, kPeer, kBothCores;

}  // namespace trnemu::rows

#endif  // TRNEMU_ISA_OPERATIONS_COLLECTIVE_RULES_H_
