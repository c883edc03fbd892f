// Diagnostics: explain, and docs/diagnostics.md.
#include <algorithm>
#include <map>

#include "frontend/cli/reference.h"
#include "isa/diagnostic_catalog.h"
#include "isa/verify.h"

namespace trnemu::cli {
namespace {

std::string_view SeverityName(Severity severity) {
  return severity == Severity::kWarning ? "warning" : "error";
}

bool CanBeAllowed(const Rule& rule) {
  Diagnostic d;
  d.id = rule.id;
  d.category = rule.category;
  return IsAllowed(d, {&d.id, 1});
}

// "{P:data}" of a rule's message as people read it: "<P of data>".
std::string Readable(std::string_view message) {
  std::string out;
  for (size_t at = 0; at < message.size(); ++at) {
    const size_t close =
        message[at] == '{' ? message.find('}', at) : message.npos;
    if (close == message.npos) {
      out += message[at];
      continue;
    }
    const std::string_view inside = message.substr(at + 1, close - at - 1);
    const size_t colon = inside.find(':');
    if (colon == inside.npos) {
      out += Cat("<", inside, ">");
    } else {
      out += Cat("<", inside.substr(0, colon), " of ", inside.substr(colon + 1),
                 ">");
    }
    at = close;
  }
  return out;
}

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

Description DescribeRule(const Rule& rule) {
  Description d;
  d.id = rule.id;
  d.category = Name(rule.category);
  d.severity = SeverityName(rule.severity);
  d.layer = kLayerNames[static_cast<size_t>(rule.layer)];
  d.evidence = kEvidenceNames[static_cast<size_t>(rule.evidence)];
  d.rule = rule.text;
  d.cause = Readable(rule.message);
  d.fix = !rule.remedy.empty() ? Capital(std::string(rule.remedy))
          : !d.rule.empty()    ? "Change the operands so that the rule holds."
                               : "Give what the message says is expected.";
  d.reference = rule.source;
  d.can_be_allowed = CanBeAllowed(rule);
  return d;
}

Description DescribeEntry(const CatalogEntry& entry) {
  Description d;
  d.id = entry.id;
  d.category = Name(entry.category);
  d.severity = SeverityName(entry.severity);
  d.cause = entry.cause;
  d.example = entry.example;
  d.fix = entry.fix;
  d.can_be_allowed = entry.can_be_allowed;
  return d;
}

void AddLine(std::string& text, std::string_view label,
             const std::string& value) {
  if (value.empty()) return;
  std::string padded(label);
  padded.resize(10, ' ');
  text += Cat(padded, value, "\n");
}

// Headings by what the id is about: the part before the dot.
std::string GroupOf(std::string_view id) {
  return std::string(id.substr(0, id.find('.')));
}

void AddPage(const Description& d, std::string& text) {
  text += Cat("### `", d.id, "`\n\n");
  text += Cat(d.category, ", ", d.severity);
  if (!d.layer.empty()) text += Cat(", ", d.layer, " layer, ", d.evidence);
  text += d.can_be_allowed ? Cat(". `--allow ", d.id, "` lets it pass.\n\n")
                           : ". Cannot be allowed.\n\n";
  if (!d.rule.empty()) text += Cat("* *Rule:* `", d.rule, "`\n");
  text += Cat("* *", d.rule.empty() && d.layer.empty() ? "Cause" : "Says",
              ":* ", d.cause, "\n");
  if (!d.example.empty()) text += Cat("* *Example:* ", d.example, "\n");
  text += Cat("* *Fix:* ", d.fix, "\n");
  if (!d.reference.empty()) text += Cat("* *Source:* ", d.reference, "\n");
  text += "\n";
}

}  // namespace

std::optional<Description> Describe(std::string_view id) {
  if (const Rule* rule = FindRule(id)) return DescribeRule(*rule);
  if (const CatalogEntry* entry = FindCatalogEntry(id)) {
    return DescribeEntry(*entry);
  }
  return std::nullopt;
}

std::string Text(const Description& d) {
  std::string text = Cat(d.id, " (", d.category, ", ", d.severity, ")\n\n");
  AddLine(text, "rule", d.rule);
  AddLine(text, d.layer.empty() ? "cause" : "says", d.cause);
  AddLine(text, "example", d.example);
  AddLine(text, "fix", d.fix);
  AddLine(text, "layer", d.layer);
  AddLine(text, "evidence", d.evidence);
  AddLine(text, "source", d.reference);
  AddLine(text, "allow",
          d.can_be_allowed ? Cat("--allow ", d.id, " lets it pass")
                           : "cannot be allowed");
  return text;
}

Json ToJson(const Description& d) {
  Json json;
  json["id"] = d.id;
  json["category"] = d.category;
  json["severity"] = d.severity;
  for (const auto& [key, value] :
       {std::pair("layer", &d.layer), std::pair("evidence", &d.evidence),
        std::pair("rule", &d.rule), std::pair("cause", &d.cause),
        std::pair("example", &d.example), std::pair("fix", &d.fix),
        std::pair("reference", &d.reference)}) {
    json[key] = value->empty() ? Json(nullptr) : Json(*value);
  }
  json["can_be_allowed"] = d.can_be_allowed;
  return json;
}

Table DiagnosticTable() {
  Table table({"id", "category", "severity", "meaning"});
  for (const std::string_view id : DiagnosticIds()) {
    const Description d = *Describe(id);
    table.Add({d.id, d.category, d.severity, d.cause});
  }
  return table;
}

std::string DiagnosticsMarkdown() {
  std::string text =
      "# Diagnostics\n\n"
      "<!-- Generated by scripts/gen_docs from the tables; do not edit. -->\n\n"
      "Everything trnemu says is an id, a category, one sentence, and who, "
      "what, where. `trnemu explain ID` prints these pages. Exit codes: 1 for "
      "a fault in the program, 2 for `input`, 3 for `unsupported`, 4 for "
      "`malformed`, 70 for `internal`. `<P of data>` in a message stands for "
      "the partitions of operand data, `F` for its elements per partition, "
      "`dt` for its dtype, `buf` for its memory.\n\n";
  std::map<std::string, std::vector<Description>> groups;
  for (const std::string_view id : DiagnosticIds()) {
    groups[GroupOf(id)].push_back(*Describe(id));
  }
  for (const auto& [group, pages] : groups) {
    text += Cat("## ", group, "\n\n");
    for (const Description& d : pages) AddPage(d, text);
  }
  text.pop_back();
  return text;
}

}  // namespace trnemu::cli
