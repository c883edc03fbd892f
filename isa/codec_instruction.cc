// Decoding one instruction, driven by the opcode table.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "isa/codec_internal.h"
#include "isa/diagnostic.h"

namespace trnemu::codec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr uint32_t kMaxPartitions = 128;

// The [step, count] lists of an Access or a Pattern.
template <typename M>
Result DecodeDims(const M& from, Access& to) {
  const int rank = from.count_size();
  if (from.step_size() != rank) {
    return Wrong(
        "dims", "step",
        absl::StrCat("has ", from.step_size(), " entries and count ", rank));
  }
  if (rank < 1 || rank > kMaxDims) {
    return Wrong("rank", "count",
                 absl::StrCat("has ", rank,
                              " entries, not 1 "
                              "to ",
                              kMaxDims));
  }
  to.rank = static_cast<uint8_t>(rank);
  for (int i = 0; i < rank; ++i) {
    to.dims[i] = {from.step(i), from.count(i)};
    if (from.count(i) == 0) return In(Wrong("count", "", "is 0"), "count", i);
  }
  return nullptr;
}

Result DecodePartitions(const pb::Access& from, const Tensor& tensor,
                        Access& to) {
  if (!tensor.on_chip()) {
    if (!from.has_start_partition() && !from.has_partitions()) return nullptr;
    return Wrong("partitions",
                 from.has_partitions() ? "partitions" : "start_partition",
                 "is set, though the tensor is in HBM");
  }
  if (!from.has_start_partition()) return Unset("start_partition");
  if (!from.has_partitions()) return Unset("partitions");
  if (from.partitions() < 1 || from.partitions() > kMaxPartitions) {
    return Wrong(
        "partitions", "partitions",
        absl::StrCat("is ", from.partitions(), ", not 1 to ", kMaxPartitions));
  }
  const uint64_t end = uint64_t{from.start_partition()} + from.partitions();
  if (end > static_cast<uint64_t>(tensor.shape[0])) {
    return Wrong(
        "partitions", "partitions",
        absl::StrCat("ends at ", end, ", beyond the tile's ", tensor.shape[0]));
  }
  to.start_partition = static_cast<uint16_t>(from.start_partition());
  to.partitions = static_cast<uint16_t>(from.partitions());
  return nullptr;
}

constexpr uint32_t kMaxRegisters = 1 << 16;

Result CheckRegister(uint64_t number, std::string_view path) {
  if (number < kMaxRegisters) return nullptr;
  return Wrong("register", path,
               absl::StrCat("is ", number, ", not below ", kMaxRegisters));
}

Result DecodeIndirection(const pb::Indirection& from, const Program& program,
                         CoreProgram& core, Access& to);

Result DecodeAccess(const pb::Access& from, const Program& program,
                    CoreProgram& core, Access& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_tensor()) return Unset("tensor");
  if (!from.has_dtype()) return Unset("dtype");
  if (!from.has_offset()) return Unset("offset");
  if (Result r = CheckIndex(from.tensor(), program.tensors.size(), "tensor",
                            "tensors")) {
    return r;
  }
  const int dtype = from.dtype();
  if (dtype < 1 || dtype > static_cast<int>(kDtypes.size())) {
    return Wrong("enum", "dtype", absl::StrCat("is ", dtype, ", not a dtype"));
  }
  const Tensor& tensor = program.tensors[from.tensor()];
  to.tensor = from.tensor();
  to.space = tensor.space();
  to.dtype = static_cast<Dtype>(dtype);
  to.offset = from.offset();
  if (Result r = DecodePartitions(from, tensor, to)) return r;
  if (Result r = DecodeDims(from, to)) return r;
  if (!from.has_indirection()) return nullptr;
  Result r = DecodeIndirection(from.indirection(), program, core, to);
  return r ? In(std::move(r), "indirection") : nullptr;
}

// Where the index of an indirection comes from.
Result DecodeIndexSource(const pb::Indirection& from, const Program& program,
                         CoreProgram& core, Indirection& to) {
  const bool is_register = to.kind == IndirectionKind::kScalarRegister;
  if (is_register != from.has_register_()) {
    return is_register ? Unset("register")
                       : Wrong("indirection", "register",
                               "is set, though the index is in a tile");
  }
  if (is_register == from.has_index()) {
    return is_register ? Wrong("indirection", "index",
                               "is set, though the index is in a register")
                       : Unset("index");
  }
  if (is_register) {
    to.reg = from.register_();
    return CheckRegister(to.reg, "register");
  }
  if (from.index().has_indirection()) {
    return Wrong("indirection", "index", "is dynamic itself");
  }
  Result r = DecodeAccess(from.index(), program, core, to.index);
  return r ? In(std::move(r), "index") : nullptr;
}

