#include "isa/passes/capacity.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/passes/tile_table.h"

namespace trnemu {
namespace {

Diagnostic Start(const Hardware& hardware, const Limit& limit, uint32_t core) {
  Diagnostic d;
  d.category = Category::kCapacity;
  d.id = absl::StrCat("allocate.", std::string(Name(limit.space)));
  d.core = static_cast<int>(core);
  DescribeLimit(hardware, limit, d);
  return d;
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
  return live;
}

std::vector<LiveTile> MeetingWith(const std::vector<LiveTile>& obstacles,
                                  const std::vector<LiveTile>& tiles,
                                  const LiveTile& tile) {
  std::vector<LiveTile> meeting;
  for (const auto* list : {&obstacles, &tiles}) {
    for (const LiveTile& other : *list) {
      if (other.Meets(tile)) meeting.push_back(other);
    }
  }
  return meeting;
}

std::vector<TileRow> RowsOf(const Program& program,
                            const std::vector<LiveTile>& live) {
  std::vector<TileRow> rows;
  for (const LiveTile& tile : live) {
    TileRow row{tile.tensor, {}, std::pair(tile.first, tile.last)};
    if (program.tensors[tile.tensor].pinned) row.address = tile.address;
    rows.push_back(row);
  }
  return rows;
}

// All tiles of the memory that `tensor` is in.
std::vector<TileRow> TilesOf(const Program& program, const Tensor& tensor) {
  std::vector<TileRow> rows;
  for (uint32_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& t = program.tensors[i];
    if (t.space() != tensor.space() || t.core != tensor.core) continue;
    TileRow row{i, {}, {}};
    if (t.pinned) row.address = static_cast<int64_t>(t.byte_address);
    rows.push_back(row);
  }
  return rows;
}

// The nearest way out: `total` bytes of `live` tiles where `limit` fit.
std::string Remedy(const Program& program, const Hardware& hardware,
                   const Limit& limit, const std::vector<LiveTile>& live,
                   int64_t total) {
  const int64_t over = total - limit.bytes;
  if (over <= 0) {
    return "what is free is in several pieces: unpin or move a pinned tile, or "
           "end the use of one earlier";
  }
  const int64_t without = hardware.memory.sbuf_usable_partition_bytes;
  if (limit.space == Space::kSbuf && program.swdge && total <= without) {
    return absl::StrCat(
        "without transfers of software descriptors (row indices, "
        "dge_mode=\"swdge\") ",
        without, " bytes could be used");
  }
  const auto largest = std::max_element(
      live.begin(), live.end(),
      [](const LiveTile& a, const LiveTile& b) { return a.size < b.size; });
  return absl::StrCat(
      "free ", over, " bytes per partition: make a tile smaller (",
      program.tensors[largest->tensor].name, " takes ", largest->size,
      "), work on it in pieces, or end the use of one before the others begin");
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

std::string SourceOfLimit(const Hardware& hardware, const Limit& limit) {
  for (const ConstantInfo& constant : hardware.constants) {
    if (constant.path == limit.constant) return constant.source;
  }
  return "";
}

void DescribeLimit(const Hardware& hardware, const Limit& limit,
                   Diagnostic& d) {
  d.details.emplace_back("target", hardware.name);
  d.details.emplace_back("memory", std::string(Name(limit.space)));
  d.details.emplace_back("limit",
                         absl::StrCat(limit.bytes, " bytes per partition"));
  d.details.emplace_back("limit constant", limit.constant);
  std::string source = SourceOfLimit(hardware, limit);
  if (!source.empty()) d.details.emplace_back("limit source", source);
}

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
  // Where there is enough, what is in the way may come later.
  const std::vector<LiveTile> table =
      total > limit.bytes ? live : MeetingWith(obstacles, tiles, tile);
  d.related = TileTable(draft.program, RowsOf(draft.program, table));
  d.remedy = Remedy(draft.program, hardware, limit, live, total);
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
  d.related = TileTable(draft.program, TilesOf(draft.program, tensor));
  d.remedy = size > limit.bytes ? "use a smaller tile, or work on it in pieces"
             : tensor.pinned
                 ? absl::StrCat("pin it to byte ", limit.bytes - size,
                                " at most, or not at all")
                 : "use a smaller tile";
  return ToStatus(std::move(d));
}

}  // namespace trnemu
