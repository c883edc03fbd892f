// Strict decoding: each way a header or an instruction can be wrong has its
// id and names the field's path. The protobuf of ExampleProgram is edited and
// decoded.
#include "isa/codec.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"
#include "isa/program.pb.h"
#include "tests/isa/example_program.h"

namespace trnemu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class Chunks : public ChunkSink {
 public:
  void Emit(const std::string& chunk) override { all.push_back(chunk); }
  std::vector<std::string> all;
};

struct Encoded {
  pb::Header header;
  std::vector<pb::Chunk> chunks;
};

Encoded Encode(const Program& program) {
  Encoded encoded;
  Chunks chunks;
  FileLayout layout;
  layout.data_bytes = program.data->bytes().size();
  layout.chunks = EncodeChunks(program, chunks);
  EXPECT_TRUE(encoded.header.ParseFromString(EncodeHeader(program, layout)));
  for (const std::string& chunk : chunks.all) {
    EXPECT_TRUE(encoded.chunks.emplace_back().ParseFromString(chunk));
  }
  return encoded;
}

absl::Status Decode(const Encoded& encoded) {
  ProgramDecoder decoder;
  absl::Status status =
      decoder.Header(Bytes(encoded.header.SerializeAsString()));
  for (const pb::Chunk& chunk : encoded.chunks) {
    if (status.ok()) status = decoder.Chunk(Bytes(chunk.SerializeAsString()));
  }
  Program program;
  return status.ok() ? decoder.Finish(&program) : status;
}

// "id: message" of what decoding says after `edit`; "" if it decodes.
std::string Verdict(const std::function<void(Encoded&)>& edit) {
  Encoded encoded = Encode(ExampleProgram());
  edit(encoded);
  const absl::Status status = Decode(encoded);
  if (status.ok()) return "";
  const Diagnostic d = DiagnosticOf(status);
  EXPECT_EQ(d.category, Category::kMalformed) << d.message;
  return d.id + ": " + d.message;
}

// The first instruction with this body.
pb::Instruction* Find(Encoded& encoded, int body, size_t* chunk = nullptr,
                      int* index = nullptr) {
  for (size_t c = 0; c < encoded.chunks.size(); ++c) {
    for (int i = 0; i < encoded.chunks[c].instructions_size(); ++i) {
      auto* instruction = encoded.chunks[c].mutable_instructions(i);
      if (instruction->body_case() != body) continue;
      if (chunk != nullptr) *chunk = c;
      if (index != nullptr) *index = i;
      return instruction;
    }
  }
  ADD_FAILURE() << "no body " << body;
  return nullptr;
}

pb::TensorTensor* TensorTensorOf(Encoded& e) {
  return Find(e, pb::Instruction::kTensorTensor)->mutable_tensor_tensor();
}

