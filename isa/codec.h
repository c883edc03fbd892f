// Program to protobuf and back: the header and chunks of a program file.
//
// Decoding is strict. Unknown fields, required fields left unset, values
// outside their vocabulary, indices out of range, wrong counts and fields that
// do not belong are of category malformed, id "malformed.<what>", and the
// message starts with the field's path
// ("chunks[3].instructions[17].tensor_tensor.dst.count[1]"). What decodes is
// well formed, not yet legal: operation names are only strings here, and rules
// and address bounds (CheckBounds) are checked later.
#ifndef TRNEMU_ISA_CODEC_H_
#define TRNEMU_ISA_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "isa/program.h"

namespace trnemu {

// Limits of the format.
inline constexpr uint32_t kMaxCores = 8;
inline constexpr size_t kMaxOperations = 65536;
inline constexpr int kMaxTensorRank = 64;
inline constexpr size_t kInstructionsPerChunk = 4096;

// What a header says besides the program itself.
struct FileLayout {
  uint64_t data_bytes = 0;
  uint32_t chunks = 0;
};

// Serialised pb::Header.
std::string EncodeHeader(const Program& program, const FileLayout& layout);

// Calls `emit` with each chunk's serialised pb::Chunk, core by core, stream by
// stream, and returns their number.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  virtual void Emit(const std::string& chunk) = 0;
};
uint32_t EncodeChunks(const Program& program, ChunkSink& sink);

// Fills a program from its parts, in this order: the header, each chunk,
// Finish. After an error the program is to be discarded.
class ProgramDecoder {
 public:
  absl::Status Header(std::span<const std::byte> bytes);
  const FileLayout& layout() const { return layout_; }
  // Room for the pools of chunks of that many bytes in total (a hint).
  void Reserve(uint64_t chunk_bytes);
  absl::Status Chunk(std::span<const std::byte> bytes);
  // Checks what spans streams and hands the program over, without its data.
  absl::Status Finish(Program* program);

 private:
  Program program_;
  FileLayout layout_;
  uint32_t next_chunk_ = 0;
  std::unique_ptr<char[]> arena_block_;  // where chunks are parsed, reused
};

// That the table of opcodes and the vocabularies agree with program.proto,
// both ways. Category internal; for the self-test.
absl::Status CheckSchemaAgreement();

}  // namespace trnemu

#endif  // TRNEMU_ISA_CODEC_H_
