#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/draft.h"
#include "isa/passes/accesses.h"
#include "isa/passes/capacity.h"
#include "isa/passes/placement.h"

namespace trnemu {
namespace {

constexpr int64_t kPsumAlignment = 4;

// When a tile is used, in instructions of its core.
struct LiveRange {
  uint32_t first = 0;
  uint32_t last = 0;
  bool used = false;
};

template <typename Visit>
void ForEachTile(const Draft& draft, uint32_t core,
                 const Instruction& instruction, Visit visit) {
  ForEachAccess(draft.program.cores[core], instruction,
                [&](const Access& access, Role, bool) {
                  if (access.on_chip()) visit(access.tensor);
                });
}

// The loops of a core's list, and where each instruction is in them.
class Nests {
 public:
  explicit Nests(const std::vector<Instruction>& list) {
    int32_t open = -1;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (IsLoopBegin(list[i])) {
        const uint32_t loop = LoopOf(list[i]);
        if (spans_.size() <= loop) spans_.resize(loop + 1);
        spans_[loop] = {i, i, open};
        open = static_cast<int32_t>(loop);
      }
      if (IsLoopEnd(list[i])) {
        spans_[open].end = i;
        open = spans_[open].parent;
      }
      if (!spans_.empty() || !loop_at_.empty()) {
        loop_at_.resize(i, -1);
        loop_at_.push_back(open);
      }
    }
  }

  // The innermost loop around instruction i; -1 for none.
  int32_t At(uint32_t i) const {
    return i < loop_at_.size() ? loop_at_[i] : -1;
  }
  bool Inside(int32_t loop, int32_t outer) const {
    while (loop != outer && loop >= 0) loop = spans_[loop].parent;
    return loop == outer;
  }
  // The innermost loop around both.
  int32_t Common(int32_t a, int32_t b) const {
    while (!Inside(a, b)) b = spans_[b].parent;
    return b;
  }
  // First and last instruction of instruction i as it is seen from inside
  // `scope` (which is around it): itself, or the loop it is in.
  std::pair<uint32_t, uint32_t> SeenFrom(uint32_t i, int32_t scope) const {
    std::pair<uint32_t, uint32_t> seen{i, i};
    for (int32_t loop = At(i); loop != scope; loop = spans_[loop].parent) {
      seen = {spans_[loop].begin, spans_[loop].end};
    }
    return seen;
  }

 private:
  struct Span {
    uint32_t begin = 0, end = 0;
    int32_t parent = -1;
  };
  std::vector<Span> spans_;  // by loop
  std::vector<int32_t> loop_at_;
};

// The loop a tile is made anew in, in every iteration: the one it was made in,
// or a loop around that if it is used outside.
std::vector<int32_t> FindScopes(const Draft& draft, uint32_t core,
                                const Nests& nests) {
  std::vector<int32_t> scopes(draft.program.tensors.size(), -1);
  for (size_t t = 0; t < draft.tensor_loop.size(); ++t) {
    const Tensor& tensor = draft.program.tensors[t];
    if (tensor.on_chip() && tensor.core == core) {
      scopes[t] = draft.tensor_loop[t];
    }
  }
  const auto& list = draft.instructions[core];
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (IsMarker(list[i])) continue;
    ForEachTile(draft, core, list[i], [&](uint32_t tensor) {
      if (scopes[tensor] >= 0) {
        scopes[tensor] = nests.Common(nests.At(i), scopes[tensor]);
      }
    });
  }
  return scopes;
}