Result DecodeIndirection(const pb::Indirection& from, const Program& program,
                         CoreProgram& core, Access& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_kind()) return Unset("kind");
  if (!from.has_dim()) return Unset("dim");
  if (!from.has_step()) return Unset("step");
  if (!from.has_limit()) return Unset("limit");
  if (from.kind() < 1 ||
      from.kind() >= static_cast<int>(kIndirectionKindNames.size())) {
    return Wrong("enum", "kind",
                 absl::StrCat("is ", static_cast<int>(from.kind()),
                              ", not an indirection's"));
  }
  if (from.dim() > 255) {
    return Wrong("indirection", "dim",
                 absl::StrCat("is ", from.dim(), "; the limit is 255"));
  }
  Indirection indirection;
  indirection.kind = static_cast<IndirectionKind>(from.kind());
  indirection.dim = static_cast<uint8_t>(from.dim());
  indirection.step = from.step();
  indirection.limit = from.limit();
  if (Result r = DecodeIndexSource(from, program, core, indirection)) return r;
  std::string misfit = MisfitOf(to, indirection);
  if (!misfit.empty()) return Wrong("indirection", "", std::move(misfit));
  core.indirections.push_back(indirection);
  to.indirection = static_cast<uint32_t>(core.indirections.size());
  return nullptr;
}

Result DecodeRegister(const pb::Operand& from, OperandKind kind, Operand& to) {
  if (from.has_register_()) {
    to.kind = Operand::Kind::kRegister;
    to.immediate = from.register_();
    return CheckRegister(from.register_(), "register");
  }
  if (kind == OperandKind::kRegister) return Unset("register");
  if (!from.has_immediate()) return Unset("kind");
  const double value = from.immediate();
  if (!(value >= -2147483648.0 && value <= 4294967295.0) ||
      value != static_cast<double>(static_cast<int64_t>(value))) {
    return Wrong("immediate", "immediate", "is no whole number of 32 bits");
  }
  to.kind = Operand::Kind::kImmediate;
  to.immediate = value;
  return nullptr;
}

Result DecodeOperand(const Message& body, const Reflection& reflection,
                     const OperandSpec& spec, const FieldDescriptor* field,
                     const Program& program, CoreProgram& core, Operand& to) {
  if (!reflection.HasField(body, field)) {
    return spec.optional ? nullptr : Unset("");
  }
  const Message& from = reflection.GetMessage(body, field);
  switch (spec.kind) {
    case OperandKind::kAccess:
      to.kind = Operand::Kind::kAccess;
      return DecodeAccess(static_cast<const pb::Access&>(from), program, core,
                          to.access);
    case OperandKind::kPattern: {
      const auto& pattern = static_cast<const pb::Pattern&>(from);
      to.kind = Operand::Kind::kPattern;
      if (Result r = CheckKnown(pattern)) return r;
      return DecodeDims(pattern, to.access);
    }
    case OperandKind::kAccessOrImmediate:
    case OperandKind::kRegister:
    case OperandKind::kRegisterOrImmediate:
      break;
  }
  const auto& either = static_cast<const pb::Operand&>(from);
  if (Result r = CheckKnown(either)) return r;
  if (spec.kind != OperandKind::kAccessOrImmediate) {
    return DecodeRegister(either, spec.kind, to);
  }
  if (either.has_register_()) {
    return Wrong("operand", "register", "is set, but no register goes here");
  }
  if (either.has_immediate()) {
    to.kind = Operand::Kind::kImmediate;
    to.immediate = either.immediate();
    return nullptr;
  }
  if (!either.has_access()) return Unset("kind");
  to.kind = Operand::Kind::kAccess;
  Result r = DecodeAccess(either.access(), program, core, to.access);
  return r ? In(std::move(r), "access") : nullptr;
}

