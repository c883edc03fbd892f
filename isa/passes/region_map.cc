#include "isa/passes/region_map.h"

#include <algorithm>
#include <iterator>

namespace trnemu {
namespace {

// More accesses to one segment than this collapse into one. Column tiles of a
// row-major HBM tensor all share a segment, and are best kept apart.
constexpr size_t kMaxRecords = 512;

}  // namespace

void RegionMap::Add(Event event, const Footprint& footprint, bool write,
                    Needs& needs, bool opaque) {
  ++accesses_;
  const Box box = BoxOf(footprint, pitch_);
  const uint32_t mine = NewRecord(event, footprint, write);
  records_[mine].opaque = opaque;
  records_[mine].full = box.full;
  SplitBand(box.first_row);
  SplitBand(box.end_row);
  auto it = bands_.lower_bound(box.first_row);
  for (int64_t row = box.first_row; row < box.end_row; ++it) {
    if (it == bands_.end() || it->first > row) {
      const int64_t end =
          it == bands_.end() ? box.end_row : std::min(box.end_row, it->first);
      it = bands_.emplace_hint(it, row, Band{end, {}});
    }
    EnterBand(mine, *it, box, needs);
    row = it->second.end;
  }
  MergeBands(box.first_row, box.end_row);
  Release(mine);
}

void RegionMap::EnterBand(uint32_t mine, Bands::value_type& band,
                          const Box& box, Needs& needs) {
  Segments& segments = band.second.segments;
  Split(segments, box.begin);
  Split(segments, box.end);
  auto it = segments.lower_bound(box.begin);
  for (int64_t at = box.begin; at < box.end; ++it) {
    if (it == segments.end() || it->first > at) {
      const int64_t end =
          it == segments.end() ? box.end : std::min(box.end, it->first);
      it = segments.emplace_hint(it, at, Segment{end, {}});
    }
    Enter(mine, band, *it, needs);
    at = it->second.end;
  }
  MergeEqual(segments, box.begin, box.end);
}

void RegionMap::Check(const Footprint& footprint, bool write,
                      Needs& needs) const {
  const Box box = BoxOf(footprint, pitch_);
  auto band = bands_.upper_bound(box.first_row);
  if (band != bands_.begin()) --band;
  for (; band != bands_.end() && band->first < box.end_row; ++band) {
    if (band->second.end <= box.first_row) continue;
    const Segments& segments = band->second.segments;
    auto it = segments.upper_bound(box.begin);
    if (it != segments.begin()) --it;
    for (; it != segments.end() && it->first < box.end; ++it) {
      if (it->second.end <= box.begin) continue;
      for (uint32_t id : it->second.records) {
        const Record& r = records_[id];
        if ((r.write || write) && MayOverlap(r.footprint, footprint)) {
          needs.Require(r.event);
        }
      }
    }
  }
}

uint32_t RegionMap::NewRecord(Event event, const Footprint& footprint,
                              bool write) {
  uint32_t id = static_cast<uint32_t>(records_.size());
  if (unused_.empty()) {
    records_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Record& record = records_[id];
  record = Record();
  record.event = event;
  record.write = write;
  record.references = 1;
  record.footprint = footprint;
  return id;
}

void RegionMap::Release(uint32_t record) {
  if (--records_[record].references == 0) unused_.push_back(record);
}

bool RegionMap::Conflicts(uint32_t record, uint32_t mine) {
  Record& r = records_[record];
  if (!r.write && !records_[mine].write) return false;
  if (records_[mine].opaque) return false;
  if (r.event == records_[mine].event) return false;
  if (r.compared_at != accesses_) {
    r.compared_at = accesses_;
    r.touches = MayOverlap(r.footprint, records_[mine].footprint);
  }
  return r.touches;
}

bool RegionMap::Replaces(const Record& mine, const Record& record) const {
  if (mine.opaque) return false;
  if (!mine.write && (record.write || mine.event.lane != record.event.lane)) {
    return false;
  }
  const Footprint& whole = mine.footprint;
  const Footprint& part = record.footprint;
  if (part.first_partition < whole.first_partition) return false;
  if (part.end_partition > whole.end_partition) return false;
  if (mine.full) return true;
  return Covers(whole, part) && (!whole.dense() || (whole.begin <= part.begin &&
                                                    part.end <= whole.end));
}

void RegionMap::SplitBand(int64_t row) {
  auto it = bands_.upper_bound(row);
  if (it == bands_.begin()) return;
  --it;
  if (it->first == row || it->second.end <= row) return;
  for (const auto& [begin, segment] : it->second.segments) {
    for (uint32_t record : segment.records) ++records_[record].references;
  }
  bands_.emplace_hint(std::next(it), row, it->second);
  it->second.end = row;
}

void RegionMap::MergeBands(int64_t first, int64_t end) {
  auto it = bands_.lower_bound(first);
  if (it != bands_.begin()) --it;
  while (it != bands_.end()) {
    auto next = std::next(it);
    if (next == bands_.end() || next->first > end) return;
    if (it->second.end == next->first &&
        it->second.segments == next->second.segments) {
      for (const auto& [begin, segment] : next->second.segments) {
        for (uint32_t record : segment.records) Release(record);
      }
      it->second.end = next->second.end;
      bands_.erase(next);
    } else {
      it = next;
    }
  }
}

void RegionMap::Split(Segments& segments, int64_t at) {
  auto it = segments.upper_bound(at);
  if (it == segments.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  for (uint32_t record : it->second.records) ++records_[record].references;
  segments.emplace_hint(std::next(it), at, it->second);
  it->second.end = at;
}

void RegionMap::Enter(uint32_t mine, const Bands::value_type& band,
                      Segments::value_type& segment, Needs& needs) {
  List& list = segment.second.records;
  size_t kept = 0;
  for (uint32_t id : list) {
    if (Conflicts(id, mine)) needs.Require(records_[id].event);
    if (Replaces(records_[mine], records_[id])) {
      Release(id);
    } else {
      list[kept++] = id;
    }
  }
  list.resize(kept);
  if (kept < kMaxRecords) {
    list.push_back(mine);
    ++records_[mine].references;
  } else {
    Collapse(mine, band, segment, needs);
  }
}

void RegionMap::Collapse(uint32_t mine, const Bands::value_type& band,
                         Segments::value_type& segment, Needs& needs) {
  Footprint all;
  all.run = segment.second.end - segment.first;
  all.begin = band.first * pitch_ + segment.first;
  all.end = all.begin + all.run;
  const int64_t rows = band.second.end - band.first;
  if (rows > 1) {
    all.rank = 1;
    all.dims[0] = {pitch_, rows};
    all.end += (rows - 1) * pitch_;
  }
  all.first_partition = records_[mine].footprint.first_partition;
  all.end_partition = records_[mine].footprint.end_partition;
  List& list = segment.second.records;
  for (uint32_t id : list) {
    const Record& record = records_[id];
    if (record.event != records_[mine].event) needs.Require(record.event);
    all.first_partition =
        std::min(all.first_partition, record.footprint.first_partition);
    all.end_partition =
        std::max(all.end_partition, record.footprint.end_partition);
    Release(id);
  }
  const uint32_t one = NewRecord(records_[mine].event, all, true);
  records_[one].full = true;
  list.assign(1, one);
}

void RegionMap::MergeEqual(Segments& segments, int64_t begin, int64_t end) {
  auto it = segments.lower_bound(begin);
  if (it != segments.begin()) --it;
  while (it != segments.end()) {
    auto next = std::next(it);
    if (next == segments.end() || next->first > end) return;
    if (it->second.end == next->first &&
        it->second.records == next->second.records) {
      for (uint32_t record : next->second.records) Release(record);
      it->second.end = next->second.end;
      segments.erase(next);
    } else {
      it = next;
    }
  }
}

}  // namespace trnemu
