#include "isa/diagnostic_catalog.h"

#include <algorithm>

#include "isa/operations.h"

namespace trnemu {
namespace {

bool ById(const CatalogEntry& a, const CatalogEntry& b) { return a.id < b.id; }

}  // namespace

std::span<const CatalogEntry> DiagnosticCatalog() {
  static const auto* const all = [] {
    auto* entries = new std::vector<CatalogEntry>;
    for (const auto part :
         {catalog::FileEntries(), catalog::ProgramEntries(),
          catalog::RunEntries(), catalog::HostEntries(),
          catalog::GatherEntries(), catalog::UnsettledEntries(),
          catalog::IndirectEntries()}) {
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

}  // namespace trnemu
