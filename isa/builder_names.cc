// Names and defaults of parameters, as front ends need them.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "isa/builder.h"

namespace trnemu {
namespace {

template <typename Names>
std::vector<std::string_view> List(const Names& names) {
  return {names.begin(), names.end()};
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string_view> EnumNames(ParameterKind kind) {
  std::vector<std::string_view> names;
  switch (kind) {
    case ParameterKind::kAluOp:
      for (const AluInfo& info : kAluOps) names.push_back(info.name);
      return names;
    case ParameterKind::kAluOpOrBypass:
      names = EnumNames(ParameterKind::kAluOp);
      names.push_back("bypass");
      return names;
    case ParameterKind::kActFunction:
      for (const ActInfo& info : kActFunctions) names.push_back(info.name);
      return names;
    case ParameterKind::kReduceCmd:
      return List(kReduceCmdNames);
    case ParameterKind::kEngine:
      return List(kEngineNames);
    case ParameterKind::kDgeMode:
      return List(kDgeModeNames);
    case ParameterKind::kOobMode:
      return List(kOobModeNames);
    case ParameterKind::kRegisterOp:
      return List(kRegisterOpNames);
    case ParameterKind::kPartitionOp:
      return List(kPartitionOpNames);
    case ParameterKind::kDmaEngine:
      return List(kDmaEngineNames);
    case ParameterKind::kPerfMode:
      return List(kPerfModeNames);
    case ParameterKind::kAccumulate:
      return List(kAccumulateNames);
    default:
      return names;
  }
}

Value EnumFromName(ParameterKind kind, std::string_view name) {
  if (kind == ParameterKind::kAluOpOrBypass && name == "bypass") {
    return Value::OfEnum(AluOp::kNone);
  }
  if (kind == ParameterKind::kAluOp || kind == ParameterKind::kAluOpOrBypass) {
    const auto op = AluOpFromName(name);
    return op ? Value::OfEnum(*op) : Value::None();
  }
  if (kind == ParameterKind::kActFunction) {
    const auto f = ActFunctionFromName(name);
    return f ? Value::OfEnum(*f) : Value::None();
  }
  const auto names = EnumNames(kind);
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? Value::None() : Value::OfEnum(it - names.begin());
}

Value DefaultValue(const ParameterSpec& p) {
  if (p.required) return Value::None();
  if (p.kind == ParameterKind::kAccumulate) {
    return Value::OfEnum(Accumulate::kNone);
  }
  if (p.kind == ParameterKind::kIntPair) return Value::Ints({});
  if (p.default_text == "None") return Value::None();
  switch (p.kind) {
    case ParameterKind::kBool:
      return Value::Bool(p.default_text == "True");
    case ParameterKind::kInteger: {
      int64_t integer = 0;
      std::from_chars(p.default_text.data(),
                      p.default_text.data() + p.default_text.size(), integer);
      return Value::Integer(integer);
    }
    case ParameterKind::kNumber:
    case ParameterKind::kTileOrNumber: {
      double number = 0;
      std::from_chars(p.default_text.data(),
                      p.default_text.data() + p.default_text.size(), number);
      return Value::Number(number);
    }
    default:
      return EnumFromName(p.kind, p.default_text);
  }
}

std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates) {
  std::string_view best;
  // A third of the letters wrong at most: "power" is not "or".
  size_t least = name.size() / 3 + 2;
  for (std::string_view candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace trnemu
