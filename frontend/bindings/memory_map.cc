// MemoryMap: what is live where in SBUF and PSUM.
#include "isa/passes/memory_map.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"

namespace trnemu::bindings {
namespace {

nb::dict RowOf(const Program& program, const MemorySpan& s) {
  const Tensor& t = program.tensors[s.tensor];
  nb::dict row;
  row["name"] = t.name;
  row["core"] = s.core;
  row["buffer"] = std::string(Name(s.space));
  row["shape"] = FromShape(t.shape);
  row["dtype"] = FromDtype(t.dtype);
  row["start_partition"] = t.start_partition;
  row["address"] = s.address;
  row["bytes"] = s.bytes;
  row["first"] = s.first;
  row["last"] = s.last;
  row["pinned"] = t.pinned;
  row["source"] = program.DescribeSource(t.source);
  return row;
}

nb::list Rows(const BoundMap& m) {
  nb::list rows;
  for (const MemoryMapPart& part : m.map.parts) {
    for (const MemorySpan& s : part.spans) rows.append(RowOf(*m.program, s));
  }
  return rows;
}

nb::list Memories(const BoundMap& m) {
  nb::list memories;
  for (const MemoryMapPart& part : m.map.parts) {
    nb::dict memory;
    memory["core"] = part.core;
    memory["buffer"] = std::string(Name(part.limit.space));
    memory["peak"] = part.peak;
    memory["peak_at"] = part.peak_at;
    memory["end"] = part.end;
    memory["limit"] = part.limit.bytes;
    memory["limit_constant"] = part.limit.constant;
    memory["limit_source"] = part.limit_source;
    memories.append(memory);
  }
  return memories;
}

}  // namespace

BoundMap MapMemory(const BoundProgram& p,
                   const std::optional<std::string>& target) {
  const Hardware& hardware =
      HardwareFor(target ? ToTarget(*target) : p.program->target);
  const nb::gil_scoped_release release;
  return {p.program, MakeMemoryMap(*p.program, hardware)};
}

void BindMemoryMap(nb::module_& m) {
  nb::class_<BoundMap>(
      m, "MemoryMap",
      "What is live where in SBUF and PSUM, from Program.memory_map(). str() "
      "draws it for a terminal.")
      .def_prop_ro("rows", &Rows,
                   nb::sig("def rows(self) -> list[dict[str, typing.Any]]"),
                   "A dict for each tile that an instruction uses: name, core, "
                   "buffer, shape, dtype, start_partition, address and bytes "
                   "(of a partition), first and last instruction, pinned, "
                   "source.")
      .def_prop_ro("memories", &Memories,
                   nb::sig("def memories(self) -> list[dict[str, typing.Any]]"),
                   "A dict for each memory with tiles: core, buffer, peak "
                   "(bytes per partition live at once) and the instruction "
                   "peak_at, end (of the highest tile), limit, limit_constant, "
                   "limit_source.")
      .def(
          "to_svg",
          [](const BoundMap& map) {
            return MemoryMapSvg(map.map, *map.program);
          },
          "The picture, as the text of an SVG file.")
      .def("__str__",
           [](const BoundMap& map) {
             return MemoryMapText(map.map, *map.program);
           })
      .def("__repr__", [](const BoundMap& map) {
        size_t tiles = 0;
        for (const auto& part : map.map.parts) tiles += part.spans.size();
        return absl::StrCat("<MemoryMap of ", map.program->name, ", ", tiles,
                            tiles == 1 ? " tile>" : " tiles>");
      });
}

}  // namespace trnemu::bindings
