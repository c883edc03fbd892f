// What a report says about the bytes that it is about: whose they are, and who
// wrote them or could have.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/runner.h"
#include "isa/call.h"
#include "isa/operations.h"

namespace trnemu {
namespace {

// Writers that a report lists.
constexpr size_t kMaxListed = 3;
// Findings of a run whose writers are looked for.
constexpr int kMaxDescribed = 100;

std::optional<std::string_view> DetailOf(const Diagnostic& d,
                                         std::string_view key) {
  for (const auto& [name, value] : d.details) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// Takes a number off the front of `text`, and `after` behind it.
bool TakeNumber(std::string_view& text, std::string_view after, int64_t& n) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, n);
  text.remove_prefix(static_cast<size_t>(at - text.data()));
  if (error != std::errc() || text.substr(0, after.size()) != after) {
    return false;
  }
  text.remove_prefix(after.size());
  return true;
}

// The bytes that a finding names: "[64, 68)" and, on chip, a partition.
std::optional<ByteRange> RangeOf(const Diagnostic& d, size_t core,
                                 uint32_t tensor, Space space) {
  ByteRange range;
  range.space = space;
  range.core = core;
  range.tensor = tensor;
  std::string_view text = DetailOf(d, "byte_range").value_or("");
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  if (!TakeNumber(text, ", ", range.begin) ||
      !TakeNumber(text, ")", range.end)) {
    return std::nullopt;
  }
  if (space == Space::kHbm) return range;
  text = DetailOf(d, "partition").value_or("");
  if (!TakeNumber(text, "", range.partition)) return std::nullopt;
  return range;
}

std::string DescribeTensor(const Program& program, const Tensor& t) {
  std::string text = absl::StrCat(t.name, ", ", DescribeShape(t.shape), " ",
                                  std::string(Name(t.dtype)), " in ",
                                  std::string(Name(t.space())));
  if (t.on_chip()) {
    absl::StrAppend(&text, " from partition ", t.start_partition, ", byte ",
                    t.byte_address);
  }
  const std::string source = program.DescribeSource(t.source);
  if (!source.empty()) absl::StrAppend(&text, ", made at ", source);
  return text;
}

// The operand of an instruction that a finding names, or the tile of its
// indices ("the index of src").
const Access* FindOperand(const CoreProgram& core, const Instruction& i,
                          std::string_view name) {
  constexpr std::string_view kIndex = "the index of ";
  const bool index = name.substr(0, kIndex.size()) == kIndex;
  if (index) name.remove_prefix(kIndex.size());
  const auto specs = Info(i.opcode).operands;
  for (size_t o = 0; o < specs.size(); ++o) {
    const Operand& operand = core.OperandsOf(i)[o];
    if (specs[o].name != name || operand.kind != Operand::Kind::kAccess) {
      continue;
    }
    if (!index) return &operand.access;
    const Indirection* indirection = core.IndirectionOf(operand.access);
    return indirection != nullptr && indirection->has_index()
               ? &indirection->index
               : nullptr;
  }
  return nullptr;
}

// How an operand ("src", "the index of src") is used.
Role RoleOf(const Instruction& i, std::string_view operand) {
  for (const auto& spec : Info(i.opcode).operands) {
    if (spec.name == operand) return spec.role;
  }
  return Role::kIn;
}

// The parameter of the operation that an operand of one of its instructions
// is; "" if it cannot be told, or has the operand's name.
std::string_view ParameterOf(const Program& program, const Hardware& hardware,
                             size_t core, const Instruction& i,
                             std::string_view operand, const Access& access) {
  const auto& stream = program.cores[core].stream(i.engine);
  auto at = static_cast<size_t>(&i - stream.data());
  while (at > 0 && stream[at].step != 0) --at;
  std::vector<const Instruction*> group;
  do {
    group.push_back(&stream[at++]);
  } while (at < stream.size() && stream[at].step != 0);
  Call call;
  const Expansion expansion{&program.cores[core], group};
  if (!Lift(program, hardware, expansion, call).ok()) return "";
  const auto parameters = call.operation->parameters;
  // One tile may be several parameters, as in tensor_scalar(dst=t, data=t).
  const Role role = RoleOf(i, operand);
  std::string_view same_role, other_role;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Value& value = call[static_cast<int>(p)];
    if (!value.is_tile() || value.access != access) continue;
    if (parameters[p].name == operand) return "";
    std::string_view& found =
        parameters[p].role == role ? same_role : other_role;
    if (found.empty()) found = parameters[p].name;
  }
  return same_role.empty() ? other_role : same_role;
}

}  // namespace

uint64_t Runner::RanAt(const Writer& writer) const {
  for (const Sequencer& s : sequencers_) {
    if (s.core != writer.core || s.engine != writer.instruction->engine) {
      continue;
    }
    return s.ran[static_cast<size_t>(writer.instruction - s.begin)];
  }
  return 0;
}

bool Runner::InFlight(const Writer& writer) const {
  return std::any_of(
      transfers_.begin(), transfers_.end(), [&](const Transfer& t) {
        return t.instruction == writer.instruction && t.parts_left > 0;
      });
}