// How many values an attribute's vocabulary has, from 0; 0: no vocabulary.
uint64_t VocabularySize(AttributeType type, const Program& program) {
  switch (type) {
    case AttributeType::kBool:
    case AttributeType::kInteger:
    case AttributeType::kDouble:
      return 0;
    case AttributeType::kAluOp:
      return kAluOps.size() + 1;
    case AttributeType::kActFunction:
      return kActFunctions.size() + 1;
    case AttributeType::kReduceCmd:
      return kReduceCmdNames.size();
    case AttributeType::kDgeMode:
      return kDgeModeNames.size();
    case AttributeType::kOobMode:
      return kOobModeNames.size();
    case AttributeType::kPerfMode:
      return kPerfModeNames.size();
    case AttributeType::kAccumulate:
      return kAccumulateNames.size();
    case AttributeType::kPass:
      return 3;
    case AttributeType::kQueueSet:
      return program.queue_sets.size();
    case AttributeType::kReplicaGroups:
      return program.replica_groups.size();
    case AttributeType::kCollectiveKind:
      return kCollectiveKindNames.size();
    case AttributeType::kRegisterOp:
      return kRegisterOpNames.size();
    case AttributeType::kPartitionOp:
      return kPartitionOpNames.size();
    case AttributeType::kDmaEngine:
      return kDmaEngineNames.size();
    case AttributeType::kAxes:
      return 0x10000;
    case AttributeType::kMask:
      return 0;
  }
  return 0;
}

Attribute ReadAttribute(const Message& body, const Reflection& reflection,
                        const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return Attribute::Boolean(reflection.GetBool(body, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Attribute::Real(reflection.GetDouble(body, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return Attribute::Integer(reflection.GetInt64(body, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return {reflection.GetUInt64(body, field)};
    default:
      return Attribute::Integer(reflection.GetUInt32(body, field));
  }
}

Result DecodeAttribute(const Message& body, const Reflection& reflection,
                       const AttributeSpec& spec, const FieldDescriptor* field,
                       const Program& program, Attribute& to) {
  if (!reflection.HasField(body, field)) return Unset("");
  to = ReadAttribute(body, reflection, field);
  switch (spec.type) {
    case AttributeType::kBool:
    case AttributeType::kInteger:
    case AttributeType::kDouble:
    case AttributeType::kMask:
      return nullptr;
    case AttributeType::kQueueSet:
      return CheckIndex(to.bits, program.queue_sets.size(), "", "queue sets");
    case AttributeType::kReplicaGroups:
      // send and recv have none; rules refuse all others without groups.
      return CheckIndex(to.bits,
                        std::max<size_t>(1, program.replica_groups.size()), "",
                        "replica groups");
    default:
      break;
  }
  const bool invalid = spec.type == AttributeType::kActFunction && to.bits == 0;
  const uint64_t size = VocabularySize(spec.type, program);
  if (!invalid && to.bits < size) return nullptr;
  return Wrong("enum", "",
               absl::StrCat("is ", to.bits, ", not ", invalid ? 1 : 0, " to ",
                            size - 1));
}

Result DecodeBody(const Message& body, const OpcodeInfo& info,
                  const BodySchema& schema, Program& program,
                  CoreProgram& core) {
  const Reflection& reflection = *schema.reflection;
  if (Result r = CheckKnown(body, reflection)) return r;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    Result r =
        DecodeOperand(body, reflection, info.operands[i], schema.operands[i],
                      program, core, core.operands.emplace_back());
    if (r) return In(std::move(r), info.operands[i].name);
  }
  for (size_t i = 0; i < info.attributes.size(); ++i) {
    Result r = DecodeAttribute(body, reflection, info.attributes[i],
                               schema.attributes[i], program,
                               core.attributes.emplace_back());
    if (r) return In(std::move(r), info.attributes[i].name);
  }
  return nullptr;
}

Result DecodeWait(const pb::Wait& from, const Program& program, Wait& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_semaphore()) return Unset("semaphore");
  if (!from.has_value()) return Unset("value");
  if (!from.has_consume()) return Unset("consume");
  to = {from.semaphore(), from.value(), from.consume(), from.register_()};
  if (to.is_register) {
    if (Result r = CheckRegister(static_cast<uint64_t>(to.value), "value")) {
      return r;
    }
  }
  return CheckIndex(from.semaphore(), program.semaphores.size(), "semaphore",
                    "semaphores");
}

Result DecodeSignal(const pb::Signal& from, const Program& program,
                    Signal& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_semaphore()) return Unset("semaphore");
  if (!from.has_op()) return Unset("op");
  if (!from.has_value()) return Unset("value");
  if (!from.has_at()) return Unset("at");
  const int op = from.op();
  const int at = from.at();
  if (op < 1 || op >= static_cast<int>(kSignalOpNames.size())) {
    return Wrong("enum", "op", absl::StrCat("is ", op, ", not a signal's"));
  }
  if (at < 1 || at >= static_cast<int>(kSignalAtNames.size())) {
    return Wrong("enum", "at", absl::StrCat("is ", at, ", not a signal's"));
  }
  to = {from.semaphore(), static_cast<SignalOp>(op), static_cast<SignalAt>(at),
        from.value(), from.register_()};
  if (to.is_register) {
    if (Result r = CheckRegister(static_cast<uint64_t>(to.value), "value")) {
      return r;
    }
  }
  return CheckIndex(from.semaphore(), program.semaphores.size(), "semaphore",
                    "semaphores");
}

Result DecodeSync(const pb::Instruction& from, const Program& program,
                  CoreProgram& core) {
  if (from.waits_size() > 255 || from.signals_size() > 255) {
    return Wrong("too_many", from.waits_size() > 255 ? "waits" : "signals",
                 "has more than 255 entries");
  }
  for (int i = 0; i < from.waits_size(); ++i) {
    Result r = DecodeWait(from.waits(i), program, core.waits.emplace_back());
    if (r) return In(std::move(r), "waits", i);
  }
  for (int i = 0; i < from.signals_size(); ++i) {
    Result r =
        DecodeSignal(from.signals(i), program, core.signals.emplace_back());
    if (r) return In(std::move(r), "signals", i);
  }
  return nullptr;
}

// The fields that every instruction has.
Result DecodeCommon(const pb::Instruction& from, const Program& program,
                    Instruction& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_order()) return Unset("order");
  if (!from.has_operation()) return Unset("operation");
  if (!from.has_step()) return Unset("step");
  if (Result r = CheckIndex(from.operation(), program.operations.size(),
                            "operation", "operations")) {
    return r;
  }
  if (from.step() > 255) {
    return Wrong("step", "step",
                 absl::StrCat("is ", from.step(), "; the limit is 255"));
  }
  if (from.has_source()) {
    if (Result r = CheckIndex(from.source(), program.sources.size(), "source",
                              "sources")) {
      return r;
    }
    to.source = from.source();
  }
  to.order = from.order();
  to.operation = static_cast<uint16_t>(from.operation());
  to.step = static_cast<uint8_t>(from.step());
  return nullptr;
}

Result CheckOrder(const std::vector<Instruction>& stream,
                  const Instruction& next) {
  if (stream.empty()) return nullptr;
  const Instruction& last = stream.back();
  if (next.order > last.order ||
      (next.order == last.order && next.step > last.step)) {
    return nullptr;
  }
  return Wrong("order", "order",
               absl::StrCat("is ", next.order, " (step ", next.step,
                            "), not after the stream's previous ", last.order,
                            " (step ", last.step, ")"));
}

}  // namespace

