// Every diagnostic that is not a rule of the operations table: what causes it,
// an example, the fix. `trnemu explain` and docs/diagnostics.md are made of
// this table and of AllRules(); a test finds ids that are in neither.
#ifndef TRNEMU_ISA_DIAGNOSTIC_CATALOG_H_
#define TRNEMU_ISA_DIAGNOSTIC_CATALOG_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isa/diagnostic.h"

namespace trnemu {

struct CatalogEntry {
  std::string_view id;
  Category category;
  std::string_view cause;
  std::string_view example;
  std::string_view fix;
  Severity severity = Severity::kError;
  // --allow lets it pass, or keeps --strict from making it an error.
  bool can_be_allowed = false;
};

// Sorted by id.
std::span<const CatalogEntry> DiagnosticCatalog();
const CatalogEntry* FindCatalogEntry(std::string_view id);

// The ids of the catalogue and of all rules, sorted.
std::vector<std::string_view> DiagnosticIds();
// The category of a diagnostic of either.
std::optional<Category> CategoryOfId(std::string_view id);
// Whether --allow takes the id; false for one that nothing has.
bool CanBeAllowed(std::string_view id);
// The version of a diagnostic's JSON form (docs/json.md).
inline constexpr int kDiagnosticVersion = 1;
// What to do about it: its own remedy, or what the tables say of its id, so
// that no report is without.
std::string RemedyOf(const Diagnostic& diagnostic);

namespace catalog {
// The parts of the table, by who reports it.
std::span<const CatalogEntry> FileEntries();        // reading program files
std::span<const CatalogEntry> ProgramEntries();     // building and verifying
std::span<const CatalogEntry> RunEntries();         // executing
std::span<const CatalogEntry> GatherEntries();      // gathers, random numbers
std::span<const CatalogEntry> UnsettledEntries();   // docs/unspecified.md
std::span<const CatalogEntry> RaceEntries();        // races, overwritten tiles
std::span<const CatalogEntry> IndirectEntries();    // indirect views
std::span<const CatalogEntry> DebugEntries();       // looking on
std::span<const CatalogEntry> NkiEntries();         // kernels of nki
std::span<const CatalogEntry> CollectiveEntries();  // systems, ranks
std::span<const CatalogEntry> HostEntries();        // inputs, options, the host
}  // namespace catalog

}  // namespace trnemu

#endif  // TRNEMU_ISA_DIAGNOSTIC_CATALOG_H_
