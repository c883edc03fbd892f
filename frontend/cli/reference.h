// Reference material made from the tables: diagnostics, operations, opcodes,
// constants; as text, JSON and Markdown.
#ifndef TRNEMU_FRONTEND_CLI_REFERENCE_H_
#define TRNEMU_FRONTEND_CLI_REFERENCE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/cli/common.h"
#include "frontend/cli/page.h"
#include "frontend/cli/table.h"
#include "isa/hardware.h"
#include "isa/operations.h"
#include "isa/program.h"

namespace trnemu::cli {

// A diagnostic, whether it is a rule or of the catalogue. What does not apply
// is "".
struct Description {
  std::string id;
  std::string category, severity;
  std::string layer, evidence;  // rules
  std::string rule;             // the expression that must hold
  std::string cause, example, fix, reference;
  bool can_be_allowed = false;
  // Executed by the tests; "" where `unexecuted` says why there is none.
  std::string code, language, unexecuted;
};
std::optional<Description> Describe(std::string_view id);
std::string Text(const Description& description);
Json ToJson(const Description& description);
// Every id with a line, by category.
std::string DiagnosticsList();

// The names of nki.isa, of which the operations table has a part.
struct Coverage {
  std::vector<std::string_view> implemented, missing;
  // Rows of the table that are of nki.collectives, and trnemu's own.
  std::vector<std::string_view> collectives, own;
};
Coverage CoverageOfNki();

// The opcodes an operation becomes.
std::vector<std::string_view> OpcodesOf(const OperationInfo& operation);

// "a, b".
std::string Joined(const std::vector<std::string_view>& names);
std::string EnginesOf(const OpcodeInfo& opcode);  // "any" where every one can
std::string OperandsOf(const OpcodeInfo& opcode);
std::string AttributesOf(const OpcodeInfo& opcode);

// Everything about an operation, for a terminal or as docs/operations/NAME.md.
std::string OperationPage(const OperationInfo& operation, Style style);
Json OperationJson(const OperationInfo& operation);
// "trn2, trn3": the generations that have it.
std::string GenerationsOf(const OperationInfo& operation);
// Parts of docs/operations.md: links to the pages; rules of every operand.
std::string OperationsIndex();
std::string OperandRules();
// The laws of its opcodes on a generation, with their status and source.
Table CostTable(const Hardware& hardware, const OperationInfo& operation);
// docs/coverage.md, as it was when the binary was built; or its section on one
// operation, "" if it has none.
std::string CoverageText();
std::string CoverageText(const OperationInfo& operation);
// docs/examples/NAME.py.
std::string_view ExampleOf(const OperationInfo& operation);

// The tables of `info`, as text; and the same as JSON.
Table ConstantsTable(std::span<const ConstantInfo> constants);
std::string ConstantsText(const Hardware& hardware);
std::string OperationsText();
std::string OpcodesText(const Hardware& hardware);
std::string NumericsText();
std::string ProgramText(const Program& program, const std::string& path);
Json ConstantsJson(std::span<const ConstantInfo> constants);
Json ConstantsJson(const Hardware& hardware);
Json OperationsJson();
Json CoverageJson();
Json OpcodesJson(const Hardware& hardware);
Json NumericsJson();
Json ProgramJson(const Program& program, const std::string& path);

// docs/diagnostics.md and docs/operations.md.
std::string DiagnosticsMarkdown();
std::string OperationsMarkdown();

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_REFERENCE_H_
