// Program to protobuf.
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "isa/codec_internal.h"

namespace trnemu {
namespace codec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <typename M>
void EncodeDims(const Access& from, M* to) {
  for (const Dim& dim : from.active_dims()) {
    to->add_step(static_cast<int32_t>(dim.step));
    to->add_count(static_cast<uint32_t>(dim.count));
  }
}

void EncodeAccess(const Access& from, const CoreProgram& core, pb::Access* to);

void EncodeIndirection(const Indirection& from, const CoreProgram& core,
                       pb::Indirection* to) {
  to->set_kind(static_cast<pb::IndirectionKind>(from.kind));
  if (from.has_index()) {
    EncodeAccess(from.index, core, to->mutable_index());
  } else {
    to->set_register_(from.reg);
  }
  to->set_dim(from.dim);
  to->set_step(from.step);
  to->set_limit(from.limit);
}

void EncodeAccess(const Access& from, const CoreProgram& core, pb::Access* to) {
  to->set_tensor(from.tensor);
  to->set_dtype(static_cast<pb::Dtype>(from.dtype));
  if (from.on_chip()) {
    to->set_start_partition(from.start_partition);
    to->set_partitions(from.partitions);
  }
  to->set_offset(from.offset);
  for (const Dim& dim : from.active_dims()) {
    to->add_step(dim.step);
    to->add_count(static_cast<uint32_t>(dim.count));
  }
  if (const Indirection* indirection = core.IndirectionOf(from)) {
    EncodeIndirection(*indirection, core, to->mutable_indirection());
  }
}

void EncodeOperand(const Operand& from, OperandKind kind,
                   const CoreProgram& core, Message* to) {
  switch (kind) {
    case OperandKind::kAccess:
      EncodeAccess(from.access, core, static_cast<pb::Access*>(to));
      return;
    case OperandKind::kPattern:
      EncodeDims(from.access, static_cast<pb::Pattern*>(to));
      return;
    case OperandKind::kAccessOrImmediate:
    case OperandKind::kRegister:
    case OperandKind::kRegisterOrImmediate:
      break;
  }
  auto* either = static_cast<pb::Operand*>(to);
  if (from.kind == Operand::Kind::kImmediate) {
    either->set_immediate(from.immediate);
  } else if (from.kind == Operand::Kind::kRegister) {
    either->set_register_(from.reg());
  } else {
    EncodeAccess(from.access, core, either->mutable_access());
  }
}

void EncodeAttribute(const Attribute& from, const FieldDescriptor* field,
                     Message* to) {
  const Reflection& reflection = *to->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(to, field, from.boolean());
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection.SetDouble(to, field, from.real());
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      reflection.SetInt64(to, field, from.integer());
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      reflection.SetUInt64(to, field, from.bits);
      return;
    default:
      reflection.SetUInt32(to, field, static_cast<uint32_t>(from.bits));
  }
}

void EncodeTensor(const Tensor& from, pb::Tensor* to) {
  to->set_name(from.name);
  to->set_kind(static_cast<pb::TensorKind>(from.kind));
  to->set_dtype(static_cast<pb::Dtype>(from.dtype));
  for (const int64_t extent : from.shape) to->add_shape(extent);
  if (from.on_chip()) {
    to->set_core(from.core);
    to->set_start_partition(from.start_partition);
    to->set_byte_address(from.byte_address);
    to->set_pinned(from.pinned);
  }
  if (from.kind == TensorKind::kConstant) to->set_data_offset(from.data_offset);
  if (from.source != kNoSource) to->set_source(from.source);
}

