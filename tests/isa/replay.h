// Runs a finished program in random legal orders and checks that data flow as
// in program order: the independent judge of Synchronise. It moves no values;
// a byte holds the instruction that wrote it last.
#ifndef TRNEMU_TESTS_ISA_REPLAY_H_
#define TRNEMU_TESTS_ISA_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "isa/hardware.h"
#include "isa/program.h"

namespace trnemu {

// Core 0 only. Every instruction is one step, except that each part of a DMA
// reads in one step and writes and signals in another.
class Replay {
 public:
  Replay(const Program& program, const Hardware& hardware)
      : Replay(program, hardware, InOrder(program)) {}
  // `sequence`: what is executed, in program order, by the instructions'
  // `order`; with loops, those inside come several times.
  Replay(const Program& program, const Hardware& hardware,
         const std::vector<uint32_t>& sequence)
      : program_(program), hardware_(hardware) {
    PlaceMemories();
    streams_.resize(kEngineNames.size());
    std::map<uint32_t, const Instruction*> by_order;
    for (const auto& stream : program.cores[0].streams) {
      for (const Instruction& i : stream) by_order[i.order] = &i;
    }
    std::vector<std::pair<size_t, size_t>> order;
    for (const uint32_t n : sequence) {
      const Instruction& i = *by_order.at(n);
      const auto e = static_cast<size_t>(i.engine);
      order.push_back({e, streams_[e].size()});
      streams_[e].push_back(Decode(i));
      streams_[e].back().mark = static_cast<uint32_t>(order.size());
    }
    memory_.assign(memory_size_, 0);
    for (const auto& where : order) {
      Operation& op = streams_[where.first][where.second];
      for (uint32_t byte : op.indices) {
        op.expected_indices.push_back(memory_[byte]);
      }
      for (uint32_t byte : op.reads) op.expected.push_back(memory_[byte]);
      for (uint32_t byte : op.writes) memory_[byte] = Mark(op);
    }
    final_ = memory_;
  }

  // One run with the choices of `seed`; what went wrong, or "".
  std::string Run(uint32_t seed) {
    Reset(seed);
    while (problem_.empty() && StepSomething()) {
    }
    if (!problem_.empty()) return problem_;
    for (size_t e = 0; e < streams_.size(); ++e) {
      if (next_[e] < streams_[e].size()) {
        return "deadlock: instruction " +
               std::to_string(streams_[e][next_[e]].instruction->order) +
               " never starts";
      }
    }
    return memory_ == final_ ? "" : "memory differs at the end";
  }

  // The largest value a semaphore had, over all runs.
  int64_t largest_semaphore() const { return most_; }

 private:
  struct Operation {
    const Instruction* instruction = nullptr;
    std::vector<uint32_t> reads, writes;  // bytes, as indices into a memory
    std::vector<uint32_t> expected;       // what the reads see, in order
    // The same of index tiles, which even a DMA reads when it is issued.
    std::vector<uint32_t> indices, expected_indices;
    uint32_t queue_set = 0;
    uint32_t parts = 0;  // DMA
    uint32_t mark = 0;   // what it writes: its place in program order, from 1
  };
  struct Part {
    const Operation* operation = nullptr;
    uint32_t index = 0;
    bool has_read = false;
  };
  using Queue = std::pair<uint32_t, uint32_t>;  // queue set, index

  static uint32_t Mark(const Operation& op) { return op.mark; }
  static std::vector<uint32_t> InOrder(const Program& program) {
    std::vector<uint32_t> orders;
    for (const auto& stream : program.cores[0].streams) {
      for (const Instruction& i : stream) orders.push_back(i.order);
    }
    std::sort(orders.begin(), orders.end());
    return orders;
  }