Result DecodeInstruction(const pb::Instruction& from, uint32_t core_index,
                         Engine engine, Program& program) {
  CoreProgram& core = program.cores[core_index];
  std::vector<Instruction>& stream = core.stream(engine);
  Instruction to;
  if (Result r = DecodeCommon(from, program, to)) return r;
  if (Result r = CheckOrder(stream, to)) return r;
  const int number = from.body_case();
  if (number == pb::Instruction::BODY_NOT_SET) return Unset("body");
  const Schema& schema = GetSchema();
  to.opcode = static_cast<Opcode>(schema.opcode_of_field[number]);
  to.engine = engine;
  to.first_operand = static_cast<uint32_t>(core.operands.size());
  to.first_attribute = static_cast<uint32_t>(core.attributes.size());
  to.first_wait = static_cast<uint32_t>(core.waits.size());
  to.first_signal = static_cast<uint32_t>(core.signals.size());
  const OpcodeInfo& info = Info(to.opcode);
  const BodySchema& body = schema.bodies[static_cast<size_t>(to.opcode)];
  const Message& message = schema.instruction->GetMessage(from, body.field);
  if (Result r = DecodeBody(message, info, body, program, core)) {
    return In(std::move(r), info.field);
  }
  if (Result r = DecodeSync(from, program, core)) return r;
  to.num_waits = static_cast<uint8_t>(from.waits_size());
  to.num_signals = static_cast<uint8_t>(from.signals_size());
  stream.push_back(to);
  return nullptr;
}

}  // namespace trnemu::codec
