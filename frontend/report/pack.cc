#include "frontend/report/pack.h"

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

void PackColumnsOf(Json* table) {
  if (table == nullptr || !table->is_object()) return;
  for (auto& [name, column] : table->items()) PackColumn(column);
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
  PackColumn(use);
  texts = {{"templates", std::move(templates)},
           {"use", std::move(use)},
           {"numbers", std::move(numbers)}};
}

// Objects that all have the keys of the first, in its order.
bool AreAlike(const Json& rows) {
  for (const Json& row : rows) {
    if (!row.is_object() || row.size() != rows[0].size()) return false;
    for (auto a = row.begin(), b = rows[0].begin(); a != row.end(); ++a, ++b) {
      if (a.key() != b.key()) return false;
    }
  }
  return true;
}

void PackRows(Json* rows) {
  if (rows == nullptr || !rows->is_array() || rows->size() < 16 ||
      !AreAlike(*rows)) {
    return;
  }
  Json columns = Json::object();
  for (const auto& [key, value] : (*rows)[0].items()) {
    columns[key] = Json::array();
  }
  for (const Json& row : *rows) {
    for (const auto& [key, value] : row.items()) columns[key].push_back(value);
  }
  PackTimes(columns, "from", {{"to", "from"}});
  PackColumnsOf(&columns);
  *rows = {{"columns", std::move(columns)}};
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

void PackCounters(Json* counters) {
  if (counters == nullptr || !counters->is_object()) return;
  for (auto& [name, counter] : counters->items()) {
    if (!counter.is_object()) continue;
    PackTimes(counter, "t", {});
    Round(FindMember(&counter, "v"));
    PackColumnsOf(&counter);
  }
}

void Drop(Json* table, const std::vector<const char*>& columns) {
  if (table == nullptr || !table->is_object()) return;
  for (const char* column : columns) table->erase(column);
}

// What the report does not show.
void DropUnshown(Json& profile) {
  profile.erase("semaphores");
  Drop(FindMember(&profile, "dma"),
       {"payload_from", "hbm_read", "hbm_written"});
  Drop(FindMember(&profile, "instructions"), {"order", "flops"});
}

}  // namespace

void PackProfile(Json& profile) {
  DropUnshown(profile);
  if (Json* instructions = FindMember(&profile, "instructions")) {
    PackTimes(*instructions, "start",
              {{"ready", "start"},
               {"issue_end", "start"},
               {"end", "start"},
               {"wait_from", "ready"}});
    PackColumnsOf(instructions);
  }
  if (Json* dma = FindMember(&profile, "dma")) {
    PackTimes(*dma, "start",
              {{"trigger", "start"},
               {"free", "start"},
               {"end", "start"},
               {"notify", "end"}});
    PackColumnsOf(dma);
  }
  if (Json* texts = FindMember(&profile, "texts")) PackTexts(*texts);
  for (const char* rows : {"stalls", "critical_path", "memory"}) {
    PackRows(FindMember(&profile, rows));
  }
  PackCounters(FindMember(&profile, "counters"));
}

}  // namespace trnemu
