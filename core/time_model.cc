#include "core/time_model.h"

#include <algorithm>
#include <cmath>

#include "core/time_facts.h"

namespace trnemu {
namespace {

// Descriptor generators belong to sequencers (trainium2_arch.rst:347 names sync
// and scalar); the others are taken to share them in this order.
int GeneratorOf(Engine trigger, int64_t units) {
  constexpr std::array<int, 7> kTurn = {0, 4, 1, 2, 0, 3, 0};
  return static_cast<int>(kTurn[static_cast<size_t>(trigger)] % units);
}

}  // namespace

void Cost::Stretch(double factor) {
  const auto stretched = [factor](Ticks t) {
    return Saturated(static_cast<double>(t) * factor);
  };
  issue = issue_fixed + std::max(issue_least, stretched(stream));
  completion += stretched(array) - array;
}

DmaDirection DirectionOf(const Tile& dst, const Tile& src) {
  const bool to_hbm = dst.space == Space::kHbm;
  const bool from_hbm = src.space == Space::kHbm;
  if (to_hbm) return from_hbm ? DmaDirection::kHbm : DmaDirection::kStore;
  return from_hbm ? DmaDirection::kLoad : DmaDirection::kOnChip;
}

TimeModel::TimeModel(const Hardware& hardware) : hardware_(hardware) {
  for (const OpcodeInfo& info : Opcodes()) {
    for (Engine e : kSequencers) {
      if (!(info.engines & Bit(e))) continue;
      Rows& rows =
          rows_[static_cast<size_t>(info.opcode)][static_cast<size_t>(e)];
      rows.laws = LawsFor(hardware, info.name, e);
      for (const CostLaw& law : rows.laws) rows.asked |= law.when;
    }
  }
  if (const CostLaw* law =
          FindLaw(hardware, "LoadActivationTable", Engine::kScalar, 0)) {
    table_load_ = ToTicks(law->completion_fixed_ns);
  }
  hand_off_ = ToTicks(hardware.sequencer.hand_off_ns);
}

AppliedLaw TimeModel::LawOf(Opcode opcode, const ExecuteArgs& args,
                            CostFacts known) const {
  const Rows& rows = RowsOf(opcode, args.engine);
  AppliedLaw of;
  of.law = FindLaw(rows.laws, FactsOf(opcode, args, rows.asked) | known,
                   FunctionOf(opcode, args));
  if (of.law == nullptr) return of;
  const EngineTiming& engine = hardware_.engine(args.engine);
  const StrideCost strides = StridesOf(opcode, args, hardware_.access);
  of.elements = CountOf(opcode, args);
  of.strided = of.elements + std::max({0.0, strides.read * engine.strided_read,
                                       strides.write * engine.strided_write});
  of.wide_ns = of.elements * strides.wide * engine.wide_stride_ns;
  if (of.law->per_operand_ns > 0) {
    of.extra_ns =
        of.law->per_operand_ns *
        static_cast<double>(std::max<int64_t>(
            0, ColumnOperands(opcode, args) - of.law->operands_included));
  }
  return of;
}

Cost TimeModel::CostOf(Opcode opcode, const ExecuteArgs& args,
                       CostFacts known) const {
  const auto [law, n, m, wide, extra] = LawOf(opcode, args, known);
  if (law == nullptr) return {};
  double stream = m * law->issue_per_element_ns + wide;
  if (law->issue_maximum_ns > 0) {
    stream = std::min(stream, law->issue_maximum_ns);
  }
  Cost cost;
  cost.issue_fixed = ToTicks(law->issue_fixed_ns + extra);
  cost.issue_least = ToTicks(law->issue_minimum_ns);
  cost.stream = ToTicks(stream);
  cost.issue = cost.issue_fixed + std::max(cost.issue_least, cost.stream);
  cost.array = ToTicks(law->array_fixed_ns +
                       std::max(law->completion_minimum_ns,
                                m * law->completion_per_element_ns + wide));
  cost.completion = ToTicks(law->completion_fixed_ns + extra) + cost.array;
  cost.quadrant_change = ToTicks(law->quadrant_change_ns);
  return cost;
}

DmaCost TimeModel::CostOfDma(const DmaTransfer& transfer, Engine trigger,
                             DgeMode mode) const {
  const Tile& src = transfer.srcs[0].tile;
  DmaCost cost = CostOfDma(transfer.dst.tile, src, trigger);
  SetGeneration(&transfer, trigger, mode, cost);
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
  cost.notify = ToTicks(cost.law->notify_ns);
  cost.hbm_sides =
      (dst.space == Space::kHbm ? 1 : 0) + (src.space == Space::kHbm ? 1 : 0);
  SetGeneration(nullptr, trigger, DgeMode::kUnknown, cost);
  return cost;
}

// Hardware makes the descriptors where it can and nothing else is asked for;
// not those of gathers and scatters (trainium2_arch.rst:364).
void TimeModel::SetGeneration(const DmaTransfer* transfer, Engine trigger,
                              DgeMode mode, DmaCost& cost) const {
  const DmaLimits& dma = hardware_.dma;
  bool rows = false;
  if (transfer != nullptr) {
    rows = transfer->dst.has_rows;
    for (const DmaOperand& src : transfer->sources()) {
      rows = rows || src.has_rows;
    }
  }
  const bool hardware = dma.hwdge_units > 0 && !rows;
  if (mode == DgeMode::kNone) {
    cost.generation = Generation::kStatic;
    cost.spacing = ToTicks(dma.static_spacing_ns);
  } else if (hardware && mode != DgeMode::kSwdge) {
    cost.generation = Generation::kHardware;
    cost.spacing = ToTicks(cost.law->spacing_ns);
    cost.generator = GeneratorOf(trigger, dma.hwdge_units);
  } else {
    cost.generation = Generation::kSoftware;
    cost.spacing = ToTicks(dma.software_spacing_ns);
  }
}

DmaPartTime TimeModel::TimeOfDmaPart(const DmaCost& cost, const DmaShape& shape,
                                     double hbm_rate,
                                     int64_t packet_bytes) const {
  const DmaLimits& dma = hardware_.dma;
  if (packet_bytes == 0) packet_bytes = dma.packet_bytes;
  const double bytes = static_cast<double>(shape.bytes);
  const double rows = static_cast<double>(std::max<int64_t>(1, shape.rows));
  const double row = bytes / rows;
  const double packets =
      rows * std::ceil(row / static_cast<double>(packet_bytes));
  // A longer row takes no longer than the longest short one until its bytes do.
  const double full = static_cast<double>(dma.efficient_row_bytes);
  const double busy_row =
      std::min(row / dma.short_row_rate,
               std::max(full / dma.short_row_rate, row / dma.rate));
  double at_rate = busy_row * rows / cost.rate;
  if (cost.hbm_sides > 0) {
    // The engines of a core together have its share of the stack.
    const double share =
        hbm_rate / static_cast<double>(dma.engines * cost.hbm_sides);
    at_rate = std::max(at_rate, bytes / share);
  }
  const double p = cost.law->payload_ns_per_byte;
  const double alone =
      std::min(row * p,
               std::max(static_cast<double>(dma.efficient_row_bytes) * p,
                        row / dma.rate)) *
      rows / cost.rate;
  DmaPartTime time;
  time.busy = ToTicks(packets * dma.descriptor_ns + at_rate);
  time.payload =
      std::max(time.busy, ToTicks(cost.law->payload_fixed_ns + alone));
  return time;
}

double TimeModel::HbmRateOf(const DmaCost& cost, const DmaShape& shape,
                            const DmaPartTime& time) const {
  return static_cast<double>(hardware_.dma.engines * cost.hbm_sides *
                             shape.bytes) *
         kTicksPerNs / static_cast<double>(std::max<Ticks>(1, time.busy));
}

}  // namespace trnemu
