// What the numbers of an operation are made of, and how that is known.
//
// The same decisions as docs/numerics.md, by operation. `mark` is that page's:
// documented, silicon, observed, derived, inferred, fitted or assumed.
#ifndef TRNEMU_FRONTEND_CLI_NOTES_H_
#define TRNEMU_FRONTEND_CLI_NOTES_H_

#include <span>
#include <string_view>
#include <vector>

namespace trnemu::cli {

struct Note {
  std::string_view operations;  // names, a space between
  std::string_view text;
  std::string_view mark;
  std::string_view source;       // a document, or "" where none speaks of it
  std::string_view choice = "";  // --numerics KEY=VALUE|VALUE
};

// By subject, one list a file.
std::span<const Note> NotesOfArithmetic();
std::span<const Note> NotesOfTensorEngine();
std::span<const Note> NotesOfVectorEngine();
std::span<const Note> NotesOfMoves();
std::span<const Note> NotesOfCollectives();

std::vector<const Note*> NotesOf(std::string_view operation);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_NOTES_H_
