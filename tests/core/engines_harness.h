// One core's memories and state, for tests that run single instructions.
#ifndef TRNEMU_TESTS_CORE_ENGINES_HARNESS_H_
#define TRNEMU_TESTS_CORE_ENGINES_HARNESS_H_

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/execution.h"
#include "core/layout.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"
#include "isa/diagnostic.h"
#include "isa/hardware.h"
#include "memory/onchip.h"
#include "memory/written_bits.h"

namespace trnemu {

// A slot and the operand it comes from.
struct Arg {
  Slot slot;
  Operand operand;
  Arg(const Tile& tile) {  // NOLINT: implicit on purpose
    slot.kind = operand.kind = Operand::Kind::kAccess;
    slot.tile = tile;
  }
  Arg(double number) {  // NOLINT: implicit on purpose
    slot.kind = operand.kind = Operand::Kind::kImmediate;
    slot.immediate = static_cast<float>(number);
    operand.immediate = number;
  }
  static Arg Absent() {
    Arg arg(0.0);
    arg.slot.kind = arg.operand.kind = Operand::Kind::kAbsent;
    return arg;
  }
  static Arg Pattern(std::initializer_list<Dim> dims) {
    Arg arg(0.0);
    arg.slot.kind = arg.operand.kind = Operand::Kind::kPattern;
    for (const Dim& dim : dims) {
      arg.operand.access.dims[arg.operand.access.rank++] = dim;
    }
    return arg;
  }
};

inline Attribute Integer(int64_t value) { return Attribute::Integer(value); }
inline Attribute Boolean(bool value) { return Attribute::Boolean(value); }
inline Attribute Real(double value) { return Attribute::Real(value); }
template <typename Enum>
Attribute Of(Enum value) {
  return Attribute::Integer(static_cast<int64_t>(value));
}

inline Tile FreeDims(Tile tile, std::initializer_list<int64_t> counts) {
  tile.rank = 0;
  for (int64_t count : counts) tile.dims[tile.rank++] = {0, count};
  int64_t step = static_cast<int64_t>(SizeOf(tile.dtype));
  tile.free_size = 1;
  for (int d = tile.rank - 1; d >= 0; --d) {
    tile.dims[d].step = step;
    step *= tile.dims[d].count;
    tile.free_size *= tile.dims[d].count;
  }
  tile.contiguous = true;
  return tile;
}

// Other dimensions, steps in elements, from element `offset` of each partition.
inline Tile Strided(Tile tile, std::initializer_list<Dim> dims,
                    int64_t offset = 0) {
  const int64_t size = static_cast<int64_t>(SizeOf(tile.dtype));
  tile.rank = 0;
  tile.free_size = 1;
  for (const Dim& dim : dims) {
    tile.dims[tile.rank++] = {dim.step * size, dim.count};
    tile.free_size *= dim.count;
  }
  tile.base += offset * size;
  tile.shadow += offset * size;
  if (tile.psum_state.tracked()) {
    tile.psum_state += ((tile.address & 1) + offset * size) / 2;
  }
  tile.address += offset * size;
  tile.contiguous = false;
  return tile;
}

class Core : public FindingSink {
 public:
  explicit Core(Target target = Target::kTrn2)
      : hardware(HardwareFor(target)),
        sbuf_(hardware.memory.sbuf_partition_bytes),
        psum_(hardware.memory.psum_partition_bytes),
        psum_state_(static_cast<size_t>(PsumState::Words(PsumEntries()))) {
    state->hardware = &hardware;
    state->findings = this;
  }

  void Warn(Diagnostic diagnostic) override {
    warnings.push_back(std::move(diagnostic));
  }

  Tile Sbuf(Dtype dtype, uint32_t partitions,
            std::initializer_list<int64_t> counts, int64_t byte = 0,
            uint32_t first_partition = 0) {
    return OnChip(sbuf_, Space::kSbuf, dtype, partitions, counts, byte,
                  first_partition);
  }
  Tile Psum(Dtype dtype, uint32_t partitions,
            std::initializer_list<int64_t> counts, int64_t byte = 0,
            uint32_t first_partition = 0) {
    Tile tile = OnChip(psum_, Space::kPsum, dtype, partitions, counts, byte,
                       first_partition);
    tile.psum_state_stride = psum_.partition_bytes() / 2;
    tile.psum_state = PsumState(psum_state_.data(), PsumEntries()) +
                      (first_partition * tile.psum_state_stride + byte / 2);
    return tile;
  }
  // A tensor of its own in HBM.
  Tile Hbm(Dtype dtype, std::initializer_list<int64_t> counts) {
    Tile tile;
    tile.dtype = dtype;
    tile.space = Space::kHbm;
    tile = FreeDims(tile, counts);
    const size_t bytes = static_cast<size_t>(tile.free_size) * SizeOf(dtype);
    hbm_.push_back(std::make_unique<std::byte[]>(bytes));
    tile.base = hbm_.back().get();
    hbm_shadow_.push_back(std::make_unique<uint64_t[]>(
        static_cast<size_t>(WrittenBits::Words(static_cast<int64_t>(bytes)))));
    tile.shadow =
        WrittenBits(hbm_shadow_.back().get(), static_cast<int64_t>(bytes));
    return tile;
  }

