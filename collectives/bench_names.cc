// Sizes and groups as people write them.
#include <charconv>

#include "absl/strings/str_cat.h"
#include "collectives/bench.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

constexpr size_t kMostSizes = 1000;

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t at = text.find(by); at != text.npos; at = text.find(by)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

bool AddRange(std::string_view text, std::vector<int64_t>& sizes) {
  const auto parts = Split(text, ':');
  const auto from = BytesFromText(parts[0]);
  if (!from || parts.size() > 3) return false;
  if (parts.size() == 1) {
    sizes.push_back(*from);
    return true;
  }
  const auto to = BytesFromText(parts[1]);
  const auto factor =
      parts.size() == 3 ? WholeNumber(parts[2]) : std::optional<int64_t>(2);
  if (!to || !factor || *factor < 2 || *from < 1 || *from > *to) return false;
  for (int64_t size = *from; size <= *to; size *= *factor) {
    sizes.push_back(size);
    if (size > *to / *factor) break;
  }
  return true;
}

}  // namespace

std::optional<int64_t> BytesFromText(std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t bytes;
  };
  constexpr Unit kUnits[] = {{"KiB", int64_t{1} << 10},
                             {"MiB", int64_t{1} << 20},
                             {"GiB", int64_t{1} << 30},
                             {"kB", 1000},
                             {"KB", 1000},
                             {"MB", 1000000},
                             {"GB", 1000000000},
                             {"K", int64_t{1} << 10},
                             {"M", int64_t{1} << 20},
                             {"G", int64_t{1} << 30},
                             {"B", 1}};
  int64_t unit = 1;
  for (const Unit& u : kUnits) {
    if (!text.ends_with(u.name)) continue;
    unit = u.bytes;
    text.remove_suffix(u.name.size());
    break;
  }
  const auto number = WholeNumber(text);
  // More than any system's memory.
  if (!number || *number > (int64_t{1} << 50) / unit) return std::nullopt;
  return *number * unit;
}

std::optional<std::vector<int64_t>> ByteSizesFromText(std::string_view text) {
  std::vector<int64_t> sizes;
  for (const std::string_view part : Split(text, ',')) {
    if (!AddRange(part, sizes) || sizes.size() > kMostSizes) {
      return std::nullopt;
    }
  }
  return sizes;
}

std::optional<ReplicaGroups> GroupsFromText(std::string_view text) {
  ReplicaGroups groups;
  for (const std::string_view list : Split(text, ';')) {
    auto& group = groups.emplace_back();
    for (const std::string_view part : Split(list, ',')) {
      const auto rank = WholeNumber(part);
      if (!rank || *rank > INT32_MAX) return std::nullopt;
      group.push_back(static_cast<uint32_t>(*rank));
    }
  }
  return groups;
}

absl::StatusOr<ReplicaGroups> GroupsOfSize(int ranks, int64_t size) {
  if (size < 1 || ranks % size != 0) {
    return MakeFault(Category::kInput, "option.group",
                     absl::StrCat(ranks, " ranks are no groups of ", size));
  }
  ReplicaGroups groups;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % size == 0) groups.emplace_back();
    groups.back().push_back(static_cast<uint32_t>(rank));
  }
  return groups;
}

}  // namespace trnemu
