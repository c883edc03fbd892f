#include "collectives/trace.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/profile/columns.h"
#include "core/profile/trace_writer.h"

namespace trnemu {
namespace {

// Among a rank's processes, and its threads.
constexpr int kCollectives = 300;
constexpr int kCoreTracks = 1000;  // and as many for each collective core
constexpr int kSortsOfRank = 10;

class Tracer {
 public:
  Tracer(const Topology& topology, const ClusterResult& result,
         std::span<const ProfileReport* const> profiles, std::string_view name)
      : topology_(topology),
        result_(result),
        profiles_(profiles),
        out_(absl::StrCat("\"program\":", Quoted(name),
                          ",\"system\":", Quoted(topology.system().name),
                          ",\"ranks\":", topology.ranks())) {}

  std::string Do() {
    for (int r = 0; r < topology_.ranks(); ++r) {
      if (!Shown(r)) continue;
      AddProfile(*profiles_[static_cast<size_t>(r)],
                 {FirstOf(r), kSortsOfRank * r, absl::StrCat("rank ", r, ", ")},
                 out_);
      out_.NameProcess(FirstOf(r) + kCollectives,
                       absl::StrCat("rank ", r, ", collectives"),
                       kSortsOfRank * r + kSortsOfRank - 1);
    }
    Streams();
    Moves();
    Links();
    Names();
    return std::move(out_).Finish();
  }

 private:
  using Place = TraceWriter::Place;

  bool Shown(int rank) const {
    return static_cast<size_t>(rank) < profiles_.size() &&
           profiles_[static_cast<size_t>(rank)] != nullptr;
  }
  int FirstOf(int rank) const { return kTraceProcesses * rank; }
  int links_process() const { return FirstOf(topology_.ranks()); }
  std::string NameOf(const CollectiveRecord& c) const {
    return absl::StrCat(std::string(Name(c.kind)), " ",
                        std::string(Name(c.algorithm)));
  }

  void Streams() {
    std::map<std::pair<int, int>, int64_t> free;  // by process and stream
    for (size_t i = 0; i < result_.collectives.size(); ++i) {
      const CollectiveRecord& c = result_.collectives[i];
      for (size_t m = 0; m < c.ranks.size(); ++m) {
        const auto rank = static_cast<int>(c.ranks[m]);
        if (!Shown(rank) || m >= c.triggers.size()) continue;
        Place at{FirstOf(rank) + kCollectives, static_cast<int>(c.stream), 0};
        threads_[{at.process, at.thread}] = absl::StrCat("stream ", c.stream);
        int64_t& before = free[{at.process, at.thread}];
        const int64_t start = TraceNs(c.start);
        at.start = std::max(before, TraceNs(c.triggers[m]));
        if (at.start < start) {
          out_.Slice(at, start,
                     absl::StrCat(std::string(Name(c.kind)),
                                  ": waits for ranks, or starts"),
                     "wait", absl::StrCat("\"collective\":", i));
        }
        at.start = start;
        before = std::max(start, TraceNs(c.ends[m]));
        out_.Slice(
            at, before, NameOf(c), "collective",
            absl::StrCat("\"collective\":", i, ",\"ranks\":", c.ranks.size(),
                         ",\"bytes\":", c.bytes, ",\"steps\":", c.steps,
                         ",\"source\":", Quoted(c.source)));
      }
    }
  }

  void Moves() {
    // Lanes need slices by their start.
    std::vector<size_t> order;
    for (size_t i = 0; i < result_.moves.size(); ++i) {
      if (Shown(result_.moves[i].rank)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return result_.moves[a].start < result_.moves[b].start;
    });
    std::map<size_t, Place> places;
    for (const size_t i : order) {
      const MoveRecord& m = result_.moves[i];
      const CollectiveRecord& c =
          result_.collectives[static_cast<size_t>(m.collective)];
      const int64_t start = TraceNs(m.start), end = TraceNs(m.end);
      Place at{FirstOf(m.rank) + kCollectives, 0, start};
      at.thread = Lane(at.process, m.cc_core, start, end);
      places[i] = at;
      out_.Slice(
          at, end, absl::StrCat(NameOf(c), " step ", m.step), "move",
          absl::StrCat("\"collective\":", m.collective, ",\"step\":", m.step,
                       ",\"channel\":", m.channel, ",\"bytes\":", m.bytes,
                       ",\"ready_ns\":", NsText(m.ready)));
    }
    for (const size_t i : order) {
      const auto after =
          places.find(static_cast<size_t>(std::max(0, result_.moves[i].after)));
      if (result_.moves[i].after < 0 || after == places.end()) continue;
      out_.Arrow("move", after->second, places[i]);
    }
  }

  // A track of the collective core that is free at `start`.
  int Lane(int process, int core, int64_t start, int64_t end) {
    auto& lanes = lanes_[{process, core}];
    auto at = std::find_if(lanes.begin(), lanes.end(),
                           [&](int64_t free) { return free <= start; });
    if (at == lanes.end()) at = lanes.insert(at, 0);
    *at = end;
    const auto lane = static_cast<int>(at - lanes.begin());
    const int thread = kCoreTracks * (core + 1) + lane;
    threads_[{process, thread}] =
        absl::StrCat("collective core ", core,
                     lane == 0 ? "" : absl::StrCat(", beside ", lane));
    return thread;
  }

  void Links() {
    for (const LinkRecord& l : result_.links) {
      const Place at{links_process(), l.link, TraceNs(l.start)};
      threads_[{at.process, at.thread}] =
          topology_.links()[static_cast<size_t>(l.link)].name;
      out_.Slice(
          at, TraceNs(l.end),
          absl::StrCat("rank ", l.from_rank, " > rank ", l.to_rank), "link",
          absl::StrCat("\"bytes\":", l.bytes, ",\"collective\":", l.collective,
                       ",\"step\":", l.step, ",\"from_rank\":", l.from_rank,
                       ",\"to_rank\":", l.to_rank));
    }
    out_.NameProcess(links_process(), "links",
                     kSortsOfRank * topology_.ranks());
  }

  void Names() {
    for (const auto& [track, name] : threads_) {
      out_.NameThread(track.first, track.second, name);
    }
  }

  const Topology& topology_;
  const ClusterResult& result_;
  const std::span<const ProfileReport* const> profiles_;
  TraceWriter out_;
  std::map<std::pair<int, int>, std::vector<int64_t>> lanes_;
  std::map<std::pair<int, int>, std::string> threads_;
};

}  // namespace

std::string ClusterTrace(const Topology& topology, const ClusterResult& result,
                         std::span<const ProfileReport* const> profiles,
                         std::string_view name) {
  return Tracer(topology, result, profiles, name).Do();
}

}  // namespace trnemu
