// What is said of a race, and whether two DMAs of one queue set race at all.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/dynamic.h"
#include "core/engines/dma.h"
#include "core/layout.h"
#include "core/races/detector.h"
#include "core/races/remedy.h"

namespace trnemu {
namespace {

constexpr int kMaxFindings =
    64;  // of an id, told apart; the rest is not counted

std::string Range(const char* what, int64_t first, int64_t end) {
  return end - first == 1 ? absl::StrCat(what, " ", first)
                          : absl::StrCat(what, "s ", first, " to ", end - 1);
}

std::string Place(const Program& program, const RaceAccess& access,
                  const Overlap& where) {
  const Tensor& t = program.tensors[access.tensor];
  const std::string bytes = Range("byte", where.begin, where.end);
  if (!t.on_chip()) {
    return absl::StrCat(bytes, " of the HBM tensor '", t.name, "'");
  }
  return absl::StrCat(
      bytes, " of ",
      Range("partition", where.first_partition, where.end_partition), " of ",
      std::string(Name(t.space())));
}

std::string TensorText(const Program& program, uint32_t tensor) {
  const Tensor& t = program.tensors[tensor];
  std::string text = absl::StrCat("'", t.name, "', ", DescribeShape(t.shape),
                                  " ", std::string(Name(t.dtype)), " in ",
                                  std::string(Name(t.space())));
  const std::string source = program.DescribeSource(t.source);
  if (!source.empty()) absl::StrAppend(&text, ", made at ", source);
  return text;
}

using Piece = RaceDetector::Piece;

// `plain` is the tile in its own order, where `tile` may be permuted.
void AddPieces(const Tile& tile, const Tile& plain,
               const std::vector<DmaPart>& parts, std::vector<Piece>& pieces) {
  const Layout layout = FlatLayout(tile);
  const auto size = static_cast<int64_t>(SizeOf(tile.dtype));
  const ptrdiff_t stride = plain.partition_stride;
  const std::byte* const origin =
      plain.base - plain.first_partition * stride - plain.address;
  const auto add = [&](ptrdiff_t offset, int part) {
    int64_t at = tile.base + offset - origin;
    const int64_t partition = stride == 0 ? 0 : at / stride;
    at -= partition * stride;
    if (!pieces.empty() && pieces.back().end == at &&
        pieces.back().partition == partition && pieces.back().part == part) {
      pieces.back().end += size;
    } else {
      pieces.push_back({partition, at, at + size, part});
    }
  };
  for (size_t p = 0; p < parts.size(); ++p) {
    ForEachRun(layout, parts[p].first, parts[p].count,
               [&](ptrdiff_t offset, int64_t, int64_t n) {
                 for (int64_t e = 0; e < n; ++e) {
                   add(offset + e * layout.step(), static_cast<int>(p));
                 }
               });
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.partition, a.begin) < std::tie(b.partition, b.begin);
  });
}

bool DifferentPartsMeet(const std::vector<Piece>& a,
                        const std::vector<Piece>& b) {
  auto from = b.begin();
  for (const Piece& x : a) {
    while (from != b.end() &&
           (from->partition < x.partition ||
            (from->partition == x.partition && from->end <= x.begin))) {
      ++from;
    }
    for (auto y = from;
         y != b.end() && y->partition == x.partition && y->begin < x.end; ++y) {
      if (y->end > x.begin && y->part != x.part) return true;
    }
  }
  return false;
}

}  // namespace

// Of two DMAs of one queue set, part i follows part i: they race only where
// other parts meet.
bool RaceDetector::PartsCollide(const RaceAccess& a,
                                const RaceAccess& b) const {
  std::array<std::vector<Piece>, 2> pieces;
  // Where it is not known where each part goes, they may be in order.
  if (!PiecesOf(a, pieces[0]) || !PiecesOf(b, pieces[1])) return false;
  return DifferentPartsMeet(pieces[0], pieces[1]);
}

