// Random drafts on TinyHardware, for tests of the passes: legal to the passes,
// not to the rules.
#ifndef TRNEMU_TESTS_ISA_RANDOM_DRAFT_H_
#define TRNEMU_TESTS_ISA_RANDOM_DRAFT_H_

#include <random>
#include <string>
#include <vector>

#include "tests/isa/draft_maker.h"

namespace trnemu {

class RandomDraft {
 public:
  explicit RandomDraft(uint32_t seed) : random_(seed) { MakeTensors(); }

  Draft Make(int instructions) {
    for (int i = 0; i < instructions; ++i) Step();
    return maker_.draft;
  }

  // The same with loops, nested up to three deep, of none to four iterations,
  // and tiles that are made in them.
  Draft MakeWithLoops(int instructions) {
    Draft& draft = maker_.draft;
    draft.loops.resize(1);
    std::vector<uint32_t> open;
    for (int i = 0; i < instructions; ++i) {
      if (open.size() < 3 && Below(7) == 0) {
        open.push_back(static_cast<uint32_t>(draft.loops[0].size()));
        Loop loop;
        loop.induction = open.back();
        loop.lo.kind = loop.hi.kind = Operand::Kind::kImmediate;
        loop.hi.immediate = OneOf({0, 1, 2, 2, 3, 4});
        draft.loops[0].push_back(loop);
        draft.instructions[0].push_back(LoopMarker(true, open.back()));
        if (Below(2) == 0) {
          const bool psum = Below(2) == 0;
          (psum ? psum_ : sbuf_)
              .push_back(maker_.Tile(
                  psum ? TensorKind::kPsum : TensorKind::kSbuf,
                  "l" + std::to_string(draft.program.tensors.size()),
                  kPartitions, 8 + Below(24)));
          draft.tensor_loop.resize(draft.program.tensors.size(), -1);
          draft.tensor_loop.back() = static_cast<int32_t>(open.back());
        }
      }
      Step();
      while (!open.empty() && Below(6) == 0) {
        draft.instructions[0].push_back(LoopMarker(false, open.back()));
        open.pop_back();
      }
    }
    for (; !open.empty(); open.pop_back()) {
      draft.instructions[0].push_back(LoopMarker(false, open.back()));
    }
    return draft;
  }

 private:
  static constexpr int64_t kPartitions = 4;

  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }

  void MakeTensors() {
    const Dtype dtypes[] = {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kUint8};
    const uint32_t tiles = 3 + Below(6);
    for (uint32_t i = 0; i < tiles; ++i) {
      const std::string name = std::to_string(i);
      sbuf_.push_back(maker_.Tile(TensorKind::kSbuf, "s" + name, kPartitions,
                                  8 + Below(24), dtypes[Below(3)]));
      if (Below(4) == 0) maker_.Pin(sbuf_.back(), 8 * Below(12), Below(3));
    }
    for (uint32_t i = 0; i < 3; ++i) {
      const std::string name = std::to_string(i);
      psum_.push_back(maker_.Tile(TensorKind::kPsum, "p" + name, kPartitions,
                                  8 + Below(24)));
      hbm_.push_back(maker_.Hbm("h" + name, 8, 8));
    }
    if (Below(4) == 0) maker_.Pin(psum_[0], 128);
  }

  // One to three dimensions, some backwards, inside `row` elements.
  void RandomDims(int64_t row, Access& a) {
    a.rank = static_cast<uint8_t>(1 + Below(3));
    int64_t low = 0, high = 0;
    for (int d = 0; d < a.rank; ++d) {
      int64_t step = OneOf<int64_t>({1, 1, 2, 3, 4, 8, -1, -2});
      const int64_t room = row - 1 - (high - low);
      const int64_t limit = room / (step < 0 ? -step : step) + 1;
      const int64_t count = 1 + Below(static_cast<size_t>(limit));
      a.dims[d] = {step, count};
      (step < 0 ? low : high) += step * (count - 1);
    }
    a.offset = -low + Below(static_cast<size_t>(row - (high - low)));
  }

  // Moves `a`, inside `row` elements, by an element of some tile.
  void MakeDynamic(int64_t row, Access& a) {
    Indirection i;
    i.kind = IndirectionKind::kScalarTile;
    i.step = 1;
    i.limit = row - (a.offset + a.Extent().second);
    i.index = maker_.Whole(sbuf_[Below(sbuf_.size())]).access;
    i.index.start_partition = static_cast<uint16_t>(Below(kPartitions));
    i.index.partitions = 1;
    i.index.offset = Below(static_cast<size_t>(i.index.dims[0].count));
    i.index.dims[0] = {1, 1};
    maker_.Move(a, i);
  }

  Operand Pick(const std::vector<uint32_t>& tensors) {
    const uint32_t tensor = tensors[Below(tensors.size())];
    Operand operand = maker_.Whole(tensor);
    Access& a = operand.access;
    if (Below(3) == 0) return operand;
    const int64_t row = a.dims[0].count;
    RandomDims(row, a);
    if (Below(4) == 0) MakeDynamic(row, a);
    if (a.on_chip()) {
      a.start_partition = static_cast<uint16_t>(Below(kPartitions));
      a.partitions = static_cast<uint16_t>(
          1 + Below(static_cast<size_t>(kPartitions - a.start_partition)));
    }
    return operand;
  }
  Operand OnChip() { return Pick(Below(3) == 0 ? psum_ : sbuf_); }

  void Step() {
    constexpr Engine kVector = Engine::kVector, kScalar = Engine::kScalar;
    constexpr Engine kGpsimd = Engine::kGpsimd;
    switch (Below(8)) {
      case 0:
        maker_.Emit(Opcode::kTensorCopy, OneOf({kVector, kScalar, kGpsimd}),
                    {OnChip(), OnChip()});
        return;
      case 1:
        maker_.Emit(Opcode::kTensorTensor, OneOf({kVector, kGpsimd}),
                    {OnChip(), OnChip(), OnChip()});
        return;
      case 2:
        maker_.Emit(Opcode::kActivate, kScalar, {OnChip(), OnChip(), OnChip()});
        return;
      case 3:
        maker_.Emit(Opcode::kMultiplyMoving, Engine::kTensor,
                    {Pick(psum_), Pick(sbuf_)});
        return;
      case 4:
        maker_.Emit(Opcode::kLoadStationary, Engine::kTensor, {Pick(sbuf_)});
        return;
      default:
        Dma();
    }
  }

  void Dma() {
    const Engine engine = OneOf({Engine::kSync, Engine::kSync, Engine::kScalar,
                                 Engine::kGpsimd, Engine::kTensor});
    const uint32_t set = maker_.QueueSetOf(engine, OneOf<uint32_t>({1, 3, 3}));
    Operand hbm = Pick(hbm_);
    Operand dst = OnChip(), src = OnChip();
    const uint32_t direction = Below(5);
    if (direction < 2) src = hbm;
    if (direction == 2 || direction == 3) dst = hbm;
    maker_.Dma(engine, dst, src, set);
  }

  std::mt19937 random_;
  DraftMaker maker_;
  std::vector<uint32_t> sbuf_, psum_, hbm_;
};

}  // namespace trnemu

#endif  // TRNEMU_TESTS_ISA_RANDOM_DRAFT_H_
