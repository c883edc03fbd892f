#include "isa/container.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/codec.h"
#include "isa/diagnostic.h"
#include "isa/file.h"

namespace trnemu {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "TRNEMU\r\n";
constexpr size_t kDataAlignment = 4096;
// A NEFF is a header of 1024 bytes and a tar archive.
constexpr size_t kNeffTarMagic = 1024 + 257;
constexpr std::string_view kTarMagic = "ustar";

absl::Status Malformed(std::string_view what, const std::string& message) {
  return MakeFault(Category::kMalformed,
                   absl::StrCat("malformed.", std::string(what)), message);
}

bool HasAt(Bytes bytes, size_t offset, std::string_view text) {
  if (bytes.size() < offset || bytes.size() - offset < text.size())
    return false;
  const Bytes part = bytes.subspan(offset, text.size());
  return std::ranges::equal(part, std::as_bytes(std::span(text)));
}

absl::Status Neff() {
  Diagnostic d;
  d.category = Category::kUnsupported;
  d.id = "neff";
  d.message =
      "this is a NEFF file, which holds undocumented engine binaries that "
      "trnemu cannot execute";
  d.remedy =
      "build the model with trnemu.torch.compile_program, or the kernel with "
      "trnemu.ProgramBuilder (README.md), and run that program";
  return ToStatus(std::move(d));
}

absl::Status WrongMagic(Bytes bytes) {
  if (HasAt(bytes, 0, "trnemu-text")) {
    return Malformed("magic",
                     "this is a program's text form; `trnemu asm` makes a "
                     "program file of it");
  }
  if (HasAt(bytes, 0, kMagic.substr(0, 6))) {
    return Malformed("magic",
                     "the line ending in the file's magic number was changed: "
                     "it was transferred as text, not as binary");
  }
  return Malformed("magic",
                   "this is not a trnemu program: it does not start with "
                   "\"TRNEMU\\r\\n\"");
}

// Takes the parts of a file one after the other.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }

  absl::StatusOr<Bytes> Take(uint64_t n, const std::string& what) {
    if (n > left()) {
      return Malformed(
          "truncated",
          absl::StrCat("the file is truncated: ", what, " of ", n,
                       " bytes was expected at byte ", position_,
                       ", but the file ends at byte ", bytes_.size()));
    }
    const Bytes part = bytes_.subspan(position_, n);
    position_ += n;
    return part;
  }

  absl::StatusOr<uint32_t> TakeU32(const std::string& what) {
    const auto part = Take(4, what);
    if (!part.ok()) return part.status();
    uint32_t value = 0;
    for (int i = 3; i >= 0; --i) {
      value = value << 8 | std::to_integer<uint32_t>((*part)[i]);
    }
    return value;
  }

 private:
  Bytes bytes_;
  size_t position_ = 0;
};

absl::Status ReadPreamble(Bytes bytes, Reader& reader) {
  if (HasAt(bytes, kNeffTarMagic, kTarMagic)) return Neff();
  const size_t seen = std::min(bytes.size(), kMagic.size());
  if (!HasAt(bytes, 0, kMagic.substr(0, seen))) return WrongMagic(bytes);
  if (auto s = reader.Take(kMagic.size(), "the magic number"); !s.ok()) {
    return s.status();
  }
  const auto version = reader.TakeU32("the container version");
  if (!version.ok()) return version.status();
  if (*version > kContainerVersion) {
    return Malformed(
        "version",
        absl::StrCat("made by a newer trnemu: container version ", *version,
                     ", this one reads ", kContainerVersion));
  }
  if (*version != kContainerVersion) {
    return Malformed("version", absl::StrCat("container version ", *version,
                                             " does not exist"));
  }
  return absl::OkStatus();
}

// A part with its length before it.
absl::StatusOr<Bytes> TakeMessage(Reader& reader, const std::string& what) {
  const auto length = reader.TakeU32(absl::StrCat("the length of ", what));
  if (!length.ok()) return length.status();
  return reader.Take(*length, what);
}

