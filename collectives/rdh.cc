#include "collectives/rdh.h"

#include <utility>

#include "collectives/mesh.h"

namespace trnemu::plans {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

class RdhOfTeam {
 public:
  explicit RdhOfTeam(Stage& stage)
      : s_(stage),
        chips_(stage.team.num_chips()),
        locals_(static_cast<int>(stage.team.chips[0].size())),
        axes_(static_cast<int>(stage.team.axes.size())) {
    // A chip's list after each axis of a gather: what it had and what its
    // partner had. A scatter goes the other way.
    held_.resize(Index(axes_ + 1));
    for (int32_t c = 0; c < chips_; ++c) held_[0].push_back({c});
    for (int axis = 0; axis < axes_; ++axis) {
      for (int c = 0; c < chips_; ++c) {
        std::vector<int32_t> list = Held(axis, c);
        const auto& more = Held(axis, Partner(axis, c));
        list.insert(list.end(), more.begin(), more.end());
        held_[Index(axis + 1)].push_back(std::move(list));
      }
    }
    came_.resize(Index(s_.size()));
  }

  void Run() {
    if (s_.scatters()) Scatter();
    if (!s_.gathers()) return;
    for (int axis = s_.scatters() ? 1 : 0; axis < axes_; ++axis) Double(axis);
    if (locals_ > 1) GatherOnChips();
  }

 private:
  const std::vector<int32_t>& Held(int axis, int chip) const {
    return held_[Index(axis)][Index(chip)];
  }
  int32_t Partner(int axis, int chip) const {
    return s_.team.axes[Index(axis)][Index(chip)];
  }
  int32_t At(int chip, int local) const {
    return s_.team.chips[Index(chip)][Index(local)];
  }
  template <typename F>
  void ForEach(F f) {
    for (int chip = 0; chip < chips_; ++chip) {
      for (int local = 0; local < locals_; ++local) f(chip, local);
    }
  }

  // A place in scratch for a chunk of each of some chips' `local` members.
  struct Region {
    std::vector<End> of_chip;
  };
  Region MakeRegion(int32_t p, int local, std::span<const int32_t> of_chips) {
    Region r;
    r.of_chip.resize(Index(chips_));
    for (int32_t chip : of_chips) {
      const int32_t chunk = At(chip, local);
      r.of_chip[Index(chip)] =
          s_.Scratch(p, s_.chunks.Elements(chunk), s_.chunks.Start(chunk));
    }
    return r;
  }

  void Scatter() {
    partial_.resize(Index(s_.size()));
    latest_.resize(Index(s_.size()));
    if (locals_ > 1) SumOnChips();
    for (int axis = axes_ - 1; axis >= 0; --axis) Halve(axis);
    if (axes_ > 0) LastSum();
  }

