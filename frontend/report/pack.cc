#include "frontend/report/pack.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace trnemu {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnit = 1e-3;  // a picosecond, in ns

bool AllNumbers(const Json& column) {
  if (!column.is_array()) return false;
  for (const Json& value : column) {
    if (!value.is_number()) return false;
  }
  return true;
}

std::vector<int64_t> InPicoseconds(const Json& column) {
  std::vector<int64_t> out;
  out.reserve(column.size());
  for (const Json& value : column) {
    out.push_back(std::llround(value.get<double>() / kUnit));
  }
  return out;
}

Json* Find(Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

Json Differences(const std::vector<int64_t>& values) {
  Json out = Json::array();
  int64_t last = 0;
  for (const int64_t value : values) {
    out.push_back(value - last);
    last = value;
  }
  return out;
}

// Times of one table: `base` by what it adds to the row before, the others by
// their distance from a column named before them.
void PackTimes(Json& table, const char* base,
               const std::vector<std::pair<const char*, const char*>>& others) {
  Json* first = Find(table, base);
  if (first == nullptr || !AllNumbers(*first)) return;
  std::map<std::string, std::vector<int64_t>> known;
  known[base] = InPicoseconds(*first);
  *first = {{"delta", Differences(known[base])}, {"unit", kUnit}};
  for (const auto& [name, after] : others) {
    Json* column = Find(table, name);
    const auto from = known.find(after);
    if (column == nullptr || from == known.end() || !AllNumbers(*column) ||
        column->size() != from->second.size()) {
      continue;
    }
    std::vector<int64_t> values = InPicoseconds(*column);
    Json by = Json::array();
    for (size_t i = 0; i < values.size(); ++i) {
      by.push_back(values[i] - from->second[i]);
    }
    *column = {{"after", after}, {"by", std::move(by)}, {"unit", kUnit}};
    known[name] = std::move(values);
  }
}

void PackRuns(Json& column) {
  if (!column.is_array() || column.size() < 8) return;
  Json runs = Json::array();
  for (const Json& value : column) {
    if (!value.is_primitive()) return;
    if (!runs.empty() && runs[runs.size() - 2] == value) {
      runs.back() = runs.back().get<int64_t>() + 1;
    } else {
      runs.push_back(value);
      runs.push_back(1);
    }
    if (runs.size() * 2 > column.size()) return;  // it would not pay
  }
  column = {{"runs", std::move(runs)}};
}

void PackRunsOf(Json* table) {
  if (table == nullptr || !table->is_object()) return;
  for (auto& [name, column] : table->items()) PackRuns(column);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The text with its numbers taken out. Those that would not read back the same
// (leading zeros, very long ones) stay.
std::string Template(const std::string& text, std::vector<int64_t>& numbers) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!IsDigit(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (end - i > 15 || (text[i] == '0' && end - i > 1)) {
      out.append(text, i, end - i);
    } else {
      numbers.push_back(std::strtoll(text.c_str() + i, nullptr, 10));
      out += '\1';
    }
    i = end;
  }
  return out;
}

void PackTexts(Json& texts) {
  if (!texts.is_array() || texts.size() < 64) return;
  std::map<std::string, int64_t> indices;
  std::vector<std::vector<int64_t>> last;
  Json templates = Json::array(), use = Json::array(), numbers = Json::array();
  for (const Json& text : texts) {
    if (!text.is_string()) return;
    const auto& whole = text.get_ref<const std::string&>();
    if (whole.find('\1') != std::string::npos) return;
    std::vector<int64_t> found;
    const auto [it, added] = indices.try_emplace(
        Template(whole, found), static_cast<int64_t>(indices.size()));
    if (added) {
      templates.push_back(it->first);
      last.emplace_back(found.size(), 0);
    }
    use.push_back(it->second);
    std::vector<int64_t>& before = last[it->second];
    for (size_t i = 0; i < found.size(); ++i) {
      numbers.push_back(found[i] - before[i]);
    }
    before = std::move(found);
  }
  PackRuns(use);
  texts = {{"templates", std::move(templates)},
           {"use", std::move(use)},
           {"numbers", std::move(numbers)}};
}

// To seven digits: more than a screen shows.
void Round(Json* column) {
  if (column == nullptr || !column->is_array()) return;
  for (Json& value : *column) {
    if (!value.is_number_float()) continue;
    value = std::strtod(absl::StrFormat("%.7g", value.get<double>()).c_str(),
                        nullptr);
  }
}

// What the report does not show.
void DropUnshown(Json& profile) {
  profile.erase("semaphores");
  Json* dma = Find(profile, "dma");
  if (dma == nullptr || !dma->is_object()) return;
  for (const char* column :
       {"payload_from", "free", "hbm_read", "hbm_written"}) {
    dma->erase(column);
  }
}

void PackCounters(Json* counters) {
  if (counters == nullptr || !counters->is_object()) return;
  for (auto& [name, counter] : counters->items()) {
    PackTimes(counter, "t", {});
    Round(Find(counter, "v"));
  }
}

}  // namespace

void PackProfile(Json& profile) {
  DropUnshown(profile);
  if (Json* instructions = Find(profile, "instructions")) {
    PackTimes(*instructions, "start",
              {{"ready", "start"}, {"issue_end", "start"}, {"end", "start"}});
    PackRunsOf(instructions);
  }
  if (Json* dma = Find(profile, "dma")) {
    PackTimes(*dma, "start",
              {{"trigger", "start"}, {"end", "start"}, {"notify", "end"}});
    PackRunsOf(dma);
  }
  if (Json* texts = Find(profile, "texts")) PackTexts(*texts);
  PackCounters(Find(profile, "counters"));
}

}  // namespace trnemu
