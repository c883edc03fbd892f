// Reads instruction lines of the text form. Internal to isa/: sees protobuf.
#ifndef TRNEMU_ISA_TEXT_PARSER_H_
#define TRNEMU_ISA_TEXT_PARSER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/codec_internal.h"
#include "isa/text_lexer.h"

namespace trnemu::text {

// The indices of a table of names, as the text refers to them.
class NameTable {
 public:
  void Add(const std::string& name);
  // `name` if it is unique, or %index"name".
  bool Read(Lexer& lexer, std::string_view what, uint32_t* index) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> index_of_;  // -1: several
};

// Turns lines into protobuf, which the codec then checks.
class InstructionParser {
 public:
  // Of a program whose header is complete.
  explicit InstructionParser(const Program& program);
  // After the engine's name. False: the lexer holds the error.
  bool Parse(Lexer& lexer, pb::Instruction* to) const;

 private:
  bool Slots(Lexer& lexer, const OpcodeInfo& info, pb::Instruction* to) const;
  bool Slot(Lexer& lexer, const OpcodeInfo& info, const std::string& name,
            google::protobuf::Message* body) const;
  bool ReadOperand(Lexer& lexer, OperandKind kind,
                   google::protobuf::Message* to) const;
  bool ReadAccess(Lexer& lexer, pb::Access* to, bool is_index = false) const;
  bool ReadIndirection(Lexer& lexer, pb::Indirection* to) const;

  NameTable tensors_;
  NameTable operations_;
};

}  // namespace trnemu::text

#endif  // TRNEMU_ISA_TEXT_PARSER_H_
