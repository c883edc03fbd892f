// What an effect reads and writes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/engines/dma_pieces.h"
#include "core/layout.h"
#include "core/observer.h"

namespace trnemu {
namespace {

// Elements [first, first + count) of the tile's flat order.
void ForEachIn(const Tile& tile, size_t operand, int64_t first, int64_t count,
               const StretchVisit& visit) {
  const Layout layout = RowLayout(tile);
  int64_t from = first % tile.free_size;
  for (int64_t p = first / tile.free_size; count > 0; ++p) {
    const int64_t n = std::min(count, tile.free_size - from);
    ForEachRun(
        layout, from, n, [&](ptrdiff_t offset, int64_t element, int64_t run) {
          visit({&tile, operand, p, offset, element, run, layout.step()});
        });
    from = 0;
    count -= n;
  }
}

// An operand whose elements lie at offsets of their own.
void ForEachIndirect(const Tile& tile, size_t operand,
                     const std::vector<int64_t>& offsets,
                     const StretchVisit& visit) {
  const auto elements = static_cast<size_t>(tile.free_size);
  if (offsets.size() < elements * tile.partitions) return;
  for (size_t p = 0; p < tile.partitions; ++p) {
    for (size_t i = 0; i < elements; ++i) {
      const auto offset = static_cast<ptrdiff_t>(offsets[p * elements + i]);
      visit({&tile, operand, static_cast<int64_t>(p), offset,
             static_cast<int64_t>(i), 1, 0});
    }
  }
}

void ForEachOfSlots(const Effect& effect, Role not_this,
                    const StretchVisit& visit) {
  const auto specs = Info(effect.instruction->opcode).operands;
  for (size_t o = 0; o < effect.slots.size(); ++o) {
    const Slot& slot = effect.slots[o];
    if (slot.kind != Operand::Kind::kAccess || specs[o].role == not_this) {
      continue;
    }
    if (slot.indirection != nullptr) {
      ForEachIndirect(slot.tile, o, effect.state->indirect[o].offsets, visit);
      continue;
    }
    ForEachIn(slot.tile, o, 0, slot.tile.partitions * slot.tile.free_size,
              visit);
  }
}

// These name memory without touching its bytes.
bool MovesNothing(Opcode opcode) {
  return opcode == Opcode::kCoreBarrier || opcode == Opcode::kPsumReset ||
         opcode == Opcode::kNop;
}

constexpr uint64_t kPrime = 0x100000001b3;

uint64_t Mix(uint64_t hash, uint64_t value) {
  for (int b = 0; b < 64; b += 8) hash = (hash ^ (value >> b & 0xff)) * kPrime;
  return hash;
}

}  // namespace

void ForEachWritten(const Effect& e, const StretchVisit& visit) {
  if (MovesNothing(e.instruction->opcode)) return;
  if (e.kind == Effect::Kind::kInstruction) {
    ForEachOfSlots(e, Role::kIn, visit);
  } else if (e.kind == Effect::Kind::kPart) {
    ForEachPiece(
        *e.dma, e.elements,
        [&](int64_t, int64_t n, const Piece& dst, std::span<const Piece>) {
          ForEachIn(*dst.tile, 0, dst.first, n, visit);
        });
  }
}

void ForEachRead(const Effect& e, const StretchVisit& visit) {
  if (MovesNothing(e.instruction->opcode)) return;
  if (e.kind == Effect::Kind::kInstruction) {
    ForEachOfSlots(e, Role::kOut, visit);
  } else if (e.dma != nullptr) {
    ForEachPiece(
        *e.dma, e.elements,
        [&](int64_t, int64_t n, const Piece&, std::span<const Piece> srcs) {
          for (size_t s = 0; s < srcs.size(); ++s) {
            ForEachIn(*srcs[s].tile, s + 1, srcs[s].first, n, visit);
          }
        });
  }
}

EffectDigest::Box& EffectDigest::BoxOf(const Effect& effect,
                                       const Stretch& stretch) {
  for (Box& box : boxes_) {
    if (box.operand == stretch.operand) return box;
  }
  Box box;
  box.operand = stretch.operand;
  box.space = stretch.tile->space;
  box.first_partition = INT64_MAX;
  box.low = INT64_MAX;
  box.high = INT64_MIN;
  if (box.space == Space::kHbm) {
    const auto operands =
        program_->cores[effect.core].OperandsOf(*effect.instruction);
    box.tensor =
        program_->tensors[operands[stretch.operand].access.tensor].name;
  }
  boxes_.push_back(std::move(box));
  return boxes_.back();
}

void EffectDigest::Add(const Effect& effect) {
  std::vector<std::pair<size_t, uint64_t>> hashes;  // by operand
  ForEachWritten(effect, [&](const Stretch& s) {
    Box& box = BoxOf(effect, s);
    if (hashes.empty() || hashes.back().first != s.operand) {
      hashes.emplace_back(s.operand, 0xcbf29ce484222325);
    }
    uint64_t& hash = hashes.back().second;
    const int64_t partition = s.tile->first_partition + s.partition;
    const auto size = static_cast<int64_t>(SizeOf(s.tile->dtype));
    hash = Mix(Mix(hash, static_cast<uint64_t>(partition)),
               static_cast<uint64_t>(s.address()));
    const std::byte* element = s.data();
    for (int64_t i = 0; i < s.count; ++i, element += s.step) {
      for (int64_t b = 0; b < size; ++b) {
        hash = (hash ^ static_cast<uint8_t>(element[b])) * kPrime;
      }
    }
    const int64_t last = s.address() + (s.count - 1) * s.step;
    box.first_partition = std::min(box.first_partition, partition);
    box.last_partition = std::max(box.last_partition, partition);
    box.low = std::min({box.low, s.address(), last});
    box.high = std::max({box.high, s.address() + size, last + size});
  });
  for (const auto& [operand, hash] : hashes) {
    for (Box& box : boxes_) {
      if (box.operand == operand) box.hash += hash;
    }
  }
}

std::string EffectDigest::Text() const {
  std::string text;
  for (const Box& box : boxes_) {
    const std::string where =
        box.space == Space::kHbm
            ? absl::StrCat("hbm ", box.tensor)
            : absl::StrCat(std::string(Name(box.space)), " ",
                           box.first_partition, ":", box.last_partition + 1);
    absl::StrAppendFormat(&text, "%s%016x at %s [%d, %d)",
                          text.empty() ? "" : ", ", box.hash, where, box.low,
                          box.high);
  }
  return text;
}

}  // namespace trnemu
