#include "core/races/access_history.h"

#include <algorithm>
#include <limits>

namespace trnemu {
namespace {

// A memory is divided into pages, so that segments are found and moved at
// little cost.
constexpr int64_t kOnChipPage = 4096;
constexpr int64_t kHbmPages = 64;

// More accesses to one segment than this are looked through for some that can
// go, and the oldest go where none can.
constexpr uint32_t kCompactAt = 32;
constexpr size_t kMaxRecords = 2048;

// Calls visit(first byte, one past the last) for each run of a footprint's
// bytes that reaches into [low, high). Until visit returns false.
template <typename Visit>
bool ForEachRun(const Footprint& f, int64_t low, int64_t high, Visit visit,
                uint32_t dim = 0, int64_t at = 0) {
  if (dim == f.rank) {
    const int64_t begin = std::max(low, f.begin + at);
    const int64_t end = std::min(high, f.begin + at + f.run);
    return begin >= end || visit(begin, end);
  }
  int64_t reach = f.run;  // of the dimensions inside
  for (uint32_t d = dim + 1; d < f.rank; ++d) {
    reach += f.dims[d].step * (f.dims[d].count - 1);
  }
  const Dim& step = f.dims[dim];
  const int64_t start = f.begin + at;
  const int64_t before = low - start - reach;
  const int64_t first = before < 0 ? 0 : before / step.step;
  for (int64_t i = first; i < step.count; ++i) {
    if (start + i * step.step >= high) break;
    if (!ForEachRun(f, low, high, visit, dim + 1, at + i * step.step)) {
      return false;
    }
  }
  return true;
}

}  // namespace

namespace {

// Of accesses of which one or both are vague, only what must be so.
bool FindSureOverlap(const RaceAccess& a, const RaceAccess& b,
                     Overlap& overlap) {
  if (a.vague && b.vague) return false;
  if (!FindOverlap(a.footprint, b.footprint, overlap)) return false;
  if (!a.vague && !b.vague) return true;
  const Footprint& some = a.vague ? a.footprint : b.footprint;
  const Footprint& all = a.vague ? b.footprint : a.footprint;
  return all.dense() && Covers(all, some) && all.begin <= some.begin &&
         all.end >= some.end;
}

}  // namespace

bool FindOverlap(const Footprint& a, const Footprint& b, Overlap& overlap) {
  if (!MayOverlap(a, b)) return false;
  overlap.first_partition = std::max(a.first_partition, b.first_partition);
  overlap.end_partition = std::min(a.end_partition, b.end_partition);
  const int64_t low = std::max(a.begin, b.begin);
  const int64_t high = std::min(a.end, b.end);
  bool found = false;
  ForEachRun(a, low, high, [&](int64_t begin, int64_t end) {
    ForEachRun(b, begin, end, [&](int64_t first, int64_t last) {
      overlap.begin = first;
      overlap.end = last;
      found = true;
      return false;
    });
    return !found;
  });
  return found;
}

AccessHistory::AccessHistory(int64_t bytes, bool on_chip, int64_t pitch)
    : on_chip_(on_chip), pitch_(pitch) {
  const int64_t size = pitch == 0 ? bytes : (bytes - 1) / pitch + 1;
  page_size_ = size / kHbmPages + 1;
  if (pitch == 0) page_size_ = std::max(page_size_, kOnChipPage);
  if (on_chip) page_size_ = kOnChipPage;
  pages_.resize(static_cast<size_t>((size + page_size_ - 1) / page_size_));
}

void AccessHistory::Enter(const RaceAccess& access, Clock clock, Clock least,
                          RaceSink& sink) {
  ++accesses_;
  mine_ = NewRecord(access);
  clock_ = clock;
  least_ = least;
  sink_ = &sink;
  foreign_found_ = false;
  const Box box = records_[mine_].box;
  const int64_t begin = pitch_ == 0 ? box.begin : box.first_row;
  const int64_t end = pitch_ == 0 ? box.end : box.end_row;
  for (int64_t at = begin; at < end; at = page_end_) {
    const int64_t page = at / page_size_;
    page_begin_ = page * page_size_;
    page_end_ = page_begin_ + page_size_;
    Page& segments = pages_[static_cast<size_t>(page)];
    if (pitch_ == 0) {
      EnterPage(segments, at, std::min(end, page_end_));
    } else {
      EnterPage(segments, box.begin, box.end);
    }
  }
  Release(mine_);
}

void AccessHistory::EnterPage(Page& page, int64_t begin, int64_t end) {
  const auto found = std::lower_bound(
      page.begin(), page.end(), begin,
      [](const Segment& s, int64_t at) { return s.end <= at; });
  const size_t first = static_cast<size_t>(found - page.begin());
  size_t i = first;
  for (int64_t at = begin; at < end; ++i) {
    if (i == page.size() || page[i].begin > at) {
      Segment segment;
      segment.begin = at;
      segment.end = i == page.size() ? end : std::min(end, page[i].begin);
      page.insert(page.begin() + static_cast<ptrdiff_t>(i), segment);
    } else if (page[i].begin < at) {
      Split(page, i, at);
      ++i;
    }
    if (page[i].end > end) Split(page, i, end);
    Update(page[i]);
    at = page[i].end;
  }
  MergeEqual(page, first == 0 ? 0 : first - 1, i);
}

// Makes two segments of one.
void AccessHistory::Split(Page& page, size_t index, int64_t at) {
  page.insert(page.begin() + static_cast<ptrdiff_t>(index), page[index]);
  page[index].end = at;
  page[index + 1].begin = at;
  for (uint32_t id : page[index].records) ++records_[id].references;
}

void AccessHistory::Update(Segment& segment) {
  const RaceAccess& mine = records_[mine_].access;
  if (on_chip_ && !mine.write) CheckOwner(segment);
  List& list = segment.records;
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const uint32_t id = list[i];
    Record& record = records_[id];
    if (record.access.step != mine.step) {
      if ((record.access.write || mine.write) &&
          !record.access.work.KnownBy(clock_)) {
        Meet(record);
      }
      if (Replaces(record)) {
        Release(id);
        continue;
      }
    }
    list[kept++] = id;
  }
  list.resize(kept);
  list.push_back(mine_);
  ++records_[mine_].references;
  if (mine.write && mine.owns && segment.owner != mine.tensor) {
    segment.owner = kNoTensor;
  }
  if (list.size() >= segment.compact_at) Compact(segment);
}

