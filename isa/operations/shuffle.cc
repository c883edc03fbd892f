// nc_stream_shuffle, listed with the selects (SelectOperations).
#include <algorithm>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

enum { kDst, kSrc, kMask, kName };
constexpr int kLanes = 32;
constexpr int64_t kKeep = 255;

constexpr ParameterSpec kParameters[] = {
    {"dst", ParameterKind::kTile, true, "", Role::kInOut, kOnChip, kAnyType,
     "of src's dtype and elements per partition"},
    In("src", kOnChip, kAnyType, "[P, ...]"),
    Attr("shuffle_mask", ParameterKind::kMask,
         "32 numbers: the lane of src for each lane of a quadrant; 255 keeps "
         "dst"),
    kNameParameter,
};

bool HasLaneCount(const Value& mask) { return mask.num_ints == kLanes; }

int64_t Quadrants(const Call& c) {
  return (std::max(P(c[kSrc]), P(c[kDst])) + kLanes - 1) / kLanes;
}

// Both start partitions are multiples of `step`.
bool StartsAt(const Call& c, int64_t step) {
  return StartPartition(c, c[kSrc]) % step == 0 &&
         StartPartition(c, c[kDst]) % step == 0;
}

bool LanesAreInSource(const Call& c) {
  if (!HasLaneCount(c[kMask])) return true;
  for (int64_t p = 0; p < P(c[kDst]); ++p) {
    const int64_t lane = c[kMask].lane(static_cast<int>(p % kLanes));
    if (lane == kKeep) continue;
    if (p / kLanes * kLanes + lane >= P(c[kSrc])) return false;
  }
  return true;
}

constexpr Rule kRules[] = {
    {"nc_stream_shuffle.mask_length", "len(shuffle_mask) == 32",
     "nki/api/nki/isa/__init__.py:2057",
     [](const Call& c) { return HasLaneCount(c[kMask]); }, "shuffle_mask",
     "shuffle_mask must have 32 numbers, one for each lane of a quadrant, but "
     "it is {value:shuffle_mask}"},
    {"nc_stream_shuffle.mask_values",
     "all((m == 255 or 0 <= m < 32 for m in shuffle_mask))",
     "nki/api/nki/isa/__init__.py:2059",
     [](const Call& c) {
       for (int i = 0; i < std::min<int>(c[kMask].num_ints, kLanes); ++i) {
         const int64_t lane = c[kMask].lane(i);
         if (lane >= kLanes && lane != kKeep) return false;
       }
       return true;
     },
     "shuffle_mask",
     "shuffle_mask must hold lanes from 0 to 31, or 255 to keep dst, but it is "
     "{value:shuffle_mask} (254 stands for what is no byte)"},
    {"nc_stream_shuffle.dtype", "dt(dst) == dt(src)",
     "nki/api/nki/isa/__init__.py:2067",
     [](const Call& c) { return Dt(c[kDst]) == Dt(c[kSrc]); }, "dst",
     "dst must have src's dtype {dt:src}, but it is {dt:dst}",
     "convert with tensor_copy before or after"},
    {"nc_stream_shuffle.free_size", "F(dst) == F(src)",
     "nki/api/nki/isa/__init__.py:2068",
     [](const Call& c) { return F(c[kDst]) == F(c[kSrc]); }, "dst",
     "dst must have as many elements per partition as src, but dst has "
     "{F:dst} and src {F:src}"},
    {"nc_stream_shuffle.start_partition_128",
     "not ceil(max(P(src), P(dst)) / 32) >= 3 or (start_p(src) == 0 and "
     "start_p(dst) == 0)",
     "nki/api/nki/isa/__init__.py:2076",
     [](const Call& c) { return Quadrants(c) < 3 || StartsAt(c, 128); }, "src",
     "with more than 64 partitions in src or dst both must start at partition "
     "0, but src starts at {start:src} and dst at {start:dst}",
     "shuffle each quadrant of 32 partitions on its own"},
    {"nc_stream_shuffle.start_partition_64",
     "not ceil(max(P(src), P(dst)) / 32) == 2 or (start_p(src) in (0, 64) and "
     "start_p(dst) in (0, 64))",
     "nki/api/nki/isa/__init__.py:2078",
     [](const Call& c) { return Quadrants(c) != 2 || StartsAt(c, 64); }, "src",
     "with 33 to 64 partitions in src or dst both must start at partition 0 "
     "or 64, but src starts at {start:src} and dst at {start:dst}",
     "shuffle each quadrant of 32 partitions on its own"},
    {"nc_stream_shuffle.start_partition_32",
     "not ceil(max(P(src), P(dst)) / 32) == 1 or (start_p(src) % 32 == 0 and "
     "start_p(dst) % 32 == 0)",
     "nki/api/nki/isa/__init__.py:2080",
     [](const Call& c) { return Quadrants(c) != 1 || StartsAt(c, 32); }, "src",
     "src and dst must start at partition 0, 32, 64 or 96, but src starts at "
     "{start:src} and dst at {start:dst}"},
    // What lies behind the view is another tile's, if anybody's.
    {"nc_stream_shuffle.mask_outside_src",
     "all((shuffle_mask[p % 32] == 255 or p // 32 * 32 + shuffle_mask[p % 32] "
     "< P(src) for p in range(P(dst))))",
     "nki/api/nki/isa/__init__.py:2058", LanesAreInSource, "shuffle_mask",
     "shuffle_mask selects a lane outside of src, which has {P:src} partitions "
     "(dst has {P:dst}, the mask is {value:shuffle_mask}): what that gives is "
     "unspecified",
     "give src a view with all the lanes that the mask selects; to broadcast "
     "one partition, use one nc_stream_shuffle for each 32 partitions of dst",
     Layer::kDevice, Evidence::kInferred, Severity::kError,
     Category::kUnspecified},
};

void Expand(const Call& c, Emitter& e) {
  const auto& lanes = c[kMask].ints;
  EmitOne(c, e, Opcode::kStreamShuffle,
          {OperandOf(c[kDst]), OperandOf(c[kSrc])},
          {Int(lanes[0]), Int(lanes[1]), Int(lanes[2]), Int(lanes[3])});
}

bool Lift(const Expansion& e, Call& c) {
  using S = slot::StreamShuffle;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kStreamShuffle) {
    return false;
  }
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[kDst] = ValueOf(operands[S::kDst]);
  c.values[kSrc] = ValueOf(operands[S::kSrc]);
  Value mask;
  mask.kind = Value::Kind::kMask;
  mask.num_ints = kLanes;
  for (size_t a = S::kMask0; a <= S::kMask3; ++a) {
    mask.ints[a - S::kMask0] = attributes[a].integer();
  }
  c.values[kMask] = mask;
  c.values[kName] = Value::None();
  return true;
}

}  // namespace

extern const OperationInfo kNcStreamShuffle;
const OperationInfo kNcStreamShuffle = {
    "nc_stream_shuffle",
    kParameters,
    kRules,
    [](const Call&, Engine) { return Engine::kVector; },
    Expand,
    Lift,
    "Moves partitions within each quadrant of 32.",
    "dst[32 q + l] = src[32 q + shuffle_mask[l]], bits, counted from each "
    "view's first partition; lanes with 255 keep dst. All is read before it is "
    "written. Partitions of src that no lane selects need not have been "
    "written.",
    "nki/api/nki/isa/__init__.py:2052-2085"};

}  // namespace trnemu::rows
