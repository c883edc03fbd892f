// Constants of a generation, numeric rules, and one program: info.
#include <map>

#include "absl/strings/str_format.h"
#include "core/numerics/options.h"
#include "frontend/cli/reference.h"
#include "isa/access.h"

namespace trnemu::cli {
namespace {

std::string ValueText(const ConstantInfo& c) {
  if (c.unit == "bool") return c.value != 0 ? "yes" : "no";
  return absl::StrFormat("%.10g", c.value);
}

std::string_view StatusName(ConstantStatus status) {
  return kConstantStatusNames[static_cast<size_t>(status)];
}

// Instructions per engine and opcode, and bytes that tensors take.
struct Counts {
  std::map<std::string, int64_t> engines, opcodes, operations;
  int64_t hbm_bytes = 0, constant_bytes = 0;
  int64_t waits = 0, signals = 0;
};

Counts CountsOf(const Program& p) {
  Counts counts;
  for (const CoreProgram& core : p.cores) {
    for (const auto& stream : core.streams) {
      for (const Instruction& i : stream) {
        ++counts.engines[std::string(Name(i.engine))];
        ++counts.opcodes[std::string(Info(i.opcode).name)];
        if (i.step == 0) ++counts.operations[p.operations[i.operation]];
        counts.waits += i.num_waits;
        counts.signals += i.num_signals;
      }
    }
  }
  for (const Tensor& t : p.tensors) {
    if (t.on_chip()) continue;
    const int64_t bytes = t.nbytes();
    counts.hbm_bytes = bytes > INT64_MAX - counts.hbm_bytes
                           ? INT64_MAX
                           : counts.hbm_bytes + bytes;
    if (t.kind == TensorKind::kConstant) counts.constant_bytes += bytes;
  }
  return counts;
}

Table CountTable(const char* what, const std::map<std::string, int64_t>& map) {
  Table table({what, "instructions"});
  for (const auto& [name, count] : map) table.Add({name, Grouped(count)});
  return table;
}

std::string PlaceOf(const Tensor& t) {
  if (!t.on_chip()) return "";
  return Cat("core ", t.core, ", partition ", t.start_partition, ", byte ",
             t.byte_address);
}

constexpr size_t kMaxTiles = 40;  // that ProgramText lists

}  // namespace

Table ConstantsTable(std::span<const ConstantInfo> constants) {
  Table table({"constant", "value", "unit", "status", "source"});
  for (const ConstantInfo& c : constants) {
    table.Add({c.path, ValueText(c), c.unit, std::string(StatusName(c.status)),
               c.note.empty() ? c.source : Cat(c.source, " (", c.note, ")")});
  }
  return table;
}

std::string ConstantsText(const Hardware& hardware) {
  return Cat("Constants of ", hardware.name, " (", hardware.core, ", gen",
             hardware.generation, ")\n\n",
             ConstantsTable(hardware.constants).Text());
}

Json ConstantsJson(const Hardware& hardware) {
  return ConstantsJson(hardware.constants);
}

Json ConstantsJson(std::span<const ConstantInfo> constants) {
  Json list = Json::array();
  for (const ConstantInfo& c : constants) {
    Json json;
    json["path"] = c.path;
    json["value"] = c.value;
    json["unit"] = c.unit;
    json["status"] = std::string(StatusName(c.status));
    json["source"] = c.source;
    json["note"] = c.note.empty() ? Json(nullptr) : Json(c.note);
    list.push_back(std::move(json));
  }
  return list;
}

std::string NumericsText() {
  Table table({"key", "values (the first is the default)", "what it decides"});
  for (const NumericsKey& key : NumericsKeys()) {
    std::string values;
    for (const std::string_view value : key.values) {
      values += Cat(values.empty() ? "" : ", ", value);
    }
    table.Add({std::string(key.name), values, std::string(key.doc)});
  }
  return Cat("Numeric rules that documents leave open (--numerics KEY=VALUE)\n",
             "\n", table.Text());
}

Json NumericsJson() {
  Json list = Json::array();
  for (const NumericsKey& key : NumericsKeys()) {
    Json json;
    json["key"] = std::string(key.name);
    json["values"] = Json::array();
    for (const auto value : key.values) {
      json["values"].push_back(std::string(value));
    }
    json["default"] = std::string(key.values[0]);
    json["doc"] = std::string(key.doc);
    list.push_back(std::move(json));
  }
  return list;
}

std::string ProgramText(const Program& p, const std::string& path) {
  const Counts counts = CountsOf(p);
  Table tensors({"tensor", "kind", "dtype", "shape", "bytes", "where"});
  size_t tiles = 0;
  for (const Tensor& t : p.tensors) {
    if (t.on_chip() && ++tiles > kMaxTiles) continue;
    tensors.Add({t.name,
                 std::string(kTensorKindNames[static_cast<size_t>(t.kind)]),
                 std::string(Name(t.dtype)), DescribeShape(t.shape),
                 Grouped(t.nbytes()), PlaceOf(t)});
  }
  std::string text = Cat(
      "program       ", path, "\nname          ", p.name, "\ntarget        ",
      Name(p.target), "\nproducer      ", p.producer, "\ncores         ",
      p.cores.size(), "\ninstructions  ", Grouped(p.num_instructions()),
      "\nsemaphores    ", p.semaphores.size(), " (", Grouped(counts.waits),
      " waits, ", Grouped(counts.signals), " signals)\nHBM           ",
      Grouped(counts.hbm_bytes), " bytes, of them constants ",
      Grouped(counts.constant_bytes), "\n\n", tensors.Text());
  if (tiles > kMaxTiles) {
    text +=
        Cat("... and ", tiles - kMaxTiles, " more tiles (--json has all)\n");
  }
  text += Cat("\n", CountTable("engine", counts.engines).Text(), "\n",
              CountTable("opcode", counts.opcodes).Text());
  return text;
}

Json ProgramJson(const Program& p, const std::string& path) {
  const Counts counts = CountsOf(p);
  Json json;
  json["file"] = path;
  json["name"] = p.name;
  json["target"] = std::string(Name(p.target));
  json["producer"] = p.producer;
  json["cores"] = p.cores.size();
  json["instructions"] = p.num_instructions();
  json["semaphores"] = p.semaphores.size();
  json["hbm_bytes"] = counts.hbm_bytes;
  json["constant_bytes"] = counts.constant_bytes;
  json["engines"] = counts.engines;
  json["opcodes"] = counts.opcodes;
  json["operations"] = counts.operations;
  json["tensors"] = Json::array();
  for (const Tensor& t : p.tensors) {
    Json tensor;
    tensor["name"] = t.name;
    tensor["kind"] = std::string(kTensorKindNames[static_cast<size_t>(t.kind)]);
    tensor["dtype"] = std::string(Name(t.dtype));
    tensor["shape"] = t.shape;
    tensor["bytes"] = t.nbytes();
    if (t.on_chip()) {
      tensor["core"] = t.core;
      tensor["start_partition"] = t.start_partition;
      tensor["byte_address"] = t.byte_address;
    }
    json["tensors"].push_back(std::move(tensor));
  }
  return json;
}

}  // namespace trnemu::cli
