#include "core/loop_position.h"

#include <algorithm>

#include "core/registers.h"

namespace trnemu {
std::map<int64_t, uint32_t> FindLoopPlaces(const CoreProgram& core) {
  std::map<int64_t, uint32_t> places;
  for (const auto& stream : core.streams) {
    for (size_t i = 0; i < stream.size(); ++i) {
      if (stream[i].opcode != Opcode::kBranch) continue;
      const auto attributes = core.AttributesOf(stream[i]);
      const int64_t loop = attributes[slot::Branch::kLoop].integer();
      const bool forward =
          attributes[slot::Branch::kTarget].integer() > static_cast<int64_t>(i);
      if (loop < 0 || !forward) continue;
      uint32_t& place = places[loop];
      place = std::max(place, stream[i].order);
    }
  }
  return places;
}

StreamLoops::StreamLoops(const CoreProgram& core,
                         const std::vector<Instruction>& stream,
                         const std::map<int64_t, uint32_t>& places) {
  for (size_t i = 0; i < stream.size(); ++i) {
    if (stream[i].opcode != Opcode::kBranch) continue;
    const auto attributes = core.AttributesOf(stream[i]);
    const auto target =
        static_cast<size_t>(attributes[slot::Branch::kTarget].integer());
    if (target > i) continue;
    const auto place = places.find(attributes[slot::Branch::kLoop].integer());
    spans_.push_back(
        {target, i,
         place == places.end() ? stream[target].order : place->second});
  }
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
}

std::vector<StreamFacts> FindStreamFacts(const Program& program) {
  std::vector<StreamFacts> facts;
  for (const CoreProgram& core : program.cores) {
    const auto places = FindLoopPlaces(core);
    for (Engine engine : kSequencers) {
      const auto& stream = core.stream(engine);
      facts.push_back(
          {CountRegisters(core, stream), StreamLoops(core, stream, places)});
    }
  }
  return facts;
}

bool LoopPosition::Move(const StreamLoops& loops, size_t from, size_t to) {
  const auto spans = loops.spans();
  bool moved = false;
  auto leave = [&] {
    entries_.pop_back();
    moved = true;
  };
  auto inside = [&](const Entry& e) {
    return spans[e.span].first <= to && to <= spans[e.span].last;
  };
  while (!entries_.empty() && !inside(entries_.back())) leave();
  if (to <= from) {
    while (!entries_.empty() && spans[entries_.back().span].last < from) {
      leave();
    }
    if (!entries_.empty() && spans[entries_.back().span].first == to) {
      ++entries_.back().iteration;
      moved = true;
    }
  }
  const size_t next = entries_.empty() ? 0 : entries_.back().span + 1;
  for (size_t i = next; i < spans.size() && spans[i].first <= to; ++i) {
    if (spans[i].last < to) continue;
    entries_.push_back({i, spans[i].order, 0});
    moved = true;
  }
  return moved;
}

bool LoopPosition::Before(uint32_t mine, const LoopPosition& there,
                          uint32_t other) const {
  for (size_t i = 0;; ++i) {
    const bool here_in = i < entries_.size();
    const bool there_in = i < there.entries_.size();
    const uint32_t a = here_in ? entries_[i].order : mine;
    const uint32_t b = there_in ? there.entries_[i].order : other;
    // Of a loop's place and an instruction of the same order the instruction,
    // which leads into the loop, comes first.
    if (a != b) return a < b;
    if (here_in != there_in) return there_in;
    if (!here_in) return false;
    if (entries_[i].iteration != there.entries_[i].iteration) {
      return entries_[i].iteration < there.entries_[i].iteration;
    }
  }
}

}  // namespace trnemu
