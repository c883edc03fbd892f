#include "collectives/kangaring.h"

#include <array>

#include "collectives/ring.h"

namespace trnemu::plans {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

// What all channels share. Unit u: the chunks of the u-th pair.
struct Pairs {
  std::vector<std::vector<int32_t>> pairs;    // positions
  std::vector<std::vector<int32_t>> of_chip;  // by chip: pairs
  int channels = 1, slices = 1;
  // By unit, channel and slice; `owned` with extents of one chunk each.
  Chunks parts, owned, sliced, sliced_owned;
  std::vector<End> scratch;  // by position, in kTeam
};

class KangaRingOfChannel {
 public:
  KangaRingOfChannel(Stage& stage, const Pairs& shared, int channel)
      : s_(stage), k_(shared), channel_(channel) {
    const auto& cycles = s_.team.cycles;
    for (int32_t chip : cycles[Index(channel) % cycles.size()]) {
      const auto& on_chip = k_.of_chip[Index(chip)];
      ring_.insert(ring_.end(), on_chip.begin(), on_chip.end());
    }
    n_ = static_cast<int>(ring_.size());
    sent_.resize(Index(n_ * k_.slices));
    sending_ = sent_;
  }

  void Run() {
    const int step = s_.step;
    if (!s_.scatters()) {
      FirstOfGather(step);
      for (int i = 1; i < n_; ++i) GatherStep(step + i, i);
      return;
    }
    for (int i = 0; i < n_ - 1; ++i) ScatterStep(step + i, i);
    if (!s_.gathers()) return LastSumToOwners(step + n_ - 1);
    LastSum(step + n_ - 1);
    for (int i = 1; i < n_; ++i) GatherStep(step + n_ - 1 + i, i);
  }

 private:
  int32_t UnitAt(int place) const {
    return ring_[Index((place + 2 * n_) % n_)];
  }
  int32_t Primary(int place) const {
    return k_.pairs[Index(UnitAt(place))][Index(channel_ & 1)];
  }
  int32_t Secondary(int place) const {
    return k_.pairs[Index(UnitAt(place))][Index(1 - (channel_ & 1))];
  }
  // Whose chunk it is a part of.
  int32_t Owner(const Extent& e) const { return e.chunk / k_.channels; }
  int PartOf(int unit) const { return unit * k_.channels + channel_; }
  int SliceOf(int unit, int slice) const {
    return PartOf(unit) * k_.slices + slice;
  }
  uint32_t& Sent(int place, int slice) {
    return sent_[Index((place + n_) % n_ * k_.slices + slice)];
  }
  // A rank is primary in every other cycle and has its engines for those.
  uint32_t Begin(int place, int step) {
    return s_.Begin(Primary(place), step, channel_ / 2, (k_.channels + 1) / 2);
  }
  void AfterPair(int place) {
    s_.AfterReady(Primary(place));
    s_.AfterReady(Secondary(place));
  }
  // What a primary adds up: what came (but in the first step), its own chunks,
  // the secondary's.
  std::array<End, 3> Addends(int place) const {
    const int32_t p = Primary(place);
    return {n_ > 1 ? k_.scratch[Index(p)] : End{}, s_.In(p),
            s_.In(Secondary(place))};
  }

  void ScatterStep(int step, int i) {
    for (int slice = 0; slice < k_.slices; ++slice) {
      for (int place = 0; place < n_; ++place) {
        const uint32_t move = Begin(place, step);
        AfterPair(place);
        if (i > 0) s_.writer.After(Sent(place - 1, slice));
        const std::array<End, 3> from = Addends(place);
        AddPieces(s_.writer, k_.sliced[SliceOf(UnitAt(place - 1 - i), slice)],
                  std::span<const End>(from).subspan(i > 0 ? 0 : 1),
                  {{k_.scratch[Index(Primary(place + 1))]}});
        sending_[Index(place * k_.slices + slice)] = move;
      }
    }
    std::swap(sent_, sending_);
  }

  uint32_t BeginLastSum(int place, int slice, int step) {
    const uint32_t move = Begin(place, step);
    AfterPair(place);
    if (n_ > 1) s_.writer.After(Sent(place - 1, slice));
    return move;
  }

  // Sums to whose chunk it is.
  void LastSumToOwners(int step) {
    for (int slice = 0; slice < k_.slices; ++slice) {
      for (int place = 0; place < n_; ++place) {
        const uint32_t move = BeginLastSum(place, slice, step);
        const std::array<End, 3> from = Addends(place);
        const auto extents = k_.sliced_owned[SliceOf(UnitAt(place), slice)];
        for (const Extent& e : extents) {
          AddPieces(s_.writer, {&e, 1},
                    std::span<const End>(from).subspan(n_ > 1 ? 0 : 1),
                    {{s_.Out(Owner(e))}});
        }
        if (extents.empty()) {
          AddPieces(s_.writer, {}, {{from[1]}}, {{s_.Out(Primary(place))}});
        }
        s_.Done(Primary(place), move);
        s_.Done(Secondary(place), move);
      }
    }
  }

