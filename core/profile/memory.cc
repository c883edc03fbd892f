// Memory over time: which tiles are in use, and how fast HBM is read and
// written.
#include <algorithm>
#include <limits>

#include "core/profile/analysis.h"

namespace trnemu {
namespace {

constexpr size_t kMostPoints = 4096;
constexpr size_t kBins = 2048;

using Changes = std::vector<std::pair<Ticks, double>>;

// The sum of all changes up to each time.
Series SumUp(Changes& changes) {
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Series series;
  double value = 0;
  for (const auto& [time, change] : changes) {
    value += change;
    if (series.times.empty() || series.times.back() != time) {
      series.times.push_back(time);
      series.values.push_back(value);
    } else {
      series.values.back() = value;
    }
  }
  // What rounding leaves when all is over.
  if (!series.values.empty() && std::abs(series.values.back()) < 1e-6) {
    series.values.back() = 0;
  }
  return series;
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
    Changes sbuf, psum;
    for (const TileLife& life : report.tiles) {
      const Tensor& t = program.tensors[life.tensor];
      if (t.core != c) continue;
      Changes& changes = t.space() == Space::kPsum ? psum : sbuf;
      const auto bytes = static_cast<double>(t.nbytes());
      changes.emplace_back(life.from, bytes);
      changes.emplace_back(life.to, -bytes);
    }
    report.sbuf_bytes.push_back(Reduced(SumUp(sbuf), report.end));
    report.psum_bytes.push_back(Reduced(SumUp(psum), report.end));
  }
  Changes hbm;
  for (const DmaRecord& d : report.timeline->dma()) {
    const auto bytes = static_cast<double>(d.hbm_read + d.hbm_written);
    if (bytes == 0 || d.free <= d.start) continue;
    const double rate =
        bytes / (static_cast<double>(d.free - d.start) / kTicksPerNs);
    hbm.emplace_back(d.start, rate);
    hbm.emplace_back(d.free, -rate);
  }
  report.hbm_bandwidth = Reduced(SumUp(hbm), report.end);
}

}  // namespace trnemu
