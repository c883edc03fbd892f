#include "core/time_model.h"

#include <algorithm>

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

// The elements that a law counts. double_row takes two of fp8 at a time
// (nki/guides/architecture/trainium2_arch.rst:97).
double CountOf(Opcode opcode, const ExecuteArgs& args) {
  if (args.slots.empty()) return 0;
  const Slot& counted = args.slots[CountedSlot(opcode, args)];
  if (counted.kind != Operand::Kind::kAccess) return 0;
  const double n = static_cast<double>(counted.tile.free_size);
  const auto halved = [&](size_t attribute) {
    return args.attributes[attribute].as<PerfMode>() == PerfMode::kDoubleRow
               ? n / 2
               : n;
  };
  if (opcode == Opcode::kLoadStationary) {
    return halved(slot::LoadStationary::kPerfMode);
  }
  if (opcode == Opcode::kMultiplyMoving) {
    return halved(slot::MultiplyMoving::kPerfMode);
  }
  return n;
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

CostFacts OperandFacts(Opcode opcode, const ExecuteArgs& args) {
  const auto specs = Info(opcode).operands;
  bool all_16bit_sbuf = true, psum = false, psum_in = false, sbuf_in = false;
  for (size_t i = 0; i < args.slots.size(); ++i) {
    if (args.slots[i].kind != Operand::Kind::kAccess) continue;
    const Tile& t = args.slots[i].tile;
    all_16bit_sbuf = all_16bit_sbuf && Is16Bit(t) && !InPsum(t);
    psum = psum || InPsum(t);
    if (specs[i].role == Role::kIn) (InPsum(t) ? psum_in : sbuf_in) = true;
  }
  CostFacts facts = 0;
  AddFact(facts, CostCondition::kAll16BitSbuf, all_16bit_sbuf);
  AddFact(facts, CostCondition::kPsumOperand, psum);
  AddFact(facts, CostCondition::kPsumAndSbufSources, psum_in && sbuf_in);
  AddFact(facts, CostCondition::kFastAlu16Bit,
          all_16bit_sbuf && IsFastAlu(opcode, args.attributes));
  return facts;
}

CostFacts FactsOf(Opcode opcode, const ExecuteArgs& args) {
  if (args.slots.empty()) return 0;
  CostFacts facts = OperandFacts(opcode, args);
  const size_t main = CountedSlot(opcode, args);
  if (args.slots[main].kind != Operand::Kind::kAccess) return 0;
  const Tile& dst = args.slots[0].tile;
  const Tile& source = args.slots[main].tile;
  const auto attributes = args.attributes;
  AddFact(facts, CostCondition::kSource16Bit, main != 0 && Is16Bit(source));
  // A register load has a register first.
  const bool has_dst = args.slots[0].kind == Operand::Kind::kAccess;
  AddFact(facts, CostCondition::kDest8Bit, has_dst && SizeOf(dst.dtype) == 1);
  AddFact(facts, CostCondition::kPsumSource, main != 0 && InPsum(source));
  AddFact(facts, CostCondition::kPsumDest, has_dst && InPsum(dst));
  switch (opcode) {
    case Opcode::kLoadStationary:
      AddFact(facts, CostCondition::kMatmulFp32,
              attributes[slot::LoadStationary::kPass].integer() != 0 ||
                  source.dtype == Dtype::kFloat32);
      break;
    case Opcode::kMultiplyMoving:
      AddFact(facts, CostCondition::kMatmulFp32,
              attributes[slot::MultiplyMoving::kPass].integer() != 0 ||
                  source.dtype == Dtype::kFloat32);
      break;
    case Opcode::kActivate: {
      const bool copy = attributes[slot::Activate::kOp].as<ActFunction>() ==
                        ActFunction::kCopy;
      AddFact(facts, CostCondition::kActCopy, copy);
      AddFact(facts, CostCondition::kActCopyPsumSource, copy && InPsum(source));
      AddFact(facts, CostCondition::kActCopyPsumDest, copy && InPsum(dst));
      break;
    }
    case Opcode::kMemset:
      AddFact(facts, CostCondition::kZeroFill16Bit,
              Is16Bit(dst) && attributes[slot::Memset::kValue].real() == 0);
      break;
    case Opcode::kTensorScalar:
      AddFact(
          facts, CostCondition::kRsqrt,
          attributes[slot::TensorScalar::kOp0].as<AluOp>() == AluOp::kRsqrt);
      break;
    default:
      break;
  }
  return facts;
}

// Column operands: scale and bias, or operand0 and operand1.
int64_t ColumnOperands(Opcode opcode, const ExecuteArgs& args) {
  if (opcode != Opcode::kActivate) return 0;
  int64_t n = 0;
  for (size_t i = 2; i < args.slots.size(); ++i) {
    if (args.slots[i].kind == Operand::Kind::kAccess) ++n;
  }
  return n;
}

DmaDirection DirectionOf(const Tile& dst, const Tile& src) {
  const bool to_hbm = dst.space == Space::kHbm;
  const bool from_hbm = src.space == Space::kHbm;
  if (to_hbm) return from_hbm ? DmaDirection::kHbm : DmaDirection::kStore;
  return from_hbm ? DmaDirection::kLoad : DmaDirection::kOnChip;
}

}  // namespace

