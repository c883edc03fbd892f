#include "collectives/stage.h"

#include <algorithm>
#include <array>

namespace trnemu::plans {

void AddPieces(PlanWriter& writer, std::span<const Extent> extents,
               std::span<const End> sources,
               std::span<const End> destinations) {
  static constexpr Extent kNothing[] = {{}};
  if (extents.empty()) extents = kNothing;
  std::array<Place, 2> to;
  std::array<Place, 8> few;
  std::vector<Place> many(sources.size() > few.size() ? sources.size() : 0);
  const std::span<Place> from =
      many.empty() ? std::span<Place>(few).first(sources.size()) : many;
  for (const Extent& e : extents) {
    for (size_t i = 0; i < from.size(); ++i) from[i] = sources[i].At(e);
    for (size_t i = 0; i < destinations.size(); ++i) {
      to[i] = destinations[i].At(e);
    }
    writer.AddPiece(e.elements, from,
                    std::span<Place>(to).first(destinations.size()));
  }
}

void AddBroadcast(PlanWriter& writer, std::span<const Extent> extents,
                  const End& source, std::span<const End> destinations) {
  while (!destinations.empty()) {
    const size_t n = std::min<size_t>(2, destinations.size());
    AddPieces(writer, extents, std::span(&source, 1), destinations.first(n));
    destinations = destinations.subspan(n);
  }
}

void Alone(Stage& stage) {
  if (!stage.copies_own(0)) {
    if (stage.want_done && !stage.ready.empty()) stage.done = stage.ready;
    return;
  }
  const uint32_t move = stage.Begin(0, stage.step++);
  stage.AfterReady(0);
  AddPieces(stage.writer, stage.chunks[0], {{stage.In(0)}}, {{stage.Out(0)}});
  stage.Done(0, move);
}

}  // namespace trnemu::plans
