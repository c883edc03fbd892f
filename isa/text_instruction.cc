#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/text_internal.h"
#include "isa/text_parser.h"

namespace trnemu::text {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename M>
bool ReadDims(Lexer& lexer, M* to) {
  do {
    uint32_t count = 0;
    int64_t step = 0;
    if (!lexer.Integer("a count", &count) || !lexer.Expect("x") ||
        !lexer.Integer("a step", &step)) {
      return false;
    }
    using Step = std::decay_t<decltype(to->step(0))>;
    if (static_cast<Step>(step) != step) return lexer.Fail("a smaller step");
    to->add_count(count);
    to->add_step(static_cast<Step>(step));
  } while (lexer.Accept(","));
  return true;
}

bool ReadDtype(Lexer& lexer, pb::Access* to) {
  std::string name;
  if (!lexer.Word("a dtype", &name)) return false;
  const auto dtype = DtypeFromName(name);
  if (!dtype || trnemu::Name(*dtype) != name) {
    return lexer.Fail(absl::StrCat("a dtype instead of `", name, "`"));
  }
  to->set_dtype(static_cast<pb::Dtype>(*dtype));
  return true;
}

// "first:last" of the partitions; nothing in HBM. The offset follows.
bool ReadStart(Lexer& lexer, pb::Access* to) {
  int64_t first = 0;
  if (!lexer.Integer("an offset or partition", &first)) return false;
  if (!lexer.Accept(":")) {
    to->set_offset(first);
    return true;
  }
  uint32_t end = 0;
  int64_t offset = 0;
  if (!lexer.Integer("a partition", &end)) return false;
  if (first < 0 || first >= end) return lexer.Fail("a range of partitions");
  if (!lexer.Expect(",") || !lexer.Integer("an offset", &offset)) return false;
  to->set_start_partition(static_cast<uint32_t>(first));
  to->set_partitions(end - static_cast<uint32_t>(first));
  to->set_offset(offset);
  return true;
}

bool WriteAttribute(Lexer& lexer, const FieldDescriptor* field, int64_t value,
                    Message* body) {
  const auto& reflection = *body->GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    reflection.SetBool(body, field, value != 0);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    reflection.SetInt64(body, field, value);
  } else if (value < 0 || value > 0xffffffff) {
    return lexer.Fail("a number of 32 bits");
  } else {
    reflection.SetUInt32(body, field, static_cast<uint32_t>(value));
  }
  return true;
}

bool ReadAttribute(Lexer& lexer, AttributeType type,
                   const FieldDescriptor* field, Message* body) {
  if (type == AttributeType::kDouble) {
    double value = 0;
    if (!lexer.Number("a number", &value)) return false;
    body->GetReflection()->SetDouble(body, field, value);
    return true;
  }
  if (type == AttributeType::kMask) {
    uint64_t mask = 0;
    if (!lexer.Integer("a whole number", &mask)) return false;
    body->GetReflection()->SetUInt64(body, field, mask);
    return true;
  }
  int64_t value = 0;
  const auto words = Vocabulary(type);
  if (words.empty()) {
    return lexer.Integer("a whole number", &value) &&
           WriteAttribute(lexer, field, value, body);
  }
  std::string word;
  if (!lexer.Word("a word", &word)) return false;
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) {
    std::string all;
    for (const std::string_view w : words) {
      absl::StrAppend(&all, all.empty() ? "" : ", ", std::string(w));
    }
    return lexer.Fail(absl::StrCat("one of ", all, " instead of `", word, "`"));
  }
  return WriteAttribute(lexer, field, at - words.begin(), body);
}

// A number, or a register such as r3.
bool ReadCount(Lexer& lexer, int64_t* value, bool* is_register) {
  uint32_t number = 0;
  if (!lexer.AcceptNumbered("r", &number)) {
    return lexer.Integer("a value or a register", value);
  }
  *value = number;
  *is_register = true;
  return true;
}

bool ReadWaits(Lexer& lexer, pb::Instruction* to) {
  uint32_t semaphore = 0;
  do {
    if (!lexer.AcceptNumbered("s", &semaphore)) {
      return lexer.Fail("a semaphore such as s0");
    }
    int64_t value = 0;
    bool is_register = false;
    if (!lexer.Expect(">=") || !ReadCount(lexer, &value, &is_register)) {
      return false;
    }
    pb::Wait* wait = to->add_waits();
    wait->set_semaphore(semaphore);
    if (is_register) wait->set_register_(true);
    wait->set_value(value);
    wait->set_consume(lexer.AcceptHere("/consume"));
  } while (Lexer(lexer).AcceptNumbered("s", &semaphore));
  return true;
}

