#include "core/host_memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memory/onchip.h"

namespace trnemu {
namespace {

constexpr size_t kListedTensors = 5;

// Bytes of a memory of which the tiles of `core` reach to `high` in each
// partition.
int64_t HighestByte(const Program& program, size_t core, Space space) {
  int64_t high = 0;
  for (const Tensor& t : program.tensors) {
    if (t.core != core || t.space() != space) continue;
    high = std::max(
        high, static_cast<int64_t>(t.byte_address) + t.bytes_per_partition());
  }
  return high;
}

int64_t ProgramBytes(const Program& program) {
  size_t bytes = 0;
  for (const CoreProgram& core : program.cores) {
    for (const auto& stream : core.streams) {
      bytes += stream.size() * sizeof(Instruction);
    }
    bytes += core.operands.size() * sizeof(Operand) +
             core.indirections.size() * sizeof(Indirection) +
             core.attributes.size() * sizeof(Attribute) +
             core.waits.size() * (sizeof(Wait) + sizeof(uint32_t)) +
             core.signals.size() * (sizeof(Signal) + sizeof(uint32_t));
  }
  return static_cast<int64_t>(bytes);
}

std::vector<std::string> LargestTensors(const Program& program) {
  std::vector<const Tensor*> tensors;
  for (const Tensor& t : program.tensors) {
    if (!t.on_chip()) tensors.push_back(&t);
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Tensor* a, const Tensor* b) {
                     return a->nbytes() > b->nbytes();
                   });
  std::vector<std::string> lines;
  for (const Tensor* t : tensors) {
    if (lines.size() == kListedTensors) {
      lines.push_back(
          absl::StrCat("and ", tensors.size() - kListedTensors, " more"));
      break;
    }
    const std::string source = program.DescribeSource(t->source);
    lines.push_back(absl::StrCat(
        std::string(kTensorKindNames[static_cast<size_t>(t->kind)]), " ",
        t->name, ", ", DescribeShape(t->shape), " ",
        std::string(Name(t->dtype)), ": ", t->nbytes(), " bytes",
        source.empty() ? "" : ", made at " + source));
  }
  return lines;
}

}  // namespace

std::vector<HostMemoryNeed> HostMemoryNeeds(const Program& program,
                                            const Hardware& hardware,
                                            const RunOptions& options) {
  int64_t hbm = 0, outputs = 0, inouts = 0, shadow = 0;
  for (const Tensor& t : program.tensors) {
    if (t.on_chip()) continue;
    hbm += t.nbytes();
    if (t.kind == TensorKind::kInOut) inouts += t.nbytes();
    if (options.values &&
        (t.kind == TensorKind::kInOut || t.kind == TensorKind::kOutput)) {
      outputs += t.nbytes();
    }
  }
  int64_t sbuf = 0, psum = 0;
  for (size_t core = 0; core < program.cores.size(); ++core) {
    sbuf += kPartitions * HighestByte(program, core, Space::kSbuf);
    psum += kPartitions * HighestByte(program, core, Space::kPsum);
  }
  // A bit a byte; of PSUM also two bits for two bytes, allocated whole.
  shadow = (hbm + sbuf + psum) / 8;
  shadow += static_cast<int64_t>(program.cores.size()) * kPartitions *
            hardware.memory.psum_partition_bytes / 8;
  return {{"hbm", hbm},
          {"sbuf", sbuf},
          {"psum", psum},
          {"shadow", shadow},
          {"outputs", outputs},
          {"inouts", inouts},
          {"program", ProgramBytes(program)}};
}

absl::Status CheckHostMemory(const Program& program, const Hardware& hardware,
                             const RunOptions& options) {
  if (!options.max_host_bytes) return absl::OkStatus();
  if (*options.max_host_bytes < 0) {
    return MakeFault(Category::kInput, "option.max_host_memory",
                     absl::StrCat("max_host_memory must not be negative, but "
                                  "it is ",
                                  *options.max_host_bytes));
  }
  const auto needs = HostMemoryNeeds(program, hardware, options);
  const int64_t total = std::accumulate(
      needs.begin(), needs.end(), int64_t{0},
      [](int64_t sum, const HostMemoryNeed& n) { return sum + n.bytes; });
  if (total <= *options.max_host_bytes) return absl::OkStatus();
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = "limit.host_memory";
  d.message = absl::StrCat("the run needs up to ", total,
                           " bytes of host memory, and the limit given is ",
                           *options.max_host_bytes);
  for (const HostMemoryNeed& need : needs) {
    d.details.emplace_back(need.what, absl::StrCat(need.bytes, " bytes"));
  }
  d.details.emplace_back("total", absl::StrCat(total, " bytes"));
  d.related = LargestTensors(program);
  d.remedy =
      "make the largest tensors smaller, or raise the limit: "
      "--max-host-memory BYTES (max_host_memory=BYTES)";
  return ToStatus(std::move(d));
}

}  // namespace trnemu
