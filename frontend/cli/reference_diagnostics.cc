// Diagnostics: explain, and docs/diagnostics.md.
#include <algorithm>
#include <map>

#include "frontend/cli/diagnostic_examples.h"
#include "frontend/cli/reference.h"
#include "isa/diagnostic_catalog.h"

namespace trnemu::cli {
namespace {

std::string_view SeverityName(Severity severity) {
  return severity == Severity::kWarning ? "warning" : "error";
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
  d.can_be_allowed = CanBeAllowed(rule.id);
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
  if (!d.unexecuted.empty()) {
    text += Cat("* *Not executed:* ", d.unexecuted, "\n");
  }
  text += "\n";
  if (!d.code.empty()) {
    text += Cat("```", d.language, "\n", d.code, "\n```\n\n");
  }
}

// How many ids have an executed example, and which have none.
std::string ExecutedParagraph() {
  size_t executed = 0;
  std::vector<std::string> others;
  const auto ids = DiagnosticIds();
  for (const std::string_view id : ids) {
    if (!ExampleOfId(id).code.empty()) {
      ++executed;
    } else {
      others.push_back(Cat("`", id, "`"));
    }
  }
  std::string text =
      Cat(executed, " of the ", ids.size(),
          " ids have an example that the tests execute twice: as it stands, "
          "which must report the id, and with the lines behind `# fix:` in "
          "place of what stands before, which must be accepted. `import numpy "
          "as np, trnemu` comes first; a builder `b` is built and verified at "
          "the end; `k.trn` is a small program with an input `x`, and `x.npy` "
          "an array for it ([how they are kept](diagnostics/README.md)). The ",
          others.size(), " without say why: ");
  for (size_t i = 0; i < others.size(); ++i) {
    text += Cat(i == 0 ? "" : ", ", others[i]);
  }
  return text + ".\n\n";
}

}  // namespace

std::optional<Description> Describe(std::string_view id) {
  Description d;
  if (const Rule* rule = FindRule(id)) {
    d = DescribeRule(*rule);
  } else if (const CatalogEntry* entry = FindCatalogEntry(id)) {
    d = DescribeEntry(*entry);
  } else {
    return std::nullopt;
  }
  DiagnosticExample example = ExampleOfId(id);
  d.code = std::move(example.code);
  d.language = d.code.empty() ? "" : std::move(example.language);
  d.unexecuted = std::move(example.reason);
  return d;
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
  AddLine(text, "no code", d.unexecuted);
  if (!d.code.empty()) {
    text += Cat("\nAn example, and behind \"# fix:\" its repair (", d.language,
                "):\n\n", d.code, "\n");
  }
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
        std::pair("reference", &d.reference), std::pair("code", &d.code),
        std::pair("language", &d.language),
        std::pair("unexecuted", &d.unexecuted)}) {
    json[key] = value->empty() ? Json(nullptr) : Json(*value);
  }
  json["can_be_allowed"] = d.can_be_allowed;
  return json;
}

std::string DiagnosticsList() {
  std::map<Category, Table> categories;
  for (const std::string_view id : DiagnosticIds()) {
    const Description d = *Describe(id);
    categories.try_emplace(*CategoryOfId(id), Table({"id", "meaning"}))
        .first->second.Add(
            {d.id, Cat(d.severity == "warning" ? "warning: " : "", d.cause)});
  }
  std::string text;
  for (const auto& [category, table] : categories) {
    text += Cat(text.empty() ? "" : "\n", Name(category), "\n\n", table.Text());
  }
  return text;
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
  text += ExecutedParagraph();
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