  // Sums to the primary and the next one; the secondary gets them from there.
  void LastSum(int step) {
    for (int slice = 0; slice < k_.slices; ++slice) {
      for (int place = 0; place < n_; ++place) {
        const uint32_t move = BeginLastSum(place, slice, step);
        const std::array<End, 3> from = Addends(place);
        const End to[] = {
            s_.Out(Primary(place)),
            s_.Out(n_ > 1 ? Primary(place + 1) : Secondary(place))};
        AddPieces(s_.writer, k_.sliced[SliceOf(UnitAt(place), slice)],
                  std::span<const End>(from).subspan(n_ > 1 ? 0 : 1), to);
        sending_[Index(place * k_.slices + slice)] = move;
      }
    }
    std::swap(sent_, sending_);
    if (n_ == 1) return;
    for (int place = 0; place < n_; ++place) {
      Begin(place, step + 1);
      for (int v = 0; v < k_.slices; ++v) s_.writer.After(Sent(place, v));
      AddPieces(s_.writer, k_.parts[PartOf(UnitAt(place))],
                {{s_.Out(Primary(place))}}, {{s_.Out(Secondary(place))}});
    }
  }

  // Both chunks of a pair to the next primary and to the other one of the pair,
  // and each to where its owner wants it.
  void FirstOfGather(int step) {
    for (int place = 0; place < n_; ++place) {
      const int32_t p = Primary(place), other = Secondary(place);
      const auto extents = k_.owned[PartOf(UnitAt(place))];
      const uint32_t move = Begin(place, step);
      AfterPair(place);
      for (const Extent& e : extents) {
        const End to[] = {s_.Out(Owner(e) == p ? other : p),
                          s_.Out(Primary(place + 1))};
        AddPieces(s_.writer, {&e, 1}, {{s_.In(Owner(e))}},
                  std::span<const End>(to).first(n_ > 1 ? 2 : 1));
      }
      if (extents.empty()) {
        AddPieces(s_.writer, {}, {{s_.In(p)}},
                  {{s_.Out(other), s_.Out(Primary(place + 1))}});
      }
      sending_[Index(place * k_.slices)] = move;
      KeepOwn(place, step, move);
    }
    std::swap(sent_, sending_);
  }

  void KeepOwn(int place, int step, uint32_t first) {
    const auto extents = k_.owned[PartOf(UnitAt(place))];
    if (!s_.copies_own(Primary(place)) || extents.empty()) return;
    Begin(place, step);
    AfterPair(place);
    if (s_.in_place) s_.writer.After(first);
    for (const Extent& e : extents) {
      AddPieces(s_.writer, {&e, 1}, {{s_.In(Owner(e))}}, {{s_.Out(Owner(e))}});
    }
  }

  // What came goes to the secondary and, but for the last, to the next primary.
  void GatherStep(int step, int i) {
    for (int place = 0; place < n_; ++place) {
      const uint32_t move = Begin(place, step);
      s_.writer.After(Sent(place - 1, 0));
      if (i == 1 && s_.scatters() && k_.slices == 2) {
        s_.writer.After(Sent(place - 1, 1));
      }
      const End to[] = {s_.Out(Secondary(place)), s_.Out(Primary(place + 1))};
      AddPieces(s_.writer, k_.parts[PartOf(UnitAt(place - i))],
                {{s_.Out(Primary(place))}},
                std::span<const End>(to).first(i < n_ - 1 ? 2 : 1));
      sending_[Index(place * k_.slices)] = move;
    }
    std::swap(sent_, sending_);
  }

  Stage& s_;
  const Pairs& k_;
  int channel_, n_ = 0;
  std::vector<int32_t> ring_;             // pairs
  std::vector<uint32_t> sent_, sending_;  // of the last step: place and slice
};

Pairs Pair(Stage& stage) {
  Pairs k;
  for (const std::vector<int32_t>& chip : stage.team.chips) {
    std::vector<int32_t>& of_chip = k.of_chip.emplace_back();
    for (size_t i = 0; i + 1 < chip.size(); i += 2) {
      of_chip.push_back(static_cast<int32_t>(k.pairs.size()));
      k.pairs.push_back({chip[i], chip[i + 1]});
    }
  }
  // One cycle is used twice so that both ranks of a pair are primaries.
  k.channels = ChannelsFor(stage.team, stage.chunks.longest());
  if (k.channels == 1 && stage.chunks.longest() > 1) k.channels = 2;
  k.slices =
      stage.scatters() ? SlicesFor(2 * stage.chunks.longest(), k.channels) : 1;
  const Chunks chunks = stage.chunks.Split(k.channels);
  std::vector<std::vector<int32_t>> units;
  for (const std::vector<int32_t>& pair : k.pairs) {
    for (int c = 0; c < k.channels; ++c) {
      units.push_back({pair[0] * k.channels + c, pair[1] * k.channels + c});
    }
  }
  k.parts = chunks.Joined(units);
  k.sliced = k.parts.Split(k.slices);
  k.owned = chunks.Joined(units, false);
  k.sliced_owned = k.owned.Split(k.slices);
  if (stage.scatters() && k.pairs.size() > 1) {
    for (int32_t p = 0; p < stage.size(); ++p) {
      k.scratch.push_back(stage.Scratch(p, stage.chunks.elements()));
    }
  }
  return k;
}

}  // namespace

void KangaRing(Stage& stage) {
  const Pairs k = Pair(stage);
  const auto n = static_cast<int64_t>(k.pairs.size());
  const int64_t moves =
      k.channels * n * n *
      ((stage.scatters() ? k.slices : 0) + (stage.gathers() ? 1 : 0));
  stage.writer.Reserve(moves, moves, 4 * moves);
  for (int c = 0; c < k.channels; ++c) {
    KangaRingOfChannel(stage, k, c).Run();
  }
  const int pairs = static_cast<int>(n);
  stage.step += stage.goal == Goal::kReduce ? 2 * pairs - 1 : pairs;
}

}  // namespace trnemu::plans
