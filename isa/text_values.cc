// The words, names and numbers of the text form.
#include <bit>
#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "isa/text_internal.h"

namespace trnemu::text {
namespace {

template <typename Names>
std::vector<std::string_view> Words(const Names& names) {
  return {names.begin(), names.end()};
}

template <typename Rows>
std::vector<std::string_view> RowNames(std::string_view first,
                                       const Rows& rows) {
  std::vector<std::string_view> words = {first};
  for (const auto& row : rows) words.push_back(row.name);
  return words;
}

}  // namespace

std::vector<std::string_view> Vocabulary(AttributeType type) {
  switch (type) {
    case AttributeType::kInteger:
    case AttributeType::kDouble:
    case AttributeType::kQueueSet:
    case AttributeType::kMask:
    case AttributeType::kAxes:
    case AttributeType::kReplicaGroups:
      return {};
    case AttributeType::kBool:
      return {"false", "true"};
    case AttributeType::kAluOp:
      return RowNames("none", kAluOps);
    case AttributeType::kActFunction:
      return RowNames("invalid", kActFunctions);
    case AttributeType::kReduceCmd:
      return Words(kReduceCmdNames);
    case AttributeType::kDgeMode:
      return Words(kDgeModeNames);
    case AttributeType::kOobMode:
      return Words(kOobModeNames);
    case AttributeType::kPerfMode:
      return Words(kPerfModeNames);
    case AttributeType::kAccumulate:
      return Words(kAccumulateNames);
    case AttributeType::kRegisterOp:
      return Words(kRegisterOpNames);
    case AttributeType::kPartitionOp:
      return Words(kPartitionOpNames);
    case AttributeType::kDmaEngine:
      return Words(kDmaEngineNames);
    case AttributeType::kCollectiveKind:
      return Words(kCollectiveKindNames);
    case AttributeType::kPass:
      return {"whole", "lo", "hi"};
  }
  return {};
}

bool IsPlain(std::string_view name) {
  if (name.empty() ||
      absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
    return false;
  }
  for (const char c : name) {
    if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      return false;
    }
  }
  return true;
}

std::string Quote(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += absl::StrFormat("\\x%02x", byte);
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

std::string Number(double value) {
  constexpr uint64_t kPlainNan = 0x7ff8000000000000;
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<uint64_t>(value);
    return bits == kPlainNan ? "nan" : absl::StrFormat("nan:%016x", bits);
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

}  // namespace trnemu::text
