// What the pictures share.
#ifndef TRNEMU_ISA_SVG_H_
#define TRNEMU_ISA_SVG_H_

#include <string>
#include <string_view>

namespace trnemu {

// Text as it may stand in an SVG's element or attribute. Control characters,
// which XML does not have, become spaces.
std::string EscapedForSvg(std::string_view text);

}  // namespace trnemu

#endif  // TRNEMU_ISA_SVG_H_
