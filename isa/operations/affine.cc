// iota and affine_select.
#include <algorithm>
#include <limits>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

// More elements than a partition holds bytes, on every generation.
constexpr int64_t kMostFreeElements = 1 << 20;

// 0 where a count is out of range, so that nothing overflows.
int64_t PatternSize(const Value& pattern) {
  int64_t size = 1;
  for (const Dim& d : pattern.access.active_dims()) {
    if (d.count < 1 || d.count > kMostFreeElements) return 0;
    size = std::min(size * d.count, kMostFreeElements + 1);
  }
  return size;
}

bool IsInt32(const Value& v) {
  return v.integer >= std::numeric_limits<int32_t>::min() &&
         v.integer <= std::numeric_limits<int32_t>::max();
}

namespace io {
enum { kDst, kPattern, kOffset, kChannelMultiplier, kName };
}

constexpr ParameterSpec kIotaParameters[] = {
    Out("dst", kSbufOnly, kAnyType, "[P, product of the pattern's counts]"),
    Attr("pattern", ParameterKind::kPattern,
         "[[step, count], ...], outermost first, up to four"),
    Opt("offset", ParameterKind::kInteger, "0", "int32, the base"),
    Opt("channel_multiplier", ParameterKind::kInteger, "0",
        "int32, added once per partition"),
    kNameParameter};

bool PatternLengthFits(const Value& pattern) {
  return pattern.access.rank >= 1 && pattern.access.rank <= 4;
}
// Steps are int32; counts are at least 1 and, as access patterns', 16 bits.
bool PatternValuesFit(const Value& pattern) {
  for (const Dim& d : pattern.access.active_dims()) {
    if (d.step < std::numeric_limits<int32_t>::min() ||
        d.step > std::numeric_limits<int32_t>::max() || d.count < 1 ||
        d.count > kMostFreeElements) {
      return false;
    }
  }
  return true;
}

constexpr Rule kIotaRules[] = {
    {"iota.pattern_length", "1 <= len(pattern) <= 4",
     "nki/api/nki/isa/__init__.py:1714",
     [](const Call& c) { return PatternLengthFits(c[io::kPattern]); },
     "pattern",
     "pattern must have 1 to 4 [step, count] pairs, but it is "
     "{value:pattern}"},
    {"iota.pattern_values",
     "all(is_int32_const(s) and 1 <= n <= 2 ** 20 for s, n in pattern)",
     "nki/api/nki/isa/__init__.py:1714",
     [](const Call& c) { return PatternValuesFit(c[io::kPattern]); }, "pattern",
     "steps of pattern are int32 and counts at least 1, but it is "
     "{value:pattern}",
     "", Layer::kDevice, Evidence::kInferred},
    {"iota.pattern_size", "prod((n for s, n in pattern)) == F(dst)",
     "nki/api/nki/isa/__init__.py:1756",
     [](const Call& c) {
       return PatternSize(c[io::kPattern]) == F(c[io::kDst]);
     },
     "pattern",
     "the counts of pattern {value:pattern} must multiply to dst's free size "
     "of {F:dst}"},
    {"iota.int32", "is_int32_const(channel_multiplier)",
     "nki/api/nki/isa/__init__.py:1761",
     [](const Call& c) {
       return IsInt32(c[io::kChannelMultiplier]) && IsInt32(c[io::kOffset]);
     },
     "channel_multiplier",
     "offset and channel_multiplier must fit int32, but they are "
     "{value:offset} and {value:channel_multiplier}"},
};

namespace as {
enum {
  kDst,
  kPattern,
  kChannelMultiplier,
  kOnTrueTile,
  kOnFalseValue,
  kCmpOp,
  kOffset,
  kName
};
}

constexpr ParameterSpec kSelectParameters[] = {
    Out("dst", kSbufOnly, kAnyType, "[P, product of the pattern's counts]"),
    Attr("pattern", ParameterKind::kPattern,
         "[[step, count], ...], outermost first, up to four"),
    Attr("channel_multiplier", ParameterKind::kInteger,
         "int32, added once per partition"),
    In("on_true_tile", kSbufOnly, kAnyType, "as many elements as dst"),
    Attr("on_false_value", ParameterKind::kNumber, "float32"),
    Opt("cmp_op", ParameterKind::kAluOp, "equal",
        "how the affine value compares with 0"),
    Opt("offset", ParameterKind::kInteger, "0", "int32, the base"),
    kNameParameter};

