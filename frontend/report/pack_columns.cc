// Columns of the report: differences, runs and dictionaries.
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/report/pack.h"

namespace trnemu {
namespace {

using Json = nlohmann::ordered_json;

// A picosecond, in ns. Times are never negative: -1 stands for none.
constexpr double kUnit = 1e-3;
constexpr int64_t kNone = INT64_MIN;

// Times in picoseconds; nothing if the column holds anything else.
std::optional<std::vector<int64_t>> InPicoseconds(const Json* column) {
  if (column == nullptr || !column->is_array()) return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(column->size());
  for (const Json& value : *column) {
    if (!value.is_number()) return std::nullopt;
    const double ns = value.get<double>();
    if (!(std::abs(ns) < 9e15)) return std::nullopt;
    out.push_back(ns < 0 ? kNone : std::llround(ns / kUnit));
  }
  return out;
}

bool HasNone(const std::vector<int64_t>& values) {
  for (const int64_t value : values) {
    if (value == kNone) return true;
  }
  return false;
}

std::vector<int64_t> Differences(const std::vector<int64_t>& values) {
  std::vector<int64_t> out;
  out.reserve(values.size());
  int64_t last = 0;
  for (const int64_t value : values) {
    out.push_back(value - last);
    last = value;
  }
  return out;
}

size_t Digits(int64_t value) {
  size_t digits = value < 0 ? 3 : 2;  // with the comma
  while (value >= 10 || value <= -10) {
    value /= 10;
    ++digits;
  }
  return digits;
}

// A LIST, as runs if that is shorter, and its length as text.
struct List {
  Json json;
  size_t length = 0;
};

List MakeList(const std::vector<int64_t>& values) {
  const auto item = [](int64_t v) { return v == kNone ? Json() : Json(v); };
  size_t plain = 2, runs = 12;
  std::vector<std::pair<int64_t, int64_t>> repeats;
  for (const int64_t value : values) {
    plain += Digits(value);
    if (!repeats.empty() && repeats.back().first == value) {
      ++repeats.back().second;
    } else {
      repeats.emplace_back(value, 1);
    }
  }
  for (const auto& [value, count] : repeats) {
    runs += Digits(value) + Digits(count);
  }
  List list{Json::array(), std::min(plain, runs)};
  if (plain <= runs) {
    for (const int64_t value : values) list.json.push_back(item(value));
    return list;
  }
  Json out = Json::array();
  for (const auto& [value, count] : repeats) {
    out.push_back(item(value));
    out.push_back(count);
  }
  list.json = {{"runs", std::move(out)}};
  return list;
}

Json AsDelta(Json list, double unit) {
  return {{"delta", std::move(list)}, {"unit", unit}};
}

std::optional<std::vector<int64_t>> Integers(const Json& column) {
  std::vector<int64_t> out;
  out.reserve(column.size());
  for (const Json& value : column) {
    if (!value.is_number_integer()) return std::nullopt;
    out.push_back(value.get<int64_t>());
  }
  return out;
}

void PackIntegers(Json& column, const std::vector<int64_t>& values) {
  List plain = MakeList(values);
  List delta = MakeList(Differences(values));
  column = delta.length + 24 < plain.length ? AsDelta(std::move(delta.json), 1)
                                            : std::move(plain.json);
}

// A dictionary, if names recur.
void PackNames(Json& column) {
  std::map<std::string, int64_t> indices;
  std::vector<int64_t> at;
  Json names = Json::array();
  for (const Json& value : column) {
    const auto [it, added] = indices.try_emplace(
        value.get<std::string>(), static_cast<int64_t>(indices.size()));
    if (added) names.push_back(value);
    at.push_back(it->second);
  }
  if (names.size() * 2 > column.size()) return;
  column = {{"names", std::move(names)}, {"at", MakeList(at).json}};
}

}  // namespace

Json* FindMember(Json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto it = object->find(key);
  return it == object->end() ? nullptr : &*it;
}

void PackTimes(Json& table, const char* base, const TimeColumns& others) {
  std::map<std::string, std::vector<int64_t>> known;
  Json* first = FindMember(&table, base);
  auto times = InPicoseconds(first);
  if (!times || HasNone(*times)) return;
  *first = AsDelta(MakeList(Differences(*times)).json, kUnit);
  known[base] = *std::move(times);
  for (const auto& [name, after] : others) {
    Json* column = FindMember(&table, name);
    const auto from = known.find(after);
    auto values = InPicoseconds(column);
    if (!values || from == known.end() ||
        values->size() != from->second.size()) {
      continue;
    }
    std::vector<int64_t> by = *values;
    for (size_t i = 0; i < by.size(); ++i) {
      if (by[i] != kNone) by[i] -= from->second[i];
    }
    List list = MakeList(by);
    if (HasNone(*values)) {
      *column = {
          {"after", after}, {"by", std::move(list.json)}, {"unit", kUnit}};
      continue;  // nothing comes after what is not always there
    }
    List delta = MakeList(Differences(*values));
    *column = delta.length < list.length ? AsDelta(std::move(delta.json), kUnit)
                                         : Json{{"after", after},
                                                {"by", std::move(list.json)},
                                                {"unit", kUnit}};
    known[name] = *std::move(values);
  }
}

void PackColumn(Json& column) {
  if (!column.is_array() || column.size() < 8) return;
  if (const auto integers = Integers(column)) {
    PackIntegers(column, *integers);
    return;
  }
  for (const Json& value : column) {
    if (!value.is_string()) return;
  }
  PackNames(column);
}

}  // namespace trnemu
