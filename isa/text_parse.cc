// Text to program: the header's lines, the data, and which line is what.
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"
#include "isa/text.h"
#include "isa/text_internal.h"
#include "isa/text_parser.h"

namespace trnemu {
namespace text {
namespace {

absl::Status AtLine(int line, std::string_view id, const std::string& what) {
  Diagnostic d;
  d.category = Category::kMalformed;
  d.id = absl::StrCat("malformed.", std::string(id));
  d.message = absl::StrCat("line ", line, ": ", what);
  d.details = {{"line", absl::StrCat(line)}};
  return ToStatus(std::move(d));
}

// "word=" "quoted"
bool TextField(Lexer& lexer, std::string_view word, std::string* value) {
  return lexer.Expect(word) && lexer.Expect("=") &&
         lexer.Quoted("a quoted name", value);
}

template <typename Names>
bool OneOf(Lexer& lexer, const Names& names, std::string_view what,
           int* value) {
  std::string word;
  if (!lexer.Word(what, &word)) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) {
      *value = static_cast<int>(i);
      return true;
    }
  }
  return lexer.Fail(
      absl::StrCat(std::string(what), " instead of `", word, "`"));
}

bool ReadSourceRow(Lexer& lexer, pb::Source* to) {
  uint32_t file = 0;
  uint32_t line = 0;
  if (!lexer.Field("file", &file) || !lexer.Field("line", &line) ||
      !TextField(lexer, "function", to->mutable_function()) ||
      !TextField(lexer, "label", to->mutable_label())) {
    return false;
  }
  to->set_file(file);
  to->set_line(line);
  return true;
}

bool ReadQueueSet(Lexer& lexer, pb::QueueSet* to) {
  uint32_t core = 0;
  uint32_t queues = 0;
  int owner = 0;
  if (!lexer.Field("core", &core) || !lexer.Expect("owner") ||
      !lexer.Expect("=") || !OneOf(lexer, kEngineNames, "an engine", &owner) ||
      !lexer.Field("queues", &queues)) {
    return false;
  }
  to->set_core(core);
  to->set_owner(static_cast<pb::Engine>(owner));
  to->set_queues(queues);
  return true;
}

bool ReadSemaphore(Lexer& lexer, pb::Semaphore* to) {
  uint32_t core = 0;
  if (!lexer.Field("core", &core)) return false;
  to->set_core(core);
  return TextField(lexer, "name", to->mutable_name());
}

// "(0 1) (2 3)"
bool ReadReplicaGroups(Lexer& lexer, pb::ReplicaGroups* to) {
  while (lexer.Accept("(")) {
    pb::ReplicaGroups::Group* const group = to->add_groups();
    while (!lexer.Accept(")")) {
      uint32_t rank = 0;
      if (!lexer.Integer("a rank or `)`", &rank)) return false;
      group->add_ranks(rank);
    }
  }
  return true;
}

bool ReadShape(Lexer& lexer, pb::Tensor* to) {
  if (!lexer.Expect("(")) return false;
  while (!lexer.Accept(")")) {
    int64_t extent = 0;
    if (!lexer.Integer("a size or `)`", &extent)) return false;
    to->add_shape(extent);
    if (!lexer.Accept(",") && lexer.Peek() != ')') return lexer.Fail("`,`");
  }
  return true;
}

bool ReadTensor(Lexer& lexer, pb::Tensor* to) {
  std::string dtype;
  int kind = 0;
  if (!lexer.Name("a name", to->mutable_name()) ||
      !OneOf(lexer, kTensorKindNames, "a kind of tensor", &kind) ||
      !lexer.Word("a dtype", &dtype)) {
    return false;
  }
  to->set_kind(static_cast<pb::TensorKind>(kind));
  const auto known = DtypeFromName(dtype);
  if (!known || trnemu::Name(*known) != dtype) {
    return lexer.Fail(absl::StrCat("a dtype instead of `", dtype, "`"));
  }
  to->set_dtype(static_cast<pb::Dtype>(*known));
  if (!ReadShape(lexer, to)) return false;
  if (SpaceOf(static_cast<TensorKind>(kind)) != Space::kHbm) {
    uint32_t core = 0;
    uint32_t partition = 0;
    uint64_t address = 0;
    if (!lexer.Field("core", &core) || !lexer.Field("partition", &partition) ||
        !lexer.Field("address", &address)) {
      return false;
    }
    to->set_core(core);
    to->set_start_partition(partition);
    to->set_byte_address(address);
    to->set_pinned(lexer.Accept("pinned"));
  }
  uint64_t data = 0;
  if (kind == static_cast<int>(TensorKind::kConstant)) {
    if (!lexer.Field("data", &data)) return false;
    to->set_data_offset(data);
  }
  uint32_t source = 0;
  if (lexer.AcceptNumbered("@src", &source)) to->set_source(source);
  return true;
}

class Parser {
 public:
  absl::StatusOr<Program> Run(std::string_view text);