TEST(Schema, TheTablesAgreeWithTheProto) {
  const absl::Status status = CheckSchemaAgreement();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(Codec, DecodesWhatItEncodes) {
  EXPECT_EQ(Verdict([](Encoded&) {}), "");
}

TEST(Codec, NamesTheWholePathOfAField) {
  Encoded encoded = Encode(ExampleProgram());
  size_t chunk = 0;
  int index = 0;
  Find(encoded, pb::Instruction::kTensorTensor, &chunk, &index)
      ->mutable_tensor_tensor()
      ->mutable_dst()
      ->set_count(1, 0);
  const Diagnostic d = DiagnosticOf(Decode(encoded));
  EXPECT_EQ(d.message, "chunks[" + std::to_string(chunk) + "].instructions[" +
                           std::to_string(index) +
                           "].tensor_tensor.dst.count[1] is 0");
  EXPECT_EQ(d.id, "malformed.count");
}

struct AccessCase {
  const char* verdict;
  std::function<void(pb::Access*)> edit;
};

TEST(Codec, RefusesAMalformedAccess) {
  const AccessCase cases[] = {
      {"malformed.unset: .dst.tensor", [](auto* a) { a->clear_tensor(); }},
      {"malformed.unset: .dst.dtype", [](auto* a) { a->clear_dtype(); }},
      {"malformed.unset: .dst.offset", [](auto* a) { a->clear_offset(); }},
      {"malformed.unset: .dst.partitions",
       [](auto* a) { a->clear_partitions(); }},
      {"malformed.unset: .dst.start_partition",
       [](auto* a) { a->clear_start_partition(); }},
      {"malformed.index: .dst.tensor", [](auto* a) { a->set_tensor(1000); }},
      {"malformed.enum: .dst.dtype",
       [](auto* a) { a->set_dtype(static_cast<pb::Dtype>(19)); }},
      {"malformed.enum: .dst.dtype",
       [](auto* a) { a->set_dtype(static_cast<pb::Dtype>(-1)); }},
      {"malformed.partitions: .dst.partitions",
       [](auto* a) { a->set_partitions(0); }},
      {"malformed.partitions: .dst.partitions",
       [](auto* a) { a->set_partitions(129); }},
      {"malformed.partitions: .dst.partitions ends at 65",
       [](auto* a) { a->set_start_partition(33); }},
      {"malformed.partitions: .dst.partitions ends at 4294967327",
       [](auto* a) { a->set_start_partition(0xffffffff); }},
      {"malformed.partitions: .dst.partitions is set",
       [](auto* a) { a->set_tensor(0); }},  // in HBM
      {"malformed.dims: .dst.step", [](auto* a) { a->add_step(1); }},
      {"malformed.rank: .dst.count",
       [](auto* a) {
         a->clear_step();
         a->clear_count();
       }},
      {"malformed.rank: .dst.count",
       [](auto* a) {
         for (int i = 0; i < 4; ++i) {
           a->add_step(1);
           a->add_count(1);
         }
       }},
  };
  for (const AccessCase& c : cases) {
    std::string verdict =
        Verdict([&](Encoded& e) { c.edit(TensorTensorOf(e)->mutable_dst()); });
    // The path before the operand depends on where the instruction is.
    const size_t path = verdict.find("chunks[");
    const size_t field = verdict.find(".dst");
    ASSERT_NE(field, std::string::npos) << c.verdict << " / " << verdict;
    verdict.erase(path, field - path);
    EXPECT_THAT(verdict, StartsWith(c.verdict));
  }
}

TEST(Codec, RefusesUnknownFieldsAnywhere) {
  using google::protobuf::Message;
  const std::function<Message*(Encoded&)> messages[] = {
      [](Encoded& e) { return &e.header; },
      [](Encoded& e) { return e.header.mutable_tensors(0); },
      [](Encoded& e) { return e.header.mutable_queue_sets(1); },
      [](Encoded& e) { return e.header.mutable_semaphores(1); },
      [](Encoded& e) { return e.header.mutable_sources(1); },
      [](Encoded& e) { return &e.chunks[1]; },
      [](Encoded& e) { return e.chunks[1].mutable_instructions(0); },
      [](Encoded& e) { return TensorTensorOf(e); },
      [](Encoded& e) { return TensorTensorOf(e)->mutable_data1(); },
      [](Encoded& e) {
        return Find(e, pb::Instruction::kActivate)
            ->mutable_activate()
            ->mutable_scale();
      },
      [](Encoded& e) {
        return Find(e, pb::Instruction::kIota)
            ->mutable_iota()
            ->mutable_pattern();
      },
      [](Encoded& e) {
        return Find(e, pb::Instruction::kTensorTensor)->add_waits();
      },
      [](Encoded& e) {
        return Find(e, pb::Instruction::kTensorTensor)->add_signals();
      },
      [](Encoded& e) { return Find(e, pb::Instruction::kNop)->mutable_nop(); },
  };
  for (const auto& message : messages) {
    const std::string verdict = Verdict([&](Encoded& e) {
      Message* m = message(e);
      m->GetReflection()->MutableUnknownFields(m)->AddVarint(99, 1);
    });
    EXPECT_THAT(verdict, StartsWith("malformed.unknown_field: "));
    EXPECT_THAT(verdict, HasSubstr("number 99"));
  }
}

TEST(Codec, RefusesEveryUnsetFieldOfTheHeader) {
  const auto* descriptor = pb::Header::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    if (field->is_repeated()) continue;
    const std::string verdict = Verdict([&](Encoded& e) {
      e.header.GetReflection()->ClearField(&e.header, field);
    });
    EXPECT_EQ(verdict,
              "malformed.unset: header." + field->name() + " is not set");
  }
}