  void PlaceMemories() {
    const MemoryLimits& m = hardware_.memory;
    sbuf_row_ = static_cast<uint32_t>(m.sbuf_usable_partition_bytes);
    psum_row_ = static_cast<uint32_t>(m.psum_partition_bytes);
    psum_base_ = 128 * sbuf_row_;
    memory_size_ = psum_base_ + 128 * psum_row_;
    for (const Tensor& t : program_.tensors) {
      base_.push_back(memory_size_);
      if (!t.on_chip()) memory_size_ += static_cast<uint32_t>(t.nbytes());
    }
  }

  // Every byte of an access, element by element.
  void AddBytes(const Access& a, std::vector<uint32_t>& bytes) const {
    const Tensor& t = program_.tensors[a.tensor];
    const bool sbuf = a.space == Space::kSbuf;
    const uint32_t width = static_cast<uint32_t>(SizeOf(a.dtype));
    const uint32_t partitions = a.on_chip() ? a.partitions : 1;
    for (uint32_t p = 0; p < partitions; ++p) {
      int64_t row = base_[a.tensor];
      if (a.on_chip()) {
        const int64_t partition = t.start_partition + a.start_partition + p;
        row = (sbuf ? 0 : psum_base_) +
              partition * (sbuf ? sbuf_row_ : psum_row_) +
              static_cast<int64_t>(t.byte_address);
      }
      for (int64_t n = 0; n < a.free_size(); ++n) {
        int64_t element = a.offset;
        int64_t rest = n;
        for (int d = a.rank - 1; d >= 0; --d) {
          element += rest % a.dims[d].count * a.dims[d].step;
          rest /= a.dims[d].count;
        }
        for (uint32_t b = 0; b < width; ++b) {
          bytes.push_back(static_cast<uint32_t>(row + element * width + b));
        }
      }
    }
  }

  Operation Decode(const Instruction& instruction) const {
    const CoreProgram& core = program_.cores[0];
    Operation op;
    op.instruction = &instruction;
    const auto specs = Info(instruction.opcode).operands;
    const auto operands = core.OperandsOf(instruction);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (operands[i].kind != Operand::Kind::kAccess) continue;
      Access access = operands[i].access;
      if (const Indirection* d = core.IndirectionOf(access)) {
        // Some valid index, another for each instruction.
        const int64_t index =
            instruction.order * int64_t{2654435761} / 256 % d->limit;
        access.offset += index * d->step;
        AddBytes(d->index, op.indices);
      }
      if (specs[i].role != Role::kOut) AddBytes(access, op.reads);
      if (specs[i].role != Role::kIn) AddBytes(access, op.writes);
    }
    if (instruction.opcode == Opcode::kDmaCopy) {
      op.queue_set = static_cast<uint32_t>(
          core.AttributesOf(instruction)[slot::DmaCopy::kQueueSet].integer());
      op.parts = program_.queue_sets[op.queue_set].queues;
    }
    return op;
  }

  void Reset(uint32_t seed) {
    random_.seed(seed);
    problem_.clear();
    memory_.assign(memory_size_, 0);
    next_.assign(streams_.size(), 0);
    semaphores_.assign(program_.semaphores.size(), 0);
    queues_.clear();
    weights_.clear();
    // Some actors are much slower than others.
    for (size_t i = 0; i < 64; ++i) {
      weights_.push_back(uint32_t{1} << (random_() % 6 * 2));
    }
  }

  // Picks an engine or a queue that can go on, and lets it. False: none can.
  bool StepSomething() {
    std::vector<std::pair<size_t, Queue>> actors;
    std::vector<uint32_t> weights;
    for (size_t e = 0; e < streams_.size(); ++e) {
      if (next_[e] == streams_[e].size()) continue;
      if (!Ready(*streams_[e][next_[e]].instruction)) continue;
      actors.push_back({e, {}});
      weights.push_back(weights_[e]);
    }
    for (const auto& [queue, parts] : queues_) {
      if (parts.empty()) continue;
      actors.push_back({streams_.size(), queue});
      weights.push_back(weights_[8 + (queue.first * 16 + queue.second) % 56]);
    }
    if (actors.empty()) return false;
    std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
    const auto& [engine, queue] = actors[pick(random_)];
    if (engine < streams_.size()) {
      StepEngine(engine);
    } else {
      StepQueue(queue);
    }
    return true;
  }

