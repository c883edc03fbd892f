#include "isa/passes/capacity.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

// A longer table ends with "and N more".
constexpr size_t kMaxRows = 64;

std::string SourceOf(const Hardware& hardware, const std::string& path) {
  for (const ConstantInfo& constant : hardware.constants) {
    if (constant.path == path) return constant.source;
  }
  return "";
}

Diagnostic Start(const Hardware& hardware, const Limit& limit, uint32_t core) {
  Diagnostic d;
  d.category = Category::kCapacity;
  const std::string space(Name(limit.space));
  d.id = absl::StrCat("allocate.", space);
  d.core = static_cast<int>(core);
  d.details = {{"target", hardware.name},
               {"memory", space},
               {"limit", absl::StrCat(limit.bytes, " bytes per partition")},
               {"limit constant", limit.constant}};
  std::string source = SourceOf(hardware, limit.constant);
  if (!source.empty()) d.details.push_back({"limit source", source});
  return d;
}

std::string Row(const Draft& draft, const LiveTile& tile, bool placed) {
  const Tensor& tensor = draft.program.tensors[tile.tensor];
  std::string row =
      absl::StrCat("'", tensor.name, "': ", tile.size, " bytes per partition");
  if (placed) absl::StrAppend(&row, " at byte ", tile.address);
  if (tensor.pinned) absl::StrAppend(&row, ", pinned");
  absl::StrAppend(&row, ", used by instructions ", tile.first, " to ",
                  tile.last);
  const std::string where = draft.program.DescribeSource(tensor.source);
  if (!where.empty()) absl::StrAppend(&row, " (", where, ")");
  return row;
}

// The tile at whose first use the tiles live (without obstacles) first need
// more than `limit`, if any.
std::optional<size_t> FirstOverflow(const std::vector<LiveTile>& tiles,
                                    int64_t limit) {
  using Expiry = std::pair<uint32_t, int64_t>;  // last, size
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> live;
  int64_t total = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    for (; !live.empty() && live.top().first < tiles[i].first; live.pop()) {
      total -= live.top().second;
    }
    live.push({tiles[i].last, tiles[i].size});
    total += tiles[i].size;
    if (total > limit) return i;
  }
  return std::nullopt;
}

std::vector<LiveTile> LiveAt(const std::vector<LiveTile>& obstacles,
                             const std::vector<LiveTile>& tiles,
                             uint32_t instruction) {
  std::vector<LiveTile> live;
  for (const auto* list : {&obstacles, &tiles}) {
    for (const LiveTile& tile : *list) {
      if (tile.first <= instruction && instruction <= tile.last) {
        live.push_back(tile);
      }
    }
  }
  std::stable_sort(
      live.begin(), live.end(),
      [](const LiveTile& a, const LiveTile& b) { return a.size > b.size; });
  return live;
}

void AddTable(const Draft& draft, const std::vector<LiveTile>& live,
              Diagnostic& d) {
  for (size_t i = 0; i < live.size() && i < kMaxRows; ++i) {
    const bool pinned = draft.program.tensors[live[i].tensor].pinned;
    d.related.push_back(Row(draft, live[i], pinned));
  }
  if (live.size() > kMaxRows) {
    d.related.push_back(absl::StrCat("and ", live.size() - kMaxRows, " more"));
  }
}

std::string Summary(const Limit& limit, const Hardware& hardware,
                    const Tensor& tensor, size_t count, int64_t total) {
  const std::string space(Name(limit.space));
  std::string text = absl::StrCat(
      space, " is full: with tile '", tensor.name, "', the ", count,
      count == 1 ? " tile live then takes " : " tiles live then take ", total,
      " bytes per partition; ", hardware.name, " has ", limit.bytes);
  if (total <= limit.bytes) {
    absl::StrAppend(&text, ", but not in one piece where it is needed");
  }
  return text;
}

}  // namespace

Limit LimitOf(Space space, const Program& program, const Hardware& hardware) {
  const MemoryLimits& memory = hardware.memory;
  if (space == Space::kPsum) {
    return {space, memory.psum_partition_bytes, "memory.psum_partition_bytes"};
  }
  if (program.swdge) {
    return {space, memory.sbuf_usable_partition_bytes_with_swdge,
            "memory.sbuf_usable_partition_bytes_with_swdge"};
  }
  return {space, memory.sbuf_usable_partition_bytes,
          "memory.sbuf_usable_partition_bytes"};
}

absl::Status DoesNotFit(const Draft& draft, const Hardware& hardware,
                        const Limit& limit, uint32_t core,
                        const std::vector<LiveTile>& obstacles,
                        const std::vector<LiveTile>& tiles, size_t failed) {
  const LiveTile& tile =
      tiles[FirstOverflow(tiles, limit.bytes).value_or(failed)];
  const Tensor& tensor = draft.program.tensors[tile.tensor];
  const Instruction& at = draft.instructions[core][tile.first];
  const auto live = LiveAt(obstacles, tiles, tile.first);
  int64_t total = 0;
  for (const LiveTile& t : live) total += t.size;
  Diagnostic d = Start(hardware, limit, core);
  d.message = Summary(limit, hardware, tensor, live.size(), total);
  d.operand = tensor.name;
  d.instruction = tile.first;
  d.operation = draft.program.operations[at.operation];
  d.opcode = std::string(Info(at.opcode).name);
  d.engine = std::string(Name(at.engine));
  d.source = draft.program.DescribeSource(
      tensor.source != kNoSource ? tensor.source : at.source);
  d.details.push_back({"total", absl::StrCat(total, " bytes per partition")});
  AddTable(draft, live, d);
  d.remedy = "use smaller tiles, or use each for a shorter time";
  return ToStatus(std::move(d));
}

absl::Status EndsOutside(const Draft& draft, const Hardware& hardware,
                         const Limit& limit, const Tensor& tensor,
                         int64_t address) {
  const int64_t size = tensor.bytes_per_partition();
  Diagnostic d = Start(hardware, limit, tensor.core);
  const std::string space(Name(limit.space));
  d.message = absl::StrCat("tile '", tensor.name, "' of ", size,
                           " bytes per partition at byte ", address,
                           " ends outside the ", limit.bytes, " bytes of ",
                           space, " that ", hardware.name, " has");
  d.operand = tensor.name;
  d.source = draft.program.DescribeSource(tensor.source);
  d.details.push_back({"address", absl::StrCat(address)});
  d.details.push_back({"size", absl::StrCat(size, " bytes per partition")});
  d.remedy = tensor.pinned ? "pin it to a lower address, or not at all"
                           : "use a smaller tile";
  return ToStatus(std::move(d));
}

}  // namespace trnemu
