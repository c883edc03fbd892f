#include "frontend/cli/hardware_report.h"

namespace trnemu::cli {

Json HardwareJson(const std::string& file,
                  const std::vector<HardwareChange>& changes) {
  Json json;
  json["file"] = file;
  json["changes"] = Json::array();
  for (const HardwareChange& c : changes) {
    Json change;
    change["constant"] = c.path;
    change["stock"] = c.stock ? Json(*c.stock) : Json(nullptr);
    change["value"] = c.value ? Json(*c.value) : Json(nullptr);
    change["unit"] = c.unit;
    if (!c.no_effect.empty()) change["no_effect"] = c.no_effect;
    json["changes"].push_back(std::move(change));
  }
  return json;
}

std::string HardwareText(const std::string& file,
                         const std::vector<HardwareChange>& changes,
                         size_t width) {
  if (file.empty()) return "";
  constexpr std::string_view kLabel = "hardware";
  return Cat(kLabel, std::string(width - kLabel.size(), ' '), file, ", ",
             ChangesText(changes, width));
}

}  // namespace trnemu::cli
