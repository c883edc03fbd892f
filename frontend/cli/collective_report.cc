#include "frontend/cli/collective_report.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "frontend/cli/collective_plot.h"
#include "frontend/cli/system_options.h"
#include "frontend/cli/table.h"

namespace trnemu::cli {
namespace {

std::string Us(double ns) { return absl::StrFormat("%.3f", ns / 1e3); }
std::string Rate(double bytes_per_ns) {
  return absl::StrFormat("%.3f", bytes_per_ns);
}

std::string AlgorithmOf(const CollectiveRow& row) {
  return AlgorithmText(row.algorithm, row.inside_nodes, row.between_nodes);
}

// Numbers of a column end at the same place.
std::string Aligned(std::vector<std::vector<std::string>> cells,
                    const std::vector<bool>& numbers) {
  for (size_t c = 0; c < numbers.size(); ++c) {
    if (!numbers[c]) continue;
    size_t width = 0;
    for (const auto& row : cells) width = std::max(width, row[c].size());
    for (auto& row : cells) row[c].insert(0, width - row[c].size(), ' ');
  }
  Table table(cells[0]);
  for (size_t i = 1; i < cells.size(); ++i) table.Add(cells[i]);
  return table.Text();
}

// "below 1 MiB" of one byte less.
std::string UpTo(double bytes) {
  const auto most = static_cast<int64_t>(bytes);
  return most % 2 == 1 ? Cat("below ", SizeText(most + 1))
                       : Cat("up to ", SizeText(most));
}

std::string FactorText(const CollectiveSubject& subject, int64_t n) {
  if (subject.bus_factor == 0) return "busbw = algbw";
  return Cat("busbw = algbw x ", subject.bus_factor == 2 ? "2 " : "",
             "(n - 1) / n = algbw x ",
             absl::StrFormat("%.4g", BusFactor(subject, n)));
}

}  // namespace

CollectiveReport::CollectiveReport(const CollectiveQuery& query,
                                   const std::vector<CollectiveRow>& rows,
                                   bool all)
    : query_(query),
      rows_(rows),
      all_(all),
      subject_(*FindCollectiveSubject(query.operation)) {
  if (!query.groups.empty()) {
    groups_ = static_cast<int64_t>(query.groups.size());
    group_size_ = static_cast<int64_t>(query.groups[0].size());
  } else {
    const int ranks = query.topology->ranks();
    group_size_ = subject_.kind == CollectiveKind::kSend ? 2 : ranks;
  }
}

std::string CollectiveReport::Title() const {
  return Cat(query_.operation,
             subject_.reduces ? Cat(" (", Name(query_.op), ")") : "", ", ",
             Name(query_.dtype), " in ", Name(query_.memory), ", ",
             Count(groups_, "group"), " of ", Count(group_size_, "rank"),
             query_.streams > 1 ? Cat(", ", query_.streams, " streams") : "");
}

std::string CollectiveReport::Header() const {
  std::string text = Cat(Title(), "\n", Describe(*query_.topology), "\n");
  if (query_.topology->system().assumed_timing) {
    text += "Bandwidths of this system are assumed: documents conflict.\n";
  }
  if (query_.packet_bytes > 0) {
    text += Cat("DMA packets of ", query_.packet_bytes, " bytes.\n");
  }
  text +=
      "Simulated. time: from the last rank's trigger until the last rank is "
      "done.\n";
  if (!subject_.size.empty()) {
    text += Cat("size: ", subject_.size, ". algbw = size / time, ",
                FactorText(subject_, group_size_), "; 1 GB = 10^9 B.\n");
  }
  if (!all_) text += "HBM, links: bytes of all ranks and links together.\n";
  return text + "\n";
}

std::string CollectiveReport::Rows() const {
  std::vector<std::string> head = {"size",       "bytes",     "algorithm",
                                   "steps",      "time us",   "algbw GB/s",
                                   "busbw GB/s", "HBM bytes", "link bytes"};
  std::vector<bool> numbers = {true, true, false, true, true,
                               true, true, true,  true};
  if (query_.check) {
    head.emplace_back("max error");
    numbers.push_back(true);
  }
  std::vector<std::vector<std::string>> cells = {head};
  for (const CollectiveRow& r : rows_) {
    std::vector<std::string> row = {SizeText(r.bytes),
                                    Cat(r.bytes),
                                    AlgorithmOf(r),
                                    Cat(r.steps),
                                    Us(r.time_ns),
                                    r.bytes > 0 ? Rate(r.algbw) : "-",
                                    r.bytes > 0 ? Rate(r.busbw) : "-",
                                    Cat(r.hbm_read + r.hbm_written),
                                    Cat(r.link_bytes)};
    if (query_.check) row.push_back(absl::StrFormat("%.3g", *r.max_error));
    cells.push_back(std::move(row));
  }
  return Aligned(std::move(cells), numbers);
}

std::string CollectiveReport::SideBySide() const {
  std::vector<Algorithm> forced;
  for (const CollectiveRow& r : rows_) {
    if (r.asked == Algorithm::kAuto) continue;
    if (std::find(forced.begin(), forced.end(), r.asked) == forced.end()) {
      forced.push_back(r.asked);
    }
  }
  std::vector<std::vector<std::string>> cells(1);
  cells[0] = {"size"};
  std::vector<bool> numbers = {true};
  for (const Algorithm a : forced) {
    cells[0].push_back(Cat(Name(a), " us"));
    numbers.push_back(true);
  }
  for (const char* name : {"auto us", "auto busbw", "auto takes", "fastest"}) {
    cells[0].emplace_back(name);
    numbers.push_back(std::string_view(name).starts_with("auto us") ||
                      std::string_view(name) == "auto busbw");
  }
  for (size_t i = 0; i < rows_.size();) {
    std::vector<std::string> line = {SizeText(rows_[i].bytes)};
    const CollectiveRow* chosen = nullptr;
    const CollectiveRow* best = nullptr;
    const size_t end = i + forced.size() + 1;
    for (; i < end && i < rows_.size(); ++i) {
      const CollectiveRow& r = rows_[i];
      if (r.asked == Algorithm::kAuto) {
        chosen = &r;
        continue;
      }
      line.push_back(Us(r.time_ns));
      if (best == nullptr || r.time_ns < best->time_ns) best = &r;
    }
    line.push_back(Us(chosen->time_ns));
    line.push_back(Rate(chosen->busbw));
    line.push_back(AlgorithmOf(*chosen));
    line.emplace_back(best == nullptr ? "-" : std::string(Name(best->asked)));
    cells.push_back(std::move(line));
  }
  return Aligned(std::move(cells), numbers);
}

bool CollectiveReport::has_documented_ranges() const {
  using enum CollectiveKind;
  return query_.topology->nodes() == 1 &&
         query_.topology->system().mesh_up_to >= 0 &&
         (subject_.kind == kAllReduce || subject_.kind == kAllGather ||
          subject_.kind == kReduceScatter);
}

std::string CollectiveReport::Ranges() const {
  const auto ranges = FastestRanges(rows_);
  if (ranges.empty()) return "";
  std::string text = "\nfastest here: ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    const FastestRange& r = ranges[i];
    text += Cat(i == 0 ? "" : "; ", Name(r.algorithm), " ", SizeText(r.from),
                r.from == r.to ? "" : Cat(" to ", SizeText(r.to)));
  }
  text += "\n";
  for (size_t i = 1; i < ranges.size(); ++i) {
    text +=
        Cat("crossover:    ", Name(ranges[i - 1].algorithm), " -> ",
            Name(ranges[i].algorithm), " between ", SizeText(ranges[i - 1].to),
            " and ", SizeText(ranges[i].from), "\n");
  }
  if (!has_documented_ranges()) return text;
  const SystemDescription& system = query_.topology->system();
  return Cat(text, "documented:   mesh ", UpTo(system.mesh_up_to),
             system.rdh_up_to >= 0 ? Cat(", rdh ", UpTo(system.rdh_up_to)) : "",
             ", kangaring above: what auto goes by where the group can\n");
}

