// What an opcode's execute function sees: operands with addresses, attributes,
// and the state of its engine. Never protobuf, never the program's pools.
//
// An execute function does the whole instruction at once, over spans. It may
// rely on what the rules and the loader have checked (spaces, shapes, equal
// counts, addresses inside memory). It returns a diagnostic status for what
// only the data can show; the scheduler adds who and where.
#ifndef TRNEMU_CORE_EXECUTION_H_
#define TRNEMU_CORE_EXECUTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/numerics/matmul.h"
#include "core/numerics/options.h"
#include "core/numerics/random_numbers.h"
#include "isa/diagnostic.h"
#include "isa/hardware.h"
#include "isa/program.h"
#include "memory/onchip.h"
#include "memory/psum_state.h"
#include "memory/written_bits.h"

namespace trnemu {

// An operand whose address is known. Steps are in bytes.
struct Tile {
  std::byte* base = nullptr;        // first element of the first partition
  WrittenBits shadow;               // of the same byte, if tracked
  PsumState psum_state;             // PSUM: per 2 bytes, of base
  ptrdiff_t partition_stride = 0;   // bytes, of base and shadow
  ptrdiff_t psum_state_stride = 0;  // entries between partitions
  uint32_t partitions = 1;          // 1 in HBM
  uint32_t first_partition = 0;     // of the memory; 0 in HBM
  int64_t address = 0;  // byte of base in its partition; in HBM in the tensor
  Dtype dtype = Dtype::kInvalid;
  Space space = Space::kInvalid;
  uint8_t rank = 0;
  bool contiguous = false;  // within a partition
  int64_t free_size = 0;    // elements per partition
  std::array<Dim, kMaxDims> dims{};
};

// Rows of one partition: the innermost dimension, once for each setting of the
// outer ones. Calls visit(byte offset from the partition's base, first element
// index). Row length is dims[rank-1].count, stride dims[rank-1].step.
template <typename Visit>
void ForEachRow(const Tile& tile, Visit visit);

// A slot of a decoded instruction.
struct Slot {
  Operand::Kind kind = Operand::Kind::kAbsent;
  Tile tile;
  float immediate = 0;
  // Set where a run has to move the tile (core/dynamic.h), until it has.
  const Indirection* indirection = nullptr;
};

struct ExecuteArgs {
  std::span<const Slot> slots;            // the opcode row's operands
  std::span<const Attribute> attributes;  // the opcode row's attributes
  std::span<const Operand> operands;      // undecoded, for patterns
  Engine engine;
};

// A finding that does not stop the run (a warning).
class FindingSink {
 public:
  virtual ~FindingSink() = default;
  virtual void Warn(Diagnostic diagnostic) = 0;
  // Whether the instruction at hand has had a finding of this id before; then
  // it is counted once more, at little cost.
  virtual bool CountAgain(std::string_view) { return false; }
};

// A stationary tile that is loaded into the tensor engine's array.
struct LoadedTile {
  Stationary values;
  Dtype dtype = Dtype::kInvalid;
  // In transpose mode the elements that are loaded, as bytes (K x M).
  std::vector<std::byte> bytes;
  // MX: the values, where one of them is beyond fp32 (4K x M); else empty.
  std::vector<double> wide;
  int64_t rows = 0;     // K, partitions; 0: nothing is loaded
  int64_t columns = 0;  // M
  int64_t pass = 0;
  bool transpose = false;
  bool mx = false;
  PerfMode perf_mode = PerfMode::kNone;
  // The tile of the array it is in: start row, start column, rows, columns.
  std::array<int64_t, 4> position{};
  uint32_t cells = 0;  // the array's 32 x 32 cells that it covers, as bits
};

// Where the elements of a view made by indirect() stand while an instruction
// works on them (core/engines/indirect.h).
struct IndirectScratch {
  std::vector<int64_t> offsets;  // bytes of each element, from its partition's
  std::vector<std::byte> bytes;
  std::vector<uint64_t> written;
  std::vector<uint64_t> psum_state;
};

// Scratch and architectural state of the engines of one core.
struct CoreState {
  const Hardware* hardware = nullptr;
  NumericsOptions numerics;
  FindingSink* findings = nullptr;  // never null during a run
  bool check_memory = true;         // shadow checks on
  // Looks for data on which a result depends that no document settles
  // (docs/unspecified.md).
  bool check_values = true;
  std::span<const std::string> allow;  // ids of errors that may pass
  int64_t warnings_seen = 0;

  // Tensor engine: what is loaded now, by the first 32 x 32 cell that it
  // covers, row by row (core/engines/array.h). Null: never used.
  std::array<std::unique_ptr<LoadedTile>, 16> loaded;
  // Vector engine: the eight values that a search looks for, one row a lane,
  // and how many lanes are loaded in this run.
  std::array<std::array<float, 8>, kPartitions> match_values{};
  int64_t match_lanes = 0;
  // Scalar engine: one running sum per lane.
  std::array<float, kPartitions> scalar_accumulators{};
  // Lanes that were reset in this run; the others hold what is left over.
  std::array<bool, kPartitions> scalar_accumulators_set{};
  // Vector engine: the same, and whether each lane's value is known
  // (core/engines/vector_accumulators.h).
  std::array<float, kPartitions> vector_accumulators{};
  std::array<bool, kPartitions> vector_accumulators_known{};
  // Vector and gpsimd engine: their generators, and whether a draw from them,
  // of each opcode (1 << Opcode), was reported in this run.
  RandomState random;
  uint64_t random_reported = 0;
  // Of TopK, the same.
  bool topk_reported = false;
  // Row buffers; each at least the longest free size (65536 elements).
  std::array<std::vector<float>, 4> rows;
  std::vector<uint32_t> bits[3];
  // Direction of the last RowWriter::ForEachPartition that was free to choose.
  bool backwards = false;
  // By operand slot.
  std::array<IndirectScratch, 8> indirect;
  // Matrices of the tensor engine (256 x 8192 at most), grown on first use.
  std::array<std::vector<float>, 3> matrices;
};

using ExecuteFunction = absl::Status (*)(const ExecuteArgs&, CoreState&);
// The execute function of each opcode; complete by a static_assert.
ExecuteFunction ExecuteOf(Opcode opcode);

template <typename Visit>
void ForEachRow(const Tile& tile, Visit visit) {
  const int outer = tile.rank - 1;
  const int64_t length = tile.dims[outer].count;
  if (outer == 0) {
    visit(ptrdiff_t{0}, int64_t{0});
    return;
  }
  std::array<int64_t, kMaxDims> at{};
  ptrdiff_t offset = 0;
  for (int64_t first = 0; first < tile.free_size; first += length) {
    visit(offset, first);
    for (int d = outer - 1; d >= 0; --d) {
      offset += tile.dims[d].step;
      if (++at[d] < tile.dims[d].count) break;
      offset -= tile.dims[d].step * tile.dims[d].count;
      at[d] = 0;
    }
  }
}

}  // namespace trnemu

#endif  // TRNEMU_CORE_EXECUTION_H_
