#include "collectives/broadcast.h"

#include <algorithm>

#include "collectives/ring.h"

namespace trnemu::plans {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

Chunks Whole(const Problem& problem) {
  Chunks out;
  out.Add({problem.elements(), {0, 0, 0}, 0});
  out.Close();
  return out;
}

End At(int32_t member, Buffer buffer) {
  return {member, buffer, Count::kFull, 0};
}

// Position of the root.
int32_t RootOf(const Problem& problem, const Team& team) {
  return static_cast<int32_t>(
      std::find(team.member.begin(), team.member.end(), problem.root) -
      team.member.begin());
}

void SendOnChip(const Team& team, int32_t p, const End& from,
                std::span<const Extent> extents, PlanWriter& writer) {
  std::vector<End> to;
  for (int32_t peer : team.chips[Index(team.chip_of[Index(p)])]) {
    if (peer != p) to.push_back(At(team.member[Index(peer)], Buffer::kDst));
  }
  AddBroadcast(writer, extents, from, to);
}

void SendAlong(std::span<const int32_t> members, const Chunks& slices,
               int first_slice, int num_slices, int channel, int channels,
               PlanWriter& writer) {
  const int n = static_cast<int>(members.size());
  for (int slice = 0; slice < num_slices; ++slice) {
    uint32_t before = 0;
    for (int place = 0; place < std::max(n - 1, 1); ++place) {
      const int32_t m = members[Index(place)];
      const uint32_t move = writer.Begin(m, channel, channels, slice + place);
      if (place > 0) writer.After(before);
      before = move;
      std::vector<End> to;
      if (place == 0) to.push_back(At(m, Buffer::kDst));
      if (n > 1) to.push_back(At(members[Index(place + 1)], Buffer::kDst));
      AddPieces(writer, slices[first_slice + slice],
                {{At(m, place == 0 ? Buffer::kSrc : Buffer::kDst)}}, to);
    }
  }
}

}  // namespace

void BroadcastMesh(const Problem& problem, const Team& team,
                   PlanWriter& writer) {
  const Chunks whole = Whole(problem);
  const int32_t root = RootOf(problem, team);
  const int home = team.chip_of[Index(root)], chips = team.num_chips();
  const End src = At(problem.root, Buffer::kSrc);
  std::vector<std::pair<int32_t, uint32_t>> got;
  std::vector<uint32_t> sent;
  for (int distance = 1; distance < chips; ++distance) {
    const auto& chip = team.chips[Index((home + distance) % chips)];
    const int32_t p = chip[Index(distance) % chip.size()];
    sent.push_back(writer.Begin(problem.root, 0, 1, 0));
    AddPieces(writer, whole[0], {{src}},
              {{At(team.member[Index(p)], Buffer::kDst)}});
    if (chip.size() > 1) got.emplace_back(p, sent.back());
  }
  if (team.chips[Index(home)].size() > 1) {
    sent.push_back(writer.Begin(problem.root, 0, 1, 0));
    SendOnChip(team, root, src, whole[0], writer);
  }
  writer.Begin(problem.root, 0, 1, 0);
  if (problem.in_place) writer.After(sent);
  AddPieces(writer, whole[0], {{src}}, {{At(problem.root, Buffer::kDst)}});
  for (const auto& [p, move] : got) {
    const int32_t m = team.member[Index(p)];
    writer.Begin(m, 0, 1, 1);
    writer.After(move);
    SendOnChip(team, p, At(m, Buffer::kDst), whole[0], writer);
  }
}

void BroadcastRing(const Problem& problem, const Team& team,
                   PlanWriter& writer) {
  const Chunks whole = Whole(problem);
  const int channels = ChannelsFor(team, whole.longest());
  const int num_slices = static_cast<int>(
      std::clamp<int64_t>(whole.longest() / channels, 1, team.size()));
  const Chunks slices = whole.Split(channels).Split(num_slices);
  const int32_t root = RootOf(problem, team);
  for (int c = 0; c < channels; ++c) {
    std::vector<int32_t> ring;
    for (int32_t chip : team.cycles[Index(c)]) {
      const auto& on_chip = team.chips[Index(chip)];
      ring.insert(ring.end(), on_chip.begin(), on_chip.end());
    }
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), root),
                ring.end());
    std::vector<int32_t> members;
    for (int32_t p : ring) members.push_back(team.member[Index(p)]);
    SendAlong(members, slices, c * num_slices, num_slices, c, channels, writer);
  }
}

}  // namespace trnemu::plans
