// What the files of the hardware description's reader share.
#ifndef TRNEMU_ISA_HARDWARE_INTERNAL_H_
#define TRNEMU_ISA_HARDWARE_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "isa/hardware.h"
#include "isa/hardware.pb.h"

namespace trnemu::hardware {

using PbConstant = pb::Hardware::Constant;
using PbFeature = pb::Hardware::Feature;
using PbLaw = pb::Hardware::CostLaw;

// The opcode of a table load, which programs do not spell: the scalar engine
// does it when an activation needs another table.
inline constexpr std::string_view kTableLoad = "LoadActivationTable";

// Debian's Abseil has a string_view of its own.
inline absl::string_view Piece(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}
inline absl::AlphaNum Piece(double value) { return value; }
inline absl::AlphaNum Piece(int64_t value) { return value; }
inline absl::AlphaNum Piece(int value) { return value; }

template <typename... Parts>
std::string Join(const Parts&... parts) {
  return absl::StrCat(Piece(parts)...);
}
template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Piece(Join(parts...)));
}

// Refuses what is not text format of the description `out` is, of hardware or
// of a system, with the path.
absl::Status Parse(std::string_view text, google::protobuf::Message& out);
// Refuses what is incomplete, and lists the constants; of either.
absl::Status CheckComplete(const google::protobuf::Message& in,
                           std::vector<ConstantInfo>& constants);
// Reads a complete description into `out`, whose constants are not set.
absl::Status Read(const pb::Hardware& in, Hardware& out);
// Refuses values that make no sense together, before and after reading.
absl::Status CheckValues(const pb::Hardware& in);
absl::Status CheckTogether(const Hardware& hardware);

}  // namespace trnemu::hardware

#endif  // TRNEMU_ISA_HARDWARE_INTERNAL_H_