absl::Status ReadChunks(Reader& reader, ProgramDecoder& decoder) {
  const uint32_t chunks = decoder.layout().chunks;
  const uint64_t data = decoder.layout().data_bytes;
  decoder.Reserve(reader.left() - std::min<uint64_t>(data, reader.left()));
  for (uint32_t i = 0; i < chunks; ++i) {
    const auto chunk =
        TakeMessage(reader, absl::StrCat("chunk ", i, " of ", chunks));
    if (!chunk.ok()) return chunk.status();
    if (absl::Status s = decoder.Chunk(*chunk); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> ReadData(Reader& reader, uint64_t data_bytes) {
  if (data_bytes > 0) {
    const size_t misfit = reader.position() % kDataAlignment;
    const auto padding = reader.Take(misfit == 0 ? 0 : kDataAlignment - misfit,
                                     "the padding before the data section");
    if (!padding.ok()) return padding.status();
    for (const std::byte b : *padding) {
      if (b != std::byte{0}) {
        return Malformed("padding",
                         "the padding before the data section is not zero");
      }
    }
  }
  const auto data = reader.Take(data_bytes, "the data section");
  if (data.ok() && reader.left() > 0) {
    return Malformed(
        "trailing",
        absl::StrCat("the program ends at byte ", reader.position(),
                     ", but the file has ", reader.left(), " more bytes"));
  }
  return data;
}

struct Parts {
  Program program;  // without data
  Bytes data;
};

absl::StatusOr<Parts> ReadParts(Bytes bytes) {
  Reader reader(bytes);
  if (absl::Status s = ReadPreamble(bytes, reader); !s.ok()) return s;
  const auto header = TakeMessage(reader, "the header");
  if (!header.ok()) return header.status();
  ProgramDecoder decoder;
  if (absl::Status s = decoder.Header(*header); !s.ok()) return s;
  if (absl::Status s = ReadChunks(reader, decoder); !s.ok()) return s;
  const auto data = ReadData(reader, decoder.layout().data_bytes);
  if (!data.ok()) return data.status();
  Parts parts;
  parts.data = *data;
  if (absl::Status s = decoder.Finish(&parts.program); !s.ok()) return s;
  return parts;
}

// The data section inside a mapped file.
class MappedData : public DataSection {
 public:
  MappedData(MappedFile file, Bytes data)
      : file_(std::move(file)), data_(data) {}
  Bytes bytes() const override { return data_; }

 private:
  MappedFile file_;  // keeps data_ valid
  Bytes data_;
};

void AppendU32(uint32_t value, std::string& to) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<char>(value >> 8 * i));
}

class Appender : public ChunkSink {
 public:
  void Emit(const std::string& chunk) override {
    AppendU32(static_cast<uint32_t>(chunk.size()), text);
    text += chunk;
  }
  std::string text;
};

// Everything up to the data section.
std::string SerializeFront(const Program& program) {
  Appender chunks;
  FileLayout layout;
  layout.chunks = EncodeChunks(program, chunks);
  layout.data_bytes = program.data ? program.data->bytes().size() : 0;
  const std::string header = EncodeHeader(program, layout);
  std::string front(kMagic);
  AppendU32(kContainerVersion, front);
  AppendU32(static_cast<uint32_t>(header.size()), front);
  front += header;
  front += chunks.text;
  if (layout.data_bytes > 0) {
    const size_t blocks = (front.size() + kDataAlignment - 1) / kDataAlignment;
    front.resize(blocks * kDataAlignment, '\0');
  }
  return front;
}

std::string_view DataOf(const Program& program) {
  if (!program.data) return {};
  const Bytes data = program.data->bytes();
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<Parts> parts = ReadParts(file->bytes());
  if (!parts.ok()) {
    Diagnostic d = DiagnosticOf(parts.status());
    d.message = absl::StrCat(path, ": ", d.message);
    d.details.emplace_back("file", path);
    return ToStatus(std::move(d));
  }
  if (!parts->data.empty()) {
    parts->program.data =
        std::make_shared<MappedData>(*std::move(file), parts->data);
  }
  return std::move(parts->program);
}

absl::StatusOr<Program> ReadProgramBytes(Bytes bytes) {
  absl::StatusOr<Parts> parts = ReadParts(bytes);
  if (!parts.ok()) return parts.status();
  if (!parts->data.empty()) {
    parts->program.data = OwnData({parts->data.begin(), parts->data.end()});
  }
  return std::move(parts->program);
}

std::string SerializeProgram(const Program& program) {
  std::string bytes = SerializeFront(program);
  bytes += DataOf(program);
  return bytes;
}

absl::Status WriteProgram(const Program& program, const std::string& path) {
  const std::string front = SerializeFront(program);
  const std::string_view parts[] = {front, DataOf(program)};
  return WriteFileAtomically(path, parts);
}

}  // namespace trnemu
