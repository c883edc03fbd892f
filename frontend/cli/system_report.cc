#include "frontend/cli/system_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_format.h"
#include "frontend/cli/table.h"

namespace trnemu::cli {
namespace {

constexpr size_t kMostLines = 24;

std::string Us(double ns) { return absl::StrFormat("%.3f", ns / 1e3); }
double Ns(Ticks t) { return static_cast<double>(t) / kTicksPerNs; }

// The engine that semaphores held longest.
Engine LongestWait(const RunResult& result) {
  size_t longest = 0;
  for (size_t e = 1; e < result.profile.engines.size(); ++e) {
    if (result.profile.engines[e].waiting >
        result.profile.engines[longest].waiting) {
      longest = e;
    }
  }
  return static_cast<Engine>(longest);
}

double WaitingNs(const RunResult& result, Engine engine) {
  return Ns(result.profile.engines[static_cast<size_t>(engine)].waiting);
}

std::string RanksText(const std::vector<uint32_t>& ranks) {
  bool successive = true;
  for (size_t i = 1; i < ranks.size(); ++i) {
    successive = successive && ranks[i] == ranks[i - 1] + 1;
  }
  if (ranks.size() > 2 && successive) {
    return Cat(ranks.front(), "-", ranks.back());
  }
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i == 6 && ranks.size() > 8) {
      return Cat(text, ",...: ", ranks.size(), " ranks");
    }
    text += Cat(i == 0 ? "" : ",", ranks[i]);
  }
  return text;
}

std::string Omitted(size_t lines, std::string_view what) {
  return lines <= kMostLines ? ""
                             : Cat("and ", lines - kMostLines, " more ", what,
                                   "; --json has them all\n");
}

std::string RanksTable(const SystemRun& run) {
  // Successive ranks whose lines are the same are one line.
  struct Line {
    size_t first = 0, last = 0;
    std::vector<std::string> cells;
  };
  std::vector<Line> lines;
  const auto& ranks = run.result().ranks;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Engine engine = LongestWait(ranks[r]);
    const double waiting = WaitingNs(ranks[r], engine);
    const std::vector<std::string> cells = {
        Us(ranks[r].time_ns), Cat(ranks[r].profile.instructions),
        waiting > 0 ? Cat(Name(engine), " ", Us(waiting), " us") : "-"};
    if (!lines.empty() && lines.back().cells == cells) {
      lines.back().last = r;
    } else {
      lines.push_back({r, r, cells});
    }
  }
  Table table({"rank", "time us", "instructions", "waits most"});
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) {
    const Line& l = lines[i];
    table.Add({l.first == l.last ? Cat(l.first) : Cat(l.first, "-", l.last),
               l.cells[0], l.cells[1], l.cells[2]});
  }
  return table.Text() + Omitted(lines.size(), "lines");
}

std::string CollectivesTable(const SystemRun& run) {
  const auto& collectives = run.result().collectives;
  if (collectives.empty()) return "No collectives.\n";
  Table table({"collective", "algorithm", "ranks", "stream", "bytes", "steps",
               "start us", "time us", "first waited us", "link bytes"});
  for (size_t i = 0; i < collectives.size() && i < kMostLines; ++i) {
    const CollectiveRecord& c = collectives[i];
    table.Add({std::string(Name(c.kind)),
               AlgorithmText(c.algorithm, c.inside_nodes, c.between_nodes),
               RanksText(c.ranks), Cat(c.stream), Cat(c.bytes), Cat(c.steps),
               Us(Ns(c.last_trigger)), Us(Ns(c.end - c.last_trigger)),
               Us(Ns(c.last_trigger - c.first_trigger)), Cat(c.link_bytes)});
  }
  return table.Text() + Omitted(collectives.size(), "collectives");
}

Json CollectiveJson(const CollectiveRecord& c) {
  const bool two = c.algorithm == Algorithm::kHierarchical;
  Json json;
  json["operation"] = std::string(Name(c.kind));
  json["algorithm"] = std::string(Name(c.algorithm));
  json["inside_nodes"] =
      two ? Json(std::string(Name(c.inside_nodes))) : Json(nullptr);
  json["between_nodes"] =
      two ? Json(std::string(Name(c.between_nodes))) : Json(nullptr);
  json["dtype"] = c.dtype == Dtype::kInvalid ? Json(nullptr)
                                             : Json(std::string(Name(c.dtype)));
  json["ranks"] = c.ranks;
  json["stream"] = c.stream;
  json["bytes"] = c.bytes;
  json["steps"] = c.steps;
  json["channels"] = c.channels;
  json["moves"] = c.moves;
  json["hbm_read_bytes"] = c.hbm_read;
  json["hbm_write_bytes"] = c.hbm_written;
  json["link_bytes"] = c.link_bytes;
  json["first_trigger_ns"] = Ns(c.first_trigger);
  json["last_trigger_ns"] = Ns(c.last_trigger);
  json["start_ns"] = Ns(c.start);
  json["end_ns"] = Ns(c.end);
  json["source"] = c.source.empty() ? Json(nullptr) : Json(c.source);
  return json;
}

Json RankJson(size_t rank, const RunResult& r) {
  Json json;
  json["rank"] = rank;
  json["time_ns"] = r.time_ns;
  json["instructions"] = r.profile.instructions;
  json["dma_bytes"] = r.profile.dma_bytes;
  json["hbm_read_bytes"] = r.profile.hbm_read_bytes;
  json["hbm_write_bytes"] = r.profile.hbm_write_bytes;
  json["waiting_ns"] = Json::object();
  for (size_t e = 1; e < r.profile.engines.size(); ++e) {
    if (r.profile.engines[e].waiting == 0) continue;
    json["waiting_ns"][std::string(kEngineNames[e])] =
        WaitingNs(r, static_cast<Engine>(e));
  }
  return json;
}

}  // namespace

std::string SystemText(const SystemRun& run) {
  return Cat("system        ", Describe(run.topology()), "\n",
             run.topology().system().assumed_timing
                 ? "              bandwidths are assumed: documents conflict\n"
                 : "",
             "time          ", Us(run.result().time_ns),
             " us simulated, of the last rank\n\n", RanksTable(run), "\n",
             CollectivesTable(run));
}

std::string WarningsText(const SystemRun& run) {
  std::vector<std::pair<Diagnostic, int>> seen;
  for (const RunResult& r : run.result().ranks) {
    for (const Diagnostic& d : r.diagnostics) {
      const auto at =
          std::find_if(seen.begin(), seen.end(), [&](const auto& s) {
            return s.first.id == d.id && s.first.message == d.message &&
                   s.first.source == d.source;
          });
      if (at == seen.end()) {
        seen.emplace_back(d, 1);
      } else {
        ++at->second;
      }
    }
  }
  std::string text;
  for (const auto& [d, count] : seen) {
    text += Render(d) + "\n";
    if (count > 1)
      text += Cat("  and the same on ", count - 1, " more ranks\n");
  }
  return text;
}

void AddSystemJson(const SystemRun& run, Json& json) {
  json["system"] = ToJson(run.topology());
  json["time_ns"] = run.result().time_ns;
  json["ranks"] = Json::array();
  for (size_t r = 0; r < run.result().ranks.size(); ++r) {
    json["ranks"].push_back(RankJson(r, run.result().ranks[r]));
  }
  json["collectives"] = Json::array();
  for (const CollectiveRecord& c : run.result().collectives) {
    json["collectives"].push_back(CollectiveJson(c));
  }
}

}  // namespace trnemu::cli
