#include "frontend/cli/memory_map.h"

#include "isa/file.h"

namespace trnemu::cli {
namespace {

Json TileOf(const MemorySpan& s, const Program& program) {
  const Tensor& t = program.tensors[s.tensor];
  Json json;
  json["name"] = t.name;
  json["core"] = s.core;
  json["buffer"] = std::string(Name(s.space));
  json["shape"] = t.shape;
  json["dtype"] = std::string(Name(t.dtype));
  json["start_partition"] = t.start_partition;
  json["address"] = s.address;
  json["bytes"] = s.bytes;
  json["first"] = s.first;
  json["last"] = s.last;
  json["pinned"] = t.pinned;
  json["source"] = program.DescribeSource(t.source);
  return json;
}

}  // namespace

absl::Status WriteMemoryMap(const std::string& path, const MemoryMap& map,
                            const Program& program) {
  if (path == "-") return absl::OkStatus();
  const std::string svg = MemoryMapSvg(map, program);
  const std::string_view parts[] = {svg};
  return WriteFileAtomically(path, parts);
}

Json MemoryMapJson(const std::string& path, const MemoryMap& map,
                   const Program& program) {
  Json json;
  json["file"] = path == "-" ? Json(nullptr) : Json(path);
  json["memories"] = Json::array();
  json["tiles"] = Json::array();
  for (const MemoryMapPart& part : map.parts) {
    Json memory;
    memory["core"] = part.core;
    memory["buffer"] = std::string(Name(part.limit.space));
    memory["peak"] = part.peak;
    memory["peak_at"] = part.peak_at;
    memory["end"] = part.end;
    memory["limit"] = part.limit.bytes;
    memory["limit_constant"] = part.limit.constant;
    memory["limit_source"] = part.limit_source;
    json["memories"].push_back(std::move(memory));
    for (const MemorySpan& s : part.spans) {
      json["tiles"].push_back(TileOf(s, program));
    }
  }
  return json;
}

}  // namespace trnemu::cli
