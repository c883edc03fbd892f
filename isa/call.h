// One use of an operation: its arguments, bound to the parameters of its row.
//
// A Call is made by the builder from what the author wrote, or lifted from the
// instructions of a program; rules and expansions see only Calls.
#ifndef TRNEMU_ISA_CALL_H_
#define TRNEMU_ISA_CALL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "isa/access.h"
#include "isa/hardware.h"
#include "isa/program.h"
#include "isa/vocabulary.h"

namespace trnemu {

inline constexpr int kMaxParameters = 24;
inline constexpr int kMaxInts = 4;

// An argument. Which member counts follows from the kind.
struct Value {
  enum class Kind : uint8_t {
    kNone,      // not given, or None
    kAccess,    // a tile or HBM view
    kNumber,    // number; is_integer says how it was written
    kBool,      // integer 0 or 1
    kEnum,      // integer, of the parameter's vocabulary
    kPattern,   // access.rank and access.dims
    kInts,      // ints[0 .. num_ints)
    kMask,      // num_ints lanes, eight to each of ints
    kRegister,  // integer
  };
  Kind kind = Kind::kNone;
  bool is_integer = false;
  uint8_t num_ints = 0;
  bool counted = false;  // of kScales: num_ints is how many were given
  int8_t core = -1;      // kRegister: whose it is; -1: the current core's
  int64_t integer = 0;
  double number = 0;
  std::array<int64_t, kMaxInts> ints{};
  Access access;
  // Of an argument that the builder has yet to enter into its core's pool.
  std::shared_ptr<const Indirection> indirection;

  bool is_none() const { return kind == Kind::kNone; }
  bool is_tile() const { return kind == Kind::kAccess; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool boolean() const { return integer != 0; }
  template <typename Enum>
  Enum as() const {
    return static_cast<Enum>(integer);
  }

  static Value None() { return {}; }
  static Value Of(const Access& access);
  static Value Number(double number);
  static Value Integer(int64_t integer);
  static Value Bool(bool value);
  template <typename Enum>
  static Value OfEnum(Enum value) {
    Value v;
    v.kind = Kind::kEnum;
    v.integer = static_cast<int64_t>(value);
    return v;
  }
  static Value Pattern(std::span<const Dim> dims);
  static Value Ints(std::span<const int64_t> ints);
  static Value Register(uint32_t number);
  // Lanes 0 to 255; what does not fit a byte becomes 254, which no mask has.
  static Value Mask(std::span<const int64_t> lanes);
  int64_t lane(int i) const { return ints[i / 8] >> (i % 8 * 8) & 0xff; }
};

// The argument that a view is, with its indirection. `keep_dims` as for a
// parameter that asks for it.
absl::StatusOr<Value> ToValue(const View& view, bool keep_dims = false);
// The same into `value`.
absl::Status SetTile(const View& view, bool keep_dims, Value& value);

struct OperationInfo;
struct CallForm;

struct Call {
  const OperationInfo* operation = nullptr;
  const CallForm* form = nullptr;  // of one that is being made
  const Hardware* hardware = nullptr;
  const Program* program = nullptr;  // for the tensors' addresses
  // The one that executes it; for the operands' indirections.
  const CoreProgram* core = nullptr;
  std::array<Value, kMaxParameters> values;
  Engine engine = Engine::kUnknown;  // the one that runs it, resolved
  // DMA: where it is queued.
  uint32_t queue_set = 0;
  // nc_transpose on the tensor engine: the identity it multiplies with.
  Value identity;

  const Value& operator[](int parameter) const { return values[parameter]; }
  int gen() const { return static_cast<int>(hardware->generation); }
  // Null if the argument is static, or no tile.
  const Indirection* IndirectionOf(const Value& v) const {
    return v.is_tile() && v.access.is_dynamic() ? core->IndirectionOf(v.access)
                                                : nullptr;
  }
};

// The functions of the constraint language (spec/isa_vocab.json), by name.
inline int64_t P(const Value& v) {
  return v.access.on_chip() ? v.access.partitions : v.access.dims[0].count;
}
inline int64_t F(const Value& v) { return v.access.free_size(); }
inline Dtype Dt(const Value& v) { return v.access.dtype; }
inline Space Buf(const Value& v) { return v.access.space; }
// Absolute start partition of an on-chip operand.
int64_t StartPartition(const Call& call, const Value& v);
// Absolute byte in the partition of the first element's tile start plus the
// operand's offset. Tiles without an address count from 0.
int64_t ByteAddress(const Call& call, const Value& v);
// PSUM banks that the operand spans in one partition.
int64_t PsumBanks(const Call& call, const Value& v);
// A view with a vector_offset, with a scalar_offset, made by indirect().
inline bool VecOff(const Call& call, const Value& v) {
  const Indirection* i = call.IndirectionOf(v);
  return i != nullptr && i->kind == IndirectionKind::kVector;
}
inline bool SclOff(const Call& call, const Value& v) {
  const Indirection* i = call.IndirectionOf(v);
  return i != nullptr && i->is_scalar();
}
inline bool Ti(const Call& call, const Value& v) {
  const Indirection* i = call.IndirectionOf(v);
  return i != nullptr && i->kind == IndirectionKind::kTensor;
}
// Absolute start partition of the index tile; -1 if there is none.
int64_t StartOfIndex(const Call& call, const Value& v);

}  // namespace trnemu

#endif  // TRNEMU_ISA_CALL_H_
