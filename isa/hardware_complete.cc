// Checking that a description of hardware or of a system says everything: each
// constant with its unit, source and status.
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "isa/hardware_internal.h"

namespace trnemu::hardware {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

static_assert(static_cast<int>(ConstantStatus::kAssumed) ==
              pb::Hardware::ASSUMED);
static_assert(static_cast<int>(CostCondition::kRsqrt) == PbLaw::RSQRT);
static_assert(kCostConditionNames.size() == PbLaw::Condition_ARRAYSIZE);
static_assert(static_cast<int>(Engine::kSync) == PbLaw::SYNC);
static_assert(static_cast<int>(Engine::kVector) == PbLaw::VECTOR);

bool IsRealUnit(std::string_view unit) {
  static const std::set<std::string_view> kReal = {"ns",   "cycles", "GHz",
                                                   "B/ns", "ns/B",   "ratio"};
  return kReal.count(unit) != 0;
}

bool UnitMatches(std::string_view expected, std::string_view unit) {
  if (expected != "time") return unit == expected;
  return unit == "ns" || unit == "cycles";
}

// Times are counted in femtoseconds, of which a run has 2^62 (77 minutes); no
// constant alone comes near it.
double LongestTime(std::string_view unit) {
  if (unit == "ns") return 1e11;
  return unit == "cycles" ? 1e8 : std::numeric_limits<double>::infinity();
}

absl::Status CheckValue(const std::string& path, const FieldDescriptor& field,
                        double value, std::string_view unit) {
  constexpr double kLargest = 9007199254740992;  // 2^53: exact in a double
  if (!std::isfinite(value) || std::fabs(value) > kLargest) {
    return Error(path, ".value is ", value, ", which is out of range");
  }
  const double longest = LongestTime(unit);
  if (value > longest) {
    return Error(path, ".value is ", value, " ", unit, "; times are at most ",
                 longest, " ", unit);
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
    if (field.enum_type()->FindValueByNumber(value)->name().ends_with(
            "_UNSET")) {
      return Error(path, " is missing");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRepeated(const Message& message,
                             const FieldDescriptor& field,
                             const std::string& path) {
    const auto* reflection = message.GetReflection();
    const int size = reflection->FieldSize(message, &field);
    if (size == 0) {
      return field.options().GetExtension(pb::may_be_absent)
                 ? absl::OkStatus()
                 : Error(path, " is missing");
    }
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return absl::OkStatus();
    }
    for (int i = 0; i < size; ++i) {
      const Message& item = reflection->GetRepeatedMessage(message, &field, i);
      absl::Status status =
          CheckMessage(item, field, Join(path, "[", Label(item, i), "]"));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // What stands for an item in a path: names where it has them.
  static std::string Label(const Message& item, int index) {
    const auto* law = dynamic_cast<const PbLaw*>(&item);
    if (law == nullptr || law->opcode().empty() ||
        !PbLaw::Engine_IsValid(law->engine())) {
      return Join(index);
    }
    std::string label =
        Join(law->opcode(), " ",
             law->engine() == PbLaw::ANY_ENGINE
                 ? std::string_view("any")
                 : kEngineNames[static_cast<size_t>(law->engine())]);
    for (const int condition : law->when()) {
      if (!PbLaw::Condition_IsValid(condition)) return Join(index);
      label += Join(" ", kCostConditionNames[static_cast<size_t>(condition)]);
    }
    for (const std::string& function : law->functions()) {
      label += Join(" ", function);
    }
    return label;
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
    return CheckMessage(reflection->GetMessage(message, &field), field, path);
  }

  absl::Status CheckMessage(const Message& value, const FieldDescriptor& field,
                            const std::string& path) {
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

}  // namespace

absl::Status CheckComplete(const Message& in,
                           std::vector<ConstantInfo>& constants) {
  Checker checker;
  absl::Status status = checker.Check(in, "");
  if (status.ok()) constants = checker.TakeConstants();
  return status;
}

}  // namespace trnemu::hardware
