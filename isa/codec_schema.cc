// The agreement of the opcode table with program.proto, and the descriptors
// that decoding and encoding go by.
#include <google/protobuf/message.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "isa/codec_internal.h"
#include "isa/diagnostic.h"

namespace trnemu::codec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string Text(std::string_view view) { return std::string(view); }

absl::Status Disagree(const std::string& what) {
  return MakeFault(Category::kInternal, "internal.schema", what);
}

std::string_view MessageFor(OperandKind kind) {
  switch (kind) {
    case OperandKind::kAccess:
      return "Access";
    case OperandKind::kAccessOrImmediate:
    case OperandKind::kRegister:
    case OperandKind::kRegisterOrImmediate:
      return "Operand";
    case OperandKind::kPattern:
      return "Pattern";
  }
  return "";
}

bool Fits(AttributeType type, const FieldDescriptor& field) {
  switch (type) {
    case AttributeType::kBool:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    case AttributeType::kDouble:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
    case AttributeType::kInteger:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
             field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
    case AttributeType::kMask:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
    default:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32;
  }
}

bool Fits(OperandKind kind, const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type()->name() == Text(MessageFor(kind));
}

// Finds the fields of one row of operands or attributes in `message`.
template <typename Spec, typename KindOf>
absl::Status FindFields(std::span<const Spec> row, const Descriptor& message,
                        KindOf kind_of,
                        std::vector<const FieldDescriptor*>& fields) {
  for (const Spec& spec : row) {
    const FieldDescriptor* field = message.FindFieldByName(Text(spec.name));
    if (field == nullptr || field->is_repeated() || !field->has_presence() ||
        !Fits(kind_of(spec), *field)) {
      return Disagree(absl::StrCat("program.proto has no optional field ",
                                   message.name(), ".", Text(spec.name),
                                   " of the type that isa/opcodes.cc says"));
    }
    fields.push_back(field);
  }
  return absl::OkStatus();
}

absl::Status Match(const OpcodeInfo& info, BodySchema& body) {
  const Descriptor& instruction = *pb::Instruction::descriptor();
  body.field = instruction.FindFieldByName(Text(info.field));
  if (body.field == nullptr || body.field->message_type() == nullptr ||
      body.field->message_type()->name() != Text(info.name)) {
    return Disagree(absl::StrCat("program.proto has no body ", Text(info.field),
                                 " of type ", Text(info.name)));
  }
  const Descriptor& message = *body.field->message_type();
  body.reflection = google::protobuf::MessageFactory::generated_factory()
                        ->GetPrototype(&message)
                        ->GetReflection();
  absl::Status status = FindFields(
      info.operands, message, [](const OperandSpec& s) { return s.kind; },
      body.operands);
  if (!status.ok()) return status;
  status = FindFields(
      info.attributes, message, [](const AttributeSpec& s) { return s.type; },
      body.attributes);
  if (!status.ok()) return status;
  const size_t fields = info.operands.size() + info.attributes.size();
  if (static_cast<size_t>(message.field_count()) != fields) {
    return Disagree(absl::StrCat(message.name(), " has ", message.field_count(),
                                 " fields in program.proto and ", fields,
                                 " in isa/opcodes.cc"));
  }
  return absl::OkStatus();
}

absl::Status MatchAll(Schema& schema) {
  schema.instruction = pb::Instruction::GetReflection();
  schema.opcode_of_field.fill(-1);
  for (const OpcodeInfo& info : Opcodes()) {
    const auto i = static_cast<size_t>(info.opcode);
    absl::Status status = Match(info, schema.bodies[i]);
    if (!status.ok()) return status;
    const int number = schema.bodies[i].field->number();
    if (number >= static_cast<int>(schema.opcode_of_field.size())) {
      return Disagree(absl::StrCat("field number ", number, " is too large"));
    }
    schema.opcode_of_field[number] = static_cast<int>(i);
  }
  const int bodies =
      pb::Instruction::descriptor()->FindOneofByName("body")->field_count();
  if (bodies != kNumOpcodes) {
    return Disagree(absl::StrCat("program.proto has ", bodies,
                                 " bodies, isa/opcodes.cc ", kNumOpcodes));
  }
  return absl::OkStatus();
}

// That enumerator i is spelled names[i], in capitals; value 0 is "unset".
template <typename Names>
absl::Status MatchEnum(const EnumDescriptor& type, const Names& names,
                       std::string_view suffix = "") {
  if (type.value_count() != static_cast<int>(names.size())) {
    return Disagree(absl::StrCat(type.name(), " has ", type.value_count(),
                                 " values in program.proto and ", names.size(),
                                 " here"));
  }
  for (int i = 1; i < type.value_count(); ++i) {
    const std::string name = absl::AsciiStrToLower(type.value(i)->name());
    if (type.value(i)->number() != i ||
        (name != names[i] && name != Text(names[i]) + Text(suffix))) {
      return Disagree(absl::StrCat(type.name(), ".", type.value(i)->name(),
                                   " is not value ", i, ", ", Text(names[i])));
    }
  }
  return absl::OkStatus();
}

absl::Status MatchEnums() {
  std::vector<std::string_view> dtypes = {"unset"};
  for (const DtypeInfo& info : kDtypes) dtypes.push_back(info.name);
  for (absl::Status status :
       {MatchEnum(*pb::Dtype_descriptor(), dtypes),
        MatchEnum(*pb::Engine_descriptor(), kEngineNames),
        MatchEnum(*pb::TensorKind_descriptor(), kTensorKindNames, "_tile"),
        MatchEnum(*pb::IndirectionKind_descriptor(), kIndirectionKindNames,
                  "_index"),
        MatchEnum(*pb::SignalOp_descriptor(), kSignalOpNames),
        MatchEnum(*pb::SignalAt_descriptor(), kSignalAtNames)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

const Schema& GetSchema() {
  static const Schema* const schema = [] {
    auto* s = new Schema;
    s->agreement = MatchAll(*s);
    if (s->agreement.ok()) s->agreement = MatchEnums();
    return s;
  }();
  return *schema;
}

}  // namespace trnemu::codec

namespace trnemu {

absl::Status CheckSchemaAgreement() { return codec::GetSchema().agreement; }

}  // namespace trnemu
