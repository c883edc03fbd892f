// Reading a complete hardware description into plain structs.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "isa/hardware_internal.h"

namespace trnemu::hardware {
namespace {

int64_t Whole(const PbConstant& constant) {
  return static_cast<int64_t>(constant.value());
}

// Nanoseconds of a time written in ns or in cycles of a clock of `ghz`.
double Ns(const PbConstant& constant, double ghz) {
  return constant.unit() == "cycles" ? constant.value() / ghz
                                     : constant.value();
}

MemoryLimits ReadMemory(const pb::Hardware::Memory& in) {
  MemoryLimits out;
  out.partitions = Whole(in.partitions());
  out.sbuf_partition_bytes = Whole(in.sbuf_partition_bytes());
  out.sbuf_usable_partition_bytes = Whole(in.sbuf_usable_partition_bytes());
  out.sbuf_usable_partition_bytes_with_swdge =
      Whole(in.sbuf_usable_partition_bytes_with_swdge());
  out.psum_partition_bytes = Whole(in.psum_partition_bytes());
  out.psum_banks = Whole(in.psum_banks());
  out.psum_bank_bytes = Whole(in.psum_bank_bytes());
  out.cores_per_device = Whole(in.cores_per_device());
  out.hbm_bytes = Whole(in.hbm_bytes());
  out.hbm_bytes_per_core = Whole(in.hbm_bytes_per_core());
  out.hbm_stacks = Whole(in.hbm_stacks());
  out.hbm_stack_cores = Whole(in.hbm_stack_cores());
  out.hbm_bandwidth = in.hbm_bandwidth().value();
  out.hbm_bandwidth_per_core = in.hbm_bandwidth_per_core().value();
  out.hbm_stack_bandwidth =
      out.hbm_bandwidth / static_cast<double>(out.hbm_stacks);
  return out;
}

EngineTiming ReadEngine(const pb::Hardware::EngineTiming& in) {
  EngineTiming out;
  out.clock_ghz = in.clock().value();
  out.minimum_issue_ns = Ns(in.minimum_issue(), out.clock_ghz);
  out.drain_ns = Ns(in.drain(), out.clock_ghz);
  if (in.has_strided_read()) out.strided_read = in.strided_read().value();
  if (in.has_strided_write()) out.strided_write = in.strided_write().value();
  if (in.has_wide_stride()) out.wide_stride_ns = in.wide_stride().value();
  return out;
}

void ReadEngines(const pb::Hardware::Engines& in, Hardware& out) {
  const auto at = [&out](Engine engine) -> EngineTiming& {
    return out.engines[static_cast<size_t>(engine)];
  };
  at(Engine::kTensor) = ReadEngine(in.tensor());
  at(Engine::kVector) = ReadEngine(in.vector());
  at(Engine::kScalar) = ReadEngine(in.scalar());
  at(Engine::kGpsimd) = ReadEngine(in.gpsimd());
  at(Engine::kSync).minimum_issue_ns = in.sync().minimum_issue().value();
}

AccessLimits ReadAccess(const pb::Hardware::Access& in) {
  AccessLimits out;
  out.max_count = Whole(in.max_count());
  out.min_step = Whole(in.min_step());
  out.max_step = Whole(in.max_step());
  out.max_free_dimensions = Whole(in.max_free_dimensions());
  out.sbuf_free_max = Whole(in.sbuf_free_max());
  out.psum_free_max = Whole(in.psum_free_max());
  out.sector_bytes = Whole(in.sector_bytes());
  out.wide_stride_from = Whole(in.wide_stride_from());
  out.wide_stride_to = Whole(in.wide_stride_to());
  return out;
}

TensorEngineLimits ReadTensorEngine(const pb::Hardware::TensorEngine& in) {
  TensorEngineLimits out;
  out.rows = Whole(in.rows());
  out.columns = Whole(in.columns());
  out.tile_min = Whole(in.tile_min());
  out.stationary_max = Whole(in.stationary_max());
  out.moving_max = Whole(in.moving_max());
  out.moving_max_bf16 = Whole(in.moving_max_bf16());
  out.throttled_rate = in.throttled_rate().value();
  out.throttle_utilization = in.throttle_utilization().value();
  out.throttle_window_ns = in.throttle_window().value();
  out.throttle_full_rows = Whole(in.throttle_full_rows());
  return out;
}

SequencerLimits ReadSequencer(const pb::Hardware::Sequencer& in) {
  SequencerLimits out;
  out.registers = Whole(in.registers());
  out.semaphores = Whole(in.semaphores());
  out.semaphore_max = Whole(in.semaphore_max());
  out.hand_off_ns = in.hand_off().value();
  out.launch_ns = in.launch().value();
  return out;
}

DmaLaw ReadDmaLaw(const pb::Hardware::DmaLaw& in) {
  DmaLaw out;
  out.spacing_ns = in.spacing().value();
  out.start_ns = in.start().value();
  out.payload_fixed_ns = in.payload_fixed().value();
  out.payload_ns_per_byte = in.payload_per_byte().value();
  out.notify_ns = in.notify().value();
  return out;
}

DmaLimits ReadDma(const pb::Hardware::Dma& in) {
  DmaLimits out;
  out.engines = Whole(in.engines());
  out.queues_per_engine = Whole(in.queues_per_engine());
  out.partitions_per_engine = Whole(in.partitions_per_engine());
  out.descriptor_dimensions = Whole(in.descriptor_dimensions());
  out.packet_bytes = Whole(in.packet_bytes());
  out.efficient_row_bytes = Whole(in.efficient_row_bytes());
  out.hwdge_units = Whole(in.hwdge_units());
  out.priorities = Whole(in.priorities());
  out.peak_rate = in.peak_rate().value();
  out.sustained_rate = in.sustained_rate().value();
  out.rate = in.rate().value();
  out.short_row_rate =
      in.has_short_row_rate() ? in.short_row_rate().value() : out.rate;
  out.descriptor_ns = in.per_descriptor().value();
  out.software_spacing_ns = in.software_spacing().value();
  out.static_spacing_ns = in.static_spacing().value();
  out.transpose_rate_load = in.transpose_rate_load().value();
  out.transpose_rate_on_chip = in.transpose_rate_on_chip().value();
  out.accumulate_rate = in.accumulate_rate().value();
  out.trigger_ns = in.trigger().value();
  out.trigger_gpsimd_ns = in.trigger_gpsimd().value();
  out.laws = {ReadDmaLaw(in.load()), ReadDmaLaw(in.store()),
              ReadDmaLaw(in.hbm()), ReadDmaLaw(in.on_chip())};
  return out;
}

Features ReadFeatures(const pb::Hardware::Features& in) {
  Features out;
#define TRNEMU_FEATURE(name) out.name = in.name().present()
  TRNEMU_FEATURE(fp8_double_row);
  TRNEMU_FEATURE(fp8_e4m3fn_matmul);
  TRNEMU_FEATURE(mx_matmul);
  TRNEMU_FEATURE(exact_tensor_transpose);
  TRNEMU_FEATURE(fast_fp32_transpose);
  TRNEMU_FEATURE(bf16_psum);
  TRNEMU_FEATURE(multi_bank_matmul);
  TRNEMU_FEATURE(psum_accumulates_any);
  TRNEMU_FEATURE(background_transpose);
  TRNEMU_FEATURE(activation_bias_immediate);
  TRNEMU_FEATURE(activation2);
  TRNEMU_FEATURE(scalar_bit_copy);
  TRNEMU_FEATURE(scalar_tensor_scalar);
  TRNEMU_FEATURE(scalar_16bit_mode);
  TRNEMU_FEATURE(vector_16bit_mode);
  TRNEMU_FEATURE(vector_exponential);
  TRNEMU_FEATURE(quantize_mx);
  TRNEMU_FEATURE(range_select);
  TRNEMU_FEATURE(nonzero_with_count);
  TRNEMU_FEATURE(rng_on_gpsimd);
  TRNEMU_FEATURE(rand2);
  TRNEMU_FEATURE(abs_max_min);
  TRNEMU_FEATURE(tensor_indirection);
  TRNEMU_FEATURE(hardware_dge);
  TRNEMU_FEATURE(dge_transpose);
  TRNEMU_FEATURE(dma_priority);
  TRNEMU_FEATURE(lnc2);
  TRNEMU_FEATURE(vector_gpsimd_parallel_sbuf);
  TRNEMU_FEATURE(vector_scalar_parallel_psum);
#undef TRNEMU_FEATURE
  return out;
}

// The conditions and functions a row asks for.
absl::Status ReadWhen(const PbLaw& in, CostLaw& out) {
  for (const int condition : in.when()) {
    if (condition == PbLaw::ANY) continue;
    out.when |= Fact(static_cast<CostCondition>(condition));
  }
  for (const std::string& name : in.functions()) {
    const auto function = ActFunctionFromName(name);
    if (!function) {
      return Error("law[", in.opcode(), "].functions: \"", name,
                   "\" is no activation function");
    }
    out.functions |= Member(*function);
  }
  return absl::OkStatus();
}

CostLaw ReadLaw(const PbLaw& in, const EngineTiming& engine) {
  const double ghz = engine.clock_ghz;
  CostLaw out;
  out.opcode = in.opcode();
  out.engine = static_cast<Engine>(in.engine());
  out.completion_fixed_ns = Ns(in.fixed(), ghz);
  out.completion_per_element_ns = Ns(in.per_element(), ghz);
  if (in.has_minimum()) out.completion_minimum_ns = Ns(in.minimum(), ghz);
  out.issue_fixed_ns =
      in.has_issue_fixed()
          ? Ns(in.issue_fixed(), ghz)
          : std::max(0.0, out.completion_fixed_ns - engine.drain_ns);
  out.issue_per_element_ns = in.has_issue_per_element()
                                 ? Ns(in.issue_per_element(), ghz)
                                 : out.completion_per_element_ns;
  out.issue_minimum_ns = in.has_issue_minimum() ? Ns(in.issue_minimum(), ghz)
                                                : engine.minimum_issue_ns;
  if (in.has_issue_maximum()) {
    out.issue_maximum_ns = Ns(in.issue_maximum(), ghz);
  }
  if (in.has_array_fixed()) out.array_fixed_ns = Ns(in.array_fixed(), ghz);
  if (in.has_quadrant_change()) {
    out.quadrant_change_ns = Ns(in.quadrant_change(), ghz);
  }
  if (in.has_per_operand()) out.per_operand_ns = Ns(in.per_operand(), ghz);
  out.operands_included = Whole(in.operands_included());
  return out;
}

absl::Status ReadLaws(const pb::Hardware& in, Hardware& out) {
  for (const PbLaw& law : in.law()) {
    out.laws.push_back(
        ReadLaw(law, out.engine(static_cast<Engine>(law.engine()))));
    absl::Status status = ReadWhen(law, out.laws.back());
    if (!status.ok()) return status;
  }
  std::stable_sort(
      out.laws.begin(), out.laws.end(), [](const CostLaw& a, const CostLaw& b) {
        return std::tie(a.opcode, a.engine) < std::tie(b.opcode, b.engine);
      });
  return absl::OkStatus();
}

absl::Status ReadTables(const pb::Hardware& in, Hardware& out) {
  out.activation_table_names = {""};
  std::set<ActFunction> seen;
  for (const auto& table : in.activation_table()) {
    uint8_t number = 0;
    if (table.name() != "none") {
      number = static_cast<uint8_t>(out.activation_table_names.size());
      out.activation_table_names.push_back(table.name());
    }
    for (const std::string& name : table.functions()) {
      const auto function = ActFunctionFromName(name);
      if (!function || !seen.insert(*function).second) {
        return Error(
            "activation_table[", table.name(), "].functions: \"", name,
            function ? "\" is in two tables" : "\" is no activation function");
      }
      out.activation_table[static_cast<size_t>(*function)] = number;
    }
  }
  for (const ActInfo& info : kActFunctions) {
    if (seen.count(info.function) == 0) {
      return Error("activation_table: no table lists \"", info.name, "\"");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadIdentity(const pb::Hardware& in, Hardware& out) {
  const auto target = TargetFromName(in.name());
  if (!target) return Error("name is \"", in.name(), "\", which is no target");
  out.target = *target;
  out.name = in.name();
  out.core = in.core();
  out.generation = Whole(in.generation());
  if (out.generation != static_cast<int64_t>(*target)) {
    return Error("generation.value is ", out.generation, ", but ", in.name(),
                 " is generation ", static_cast<int>(*target));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Read(const pb::Hardware& in, Hardware& out) {
  absl::Status status = ReadIdentity(in, out);
  if (!status.ok()) return status;
  out.memory = ReadMemory(in.memory());
  ReadEngines(in.engines(), out);
  out.access = ReadAccess(in.access());
  out.tensor = ReadTensorEngine(in.tensor_engine());
  out.sequencer = ReadSequencer(in.sequencer());
  out.dma = ReadDma(in.dma());
  out.features = ReadFeatures(in.features());
  status = ReadLaws(in, out);
  return status.ok() ? ReadTables(in, out) : status;
}

}  // namespace trnemu::hardware
