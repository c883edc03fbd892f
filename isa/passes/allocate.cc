#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/draft.h"
#include "isa/passes/capacity.h"
#include "isa/passes/placement.h"

namespace trnemu {
namespace {

constexpr int64_t kPsumAlignment = 4;

// When a tile is used, in instructions of its core. Straight-line programs: a
// loop will extend the ranges of what lives across its back edge.
struct LiveRange {
  uint32_t first = 0;
  uint32_t last = 0;
  bool used = false;
};

template <typename Visit>
void ForEachTile(const Draft& draft, uint32_t core,
                 const Instruction& instruction, Visit visit) {
  draft.program.cores[core].ForEachAccess(
      instruction, [&](const Access& access, Role, bool) {
        if (access.on_chip()) visit(access.tensor);
      });
}

// By tensor, for all cores: a tile belongs to one.
std::vector<LiveRange> FindLiveRanges(const Draft& draft) {
  std::vector<LiveRange> ranges(draft.program.tensors.size());
  for (uint32_t core = 0; core < draft.instructions.size(); ++core) {
    uint32_t order = 0;
    uint32_t start = 0;  // of the operation that the instruction is a step of
    for (const Instruction& instruction : draft.instructions[core]) {
      if (instruction.step == 0) start = order;
      ForEachTile(draft, core, instruction, [&](uint32_t tensor) {
        LiveRange& range = ranges[tensor];
        if (!range.used) range = {start, order, true};
        range.last = order;
      });
      ++order;
    }
  }
  return ranges;
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

// A PsumReset of `tensor` for `user`, which will follow it. It takes over the
// waits of the user: the region may be in use until they are over.
Instruction MakeReset(Draft& draft, uint32_t core, uint32_t tensor,
                      uint16_t operation, Instruction& user) {
  Instruction reset;
  reset.opcode = Opcode::kPsumReset;
  reset.engine = user.engine;
  reset.operation = operation;
  reset.source = user.source;
  auto& operands = draft.program.cores[core].operands;
  reset.first_operand = static_cast<uint32_t>(operands.size());
  operands.push_back(WholeTile(draft.program.tensors[tensor], tensor));
  reset.first_wait = user.first_wait;
  reset.num_waits = std::exchange(user.num_waits, uint8_t{0});
  return reset;
}

// Puts a PsumReset before the operation that first uses each PSUM tile of
// `core`, unless that is one. The steps of an operation stay together.
void InsertResets(Draft& draft, uint32_t core) {
  std::vector<Instruction> result;
  result.reserve(draft.instructions[core].size());
  std::vector<bool> reset(draft.program.tensors.size());
  std::vector<uint32_t> starting;
  std::vector<Instruction>& all = draft.instructions[core];
  for (size_t at = 0; at < all.size();) {
    size_t end = at + 1;
    while (end < all.size() && all[end].step != 0) ++end;
    starting.clear();
    const bool is_reset = all[at].opcode == Opcode::kPsumReset;
    for (size_t i = at; i < end; ++i) {
      ForEachTile(draft, core, all[i], [&](uint32_t tensor) {
        const bool psum =
            draft.program.tensors[tensor].kind == TensorKind::kPsum;
        if (!psum || reset[tensor]) return;
        reset[tensor] = true;
        if (!is_reset) starting.push_back(tensor);
      });
    }
    for (uint32_t tensor : starting) {
      const uint16_t operation = OperationIndex(draft.program, "psum_reset");
      result.push_back(MakeReset(draft, core, tensor, operation, all[at]));
    }
    result.insert(result.end(), all.begin() + static_cast<ptrdiff_t>(at),
                  all.begin() + static_cast<ptrdiff_t>(end));
    at = end;
  }
  draft.instructions[core] = std::move(result);
}

}  // namespace

absl::Status Allocate(Draft& draft, const Hardware& hardware) {
  absl::Status status = CheckTiles(draft, hardware);
  if (!status.ok()) return status;
  const std::vector<LiveRange> ranges = FindLiveRanges(draft);
  for (uint32_t core = 0; core < draft.instructions.size(); ++core) {
    for (Space space : {Space::kSbuf, Space::kPsum}) {
      status = PlaceSpace(draft, hardware, core, space, ranges);
      if (!status.ok()) return status;
    }
    InsertResets(draft, core);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
