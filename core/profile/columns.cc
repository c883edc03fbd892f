#include "core/profile/columns.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trnemu {

std::string NsText(Ticks t) {
  constexpr Ticks kNs = 1'000'000;
  std::string text = absl::StrCat(t / kNs);
  const Ticks rest = t % kNs;
  if (rest == 0) return text;
  std::string digits = absl::StrFormat(".%06d", rest);
  while (digits.back() == '0') digits.pop_back();
  return text + digits;
}

std::string Quoted(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string NumberText(double value) {
  if (!std::isfinite(value)) return "0";
  std::array<char, 40> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : "0";
}

std::string_view VendorEngine(Engine engine) {
  constexpr std::array<std::string_view, 7> kNames = {
      "", "Tensor", "Scalar", "GpSimd", "DMA", "Vector", "Sync"};
  return kNames[static_cast<size_t>(engine)];
}

std::string VendorOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kLoadStationary:
    case Opcode::kLoadStationaryMx:
      return "LDWEIGHTS";
    case Opcode::kMultiplyMoving:
    case Opcode::kMultiplyMovingMx:
      return "MATMUL";
    case Opcode::kDmaCopy:
      return "DMA_DIRECT2D";
    default:
      break;
  }
  std::string text(Info(opcode).field);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string QueueSetName(const Program& program, size_t set) {
  if (set >= program.queue_sets.size()) return "";
  const QueueSet& q = program.queue_sets[set];
  size_t n = 0;
  for (size_t i = 0; i < set; ++i) {
    n += program.queue_sets[i].owner == q.owner &&
                 program.queue_sets[i].core == q.core
             ? 1
             : 0;
  }
  return absl::StrCat("q", std::string(VendorEngine(q.owner)), n);
}

int32_t TextTable::Add(const std::string& text) {
  const auto [at, is_new] =
      index_.try_emplace(text, static_cast<int32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return at->second;
}

InstructionTexts::InstructionTexts(const ProfileReport& report)
    : report_(report),
      disassembler_(*report.program),
      index_(report.facts->size(), -1) {}

int32_t InstructionTexts::IndexOf(const InstructionRecord& r) {
  int32_t& index = index_[report_.facts->IndexOf(r.core, *r.instruction)];
  if (index < 0) {
    index = static_cast<int32_t>(texts_.size());
    texts_.push_back(disassembler_.Line(r.core, *r.instruction));
  }
  return index;
}

}  // namespace trnemu
