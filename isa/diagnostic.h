// What trnemu says when a program, an input or trnemu itself is at fault.
//
// A Diagnostic crosses module boundaries inside an absl::Status (as a payload)
// and reaches people as text, JSON, or trnemu.Fault in Python. Nothing here
// throws or exits.
#ifndef TRNEMU_ISA_DIAGNOSTIC_H_
#define TRNEMU_ISA_DIAGNOSTIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace trnemu {

// The closed list of fault categories (design section 6).
enum class Category : uint8_t {
  kMalformed = 0,
  kInput,
  kIllegal,
  kCapacity,
  kUninitialized,
  kOutOfBounds,
  kRace,
  kDeadlock,
  kUnspecified,
  kUnsupported,
  kLimit,
  kInternal,
};
inline constexpr int kNumCategories = 12;

enum class Severity : uint8_t { kError = 0, kWarning = 1 };

std::string_view Name(Category category);
std::optional<Category> CategoryFromName(std::string_view name);

struct Diagnostic {
  Category category = Category::kInternal;
  Severity severity = Severity::kError;
  // Stable, dotted: "tensor_tensor.both_in_psum". What --allow takes.
  std::string id;
  // One sentence: the operand, the limit, the actual value.
  std::string message;
  // Who. Empty or unset where it does not apply.
  std::string operation;
  std::string opcode;
  std::optional<int64_t> instruction;  // program order within the core
  std::string engine;
  std::optional<int> core;
  std::optional<int> rank;
  std::string operand;
  std::string source;  // "file:line", with the function where known
  // What else is known, in order: shapes, limits, values, target.
  std::vector<std::pair<std::string, std::string>> details;
  // Other instructions or tensors involved, a sentence each.
  std::vector<std::string> related;
  // What to do next, and where the rule is documented.
  std::string remedy;
  std::string reference;
  // How often the same finding occurred (1 = once).
  int64_t count = 1;
  // Of a deadlock: who waits for whom, a JSON object (docs/deadlock.md); else
  // "".
  std::string wait_graph;
};

// The whole report as people read it; several lines, no trailing newline.
std::string Render(const Diagnostic& diagnostic);
// One JSON object, one line. FromJson returns nothing if the text is not one.
std::string ToJson(const Diagnostic& diagnostic);
std::optional<Diagnostic> FromJson(std::string_view json);

// The status that carries `diagnostic`; its code follows from the category.
absl::Status ToStatus(Diagnostic diagnostic);
// A status with only a category, an id and a message.
absl::Status MakeFault(Category category, std::string_view id,
                       std::string_view message);
// The diagnostic a status carries; one of category internal that quotes the
// message for a foreign status. The status must not be OK.
Diagnostic DiagnosticOf(const absl::Status& status);

}  // namespace trnemu

#endif  // TRNEMU_ISA_DIAGNOSTIC_H_
