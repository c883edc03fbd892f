#include "isa/diagnostic_catalog.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/operations.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

bool ById(const CatalogEntry& a, const CatalogEntry& b) { return a.id < b.id; }

// "Use fewer." as a line of a report has it: "use fewer".
std::string AsRemedy(std::string_view fix) {
  std::string text(fix);
  if (text.ends_with('.')) text.pop_back();
  const bool word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  if (word && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

}  // namespace

std::span<const CatalogEntry> DiagnosticCatalog() {
  static const auto* const all = [] {
    auto* entries = new std::vector<CatalogEntry>;
    for (const auto part :
         {catalog::FileEntries(), catalog::ProgramEntries(),
          catalog::RunEntries(), catalog::HostEntries(),
          catalog::GatherEntries(), catalog::UnsettledEntries(),
          catalog::IndirectEntries(), catalog::RaceEntries(),
          catalog::DebugEntries(), catalog::NkiEntries(),
          catalog::CollectiveEntries()}) {
      entries->insert(entries->end(), part.begin(), part.end());
    }
    std::sort(entries->begin(), entries->end(), ById);
    return entries;
  }();
  return *all;
}

const CatalogEntry* FindCatalogEntry(std::string_view id) {
  for (const CatalogEntry& entry : DiagnosticCatalog()) {
    if (entry.id == id) return &entry;
  }
  // One entry for what the device's own front end refuses of Python, of which
  // docs/nki-strict-frontend.md is the list.
  constexpr std::string_view kFrontEnd = "nki.strict";
  if (id.size() > kFrontEnd.size() && id.starts_with(kFrontEnd) &&
      id[kFrontEnd.size()] == '.') {
    return FindCatalogEntry(kFrontEnd);
  }
  return nullptr;
}

std::vector<std::string_view> DiagnosticIds() {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& e : DiagnosticCatalog()) ids.push_back(e.id);
  for (const Rule* rule : AllRules()) ids.push_back(rule->id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::optional<Category> CategoryOfId(std::string_view id) {
  if (const Rule* rule = FindRule(id)) return rule->category;
  if (const CatalogEntry* entry = FindCatalogEntry(id)) return entry->category;
  return std::nullopt;
}

bool CanBeAllowed(std::string_view id) {
  if (const Rule* rule = FindRule(id)) {
    Diagnostic d;
    d.id = rule->id;
    d.category = rule->category;
    return IsAllowed(d, {&d.id, 1});
  }
  const CatalogEntry* entry = FindCatalogEntry(id);
  return entry != nullptr && entry->can_be_allowed;
}

std::string RemedyOf(const Diagnostic& diagnostic) {
  if (!diagnostic.remedy.empty()) return diagnostic.remedy;
  if (const CatalogEntry* entry = FindCatalogEntry(diagnostic.id)) {
    return AsRemedy(entry->fix);
  }
  const Rule* rule = FindRule(diagnostic.id);
  if (rule == nullptr) return "";
  if (!rule->remedy.empty()) return std::string(rule->remedy);
  return absl::StrCat(
      "change the operands so that this holds: ", std::string(rule->text),
      "; trnemu explain ", diagnostic.id, " shows a call that is accepted");
}

}  // namespace trnemu