void Runner::DescribeUnwritten(Diagnostic& d, uint32_t tensor,
                               const ByteRange& range,
                               const Instruction* reader) const {
  const std::string& name = program_.tensors[tensor].name;
  const auto writers = FindWriters(program_, tensor, range);
  // What to do about an accumulation is known without them.
  std::string unused;
  std::string& remedy =
      d.id == "nc_matmul.accumulate_unwritten" ? unused : d.remedy;
  if (writers.empty()) {
    d.related.push_back(absl::StrCat("nothing in the program writes ", name));
    remedy = absl::StrCat("write ", name,
                          " first, for example with dma_copy or memset");
    return;
  }
  const Writer* last = nullptr;  // of other bytes
  uint64_t last_ran = 0;
  size_t listed = 0;
  for (const Writer& w : writers) {
    const uint64_t ran = RanAt(w);
    if (w.touch == Touch::kNo) {
      if (last == nullptr || ran > last_ran) last = &w;
      last_ran = std::max(last_ran, ran);
      continue;
    }
    if (w.instruction == reader || ++listed > kMaxListed) continue;
    const bool sure = w.touch == Touch::kYes;
    std::string text = DescribeWriter(program_, w);
    const char* const writes = sure ? " writes them" : " may write them";
    if (ran == 0) {
      absl::StrAppend(&text, writes, ", but had not run");
      if (!sure) {
      } else if (reader != nullptr && w.core == range.core &&
                 w.instruction->order > reader->order) {
        remedy = "it comes later in the program: move the read behind it";
      } else if (reader != nullptr) {
        remedy = "wait for that instruction: for a semaphore that it signals";
      }
    } else if (InFlight(w)) {
      absl::StrAppend(&text, writes, ", and was not complete");
      remedy = "wait for that transfer: for the semaphore that it signals";
    } else {
      absl::StrAppend(&text, " ran and may write them, but left them out");
    }
    d.related.push_back(text);
  }
  if (listed > kMaxListed) {
    d.related.push_back(
        absl::StrCat("and ", listed - kMaxListed, " more may write them"));
  }
  if (listed > 0 || last == nullptr) return;
  d.related.push_back(absl::StrCat(
      "nothing in the program writes these bytes; ", name,
      last_ran > 0 ? " was last written by " : " is written by ",
      DescribeWriter(program_, *last), ": ", DescribeBox(program_, *last)));
  d.remedy =
      reader == nullptr
          ? absl::StrCat("write the rest of ", name, " too, or make it smaller")
          : absl::StrCat("write the rest of ", name,
                         " too, or read only what is written");
}

void Runner::DescribeLastWriter(Diagnostic& d, uint32_t tensor,
                                const ByteRange& range) const {
  const Writer* last = nullptr;
  uint64_t last_ran = 0;
  const auto writers = FindWriters(program_, tensor, range);
  for (const Writer& w : writers) {
    const uint64_t ran = RanAt(w);
    if (w.touch == Touch::kNo || ran <= last_ran) continue;
    last = &w;
    last_ran = ran;
  }
  if (last == nullptr) return;
  d.related.push_back(absl::StrCat(
      last->touch == Touch::kYes ? "last written by " : "possibly written by ",
      DescribeWriter(program_, *last)));
}

// Adds the operand's tensor, and who wrote its bytes where that is the
// question.
void Runner::DescribeOperand(Diagnostic& d, size_t core,
                             const Instruction& i) const {
  if (DetailOf(d, "tensor")) return;  // described before
  const Access* access = FindOperand(program_.cores[core], i, d.operand);
  if (access == nullptr) return;
  const Tensor& t = program_.tensors[access->tensor];
  d.details.emplace_back("tensor", DescribeTensor(program_, t));
  const std::string_view parameter =
      ParameterOf(program_, *machine_.hardware, core, i, d.operand, *access);
  if (!parameter.empty()) {
    d.details.emplace_back("parameter", parameter);
  }
  const auto range = RangeOf(d, core, access->tensor, t.space());
  if (!range || writers_described_ >= kMaxDescribed) return;
  ++writers_described_;
  if (d.id == "nc_matmul.accumulate_on_other") {
    DescribeLastWriter(d, access->tensor, *range);
  } else if (d.id == "memory.read_unwritten" ||
             d.id == "nc_matmul.accumulate_unwritten") {
    DescribeUnwritten(d, access->tensor, *range, &i);
  }
}

absl::Status Runner::ExplainOutput(const absl::Status& status) const {
  Diagnostic d = DiagnosticOf(status);
  const Tensor* t = program_.FindTensor(d.operand);
  if (t == nullptr) return status;
  const auto tensor = static_cast<uint32_t>(t - program_.tensors.data());
  const auto range = RangeOf(d, 0, tensor, Space::kHbm);
  if (range) DescribeUnwritten(d, tensor, *range, nullptr);
  return ToStatus(std::move(d));
}

}  // namespace trnemu
