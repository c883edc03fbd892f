// Memory over time: which tiles are in use, and how fast HBM is read and
// written.
#include <algorithm>
#include <limits>
#include <map>

#include "core/profile/analysis.h"

namespace trnemu {
namespace {

constexpr size_t kMostPoints = 4096;
constexpr size_t kBins = 2048;

// Of a sum, at a time: by how much it changes, and whether one more or one
// fewer is part of it.
struct Change {
  Ticks time = 0;
  double by = 0;
  int parts = 0;
};

// The sum of all changes up to each time.
Series SumUp(std::vector<Change>& changes) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.time < b.time; });
  Series series;
  double value = 0;
  int64_t parts = 0;
  for (const Change& c : changes) {
    if (series.times.empty() || series.times.back() != c.time) {
      if (parts == 0) value = 0;  // what rounding leaves
      series.times.push_back(c.time);
      series.values.push_back(value);
    }
    value += c.by;
    parts += c.parts;
    series.values.back() = parts == 0 ? 0 : value;
  }
  return series;
}

// HBM traffic of one DMA engine: it shares its time evenly between the parts
// that it has taken up.
void AddTraffic(std::vector<const DmaRecord*>& parts,
                std::vector<Change>& changes) {
  std::vector<std::pair<Ticks, const DmaRecord*>> starts, ends;
  for (const DmaRecord* d : parts) {
    starts.emplace_back(d->start, d);
    ends.emplace_back(d->free, d);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  std::vector<const DmaRecord*> active;
  double before = 0;
  size_t next = 0;
  const auto change = [&](Ticks time) {
    double rate = 0;
    for (const DmaRecord* d : active) {
      rate += static_cast<double>(d->hbm_read + d->hbm_written) * kTicksPerNs /
              static_cast<double>(d->busy);
    }
    if (!active.empty()) rate /= static_cast<double>(active.size());
    if (rate == before) return;
    changes.push_back({time, rate - before, (rate > 0) - (before > 0)});
    before = rate;
  };
  for (const auto& [end, ended] : ends) {
    // One that follows at once is not beside it.
    for (; next < starts.size() && starts[next].first < end; ++next) {
      active.push_back(starts[next].second);
      change(starts[next].first);
    }
    std::erase(active, ended);
    change(end);
  }
}

// The mean of each of kBins equal times, where there are too many points.
Series Reduced(const Series& s, Ticks end) {
  if (s.times.size() <= kMostPoints || end == 0) return s;
  Series bins;
  std::vector<double> sums(kBins, 0);
  const double width = static_cast<double>(end) / kBins;
  for (size_t i = 0; i + 1 < s.times.size(); ++i) {
    double at = static_cast<double>(s.times[i]) / width;
    const double to =
        std::min(static_cast<double>(s.times[i + 1]) / width, double{kBins});
    while (at < to) {
      const auto bin = static_cast<size_t>(at);
      if (bin >= kBins) break;
      const double next = std::min(to, static_cast<double>(bin + 1));
      sums[bin] += s.values[i] * (next - at);
      at = next;
    }
  }
  for (size_t b = 0; b < kBins; ++b) {
    bins.times.push_back(static_cast<Ticks>(static_cast<double>(b) * width));
    bins.values.push_back(sums[b]);
  }
  bins.times.push_back(end);
  bins.values.push_back(0);
  return bins;
}

void AddTiles(ProfileReport& report) {
  const Program& program = *report.program;
  const auto& rows = report.timeline->instructions();
  // A DMA uses its tiles until its last part is done.
  std::vector<Ticks> dma_end(rows.size(), 0);
  for (const DmaRecord& d : report.timeline->dma()) {
    Ticks& end = dma_end[static_cast<size_t>(d.instruction)];
    end = std::max(end, d.notify);
  }
  constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
  std::vector<TileLife> lives(program.tensors.size(), {0, kNever, 0});
  for (size_t r = 0; r < rows.size(); ++r) {
    const Ticks end = std::max({rows[r].end, rows[r].issue_end, dma_end[r]});
    for (const Operand& o :
         program.cores[rows[r].core].OperandsOf(*rows[r].instruction)) {
      if (o.kind != Operand::Kind::kAccess || !o.access.on_chip()) continue;
      TileLife& life = lives[o.access.tensor];
      life.tensor = o.access.tensor;
      life.from = std::min(life.from, rows[r].start);
      life.to = std::max(life.to, end);
    }
  }
  for (const TileLife& life : lives) {
    if (life.from != kNever) report.tiles.push_back(life);
  }
  std::stable_sort(
      report.tiles.begin(), report.tiles.end(),
      [](const TileLife& a, const TileLife& b) { return a.from < b.from; });
}

}  // namespace

void AddMemory(ProfileReport& report) {
  AddTiles(report);
  const Program& program = *report.program;
  for (size_t c = 0; c < program.cores.size(); ++c) {
    std::vector<Change> sbuf, psum;
    for (const TileLife& life : report.tiles) {
      const Tensor& t = program.tensors[life.tensor];
      if (t.core != c) continue;
      std::vector<Change>& changes = t.space() == Space::kPsum ? psum : sbuf;
      const auto bytes = static_cast<double>(t.nbytes());
      changes.push_back({life.from, bytes, 1});
      changes.push_back({life.to, -bytes, -1});
    }
    report.sbuf_bytes.push_back(Reduced(SumUp(sbuf), report.end));
    report.psum_bytes.push_back(Reduced(SumUp(psum), report.end));
  }
  std::map<std::pair<int, int>, std::vector<const DmaRecord*>> engines;
  for (const DmaRecord& d : report.timeline->dma()) {
    if (d.busy > 0 && d.free > d.start)
      engines[{d.core, d.engine}].push_back(&d);
  }
  std::vector<Change> hbm;
  for (auto& [engine, parts] : engines) AddTraffic(parts, hbm);
  report.hbm_bandwidth = Reduced(SumUp(hbm), report.end);
}

}  // namespace trnemu