std::string CollectiveReport::Text() const {
  return Cat(Header(), all_ ? SideBySide() : Rows(), all_ ? Ranges() : "");
}

Json CollectiveReport::RowJson(const CollectiveRow& r) const {
  Json json;
  json["size"] = r.size;
  json["bytes"] = r.bytes;
  json["asked"] = std::string(Name(r.asked));
  json["algorithm"] = std::string(Name(r.algorithm));
  const bool two = r.algorithm == Algorithm::kHierarchical;
  json["inside_nodes"] =
      two ? Json(std::string(Name(r.inside_nodes))) : Json(nullptr);
  json["between_nodes"] =
      two ? Json(std::string(Name(r.between_nodes))) : Json(nullptr);
  json["steps"] = r.steps;
  json["channels"] = r.channels;
  json["moves"] = r.moves;
  json["time_ns"] = r.time_ns;
  json["algbw"] = r.algbw;
  json["busbw"] = r.busbw;
  json["hbm_read_bytes"] = r.hbm_read;
  json["hbm_write_bytes"] = r.hbm_written;
  json["link_bytes"] = r.link_bytes;
  json["max_error"] = r.max_error ? Json(*r.max_error) : Json(nullptr);
  json["error_bound"] = r.error_bound ? Json(*r.error_bound) : Json(nullptr);
  return json;
}

