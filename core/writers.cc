#include "core/writers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/passes/accesses.h"

namespace trnemu {
namespace {

// Where the elements of an access are: bytes of the partition, or of the HBM
// tensor, at most.
std::pair<int64_t, int64_t> BytesOf(const Program& program, size_t core,
                                    const Access& access) {
  const Tensor& t = program.tensors[access.tensor];
  const auto size = static_cast<int64_t>(SizeOf(access.dtype));
  auto [low, high] = access.Extent();
  if (const Indirection* i = program.cores[core].IndirectionOf(access)) {
    const int64_t reach = i->step * (i->limit - 1);
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  }
  const int64_t base =
      (t.on_chip() ? static_cast<int64_t>(t.byte_address) : 0) +
      access.offset * size;
  return {base + low * size, base + (high + 1) * size};
}

int64_t FirstPartition(const Program& program, const Access& access) {
  return program.tensors[access.tensor].start_partition +
         access.start_partition;
}

// Whether an element of the pattern has bytes of [begin, end), counted from
// element 0 of the access.
bool HasElement(std::span<const Dim> dims, int64_t size, int64_t begin,
                int64_t end) {
  if (dims.empty()) return begin < size && end > 0;
  const Dim dim = dims.front();
  int64_t low = 0, high = size;  // of the dimensions inside
  for (const Dim& inner : dims.subspan(1)) {
    const int64_t reach = inner.step * (inner.count - 1) * size;
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  }
  for (int64_t i = 0; i < dim.count; ++i) {
    const int64_t at = i * dim.step * size;
    if (at + low >= end || at + high <= begin) continue;
    if (HasElement(dims.subspan(1), size, begin - at, end - at)) return true;
  }
  return false;
}

// In spite of an operand that is no input.
bool WritesNothing(Opcode opcode) {
  return opcode == Opcode::kPsumReset || opcode == Opcode::kCoreBarrier;
}

bool SameMemory(const Program& program, size_t core, const Access& access,
                const ByteRange& range) {
  if (access.space != range.space) return false;
  if (range.space == Space::kHbm) return access.tensor == range.tensor;
  const int64_t first = FirstPartition(program, access);
  return core == range.core && range.partition >= first &&
         range.partition < first + access.partitions;
}

}  // namespace

Touch Touches(const Program& program, size_t core, const Access& access,
              const ByteRange& range) {
  if (!SameMemory(program, core, access, range)) return Touch::kNo;
  const auto [low, high] = BytesOf(program, core, access);
  if (low >= range.end || high <= range.begin) return Touch::kNo;
  if (access.is_dynamic()) return Touch::kMay;
  const auto size = static_cast<int64_t>(SizeOf(access.dtype));
  const Tensor& t = program.tensors[access.tensor];
  const int64_t base =
      (t.on_chip() ? static_cast<int64_t>(t.byte_address) : 0) +
      access.offset * size;
  return HasElement(access.active_dims(), size, range.begin - base,
                    range.end - base)
             ? Touch::kYes
             : Touch::kNo;
}

std::vector<Writer> FindWriters(const Program& program, uint32_t tensor,
                                const ByteRange& range) {
  std::vector<Writer> writers;
  for (size_t core = 0; core < program.cores.size(); ++core) {
    const CoreProgram& pools = program.cores[core];
    for (const auto& stream : pools.streams) {
      for (const Instruction& i : stream) {
        if (WritesNothing(i.opcode)) continue;
        ForEachAccess(pools, i, [&](const Access& access, Role role, bool) {
          if (role == Role::kIn) return;
          const Touch touch = Touches(program, core, access, range);
          if (touch == Touch::kNo && access.tensor != tensor) return;
          // The scales of an MX tile are several accesses: one is enough.
          const bool again =
              !writers.empty() && writers.back().instruction == &i;
          if (again && writers.back().touch >= touch) return;
          if (again) writers.pop_back();
          writers.push_back({core, &i, access, touch});
        });
      }
    }
  }
  return writers;
}

std::string DescribeWriter(const Program& program, const Writer& writer) {
  const Instruction& i = *writer.instruction;
  std::string text = absl::StrCat("instruction ", i.order, ", ",
                                  program.operations[i.operation], " on the ",
                                  std::string(Name(i.engine)), " engine");
  if (program.cores.size() > 1) {
    absl::StrAppend(&text, " of core ", writer.core);
  }
  const std::string source = program.DescribeSource(i.source);
  if (!source.empty()) absl::StrAppend(&text, ", at ", source);
  return text;
}

std::string DescribeBox(const Program& program, const Writer& writer) {
  const Access& access = writer.access;
  const auto [low, high] = BytesOf(program, writer.core, access);
  std::string text = absl::StrCat("bytes ", low, " to ", high - 1);
  if (!access.on_chip()) return text;
  const int64_t first = FirstPartition(program, access);
  if (access.partitions == 1) {
    return absl::StrCat(text, " of partition ", first);
  }
  return absl::StrCat(text, " of partitions ", first, " to ",
                      first + access.partitions - 1);
}

}  // namespace trnemu
