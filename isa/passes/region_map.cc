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
  const uint32_t mine = NewRecord(event, footprint, write);
  records_[mine].opaque = opaque;
  Split(footprint.begin);
  Split(footprint.end);
  auto it = segments_.lower_bound(footprint.begin);
  for (int64_t at = footprint.begin; at < footprint.end; ++it) {
    if (it == segments_.end() || it->first > at) {
      const int64_t end = it == segments_.end()
                              ? footprint.end
                              : std::min(footprint.end, it->first);
      it = segments_.emplace_hint(it, at, Segment{end, {}});
    }
    Enter(mine, *it, needs);
    at = it->second.end;
  }
  MergeEqual(footprint.begin, footprint.end);
  Release(mine);
}

void RegionMap::Check(const Footprint& footprint, bool write,
                      Needs& needs) const {
  auto it = segments_.upper_bound(footprint.begin);
  if (it != segments_.begin()) --it;
  for (; it != segments_.end() && it->first < footprint.end; ++it) {
    if (it->second.end <= footprint.begin) continue;
    for (uint32_t id : it->second.records) {
      const Record& r = records_[id];
      if ((r.write || write) && MayOverlap(r.footprint, footprint)) {
        needs.Require(r.event);
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
  if (!Covers(mine.footprint, record.footprint)) return false;
  return mine.write || (!record.write && mine.event.lane == record.event.lane);
}

void RegionMap::Split(int64_t at) {
  auto it = segments_.upper_bound(at);
  if (it == segments_.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  for (uint32_t record : it->second.records) ++records_[record].references;
  segments_.emplace_hint(std::next(it), at, it->second);
  it->second.end = at;
}

void RegionMap::Enter(uint32_t mine, Segments::value_type& segment,
                      Needs& needs) {
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
    Collapse(mine, segment, needs);
  }
}

void RegionMap::Collapse(uint32_t mine, Segments::value_type& segment,
                         Needs& needs) {
  Footprint all;
  all.begin = segment.first;
  all.end = segment.second.end;
  all.run = all.end - all.begin;
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
  list.assign(1, NewRecord(records_[mine].event, all, true));
}

void RegionMap::MergeEqual(int64_t begin, int64_t end) {
  auto it = segments_.lower_bound(begin);
  if (it != segments_.begin()) --it;
  while (it != segments_.end()) {
    auto next = std::next(it);
    if (next == segments_.end() || next->first > end) return;
    if (it->second.end == next->first &&
        it->second.records == next->second.records) {
      for (uint32_t record : next->second.records) Release(record);
      it->second.end = next->second.end;
      segments_.erase(next);
    } else {
      it = next;
    }
  }
}

}  // namespace trnemu
