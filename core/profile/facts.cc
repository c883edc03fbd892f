#include "core/profile/facts.h"

#include <algorithm>

#include "core/time_array.h"

namespace trnemu {
namespace {

// One element of the x4 types is four values.
constexpr double kPacked = 4;

int64_t BytesOf(const Access& a) {
  const int64_t partitions = a.on_chip() ? a.partitions : 1;
  return partitions * a.free_size() * static_cast<int64_t>(SizeOf(a.dtype));
}

void AddBytes(const OperandSpec& spec, const Access& a, InstructionFacts& f) {
  if (!a.on_chip()) return;
  f.partitions = std::max<int64_t>(f.partitions, a.partitions);
  const bool psum = a.space == Space::kPsum;
  if (spec.role != Role::kOut) {
    (psum ? f.psum_read : f.sbuf_read) += BytesOf(a);
  }
  if (spec.role != Role::kIn) {
    (psum ? f.psum_written : f.sbuf_written) += BytesOf(a);
  }
}

// 2 K M N: K rows of the moving tile, M of the result, N columns moved.
double MultiplyFlops(const Access& dst, const Access& moving) {
  return 2.0 * static_cast<double>(moving.partitions) *
         static_cast<double>(dst.partitions) *
         static_cast<double>(moving.free_size());
}

// Of a multiplication for which `facts` hold, by the time model.
double CyclesOfRow(const Hardware& hardware, CostFacts facts) {
  const CostLaw* law = FindLaw(hardware, Info(Opcode::kMultiplyMoving).name,
                               Engine::kTensor, facts);
  return law == nullptr ? 1
                        : law->issue_per_element_ns *
                              hardware.engine(Engine::kTensor).clock_ghz;
}

void AddFlops(const Program& program, const CoreProgram& core,
              const Hardware& hardware, const Instruction& i, bool onezero,
              InstructionFacts& f) {
  const auto operands = core.OperandsOf(i);
  f.flops = FlopsOf(core, i);
  if (i.opcode == Opcode::kMultiplyMovingMx) f.adjusted_flops = f.flops / 4;
  if (i.opcode != Opcode::kMultiplyMoving) return;
  using S = slot::MultiplyMoving;
  const auto attributes = core.AttributesOf(i);
  const Access& moving = operands[S::kMoving].access;
  f.fp32 = attributes[S::kPass].integer() != 0;
  const bool fast_fp8 = hardware.generation >= 3 && IsFp8(moving.dtype);
  const bool wide = f.fp32 || moving.dtype == Dtype::kFloat32;
  double factor = wide ? 4 : fast_fp8 ? 0.5 : 1;
  const bool moves = attributes[S::kTranspose].boolean();
  f.transpose = moves || program.operations[i.operation] == "nc_transpose";
  if (wide || moves) {
    // Never more than the array takes for it: hints and transposes are faster.
    CostFacts facts = moves ? Fact(CostCondition::kTranspose) : 0;
    if (wide) facts |= Fact(CostCondition::kMatmulFp32);
    if (onezero) facts |= Fact(CostCondition::kOnezero);
    factor = std::min(factor, (f.fp32 ? 2 : 1) * CyclesOfRow(hardware, facts));
  }
  f.adjusted_flops = f.flops * factor;
}

// Follows the tensor engine's stream: which tiles of the array hold what was
// loaded with the hint.
class Hints {
 public:
  bool At(const CoreProgram& core, const Instruction& i) {
    if (!UsesArray(i.opcode)) return false;
    const auto attributes = core.AttributesOf(i);
    const ArrayTile tile = ArrayTileOf(i.opcode, attributes);
    if (i.opcode == Opcode::kLoadStationary) {
      array_.SetOnezero(tile,
                        attributes[slot::LoadStationary::kOnezero].boolean());
    }
    return i.opcode == Opcode::kMultiplyMoving &&
           (attributes[slot::MultiplyMoving::kOnezero].boolean() ||
            array_.Onezero(tile));
  }

 private:
  ArrayTime array_;
};

}  // namespace

double FlopsOf(const CoreProgram& core, const Instruction& i) {
  const auto operands = core.OperandsOf(i);
  if (i.opcode == Opcode::kMultiplyMovingMx) {
    using S = slot::MultiplyMovingMx;
    return kPacked *
           MultiplyFlops(operands[S::kDst].access, operands[S::kMoving].access);
  }
  if (i.opcode != Opcode::kMultiplyMoving) return 0;
  using S = slot::MultiplyMoving;
  const double passes = core.AttributesOf(i)[S::kPass].integer() != 0 ? 2 : 1;
  return MultiplyFlops(operands[S::kDst].access, operands[S::kMoving].access) /
         passes;
}

ProgramFacts::ProgramFacts(const Program& program, const Hardware& hardware)
    : program_(program), first_(program.cores.size()) {
  facts_.reserve(static_cast<size_t>(program.num_instructions()));
  for (size_t c = 0; c < program.cores.size(); ++c) {
    const CoreProgram& core = program.cores[c];
    Hints hints;
    for (size_t e = 0; e < core.streams.size(); ++e) {
      first_[c][e] = facts_.size();
      for (const Instruction& i : core.streams[e]) {
        InstructionFacts& f = facts_.emplace_back();
        const auto specs = Info(i.opcode).operands;
        const auto operands = core.OperandsOf(i);
        for (size_t o = 0; o < operands.size(); ++o) {
          if (operands[o].kind != Operand::Kind::kAccess) continue;
          AddBytes(specs[o], operands[o].access, f);
        }
        f.loads_weights = i.opcode == Opcode::kLoadStationary ||
                          i.opcode == Opcode::kLoadStationaryMx;
        AddFlops(program, core, hardware, i, hints.At(core, i), f);
      }
    }
  }
}

}  // namespace trnemu
