#include "isa/hardware_diff.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "isa/hardware_internal.h"

namespace trnemu {
namespace {

// By path and how many of it came before.
using Constants = std::map<std::pair<std::string, int>, ConstantInfo>;

std::vector<std::pair<std::string, int>> KeysOf(
    const std::vector<ConstantInfo>& list, Constants& constants) {
  std::map<std::string, int> seen;
  std::vector<std::pair<std::string, int>> keys;
  for (const ConstantInfo& c : list) {
    keys.emplace_back(c.path, seen[c.path]++);
    constants.emplace(keys.back(), c);
  }
  return keys;
}

std::string Number(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.10g", *value) : std::string("nothing");
}

// What isa/hardware.proto says of the field at a path.
std::string NoEffect(std::string_view path) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Descriptor* message = pb::Hardware::descriptor();
  for (size_t at = 0; message != nullptr && at < path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    const FieldDescriptor* field =
        message->FindFieldByName(std::string(path.substr(at, end - at)));
    if (field == nullptr) break;  // an item of a list
    if (end == path.size()) return field->options().GetExtension(pb::no_effect);
    message = field->message_type();
    at = end + 1;
  }
  return "";
}

}  // namespace

std::vector<HardwareChange> ChangesFromStock(const Hardware& hardware) {
  Constants ours, stock;
  const auto keys = KeysOf(ListConstants(hardware), ours);
  const auto stock_keys =
      KeysOf(ListConstants(HardwareFor(hardware.target)), stock);
  std::vector<HardwareChange> changes;
  for (const auto& key : keys) {
    const ConstantInfo& c = ours.at(key);
    const auto found = stock.find(key);
    if (found == stock.end()) {
      changes.push_back(
          {c.path, std::nullopt, c.value, c.unit, NoEffect(c.path)});
    } else if (found->second.value != c.value) {
      changes.push_back(
          {c.path, found->second.value, c.value, c.unit, NoEffect(c.path)});
    }
  }
  for (const auto& key : stock_keys) {
    if (ours.contains(key)) continue;
    const ConstantInfo& c = stock.at(key);
    changes.push_back(
        {c.path, c.value, std::nullopt, c.unit, NoEffect(c.path)});
  }
  return changes;
}

std::string Text(const HardwareChange& change) {
  return absl::StrCat(
      change.path, " ", Number(change.stock), " -> ", Number(change.value),
      change.unit.empty() ? "" : " ", change.unit,
      change.no_effect.empty()
          ? ""
          : absl::StrCat(" (has no effect: ", change.no_effect, ")"));
}

std::string ChangesText(const std::vector<HardwareChange>& changes,
                        size_t indent) {
  constexpr size_t kMost = 12;
  if (changes.empty()) return "as the built-in one\n";
  std::string text = absl::StrCat(
      changes.size(),
      changes.size() == 1 ? " constant differs" : " constants differ",
      " from the built-in one:\n");
  const std::string space(indent, ' ');
  for (size_t i = 0; i < changes.size() && i < kMost; ++i) {
    absl::StrAppend(&text, space, Text(changes[i]), "\n");
  }
  if (changes.size() > kMost) {
    absl::StrAppend(&text, space, "and ", changes.size() - kMost,
                    " more; --json has them all\n");
  }
  return text;
}

}  // namespace trnemu
