#include "frontend/cli/notes.h"

#include <algorithm>

namespace trnemu::cli {
namespace {

bool Names(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

std::vector<const Note*> NotesOf(std::string_view operation) {
  std::vector<const Note*> found;
  for (const auto list :
       {NotesOfTensorEngine(), NotesOfVectorEngine(), NotesOfMoves(),
        NotesOfCollectives(), NotesOfArithmetic()}) {
    for (const Note& note : list) {
      if (Names(note.operations, operation)) found.push_back(&note);
    }
  }
  return found;
}

}  // namespace trnemu::cli
