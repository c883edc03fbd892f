// What people write to ask for a cost table.
#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "core/cost_table/cost_table.h"

namespace trnemu {
namespace {

constexpr size_t kMostSizes = 10'000;

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 1) return std::nullopt;
  return value;
}

// The pieces between separators.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    pieces.push_back(text.substr(at, end - at));
    if (end == text.npos) return pieces;
    at = end + 1;
  }
}

// "8", "64:8192", "64:8192:64".
bool AddRange(std::string_view text, std::vector<int64_t>& sizes) {
  const auto pieces = Split(text, ':');
  const auto first = NumberOf(pieces[0]);
  if (!first || pieces.size() > 3) return false;
  const auto last = pieces.size() > 1 ? NumberOf(pieces[1]) : first;
  const auto step = pieces.size() > 2 ? NumberOf(pieces[2]) : 0;
  if (!last || !step || *last < *first) return false;
  for (int64_t n = *first;;) {
    sizes.push_back(n);
    const int64_t more = *step == 0 ? n : *step;
    if (n > *last - more || sizes.size() > kMostSizes) break;
    n += more;
  }
  return sizes.size() <= kMostSizes;
}

std::optional<Space> SpaceFromName(std::string_view name) {
  for (const Space space : {Space::kSbuf, Space::kPsum, Space::kHbm}) {
    if (Name(space) == name) return space;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<int64_t>> SizesFromText(std::string_view text) {
  std::vector<int64_t> sizes;
  for (const std::string_view piece : Split(text, ',')) {
    if (!AddRange(piece, sizes)) return std::nullopt;
  }
  return sizes;
}

std::optional<CostPlacement> PlacementFromName(std::string_view name) {
  const size_t colon = name.find(':');
  const auto in = SpaceFromName(name.substr(0, colon));
  const auto out = colon == name.npos ? std::optional(Space::kSbuf)
                                      : SpaceFromName(name.substr(colon + 1));
  if (!in || !out) return std::nullopt;
  return CostPlacement{*in, *out};
}

std::string Name(const CostPlacement& placement) {
  return absl::StrCat(std::string(Name(placement.in)), ":",
                      std::string(Name(placement.out)));
}

std::optional<Dtype> DtypeFromShortName(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Dtype>, 4> kShort = {{
      {"fp32", Dtype::kFloat32},
      {"bf16", Dtype::kBFloat16},
      {"fp16", Dtype::kFloat16},
      {"fp8", Dtype::kFloat8E4M3},
  }};
  for (const auto& [short_name, dtype] : kShort) {
    if (short_name == name) return dtype;
  }
  return DtypeFromName(name);
}

}  // namespace trnemu