// By tensor, of the tiles of a core. Inside its scope, a tile that a loop uses
// lives as long as the loop.
void FindLiveRanges(const Draft& draft, uint32_t core, const Nests& nests,
                    const std::vector<int32_t>& scopes,
                    std::vector<LiveRange>& ranges) {
  uint32_t order = 0;
  uint32_t start = 0;  // of the operation that the instruction is a step of
  for (const Instruction& instruction : draft.instructions[core]) {
    if (IsMarker(instruction)) {
      ++order;
      continue;
    }
    if (instruction.step == 0) start = order;
    ForEachTile(draft, core, instruction, [&](uint32_t tensor) {
      LiveRange& range = ranges[tensor];
      const uint32_t first = nests.SeenFrom(start, scopes[tensor]).first;
      const uint32_t last = nests.SeenFrom(order, scopes[tensor]).second;
      if (!range.used) range = {first, last, true};
      range.last = std::max(range.last, last);
    });
    ++order;
  }
}

LiveTile Describe(const Tensor& tensor, uint32_t index,
                  const LiveRange& range) {
  LiveTile tile;
  tile.tensor = index;
  tile.first = range.first;
  tile.last = range.last;
  tile.size = tensor.bytes_per_partition();
  tile.alignment = static_cast<int64_t>(SizeOf(tensor.dtype));
  if (tensor.space() == Space::kPsum) {
    tile.alignment = std::max(tile.alignment, kPsumAlignment);
  }
  tile.address = static_cast<int64_t>(tensor.byte_address);
  return tile;
}

// Every tile on its own: pinned ones inside, others no larger than the memory.
absl::Status CheckTiles(const Draft& draft, const Hardware& hardware) {
  for (const Tensor& tensor : draft.program.tensors) {
    if (!tensor.on_chip()) continue;
    const Limit limit = LimitOf(tensor.space(), draft.program, hardware);
    const int64_t size = tensor.bytes_per_partition();
    // Compared without a sum: a pinned address can be any number.
    const uint64_t address = tensor.pinned ? tensor.byte_address : 0;
    if (size > limit.bytes ||
        address > static_cast<uint64_t>(limit.bytes - size)) {
      return EndsOutside(draft, hardware, limit, tensor, address);
    }
  }
  return absl::OkStatus();
}

absl::Status PlaceSpace(Draft& draft, const Hardware& hardware, uint32_t core,
                        Space space, const std::vector<LiveRange>& ranges) {
  const Limit limit = LimitOf(space, draft.program, hardware);
  std::vector<Tensor>& tensors = draft.program.tensors;
  std::vector<LiveTile> tiles, obstacles;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.space() != space || tensor.core != core || !ranges[i].used) {
      continue;
    }
    (tensor.pinned ? obstacles : tiles)
        .push_back(Describe(tensor, i, ranges[i]));
  }
  for (auto* list : {&tiles, &obstacles}) {
    std::stable_sort(
        list->begin(), list->end(),
        [](const LiveTile& a, const LiveTile& b) { return a.first < b.first; });
  }
  const int64_t bank =
      space == Space::kPsum ? hardware.memory.psum_bank_bytes : 0;
  const auto failed = PlaceTiles({limit.bytes, bank}, obstacles, tiles);
  if (failed) {
    return DoesNotFit(draft, hardware, limit, core, obstacles, tiles, *failed);
  }
  for (const LiveTile& tile : tiles) {
    tensors[tile.tensor].start_partition = 0;
    tensors[tile.tensor].byte_address = static_cast<uint64_t>(tile.address);
  }
  return absl::OkStatus();
}

uint16_t OperationIndex(Program& program, std::string_view name) {
  auto it =
      std::find(program.operations.begin(), program.operations.end(), name);
  if (it == program.operations.end()) {
    it = program.operations.emplace(it, name);
  }
  return static_cast<uint16_t>(it - program.operations.begin());
}

// The whole of `tensor`, as PsumReset names it.
Operand WholeTile(const Tensor& tensor, uint32_t index) {
  Operand operand;
  operand.kind = Operand::Kind::kAccess;
  Access& access = operand.access;
  access.tensor = index;
  access.space = Space::kPsum;
  access.dtype = tensor.dtype;
  access.rank = 1;
  access.partitions = static_cast<uint16_t>(tensor.shape[0]);
  access.dims[0] = {1, tensor.bytes_per_partition() /
                           static_cast<int64_t>(SizeOf(tensor.dtype))};
  return operand;
}

