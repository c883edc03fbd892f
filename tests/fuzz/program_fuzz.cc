// libFuzzer over decode, verify, run: whatever the bytes, the answer is a
// program that runs, or a diagnostic that is not of category internal.
//
// Built by scripts/fuzz (clang, ASan and UBSan). The first byte chooses order
// and checks, the rest is the file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "collectives/cluster.h"
#include "core/device.h"
#include "isa/container.h"
#include "isa/system.h"
#include "isa/text.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

// Programs that would only make the fuzzer slow are not run.
constexpr int64_t kMostBytes = int64_t{8} << 20;
constexpr int64_t kMostInstructions = 2000;

void Require(const absl::Status& status) {
  const Diagnostic d = DiagnosticOf(status);
  if (d.category != Category::kInternal && !d.id.empty() &&
      !d.message.empty()) {
    return;
  }
  std::fprintf(stderr, "%s\n", Render(d).c_str());
  std::abort();
}

bool SmallEnough(const Program& program) {
  int64_t bytes = 0;
  for (const Tensor& t : program.tensors) {
    if (t.on_chip()) continue;
    if (t.nbytes() > kMostBytes - bytes) return false;
    bytes += t.nbytes();
  }
  return program.num_instructions() <= kMostInstructions;
}

RunOptions OptionsOf(uint8_t choice) {
  RunOptions options;
  options.order = static_cast<Order>(choice % 3);
  options.schedule_seed = choice;
  options.time = options.order == Order::kTimed;
  options.checks = (choice & 4) ? Checks::kOff : Checks::kFull;
  options.max_instructions = kMostInstructions;
  options.stop_at_nan = (choice & 8) != 0;
  return options;
}

bool HasCollectives(const Program& program) {
  for (const CoreProgram& core : program.cores) {
    for (Engine engine : kSequencers) {
      for (const Instruction& i : core.stream(engine)) {
        if (IsCollective(i.opcode) || i.opcode == Opcode::kRankId) return true;
      }
    }
  }
  return false;
}

// Two ranks of a system of its generation.
absl::Status RunOnRanks(std::shared_ptr<const Program> program,
                        const Inputs& inputs, uint8_t choice) {
  const char* const names[] = {"trn1.32xlarge", "trn2.48xlarge", "trn3-gen1"};
  auto system = FindSystem(names[static_cast<size_t>(program->target) - 2]);
  if (!system.ok()) return system.status();
  const int lnc = program->target == Target::kTrn1 ? 1 : 2;
  auto topology = Topology::Make(*system, 2, lnc, {});
  if (!topology.ok()) return topology.status();
  RunOptions options = OptionsOf(choice);
  options.order = Order::kTimed;
  options.time = true;
  options.stop_at_nan = false;
  options.max_time_ns = 1e8;
  ClusterOptions cluster;
  cluster.threads = 1;
  return RunCluster(*topology, {std::move(program)}, {inputs}, options, cluster)
      .status();
}

void RunOnZeros(std::shared_ptr<const Program> program, uint8_t choice) {
  std::vector<std::vector<std::byte>> zeros;
  Inputs inputs;
  for (const Tensor& t : program->tensors) {
    if (t.kind != TensorKind::kInput && t.kind != TensorKind::kInOut) continue;
    zeros.emplace_back(static_cast<size_t>(t.nbytes()));
    InputArray array;
    array.dtype = t.dtype;
    array.shape = t.shape;
    array.bytes = zeros.back();
    inputs[t.name] = array;
  }
  if (HasCollectives(*program)) {
    const absl::Status status = RunOnRanks(program, inputs, choice);
    if (!status.ok()) Require(status);
  }
  const auto result = RunProgram(std::move(program), inputs, OptionsOf(choice));
  if (!result.ok()) Require(result.status());
}

void TryOne(std::span<const std::byte> bytes, uint8_t choice) {
  auto program = ReadProgramBytes(bytes);
  if (!program.ok()) return Require(program.status());
  // What decodes prints, and what prints parses.
  const auto again = FromText(ToText(*program));
  if (!again.ok()) {
    std::fprintf(stderr, "%s\n", again.status().ToString().c_str());
    std::abort();
  }
  for (Target target : kTargets) VerifyProgram(*program, HardwareFor(target));
  if (!SmallEnough(*program)) return;
  RunOnZeros(std::make_shared<Program>(*std::move(program)), choice);
}

}  // namespace
}  // namespace trnemu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  trnemu::TryOne(std::as_bytes(std::span(data + 1, size - 1)), data[0]);
  return 0;
}