void EncodeTables(const Program& program, pb::Header* header) {
  for (const QueueSet& from : program.queue_sets) {
    pb::QueueSet* to = header->add_queue_sets();
    to->set_core(from.core);
    to->set_owner(static_cast<pb::Engine>(from.owner));
    to->set_queues(from.queues);
  }
  for (const SemaphoreInfo& from : program.semaphores) {
    pb::Semaphore* to = header->add_semaphores();
    to->set_core(from.core);
    to->set_name(from.name);
  }
  for (const ReplicaGroups& from : program.replica_groups) {
    pb::ReplicaGroups* to = header->add_replica_groups();
    for (const auto& group : from) {
      to->add_groups()->mutable_ranks()->Assign(group.begin(), group.end());
    }
  }
  for (const std::string& name : program.operations) {
    header->add_operations(name);
  }
  for (const std::string& name : program.files) header->add_files(name);
  for (const SourceLocation& from : program.sources) {
    pb::Source* to = header->add_sources();
    to->set_file(from.file);
    to->set_line(from.line);
    to->set_function(from.function);
    to->set_label(from.label);
  }
}

}  // namespace

void EncodeInstruction(const CoreProgram& core, const Instruction& from,
                       pb::Instruction* to) {
  to->set_order(from.order);
  to->set_operation(from.operation);
  to->set_step(from.step);
  if (from.source != kNoSource) to->set_source(from.source);
  for (const Wait& wait : core.WaitsOf(from)) {
    pb::Wait* w = to->add_waits();
    w->set_semaphore(wait.semaphore);
    w->set_value(wait.value);
    w->set_consume(wait.consume);
    if (wait.is_register) w->set_register_(true);
  }
  for (const Signal& signal : core.SignalsOf(from)) {
    pb::Signal* s = to->add_signals();
    s->set_semaphore(signal.semaphore);
    s->set_op(static_cast<pb::SignalOp>(signal.op));
    s->set_value(signal.value);
    s->set_at(static_cast<pb::SignalAt>(signal.at));
    if (signal.is_register) s->set_register_(true);
  }
  const OpcodeInfo& info = Info(from.opcode);
  const BodySchema& schema =
      GetSchema().bodies[static_cast<size_t>(from.opcode)];
  Message* body = to->GetReflection()->MutableMessage(to, schema.field);
  const Reflection& reflection = *body->GetReflection();
  const auto operands = core.OperandsOf(from);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == Operand::Kind::kAbsent) continue;
    EncodeOperand(operands[i], info.operands[i].kind, core,
                  reflection.MutableMessage(body, schema.operands[i]));
  }
  const auto attributes = core.AttributesOf(from);
  for (size_t i = 0; i < attributes.size(); ++i) {
    EncodeAttribute(attributes[i], schema.attributes[i], body);
  }
}

}  // namespace codec

std::string EncodeHeader(const Program& program, const FileLayout& layout) {
  google::protobuf::LogSilencer silence;
  pb::Header header;
  header.set_name(program.name);
  header.set_target(std::string(Name(program.target)));
  header.set_producer(program.producer);
  header.set_cores(static_cast<uint32_t>(program.cores.size()));
  header.set_swdge(program.swdge);
  for (const Tensor& tensor : program.tensors) {
    codec::EncodeTensor(tensor, header.add_tensors());
  }
  codec::EncodeTables(program, &header);
  header.set_data_bytes(layout.data_bytes);
  header.set_chunks(layout.chunks);
  return header.SerializeAsString();
}

uint32_t EncodeChunks(const Program& program, ChunkSink& sink) {
  uint32_t chunks = 0;
  for (size_t c = 0; c < program.cores.size(); ++c) {
    const CoreProgram& core = program.cores[c];
    for (size_t engine = 0; engine < core.streams.size(); ++engine) {
      const std::span<const Instruction> stream = core.streams[engine];
      for (size_t i = 0; i < stream.size(); i += kInstructionsPerChunk) {
        google::protobuf::Arena arena;
        auto* chunk = google::protobuf::Arena::CreateMessage<pb::Chunk>(&arena);
        chunk->set_core(static_cast<uint32_t>(c));
        chunk->set_engine(static_cast<pb::Engine>(engine));
        const size_t n = std::min(kInstructionsPerChunk, stream.size() - i);
        for (const Instruction& instruction : stream.subspan(i, n)) {
          codec::EncodeInstruction(core, instruction,
                                   chunk->add_instructions());
        }
        sink.Emit(chunk->SerializeAsString());
        ++chunks;
      }
    }
  }
  return chunks;
}

}  // namespace trnemu
