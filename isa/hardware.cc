#include "isa/hardware.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "isa/hardware.pb.h"
#include "isa/opcodes.h"

namespace trnemu {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using PbConstant = pb::Hardware::Constant;
using PbFeature = pb::Hardware::Feature;
using PbLaw = pb::Hardware::CostLaw;

static_assert(static_cast<int>(ConstantStatus::kAssumed) ==
              pb::Hardware::ASSUMED);
static_assert(static_cast<int>(CostCondition::kRsqrt) == PbLaw::RSQRT);
static_assert(kCostConditionNames.size() == PbLaw::Condition_ARRAYSIZE);
static_assert(static_cast<int>(Engine::kSync) == PbLaw::SYNC);
static_assert(static_cast<int>(Engine::kVector) == PbLaw::VECTOR);

// The opcode of a table load, which programs do not spell: the scalar engine
// does it when an activation needs another table.
constexpr std::string_view kTableLoad = "LoadActivationTable";

// Debian's Abseil has a string_view of its own.
absl::string_view Piece(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}
absl::AlphaNum Piece(double value) { return value; }
absl::AlphaNum Piece(int64_t value) { return value; }
absl::AlphaNum Piece(int value) { return value; }

template <typename... Parts>
std::string Join(const Parts&... parts) {
  return absl::StrCat(Piece(parts)...);
}
template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Piece(Join(parts...)));
}

// ---- Parsing, with the path of what is refused ----

// The dotted names of the blocks that are open at `line`, `column` (from 0)
// of a text-format message, then the last field named before it.
class PathFinder {
 public:
  PathFinder(std::string_view text, int line, int column)
      : text_(text), end_(OffsetOf(text, line, column)) {}

  std::string Find() {
    while (at_ < end_) Step();
    std::string path;
    for (const std::string& block : blocks_) {
      path += block + ".";
    }
    return path + name_;
  }

 private:
  static size_t OffsetOf(std::string_view text, int line, int column) {
    size_t at = 0;
    for (; line > 0 && at < text.size(); ++at) line -= text[at] == '\n';
    return std::min(text.size(), at + static_cast<size_t>(column));
  }
  static bool IsNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  }
  std::string TakeName() {
    const size_t start = at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  // Whether what precedes at_ is a field's name rather than a value.
  bool NamesAField() const {
    const size_t next = text_.find_first_not_of(" \t\r\n", at_);
    return next < text_.size() && (text_[next] == ':' || text_[next] == '{');
  }
  void SkipString() {
    const char quote = text_[at_++];
    while (at_ < end_ && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  void SkipComment() {
    while (at_ < end_ && text_[at_] != '\n') ++at_;
  }
  void Step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return SkipString();
    if (c == '#') return SkipComment();
    if (IsNameCharacter(c)) {
      const std::string name = TakeName();
      if (NamesAField()) name_ = name;
      return;
    }
    if (c == '{') blocks_.push_back(name_);
    if (c == '}' && !blocks_.empty()) blocks_.pop_back();
    ++at_;
  }

  std::string_view text_;
  size_t end_;
  size_t at_ = 0;
  std::string name_;
  std::vector<std::string> blocks_;
};

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(std::string_view text) : text_(text) {}
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    const std::string path = PathFinder(text_, line, column).Find();
    message_ = Join("line ", line + 1, ", at ", path, ": ", message);
  }
  const std::string& message() const { return message_; }

 private:
  std::string_view text_;
  std::string message_;
};

absl::Status Parse(std::string_view text, pb::Hardware& out) {
  FirstError errors(text);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (parser.ParseFromString(std::string(text), &out)) {
    return absl::OkStatus();
  }
  return Error("hardware description: ", errors.message());
}

// ---- Checking: everything there, with a source, a status and its unit ----

bool IsRealUnit(std::string_view unit) {
  static const std::set<std::string_view> kReal = {"ns",   "cycles", "GHz",
                                                   "B/ns", "ns/B",   "ratio"};
  return kReal.count(unit) != 0;
}

bool UnitMatches(std::string_view expected, std::string_view unit) {
  if (expected != "time") return unit == expected;
  return unit == "ns" || unit == "cycles";
}

