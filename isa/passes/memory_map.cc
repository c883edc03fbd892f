#include "isa/passes/memory_map.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "isa/passes/accesses.h"

namespace trnemu {
namespace {

// A loop's instructions in all streams of a core, in program order.
struct LoopSpan {
  uint32_t first = 0, last = 0;
};

std::vector<LoopSpan> FindLoops(const CoreProgram& core) {
  std::map<int64_t, LoopSpan> loops;  // by number; those without by place
  int64_t unnumbered = 0;
  for (const auto& stream : core.streams) {
    for (size_t i = 0; i < stream.size(); ++i) {
      if (stream[i].opcode != Opcode::kBranch) continue;
      const auto attributes = core.AttributesOf(stream[i]);
      const int64_t target = attributes[slot::Branch::kTarget].integer();
      if (target < 0 || target > static_cast<int64_t>(i)) continue;
      const LoopSpan span = {stream[static_cast<size_t>(target)].order,
                             stream[i].order};
      int64_t number = attributes[slot::Branch::kLoop].integer();
      if (number < 0) number = --unnumbered;
      const auto [it, inserted] = loops.emplace(number, span);
      if (inserted) continue;
      it->second.first = std::min(it->second.first, span.first);
      it->second.last = std::max(it->second.last, span.last);
    }
  }
  std::vector<LoopSpan> spans;
  for (const auto& [number, span] : loops) spans.push_back(span);
  return spans;
}

// The uses of a tile, in all or inside one loop.
struct Uses {
  uint32_t first = 0, last = 0;
  bool written_first = false;
  bool any = false;

  void Add(uint32_t order, bool write) {
    if (!any || order < first) {
      first = order;
      written_first = write;
    } else if (order == first) {
      written_first = written_first && write;  // it reads, too
    }
    last = any ? std::max(last, order) : order;
    any = true;
  }
};

// What a loop does to the range of a tile that it uses.
void Extend(const LoopSpan& loop, const Uses& inside, Uses& all) {
  const bool before = all.first < loop.first;
  if (!before && inside.written_first) return;
  all.first = std::min(all.first, loop.first);
  all.last = std::max(all.last, loop.last);
}

void FindUses(const Program& program, size_t core, std::vector<Uses>& uses) {
  const CoreProgram& pools = program.cores[core];
  const std::vector<LoopSpan> loops = FindLoops(pools);
  std::map<std::pair<size_t, uint32_t>, Uses> inside;  // loop, tensor
  for (const auto& stream : pools.streams) {
    for (const Instruction& i : stream) {
      ForEachAccess(pools, i, [&](const Access& access, Role role, bool) {
        if (!access.on_chip()) return;
        const bool write = role == Role::kOut || i.opcode == Opcode::kPsumReset;
        uses[access.tensor].Add(i.order, write);
        for (size_t n = 0; n < loops.size(); ++n) {
          if (i.order < loops[n].first || i.order > loops[n].last) continue;
          inside[{n, access.tensor}].Add(i.order, write);
        }
      });
    }
  }
  for (const auto& [key, of] : inside) {
    Extend(loops[key.first], of, uses[key.second]);
  }
}

// Bytes that the spans cover, shared ones once.
int64_t Covered(const std::vector<const MemorySpan*>& live) {
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (const MemorySpan* s : live) {
    pieces.emplace_back(s->address, s->address + s->bytes);
  }
  std::sort(pieces.begin(), pieces.end());
  int64_t bytes = 0, end = 0;
  for (const auto& [low, high] : pieces) {
    bytes += std::max<int64_t>(0, high - std::max(low, end));
    end = std::max(end, high);
  }
  return bytes;
}

// A sweep over the instructions where a tile begins; spans are in their order.
void FindPeak(MemoryMapPart& part) {
  std::vector<const MemorySpan*> live;
  for (size_t i = 0; i < part.spans.size();) {
    const uint32_t at = part.spans[i].first;
    std::erase_if(live, [at](const MemorySpan* s) { return s->last < at; });
    for (; i < part.spans.size() && part.spans[i].first == at; ++i) {
      live.push_back(&part.spans[i]);
    }
    const int64_t bytes = Covered(live);
    if (bytes <= part.peak) continue;
    part.peak = bytes;
    part.peak_at = at;
  }
}

// A program file may hold any number; sums of these do not overflow.
int64_t AddressOf(const Tensor& tensor) {
  constexpr uint64_t kFar = uint64_t{1} << 62;
  return static_cast<int64_t>(std::min(tensor.byte_address, kFar));
}

uint32_t InstructionsOf(const CoreProgram& core) {
  uint32_t count = 0;
  for (const auto& stream : core.streams) {
    if (!stream.empty()) count = std::max(count, stream.back().order + 1);
  }
  return count;
}

}  // namespace

std::vector<MemorySpan> FindMemorySpans(const Program& program) {
  std::vector<MemorySpan> spans;
  for (size_t core = 0; core < program.cores.size(); ++core) {
    std::vector<Uses> uses(program.tensors.size());
    FindUses(program, core, uses);
    for (uint32_t t = 0; t < uses.size(); ++t) {
      const Tensor& tensor = program.tensors[t];
      if (!uses[t].any || !tensor.on_chip()) continue;
      spans.push_back({t, static_cast<uint32_t>(core), tensor.space(),
                       AddressOf(tensor), tensor.bytes_per_partition(),
                       uses[t].first, uses[t].last});
    }
  }
  std::sort(spans.begin(), spans.end(),
            [](const MemorySpan& a, const MemorySpan& b) {
              return std::tie(a.core, a.space, a.first, a.address, a.tensor) <
                     std::tie(b.core, b.space, b.first, b.address, b.tensor);
            });
  return spans;
}

MemoryMap MakeMemoryMap(const Program& program, const Hardware& hardware) {
  MemoryMap map;
  map.program = program.name;
  map.target = hardware.name;
  for (const MemorySpan& span : FindMemorySpans(program)) {
    if (map.parts.empty() || map.parts.back().core != span.core ||
        map.parts.back().limit.space != span.space) {
      MemoryMapPart& part = map.parts.emplace_back();
      part.core = span.core;
      part.limit = LimitOf(span.space, program, hardware);
      part.limit_source = SourceOfLimit(hardware, part.limit);
      part.instructions = InstructionsOf(program.cores[span.core]);
    }
    map.parts.back().spans.push_back(span);
  }
  for (MemoryMapPart& part : map.parts) {
    FindPeak(part);
    for (const MemorySpan& span : part.spans) {
      part.end = std::max(part.end, span.address + span.bytes);
    }
  }
  return map;
}

}  // namespace trnemu
