#include "core/time_facts.h"

#include <algorithm>
#include <cstdlib>

namespace trnemu {
namespace {

bool Is16Bit(const Tile& t) { return SizeOf(t.dtype) == 2; }
bool InPsum(const Tile& t) { return t.space == Space::kPsum; }

// The operand whose free size an opcode's law counts: the main input, or the
// output where there is none.
size_t CountedSlot(Opcode opcode, const ExecuteArgs& args) {
  switch (opcode) {
    case Opcode::kMultiplyMoving:
      return slot::MultiplyMoving::kMoving;
    case Opcode::kTopK:
      return slot::TopK::kSrc;
    case Opcode::kLoadStationary:
    case Opcode::kLoadStationaryMx:
    case Opcode::kMemset:
    case Opcode::kIota:
    case Opcode::kAffineSelect:
    case Opcode::kReadAccumulator:
    case Opcode::kPsumReset:
      return 0;
    default:
      return args.slots.size() > 1 &&
                     args.slots[1].kind == Operand::Kind::kAccess
                 ? 1
                 : 0;
  }
}

// A column of scalars, one a partition, instead of a number.
bool IsColumn(const OperandSpec& spec, const Slot& slot) {
  return slot.kind == Operand::Kind::kAccess &&
         spec.kind == OperandKind::kAccessOrImmediate &&
         slot.tile.free_size == 1;
}
bool IsStream(const OperandSpec& spec, const Slot& slot) {
  return slot.kind == Operand::Kind::kAccess && !IsColumn(spec, slot);
}

// The 16-byte sectors that the elements of one partition touch, if each row of
// evenly spaced ones starts a sector of its own.
int64_t Sectors(const Tile& t, int64_t sector, ptrdiff_t& step) {
  int d = t.rank - 1;
  int64_t count = t.dims[d].count;
  step = t.dims[d].step;
  for (; d > 0; --d) {
    const Dim& outer = t.dims[d - 1];
    if (count == 1) {
      count = outer.count;
      step = outer.step;
    } else if (outer.count == 1 || outer.step == step * count) {
      count *= outer.count;
    } else {
      break;
    }
  }
  step = std::abs(step);
  const int64_t span =
      (count - 1) * step + static_cast<int64_t>(SizeOf(t.dtype));
  const int64_t of_row = std::min(count, (span + sector - 1) / sector);
  return t.free_size / count * of_row;
}

bool IsFastAlu(Opcode opcode, std::span<const Attribute> a) {
  switch (opcode) {
    case Opcode::kTensorTensor: {
      const AluOp op = a[slot::TensorTensor::kOp].as<AluOp>();
      return op == AluOp::kAdd || op == AluOp::kSubtract ||
             op == AluOp::kMultiply;
    }
    case Opcode::kScalarTensorTensor:
      return a[slot::ScalarTensorTensor::kOp0].as<AluOp>() ==
                 AluOp::kSubtract &&
             a[slot::ScalarTensorTensor::kOp1].as<AluOp>() == AluOp::kMultiply;
    case Opcode::kTensorReduce: {
      const AluOp op = a[slot::TensorReduce::kOp].as<AluOp>();
      return op == AluOp::kAdd || op == AluOp::kMaximum;
    }
    default:
      return false;
  }
}

void AddFact(CostFacts& facts, CostCondition condition, bool holds) {
  if (holds) facts |= Fact(condition);
}

// Of all operands together.
void AddOperandFacts(Opcode opcode, const ExecuteArgs& args, CostFacts& facts) {
  const auto specs = Info(opcode).operands;
  bool narrow = true, psum = false, contiguous = true, dynamic = false;
  bool psum_in = false, sbuf_in = false;
  for (size_t i = 0; i < args.slots.size(); ++i) {
    const Slot& slot = args.slots[i];
    if (slot.kind != Operand::Kind::kAccess) continue;
    const Tile& t = slot.tile;
    dynamic = dynamic || slot.indirection != nullptr;
    psum = psum || InPsum(t);
    if (!IsStream(specs[i], slot)) continue;
    narrow = narrow && Is16Bit(t);
    contiguous = contiguous && t.contiguous;
    if (specs[i].role == Role::kIn) (InPsum(t) ? psum_in : sbuf_in) = true;
  }
  AddFact(facts, CostCondition::kAll16BitSbuf, narrow && !psum);
  AddFact(facts, CostCondition::kAll16Bit, narrow);
  AddFact(facts, CostCondition::kContiguous, contiguous);
  AddFact(facts, CostCondition::kDynamic, dynamic);
  AddFact(facts, CostCondition::kPsumOperand, psum);
  AddFact(facts, CostCondition::kPsumAndSbufSources, psum_in && sbuf_in);
}

// Of the tensor engine's tile that is loaded or moved.
void AddTensorFacts(const Tile& tile, bool passes, bool transpose,
                    CostFacts& facts) {
  AddFact(facts, CostCondition::kMatmulFp32,
          passes || tile.dtype == Dtype::kFloat32);
  AddFact(facts, CostCondition::kTranspose, transpose);
}

void AddOpcodeFacts(Opcode opcode, const ExecuteArgs& args, const Tile& source,
                    CostFacts& facts) {
  const auto a = args.attributes;
  switch (opcode) {
    case Opcode::kLoadStationary:
      AddTensorFacts(source, a[slot::LoadStationary::kPass].integer() != 0,
                     a[slot::LoadStationary::kTranspose].boolean(), facts);
      break;
    case Opcode::kMultiplyMoving:
      AddTensorFacts(source, a[slot::MultiplyMoving::kPass].integer() != 0,
                     a[slot::MultiplyMoving::kTranspose].boolean(), facts);
      AddFact(facts, CostCondition::kOnezero,
              a[slot::MultiplyMoving::kOnezero].boolean());
      break;
    case Opcode::kMemset:
      AddFact(facts, CostCondition::kZeroFill16Bit,
              Is16Bit(source) && a[slot::Memset::kValue].real() == 0);
      break;
    case Opcode::kTensorScalar:
      AddFact(facts, CostCondition::kRsqrt,
              a[slot::TensorScalar::kOp0].as<AluOp>() == AluOp::kRsqrt);
      break;
    default:
      AddFact(facts, CostCondition::kFastAlu, IsFastAlu(opcode, a));
      break;
  }
}

}  // namespace

double CountOf(Opcode opcode, const ExecuteArgs& args) {
  if (args.slots.empty()) return 0;
  const Slot& counted = args.slots[CountedSlot(opcode, args)];
  if (counted.kind != Operand::Kind::kAccess) return 0;
  const double n = static_cast<double>(counted.tile.free_size);
  // double_row takes two of fp8 at a time
  // (nki/guides/architecture/trainium2_arch.rst:97).
  const auto halved = [&](size_t attribute) {
    return args.attributes[attribute].as<PerfMode>() == PerfMode::kDoubleRow
               ? n / 2
               : n;
  };
  switch (opcode) {
    case Opcode::kLoadStationary:
      return halved(slot::LoadStationary::kPerfMode);
    case Opcode::kMultiplyMoving:
      return halved(slot::MultiplyMoving::kPerfMode);
    case Opcode::kTopK:
      // 4n + K cycles (nki/api/nki/isa/__init__.py:3341).
      return static_cast<double>(args.attributes[slot::TopK::kN].integer()) +
             static_cast<double>(
                 args.slots[slot::TopK::kValDst].tile.free_size) /
                 4;
    default:
      return n;
  }
}

StrideCost StridesOf(Opcode opcode, const ExecuteArgs& args,
                     const AccessLimits& access) {
  StrideCost cost;
  const auto specs = Info(opcode).operands;
  for (size_t i = 0; i < args.slots.size(); ++i) {
    const Slot& slot = args.slots[i];
    if (slot.tile.contiguous || !IsStream(specs[i], slot) ||
        slot.tile.rank == 0) {
      continue;
    }
    ptrdiff_t step = 0;
    const int64_t sectors = Sectors(slot.tile, access.sector_bytes, step);
    const double excess =
        static_cast<double>(2 * sectors - slot.tile.free_size);
    double& side = specs[i].role == Role::kOut ? cost.write : cost.read;
    side = std::max(side, excess);
    const int64_t wide = std::clamp<int64_t>(step, access.wide_stride_from,
                                             access.wide_stride_to);
    cost.wide = std::max(cost.wide,
                         static_cast<double>(wide - access.wide_stride_from));
  }
  return cost;
}

CostFacts FactsOf(Opcode opcode, const ExecuteArgs& args, CostFacts asked) {
  if (asked == 0 || args.slots.empty()) return 0;
  const size_t main = CountedSlot(opcode, args);
  if (args.slots[main].kind != Operand::Kind::kAccess) return 0;
  CostFacts facts = 0;
  const Tile& source = args.slots[main].tile;
  // A register load has a register first.
  if (args.slots[0].kind == Operand::Kind::kAccess) {
    const Tile& dst = args.slots[0].tile;
    AddFact(facts, CostCondition::kDest8Bit, SizeOf(dst.dtype) == 1);
    AddFact(facts, CostCondition::kDest16Bit, Is16Bit(dst));
    AddFact(facts, CostCondition::kDestInteger, IsInteger(dst.dtype));
    AddFact(facts, CostCondition::kPsumDest, InPsum(dst));
  }
  AddFact(facts, CostCondition::kSource16Bit, main != 0 && Is16Bit(source));
  AddFact(facts, CostCondition::kPsumSource, main != 0 && InPsum(source));
  AddFact(facts, CostCondition::kEvenCount, source.free_size % 2 == 0);
  AddOperandFacts(opcode, args, facts);
  AddOpcodeFacts(opcode, args, source, facts);
  return facts;
}

FunctionSet FunctionOf(Opcode opcode, const ExecuteArgs& args) {
  static_assert(int{slot::Activate::kOp} == int{slot::Activate2::kOp});
  if (opcode != Opcode::kActivate && opcode != Opcode::kActivate2) return 0;
  return Member(args.attributes[slot::Activate::kOp].as<ActFunction>());
}

int64_t ColumnOperands(Opcode opcode, const ExecuteArgs& args) {
  const auto specs = Info(opcode).operands;
  int64_t n = 0;
  for (size_t i = 0; i < args.slots.size(); ++i) {
    n += IsColumn(specs[i], args.slots[i]);
  }
  return n;
}

}  // namespace trnemu
