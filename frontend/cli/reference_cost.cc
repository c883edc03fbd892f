// What an operation costs: the laws of its opcodes, constant by constant.
#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "frontend/cli/reference.h"

namespace trnemu::cli {
namespace {

// A law's or a transfer's constants, in the description's order.
struct Group {
  std::string name;
  std::string values;
  std::vector<std::string> sources;
};

std::string Text(const ConstantInfo& c, std::string_view field) {
  const auto status = static_cast<size_t>(c.status);
  return Cat(field, " ", absl::StrFormat("%.10g", c.value),
             c.unit == "" ? "" : " ", c.unit, " (",
             kConstantStatusNames[status], ")");
}

void AddTo(std::vector<Group>& groups, std::string_view name,
           std::string_view field, const ConstantInfo& c) {
  if (groups.empty() || groups.back().name != name) {
    groups.push_back({std::string(name), "", {}});
  }
  Group& group = groups.back();
  group.values += Cat(group.values.empty() ? "" : ", ", Text(c, field));
  const std::string source =
      c.note.empty() ? c.source : Cat(c.source, " (", c.note, ")");
  auto& sources = group.sources;
  if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
    sources.push_back(source);
  }
}

// "law[TensorCopy vector any].fixed": the law and the field.
bool IsLawOf(std::string_view path, std::string_view opcode) {
  return path.starts_with("law[") && path.substr(4).starts_with(opcode) &&
         path.substr(4 + opcode.size()).starts_with(" ");
}

// "dma.load.start", or "dma.trigger": what every transfer pays.
bool IsDmaTime(const ConstantInfo& c) {
  return c.path.starts_with("dma.") &&
         (c.unit == "ns" || c.unit == "ns/B" || c.path.ends_with("_rate") ||
          c.path.starts_with("dma.transpose_rate"));
}

void AddDma(const Hardware& hardware, std::vector<Group>& groups) {
  for (const ConstantInfo& c : ListConstants(hardware)) {
    if (!IsDmaTime(c)) continue;
    const size_t dot = c.path.rfind('.');
    AddTo(groups, c.path.substr(0, dot), c.path.substr(dot + 1), c);
  }
}

void AddLaws(const Hardware& hardware, std::string_view opcode,
             std::vector<Group>& groups) {
  for (const ConstantInfo& c : ListConstants(hardware)) {
    if (!IsLawOf(c.path, opcode)) continue;
    const size_t end = c.path.find(']');
    AddTo(groups, c.path.substr(4, end - 4), c.path.substr(end + 2), c);
  }
}

}  // namespace

Table CostTable(const Hardware& hardware, const OperationInfo& operation) {
  std::vector<Group> groups;
  bool dma = false;
  for (const std::string_view name : OpcodesOf(operation)) {
    AddLaws(hardware, name, groups);
    for (const OpcodeInfo& o : Opcodes()) dma |= o.name == name && o.dma;
  }
  if (dma) AddDma(hardware, groups);
  Table table({"law", "constants", "source"});
  for (const Group& g : groups) {
    std::string sources;
    for (const std::string& s : g.sources) {
      sources += Cat(sources.empty() ? "" : "; ", s);
    }
    table.Add({g.name, g.values, sources});
  }
  return table;
}

}  // namespace trnemu::cli