absl::Status CheckValue(const std::string& path, const FieldDescriptor& field,
                        double value, std::string_view unit) {
  constexpr double kLargest = 9007199254740992;  // 2^53: exact in a double
  if (!std::isfinite(value) || std::fabs(value) > kLargest) {
    return Error(path, ".value is ", value, ", which is out of range");
  }
  if (value < 0 && !field.options().GetExtension(pb::may_be_negative)) {
    return Error(path, ".value is ", value, "; it must not be negative");
  }
  if (!IsRealUnit(unit) && value != std::floor(value)) {
    return Error(path, ".value is ", value, " ", unit,
                 "; it must be a whole number");
  }
  return absl::OkStatus();
}

// What Constant and Feature share.
template <typename Value>
absl::Status CheckProvenance(const std::string& path, const Value& value) {
  if (value.source().empty()) return Error(path, ".source is missing");
  if (value.status() == pb::Hardware::STATUS_UNSET) {
    return Error(path, ".status is missing");
  }
  if (!pb::Hardware::Status_IsValid(value.status())) {
    return Error(path, ".status is ", static_cast<int>(value.status()),
                 ", which names no status");
  }
  return absl::OkStatus();
}

template <typename Value>
ConstantInfo InfoOf(const std::string& path, const Value& value) {
  ConstantInfo info;
  info.path = path;
  info.status = static_cast<ConstantStatus>(value.status());
  info.source = value.source();
  info.note = value.note();
  return info;
}

