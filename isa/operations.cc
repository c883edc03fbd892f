#include "isa/operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "isa/operations/rows.h"

namespace trnemu {
namespace {

constexpr std::array kFoundation = {
    &rows::kNcMatmul,     &rows::kNcTranspose,  &rows::kActivation,
    &rows::kTensorReduce, &rows::kTensorTensor, &rows::kScalarTensorTensor,
    &rows::kTensorScalar, &rows::kTensorCopy,   &rows::kReciprocal,
    &rows::kIota,         &rows::kAffineSelect, &rows::kMemset,
    &rows::kDmaCopy,      &rows::kPsumReset,    &rows::kNop,
};

// Fills the call by names: the instruction's operands and attributes are the
// parameters of the same name, and `engine` is its stream's. Returns whether
// each operand and attribute has a parameter.
bool FillByName(const Expansion& e, const Instruction& i, Call& call) {
  const OpcodeInfo& opcode = Info(i.opcode);
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  size_t found = 0;
  for (size_t p = 0; p < call.operation->parameters.size(); ++p) {
    const ParameterSpec& spec = call.operation->parameters[p];
    Value& value = call.values[p];
    value.kind = Value::Kind::kNone;
    if (spec.kind == ParameterKind::kEngine) {
      value = Value::OfEnum(i.engine);
      continue;
    }
    for (size_t o = 0; o < operands.size(); ++o) {
      if (opcode.operands[o].name != spec.name) continue;
      value = rows::ValueOf(operands[o]);
      ++found;
    }
    for (size_t a = 0; a < attributes.size(); ++a) {
      if (opcode.attributes[a].name != spec.name) continue;
      ++found;
      switch (opcode.attributes[a].type) {
        case AttributeType::kDouble:
          value = Value::Number(attributes[a].real());
          break;
        case AttributeType::kInteger:
          value = Value::Integer(attributes[a].integer());
          break;
        case AttributeType::kBool:
          value = Value::Bool(attributes[a].boolean());
          break;
        default:
          value = Value::OfEnum(attributes[a].integer());
          if (spec.kind == ParameterKind::kAluOp && value.integer == 0) {
            value = Value::None();
          }
      }
    }
  }
  return found == operands.size() + attributes.size();
}

bool LiftByName(const Expansion& e, Call& call) {
  return e.instructions.size() == 1 && FillByName(e, *e.instructions[0], call);
}

bool SameExpansion(const Expansion& e, const Call& call);

// Either somebody made the instructions by hand, or the program was built for
// another generation, where the operation becomes other instructions.
absl::Status NoExpansion(const Program& program, const Hardware& hardware,
                         const Expansion& e, const OperationInfo& operation) {
  const bool other_target = program.target != hardware.target;
  Diagnostic d;
  d.category = other_target ? Category::kIllegal : Category::kMalformed;
  d.id = other_target ? "program.target" : "malformed.expansion";
  d.message = absl::StrCat(
      "the instructions from ", e.instructions[0]->order, " on are not what ",
      std::string(operation.name), " becomes on ", hardware.name,
      other_target ? absl::StrCat("; the program was built for ",
                                  std::string(Name(program.target)))
                   : "");
  d.operation = operation.name;
  d.opcode = Info(e.instructions[0]->opcode).name;
  d.instruction = e.instructions[0]->order;
  d.source = program.DescribeSource(e.instructions[0]->source);
  d.remedy = "build the program again, for the target it shall run on";
  return ToStatus(std::move(d));
}

// Compares emitted instructions with those of a program, one by one.
class Comparer : public Emitter {
 public:
  explicit Comparer(const Expansion& e) : expansion_(e) {}
  void Emit(Opcode opcode, Engine engine, std::span<const Operand> operands,
            std::span<const Attribute> attributes) override {
    if (!same_ || next_ >= expansion_.instructions.size()) {
      same_ = false;
      return;
    }
    const Instruction& i = *expansion_.instructions[next_++];
    const auto have_operands = expansion_.core->OperandsOf(i);
    const auto have_attributes = expansion_.core->AttributesOf(i);
    same_ = i.opcode == opcode && i.engine == engine &&
            std::equal(operands.begin(), operands.end(), have_operands.begin(),
                       have_operands.end(),
                       [this](const Operand& a, const Operand& b) {
                         return Same(a, b);
                       }) &&
            std::equal(attributes.begin(), attributes.end(),
                       have_attributes.begin(), have_attributes.end());
  }
  bool same() const { return same_ && next_ == expansion_.instructions.size(); }

 private:
  // An operand that an expansion repeats may have its indirection twice in the
  // core's pool.
  bool Same(const Operand& a, Operand b) const {
    const Indirection* const mine = expansion_.core->IndirectionOf(a.access);
    const Indirection* const its = expansion_.core->IndirectionOf(b.access);
    if (a.kind == Operand::Kind::kAccess && mine != nullptr && its != nullptr &&
        *mine == *its) {
      b.access.indirection = a.access.indirection;
    }
    return a == b;
  }

