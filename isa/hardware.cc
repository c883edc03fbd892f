#include "isa/hardware.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "isa/hardware_internal.h"

namespace trnemu {
namespace {

absl::Status Refused(const absl::Status& status) {
  const absl::string_view message = status.message();
  return hardware::Error("hardware description: ",
                         std::string_view(message.data(), message.size()));
}

// The built-in descriptions are tested; one that does not load is a bug.
std::array<Hardware, kTargets.size()> LoadEmbedded() {
  std::array<Hardware, kTargets.size()> all;
  for (const auto& [stem, text] : EmbeddedHardwareFiles()) {
    auto hardware = LoadHardware(text);
    if (!hardware.ok()) {
      std::fprintf(stderr, "trnemu: isa/hardware/%s.textproto: %s\n",
                   std::string(stem).c_str(),
                   hardware.status().ToString().c_str());
      std::abort();
    }
    const auto index = static_cast<size_t>(hardware->target) -
                       static_cast<size_t>(kTargets.front());
    all[index] = *std::move(hardware);
  }
  return all;
}

}  // namespace

std::string_view Name(Target target) {
  constexpr std::array<std::string_view, 3> kNames = {"trn1", "trn2", "trn3"};
  return kNames[static_cast<size_t>(target) -
                static_cast<size_t>(kTargets.front())];
}

std::optional<Target> TargetFromName(std::string_view name) {
  constexpr std::pair<std::string_view, Target> kNames[] = {
      {"trn1", Target::kTrn1}, {"gen2", Target::kTrn1}, {"inf2", Target::kTrn1},
      {"trn2", Target::kTrn2}, {"gen3", Target::kTrn2}, {"trn3", Target::kTrn3},
      {"gen4", Target::kTrn3}};
  for (const auto& [known, target] : kNames) {
    if (known == name) return target;
  }
  return std::nullopt;
}

const Hardware& HardwareFor(Target target) {
  static const auto* all =
      new std::array<Hardware, kTargets.size()>(LoadEmbedded());
  return (*all)[static_cast<size_t>(target) -
                static_cast<size_t>(kTargets.front())];
}

absl::StatusOr<Hardware> LoadHardware(std::string_view textproto) {
  pb::Hardware parsed;
  absl::Status status = hardware::Parse(textproto, parsed);
  Hardware out;
  if (status.ok()) status = hardware::CheckComplete(parsed, out.constants);
  if (status.ok()) status = hardware::CheckValues(parsed);
  if (status.ok()) status = hardware::Read(parsed, out);
  if (status.ok()) status = hardware::CheckTogether(out);
  if (!status.ok()) return Refused(status);
  return out;
}

std::vector<ConstantInfo> ListConstants(const Hardware& hardware) {
  return hardware.constants;
}

std::span<const CostLaw> LawsFor(const Hardware& hardware,
                                 std::string_view opcode, Engine engine) {
  const auto key_of = [](const CostLaw& law) {
    return std::pair<std::string_view, Engine>(law.opcode, law.engine);
  };
  const auto rows = [&](Engine e) {
    const std::pair<std::string_view, Engine> key(opcode, e);
    const auto begin = std::partition_point(
        hardware.laws.begin(), hardware.laws.end(),
        [&](const CostLaw& law) { return key_of(law) < key; });
    const auto end =
        std::find_if(begin, hardware.laws.end(),
                     [&](const CostLaw& law) { return key_of(law) != key; });
    return std::span<const CostLaw>(begin, end);
  };
  const auto exact = rows(engine);
  return exact.empty() ? rows(Engine::kUnknown) : exact;
}

const CostLaw* FindLaw(std::span<const CostLaw> rows, CostFacts facts,
                       FunctionSet functions) {
  for (const CostLaw& law : rows) {
    if ((law.when & ~facts) == 0 &&
        (law.functions == 0 || (law.functions & functions) != 0)) {
      return &law;
    }
  }
  return nullptr;
}

const CostLaw* FindLaw(const Hardware& hardware, std::string_view opcode,
                       Engine engine, CostFacts facts, FunctionSet functions) {
  return FindLaw(LawsFor(hardware, opcode, engine), facts, functions);
}

}  // namespace trnemu