// Walks a description in the order of its declaration; refuses what is
// incomplete and lists the constants.
class Checker {
 public:
  absl::Status Check(const Message& message, const std::string& path) {
    const auto* descriptor = message.GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor& field = *descriptor->field(i);
      const std::string field_path =
          path.empty() ? field.name() : Join(path, ".", field.name());
      absl::Status status = CheckField(message, field, field_path);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  std::vector<ConstantInfo> TakeConstants() { return std::move(constants_); }

 private:
  absl::Status CheckField(const Message& message, const FieldDescriptor& field,
                          const std::string& path) {
    if (field.is_repeated()) return CheckRepeated(message, field, path);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return CheckSingle(message, field, path);
    }
    const auto* reflection = message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
        field.name() != "note" &&
        reflection->GetString(message, &field).empty()) {
      return Error(path, " is missing");
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      return CheckEnum(field, reflection->GetEnumValue(message, &field), path);
    }
    return absl::OkStatus();
  }

  static absl::Status CheckEnum(const FieldDescriptor& field, int value,
                                const std::string& path) {
    if (field.enum_type()->FindValueByNumber(value) == nullptr) {
      return Error(path, " is ", value, ", which names no ",
                   field.enum_type()->name());
    }
    if (field.name() == "status" && value == pb::Hardware::STATUS_UNSET) {
      return Error(path, " is missing");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRepeated(const Message& message,
                             const FieldDescriptor& field,
                             const std::string& path) {
    const auto* reflection = message.GetReflection();
    const int size = reflection->FieldSize(message, &field);
    if (size == 0) return Error(path, " is missing");
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return absl::OkStatus();
    }
    for (int i = 0; i < size; ++i) {
      const Message& item = reflection->GetRepeatedMessage(message, &field, i);
      absl::Status status = Check(item, Join(path, "[", Label(item, i), "]"));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // What stands for an item in a path: names where it has them.
  static std::string Label(const Message& item, int index) {
    const auto* law = dynamic_cast<const PbLaw*>(&item);
    if (law == nullptr || law->opcode().empty() ||
        !PbLaw::Engine_IsValid(law->engine()) ||
        !PbLaw::Condition_IsValid(law->when())) {
      return Join(index);
    }
    const std::string_view engine =
        law->engine() == PbLaw::ANY_ENGINE
            ? std::string_view("any")
            : kEngineNames[static_cast<size_t>(law->engine())];
    return Join(law->opcode(), " ", engine, " ",
                kCostConditionNames[static_cast<size_t>(law->when())]);
  }

  absl::Status CheckSingle(const Message& message, const FieldDescriptor& field,
                           const std::string& path) {
    const auto* reflection = message.GetReflection();
    if (!reflection->HasField(message, &field)) {
      if (field.options().GetExtension(pb::may_be_absent)) {
        return absl::OkStatus();
      }
      return Error(path, " is missing");
    }
    const Message& value = reflection->GetMessage(message, &field);
    if (const auto* constant = dynamic_cast<const PbConstant*>(&value)) {
      return CheckConstant(*constant, field, path);
    }
    if (const auto* feature = dynamic_cast<const PbFeature*>(&value)) {
      return CheckFeature(*feature, path);
    }
    return Check(value, path);
  }

  absl::Status CheckConstant(const PbConstant& constant,
                             const FieldDescriptor& field,
                             const std::string& path) {
    if (!constant.has_value()) return Error(path, ".value is missing");
    const std::string& expected = field.options().GetExtension(pb::unit);
    if (!UnitMatches(expected, constant.unit())) {
      return Error(path, ".unit is \"", constant.unit(), "\"; it must be ",
                   expected == "time" ? "ns or cycles" : expected);
    }
    absl::Status status =
        CheckValue(path, field, constant.value(), constant.unit());
    if (!status.ok()) return status;
    status = CheckProvenance(path, constant);
    if (!status.ok()) return status;
    ConstantInfo info = InfoOf(path, constant);
    info.value = constant.value();
    info.unit = constant.unit();
    constants_.push_back(std::move(info));
    return absl::OkStatus();
  }

  absl::Status CheckFeature(const PbFeature& feature, const std::string& path) {
    if (!feature.has_present()) return Error(path, ".present is missing");
    absl::Status status = CheckProvenance(path, feature);
    if (!status.ok()) return status;
    ConstantInfo info = InfoOf(path, feature);
    info.value = feature.present() ? 1 : 0;
    info.unit = "bool";
    constants_.push_back(std::move(info));
    return absl::OkStatus();
  }

  std::vector<ConstantInfo> constants_;
};

// ---- Reading into the plain structs ----

int64_t Whole(const PbConstant& constant) {
  return static_cast<int64_t>(constant.value());
}

// Nanoseconds of a time written in ns or in cycles of a clock of `ghz`.
double Ns(const PbConstant& constant, double ghz) {
  return constant.unit() == "cycles" ? constant.value() / ghz
                                     : constant.value();
}

MemoryLimits ReadMemory(const pb::Hardware::Memory& in) {
  MemoryLimits out;
  out.partitions = Whole(in.partitions());
  out.sbuf_partition_bytes = Whole(in.sbuf_partition_bytes());
  out.sbuf_usable_partition_bytes = Whole(in.sbuf_usable_partition_bytes());
  out.sbuf_usable_partition_bytes_with_swdge =
      Whole(in.sbuf_usable_partition_bytes_with_swdge());
  out.psum_partition_bytes = Whole(in.psum_partition_bytes());
  out.psum_banks = Whole(in.psum_banks());
  out.psum_bank_bytes = Whole(in.psum_bank_bytes());
  out.cores_per_device = Whole(in.cores_per_device());
  out.hbm_bytes = Whole(in.hbm_bytes());
  out.hbm_bytes_per_core = Whole(in.hbm_bytes_per_core());
  out.hbm_stacks = Whole(in.hbm_stacks());
  out.hbm_stack_cores = Whole(in.hbm_stack_cores());
  out.hbm_bandwidth = in.hbm_bandwidth().value();
  out.hbm_bandwidth_per_core = in.hbm_bandwidth_per_core().value();
  out.hbm_stack_bandwidth =
      out.hbm_bandwidth / static_cast<double>(out.hbm_stacks);
  return out;
}

EngineTiming ReadEngine(const pb::Hardware::EngineTiming& in) {
  EngineTiming out;
  out.clock_ghz = in.clock().value();
  out.minimum_issue_ns = Ns(in.minimum_issue(), out.clock_ghz);
  out.drain_ns = Ns(in.drain(), out.clock_ghz);
  return out;
}

void ReadEngines(const pb::Hardware::Engines& in, Hardware& out) {
  const auto at = [&out](Engine engine) -> EngineTiming& {
    return out.engines[static_cast<size_t>(engine)];
  };
  at(Engine::kTensor) = ReadEngine(in.tensor());
  at(Engine::kVector) = ReadEngine(in.vector());
  at(Engine::kScalar) = ReadEngine(in.scalar());
  at(Engine::kGpsimd) = ReadEngine(in.gpsimd());
  at(Engine::kSync).minimum_issue_ns = in.sync().minimum_issue().value();
}

AccessLimits ReadAccess(const pb::Hardware::Access& in) {
  AccessLimits out;
  out.max_count = Whole(in.max_count());
  out.min_step = Whole(in.min_step());
  out.max_step = Whole(in.max_step());
  out.max_free_dimensions = Whole(in.max_free_dimensions());
  out.sbuf_free_max = Whole(in.sbuf_free_max());
  out.psum_free_max = Whole(in.psum_free_max());
  out.strided_access_bytes = Whole(in.strided_access_bytes());
  out.strided_access_factor = in.strided_access_factor().value();
  return out;
}

TensorEngineLimits ReadTensorEngine(const pb::Hardware::TensorEngine& in) {
  TensorEngineLimits out;
  out.rows = Whole(in.rows());
  out.columns = Whole(in.columns());
  out.tile_min = Whole(in.tile_min());
  out.stationary_max = Whole(in.stationary_max());
  out.moving_max = Whole(in.moving_max());
  out.moving_max_bf16 = Whole(in.moving_max_bf16());
  out.throttled_rate = in.throttled_rate().value();
  out.throttle_utilization = in.throttle_utilization().value();
  out.throttle_window_ns = in.throttle_window().value();
  out.throttle_ramp_ns = in.throttle_ramp().value();
  return out;
}

SequencerLimits ReadSequencer(const pb::Hardware::Sequencer& in) {
  SequencerLimits out;
  out.registers = Whole(in.registers());
  out.semaphores = Whole(in.semaphores());
  out.semaphore_max = Whole(in.semaphore_max());
  out.hand_off_ns = in.hand_off().value();
  out.launch_ns = in.launch().value();
  return out;
}

DmaLaw ReadDmaLaw(const pb::Hardware::DmaLaw& in) {
  DmaLaw out;
  out.spacing_ns = in.spacing().value();
  out.start_ns = in.start().value();
  out.payload_fixed_ns = in.payload_fixed().value();
  out.payload_ns_per_byte = in.payload_per_byte().value();
  out.payload_ns_per_byte_long = in.payload_per_byte_long().value();
  out.notify_ns = in.notify().value();
  return out;
}

DmaLimits ReadDma(const pb::Hardware::Dma& in) {
  DmaLimits out;
  out.engines = Whole(in.engines());
  out.queues_per_engine = Whole(in.queues_per_engine());
  out.partitions_per_engine = Whole(in.partitions_per_engine());
  out.descriptor_dimensions = Whole(in.descriptor_dimensions());
  out.packet_bytes = Whole(in.packet_bytes());
  out.long_row_bytes = Whole(in.long_row_bytes());
  out.hwdge_units = Whole(in.hwdge_units());
  out.priorities = Whole(in.priorities());
  out.peak_rate = in.peak_rate().value();
  out.sustained_rate = in.sustained_rate().value();
  out.transpose_rate_load = in.transpose_rate_load().value();
  out.transpose_rate_on_chip = in.transpose_rate_on_chip().value();
  out.accumulate_rate = in.accumulate_rate().value();
  out.trigger_ns = in.trigger().value();
  out.trigger_gpsimd_ns = in.trigger_gpsimd().value();
  out.laws = {ReadDmaLaw(in.load()), ReadDmaLaw(in.store()),
              ReadDmaLaw(in.hbm()), ReadDmaLaw(in.on_chip())};
  return out;
}

Features ReadFeatures(const pb::Hardware::Features& in) {
  Features out;
#define TRNEMU_FEATURE(name) out.name = in.name().present()
  TRNEMU_FEATURE(fp8_double_row);
  TRNEMU_FEATURE(fp8_e4m3fn_matmul);
  TRNEMU_FEATURE(mx_matmul);
  TRNEMU_FEATURE(exact_tensor_transpose);
  TRNEMU_FEATURE(fast_fp32_transpose);
  TRNEMU_FEATURE(bf16_psum);
  TRNEMU_FEATURE(multi_bank_matmul);
  TRNEMU_FEATURE(psum_accumulates_any);
  TRNEMU_FEATURE(background_transpose);
  TRNEMU_FEATURE(activation_bias_immediate);
  TRNEMU_FEATURE(activation2);
  TRNEMU_FEATURE(scalar_bit_copy);
  TRNEMU_FEATURE(scalar_tensor_scalar);
  TRNEMU_FEATURE(scalar_16bit_mode);
  TRNEMU_FEATURE(vector_16bit_mode);
  TRNEMU_FEATURE(vector_exponential);
  TRNEMU_FEATURE(quantize_mx);
  TRNEMU_FEATURE(range_select);
  TRNEMU_FEATURE(nonzero_with_count);
  TRNEMU_FEATURE(rng_on_gpsimd);
  TRNEMU_FEATURE(rand2);
  TRNEMU_FEATURE(abs_max_min);
  TRNEMU_FEATURE(tensor_indirection);
  TRNEMU_FEATURE(hardware_dge);
  TRNEMU_FEATURE(dge_transpose);
  TRNEMU_FEATURE(dma_priority);
  TRNEMU_FEATURE(lnc2);
  TRNEMU_FEATURE(vector_gpsimd_parallel_sbuf);
  TRNEMU_FEATURE(vector_scalar_parallel_psum);
#undef TRNEMU_FEATURE
  return out;
}

CostLaw ReadLaw(const PbLaw& in, const EngineTiming& engine) {
  const double ghz = engine.clock_ghz;
  CostLaw out;
  out.opcode = in.opcode();
  out.engine = static_cast<Engine>(in.engine());
  out.when = static_cast<CostCondition>(in.when());
  out.completion_fixed_ns = Ns(in.fixed(), ghz);
  out.completion_per_element_ns = Ns(in.per_element(), ghz);
  if (in.has_minimum()) out.completion_minimum_ns = Ns(in.minimum(), ghz);
  out.issue_fixed_ns =
      in.has_issue_fixed()
          ? Ns(in.issue_fixed(), ghz)
          : std::max(0.0, out.completion_fixed_ns - engine.drain_ns);
  out.issue_per_element_ns = in.has_issue_per_element()
                                 ? Ns(in.issue_per_element(), ghz)
                                 : out.completion_per_element_ns;
  out.issue_minimum_ns = in.has_issue_minimum() ? Ns(in.issue_minimum(), ghz)
                                                : engine.minimum_issue_ns;
  if (in.has_per_operand()) out.per_operand_ns = Ns(in.per_operand(), ghz);
  out.operands_included = Whole(in.operands_included());
  return out;
}

auto LawKey(const CostLaw& law) {
  return std::pair<std::string_view, Engine>(law.opcode, law.engine);
}

void ReadLaws(const pb::Hardware& in, Hardware& out) {
  for (const PbLaw& law : in.law()) {
    out.laws.push_back(
        ReadLaw(law, out.engine(static_cast<Engine>(law.engine()))));
  }
  std::stable_sort(
      out.laws.begin(), out.laws.end(),
      [](const CostLaw& a, const CostLaw& b) { return LawKey(a) < LawKey(b); });
}

absl::Status ReadTables(const pb::Hardware& in, Hardware& out) {
  out.activation_table_names = {""};
  std::set<ActFunction> seen;
  for (const auto& table : in.activation_table()) {
    uint8_t number = 0;
    if (table.name() != "none") {
      number = static_cast<uint8_t>(out.activation_table_names.size());
      out.activation_table_names.push_back(table.name());
    }
    for (const std::string& name : table.functions()) {
      const auto function = ActFunctionFromName(name);
      if (!function || !seen.insert(*function).second) {
        return Error(
            "activation_table[", table.name(), "].functions: \"", name,
            function ? "\" is in two tables" : "\" is no activation function");
      }
      out.activation_table[static_cast<size_t>(*function)] = number;
    }
  }
  for (const ActInfo& info : kActFunctions) {
    if (seen.count(info.function) == 0) {
      return Error("activation_table: no table lists \"", info.name, "\"");
    }
  }
  return absl::OkStatus();
}

// ---- Checking that the values make sense together ----

absl::Status CheckPositive(const pb::Hardware& in) {
  const std::pair<const char*, double> values[] = {
      {"memory.partitions", in.memory().partitions().value()},
      {"memory.psum_bank_bytes", in.memory().psum_bank_bytes().value()},
      {"memory.cores_per_device", in.memory().cores_per_device().value()},
      {"memory.hbm_stacks", in.memory().hbm_stacks().value()},
      {"memory.hbm_bandwidth", in.memory().hbm_bandwidth().value()},
      {"engines.tensor.clock", in.engines().tensor().clock().value()},
      {"engines.vector.clock", in.engines().vector().clock().value()},
      {"engines.scalar.clock", in.engines().scalar().clock().value()},
      {"engines.gpsimd.clock", in.engines().gpsimd().clock().value()},
      {"tensor_engine.throttled_rate",
       in.tensor_engine().throttled_rate().value()},
      {"dma.engines", in.dma().engines().value()},
      {"dma.queues_per_engine", in.dma().queues_per_engine().value()},
      {"dma.partitions_per_engine", in.dma().partitions_per_engine().value()},
      {"dma.packet_bytes", in.dma().packet_bytes().value()},
      {"dma.peak_rate", in.dma().peak_rate().value()},
      {"dma.accumulate_rate", in.dma().accumulate_rate().value()},
      {"dma.transpose_rate_load", in.dma().transpose_rate_load().value()},
      {"dma.transpose_rate_on_chip",
       in.dma().transpose_rate_on_chip().value()}};
  for (const auto& [path, value] : values) {
    if (value <= 0) return Error(path, ".value is 0; it must be positive");
  }
  if (in.tensor_engine().throttled_rate().value() > 1) {
    return Error("tensor_engine.throttled_rate.value is above 1");
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(const MemoryLimits& memory) {
  if (memory.psum_banks * memory.psum_bank_bytes !=
      memory.psum_partition_bytes) {
    return Error("memory.psum_partition_bytes is ", memory.psum_partition_bytes,
                 ", but psum_banks x psum_bank_bytes is ",
                 memory.psum_banks * memory.psum_bank_bytes);
  }
  if (memory.sbuf_usable_partition_bytes > memory.sbuf_partition_bytes ||
      memory.sbuf_usable_partition_bytes_with_swdge >
          memory.sbuf_usable_partition_bytes) {
    return Error("memory.sbuf_usable_partition_bytes is ",
                 memory.sbuf_usable_partition_bytes, " of ",
                 memory.sbuf_partition_bytes, ", and ",
                 memory.sbuf_usable_partition_bytes_with_swdge,
                 " with software descriptor generation; each must not exceed "
                 "the one before");
  }
  return absl::OkStatus();
}

absl::Status CheckLaw(const PbLaw& law) {
  const std::string path = Join("law[", law.opcode(), "]");
  if (law.opcode() != kTableLoad && !OpcodeFromName(law.opcode())) {
    return Error(path, ".opcode names no opcode");
  }
  if (law.engine() != PbLaw::ANY_ENGINE && law.engine() != PbLaw::SYNC) {
    return absl::OkStatus();
  }
  const PbConstant* times[] = {
      &law.fixed(),       &law.per_element(),       &law.minimum(),
      &law.issue_fixed(), &law.issue_per_element(), &law.issue_minimum(),
      &law.per_operand()};
  for (const PbConstant* time : times) {
    if (time->unit() == "cycles") {
      return Error(path, " has a time in cycles, but its engine has no clock");
    }
  }
  return absl::OkStatus();
}

// Every instruction must find a row: one without condition, and last.
absl::Status CheckRows(const Hardware& hardware, std::string_view opcode,
                       Engine engine) {
  const auto rows = LawsFor(hardware, opcode, engine);
  const std::string name = Join("law[", opcode, " ", Name(engine), " any]");
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i].when == CostCondition::kAny) != (i + 1 == rows.size())) {
      return Error(name, " must be the last row of its opcode and engine");
    }
  }
  if (rows.empty()) return Error(name, " is missing");
  return absl::OkStatus();
}