bool ReadSignals(Lexer& lexer, pb::Instruction* to) {
  constexpr std::string_view kSigns[] = {"+=", "-=", "++", "--", ":="};
  uint32_t semaphore = 0;
  do {
    if (!lexer.AcceptNumbered("s", &semaphore)) {
      return lexer.Fail("a semaphore such as s0");
    }
    int op = 0;
    while (op < 5 && !lexer.Accept(kSigns[op])) ++op;
    if (op == 5) return lexer.Fail("one of += -= ++ -- :=");
    int64_t value = 0;
    bool is_register = false;
    if (!ReadCount(lexer, &value, &is_register)) return false;
    pb::Signal* signal = to->add_signals();
    signal->set_semaphore(semaphore);
    signal->set_op(static_cast<pb::SignalOp>(op + 1));
    signal->set_value(value);
    if (is_register) signal->set_register_(true);
    signal->set_at(lexer.AcceptHere("/read") ? pb::READ : pb::COMPLETE);
  } while (Lexer(lexer).AcceptNumbered("s", &semaphore));
  return true;
}

}  // namespace

void NameTable::Add(const std::string& name) {
  const auto [at, is_new] =
      index_of_.emplace(name, static_cast<int64_t>(names_.size()));
  if (!is_new) at->second = -1;
  names_.push_back(name);
}

bool NameTable::Read(Lexer& lexer, std::string_view what,
                     uint32_t* index) const {
  std::string name;
  if (lexer.Accept("%")) {
    if (!lexer.Integer("an index", index) ||
        !lexer.Quoted("the quoted name of that index", &name)) {
      return false;
    }
    if (*index < names_.size() && names_[*index] == name) return true;
    return lexer.Fail(absl::StrCat(std::string(what), " ", *index,
                                   " to be called ", Quote(name)));
  }
  if (!lexer.Name(what, &name)) return false;
  const auto at = index_of_.find(name);
  if (at == index_of_.end() || at->second < 0) {
    return lexer.Fail(absl::StrCat(
        at == index_of_.end() ? "a known " : "an index before the ambiguous ",
        std::string(what), " instead of ", Quote(name)));
  }
  *index = static_cast<uint32_t>(at->second);
  return true;
}

InstructionParser::InstructionParser(const Program& program) {
  for (const Tensor& tensor : program.tensors) tensors_.Add(tensor.name);
  for (const std::string& name : program.operations) operations_.Add(name);
}

bool InstructionParser::Parse(Lexer& lexer, pb::Instruction* to) const {
  uint32_t order = 0;
  uint32_t operation = 0;
  uint32_t step = 0;
  std::string name;
  if (!lexer.Expect("#") || !lexer.Integer("the order", &order) ||
      !operations_.Read(lexer, "operation", &operation) || !lexer.Expect(".") ||
      !lexer.Integer("the step", &step) || !lexer.Word("an opcode", &name)) {
    return false;
  }
  const auto opcode = OpcodeFromName(name);
  if (!opcode) {
    return lexer.Fail(absl::StrCat("an opcode instead of `", name, "`"));
  }
  to->set_order(order);
  to->set_operation(operation);
  to->set_step(step);
  return Slots(lexer, Info(*opcode), to);
}

// Operands, attributes, waits, signals and the source, to the line's end.
bool InstructionParser::Slots(Lexer& lexer, const OpcodeInfo& info,
                              pb::Instruction* to) const {
  const auto& schema =
      codec::GetSchema().bodies[static_cast<size_t>(info.opcode)];
  Message* body = to->GetReflection()->MutableMessage(to, schema.field);
  while (!lexer.AtEnd()) {
    std::string word;
    uint32_t source = 0;
    if (!to->has_source() && lexer.AcceptNumbered("@src", &source)) {
      to->set_source(source);
      continue;
    }
    if (!lexer.Word("an operand, attribute, wait, signal or @src", &word)) {
      return false;
    }
    bool good = false;
    if (lexer.Accept("=")) {
      good = Slot(lexer, info, word, body);
    } else if (word == "wait" && to->waits_size() == 0) {
      good = ReadWaits(lexer, to);
    } else if (word == "signal" && to->signals_size() == 0) {
      good = ReadSignals(lexer, to);
    } else {
      good = lexer.Fail(absl::StrCat("`=` after `", word, "`"));
    }
    if (!good) return false;
  }
  return true;
}

