#include "isa/codec.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "isa/codec_internal.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace codec {

Result Wrong(std::string_view id, std::string_view path, std::string what) {
  return std::make_unique<Problem>(
      Problem{std::string(id), std::string(path), std::move(what)});
}

Result In(Result result, std::string_view outer) {
  std::string& path = result->path;
  const bool joined = path.empty() || path[0] == '[';
  path = absl::StrCat(std::string(outer), joined ? "" : ".", path);
  return result;
}

Result In(Result result, std::string_view outer, int64_t index) {
  return In(In(std::move(result), absl::StrCat("[", index, "]")), outer);
}

Result Unset(std::string_view path) {
  return Wrong("unset", path, "is not set");
}

Result CheckKnown(const google::protobuf::Message& message,
                  const google::protobuf::Reflection& reflection) {
  const auto& unknown = reflection.GetUnknownFields(message);
  if (unknown.empty()) return nullptr;
  return Wrong(
      "unknown_field", "",
      absl::StrCat("has an unknown field, number ", unknown.field(0).number()));
}

absl::Status ToMalformed(const Problem& problem) {
  Diagnostic d;
  d.category = Category::kMalformed;
  d.id = absl::StrCat("malformed.", problem.id);
  d.message = absl::StrCat(problem.path, " ", problem.what);
  d.details = {{"path", problem.path}};
  return ToStatus(std::move(d));
}

Result CheckIndex(uint64_t index, size_t size, std::string_view path,
                  std::string_view kind) {
  if (index < size) return nullptr;
  return Wrong(
      "index", path,
      absl::StrCat("is ", index, "; there are ", size, " ", std::string(kind)));
}

namespace {

// Parses `bytes` as one message, encoded as protobuf itself would.
template <typename M>
Result Parse(std::span<const std::byte> bytes, M& message) {
  // libprotobuf writes to stderr what we report ourselves.
  google::protobuf::LogSilencer silence;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Wrong("too_large", "", absl::StrCat("has ", bytes.size(), " bytes"));
  }
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Wrong("protobuf", "", "is not a valid protobuf message");
  }
  return nullptr;
}

// A field given twice, or encoded as no protobuf writer does, leaves no trace
// in the message; its size shows it.
template <typename M>
Result CheckSize(std::span<const std::byte> bytes, const M& message) {
  const size_t size = message.ByteSizeLong();
  if (size == bytes.size()) return nullptr;
  return Wrong("encoding", "",
               absl::StrCat("has ", bytes.size(),
                            " bytes where its fields "
                            "take ",
                            size,
                            ": a field is given twice or not "
                            "in its shortest form"));
}

Result DecodeChunk(const pb::Chunk& chunk, Program& program) {
  if (Result r = CheckKnown(chunk)) return r;
  if (!chunk.has_core()) return Unset("core");
  if (!chunk.has_engine()) return Unset("engine");
  if (Result r =
          CheckIndex(chunk.core(), program.cores.size(), "core", "cores")) {
    return r;
  }
  const int engine = chunk.engine();
  if (engine < 1 || engine >= static_cast<int>(kEngineNames.size()) ||
      engine == static_cast<int>(Engine::kDma)) {
    return Wrong("enum", "engine",
                 absl::StrCat("is ", engine, ", not an engine with a stream"));
  }
  for (int i = 0; i < chunk.instructions_size(); ++i) {
    Result r = DecodeInstruction(chunk.instructions(i), chunk.core(),
                                 static_cast<Engine>(engine), program);
    if (r) return In(std::move(r), "instructions", i);
  }
  return nullptr;
}

}  // namespace

}  // namespace codec

absl::Status ProgramDecoder::Header(std::span<const std::byte> bytes) {
  const absl::Status& agreement = codec::GetSchema().agreement;
  if (!agreement.ok()) return agreement;
  google::protobuf::Arena arena;
  auto& header = *google::protobuf::Arena::CreateMessage<pb::Header>(&arena);
  codec::Result r = codec::Parse(bytes, header);
  if (!r) r = codec::DecodeHeader(header, program_, layout_);
  if (!r) r = codec::CheckSize(bytes, header);
  if (r) return codec::ToMalformed(*codec::In(std::move(r), "header"));
  return absl::OkStatus();
}

void ProgramDecoder::Reserve(uint64_t chunk_bytes) {
  // An access takes about 24 bytes in the file; pages not used cost nothing.
  constexpr uint64_t kBytesPerOperand = 24;
  constexpr uint64_t kBytesPerAttribute = 24;
  const uint64_t cores = program_.cores.size();
  for (CoreProgram& core : program_.cores) {
    core.operands.reserve(chunk_bytes / kBytesPerOperand / cores);
    core.attributes.reserve(chunk_bytes / kBytesPerAttribute / cores);
  }
}

absl::Status ProgramDecoder::Chunk(std::span<const std::byte> bytes) {
  constexpr size_t kArenaBlock = size_t{4} << 20;
  if (!arena_block_) {
    arena_block_ = std::make_unique_for_overwrite<char[]>(kArenaBlock);
  }
  google::protobuf::ArenaOptions options;
  options.initial_block = arena_block_.get();
  options.initial_block_size = kArenaBlock;
  options.max_block_size = kArenaBlock;
  google::protobuf::Arena arena(options);
  auto& chunk = *google::protobuf::Arena::CreateMessage<pb::Chunk>(&arena);
  codec::Result r = codec::Parse(bytes, chunk);
  if (!r) r = codec::DecodeChunk(chunk, program_);
  if (!r) r = codec::CheckSize(bytes, chunk);
  const uint32_t index = next_chunk_++;
  if (!r) return absl::OkStatus();
  return codec::ToMalformed(*codec::In(std::move(r), "chunks", index));
}

absl::Status ProgramDecoder::Finish(Program* program) {
  if (codec::Result r = codec::CheckStreams(program_)) {
    return codec::ToMalformed(*r);
  }
  *program = std::move(program_);
  return absl::OkStatus();
}

}  // namespace trnemu