TEST(Codec, RefusesEveryUnsetOperandAndAttribute) {
  for (const OpcodeInfo& info : Opcodes()) {
    const auto* body =
        pb::Instruction::descriptor()->FindFieldByName(std::string(info.field));
    auto clear = [&](std::string_view name) {
      return Verdict([&](Encoded& e) {
        auto* i = Find(e, body->number());
        auto* m = i->GetReflection()->MutableMessage(i, body);
        m->GetReflection()->ClearField(
            m, m->GetDescriptor()->FindFieldByName(std::string(name)));
      });
    };
    for (const OperandSpec& spec : info.operands) {
      const std::string verdict = clear(spec.name);
      if (spec.optional) {
        EXPECT_EQ(verdict, "");
      } else {
        EXPECT_THAT(verdict, HasSubstr(std::string(info.field) + "." +
                                       std::string(spec.name) + " is not set"));
      }
    }
    for (const AttributeSpec& spec : info.attributes) {
      EXPECT_THAT(clear(spec.name),
                  HasSubstr(std::string(info.field) + "." +
                            std::string(spec.name) + " is not set"));
    }
  }
}

struct HeaderCase {
  const char* verdict;
  std::function<void(pb::Header&)> edit;
};

TEST(Codec, RefusesAMalformedHeader) {
  const HeaderCase cases[] = {
      {"malformed.enum: header.target", [](auto& h) { h.set_target("trn9"); }},
      {"malformed.enum: header.target", [](auto& h) { h.set_target("gen2"); }},
      {"malformed.count: header.cores", [](auto& h) { h.set_cores(0); }},
      {"malformed.count: header.cores",
       [](auto& h) { h.set_cores(0xffffffff); }},
      {"malformed.index: header.sources[1].file",
       [](auto& h) { h.mutable_sources(1)->set_file(2); }},
      {"malformed.index: header.queue_sets[0].core",
       [](auto& h) { h.mutable_queue_sets(0)->set_core(2); }},
      {"malformed.enum: header.queue_sets[0].owner",
       [](auto& h) { h.mutable_queue_sets(0)->set_owner(pb::ENGINE_UNSET); }},
      {"malformed.count: header.queue_sets[0].queues",
       [](auto& h) { h.mutable_queue_sets(0)->set_queues(0); }},
      {"malformed.index: header.semaphores[1].core",
       [](auto& h) { h.mutable_semaphores(1)->set_core(2); }},
      {"malformed.enum: header.tensors[0].kind",
       [](auto& h) { h.mutable_tensors(0)->set_kind(pb::KIND_UNSET); }},
      {"malformed.enum: header.tensors[0].dtype",
       [](auto& h) { h.mutable_tensors(0)->set_dtype(pb::DTYPE_UNSET); }},
      {"malformed.count: header.tensors[0].shape[1]",
       [](auto& h) { h.mutable_tensors(0)->set_shape(1, 0); }},
      {"malformed.count: header.tensors[0].shape[0]",
       [](auto& h) { h.mutable_tensors(0)->set_shape(0, -1); }},
      {"malformed.too_large: header.tensors[0].shape",
       [](auto& h) { h.mutable_tensors(0)->set_shape(0, INT64_MAX / 4); }},
      {"malformed.rank: header.tensors[4].shape",
       [](auto& h) { h.mutable_tensors(4)->mutable_shape()->Truncate(1); }},
      {"malformed.unused_field: header.tensors[0].core",
       [](auto& h) { h.mutable_tensors(0)->set_core(0); }},
      {"malformed.unused_field: header.tensors[0].data_offset",
       [](auto& h) { h.mutable_tensors(0)->set_data_offset(0); }},
      {"malformed.unset: header.tensors[4].byte_address",
       [](auto& h) { h.mutable_tensors(4)->clear_byte_address(); }},
      {"malformed.partitions: header.tensors[5].start_partition",
       [](auto& h) { h.mutable_tensors(5)->set_start_partition(65); }},
      {"malformed.address: header.tensors[5].byte_address",
       [](auto& h) { h.mutable_tensors(5)->set_byte_address(1ull << 32); }},
      {"malformed.index: header.tensors[4].source",
       [](auto& h) { h.mutable_tensors(4)->set_source(2); }},
      {"malformed.data: header.tensors[3].data_offset",
       [](auto& h) { h.mutable_tensors(3)->set_data_offset(201); }},
      {"malformed.data: header.tensors[3].data_offset",
       [](auto& h) { h.mutable_tensors(3)->set_data_offset(UINT64_MAX); }},
  };
  for (const HeaderCase& c : cases) {
    EXPECT_THAT(Verdict([&](Encoded& e) { c.edit(e.header); }),
                StartsWith(c.verdict));
  }
}

