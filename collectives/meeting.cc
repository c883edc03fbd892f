#include "collectives/meeting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

int32_t MemberOf(const Meeting& m, uint32_t rank) {
  const auto at = std::find(m.members.begin(), m.members.end(), rank);
  return static_cast<int32_t>(at - m.members.begin());
}

std::string Ranks(const std::vector<uint32_t>& ranks) {
  constexpr size_t kShown = 12;
  if (ranks.size() <= kShown) {
    return absl::StrCat("[", absl::StrJoin(ranks, ", "), "]");
  }
  return absl::StrCat(
      "[",
      absl::StrJoin(ranks.begin(),
                    ranks.begin() + static_cast<ptrdiff_t>(kShown), ", "),
      ", ...: ", ranks.size(), " ranks]");
}

void PutPlace(const CallInfo& call, Diagnostic& d) {
  d.rank = call.rank;
  d.operation = Name(call.kind);
  d.instruction = call.instruction;
  d.source = call.source;
}

std::string At(const CallInfo& call) {
  return absl::StrCat("rank ", call.rank, call.core > 0 ? ", core 1: " : ": ",
                      std::string(Name(call.kind)), " at instruction ",
                      call.instruction, call.source.empty() ? "" : ", ",
                      call.source);
}

absl::Status WrongCounts(const CallInfo& call, std::string what) {
  Diagnostic d;
  d.category = Category::kOutOfBounds;
  d.id = "collective.counts";
  d.operand = "metadata_tensor";
  d.message = std::move(what);
  PutPlace(call, d);
  return ToStatus(std::move(d));
}

