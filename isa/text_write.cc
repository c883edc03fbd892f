// Program to text.
#include <algorithm>
#include <unordered_map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "isa/program_order.h"
#include "isa/text.h"
#include "isa/text_internal.h"

namespace trnemu {
namespace text {
namespace {

std::string Str(std::string_view view) { return std::string(view); }

std::string NameOrQuoted(const std::string& name) {
  return IsPlain(name) ? name : Quote(name);
}

void AppendSource(uint32_t source, std::string& line) {
  if (source != kNoSource) absl::StrAppend(&line, " @src", source);
}

std::string TensorLine(const Tensor& tensor) {
  std::string line =
      absl::StrCat(NameOrQuoted(tensor.name), " ",
                   Str(kTensorKindNames[static_cast<size_t>(tensor.kind)]), " ",
                   Str(Name(tensor.dtype)), " ", DescribeShape(tensor.shape));
  if (tensor.on_chip()) {
    absl::StrAppend(
        &line, " core=", tensor.core, " partition=", tensor.start_partition,
        " address=", tensor.byte_address, tensor.pinned ? " pinned" : "");
  }
  if (tensor.kind == TensorKind::kConstant) {
    absl::StrAppend(&line, " data=", tensor.data_offset);
  }
  AppendSource(tensor.source, line);
  return line;
}

template <typename T, typename Write>
void AddTable(std::string_view word, const std::vector<T>& table, Write write,
              std::vector<std::string>& lines) {
  for (size_t i = 0; i < table.size(); ++i) {
    lines.push_back(absl::StrCat(Str(word), " ", i, " ", write(table[i])));
  }
}

void WriteData(const Program& program, std::string& text) {
  if (!program.data || program.data->bytes().empty()) return;
  const auto data = program.data->bytes();
  absl::StrAppend(&text, "data ", data.size(), "\n");
  for (size_t at = 0; at < data.size(); at += kDataBytesPerLine) {
    const size_t n = std::min(kDataBytesPerLine, data.size() - at);
    absl::StrAppend(&text, "  ", at, ": ",
                    absl::BytesToHexString(absl::string_view(
                        reinterpret_cast<const char*>(data.data()) + at, n)),
                    "\n");
  }
}

void AppendDims(const Access& access, std::string& to) {
  bool first = true;
  for (const Dim& dim : access.active_dims()) {
    absl::StrAppend(&to, first ? "" : ",", dim.count, "x", dim.step);
    first = false;
  }
}

void AppendSync(const CoreProgram& core, const Instruction& instruction,
                std::string& line) {
  if (instruction.num_waits > 0) line += " wait";
  for (const Wait& wait : core.WaitsOf(instruction)) {
    absl::StrAppend(&line, " s", wait.semaphore,
                    ">=", wait.is_register ? "r" : "", wait.value,
                    wait.consume ? "/consume" : "");
  }
  constexpr std::string_view kSigns[] = {"?", "+=", "-=", "++", "--", ":="};
  if (instruction.num_signals > 0) line += " signal";
  for (const Signal& signal : core.SignalsOf(instruction)) {
    absl::StrAppend(&line, " s", signal.semaphore,
                    Str(kSigns[static_cast<size_t>(signal.op)]),
                    signal.is_register ? "r" : "", signal.value,
                    signal.at == SignalAt::kRead ? "/read" : "");
  }
}

std::string AttributeText(const Attribute& attribute, AttributeType type) {
  // Once per type, since it is asked for often.
  static const auto* const vocabularies = [] {
    auto* all =
        new std::array<std::vector<std::string_view>, kNumAttributeTypes>;
    for (size_t i = 0; i < all->size(); ++i) {
      (*all)[i] = Vocabulary(static_cast<AttributeType>(i));
    }
    return all;
  }();
  if (type == AttributeType::kDouble) return Number(attribute.real());
  if (type == AttributeType::kMask) return absl::StrCat(attribute.bits);
  const auto& words = (*vocabularies)[static_cast<size_t>(type)];
  if (attribute.bits < words.size()) return Str(words[attribute.bits]);
  return absl::StrCat(attribute.integer());
}

// How each element of a table of names is referred to.
std::vector<std::string> References(const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, int> uses;
  for (const std::string& name : names) ++uses[name];
  std::vector<std::string> references;
  for (size_t i = 0; i < names.size(); ++i) {
    references.push_back(uses[names[i]] == 1
                             ? NameOrQuoted(names[i])
                             : absl::StrCat("%", i, Quote(names[i])));
  }
  return references;
}

std::string ReferenceAt(const std::vector<std::string>& references,
                        size_t index) {
  return index < references.size() ? references[index]
                                   : absl::StrCat("%", index, "\"?\"");
}

}  // namespace

std::vector<std::string> HeaderLines(const Program& p) {
  std::vector<std::string> lines = {
      absl::StrCat("name ", Quote(p.name)),
      absl::StrCat("target ", Str(Name(p.target))),
      absl::StrCat("producer ", Quote(p.producer)),
      absl::StrCat("cores ", p.cores.size()),
      absl::StrCat("swdge ", p.swdge ? "true" : "false")};
  AddTable("file", p.files, Quote, lines);
  AddTable(
      "source", p.sources,
      [](const SourceLocation& s) {
        return absl::StrCat("file=", s.file, " line=", s.line,
                            " function=", Quote(s.function),
                            " label=", Quote(s.label));
      },
      lines);
  AddTable(
      "queue_set", p.queue_sets,
      [](const QueueSet& q) {
        return absl::StrCat("core=", q.core, " owner=", Str(Name(q.owner)),
                            " queues=", q.queues);
      },
      lines);
  AddTable(
      "semaphore", p.semaphores,
      [](const SemaphoreInfo& s) {
        return absl::StrCat("core=", s.core, " name=", Quote(s.name));
      },
      lines);
  AddTable(
      "replica_groups", p.replica_groups,
      [](const ReplicaGroups& groups) {
        std::string line;
        for (const auto& group : groups) {
          absl::StrAppend(&line, line.empty() ? "" : " ", "(",
                          absl::StrJoin(group, " "), ")");
        }
        return line;
      },
      lines);
  AddTable("operation", p.operations, NameOrQuoted, lines);
  AddTable("tensor", p.tensors, TensorLine, lines);
  return lines;
}

}  // namespace text

struct Disassembler::Names {
  std::vector<std::string> tensors;
  std::vector<std::string> operations;
};

Disassembler::Disassembler(const Program& program)
    : program_(program), names_(std::make_unique<Names>()) {
  std::vector<std::string> tensors;
  for (const Tensor& tensor : program.tensors) tensors.push_back(tensor.name);
  names_->tensors = text::References(tensors);
  names_->operations = text::References(program.operations);
}

Disassembler::~Disassembler() = default;

std::string Disassembler::AccessText(const CoreProgram& core,
                                     const Access& access) const {
  std::string line = text::ReferenceAt(names_->tensors, access.tensor) + "[";
  if (access.on_chip()) {
    absl::StrAppend(&line, access.start_partition, ":",
                    access.start_partition + access.partitions, ", ");
  }
  absl::StrAppend(&line, access.offset, "+");
  text::AppendDims(access, line);
  if (const Indirection* i = core.IndirectionOf(access)) {
    absl::StrAppend(
        &line, " @",
        text::Str(kIndirectionKindNames[static_cast<size_t>(i->kind)]), " ",
        i->has_index() ? AccessText(core, i->index) : absl::StrCat("r", i->reg),
        " dim=", static_cast<int>(i->dim), " step=", i->step,
        " limit=", i->limit);
  }
  absl::StrAppend(&line, "]:", text::Str(Name(access.dtype)));
  return line;
}

std::string Disassembler::Line(int core, const Operand& operand) const {
  const Access& access = operand.access;
  std::string line;
  switch (operand.kind) {
    case Operand::Kind::kAbsent:
      return "";
    case Operand::Kind::kImmediate:
      return text::Number(operand.immediate);
    case Operand::Kind::kRegister:
      return absl::StrCat("r", operand.reg());
    case Operand::Kind::kPattern:
      line = "<";
      text::AppendDims(access, line);
      return line + ">";
    case Operand::Kind::kAccess:
      break;
  }
  return AccessText(program_.cores[static_cast<size_t>(core)], access);
}

std::string Disassembler::Line(int core_index,
                               const Instruction& instruction) const {
  const CoreProgram& core = program_.cores[static_cast<size_t>(core_index)];
  const OpcodeInfo& info = Info(instruction.opcode);
  std::string line = absl::StrCat(
      text::Str(Name(instruction.engine)), " #", instruction.order, " ",
      text::ReferenceAt(names_->operations, instruction.operation), ".",
      static_cast<int>(instruction.step), " ", text::Str(info.name));
  const auto operands = core.OperandsOf(instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == Operand::Kind::kAbsent) continue;
    absl::StrAppend(&line, " ", text::Str(info.operands[i].name), "=",
                    Line(core_index, operands[i]));
  }
  const auto attributes = core.AttributesOf(instruction);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const AttributeSpec& spec = info.attributes[i];
    absl::StrAppend(&line, " ", text::Str(spec.name), "=",
                    text::AttributeText(attributes[i], spec.type));
  }
  text::AppendSync(core, instruction, line);
  text::AppendSource(instruction.source, line);
  return line;
}

std::string ToText(const Program& program) {
  std::string text = std::string(text::kFirstLine) + "\n";
  for (const std::string& line : text::HeaderLines(program)) {
    absl::StrAppend(&text, line, "\n");
  }
  text::WriteData(program, text);
  const Disassembler disassembler(program);
  for (size_t i = 0; i < program.cores.size(); ++i) {
    absl::StrAppend(&text, "core ", i, "\n");
    ProgramOrder order(program.cores[i]);
    while (const Instruction* next = order.Next()) {
      absl::StrAppend(&text, "  ",
                      disassembler.Line(static_cast<int>(i), *next), "\n");
    }
  }
  return text;
}

std::string DisassembleInstruction(const Program& program, int core,
                                   const Instruction& instruction) {
  return Disassembler(program).Line(core, instruction);
}

}  // namespace trnemu