// A PsumReset of `tensor` for `user`, which will follow it. If it is the next
// one, it takes over the waits of the user: the region may be in use until they
// are over.
Instruction MakeReset(Draft& draft, uint32_t core, uint32_t tensor,
                      uint16_t operation, Instruction& user, bool adjacent) {
  Instruction reset;
  reset.opcode = Opcode::kPsumReset;
  // A register is loaded wherever it is needed.
  reset.engine = user.engine == Engine::kUnknown ? Engine::kSync : user.engine;
  reset.operation = operation;
  reset.source = user.source;
  auto& operands = draft.program.cores[core].operands;
  reset.first_operand = static_cast<uint32_t>(operands.size());
  operands.push_back(WholeTile(draft.program.tensors[tensor], tensor));
  if (adjacent) {
    reset.first_wait = user.first_wait;
    reset.num_waits = std::exchange(user.num_waits, uint8_t{0});
  }
  return reset;
}

// Puts a PsumReset before the operation that first uses each PSUM tile of
// `core`, unless that is one; before the outermost loop around it that the tile
// was not made in. The steps of an operation stay together.
void InsertResets(Draft& draft, uint32_t core, const Nests& nests,
                  const std::vector<int32_t>& scopes) {
  std::vector<Instruction>& all = draft.instructions[core];
  std::vector<bool> reset(draft.program.tensors.size());
  // Before which instruction, for which user.
  struct Place {
    uint32_t before, tensor, user;
  };
  std::vector<Place> places;
  for (size_t at = 0; at < all.size();) {
    size_t end = at + 1;
    if (IsMarker(all[at])) {
      at = end;
      continue;
    }
    while (end < all.size() && !IsMarker(all[end]) && all[end].step != 0) ++end;
    const bool is_reset = all[at].opcode == Opcode::kPsumReset;
    for (size_t i = at; i < end; ++i) {
      ForEachTile(draft, core, all[i], [&](uint32_t tensor) {
        const bool psum =
            draft.program.tensors[tensor].kind == TensorKind::kPsum;
        if (!psum || reset[tensor]) return;
        reset[tensor] = true;
        const auto user = static_cast<uint32_t>(at);
        const uint32_t before = nests.SeenFrom(user, scopes[tensor]).first;
        if (!is_reset) places.push_back({before, tensor, user});
      });
    }
    at = end;
  }
  std::stable_sort(
      places.begin(), places.end(),
      [](const Place& a, const Place& b) { return a.before < b.before; });
  std::vector<Instruction> result;
  result.reserve(all.size() + places.size());
  auto next = places.begin();
  for (uint32_t i = 0; i < all.size(); ++i) {
    for (; next != places.end() && next->before == i; ++next) {
      const uint16_t operation = OperationIndex(draft.program, "psum_reset");
      result.push_back(MakeReset(draft, core, next->tensor, operation,
                                 all[next->user], next->user == i));
    }
    result.push_back(all[i]);
  }
  all = std::move(result);
}

}  // namespace

absl::Status Allocate(Draft& draft, const Hardware& hardware) {
  absl::Status status = CheckTiles(draft, hardware);
  if (!status.ok()) return status;
  std::vector<LiveRange> ranges(draft.program.tensors.size());
  for (uint32_t core = 0; core < draft.instructions.size(); ++core) {
    const Nests nests(draft.instructions[core]);
    const std::vector<int32_t> scopes = FindScopes(draft, core, nests);
    FindLiveRanges(draft, core, nests, scopes, ranges);
    for (Space space : {Space::kSbuf, Space::kPsum}) {
      status = PlaceSpace(draft, hardware, core, space, ranges);
      if (!status.ok()) return status;
    }
    InsertResets(draft, core, nests, scopes);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
