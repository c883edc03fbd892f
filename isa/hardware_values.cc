// Checking that the values of a hardware description make sense together.
#include <utility>

#include "isa/hardware_internal.h"
#include "isa/opcodes.h"

namespace trnemu::hardware {
namespace {

absl::Status CheckPositive(const pb::Hardware& in) {
  const std::pair<const char*, double> values[] = {
      {"memory.partitions", in.memory().partitions().value()},
      {"memory.psum_bank_bytes", in.memory().psum_bank_bytes().value()},
      {"memory.cores_per_device", in.memory().cores_per_device().value()},
      {"memory.hbm_stacks", in.memory().hbm_stacks().value()},
      {"memory.hbm_bandwidth", in.memory().hbm_bandwidth().value()},
      {"engines.tensor.clock", in.engines().tensor().clock().value()},
      {"engines.vector.clock", in.engines().vector().clock().value()},
      {"engines.scalar.clock", in.engines().scalar().clock().value()},
      {"engines.gpsimd.clock", in.engines().gpsimd().clock().value()},
      {"tensor_engine.throttled_rate",
       in.tensor_engine().throttled_rate().value()},
      {"dma.engines", in.dma().engines().value()},
      {"dma.queues_per_engine", in.dma().queues_per_engine().value()},
      {"dma.partitions_per_engine", in.dma().partitions_per_engine().value()},
      {"dma.packet_bytes", in.dma().packet_bytes().value()},
      {"dma.peak_rate", in.dma().peak_rate().value()},
      {"dma.rate", in.dma().rate().value()},
      {"access.sector_bytes", in.access().sector_bytes().value()},
      {"tensor_engine.throttle_full_rows",
       in.tensor_engine().throttle_full_rows().value()},
      {"tensor_engine.throttle_window",
       in.tensor_engine().throttle_window().value()},
      {"memory.hbm_stack_cores", in.memory().hbm_stack_cores().value()},
      {"dma.accumulate_rate", in.dma().accumulate_rate().value()},
      {"dma.transpose_rate_load", in.dma().transpose_rate_load().value()},
      {"dma.transpose_rate_on_chip",
       in.dma().transpose_rate_on_chip().value()}};
  for (const auto& [path, value] : values) {
    if (value <= 0) return Error(path, ".value is 0; it must be positive");
  }
  const std::pair<const char*, double> clocks[] = {
      {"tensor", in.engines().tensor().clock().value()},
      {"vector", in.engines().vector().clock().value()},
      {"scalar", in.engines().scalar().clock().value()},
      {"gpsimd", in.engines().gpsimd().clock().value()}};
  for (const auto& [engine, ghz] : clocks) {
    if (ghz >= 1e-3) continue;
    return Error("engines.", engine, ".clock.value is ", ghz,
                 "; it must be at least 0.001 GHz");
  }
  if (in.tensor_engine().throttled_rate().value() > 1) {
    return Error("tensor_engine.throttled_rate.value is above 1");
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(const MemoryLimits& memory) {
  if (memory.psum_banks * memory.psum_bank_bytes !=
      memory.psum_partition_bytes) {
    return Error("memory.psum_partition_bytes is ", memory.psum_partition_bytes,
                 ", but psum_banks x psum_bank_bytes is ",
                 memory.psum_banks * memory.psum_bank_bytes);
  }
  if (memory.sbuf_usable_partition_bytes > memory.sbuf_partition_bytes ||
      memory.sbuf_usable_partition_bytes_with_swdge >
          memory.sbuf_usable_partition_bytes) {
    return Error("memory.sbuf_usable_partition_bytes is ",
                 memory.sbuf_usable_partition_bytes, " of ",
                 memory.sbuf_partition_bytes, ", and ",
                 memory.sbuf_usable_partition_bytes_with_swdge,
                 " with software descriptor generation; each must not exceed "
                 "the one before");
  }
  return absl::OkStatus();
}

absl::Status CheckLaw(const PbLaw& law) {
  const std::string path = Join("law[", law.opcode(), "]");
  if (law.opcode() != kTableLoad && !OpcodeFromName(law.opcode())) {
    return Error(path, ".opcode names no opcode");
  }
  if (law.engine() != PbLaw::ANY_ENGINE && law.engine() != PbLaw::SYNC) {
    return absl::OkStatus();
  }
  const PbConstant* times[] = {
      &law.fixed(),          &law.per_element(),       &law.minimum(),
      &law.issue_fixed(),    &law.issue_per_element(), &law.issue_minimum(),
      &law.per_operand(),    &law.issue_maximum(),     &law.array_fixed(),
      &law.quadrant_change()};
  for (const PbConstant* time : times) {
    if (time->unit() == "cycles") {
      return Error(path, " has a time in cycles, but its engine has no clock");
    }
  }
  return absl::OkStatus();
}

// Every instruction must find a row: one without condition, and last.
absl::Status CheckRows(const Hardware& hardware, std::string_view opcode,
                       Engine engine) {
  const auto rows = LawsFor(hardware, opcode, engine);
  const std::string name = Join("law[", opcode, " ", Name(engine), " any]");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].unconditional() != (i + 1 == rows.size())) {
      return Error(name, " must be the last row of its opcode and engine");
    }
  }
  if (rows.empty()) return Error(name, " is missing");
  return absl::OkStatus();
}

absl::Status CheckCoverage(const Hardware& hardware) {
  absl::Status status = CheckRows(hardware, kTableLoad, Engine::kScalar);
  for (const OpcodeInfo& info : Opcodes()) {
    if (info.dma) continue;  // costed by dma
    for (Engine engine : kSequencers) {
      if (!status.ok()) return status;
      if ((info.engines & Bit(engine)) == 0) continue;
      status = CheckRows(hardware, info.name, engine);
    }
  }
  return status;
}

}  // namespace

absl::Status CheckValues(const pb::Hardware& in) {
  absl::Status status = CheckPositive(in);
  for (const PbLaw& law : in.law()) {
    if (status.ok()) status = CheckLaw(law);
  }
  return status;
}

absl::Status CheckTogether(const Hardware& hardware) {
  absl::Status status = CheckMemory(hardware.memory);
  return status.ok() ? CheckCoverage(hardware) : status;
}

}  // namespace trnemu::hardware