absl::Status CheckCoverage(const Hardware& hardware) {
  absl::Status status = CheckRows(hardware, kTableLoad, Engine::kScalar);
  for (const OpcodeInfo& info : Opcodes()) {
    if (info.dma) continue;  // costed by dma
    for (Engine engine : kSequencers) {
      if (!status.ok()) return status;
      if ((info.engines & Bit(engine)) == 0) continue;
      status = CheckRows(hardware, info.name, engine);
    }
  }
  return status;
}

absl::Status ReadIdentity(const pb::Hardware& in, Hardware& out) {
  const auto target = TargetFromName(in.name());
  if (!target) return Error("name is \"", in.name(), "\", which is no target");
  out.target = *target;
  out.name = in.name();
  out.core = in.core();
  out.generation = Whole(in.generation());
  if (out.generation != static_cast<int64_t>(*target)) {
    return Error("generation.value is ", out.generation, ", but ", in.name(),
                 " is generation ", static_cast<int>(*target));
  }
  return absl::OkStatus();
}

absl::StatusOr<Hardware> Resolve(const pb::Hardware& in) {
  absl::Status status = CheckPositive(in);
  if (!status.ok()) return status;
  for (const PbLaw& law : in.law()) {
    status = CheckLaw(law);
    if (!status.ok()) return status;
  }
  Hardware out;
  status = ReadIdentity(in, out);
  if (!status.ok()) return status;
  out.memory = ReadMemory(in.memory());
  ReadEngines(in.engines(), out);
  out.access = ReadAccess(in.access());
  out.tensor = ReadTensorEngine(in.tensor_engine());
  out.sequencer = ReadSequencer(in.sequencer());
  out.dma = ReadDma(in.dma());
  out.features = ReadFeatures(in.features());
  ReadLaws(in, out);
  status = ReadTables(in, out);
  if (status.ok()) status = CheckMemory(out.memory);
  if (status.ok()) status = CheckCoverage(out);
  if (!status.ok()) return status;
  return out;
}