TimeModel::TimeModel(const Hardware& hardware) : hardware_(hardware) {
  for (const OpcodeInfo& info : Opcodes()) {
    for (Engine e : kSequencers) {
      if (!(info.engines & Bit(e))) continue;
      laws_[static_cast<size_t>(info.opcode)][static_cast<size_t>(e)] =
          LawsFor(hardware, info.name, e);
    }
  }
  if (const CostLaw* law =
          FindLaw(hardware, "LoadActivationTable", Engine::kScalar, 0)) {
    table_load_ = ToTicks(law->completion_fixed_ns);
  }
  hand_off_ = ToTicks(hardware.sequencer.hand_off_ns);
}

AppliedLaw TimeModel::LawOf(Opcode opcode, const ExecuteArgs& args) const {
  const CostLaw* const law =
      FindLaw(Laws(opcode, args.engine), FactsOf(opcode, args));
  if (law == nullptr) return {};
  const int64_t columns = std::max<int64_t>(
      0, ColumnOperands(opcode, args) - law->operands_included);
  return {law, CountOf(opcode, args),
          law->per_operand_ns * static_cast<double>(columns)};
}

Cost TimeModel::CostOf(Opcode opcode, const ExecuteArgs& args) const {
  const auto [law, n, extra] = LawOf(opcode, args);
  if (law == nullptr) return {};
  const double issue =
      law->issue_fixed_ns + extra +
      std::max(law->issue_minimum_ns, n * law->issue_per_element_ns);
  const double variable =
      std::max(law->completion_minimum_ns, n * law->completion_per_element_ns);
  Cost cost;
  cost.issue = ToTicks(issue);
  cost.completion_fixed = ToTicks(law->completion_fixed_ns + extra);
  cost.completion = cost.completion_fixed + ToTicks(variable);
  return cost;
}

DmaCost TimeModel::CostOfDma(const DmaTransfer& transfer,
                             Engine trigger) const {
  const Tile& src = transfer.srcs[0].tile;
  DmaCost cost = CostOfDma(transfer.dst.tile, src, trigger);
  if (transfer.opcode == Opcode::kDmaTranspose) {
    cost.rate = src.space == Space::kHbm ? hardware_.dma.transpose_rate_load
                                         : hardware_.dma.transpose_rate_on_chip;
  } else if (transfer.opcode == Opcode::kDmaCompute) {
    cost.rate = hardware_.dma.accumulate_rate;
  }
  return cost;
}

DmaCost TimeModel::CostOfDma(const Tile& dst, const Tile& src,
                             Engine trigger) const {
  DmaCost cost;
  cost.law = &hardware_.dma_law(DirectionOf(dst, src));
  cost.trigger =
      ToTicks(trigger == Engine::kGpsimd ? hardware_.dma.trigger_gpsimd_ns
                                         : hardware_.dma.trigger_ns);
  cost.start = ToTicks(cost.law->start_ns);
  cost.spacing = ToTicks(cost.law->spacing_ns);
  cost.notify = ToTicks(cost.law->notify_ns);
  cost.fixed = ToTicks(cost.law->payload_fixed_ns);
  return cost;
}

Ticks TimeModel::BusyOfDmaPart(const DmaCost& cost,
                               const DmaShape& shape) const {
  const double rate = shape.row_bytes >= hardware_.dma.long_row_bytes
                          ? cost.law->payload_ns_per_byte_long
                          : cost.law->payload_ns_per_byte;
  return ToTicks(static_cast<double>(shape.bytes) * rate / cost.rate);
}

}  // namespace trnemu
