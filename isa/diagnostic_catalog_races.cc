// Diagnostics of instructions that nothing orders.
#include "isa/diagnostic_catalog.h"

namespace trnemu::catalog {
namespace {

using enum Category;

constexpr CatalogEntry kEntries[] = {
    {"race.write_read", kRace,
     "An instruction reads bytes that another instruction, of another engine, "
     "DMA queue or core, writes, and no chain of semaphores makes it wait. "
     "That the writer came first in this run is luck.",
     "dma_copy(dst=t, src=x) on sync, then tensor_copy(dst=u, src=t) on vector "
     "without a wait (sync=\"explicit\")",
     "Let the writer signal a semaphore and the reader wait for it. Each queue "
     "of a DMA signals, so wait for all of them (16 by default). Across cores: "
     "core_barrier.",
     Severity::kError, true},
    {"race.read_write", kRace,
     "An instruction overwrites bytes that another instruction, of another "
     "engine, DMA queue or core, still reads, and no chain of semaphores makes "
     "it wait: a buffer is filled again before its last reader is done.",
     "a loop that loads w[i] into one buffer by DMA and does not wait for the "
     "reader of w[i-1]",
     "Let the reader signal a semaphore and the writer wait for it, or use a "
     "second buffer.",
     Severity::kError, true},
    {"race.write_write", kRace,
     "Two instructions of different engines, DMA queues or cores write the "
     "same bytes, and no chain of semaphores orders them: either value may "
     "stay.",
     "memset(dst=t) on vector and memset(dst=t) on gpsimd without a wait",
     "Let the first signal a semaphore and the second wait for it.",
     Severity::kError, true},
    {"race.replicated_write", kRace,
     "Both cores of a logical core write the same bytes of HBM by the same "
     "statement, and nothing orders them. That is harmless if they write the "
     "same values, as a kernel does that is launched on two cores and does not "
     "divide its work.",
     "a kernel that does not ask nl.program_id, launched on two cores",
     "Launch it on one core, or let each core write a part.",
     Severity::kWarning, true},
    {"memory.overwritten", kCapacity,
     "An instruction reads, as one tile, bytes that were last written as "
     "another tile at the same address: the tile's own data are gone, or it "
     "was never written and shows what another left.",
     "two tiles pinned to one address; the first is read after the second was "
     "written",
     "Place the tiles apart, or write the tile before it is read. To look at "
     "the same bytes as another dtype, use a view of the tile that wrote "
     "them.",
     Severity::kError, true},
};

}  // namespace

std::span<const CatalogEntry> RaceEntries() { return kEntries; }

}  // namespace trnemu::catalog
