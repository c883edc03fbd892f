// What the codec and the text form share. Internal to isa/: sees protobuf.
#ifndef TRNEMU_ISA_CODEC_INTERNAL_H_
#define TRNEMU_ISA_CODEC_INTERNAL_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "isa/codec.h"
#include "isa/program.pb.h"

namespace trnemu::codec {

// What is wrong, and where. The path grows outwards as it travels up.
struct Problem {
  std::string id;    // without "malformed."
  std::string path;  // "dst.count[1]"
  std::string what;  // a sentence without its subject: "is 0, ..."
};
using Result = std::unique_ptr<Problem>;  // null: all is well

Result Wrong(std::string_view id, std::string_view path, std::string what);
// `result` (not null), seen from the message that holds field `outer`.
Result In(Result result, std::string_view outer);
Result In(Result result, std::string_view outer, int64_t index);
Result Unset(std::string_view path);
absl::Status ToMalformed(const Problem& problem);

// Fails if the message itself (not those inside) has unknown fields.
Result CheckKnown(const google::protobuf::Message& message,
                  const google::protobuf::Reflection& reflection);
template <typename M>
Result CheckKnown(const M& message) {
  static const google::protobuf::Reflection& reflection = *M::GetReflection();
  return CheckKnown(message, reflection);
}
// Fails where `index` is not below `size`; `kind` names what is indexed.
Result CheckIndex(uint64_t index, size_t size, std::string_view path,
                  std::string_view kind);

// Descriptors, looked up once.
struct BodySchema {
  const google::protobuf::FieldDescriptor* field = nullptr;  // of Instruction
  const google::protobuf::Reflection* reflection = nullptr;  // of the body
  std::vector<const google::protobuf::FieldDescriptor*> operands;
  std::vector<const google::protobuf::FieldDescriptor*> attributes;
};
struct Schema {
  const google::protobuf::Reflection* instruction = nullptr;
  std::array<BodySchema, kNumOpcodes> bodies;
  // By field number of the body; -1: none.
  std::array<int, 256> opcode_of_field;
  absl::Status agreement;
};
const Schema& GetSchema();

Result DecodeHeader(const pb::Header& header, Program& program,
                    FileLayout& layout);
// Appends to the stream of `engine` of core `core` (both valid).
Result DecodeInstruction(const pb::Instruction& from, uint32_t core,
                         Engine engine, Program& program);
// What can only be seen when all streams are there.
Result CheckStreams(const Program& program);

void EncodeInstruction(const CoreProgram& core, const Instruction& instruction,
                       pb::Instruction* to);

}  // namespace trnemu::codec

#endif  // TRNEMU_ISA_CODEC_INTERNAL_H_