absl::Status Refused(const absl::Status& status) {
  const absl::string_view message = status.message();
  return Error("hardware description: ",
               std::string_view(message.data(), message.size()));
}

// The built-in descriptions are tested; one that does not load is a bug.
std::array<Hardware, kTargets.size()> LoadEmbedded() {
  std::array<Hardware, kTargets.size()> all;
  for (const auto& [stem, text] : EmbeddedHardwareFiles()) {
    auto hardware = LoadHardware(text);
    if (!hardware.ok()) {
      std::fprintf(stderr, "trnemu: isa/hardware/%s.textproto: %s\n",
                   std::string(stem).c_str(),
                   hardware.status().ToString().c_str());
      std::abort();
    }
    const auto index = static_cast<size_t>(hardware->target) -
                       static_cast<size_t>(kTargets.front());
    all[index] = *std::move(hardware);
  }
  return all;
}

}  // namespace

std::string_view Name(Target target) {
  constexpr std::array<std::string_view, 3> kNames = {"trn1", "trn2", "trn3"};
  return kNames[static_cast<size_t>(target) -
                static_cast<size_t>(kTargets.front())];
}

std::optional<Target> TargetFromName(std::string_view name) {
  constexpr std::pair<std::string_view, Target> kNames[] = {
      {"trn1", Target::kTrn1}, {"gen2", Target::kTrn1}, {"inf2", Target::kTrn1},
      {"trn2", Target::kTrn2}, {"gen3", Target::kTrn2}, {"trn3", Target::kTrn3},
      {"gen4", Target::kTrn3}};
  for (const auto& [known, target] : kNames) {
    if (known == name) return target;
  }
  return std::nullopt;
}