bool RaceDetector::PiecesOf(const RaceAccess& access,
                            std::vector<Piece>& pieces) const {
  const Instruction& i = *access.instruction;
  const CoreProgram& core = program_.cores[access.core];
  const auto operands = core.OperandsOf(i);
  if (access.vague || access.operand >= operands.size() ||
      i.opcode == Opcode::kSendRecv) {
    return false;
  }
  DmaTransfer transfer;
  transfer.opcode = i.opcode;
  transfer.num_srcs = 0;
  std::vector<Tile> plain(operands.size());
  for (size_t o = 0; o < operands.size(); ++o) {
    if (operands[o].kind != Operand::Kind::kAccess) continue;
    Access operand = operands[o].access;
    const Indirection* const moves = core.IndirectionOf(operand);
    if (moves != nullptr && !moves->is_scalar()) return false;
    operand.indirection = 0;
    Tile& tile = plain[o];
    placement_.Resolve(access.core, operand, tile);
    if (o == access.operand) {  // where it was in this run
      tile = Moved(
          tile,
          access.footprint.begin -
              FootprintOf(operand, program_.tensors[operand.tensor]).begin);
    }
    if (o == slot::DmaCopy::kDst) {
      transfer.dst.tile = tile;
    } else {
      transfer.srcs[static_cast<size_t>(transfer.num_srcs++)].tile = tile;
    }
  }
  if (i.opcode == Opcode::kDmaTranspose) {
    MakeTranspose(transfer,
                  core.AttributesOf(i)[slot::DmaTranspose::kAxes].bits);
  }
  std::vector<DmaPart> parts;
  SplitDma(transfer, static_cast<int>(access.work.lanes), parts);
  const size_t o = access.operand;
  AddPieces(
      o == slot::DmaCopy::kDst ? transfer.dst.tile : transfer.srcs[o - 1].tile,
      plain[o], parts, pieces);
  return true;
}

// "instruction 3 (dma_copy, triggered by the sync engine)"
std::string RaceDetector::WhoIs(const RaceAccess& access) const {
  const Instruction& i = *access.instruction;
  std::string text = absl::StrCat(
      "instruction ", i.order, " (", program_.operations[i.operation],
      access.work.lane >= lanes_.sequencers() ? ", triggered by the "
                                              : " on the ",
      std::string(Name(i.engine)), " engine");
  if (program_.cores.size() > 1) {
    absl::StrAppend(&text, " of core ", sequencers_[access.sequencer].core);
  }
  return text + ")";
}

bool RaceDetector::Counted(const Key& key, std::string_view id) {
  const auto found = found_.find(key);
  if (found != found_.end()) {
    ++findings_[found->second].count;
    return true;
  }
  const auto of_id = found_of_id_.find(id);
  return of_id != found_of_id_.end() && of_id->second >= kMaxFindings;
}

bool RaceDetector::IsAllowed(std::string_view id) const {
  return std::find(allow_.begin(), allow_.end(), id) != allow_.end();
}

void RaceDetector::Add(const Key& key, Diagnostic finding, bool consequence) {
  found_.emplace(key, findings_.size());
  ++found_of_id_[finding.id];
  findings_.push_back(std::move(finding));
  consequences_.push_back(consequence);
}

