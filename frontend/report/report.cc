#include "frontend/report/report.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "frontend/report/pack.h"

namespace trnemu {

// The files of this folder, by stem, in the order they are to run.
const std::vector<std::pair<std::string_view, std::string_view>>&
EmbeddedReportFiles();

namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "trnemu-profile";

bool IsProfile(const Json& profile) {
  if (!profile.is_object()) return false;
  const auto format = profile.find("format");
  return format != profile.end() && *format == kFormat;
}

// JSON that may stand inside a script element: "<" appears in strings only,
// where it may be written as an escape, so that nothing in a name opens or
// closes an element or a comment.
std::string ScriptSafe(const Json& json) {
  const std::string text =
      json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}});
}

}  // namespace

absl::StatusOr<std::string> RenderReport(std::string_view profile) {
  Json json = Json::parse(profile, nullptr, false);
  if (!IsProfile(json)) {
    return absl::InternalError("the report was given no profile");
  }
  PackProfile(json);
  std::string page, style, script;
  for (const auto& [stem, text] : EmbeddedReportFiles()) {
    std::string& part = stem == "index"   ? page
                        : stem == "style" ? style
                                          : script;
    part.append(text);
  }
  // In one pass: what the profile holds is not looked at for marks.
  return absl::StrReplaceAll(page, {{"@STYLE@", style},
                                    {"@SCRIPT@", script},
                                    {"@PROFILE@", ScriptSafe(json)}});
}

}  // namespace trnemu