struct InstructionCase {
  const char* verdict;
  std::function<void(Encoded&)> edit;
};

TEST(Codec, RefusesAMalformedInstruction) {
  using I = pb::Instruction;
  const InstructionCase cases[] = {
      {"body is not set", [](auto& e) { Find(e, I::kNop)->clear_nop(); }},
      {"order is not set", [](auto& e) { Find(e, I::kNop)->clear_order(); }},
      {"operation is 3; there are 3 operations",
       [](auto& e) { Find(e, I::kNop)->set_operation(3); }},
      {"source is 2; there are 2 sources",
       [](auto& e) { Find(e, I::kNop)->set_source(2); }},
      {"step is 256; the limit is 255",
       [](auto& e) { Find(e, I::kNop)->set_step(256); }},
      {"order is 0 (step 0), not after",
       [](auto& e) { Find(e, I::kNop)->set_order(0); }},
      {"step is 1, but the instruction before it",
       [](auto& e) { Find(e, I::kTensorTensor)->set_step(1); }},
      {"tensor_tensor.op is 29, not 0 to 28",
       [](auto& e) { TensorTensorOf(e)->set_op(29); }},
      {"activate.op is 0, not 1 to 26",
       [](auto& e) { Find(e, I::kActivate)->mutable_activate()->set_op(0); }},
      {"load_stationary.pass is 3, not 0 to 2",
       [](auto& e) {
         Find(e, I::kLoadStationary)->mutable_load_stationary()->set_pass(3);
       }},
      {"dma_copy.queue_set is 2; there are 2 queue sets",
       [](auto& e) {
         Find(e, I::kDmaCopy)->mutable_dma_copy()->set_queue_set(2);
       }},
      {"activate.scale.kind is not set",
       [](auto& e) {
         Find(e, I::kActivate)->mutable_activate()->mutable_scale()->Clear();
       }},
      {"activate.bias.access.count[0] is 0",
       [](auto& e) {
         Find(e, I::kActivate)
             ->mutable_activate()
             ->mutable_bias()
             ->mutable_access()
             ->set_count(0, 0);
       }},
      {"iota.pattern.count has 6 entries",
       [](auto& e) {
         auto* p = Find(e, I::kIota)->mutable_iota()->mutable_pattern();
         for (int i = 0; i < 4; ++i) {
           p->add_count(1);
           p->add_step(1);
         }
       }},
      {"waits[0].semaphore is not set",
       [](auto& e) {
         auto* i = Find(e, I::kNop);
         i->clear_waits();
         i->add_waits();
       }},
      {"signals[0].op is 6",
       [](auto& e) {
         auto* i = Find(e, I::kNop);
         i->clear_signals();
         auto* s = i->add_signals();
         s->set_semaphore(0);
         s->set_op(static_cast<pb::SignalOp>(6));
         s->set_value(1);
         s->set_at(pb::READ);
       }},
      {"waits has more than 255 entries",
       [](auto& e) {
         for (int i = 0; i < 256; ++i) Find(e, I::kNop)->add_waits();
       }},
      {"chunks[0].core is 2", [](auto& e) { e.chunks[0].set_core(2); }},
      {"chunks[0].engine is 4",
       [](auto& e) { e.chunks[0].set_engine(pb::DMA); }},
      {"chunks[0].engine is not set",
       [](auto& e) { e.chunks[0].clear_engine(); }},
  };
  for (const InstructionCase& c : cases) {
    EXPECT_THAT(Verdict(c.edit), HasSubstr(c.verdict));
  }
}

TEST(Codec, RefusesAFieldGivenTwice) {
  const std::string header =
      Encode(ExampleProgram()).header.SerializeAsString();
  pb::Header twice;
  twice.set_cores(2);
  ProgramDecoder decoder;
  const absl::Status status =
      decoder.Header(Bytes(header + twice.SerializeAsString()));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(DiagnosticOf(status).id, "malformed.encoding");
}

TEST(Codec, AllowsInsertedInstructionsInsideAnExpansion) {
  EXPECT_EQ(Verdict([](Encoded& e) {
              auto* reset = e.chunks.back().add_instructions();
              *reset = *Find(e, pb::Instruction::kPsumReset);
              reset->clear_waits();
              reset->set_order(12);
              auto* third = e.chunks.back().add_instructions();
              *third = e.chunks.back().instructions(1);
              third->set_order(13);
              third->set_step(2);
            }),
            "");
}

}  // namespace
}  // namespace trnemu