  const Expansion& expansion_;
  size_t next_ = 0;
  bool same_ = true;
};

bool SameExpansion(const Expansion& e, const Call& call) {
  Comparer comparer(e);
  call.operation->expand(call, comparer);
  return comparer.same();
}

}  // namespace

namespace rows {

Operand OperandOf(const Value& value) {
  Operand o;
  switch (value.kind) {
    case Value::Kind::kAccess:
      o.kind = Operand::Kind::kAccess;
      o.access = value.access;
      break;
    case Value::Kind::kRegister:
      o.kind = Operand::Kind::kRegister;
      o.immediate = static_cast<double>(value.integer);
      break;
    case Value::Kind::kNumber:
      o.kind = Operand::Kind::kImmediate;
      o.immediate = value.number;
      break;
    case Value::Kind::kPattern:
      o.kind = Operand::Kind::kPattern;
      o.access = value.access;
      break;
    default:
      break;
  }
  return o;
}

Value ValueOf(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kAccess:
      return Value::Of(operand.access);
    case Operand::Kind::kImmediate:
      return Value::Number(operand.immediate);
    case Operand::Kind::kPattern:
      return Value::Pattern(operand.access.active_dims());
    case Operand::Kind::kRegister:
      return Value::Register(operand.reg());
    case Operand::Kind::kAbsent:
      break;
  }
  return Value::None();
}

bool LiftFirst(const Expansion& e, Call& call) {
  return FillByName(e, *e.instructions[0], call);
}

void EmitOne(const Call& call, Emitter& emitter, Opcode opcode,
             std::initializer_list<Operand> operands,
             std::initializer_list<Attribute> attributes) {
  emitter.Emit(opcode, call.engine, {operands.begin(), operands.size()},
               {attributes.begin(), attributes.size()});
}

}  // namespace rows

std::span<const OperationInfo* const> Operations() {
  static const auto* const table = [] {
    auto* all = new std::vector<const OperationInfo*>(kFoundation.begin(),
                                                      kFoundation.end());
    for (auto family : {rows::MxOperations(), rows::ActivationOperations(),
                        rows::AccumulateOperations(), rows::SelectOperations(),
                        rows::StatisticsOperations(), rows::SearchOperations(),
                        rows::GatherOperations(), rows::RandomOperations(),
                        rows::DmaOperations(), rows::CoreOperations(),
                        rows::CollectiveOperations(),
                        rows::RegisterOperations()}) {
      all->insert(all->end(), family.begin(), family.end());
    }
    return all;
  }();
  return *table;
}

const OperationInfo* FindOperation(std::string_view name) {
  // Asked once an instruction.
  static const auto* const by_name = [] {
    auto* map = new std::unordered_map<std::string_view, const OperationInfo*>;
    for (const OperationInfo* o : Operations()) map->emplace(o->name, o);
    return map;
  }();
  const auto it = by_name->find(name);
  return it == by_name->end() ? nullptr : it->second;
}

int ParameterIndex(const OperationInfo& operation, std::string_view name) {
  for (size_t i = 0; i < operation.parameters.size(); ++i) {
    if (operation.parameters[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string Signature(const OperationInfo& operation) {
  std::string text = std::string(operation.name) + "(";
  for (const ParameterSpec& p : operation.parameters) {
    if (p.name.ends_with("]")) continue;
    if (text.back() != '(') text += ", ";
    text += p.name;
    if (!p.required) absl::StrAppend(&text, "=", std::string(p.default_text));
  }
  return text + ")";
}

absl::Status Lift(const Program& program, const Hardware& hardware,
                  const Expansion& expansion, Call& call) {
  const Instruction& first = *expansion.instructions[0];
  const OperationInfo* operation =
      FindOperation(program.operations[first.operation]);
  if (operation == nullptr) {
    return MakeFault(Category::kMalformed, "malformed.operation",
                     absl::StrCat("unknown operation \"",
                                  program.operations[first.operation],
                                  "\" at instruction ", first.order));
  }
  call.operation = operation;
  call.hardware = &hardware;
  call.program = &program;
  call.core = expansion.core;
  call.engine = first.engine;
  call.identity.kind = Value::Kind::kNone;
  const bool lifted = operation->lift == nullptr
                          ? LiftByName(expansion, call)
                          : operation->lift(expansion, call);
  // By name, an instruction and its call hold the same; only the others can
  // hold what no call expands to.
  if (!lifted ||
      (operation->lift != nullptr && !SameExpansion(expansion, call))) {
    return NoExpansion(program, hardware, expansion, *operation);
  }
  return absl::OkStatus();
}

}  // namespace trnemu