 private:
  absl::Status Line(std::string_view line);
  bool HeaderLine(const std::string& word, Lexer& lexer);
  bool Scalar(const std::string& word, Lexer& lexer);
  bool Row(const std::string& word, Lexer& lexer);
  bool DataSize(Lexer& lexer);
  bool DataLine(Lexer& lexer);
  absl::Status CoreLine(Lexer& lexer);
  absl::Status InstructionLine(const std::string& word, Lexer& lexer);
  absl::Status FinishHeader();

  absl::Status Error(const Lexer& lexer) const {
    return AtLine(line_, "text", lexer.error());
  }
  // Notes where a field of the header stands, for later complaints.
  void Note(std::string_view field) { lines_[std::string(field)] = line_; }
  template <typename Table>
  bool Index(Lexer& lexer, std::string_view field, const Table& table) {
    int64_t index = 0;
    if (!lexer.Integer("an index", &index)) return false;
    if (index != table.size()) {
      return lexer.Fail(
          absl::StrCat("index ", table.size(), " instead of ", index));
    }
    Note(absl::StrCat(std::string(field), "[", index, "]"));
    return true;
  }

  int line_ = 0;
  pb::Header header_;
  std::map<std::string, int> lines_;
  std::optional<uint64_t> data_bytes_;
  std::string data_;
  Program program_;
  std::optional<uint32_t> core_;  // set: past the header
  std::unique_ptr<InstructionParser> parser_;
  pb::Instruction instruction_;
};

bool Parser::Scalar(const std::string& word, Lexer& lexer) {
  const auto* field = pb::Header::descriptor()->FindFieldByName(word);
  if (field == nullptr || field->is_repeated()) {
    return lexer.Fail(
        absl::StrCat("a line of the header, `data` or `core` "
                     "instead of `",
                     word, "`"));
  }
  if (header_.GetReflection()->HasField(header_, field)) {
    return lexer.Fail(absl::StrCat("`", word, "` only once"));
  }
  Note(word);
  if (word == "name")
    return lexer.Quoted("a quoted name", header_.mutable_name());
  if (word == "producer") {
    return lexer.Quoted("a quoted name", header_.mutable_producer());
  }
  if (word == "target") return lexer.Word("a target", header_.mutable_target());
  if (word == "swdge") {
    bool swdge = false;
    if (!lexer.Bool(&swdge)) return false;
    header_.set_swdge(swdge);
    return true;
  }
  uint32_t cores = 0;
  if (word != "cores") return lexer.Fail("a line of the header");
  if (!lexer.Integer("a number", &cores)) return false;
  header_.set_cores(cores);
  return true;
}

bool Parser::Row(const std::string& word, Lexer& lexer) {
  if (word == "file") {
    return Index(lexer, "files", header_.files()) &&
           lexer.Quoted("a quoted path", header_.add_files());
  }
  if (word == "source") {
    return Index(lexer, "sources", header_.sources()) &&
           ReadSourceRow(lexer, header_.add_sources());
  }
  if (word == "queue_set") {
    return Index(lexer, "queue_sets", header_.queue_sets()) &&
           ReadQueueSet(lexer, header_.add_queue_sets());
  }
  if (word == "replica_groups") {
    return Index(lexer, "replica_groups", header_.replica_groups()) &&
           ReadReplicaGroups(lexer, header_.add_replica_groups());
  }
  if (word == "semaphore") {
    return Index(lexer, "semaphores", header_.semaphores()) &&
           ReadSemaphore(lexer, header_.add_semaphores());
  }
  if (word == "operation") {
    return Index(lexer, "operations", header_.operations()) &&
           lexer.Name("a name", header_.add_operations());
  }
  return Index(lexer, "tensors", header_.tensors()) &&
         ReadTensor(lexer, header_.add_tensors());
}

bool Parser::HeaderLine(const std::string& word, Lexer& lexer) {
  const bool row = word == "file" || word == "source" || word == "queue_set" ||
                   word == "replica_groups" || word == "semaphore" ||
                   word == "operation" || word == "tensor";
  const bool good = row              ? Row(word, lexer)
                    : word == "data" ? DataSize(lexer)
                                     : Scalar(word, lexer);
  return good && lexer.ExpectEnd();
}

bool Parser::DataSize(Lexer& lexer) {
  uint64_t bytes = 0;
  if (data_bytes_) return lexer.Fail("`data` only once");
  if (!lexer.Integer("a number of bytes", &bytes)) return false;
  data_bytes_ = bytes;
  return true;
}

bool Parser::DataLine(Lexer& lexer) {
  size_t at = 0;
  if (!lexer.Integer("the position of data", &at)) return false;
  if (at != data_.size()) {
    return lexer.Fail(
        absl::StrCat("position ", data_.size(), " instead of ", at));
  }
  const uint64_t left = *data_bytes_ - at;
  return lexer.Expect(":") &&
         lexer.Hex(std::min<uint64_t>(left, kDataBytesPerLine), &data_) &&
         lexer.ExpectEnd();
}

absl::Status Parser::FinishHeader() {
  FileLayout layout;
  header_.set_data_bytes(data_.size());
  header_.set_chunks(0);
  codec::Result r = codec::DecodeHeader(header_, program_, layout);
  if (!r) {
    parser_ = std::make_unique<InstructionParser>(program_);
    return absl::OkStatus();
  }
  const size_t bracket = r->path.find(']');
  const auto at = lines_.find(
      bracket == std::string::npos ? r->path : r->path.substr(0, bracket + 1));
  r = codec::In(std::move(r), "header");
  return AtLine(at == lines_.end() ? line_ : at->second, r->id,
                absl::StrCat(r->path, " ", r->what));
}

absl::Status Parser::CoreLine(Lexer& lexer) {
  uint32_t core = 0;
  if (!lexer.Integer("a core's index", &core) || !lexer.ExpectEnd()) {
    return Error(lexer);
  }
  if (!core_) {
    if (absl::Status s = FinishHeader(); !s.ok()) return s;
  }
  if (core >= program_.cores.size()) {
    lexer.Fail(absl::StrCat("a core below ", program_.cores.size(),
                            " instead of ", core));
    return Error(lexer);
  }
  core_ = core;
  return absl::OkStatus();
}

absl::Status Parser::InstructionLine(const std::string& word, Lexer& lexer) {
  const auto engine = FromName<Engine>(kEngineNames, word);
  if (!engine || *engine == Engine::kUnknown || *engine == Engine::kDma) {
    lexer.Fail(absl::StrCat("an engine or `core` instead of `", word, "`"));
    return Error(lexer);
  }
  instruction_.Clear();
  if (!parser_->Parse(lexer, &instruction_)) return Error(lexer);
  codec::Result r =
      codec::DecodeInstruction(instruction_, *core_, *engine, program_);
  if (!r) return absl::OkStatus();
  return AtLine(line_, r->id, absl::StrCat(r->path, " ", r->what));
}

absl::Status Parser::Line(std::string_view line) {
  if (const size_t bad = FindInvalidUtf8(line); bad != line.npos) {
    return AtLine(line_, "text", absl::StrCat("byte ", bad, " is not UTF-8"));
  }
  Lexer lexer(line);
  if (line_ == 1) {
    if (lexer.Expect(kFirstLine) && lexer.ExpectEnd()) return absl::OkStatus();
    return Error(lexer);
  }
  if (lexer.AtEnd()) return absl::OkStatus();
  if (data_bytes_ && data_.size() < *data_bytes_) {
    return DataLine(lexer) ? absl::OkStatus() : Error(lexer);
  }
  std::string word;
  if (!lexer.Word("a line of a program", &word)) return Error(lexer);
  if (word == "core") return CoreLine(lexer);
  if (core_) return InstructionLine(word, lexer);
  return HeaderLine(word, lexer) ? absl::OkStatus() : Error(lexer);
}

absl::StatusOr<Program> Parser::Run(std::string_view text) {
  const absl::Status& agreement = codec::GetSchema().agreement;
  if (!agreement.ok()) return agreement;
  do {
    const size_t end = std::min(text.find('\n'), text.size());
    ++line_;
    if (absl::Status s = Line(text.substr(0, end)); !s.ok()) return s;
    text.remove_prefix(std::min(end + 1, text.size()));
  } while (!text.empty());
  if (data_bytes_.value_or(0) > data_.size()) {
    return AtLine(line_, "text",
                  absl::StrCat("expected ", *data_bytes_,
                               " bytes of data, "
                               "found ",
                               data_.size()));
  }
  if (!core_) {
    if (absl::Status s = FinishHeader(); !s.ok()) return s;
  }
  if (codec::Result r = codec::CheckStreams(program_)) {
    return codec::ToMalformed(*r);
  }
  if (!data_.empty()) {
    std::vector<std::byte> bytes(data_.size());
    std::memcpy(bytes.data(), data_.data(), data_.size());
    program_.data = OwnData(std::move(bytes));
  }
  return std::move(program_);
}

}  // namespace
}  // namespace text

absl::StatusOr<Program> FromText(std::string_view text) {
  return text::Parser().Run(text);
}

}  // namespace trnemu