const Hardware& HardwareFor(Target target) {
  static const auto* all =
      new std::array<Hardware, kTargets.size()>(LoadEmbedded());
  return (*all)[static_cast<size_t>(target) -
                static_cast<size_t>(kTargets.front())];
}

absl::StatusOr<Hardware> LoadHardware(std::string_view textproto) {
  pb::Hardware parsed;
  absl::Status status = Parse(textproto, parsed);
  if (!status.ok()) return status;
  Checker checker;
  status = checker.Check(parsed, "");
  if (!status.ok()) {
    return Refused(status);
  }
  auto hardware = Resolve(parsed);
  if (!hardware.ok()) {
    return Refused(hardware.status());
  }
  hardware->constants = checker.TakeConstants();
  return hardware;
}

std::vector<ConstantInfo> ListConstants(const Hardware& hardware) {
  return hardware.constants;
}

std::span<const CostLaw> LawsFor(const Hardware& hardware,
                                 std::string_view opcode, Engine engine) {
  const auto rows = [&](Engine e) {
    const std::pair<std::string_view, Engine> key(opcode, e);
    const auto begin = std::partition_point(
        hardware.laws.begin(), hardware.laws.end(),
        [&](const CostLaw& law) { return LawKey(law) < key; });
    const auto end =
        std::find_if(begin, hardware.laws.end(),
                     [&](const CostLaw& law) { return LawKey(law) != key; });
    return std::span<const CostLaw>(begin, end);
  };
  const auto exact = rows(engine);
  return exact.empty() ? rows(Engine::kUnknown) : exact;
}

const CostLaw* FindLaw(std::span<const CostLaw> rows, CostFacts facts) {
  const CostFacts holds = facts | Fact(CostCondition::kAny);
  for (const CostLaw& law : rows) {
    if ((holds & Fact(law.when)) != 0) return &law;
  }
  return nullptr;
}

const CostLaw* FindLaw(const Hardware& hardware, std::string_view opcode,
                       Engine engine, CostFacts facts) {
  return FindLaw(LawsFor(hardware, opcode, engine), facts);
}

}  // namespace trnemu
