#include "collectives/mesh.h"

namespace trnemu::plans {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

class MeshOfTeam {
 public:
  explicit MeshOfTeam(Stage& stage)
      : s_(stage), chips_(stage.team.num_chips()) {
    for (const auto& chip : s_.team.chips) shared_ |= chip.size() > 1;
  }

  void Run() {
    if (s_.scatters()) {
      if (chips_ > 1) {
        ScatterToChips();
      } else {
        ScatterOnChip();
      }
    }
    if (!s_.gathers()) return;
    if (chips_ > 1) {
      GatherToChips();
      if (shared_) GatherOnChips();
    } else {
      GatherOnChip();
    }
  }

 private:
  std::span<const int32_t> Chip(int chip) const {
    return s_.team.chips[Index(chip)];
  }
  int32_t Taking(int chip, int turn) const {
    return Chip(chip)[Index(turn) % Chip(chip).size()];
  }
  // Where a position's own chunk is when the gather starts, and since when.
  const End& Own(int32_t p) const {
    return s_.goal == Goal::kReduce ? s_.Out(p) : s_.In(p);
  }
  void AfterOwn(int32_t p) {
    if (s_.goal == Goal::kReduce) {
      s_.writer.After(sum_[Index(p)]);
    } else {
      s_.AfterReady(p);
    }
  }
  bool CopiesOwn(int32_t p) const {
    return s_.goal == Goal::kGather && s_.copies_own(p);
  }
  std::vector<End> InOf(std::span<const int32_t> positions) const {
    std::vector<End> ends;
    for (int32_t p : positions) ends.push_back(s_.In(p));
    return ends;
  }

  // The one step on a single chip: each reads what is its own from all.
  void ScatterOnChip() {
    const std::vector<End> from = InOf(Chip(0));
    sum_.resize(Index(s_.size()));
    for (int32_t p : Chip(0)) {
      sum_[Index(p)] = s_.Begin(p, s_.step);
      for (int32_t peer : Chip(0)) s_.AfterReady(peer);
      AddPieces(s_.writer, s_.chunks[p], from, {{s_.Out(p)}});
      s_.Done(p, sum_[Index(p)]);
    }
    ++s_.step;
  }

  // Each chip adds up its part of every chunk and sends it to the chunk's
  // owner, its ranks taking turns; the owner adds up what the chips sent.
  void ScatterToChips() {
    partial_.resize(Index(s_.size() * chips_));
    came_.resize(Index(s_.size()));
    for (int32_t p = 0; p < s_.size(); ++p) {
      for (int chip = 0; chip < chips_; ++chip) {
        const bool own = chip == s_.team.chip_of[Index(p)];
        Partial(p, chip) =
            own && Chip(chip).size() == 1
                ? s_.In(p)
                : s_.Scratch(p, s_.chunks.Elements(p), s_.chunks.Start(p));
      }
    }
    std::vector<int> turn(Index(chips_));
    for (int distance = 0; distance < chips_; ++distance) {
      for (int chip = 0; chip < chips_; ++chip) {
        SendPartials(chip, (chip + distance) % chips_, turn[Index(chip)]);
      }
    }
    AddPartials();
    s_.step += 2;
  }

  void SendPartials(int chip, int to, int& turn) {
    if (to == chip && Chip(chip).size() == 1) return;
    const std::vector<End> from = InOf(Chip(chip));
    for (int32_t p : Chip(to)) {
      const uint32_t move =
          s_.Begin(to == chip ? p : Taking(chip, turn++), s_.step);
      for (int32_t peer : Chip(chip)) s_.AfterReady(peer);
      AddPieces(s_.writer, s_.chunks[p], from, {{Partial(p, chip)}});
      came_[Index(p)].push_back(move);
    }
  }

  void AddPartials() {
    sum_.resize(Index(s_.size()));
    for (int32_t p = 0; p < s_.size(); ++p) {
      sum_[Index(p)] = s_.Begin(p, s_.step + 1);
      s_.writer.After(came_[Index(p)]);
      s_.AfterReady(p);
      AddPieces(s_.writer, s_.chunks[p],
                std::span(partial_).subspan(Index(p * chips_), Index(chips_)),
                {{s_.Out(p)}});
      s_.Done(p, sum_[Index(p)]);
    }
  }

  void GatherOnChip() {
    for (int32_t p : Chip(0)) {
      const uint32_t move = s_.Begin(p, s_.step);
      AfterOwn(p);
      AddOwn(p, move);
      for (int32_t peer : Chip(0)) {
        if (peer != p || CopiesOwn(p)) s_.Done(peer, move);
      }
    }
    ++s_.step;
  }

  void AddOwn(int32_t p, uint32_t move) {
    if (s_.goal == Goal::kReduce) {
      AddToChip(s_, p, {{p}});
    } else {
      AddOwnToChip(s_, p, move);
    }
  }