  bool Ready(const Instruction& instruction) const {
    for (const Wait& w : program_.cores[0].WaitsOf(instruction)) {
      if (semaphores_[w.semaphore] < w.value) return false;
    }
    return true;
  }

  void StepEngine(size_t engine) {
    const Operation& op = streams_[engine][next_[engine]++];
    for (const Wait& w : program_.cores[0].WaitsOf(*op.instruction)) {
      if (w.consume) semaphores_[w.semaphore] -= w.value;
    }
    Check(op, op.indices, op.expected_indices, 0, 1);
    for (uint32_t i = 0; i < op.parts; ++i) {
      queues_[{op.queue_set, i}].push_back({&op, i, false});
    }
    if (op.parts > 0) return;
    Read(op, 0, 1);
    Write(op, 0, 1);
    SignalAll(*op.instruction);
  }

  void StepQueue(const Queue& queue) {
    Part& part = queues_[queue].front();
    if (!part.has_read) {
      part.has_read = true;
      Read(*part.operation, part.index, part.operation->parts);
      return;
    }
    Write(*part.operation, part.index, part.operation->parts);
    SignalAll(*part.operation->instruction);
    queues_[queue].pop_front();
  }

  void Read(const Operation& op, uint32_t part, uint32_t parts) {
    Check(op, op.reads, op.expected, part, parts);
  }

  void Check(const Operation& op, const std::vector<uint32_t>& bytes,
             const std::vector<uint32_t>& expected, uint32_t part,
             uint32_t parts) {
    for (size_t i = part; i < bytes.size(); i += parts) {
      const uint32_t seen = memory_[bytes[i]];
      // Of a DMA onto its own source, which part goes first is open.
      const bool own = op.parts > 0 && seen == Mark(op);
      if (seen == expected[i] || own) continue;
      problem_ = "instruction " + std::to_string(op.instruction->order) +
                 " at " + std::to_string(op.mark - 1) + " reads what " +
                 std::to_string(int64_t{seen} - 1) + " wrote, not " +
                 std::to_string(int64_t{expected[i]} - 1);
      return;
    }
  }

  void Write(const Operation& op, uint32_t part, uint32_t parts) {
    for (size_t i = part; i < op.writes.size(); i += parts) {
      memory_[op.writes[i]] = Mark(op);
    }
  }

  void SignalAll(const Instruction& instruction) {
    for (const Signal& s : program_.cores[0].SignalsOf(instruction)) {
      semaphores_[s.semaphore] += s.value;
      most_ = std::max(most_, semaphores_[s.semaphore]);
      if (s.op != SignalOp::kAdd ||
          semaphores_[s.semaphore] > hardware_.sequencer.semaphore_max) {
        problem_ = "a semaphore leaves its range";
      }
    }
  }

  const Program& program_;
  const Hardware& hardware_;
  // A memory: SBUF, PSUM and the HBM tensors, a word for each byte.
  std::vector<uint32_t> base_;  // by tensor
  uint32_t sbuf_row_ = 0, psum_row_ = 0, psum_base_ = 0, memory_size_ = 0;
  std::vector<std::vector<Operation>> streams_;
  std::vector<uint32_t> final_;  // in program order

  std::mt19937 random_;
  std::vector<uint32_t> memory_;  // order + 1 of the last writer, or 0
  std::vector<size_t> next_;      // by engine
  std::vector<uint32_t> weights_;
  std::map<Queue, std::deque<Part>> queues_;
  std::vector<int64_t> semaphores_;
  std::string problem_;
  int64_t most_ = 0;
};

}  // namespace trnemu

#endif  // TRNEMU_TESTS_ISA_REPLAY_H_
