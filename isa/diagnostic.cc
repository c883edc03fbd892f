#include "isa/diagnostic.h"

#include <array>
#include <nlohmann/json.hpp>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "isa/diagnostic_catalog.h"

namespace trnemu {
namespace {

constexpr std::string_view kPayloadUrl = "trnemu/diagnostic";
constexpr std::array<std::string_view, kNumCategories> kCategoryNames = {
    "malformed",     "input",         "illegal", "capacity",
    "uninitialized", "out_of_bounds", "race",    "deadlock",
    "unspecified",   "unsupported",   "limit",   "internal"};

absl::StatusCode CodeOf(Category category) {
  switch (category) {
    case Category::kMalformed:
      return absl::StatusCode::kDataLoss;
    case Category::kInput:
    case Category::kIllegal:
      return absl::StatusCode::kInvalidArgument;
    case Category::kCapacity:
    case Category::kLimit:
      return absl::StatusCode::kResourceExhausted;
    case Category::kOutOfBounds:
      return absl::StatusCode::kOutOfRange;
    case Category::kUnsupported:
      return absl::StatusCode::kUnimplemented;
    case Category::kDeadlock:
      return absl::StatusCode::kDeadlineExceeded;
    case Category::kUninitialized:
    case Category::kRace:
    case Category::kUnspecified:
      return absl::StatusCode::kFailedPrecondition;
    case Category::kInternal:
      return absl::StatusCode::kInternal;
  }
  return absl::StatusCode::kInternal;
}

void Put(nlohmann::ordered_json& json, const char* key,
         const std::string& value) {
  json[key] = value.empty() ? nlohmann::ordered_json(nullptr)
                            : nlohmann::ordered_json(value);
}

template <typename T>
void Put(nlohmann::ordered_json& json, const char* key,
         const std::optional<T>& value) {
  json[key] =
      value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string TextOf(const nlohmann::ordered_json& json, const char* key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string Who(const Diagnostic& d) {
  std::string who;
  auto add = [&who](std::string_view text) {
    if (!who.empty()) who += ", ";
    who += text;
  };
  if (d.instruction) add(absl::StrCat("instruction ", *d.instruction));
  if (!d.operation.empty()) add(d.operation);
  if (!d.opcode.empty()) add(absl::StrCat("opcode ", d.opcode));
  if (!d.engine.empty()) add(absl::StrCat(d.engine, " engine"));
  if (d.core) add(absl::StrCat("core ", *d.core));
  if (d.rank) add(absl::StrCat("rank ", *d.rank));
  if (!d.operand.empty()) add(absl::StrCat("operand ", d.operand));
  return who;
}

}  // namespace

std::string_view Name(Category category) {
  return kCategoryNames[static_cast<size_t>(category)];
}

std::optional<Category> CategoryFromName(std::string_view name) {
  for (int i = 0; i < kNumCategories; ++i) {
    if (kCategoryNames[i] == name) return static_cast<Category>(i);
  }
  return std::nullopt;
}

std::string Render(const Diagnostic& d) {
  std::string text =
      absl::StrCat(d.severity == Severity::kWarning ? "warning: " : "error: ",
                   std::string(Name(d.category)), " [", d.id, "]: ", d.message);
  if (!d.source.empty()) absl::StrAppend(&text, "\n  at      ", d.source);
  const std::string who = Who(d);
  if (!who.empty()) absl::StrAppend(&text, "\n  in      ", who);
  for (const auto& [key, value] : d.details) {
    absl::StrAppendFormat(&text, "\n  %-7s %s", key, value);
  }
  for (const std::string& other : d.related) {
    absl::StrAppend(
        &text, other.starts_with(' ') ? "\n          " : "\n  see     ", other);
  }
  if (d.count > 1) absl::StrAppend(&text, "\n  repeats ", d.count, " times");
  if (!d.reference.empty()) absl::StrAppend(&text, "\n  rule    ", d.reference);
  const std::string remedy = RemedyOf(d);
  if (!remedy.empty()) absl::StrAppend(&text, "\n  fix     ", remedy);
  if (CanBeAllowed(d.id)) {
    absl::StrAppend(&text, "\n  allow   --allow ", d.id,
                    d.severity == Severity::kWarning
                        ? " accepts it under --strict"
                        : " lets it pass");
  }
  return text;
}

std::string ToJson(const Diagnostic& d) {
  nlohmann::ordered_json json;
  json["schema"] = "trnemu.diagnostic";
  json["version"] = kDiagnosticVersion;
  json["category"] = std::string(Name(d.category));
  json["severity"] = d.severity == Severity::kWarning ? "warning" : "error";
  json["id"] = d.id;
  json["message"] = d.message;
  Put(json, "operation", d.operation);
  Put(json, "opcode", d.opcode);
  Put(json, "instruction", d.instruction);
  Put(json, "engine", d.engine);
  Put(json, "core", d.core);
  Put(json, "rank", d.rank);
  Put(json, "operand", d.operand);
  Put(json, "source", d.source);
  json["details"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : d.details) json["details"][key] = value;
  json["related"] = d.related;
  Put(json, "remedy", RemedyOf(d));
  Put(json, "reference", d.reference);
  json["count"] = d.count;
  json["can_be_allowed"] = CanBeAllowed(d.id);
  if (!d.wait_graph.empty()) {
    json["wait_graph"] =
        nlohmann::ordered_json::parse(d.wait_graph, nullptr, false);
  }
  // A name from a broken file may not be UTF-8: replace, never throw.
  return json.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<Diagnostic> FromJson(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Diagnostic d;
  const auto category = CategoryFromName(TextOf(json, "category"));
  if (!category) return std::nullopt;
  d.category = *category;
  d.severity = TextOf(json, "severity") == "warning" ? Severity::kWarning
                                                     : Severity::kError;
  d.id = TextOf(json, "id");
  d.message = TextOf(json, "message");
  d.operation = TextOf(json, "operation");
  d.opcode = TextOf(json, "opcode");
  d.engine = TextOf(json, "engine");
  d.operand = TextOf(json, "operand");
  d.source = TextOf(json, "source");
  d.remedy = TextOf(json, "remedy");
  d.reference = TextOf(json, "reference");
  auto integer = [&json](const char* key) -> std::optional<int64_t> {
    auto it = json.find(key);
    if (it == json.end() || !it->is_number_integer()) return std::nullopt;
    return it->get<int64_t>();
  };
  d.instruction = integer("instruction");
  if (auto core = integer("core")) d.core = static_cast<int>(*core);
  if (auto rank = integer("rank")) d.rank = static_cast<int>(*rank);
  d.count = integer("count").value_or(1);
  if (auto it = json.find("details"); it != json.end() && it->is_object()) {
    for (const auto& [key, value] : it->items()) {
      if (value.is_string()) d.details.emplace_back(key, value);
    }
  }
  if (auto it = json.find("wait_graph"); it != json.end() && it->is_object()) {
    d.wait_graph = it->dump();
  }
  if (auto it = json.find("related"); it != json.end() && it->is_array()) {
    for (const auto& value : *it) {
      if (value.is_string()) d.related.push_back(value);
    }
  }
  return d;
}

absl::Status ToStatus(Diagnostic diagnostic) {
  absl::Status status(CodeOf(diagnostic.category), diagnostic.message);
  status.SetPayload(absl::string_view(kPayloadUrl.data(), kPayloadUrl.size()),
                    absl::Cord(ToJson(diagnostic)));
  return status;
}

absl::Status MakeFault(Category category, std::string_view id,
                       std::string_view message) {
  Diagnostic d;
  d.category = category;
  d.id = id;
  d.message = message;
  return ToStatus(std::move(d));
}

Diagnostic DiagnosticOf(const absl::Status& status) {
  const auto payload = status.GetPayload(
      absl::string_view(kPayloadUrl.data(), kPayloadUrl.size()));
  if (payload) {
    if (auto d = FromJson(std::string(*payload))) return *std::move(d);
  }
  Diagnostic d;
  d.id = "internal.status";
  d.message = std::string(status.message());
  return d;
}

}  // namespace trnemu