  // Stores elements in the flat order, as a DMA would.
  template <typename T>
  Tile Put(const Tile& tile, const std::vector<T>& values) {
    int64_t k = 0;
    ForEachElement(tile, [&](std::byte* at) {
      std::memcpy(at, &values[static_cast<size_t>(k++) % values.size()],
                  sizeof(T));
    });
    MarkWritten(tile);
    MarkPsum(tile, PsumWriter::kOther);
    return tile;
  }
  template <typename T>
  std::vector<T> Get(const Tile& tile) {
    std::vector<T> values;
    ForEachElement(tile, [&](const std::byte* at) {
      T value;
      std::memcpy(&value, at, sizeof(T));
      values.push_back(value);
    });
    return values;
  }
  // The same through a cast from or to fp32.
  Tile PutFloats(const Tile& tile, const std::vector<float>& values) {
    size_t k = 0;
    ForEachElement(tile, [&](std::byte* at) {
      NarrowRow(&values[k++ % values.size()], 1, tile.dtype, at, 0,
                state->numerics);
    });
    MarkWritten(tile);
    MarkPsum(tile, PsumWriter::kOther);
    return tile;
  }
  std::vector<float> Floats(const Tile& tile) {
    std::vector<float> values;
    ForEachElement(tile, [&](const std::byte* at) {
      float value = 0;
      WidenRow(tile.dtype, at, 0, 1, state->numerics, &value);
      values.push_back(value);
    });
    return values;
  }

  absl::Status Run(Opcode opcode, Engine engine, const std::vector<Arg>& args,
                   const std::vector<Attribute>& attributes = {}) {
    std::vector<Slot> slots;
    std::vector<Operand> operands;
    for (const Arg& arg : args) {
      slots.push_back(arg.slot);
      operands.push_back(arg.operand);
    }
    return ExecuteOf(opcode)({slots, attributes, operands, engine}, *state);
  }

  Hardware hardware;
  std::unique_ptr<CoreState> state = std::make_unique<CoreState>();
  std::vector<Diagnostic> warnings;

 private:
  static Tile OnChip(OnChipMemory& memory, Space space, Dtype dtype,
                     uint32_t partitions, std::initializer_list<int64_t> counts,
                     int64_t byte, uint32_t first_partition) {
    Tile tile;
    tile.dtype = dtype;
    tile.space = space;
    tile.partitions = partitions;
    tile.first_partition = first_partition;
    tile.address = byte;
    tile.base = memory.at(first_partition, byte);
    tile.shadow = memory.shadow_at(first_partition, byte);
    tile.partition_stride = memory.stride();
    return FreeDims(tile, counts);
  }

  // Walks the dimensions naively: independent of core/layout.h.
  template <typename Visit>
  static void ForEachElement(const Tile& tile, Visit visit) {
    for (uint32_t p = 0; p < tile.partitions; ++p) {
      for (int64_t k = 0; k < tile.free_size; ++k) {
        std::byte* at = tile.base + p * tile.partition_stride;
        int64_t rest = k;
        for (int d = tile.rank - 1; d >= 0; --d) {
          at += rest % tile.dims[d].count * tile.dims[d].step;
          rest /= tile.dims[d].count;
        }
        visit(at);
      }
    }
  }

  int64_t PsumEntries() const {
    return kPartitions * psum_.partition_bytes() / 2;
  }

  OnChipMemory sbuf_;
  OnChipMemory psum_;
  std::vector<uint64_t> psum_state_;
  std::vector<std::unique_ptr<std::byte[]>> hbm_;
  std::vector<std::unique_ptr<uint64_t[]>> hbm_shadow_;
};

// The id of a fault, or "" for OK.
inline std::string FaultId(const absl::Status& status) {
  return status.ok() ? "" : DiagnosticOf(status).id;
}
inline std::string Detail(const Diagnostic& diagnostic,
                          const std::string& key) {
  for (const auto& [name, value] : diagnostic.details) {
    if (name == key) return value;
  }
  return "";
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_CORE_ENGINES_HARNESS_H_