void AccessHistory::Meet(Record& record) {
  if (record.compared_at == accesses_) return;
  record.compared_at = accesses_;
  Overlap where;
  const RaceAccess& mine = records_[mine_].access;
  if (!FindSureOverlap(record.access, mine, where)) return;
  sink_->Unordered(record.access, mine, where);
}

// Whether the new access has every byte of an earlier one in the segment.
bool AccessHistory::CoversHere(const Record& record) const {
  const Footprint& whole = records_[mine_].access.footprint;
  const Footprint& part = record.access.footprint;
  if (pitch_ == 0) return Covers(whole, part);
  const Box& box = records_[mine_].box;
  if (box.full) {
    return box.first_row <= std::max(record.box.first_row, page_begin_) &&
           std::min(record.box.end_row, page_end_) <= box.end_row;
  }
  return Covers(whole, part) && (!whole.dense() || (whole.begin <= part.begin &&
                                                    part.end <= whole.end));
}

bool AccessHistory::Replaces(const Record& record) const {
  const RaceAccess& mine = records_[mine_].access;
  const RaceAccess& other = record.access;
  if (mine.vague || !CoversHere(record)) return false;
  if (mine.write) return mine.owns || !other.write || !other.owns;
  return !other.write && other.work.lane == mine.work.lane &&
         (mine.work.lanes == 1 || other.work.KnownBy(clock_));
}

void AccessHistory::CheckOwner(Segment& segment) {
  const RaceAccess& mine = records_[mine_].access;
  if (mine.vague || segment.owner == mine.tensor) return;
  auto foreign = [&](uint32_t id) {
    const RaceAccess& other = records_[id].access;
    return other.write && other.owns && !other.vague &&
           other.tensor != mine.tensor &&
           other.footprint.first_partition < mine.footprint.end_partition &&
           mine.footprint.first_partition < other.footprint.end_partition;
  };
  const List& list = segment.records;
  if (std::none_of(list.begin(), list.end(), foreign)) return;
  DropHidden(segment);
  if (std::none_of(list.begin(), list.end(), foreign)) {
    const bool all_mine =
        std::none_of(list.begin(), list.end(), [&](uint32_t id) {
          const RaceAccess& other = records_[id].access;
          return other.write && other.owns && other.tensor != mine.tensor;
        });
    if (all_mine) segment.owner = mine.tensor;
    return;
  }
  const Footprint& f = mine.footprint;
  for (uint32_t p = f.first_partition; p < f.end_partition; ++p) {
    if (foreign_found_) return;
    Paint(segment, p);
    ForEachRun(f, segment.begin, segment.end, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const uint16_t who = painted_[static_cast<size_t>(at - segment.begin)];
        if (who == 0 || !foreign(list[who - 1u])) continue;
        foreign_found_ = true;
        int64_t last = at + 1;
        while (last < end &&
               painted_[static_cast<size_t>(last - segment.begin)] == who) {
          ++last;
        }
        sink_->Foreign(records_[list[who - 1u]].access, mine,
                       {p, p + 1, at, last});
        return false;
      }
      return true;
    });
  }
}

