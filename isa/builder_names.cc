// Names and defaults of parameters, as front ends need them.
#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <unordered_map>

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

constexpr size_t kKinds =
    static_cast<size_t>(ParameterKind::kReplicaGroups) + 1;
using Vocabulary = std::unordered_map<std::string_view, int64_t>;

Vocabulary VocabularyOf(ParameterKind kind) {
  Vocabulary names;
  if (kind == ParameterKind::kAluOp || kind == ParameterKind::kAluOpOrBypass) {
    for (const AluInfo& info : kAluOps) {
      names.emplace(info.name, static_cast<int64_t>(info.op));
    }
    if (kind == ParameterKind::kAluOpOrBypass) {
      names.emplace("bypass", static_cast<int64_t>(AluOp::kNone));
    }
  } else if (kind == ParameterKind::kActFunction) {
    for (const ActInfo& info : kActFunctions) {
      names.emplace(info.name, static_cast<int64_t>(info.function));
    }
  } else {
    for (std::string_view name : EnumNames(kind)) {
      names.emplace(name, static_cast<int64_t>(names.size()));
    }
  }
  return names;
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
  // Asked for every name in every call.
  static const auto* const tables = [] {
    auto* all = new std::array<Vocabulary, kKinds>;
    for (size_t k = 0; k < kKinds; ++k) {
      (*all)[k] = VocabularyOf(static_cast<ParameterKind>(k));
    }
    return all;
  }();
  const Vocabulary& vocabulary = (*tables)[static_cast<size_t>(kind)];
  const auto it = vocabulary.find(name);
  return it == vocabulary.end() ? Value::None() : Value::OfEnum(it->second);
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
