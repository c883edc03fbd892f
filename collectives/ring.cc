#include "collectives/ring.h"

#include <algorithm>

namespace trnemu::plans {
namespace {

class RingOfChannel {
 public:
  RingOfChannel(Stage& stage, int channel, int channels, int slices,
                const Chunks& parts, const Chunks& sliced,
                std::span<const End> scratch)
      : s_(stage),
        channel_(channel),
        channels_(channels),
        slices_(slices),
        parts_(parts),
        sliced_(sliced),
        scratch_(scratch) {
    for (int32_t chip : s_.team.cycles[Index(channel)]) {
      const auto& on_chip = s_.team.chips[Index(chip)];
      ring_.insert(ring_.end(), on_chip.begin(), on_chip.end());
    }
    n_ = static_cast<int>(ring_.size());
    sent_.resize(Index(n_ * slices_));
    sending_ = sent_;
  }

  void Run() {
    const int step = s_.step;
    if (s_.scatters()) {
      for (int i = 0; i < n_ - 1; ++i) ScatterStep(step + i, i);
      LastSum(step + n_ - 1);
      if (s_.gathers()) {
        for (int i = 1; i < n_ - 1; ++i) GatherStep(step + n_ - 1 + i, i);
      }
    } else {
      for (int i = 0; i < n_ - 1; ++i) GatherStep(step + i, i);
    }
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }
  // Position at place `i` of the ring, any number of rounds away.
  int32_t At(int i) const { return ring_[Index((i + 2 * n_) % n_)]; }
  uint32_t& Sent(int place, int slice) {
    return sent_[Index((place + n_) % n_ * slices_ + slice)];
  }
  uint32_t Begin(int place, int step) {
    return s_.Begin(ring_[Index(place)], step, channel_, channels_);
  }
  std::span<const Extent> Sliced(int32_t chunk, int slice) const {
    return sliced_[(chunk * channels_ + channel_) * slices_ + slice];
  }

  // Everyone adds its own chunk to the one that came and sends the sum on; the
  // first step sends the chunk before its own.
  void ScatterStep(int step, int i) {
    for (int slice = 0; slice < slices_; ++slice) {
      for (int place = 0; place < n_; ++place) {
        const int32_t p = At(place), next = At(place + 1);
        const uint32_t move = Begin(place, step);
        s_.AfterReady(p);
        if (i > 0) s_.writer.After(Sent(place - 1, slice));
        const End from[] = {scratch_[Index(p)], s_.In(p)};
        AddPieces(s_.writer, Sliced(At(place - 1 - i), slice),
                  std::span<const End>(from).subspan(i > 0 ? 0 : 1),
                  {{scratch_[Index(next)]}});
        sending_[Index(place * slices_ + slice)] = move;
      }
    }
    std::swap(sent_, sending_);
  }

  // Everyone's own chunk is there but for its own part. Written to `out` and,
  // if a gather follows, to the next one's at once.
  void LastSum(int step) {
    for (int slice = 0; slice < slices_; ++slice) {
      for (int place = 0; place < n_; ++place) {
        const int32_t p = At(place), next = At(place + 1);
        const uint32_t move = Begin(place, step);
        s_.AfterReady(p);
        s_.writer.After(Sent(place - 1, slice));
        const End to[] = {s_.Out(p), s_.Out(next)};
        AddPieces(s_.writer, Sliced(p, slice), {{scratch_[Index(p)], s_.In(p)}},
                  std::span<const End>(to).first(s_.gathers() ? 2 : 1));
        s_.Done(p, move);
        if (s_.gathers()) s_.Done(next, move);
        sending_[Index(place * slices_ + slice)] = move;
      }
    }
    std::swap(sent_, sending_);
  }

  // Everyone sends on the chunk that came; in step 0 its own, to its own `out`
  // as well.
  void GatherStep(int step, int i) {
    for (int place = 0; place < n_; ++place) {
      const int32_t p = At(place), next = At(place + 1);
      const uint32_t move = Begin(place, step);
      const End to[] = {s_.Out(next), s_.Out(p)};
      if (i == 0) {
        s_.AfterReady(p);
      } else {
        s_.writer.After(Sent(place - 1, 0));
        // The last sum was sent slice by slice.
        if (i == 1 && s_.scatters() && slices_ == 2) {
          s_.writer.After(Sent(place - 1, 1));
        }
      }
      const bool keep = i == 0 && s_.copies_own(p);
      AddPieces(s_.writer, parts_[At(place - i) * channels_ + channel_],
                {{i == 0 ? s_.In(p) : s_.Out(p)}},
                std::span<const End>(to).first(keep ? 2 : 1));
      s_.Done(next, move);
      if (keep) s_.Done(p, move);
      sending_[Index(place * slices_)] = move;
    }
    std::swap(sent_, sending_);
  }

  Stage& s_;
  int channel_, channels_, slices_, n_ = 0;
  const Chunks &parts_, &sliced_;  // by chunk and channel, (and slice)
  std::span<const End> scratch_;   // by position, in kTeam
  std::vector<int32_t> ring_;
  std::vector<uint32_t> sent_, sending_;  // of the last step: place and slice
};

}  // namespace

int ChannelsFor(const Team& team, int64_t longest) {
  return static_cast<int>(std::clamp<int64_t>(
      longest, 1, static_cast<int64_t>(team.cycles.size())));
}

int SlicesFor(int64_t longest, int channels) {
  return longest >= 2 * channels ? 2 : 1;
}

void Ring(Stage& stage) {
  const int n = stage.size();
  if (n == 1) return Alone(stage);
  const int channels = ChannelsFor(stage.team, stage.chunks.longest());
  const int slices =
      stage.scatters() ? SlicesFor(stage.chunks.longest(), channels) : 1;
  const Chunks parts = stage.chunks.Split(channels);
  const Chunks sliced = parts.Split(slices);
  std::vector<End> scratch;
  if (stage.scatters()) {
    for (int32_t p = 0; p < n; ++p) {
      scratch.push_back(stage.Scratch(p, stage.chunks.elements()));
    }
  }
  const int64_t moves =
      int64_t{channels} * n * n *
      ((stage.scatters() ? slices : 0) + (stage.gathers() ? 1 : 0));
  stage.writer.Reserve(moves, moves, 3 * moves);
  for (int c = 0; c < channels; ++c) {
    RingOfChannel(stage, c, channels, slices, parts, sliced, scratch).Run();
  }
  stage.step += n - 1 + (stage.scatters() ? (stage.gathers() ? n - 1 : 1) : 0);
}

}  // namespace trnemu::plans