bool InstructionParser::Slot(Lexer& lexer, const OpcodeInfo& info,
                             const std::string& name, Message* body) const {
  const auto& schema =
      codec::GetSchema().bodies[static_cast<size_t>(info.opcode)];
  const auto& reflection = *body->GetReflection();
  for (size_t i = 0; i < info.operands.size(); ++i) {
    if (info.operands[i].name != name) continue;
    if (reflection.HasField(*body, schema.operands[i])) {
      return lexer.Fail(absl::StrCat("`", name, "` only once"));
    }
    return ReadOperand(lexer, info.operands[i].kind,
                       reflection.MutableMessage(body, schema.operands[i]));
  }
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    if (info.attributes[i].name != name) continue;
    if (reflection.HasField(*body, schema.attributes[i])) {
      return lexer.Fail(absl::StrCat("`", name, "` only once"));
    }
    return ReadAttribute(lexer, info.attributes[i].type, schema.attributes[i],
                         body);
  }
  return lexer.Fail(absl::StrCat("an operand or attribute of ",
                                 std::string(info.name), " instead of `", name,
                                 "`"));
}

bool InstructionParser::ReadOperand(Lexer& lexer, OperandKind kind,
                                    Message* to) const {
  if (kind == OperandKind::kPattern) {
    return lexer.Expect("<") &&
           ReadDims(lexer, static_cast<pb::Pattern*>(to)) && lexer.Expect(">");
  }
  if (kind == OperandKind::kAccess) {
    return ReadAccess(lexer, static_cast<pb::Access*>(to));
  }
  auto* either = static_cast<pb::Operand*>(to);
  if (kind == OperandKind::kRegister ||
      kind == OperandKind::kRegisterOrImmediate) {
    uint32_t reg = 0;
    double value = 0;
    if (lexer.AcceptNumbered("r", &reg)) {
      either->set_register_(reg);
    } else if (kind == OperandKind::kRegister) {
      return lexer.Fail("a register such as r0");
    } else if (lexer.Number("a register or a number", &value)) {
      either->set_immediate(value);
    } else {
      return false;
    }
    return true;
  }
  // A tensor may be called nan or inf: what decides is the bracket.
  Lexer ahead = lexer;
  double number = 0;
  if (ahead.Number("a number", &number) && ahead.Peek() != '[') {
    lexer = ahead;
    either->set_immediate(number);
    return true;
  }
  return ReadAccess(lexer, either->mutable_access());
}

bool InstructionParser::ReadAccess(Lexer& lexer, pb::Access* to,
                                   bool is_index) const {
  uint32_t tensor = 0;
  if (!tensors_.Read(lexer, "tensor", &tensor)) return false;
  to->set_tensor(tensor);
  if (!lexer.Expect("[") || !ReadStart(lexer, to) || !lexer.Expect("+") ||
      !ReadDims(lexer, to)) {
    return false;
  }
  // An index is static: hostile text cannot nest them.
  if (!is_index && lexer.Accept("@") &&
      !ReadIndirection(lexer, to->mutable_indirection())) {
    return false;
  }
  return lexer.Expect("]") && lexer.Expect(":") && ReadDtype(lexer, to);
}

// After the "@": kind, register or index, dim=, step=, limit=.
bool InstructionParser::ReadIndirection(Lexer& lexer,
                                        pb::Indirection* to) const {
  std::string word;
  if (!lexer.Word("register, scalar, vector or tensor", &word)) return false;
  const auto kind = FromName<IndirectionKind>(kIndirectionKindNames, word);
  if (!kind || word == kIndirectionKindNames[0]) {
    return lexer.Fail(absl::StrCat(
        "register, scalar, vector or tensor instead of `", word, "`"));
  }
  to->set_kind(static_cast<pb::IndirectionKind>(*kind));
  uint32_t reg = 0;
  if (*kind != IndirectionKind::kScalarRegister) {
    if (!ReadAccess(lexer, to->mutable_index(), true)) return false;
  } else if (lexer.AcceptNumbered("r", &reg)) {
    to->set_register_(reg);
  } else {
    return lexer.Fail("a register such as r0");
  }
  uint32_t dim = 0;
  int64_t step = 0;
  int64_t limit = 0;
  if (!lexer.Field("dim", &dim) || !lexer.Field("step", &step) ||
      !lexer.Field("limit", &limit)) {
    return false;
  }
  to->set_dim(dim);
  to->set_step(step);
  to->set_limit(limit);
  return true;
}

}  // namespace trnemu::text
