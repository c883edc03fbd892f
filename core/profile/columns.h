// What the exports share: names, numbers as text, JSON in columns.
#ifndef TRNEMU_CORE_PROFILE_COLUMNS_H_
#define TRNEMU_CORE_PROFILE_COLUMNS_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/profile/report.h"
#include "isa/text.h"

namespace trnemu {

// Nanoseconds, exactly: "12", "12.5", "0.000001".
std::string NsText(Ticks t);
// A JSON string with its quotes; what is not UTF-8 becomes U+FFFD.
std::string Quoted(std::string_view text);
// The shortest text that reads back as the same number; 0 if not finite.
std::string NumberText(double value);

// The vendor's names: "Tensor", "MATMUL".
std::string_view VendorEngine(Engine engine);
std::string VendorOpcode(Opcode opcode);
// "qSync0": of a queue set, as the vendor names queues.
std::string QueueSetName(const Program& program, size_t set);

// Texts that many rows share, by index.
class TextTable {
 public:
  int32_t Add(const std::string& text);
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int32_t> index_;
};

// Disassembly of instructions, each once.
class InstructionTexts {
 public:
  explicit InstructionTexts(const ProfileReport& report);
  int32_t IndexOf(const InstructionRecord& r);
  const std::vector<std::string>& all() const { return texts_; }

 private:
  const ProfileReport& report_;
  Disassembler disassembler_;
  std::vector<std::string> texts_;
  std::vector<int32_t> index_;  // by the instruction's place; -1: none yet
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_COLUMNS_H_
