// Memories whose ports engines share: on generations whose vector engine
// cannot reach SBUF together with gpsimd, nor PSUM together with the scalar
// engine, one waits until the other has streamed; on later ones only if both
// go to one bank of PSUM (nki/guides/architecture/trainium2_arch.rst:268).
#include <algorithm>

#include "core/extent.h"
#include "core/runner.h"

namespace trnemu {
namespace {

uint8_t BanksOf(const Tile& t, int64_t bank_bytes) {
  const auto [low, high] = RowExtent(t);
  const int64_t first = (t.address + low) / bank_bytes;
  const int64_t last = (t.address + high - 1) / bank_bytes;
  uint32_t banks = 0;
  for (int64_t b = std::max<int64_t>(0, first); b <= std::min<int64_t>(7, last);
       ++b) {
    banks |= 1u << b;
  }
  return static_cast<uint8_t>(banks);
}

}  // namespace

void Runner::PreparePorts(Sequencer& s) const {
  const Hardware& hardware = *machine_.hardware;
  s.ports = {};
  const bool psum = s.engine == Engine::kVector || s.engine == Engine::kScalar;
  const bool sbuf =
      !hardware.features.vector_gpsimd_parallel_sbuf &&
      (s.engine == Engine::kVector || s.engine == Engine::kGpsimd);
  if (!psum && !sbuf) return;
  const size_t slots = Info(s.next->opcode).operands.size();
  for (size_t o = 0; o < slots; ++o) {
    if (s.slots[o].kind != Operand::Kind::kAccess) continue;
    const Tile& t = s.slots[o].tile;
    if (t.space == Space::kSbuf) s.ports.sbuf = sbuf;
    if (t.space != Space::kPsum || !psum) continue;
    s.ports.psum_banks |= hardware.features.vector_scalar_parallel_psum
                              ? BanksOf(t, hardware.memory.psum_bank_bytes)
                              : uint8_t{0xff};
  }
}

bool Runner::WaitsForPorts(Sequencer& s) {
  if (!s.ports.sbuf && s.ports.psum_banks == 0) return false;
  Ticks free = s.earliest;
  for (const Sequencer& other : sequencers_) {
    if (other.core != s.core || &other == &s) continue;
    if ((s.ports.sbuf && other.held_ports.sbuf) ||
        (s.ports.psum_banks & other.held_ports.psum_banks) != 0) {
      free = std::max(free, other.ports_until);
    }
  }
  if (free == s.earliest) return false;
  s.ready += free - s.earliest;  // no semaphore is waited for
  s.earliest = free;
  return true;
}

}  // namespace trnemu
