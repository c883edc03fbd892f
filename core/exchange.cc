#include "core/exchange.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

std::string Ranks(const ExchangeEnd& end) {
  return absl::StrCat("core ", end.core, " sends to ", end.send_to,
                      " and receives from ", end.receive_from);
}

// What the two ends of an exchange must share.
std::string TileText(const ExchangeEnd& end, int queues) {
  return absl::StrCat("core ", end.core, " has ", end.src.partitions,
                      " partitions of ", end.src.free_size, " ",
                      std::string(Name(end.src.dtype)), " in ", queues,
                      " parts");
}

bool SameTiles(const Tile& a, const Tile& b) {
  return a.dtype == b.dtype && a.partitions == b.partitions &&
         a.free_size == b.free_size;
}

// Each core gets what the core that it names sends to it.
bool Pair(const std::array<ExchangeEnd, 2>& ends) {
  for (size_t core = 0; core < 2; ++core) {
    const auto from = static_cast<size_t>(ends[core].receive_from);
    const auto to = static_cast<size_t>(ends[core].send_to);
    if (ends[from].send_to != static_cast<int64_t>(core) ||
        ends[to].receive_from != static_cast<int64_t>(core)) {
      return false;
    }
  }
  return true;
}

}  // namespace

int Exchanges::QueuesOf(const ExchangeEnd& end) const {
  return static_cast<int>(program_.queue_sets[end.queue_set].queues);
}

std::string Exchanges::Describe(const ExchangeEnd& end) const {
  std::string text = absl::StrCat(
      "sendrecv of pipe_id ", end.pipe,
      end.path == DmaEngine::kDma ? "" : " over gpsimd_dma", " at instruction ",
      end.instruction->order, " of core ", end.core);
  const std::string source = program_.DescribeSource(end.instruction->source);
  if (!source.empty()) absl::StrAppend(&text, ", at ", source);
  return text;
}

absl::Status Exchanges::Check(const Exchange& exchange) const {
  const auto& ends = exchange.ends;
  const int queues[] = {QueuesOf(ends[0]), QueuesOf(ends[1])};
  Diagnostic d;
  d.operation = "sendrecv";
  d.related = {Describe(ends[0]), Describe(ends[1])};
  d.reference = "nki/api/nki/isa/__init__.py:2978";
  if (!Pair(ends)) {
    d.category = Category::kDeadlock;
    d.id = "sendrecv.pairing";
    d.operand = "recv_from_rank";
    d.message = absl::StrCat("the sendrecv of pipe_id ", ends[0].pipe,
                             " can never complete: ", Ranks(ends[0]), ", ",
                             Ranks(ends[1]));
    d.remedy =
        "each core sends to the other and receives from it, or both name "
        "themselves";
    return ToStatus(std::move(d));
  }
  // What each core sends to itself is of one size by the rules.
  const bool swap = ends[0].receive_from == 1;
  if (queues[0] == queues[1] &&
      (!swap || SameTiles(ends[0].src, ends[1].src))) {
    return absl::OkStatus();
  }
  d.category = Category::kIllegal;
  d.id = "sendrecv.mismatch";
  d.operand = "src";
  d.message =
      absl::StrCat("the tiles of the sendrecv of pipe_id ", ends[0].pipe,
                   " differ: ", TileText(ends[0], queues[0]), ", ",
                   TileText(ends[1], queues[1]));
  d.remedy = "exchange tiles of the same shape and dtype";
  return ToStatus(std::move(d));
}

absl::StatusOr<int64_t> Exchanges::Enter(const ExchangeEnd& end) {
  std::deque<ExchangeEnd>& waiting = waiting_[{end.pipe, end.path}];
  if (waiting.empty() || waiting.front().core == end.core) {
    waiting.push_back(end);
    return -1;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<int64_t>(slots_.size()));
    slots_.emplace_back();
  }
  const int64_t index = free_.back();
  Exchange& exchange = slots_[static_cast<size_t>(index)];
  exchange.ends[end.core] = end;
  exchange.ends[1 - end.core] = waiting.front();
  waiting.pop_front();
  if (absl::Status status = Check(exchange); !status.ok()) return status;
  free_.pop_back();
  // Both directions of a swap are split alike: in place, a part must be read
  // on both cores before it is written on either.
  const bool swap = exchange.ends[0].receive_from == 1;
  for (size_t core = 0; core < 2; ++core) {
    exchange.parts[core] =
        SplitDma(exchange.ends[swap ? 0 : core].dst, exchange.SourceOf(core),
                 QueuesOf(exchange.ends[core]));
  }
  return index;
}

Tile Exchanges::BufferOf(size_t core, const Tile& like) {
  const int64_t elements = like.partitions * like.free_size;
  const int64_t size = static_cast<int64_t>(SizeOf(like.dtype));
  std::vector<std::byte>& buffer = buffers_[core];
  if (buffer.size() < static_cast<size_t>(elements * size)) {
    buffer.resize(static_cast<size_t>(elements * size));
  }
  Tile tile;
  tile.base = buffer.data();
  tile.dtype = like.dtype;
  tile.space = Space::kSbuf;
  tile.rank = 1;
  tile.contiguous = true;
  tile.free_size = elements;
  tile.dims[0] = {size, elements};
  return tile;
}

absl::Status Exchanges::Read(int64_t index, int32_t part, size_t core,
                             CoreState& state) {
  const Exchange& e = at(index);
  const Tile& src = e.ends[core].src;
  const auto to = static_cast<size_t>(e.ends[core].send_to);
  return ExecuteDmaPart(BufferOf(core, src), src,
                        e.parts[to][static_cast<size_t>(part)], state);
}

absl::Status Exchanges::Write(int64_t index, int32_t part, size_t core,
                              CoreState& state) {
  const Exchange& e = at(index);
  const auto from = static_cast<size_t>(e.ends[core].receive_from);
  return ExecuteDmaPart(e.ends[core].dst, BufferOf(from, e.SourceOf(core)),
                        e.parts[core][static_cast<size_t>(part)], state);
}

std::vector<const ExchangeEnd*> Exchanges::Waiting() const {
  std::vector<const ExchangeEnd*> all;
  for (const auto& [key, ends] : waiting_) {
    for (const ExchangeEnd& end : ends) all.push_back(&end);
  }
  return all;
}

}  // namespace trnemu