// The blocks of a v operation, from everyone's metadata.
absl::Status AddBlocks(const Meeting& m, Problem& problem) {
  const auto n = static_cast<int64_t>(m.members.size());
  problem.blocks.assign(
      m.members.size(), std::vector<Problem::Block>(m.members.size()));
  for (int64_t from = 0; from < n; ++from) {
    const CallInfo& sender = m.calls[static_cast<size_t>(from)];
    const bool gather = sender.kind == CollectiveKind::kAllGatherV;
    for (int64_t to = 0; to < n; ++to) {
      const CallInfo& receiver = m.calls[static_cast<size_t>(to)];
      const auto column = static_cast<size_t>(gather ? 0 : to);
      Problem::Block& block = problem.blocks[static_cast<size_t>(from)]
                                            [static_cast<size_t>(to)];
      block.count = sender.metadata[column];
      block.from = sender.metadata[static_cast<size_t>(n) + column];
      const int64_t slot = receiver.dst_elements[0] / n;
      block.to = receiver.has_rdispls
                     ? receiver.metadata[static_cast<size_t>(3 * n + from)]
                     : slot * from;
      if (block.from + block.count > sender.src_elements[0]) {
        return WrongCounts(
            sender,
            absl::StrCat("rank ", sender.rank, " is to send elements ",
                         block.from, " to ", block.from + block.count - 1,
                         " to rank ", receiver.rank, ", but its source has ",
                         sender.src_elements[0]));
      }
      const int64_t end = receiver.has_rdispls ? receiver.dst_elements[0]
                                               : block.to + slot;
      if (block.to + block.count > end) {
        return WrongCounts(
            receiver,
            absl::StrCat("rank ", sender.rank, " sends ", block.count,
                         " elements to rank ", receiver.rank,
                         ", which has room for ", end - block.to, " at ",
                         block.to, " of its ", receiver.dst_elements[0]));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

const CallInfo& Meeting::first() const {
  const auto at = std::find(here.begin(), here.end(), true);
  return calls[static_cast<size_t>(at - here.begin())];
}

absl::Status Meetings::Arrive(CallInfo call) {
  auto& forming = forming_[call.Key()];
  const auto member_of = [&](const Meeting& m) {
    return static_cast<size_t>(
        MemberOf(m, static_cast<uint32_t>(call.rank)));
  };
  const auto found =
      std::find_if(forming.begin(), forming.end(), [&](const auto& m) {
        return !m->here[member_of(*m)];
      });
  std::shared_ptr<Meeting> meeting;
  if (found != forming.end()) {
    meeting = *found;
    const CallInfo& other = meeting->first();
    if (const std::string what = Disagreement(other, call); !what.empty()) {
      Diagnostic d;
      d.category = Category::kIllegal;
      d.id = "collective.mismatch";
      d.message = absl::StrCat(
          "ranks ", other.rank, " and ", call.rank,
          " meet in the ", std::string(Name(other.kind)), " of ranks ",
          Ranks(call.members), ", but do not agree on it; ", what);
      d.related = {At(other), At(call)};
      d.remedy =
          "let all ranks of a group call the same collectives in the same "
          "order";
      PutPlace(call, d);
      return ToStatus(std::move(d));
    }
  } else {
    meeting = std::make_shared<Meeting>();
    meeting->number = next_number_++;
    meeting->members = call.members;
    meeting->missing = call.members.size();
    meeting->calls.resize(call.members.size());
    meeting->here.resize(call.members.size());
    forming.push_back(meeting);
    open_.emplace(meeting->number, meeting);
  }
  turns_[static_cast<size_t>(call.rank)][call.Lane()].push_back(meeting);
  const size_t member = member_of(*meeting);
  meeting->here[member] = true;
  meeting->calls[member] = std::move(call);
  if (--meeting->missing > 0) return absl::OkStatus();
  std::erase(forming, meeting);
  return absl::OkStatus();
}

std::vector<std::shared_ptr<Meeting>> Meetings::TakeReady() {
  std::vector<std::shared_ptr<Meeting>> ready;
  for (const auto& [number, meeting] : open_) {
    if (meeting->missing > 0 || meeting->started) continue;
    const bool turn =
        std::all_of(meeting->calls.begin(), meeting->calls.end(),
                    [&](const CallInfo& call) {
                      return turns_[static_cast<size_t>(call.rank)]
                                 .at(call.Lane())
                                 .front() == meeting;
                    });
    if (!turn) continue;
    meeting->started = true;
    ready.push_back(meeting);
  }
  return ready;
}

void Meetings::Leave(Meeting& meeting, uint32_t rank) {
  const auto member = static_cast<size_t>(MemberOf(meeting, rank));
  turns_[rank].at(meeting.calls[member].Lane()).pop_front();
  if (++meeting.left == meeting.members.size()) open_.erase(meeting.number);
}

std::string Meetings::Describe(const Meeting& meeting) const {
  const CallInfo& first = meeting.first();
  return absl::StrCat(std::string(Name(first.kind)), " of ranks ",
                      Ranks(meeting.members), " on stream ", first.stream,
                      first.core > 0 ? ", of their cores 1" : "");
}

std::string Meetings::WhereIs(
    uint32_t rank, const std::function<std::string(uint32_t)>& stall) const {
  for (const auto& [stream, queue] : turns_[rank]) {
    if (queue.empty()) continue;
    return absl::StrCat("waits in the ", Describe(*queue.front()));
  }
  const std::string other = stall(rank);
  return other.empty() ? "has come to the end of its program" : other;
}

absl::Status Meetings::Explain(
    const std::function<std::string(uint32_t)>& stall) const {
  constexpr size_t kMissing = 8, kRelated = 24;
  if (open_.empty()) return absl::OkStatus();
  const Meeting* blamed = nullptr;
  for (const auto& [number, meeting] : open_) {
    if (meeting->missing == 0) continue;
    if (blamed == nullptr) blamed = meeting.get();
  }
  Diagnostic d;
  d.category = Category::kDeadlock;
  d.id = "collective.deadlock";
  if (blamed == nullptr) {
    blamed = open_.begin()->second.get();
    d.message = absl::StrCat(
        "nothing can proceed: the ranks of a group call the collectives of "
        "their streams in different orders; one is the ",
        Describe(*blamed));
  } else {
    std::vector<uint32_t> missing;
    for (size_t m = 0; m < blamed->members.size(); ++m) {
      if (!blamed->here[m]) missing.push_back(blamed->members[m]);
    }
    const bool one = missing.size() == 1;
    d.message = absl::StrCat(
        "nothing can proceed: ", one ? "rank " : "ranks ",
        one ? absl::StrCat(missing[0]) : Ranks(missing),
        one ? " never comes to the " : " never come to the ",
        Describe(*blamed), ", which rank ", blamed->first().rank,
        " has triggered; rank ", missing[0], " ", WhereIs(missing[0], stall));
    d.details.emplace_back("missing", Ranks(missing));
    for (size_t i = 1; i < std::min(missing.size(), kMissing); ++i) {
      d.related.push_back(absl::StrCat("rank ", missing[i], " ",
                                       WhereIs(missing[i], stall)));
    }
  }
  d.details.emplace_back("group", Ranks(blamed->members));
  PutPlace(blamed->first(), d);
  for (const auto& [number, meeting] : open_) {
    for (size_t m = 0; m < meeting->members.size(); ++m) {
      if (!meeting->here[m] || meeting->started) continue;
      if (d.related.size() == kRelated) {
        d.related.push_back("and others");
        break;
      }
      d.related.push_back(absl::StrCat("waiting: ", At(meeting->calls[m])));
    }
    if (d.related.size() > kRelated) break;
  }
  d.remedy =
      "let every rank of a group come to the collective, as often and in the "
      "same order as the others";
  return ToStatus(std::move(d));
}

absl::StatusOr<Problem> ProblemOf(const Meeting& m) {
  const CallInfo& call = m.first();
  Problem problem;
  problem.kind = call.kind;
  problem.op = call.op;
  problem.dtype = call.dtype;
  problem.src_elements = call.src_elements;
  problem.rows = call.rows;
  for (const CallInfo& c : m.calls) {
    problem.in_place = problem.in_place || c.in_place;
  }
  switch (call.kind) {
    case CollectiveKind::kSend:
    case CollectiveKind::kRecv: {
      const auto& send = m.calls[m.calls[0].kind == CollectiveKind::kSend ? 0 : 1];
      problem.kind = CollectiveKind::kSend;
      problem.src_elements = send.src_elements;
      break;
    }
    case CollectiveKind::kBroadcast:
      problem.root = static_cast<int32_t>(call.peer);
      break;
    case CollectiveKind::kPermute:
      for (const auto& pair : call.pairs) {
        problem.pairs.emplace_back(MemberOf(m, pair[0]), MemberOf(m, pair[1]));
      }
      break;
    case CollectiveKind::kAllGatherV:
    case CollectiveKind::kAllToAllV: {
      absl::Status ok = AddBlocks(m, problem);
      if (!ok.ok()) return ok;
      break;
    }
    case CollectiveKind::kBarrier:
      problem.src_elements = {};
      break;
    default:
      break;
  }
  return problem;
}

}  // namespace trnemu