  // One rank of a chip reads the chunks of all of them and writes them to one
  // rank of another chip; both take turns.
  void GatherToChips() {
    came_.assign(Index(s_.size()), {});
    came_from_.assign(Index(s_.size()), {});
    read_.assign(Index(chips_), {});
    for (int distance = 1; distance < chips_; ++distance) {
      for (int chip = 0; chip < chips_; ++chip) {
        const int to = (chip + distance) % chips_;
        const int32_t receiver = Taking(to, distance);
        const uint32_t move = s_.Begin(Taking(chip, distance), s_.step);
        for (int32_t p : Chip(chip)) {
          AfterOwn(p);
          AddPieces(s_.writer, s_.chunks[p], {{Own(p)}}, {{s_.Out(receiver)}});
        }
        came_[Index(receiver)].push_back(move);
        came_from_[Index(receiver)].push_back(chip);
        read_[Index(chip)].push_back(move);
        s_.Done(receiver, move);
      }
    }
    for (int chip = 0; chip < chips_; ++chip) {
      if (Chip(chip).size() == 1) KeepOwn(Chip(chip)[0], chip);
    }
    ++s_.step;
  }

  void KeepOwn(int32_t p, int chip) {
    if (!CopiesOwn(p)) return;
    const uint32_t move = s_.Begin(p, s_.step);
    s_.AfterReady(p);
    if (s_.in_place) s_.writer.After(read_[Index(chip)]);
    AddPieces(s_.writer, s_.chunks[p], {{s_.In(p)}}, {{s_.Out(p)}});
    s_.Done(p, move);
  }

  // Each sends what it got, and its own, to the others of its chip.
  void GatherOnChips() {
    for (int chip = 0; chip < chips_; ++chip) {
      if (Chip(chip).size() == 1) continue;
      for (int32_t p : Chip(chip)) {
        const uint32_t move = s_.Begin(p, s_.step);
        AfterOwn(p);
        s_.writer.After(came_[Index(p)]);
        if (s_.in_place && CopiesOwn(p)) s_.writer.After(read_[Index(chip)]);
        for (int from : came_from_[Index(p)]) AddToChip(s_, p, Chip(from));
        AddOwn(p, move);
        for (int32_t peer : Chip(chip)) {
          if (peer != p || CopiesOwn(p)) s_.Done(peer, move);
        }
      }
    }
    ++s_.step;
  }

  End& Partial(int32_t p, int chip) {
    return partial_[Index(p * chips_ + chip)];
  }

  Stage& s_;
  int chips_;
  bool shared_ = false;        // a chip has several members
  std::vector<End> partial_;   // by position and chip
  std::vector<uint32_t> sum_;  // by position: the move that makes its chunk
  // By position: moves of the first step that arrive there, and the chips whose
  // chunks they bring; by chip: those that read its members.
  std::vector<std::vector<uint32_t>> came_, read_;
  std::vector<std::vector<int>> came_from_;
};

}  // namespace

void AddToChip(Stage& stage, int32_t p, std::span<const int32_t> chunks) {
  std::vector<End> to;
  for (int32_t peer : stage.team.chips[Index(stage.team.chip_of[Index(p)])]) {
    if (peer != p) to.push_back(stage.Out(peer));
  }
  for (int32_t chunk : chunks) {
    AddBroadcast(stage.writer, stage.chunks[chunk], stage.Out(p), to);
  }
}

void AddOwnToChip(Stage& stage, int32_t p, uint32_t move) {
  std::vector<End> to;
  const bool keep = stage.copies_own(p);
  if (keep && !stage.in_place) to.push_back(stage.Out(p));
  for (int32_t peer : stage.team.chips[Index(stage.team.chip_of[Index(p)])]) {
    if (peer != p) to.push_back(stage.Out(peer));
  }
  AddBroadcast(stage.writer, stage.chunks[p], stage.In(p), to);
  if (!keep || !stage.in_place) return;
  stage.Done(p, stage.Begin(p, stage.step));
  stage.writer.After(move);
  AddPieces(stage.writer, stage.chunks[p], {{stage.In(p)}}, {{stage.Out(p)}});
}

void Mesh(Stage& stage) {
  if (stage.size() == 1) return Alone(stage);
  MeshOfTeam(stage).Run();
}

void SingleStepMesh(Stage& stage) {
  const int n = stage.size();
  if (n == 1) return Alone(stage);
  std::vector<int32_t> all(Index(n));
  for (int32_t p = 0; p < n; ++p) all[Index(p)] = p;
  const Chunks whole = stage.chunks.Joined({{all}});
  std::vector<End> copy(Index(n * n));  // by receiver and sender
  for (int32_t p = 0; p < n; ++p) {
    for (int32_t from = 0; from < n; ++from) {
      copy[Index(p * n + from)] =
          from == p ? stage.In(p) : stage.Scratch(p, whole.elements());
    }
  }
  std::vector<uint32_t> sent;
  for (int32_t p = 0; p < n; ++p) {
    sent.push_back(stage.Begin(p, stage.step));
    stage.AfterReady(p);
    std::vector<End> to;
    for (int i = 1; i < n; ++i) {
      to.push_back(copy[Index((p + i) % n * n + p)]);
    }
    AddBroadcast(stage.writer, whole[0], stage.In(p), to);
  }
  for (int32_t p = 0; p < n; ++p) {
    const uint32_t move = stage.Begin(p, stage.step + 1);
    stage.writer.After(sent);
    AddPieces(stage.writer, whole[0],
              std::span(copy).subspan(Index(p * n), Index(n)),
              {{stage.Out(p)}});
    stage.Done(p, move);
  }
  stage.step += 2;
}

}  // namespace trnemu::plans
