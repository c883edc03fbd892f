// What a hardware description changes of the one built in.
#ifndef TRNEMU_ISA_HARDWARE_DIFF_H_
#define TRNEMU_ISA_HARDWARE_DIFF_H_

#include <optional>
#include <string>
#include <vector>

#include "isa/hardware.h"

namespace trnemu {

// One constant. A value that is not there: nothing.
struct HardwareChange {
  std::string path;  // as `trnemu info` prints it
  std::optional<double> stock, value;
  std::string unit;
  // Nothing that a run computes depends on it: why. Empty: it does.
  std::string no_effect;
};
// In the order of the description; those that are gone come last. Constants of
// equal paths are told apart by their order. Sources and notes do not count.
std::vector<HardwareChange> ChangesFromStock(const Hardware& hardware);
// "memory.hbm_bandwidth 3000 -> 6000 B/ns", and whether that has no effect.
std::string Text(const HardwareChange& change);
// "1 constant differs from the built-in one:" and a line for each, 12 at most,
// that many spaces in; "as the built-in one" without changes. Ends with a
// newline.
std::string ChangesText(const std::vector<HardwareChange>& changes,
                        size_t indent);

}  // namespace trnemu

#endif  // TRNEMU_ISA_HARDWARE_DIFF_H_
