// Drafts written by hand, for tests of the passes.
#ifndef TRNEMU_TESTS_ISA_DRAFT_MAKER_H_
#define TRNEMU_TESTS_ISA_DRAFT_MAKER_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "isa/draft.h"

namespace trnemu {

// A device small enough to look at.
inline Hardware TinyHardware() {
  Hardware h;
  h.name = "tiny";
  h.memory.partitions = 128;
  h.memory.sbuf_partition_bytes = 4096;
  h.memory.sbuf_usable_partition_bytes = 2048;
  h.memory.sbuf_usable_partition_bytes_with_swdge = 1024;
  h.memory.psum_partition_bytes = 1024;
  h.memory.psum_banks = 8;
  h.memory.psum_bank_bytes = 128;
  h.sequencer.semaphores = 256;
  h.sequencer.semaphore_max = 1 << 20;
  h.constants.push_back({"memory.sbuf_usable_partition_bytes", 2048, "bytes",
                         ConstantStatus::kAssumed, "a test", ""});
  return h;
}

class DraftMaker {
 public:
  explicit DraftMaker(uint32_t cores = 1) {
    draft.program.cores.resize(cores);
    draft.program.operations = {"test_operation"};
    draft.instructions.resize(cores);
  }

  uint32_t Tile(TensorKind kind, std::string name, int64_t partitions,
                int64_t elements, Dtype dtype = Dtype::kFloat32) {
    Tensor t;
    t.kind = kind;
    t.name = std::move(name);
    t.dtype = dtype;
    t.shape = {partitions, elements};
    t.core = core;
    draft.program.tensors.push_back(std::move(t));
    return static_cast<uint32_t>(draft.program.tensors.size() - 1);
  }
  uint32_t Sbuf(std::string name, int64_t elements = 16) {
    return Tile(TensorKind::kSbuf, std::move(name), 128, elements);
  }
  uint32_t Psum(std::string name, int64_t elements = 16) {
    return Tile(TensorKind::kPsum, std::move(name), 128, elements);
  }
  // An HBM tensor.
  uint32_t Hbm(std::string name, int64_t rows = 128, int64_t columns = 16,
               TensorKind kind = TensorKind::kScratch) {
    return Tile(kind, std::move(name), rows, columns);
  }
  void Pin(uint32_t tensor, uint64_t address, uint32_t partition = 0) {
    Tensor& t = draft.program.tensors[tensor];
    t.pinned = true;
    t.byte_address = address;
    t.start_partition = partition;
  }

  // All of a tensor.
  Operand Whole(uint32_t tensor) const {
    const Tensor& t = draft.program.tensors[tensor];
    Operand operand;
    operand.kind = Operand::Kind::kAccess;
    Access& a = operand.access;
    a.tensor = tensor;
    a.space = t.space();
    a.dtype = t.dtype;
    a.rank = 1;
    a.dims[0] = {1, t.on_chip() ? t.shape[1] : t.shape[0] * t.shape[1]};
    if (t.on_chip()) a.partitions = static_cast<uint16_t>(t.shape[0]);
    return operand;
  }
  // Elements offset + sum of i * step of a tensor; on chip of all partitions.
  Operand Part(uint32_t tensor, int64_t offset,
               std::initializer_list<Dim> dims) const {
    Operand operand = Whole(tensor);
    operand.access.offset = offset;
    operand.access.rank = 0;
    for (const Dim& dim : dims)
      operand.access.dims[operand.access.rank++] = dim;
    return operand;
  }

  // Makes an access dynamic.
  void Move(Access& access, const Indirection& indirection) {
    auto& pool = draft.program.cores[core].indirections;
    pool.push_back(indirection);
    access.indirection = static_cast<uint32_t>(pool.size());
  }

  // Appends an instruction; attributes are 0. Operands not given are absent.
  Instruction& Emit(Opcode opcode, Engine engine,
                    std::vector<Operand> operands) {
    CoreProgram& pools = draft.program.cores[core];
    Instruction i;
    i.opcode = opcode;
    i.engine = engine;
    i.first_operand = static_cast<uint32_t>(pools.operands.size());
    i.first_attribute = static_cast<uint32_t>(pools.attributes.size());
    operands.resize(Info(opcode).operands.size());
    for (const Operand& o : operands) pools.operands.push_back(o);
    pools.attributes.resize(pools.attributes.size() +
                            Info(opcode).attributes.size());
    draft.instructions[core].push_back(i);
    return draft.instructions[core].back();
  }
  Instruction& Copy(Engine engine, uint32_t dst, uint32_t src) {
    return Emit(Opcode::kTensorCopy, engine, {Whole(dst), Whole(src)});
  }
  Instruction& Memset(Engine engine, uint32_t dst) {
    return Emit(Opcode::kMemset, engine, {Whole(dst)});
  }
  Instruction& Dma(Engine engine, Operand dst, Operand src, uint32_t set) {
    Instruction& i = Emit(Opcode::kDmaCopy, engine, {dst, src});
    draft.program.cores[core]
        .attributes[i.first_attribute + slot::DmaCopy::kQueueSet] =
        Attribute::Integer(set);
    return i;
  }
  Instruction& Dma(Engine engine, uint32_t dst, uint32_t src) {
    return Dma(engine, Whole(dst), Whole(src), QueueSetOf(engine));
  }
  // The set of 16 queues of an engine.
  uint32_t QueueSetOf(Engine engine, uint32_t queues = 16) {
    auto& sets = draft.program.queue_sets;
    const QueueSet wanted{core, engine, queues};
    for (uint32_t i = 0; i < sets.size(); ++i) {
      if (sets[i] == wanted) return i;
    }
    sets.push_back(wanted);
    return static_cast<uint32_t>(sets.size() - 1);
  }

  uint32_t Semaphore(std::string name) {
    draft.program.semaphores.push_back({core, std::move(name)});
    return static_cast<uint32_t>(draft.program.semaphores.size() - 1);
  }
  void AddWait(Instruction& i, Wait wait) {
    auto& waits = draft.program.cores[core].waits;
    i.first_wait = static_cast<uint32_t>(waits.size());
    i.num_waits = 1;
    waits.push_back(wait);
  }
  void AddSignal(Instruction& i, Signal signal) {
    auto& signals = draft.program.cores[core].signals;
    i.first_signal = static_cast<uint32_t>(signals.size());
    i.num_signals = 1;
    signals.push_back(signal);
  }

  uint32_t core = 0;  // that tiles and instructions go to
  Draft draft;
};

}  // namespace trnemu

#endif  // TRNEMU_TESTS_ISA_DRAFT_MAKER_H_