constexpr Rule kSelectRules[] = {
    {"affine_select.pattern_length", "1 <= len(pattern) <= 4",
     "nki/api/nki/isa/__init__.py:1772",
     [](const Call& c) { return PatternLengthFits(c[as::kPattern]); },
     "pattern",
     "pattern must have 1 to 4 [step, count] pairs, but it is "
     "{value:pattern}"},
    {"affine_select.pattern_values",
     "all(is_int32_const(s) and 1 <= n <= 2 ** 20 for s, n in pattern)",
     "nki/api/nki/isa/__init__.py:1772",
     [](const Call& c) { return PatternValuesFit(c[as::kPattern]); }, "pattern",
     "steps of pattern are int32 and counts at least 1, but it is "
     "{value:pattern}",
     "", Layer::kDevice, Evidence::kInferred},
    {"affine_select.partitions", "P(dst) == P(on_true_tile) and P(dst) <= 128",
     "nki/api/nki/isa/__init__.py:1823",
     [](const Call& c) { return P(c[as::kDst]) == P(c[as::kOnTrueTile]); },
     "on_true_tile",
     "on_true_tile must have the partitions of dst, but it has "
     "{P:on_true_tile} and dst {P:dst}"},
    {"affine_select.pattern_size",
     "prod((n for s, n in pattern)) == F(dst) and F(dst) == F(on_true_tile)",
     "nki/api/nki/isa/__init__.py:1826",
     [](const Call& c) {
       return PatternSize(c[as::kPattern]) == F(c[as::kDst]) &&
              F(c[as::kDst]) == F(c[as::kOnTrueTile]);
     },
     "pattern",
     "the counts of pattern {value:pattern} must multiply to the free size of "
     "dst ({F:dst}) and of on_true_tile ({F:on_true_tile})"},
    {"affine_select.int32",
     "is_int32_const(offset) and is_int32_const(channel_multiplier)",
     "nki/api/nki/isa/__init__.py:1832",
     [](const Call& c) {
       return IsInt32(c[as::kOffset]) && IsInt32(c[as::kChannelMultiplier]);
     },
     "offset",
     "offset and channel_multiplier must fit int32, but they are "
     "{value:offset} and {value:channel_multiplier}"},
    {"affine_select.cmp_op", "cmp_op in ALU_CMP",
     "nki/api/nki/isa/__init__.py:1835",
     [](const Call& c) { return IsCompare(Alu(c[as::kCmpOp])); }, "cmp_op",
     "cmp_op must be a comparison, but it is {value:cmp_op}"},
    {"affine_select.on_false_type", "type_is_float(on_false_value)",
     "nki/api/nki/isa/__init__.py:1813",
     [](const Call& c) { return !c[as::kOnFalseValue].is_integer; },
     "on_false_value",
     "on_false_value must be written as a float, but it is "
     "{value:on_false_value}",
     "", Layer::kApi, Evidence::kDocumented, Severity::kError,
     Category::kIllegal, false},
};

// The device has >, >=, == and != (spec/decisions.md): a < 0 is ~a >= 0, and
// a <= 0 is -a >= 0, in int32 that wraps. Both keep or turn every step.
struct Comparison {
  AluOp op;
  int64_t sign;
  int64_t extra;  // added to the offset
};
Comparison DeviceComparison(AluOp op) {
  if (op == AluOp::kLess) return {AluOp::kGreaterEqual, -1, -1};
  if (op == AluOp::kLessEqual) return {AluOp::kGreaterEqual, -1, 0};
  return {op, 1, 0};
}

int64_t WrapToInt32(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}

void ExpandSelect(const Call& c, Emitter& e) {
  const Comparison cmp = DeviceComparison(Alu(c[as::kCmpOp]));
  Operand pattern = OperandOf(c[as::kPattern]);
  for (Dim& d : pattern.access.dims) d.step = WrapToInt32(cmp.sign * d.step);
  const int64_t multiplier =
      WrapToInt32(cmp.sign * c[as::kChannelMultiplier].integer);
  const int64_t offset =
      WrapToInt32(cmp.sign * c[as::kOffset].integer + cmp.extra);
  EmitOne(c, e, Opcode::kAffineSelect,
          {OperandOf(c[as::kDst]), pattern, OperandOf(c[as::kOnTrueTile])},
          {Int(multiplier), Attribute::Real(c[as::kOnFalseValue].number),
           AttributeOf(cmp.op), Int(offset)});
}

}  // namespace

const OperationInfo kIota = {
    "iota",
    kIotaParameters,
    kIotaRules,
    [](const Call&, Engine) { return Engine::kGpsimd; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kIota,
              {OperandOf(c[io::kDst]), OperandOf(c[io::kPattern])},
              {Int(c[io::kOffset].integer),
               Int(c[io::kChannelMultiplier].integer)});
    },
    nullptr,
    "Affine index values.",
    "dst[p, w, z, y, x] = offset + p * channel_multiplier + w * step_w + ... "
    "in "
    "int32 that wraps, then cast to dst; p counts from the tile's first "
    "partition.",
    "nki/api/nki/isa/__init__.py:1708-1762"};

const OperationInfo kAffineSelect = {
    "affine_select",
    kSelectParameters,
    kSelectRules,
    [](const Call&, Engine) { return Engine::kGpsimd; },
    ExpandSelect,
    nullptr,
    "Keeps elements where an affine value compares with 0, else a constant.",
    "dst = on_true_tile where (offset + p * channel_multiplier + w * step_w + "
    "...) cmp_op 0, else on_false_value; int32 that wraps.",
    "nki/api/nki/isa/__init__.py:1764-1836"};

}  // namespace trnemu::rows