Json CollectiveReport::ToJson() const {
  Json json = Envelope("collective");
  json["ok"] = true;
  json["exit_code"] = int{kSuccess};
  json["operation"] = query_.operation;
  json["system"] = cli::ToJson(*query_.topology);
  json["groups"] = groups_;
  json["group_size"] = group_size_;
  json["dtype"] = std::string(Name(query_.dtype));
  json["op"] =
      subject_.reduces ? Json(std::string(Name(query_.op))) : Json(nullptr);
  json["memory"] = std::string(Name(query_.memory));
  json["streams"] = query_.streams;
  json["packet_bytes"] = query_.packet_bytes > 0
                             ? Json(query_.packet_bytes)
                             : Json(query_.topology->system().packet_bytes);
  json["size_is"] =
      subject_.size.empty() ? Json(nullptr) : Json(std::string(subject_.size));
  json["bus_factor"] = BusFactor(subject_, group_size_);
  json["rows"] = Json::array();
  for (const CollectiveRow& r : rows_) json["rows"].push_back(RowJson(r));
  json["fastest"] = Json::array();
  if (!all_) return json;
  for (const FastestRange& r : FastestRanges(rows_)) {
    json["fastest"].push_back({{"algorithm", std::string(Name(r.algorithm))},
                               {"from", r.from},
                               {"to", r.to}});
  }
  return json;
}

std::string CollectiveReport::Svg() const {
  CollectivePlot plot;
  plot.title = Title();
  plot.note = Cat(Describe(*query_.topology), "; simulated",
                  query_.topology->system().assumed_timing
                      ? ", bandwidths assumed: documents conflict"
                      : "",
                  "; size: ", subject_.size);
  for (const CollectiveRow& r : rows_) {
    const std::string name(Name(r.asked));
    auto line = std::find_if(plot.lines.begin(), plot.lines.end(),
                             [&](const PlotLine& l) { return l.name == name; });
    if (line == plot.lines.end()) {
      line = plot.lines.insert(plot.lines.end(),
                               {name, all_ && r.asked == Algorithm::kAuto, {}});
    }
    line->points.push_back(
        {static_cast<double>(r.bytes), r.time_ns / 1e3, r.busbw,
         Cat(SizeText(r.bytes), ", ", AlgorithmOf(r), ": ", Us(r.time_ns),
             " us, busbw ", Rate(r.busbw), " GB/s")});
  }
  if (has_documented_ranges()) {
    const SystemDescription& system = query_.topology->system();
    plot.marks.emplace_back(system.mesh_up_to, "documented: mesh up to here");
    if (system.rdh_up_to >= 0) {
      plot.marks.emplace_back(system.rdh_up_to, "documented: rdh up to here");
    }
  }
  return Draw(plot);
}

}  // namespace trnemu::cli