  // Each member gets its chip's sums of the chunks of its place on all chips.
  void SumOnChips() {
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      if (axes_ > 0)
        partial_[Index(p)] = MakeRegion(p, local, Held(axes_, chip));
      const uint32_t move = s_.Begin(p, s_.step);
      std::vector<End> from;
      for (int i = 0; i < locals_; ++i) {
        s_.AfterReady(At(chip, i));
        from.push_back(s_.In(At(chip, i)));
      }
      for (int32_t of : Held(axes_, chip)) {
        AddPieces(
            s_.writer, s_.chunks[At(of, local)], from,
            {{axes_ > 0 ? partial_[Index(p)].of_chip[Index(of)] : s_.Out(p)}});
      }
      latest_[Index(p)] = {move};
      if (axes_ == 0) Came(p, move);
    });
    ++s_.step;
  }

  // Sources of a member's sum of a chunk: what it has and what came last.
  std::vector<End> SumOf(int32_t p, int of, bool first) {
    const auto& partial = partial_[Index(p)].of_chip;
    std::vector<End> from = {partial.empty() ? s_.In(p) : partial[Index(of)]};
    if (!first) from.push_back(received_[Index(p)].of_chip[Index(of)]);
    return from;
  }

  // Everyone sends its partner's half of what it has, reduced with what came
  // along the axis before, and reduces its own half in the same way.
  void Halve(int axis) {
    const bool first = axis == axes_ - 1;
    std::vector<Region> next(Index(s_.size()));
    std::vector<std::vector<uint32_t>> latest(Index(s_.size()));
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      next[Index(p)] = MakeRegion(p, local, Held(axis, chip));
    });
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      const int to = Partner(axis, chip);
      const uint32_t move = s_.Begin(p, s_.step);
      AfterLatest(p);
      for (int32_t of : Held(axis, to)) {
        AddPieces(s_.writer, s_.chunks[At(of, local)], SumOf(p, of, first),
                  {{next[Index(At(to, local))].of_chip[Index(of)]}});
      }
      latest[Index(At(to, local))].push_back(move);
    });
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      if (first) {
        for (uint32_t m : latest_[Index(p)]) latest[Index(p)].push_back(m);
      } else {
        latest[Index(p)].push_back(SumOwnHalf(axis, chip, local));
      }
    });
    received_ = std::move(next);
    latest_ = std::move(latest);
    ++s_.step;
  }

  uint32_t SumOwnHalf(int axis, int chip, int local) {
    const int32_t p = At(chip, local);
    const uint32_t move = s_.Begin(p, s_.step);
    AfterLatest(p);
    Region to = partial_[Index(p)];
    if (to.of_chip.empty()) to = MakeRegion(p, local, Held(axis, chip));
    for (int32_t of : Held(axis, chip)) {
      AddPieces(s_.writer, s_.chunks[At(of, local)], SumOf(p, of, false),
                {{to.of_chip[Index(of)]}});
    }
    partial_[Index(p)] = std::move(to);
    return move;
  }

  void AfterLatest(int32_t p) {
    s_.writer.After(latest_[Index(p)]);
    s_.AfterReady(p);
  }

  // A member's own chunk; to its partner of the first axis, too, if a gather
  // follows.
  void LastSum() {
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      const int32_t partner = At(Partner(0, chip), local);
      const uint32_t move = s_.Begin(p, s_.step);
      AfterLatest(p);
      const End to[] = {s_.Out(p), s_.Out(partner)};
      AddPieces(s_.writer, s_.chunks[p], SumOf(p, chip, false),
                std::span<const End>(to).first(s_.gathers() ? 2 : 1));
      Came(p, move);
      if (s_.gathers()) Came(partner, move);
    });
    ++s_.step;
  }

  void Came(int32_t p, uint32_t move) {
    came_[Index(p)].push_back(move);
    s_.Done(p, move);
  }

  void Double(int axis) {
    std::vector<std::pair<int32_t, uint32_t>> came;
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      const int32_t to = At(Partner(axis, chip), local);
      const uint32_t move = s_.Begin(p, s_.step);
      if (axis == 0) {
        s_.AfterReady(p);
        const End ends[] = {s_.Out(to), s_.Out(p)};
        const bool keep = s_.copies_own(p);
        AddPieces(s_.writer, s_.chunks[p], {{s_.In(p)}},
                  std::span<const End>(ends).first(keep ? 2 : 1));
        if (keep) came.emplace_back(p, move);
      } else {
        s_.AfterReady(p);
        s_.writer.After(came_[Index(p)]);
        for (int32_t of : Held(axis, chip)) {
          AddPieces(s_.writer, s_.chunks[At(of, local)], {{s_.Out(p)}},
                    {{s_.Out(to)}});
        }
      }
      came.emplace_back(to, move);
    });
    for (const auto& [p, move] : came) Came(p, move);
    ++s_.step;
  }

  void GatherOnChips() {
    ForEach([&](int chip, int local) {
      const int32_t p = At(chip, local);
      const uint32_t move = s_.Begin(p, s_.step);
      s_.AfterReady(p);
      s_.writer.After(came_[Index(p)]);
      if (axes_ == 0 && !s_.scatters()) {
        AddOwnToChip(s_, p, move);
      } else {
        std::vector<int32_t> chunks;
        for (int32_t of : Held(axes_, chip)) chunks.push_back(At(of, local));
        AddToChip(s_, p, chunks);
      }
      for (int i = 0; i < locals_; ++i) s_.Done(At(chip, i), move);
    });
    ++s_.step;
  }

  Stage& s_;
  int chips_, locals_, axes_;
  std::vector<std::vector<std::vector<int32_t>>> held_;  // by axis and chip
  // By position: its sums so far (none: still `in`), what came along the last
  // axis, the moves that made them; moves that brought final values.
  std::vector<Region> partial_, received_;
  std::vector<std::vector<uint32_t>> latest_, came_;
};

}  // namespace

void Rdh(Stage& stage) {
  if (stage.size() == 1) return Alone(stage);
  RdhOfTeam(stage).Run();
}

}  // namespace trnemu::plans