// Causes before what comes of them, and both as the author wrote them, so that
// the order of the run does not matter.
void RaceDetector::SortFindings() {
  std::vector<size_t> order(findings_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [this](size_t i) {
    return std::tuple(static_cast<bool>(consequences_[i]),
                      findings_[i].core.value_or(0),
                      findings_[i].instruction.value_or(0));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<Diagnostic> sorted;
  for (size_t i : order) sorted.push_back(std::move(findings_[i]));
  findings_ = std::move(sorted);
  found_.clear();
  consequences_.assign(findings_.size(), false);
}

namespace {

// How the second stands to the first.
struct Hazard {
  uint64_t kind;
  std::string_view id;
  std::string_view short_name;
};

// Two cores that run one kernel write the same place by the same statement, as
// a kernel does that is launched on two cores and does not divide its work.
bool IsReplicated(const Program& program, const RaceAccess& a, size_t core_a,
                  const RaceAccess& b, size_t core_b) {
  const Instruction& i = *a.instruction;
  const Instruction& j = *b.instruction;
  if (!a.write || !b.write || core_a == core_b || a.tensor != b.tensor ||
      i.source != j.source || i.source == kNoSource || i.opcode != j.opcode ||
      a.operand != b.operand || a.operand == kIndexOperand) {
    return false;
  }
  return program.cores[core_a].OperandsOf(i)[a.operand].access ==
         program.cores[core_b].OperandsOf(j)[b.operand].access;
}

Hazard HazardOf(const RaceAccess& earlier, const RaceAccess& later) {
  if (!earlier.write) return {1, "race.read_write", "write after read"};
  if (!later.write) return {2, "race.write_read", "read after write"};
  return {3, "race.write_write", "write after write"};
}

}  // namespace

// Who comes upon it, and where.
Diagnostic RaceDetector::Begin(Category category, std::string_view id,
                               const RaceAccess& who,
                               const Overlap& where) const {
  const Instruction& i = *who.instruction;
  Diagnostic d;
  d.category = category;
  d.id = std::string(id);
  d.operand = who.operand == kIndexOperand
                  ? "index"
                  : std::string(Info(i.opcode).operands[who.operand].name);
  d.instruction = i.order;
  d.opcode = Info(i.opcode).name;
  d.operation = program_.operations[i.operation];
  d.engine = Name(i.engine);
  d.core = static_cast<int>(sequencers_[who.sequencer].core);
  d.source = program_.DescribeSource(i.source);
  d.details = {
      {"tensor", TensorText(program_, who.tensor)},
      {"byte_range", absl::StrCat("[", where.begin, ", ", where.end, ")")}};
  if (program_.tensors[who.tensor].on_chip()) {
    d.details.emplace_back("partitions",
                           absl::StrCat("[", where.first_partition, ", ",
                                        where.end_partition, ")"));
  }
  d.reference = "docs/races.md";
  return d;
}

void RaceDetector::Unordered(const RaceAccess& before, const RaceAccess& after,
                             const Overlap& where) {
  if (after.work.lane == before.work.lane &&
      (before.work.lanes == 1 || !PartsCollide(before, after))) {
    return;
  }
  const auto assumed = AssumedBy(after.sequencer);
  if (before.work.KnownBy(assumed)) return;
  // The one that should have waited is the second as the author wrote them,
  // whichever came first in this run.
  const bool swapped = IsWrittenBefore(after, before);
  const RaceAccess& earlier = swapped ? after : before;
  const RaceAccess& later = swapped ? before : after;
  const bool replicated =
      IsReplicated(program_, earlier, sequencers_[earlier.sequencer].core,
                   later, sequencers_[later.sequencer].core);
  const Hazard hazard =
      replicated ? Hazard{4, "race.replicated_write", "write after write"}
                 : HazardOf(earlier, later);
  // One report of what is missing is enough. What follows from it for others
  // is not followed up: it would not be what every order has in common.
  if (!IsAllowed(hazard.id)) {
    for (uint32_t i = 0; i < before.work.lanes; ++i) {
      uint32_t& lane = assumed[before.work.lane + i];
      lane = std::max(lane, before.work.sequence);
    }
  }
  const Key key = {reinterpret_cast<uintptr_t>(earlier.instruction),
                   reinterpret_cast<uintptr_t>(later.instruction), hazard.kind};
  if (Counted(key, hazard.id)) return;
  Diagnostic d = Begin(Category::kRace, hazard.id, later, where);
  d.message = absl::StrCat(
      d.operand, " of ", WhoIs(later),
      later.write ? (earlier.write ? " writes " : " overwrites ") : " reads ",
      Place(program_, later, where), ", which ", WhoIs(earlier),
      earlier.write ? " writes" : " reads",
      ", and nothing makes it wait for that");
  d.details.insert(d.details.begin(),
                   {"hazard", std::string(hazard.short_name)});
  if (replicated) {
    d.severity = Severity::kWarning;
    d.related.push_back(
        "both cores run this statement on the same bytes: harmless if they "
        "write the same values");
  }
  if (earlier.tensor != later.tensor) {
    d.details.emplace_back("other_tensor",
                           TensorText(program_, earlier.tensor));
  }
  if (earlier.instruction == later.instruction) {
    d.details.emplace_back("iterations",
                           "the two are iterations of one instruction");
  }
  const std::string source =
      program_.DescribeSource(earlier.instruction->source);
  d.related.push_back(
      absl::StrCat("the other is ", WhoIs(earlier), ", ",
                   std::string(Info(earlier.instruction->opcode).name),
                   source.empty() ? "" : absl::StrCat(", at ", source)));
  const Advice advice =
      AdviceOf(program_, {earlier, sequencers_[earlier.sequencer].core},
               {later, sequencers_[later.sequencer].core});
  d.remedy = advice.text;
  Add(key, std::move(d), advice.consequence);
}

void RaceDetector::Foreign(const RaceAccess& writer, const RaceAccess& read,
                           const Overlap& where) {
  const Key key = {reinterpret_cast<uintptr_t>(writer.instruction),
                   reinterpret_cast<uintptr_t>(read.instruction), 0};
  if (Counted(key, "memory.overwritten")) return;
  Diagnostic d = Begin(Category::kCapacity, "memory.overwritten", read, where);
  d.message = absl::StrCat(d.operand, " of ", WhoIs(read), " reads ",
                           Place(program_, read, where), " as tile '",
                           program_.tensors[read.tensor].name, "', but ",
                           WhoIs(writer), " wrote them last, as tile '",
                           program_.tensors[writer.tensor].name, "'");
  d.details.emplace_back("other_tensor", TensorText(program_, writer.tensor));
  const std::string source =
      program_.DescribeSource(writer.instruction->source);
  if (!source.empty()) {
    d.related.push_back(absl::StrCat("they were written at ", source));
  }
  d.remedy =
      "write the tile before it is read, place the tiles apart, or read the "
      "bytes through a view of the tile that wrote them";
  Add(key, std::move(d), false);
}

}  // namespace trnemu