void AccessHistory::Paint(const Segment& segment, uint32_t partition) {
  painted_.assign(static_cast<size_t>(segment.end - segment.begin), 0);
  for (size_t i = 0; i < segment.records.size(); ++i) {
    const RaceAccess& a = records_[segment.records[i]].access;
    if (!a.write || !a.owns || partition < a.footprint.first_partition ||
        partition >= a.footprint.end_partition) {
      continue;
    }
    ForEachRun(a.footprint, segment.begin, segment.end,
               [&](int64_t begin, int64_t end) {
                 std::fill(
                     painted_.begin() + (begin - segment.begin),
                     painted_.begin() + (end - segment.begin),
                     a.vague ? uint16_t{0} : static_cast<uint16_t>(i + 1));
                 return true;
               });
  }
}

// Drops writes of which no byte is left in the segment.
void AccessHistory::DropHidden(Segment& segment) {
  List& list = segment.records;
  uint32_t low = std::numeric_limits<uint32_t>::max();
  uint32_t high = 0;
  for (uint32_t id : list) {
    const RaceAccess& a = records_[id].access;
    if (!a.write || !a.owns) continue;
    low = std::min(low, a.footprint.first_partition);
    high = std::max(high, a.footprint.end_partition);
  }
  visible_.assign(list.size() + 1, false);
  for (uint32_t p = low; p < high; ++p) {
    Paint(segment, p);
    uint16_t last = 0;
    for (const uint16_t who : painted_) {
      if (who == last) continue;
      visible_[who] = true;
      last = who;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const RaceAccess& a = records_[list[i]].access;
    if (a.write && a.owns && !a.vague && !visible_[i + 1]) {
      Release(list[i]);
    } else {
      list[kept++] = list[i];
    }
  }
  list.resize(kept);
}

void AccessHistory::Compact(Segment& segment) {
  if (on_chip_) DropHidden(segment);
  List& list = segment.records;
  size_t kept = 0;
  const size_t excess =
      list.size() > kMaxRecords ? list.size() - kMaxRecords / 2 : 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const RaceAccess& a = records_[list[i]].access;
    const bool needed = on_chip_ && a.write;  // to know whose bytes they are
    if (i < excess || (!needed && a.work.KnownBy(least_))) {
      Release(list[i]);
    } else {
      list[kept++] = list[i];
    }
  }
  list.resize(kept);
  segment.compact_at =
      std::max(kCompactAt, static_cast<uint32_t>(2 * list.size()));
}

void AccessHistory::MergeEqual(Page& page, size_t first, size_t last) {
  last = std::min(last, page.size() - 1);
  size_t kept = first;
  for (size_t i = first + 1; i <= last; ++i) {
    Segment& before = page[kept];
    Segment& next = page[i];
    if (before.end == next.begin && before.records == next.records) {
      for (uint32_t id : next.records) Release(id);
      before.end = next.end;
      if (before.owner != next.owner) before.owner = kNoTensor;
    } else if (++kept != i) {
      page[kept] = std::move(next);
    }
  }
  if (page.empty() || kept == last) return;
  page.erase(page.begin() + static_cast<ptrdiff_t>(kept + 1),
             page.begin() + static_cast<ptrdiff_t>(last + 1));
}

uint32_t AccessHistory::NewRecord(const RaceAccess& access) {
  uint32_t id = static_cast<uint32_t>(records_.size());
  if (unused_.empty()) {
    records_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  records_[id].access = access;
  records_[id].box = BoxOf(access.footprint, pitch_);
  records_[id].compared_at = 0;
  records_[id].references = 1;
  return id;
}

void AccessHistory::Release(uint32_t id) {
  if (--records_[id].references == 0) unused_.push_back(id);
}

}  // namespace trnemu
