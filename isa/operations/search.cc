// max8, nc_find_index8, nc_match_replace8.
#include <array>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

constexpr int64_t kValues = 8;
constexpr int64_t kFewestElements = 8;
constexpr int64_t kMostElements = 16384;
constexpr DtypeSet kIndexTypes = SetOf(Dtype::kUint16) | SetOf(Dtype::kUint32);

Engine OnVector(const Call&, Engine) { return Engine::kVector; }
int64_t Rank(const Value& v) { return v.access.rank + 1; }

bool HasEight(const Value& v, const Value& of) {
  return F(v) == kValues && P(v) == P(of);
}
bool Searchable(const Value& v) {
  return F(v) >= kFewestElements && F(v) <= kMostElements;
}

// ---- max8 ----

namespace mx {
enum { kDst, kSrc, kName };
}

constexpr ParameterSpec kMaxParameters[] = {
    Out("dst", kOnChip, kAnyType, "[P, 8], descending"),
    In("src", kOnChip, kAnyType, "[P, ...], 8 to 16384 elements"),
    kNameParameter,
};

constexpr Rule kMaxRules[] = {
    {"max8.free_size", "8 <= F(src) <= 16384",
     "nki/api/nki/isa/__init__.py:2423",
     [](const Call& c) { return Searchable(c[mx::kSrc]); }, "src",
     "src must have 8 to 16384 elements per partition, but it has {F:src}",
     "search parts, then the maxima of the parts"},
    {"max8.dst_shape", "P(dst) == P(src) and F(dst) == 8",
     "nki/api/nki/isa/__init__.py:2424",
     [](const Call& c) { return HasEight(c[mx::kDst], c[mx::kSrc]); }, "dst",
     "dst must have 8 elements in each of src's {P:src} partitions, but it is "
     "{shape:dst}"},
    {"max8.rank", "rank(src) <= 3 and rank(dst) == 2",
     "nki/api/nki/isa/__init__.py:2422",
     [](const Call& c) {
       return Rank(c[mx::kSrc]) <= 3 && Rank(c[mx::kDst]) == 2;
     },
     "src",
     "src must have at most three dimensions and dst two, but they are "
     "{shape:src} and {shape:dst}",
     "reshape them; contiguous dimensions merge"},
};

constexpr OperationInfo kMax8 = {
    "max8",
    kMaxParameters,
    kMaxRules,
    OnVector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kMax8,
              {OperandOf(c[mx::kDst]), OperandOf(c[mx::kSrc])}, {});
    },
    nullptr,
    "The eight largest elements of each partition, descending.",
    "Compared as fp32; equal elements are each listed, in their order; one "
    "cast to dst. NaN comes last.",
    "nki/api/nki/isa/__init__.py:2415-2432"};

// ---- nc_find_index8 ----

namespace fi {
enum { kDst, kData, kVals, kName };
}

constexpr ParameterSpec kFindParameters[] = {
    Out("dst", kOnChip, kIndexTypes, "[P, 8]"),
    In("data", kOnChip, kAnyType, "[P, ...], 8 to 16384 elements"),
    In("vals", kOnChip, kAnyType, "[P, 8]"),
    kNameParameter,
};

constexpr Rule kFindRules[] = {
    {"nc_find_index8.free_size", "8 <= F(data) <= 16384",
     "nki/api/nki/isa/__init__.py:3177",
     [](const Call& c) { return Searchable(c[fi::kData]); }, "data",
     "data must have 8 to 16384 elements per partition, but it has {F:data}"},
    {"nc_find_index8.vals_shape", "F(vals) == 8 and P(vals) == P(data)",
     "nki/api/nki/isa/__init__.py:3178",
     [](const Call& c) { return HasEight(c[fi::kVals], c[fi::kData]); }, "vals",
     "vals must have 8 elements in each of data's {P:data} partitions, but it "
     "is {shape:vals}"},
    {"nc_find_index8.rank", "rank(data) <= 3 and rank(vals) <= 3",
     "nki/api/nki/isa/__init__.py:3176",
     [](const Call& c) {
       return Rank(c[fi::kData]) <= 3 && Rank(c[fi::kVals]) <= 3;
     },
     "data",
     "data and vals must have at most three dimensions, but they are "
     "{shape:data} and {shape:vals}",
     "reshape them; contiguous dimensions merge"},
    {"nc_find_index8.dst_shape",
     "dt(dst) in ('uint16', 'uint32') and F(dst) == 8 and (P(dst) == P(data))",
     "nki/api/nki/isa/__init__.py:3179",
     [](const Call& c) { return HasEight(c[fi::kDst], c[fi::kData]); }, "dst",
     "dst must have 8 elements in each of data's {P:data} partitions, but it "
     "is {shape:dst}"},
};

// vals, from the first of the two instructions, and whether the second is
// `search`.
bool LiftValues(const Expansion& e, Opcode search, Value& vals) {
  if (e.instructions.size() != 2 ||
      e.instructions[0]->opcode != Opcode::kLoadMatchValues ||
      e.instructions[1]->opcode != search) {
    return false;
  }
  vals = ValueOf(
      e.core->OperandsOf(*e.instructions[0])[slot::LoadMatchValues::kVals]);
  return true;
}

bool LiftFind(const Expansion& e, Call& c) {
  using S = slot::FindIndex8;
  if (!LiftValues(e, Opcode::kFindIndex8, c.values[fi::kVals])) return false;
  const auto operands = e.core->OperandsOf(*e.instructions[1]);
  c.values[fi::kDst] = ValueOf(operands[S::kDst]);
  c.values[fi::kData] = ValueOf(operands[S::kData]);
  c.values[fi::kName] = Value::None();
  return true;
}

constexpr OperationInfo kNcFindIndex8 = {
    "nc_find_index8",
    kFindParameters,
    kFindRules,
    OnVector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kLoadMatchValues, {OperandOf(c[fi::kVals])}, {});
      EmitOne(c, e, Opcode::kFindIndex8,
              {OperandOf(c[fi::kDst]), OperandOf(c[fi::kData])}, {});
    },
    LiftFind,
    "Positions of eight values in each partition.",
    "The first element that equals vals[j] as fp32; a value that vals repeats "
    "takes its next occurrence, column by column. Not there: all ones.",
    "nki/api/nki/isa/__init__.py:3169-3191"};

// ---- nc_match_replace8 ----

namespace mr {
enum { kDst, kData, kVals, kImm, kDstIdx, kName };
}

constexpr ParameterSpec kReplaceParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    In("data", kOnChip, kAnyType, "[P, ...], at most 16384 elements"),
    In("vals", kOnChip, kAnyType, "[P, 8]"),
    Attr("imm", ParameterKind::kNumber, "float32, the replacement"),
    {"dst_idx", ParameterKind::kTile, false, "None", Role::kOut, kOnChip,
     SetOf(Dtype::kUint32), "[P, 8]: where each value was found"},
    kNameParameter,
};

constexpr Rule kReplaceRules[] = {
    {"nc_match_replace8.vals_shape", "F(vals) == 8 and P(vals) == P(data)",
     "aws-neuron-sdk v2.26.0: general/nki/api/nki/isa/__init__.py:782",
     [](const Call& c) { return HasEight(c[mr::kVals], c[mr::kData]); }, "vals",
     "vals must have 8 elements in each of data's {P:data} partitions, but it "
     "is {shape:vals}"},
    {"nc_match_replace8.free_size", "F(data) <= 16384",
     "aws-neuron-sdk v2.26.0: general/nki/api/nki/isa/__init__.py:783",
     [](const Call& c) { return F(c[mr::kData]) <= kMostElements; }, "data",
     "data must have at most 16384 elements per partition, but it has "
     "{F:data}"},
    {"nc_match_replace8.dst_shape", "P(dst) == P(data) and F(dst) == F(data)",
     "aws-neuron-sdk v2.26.0: general/nki/api/nki/isa/__init__.py:784",
     [](const Call& c) {
       return P(c[mr::kDst]) == P(c[mr::kData]) &&
              F(c[mr::kDst]) == F(c[mr::kData]);
     },
     "dst",
     "dst must have the partitions and elements per partition of data "
     "{shape:data}, but it is {shape:dst}"},
    {"nc_match_replace8.dst_idx_shape",
     "not not is_none(dst_idx) or (P(dst_idx) == P(data) and F(dst_idx) == 8)",
     "nki/api/nki/isa/__init__.py:3218",
     [](const Call& c) {
       return c[mr::kDstIdx].is_none() ||
              HasEight(c[mr::kDstIdx], c[mr::kData]);
     },
     "dst_idx",
     "dst_idx must have 8 elements in each of data's {P:data} partitions, but "
     "it is {shape:dst_idx}"},
};

bool LiftReplace(const Expansion& e, Call& c) {
  using S = slot::MatchReplace8;
  if (!LiftValues(e, Opcode::kMatchReplace8, c.values[mr::kVals])) return false;
  const auto operands = e.core->OperandsOf(*e.instructions[1]);
  const auto attributes = e.core->AttributesOf(*e.instructions[1]);
  c.values[mr::kDst] = ValueOf(operands[S::kDst]);
  c.values[mr::kData] = ValueOf(operands[S::kData]);
  c.values[mr::kDstIdx] = ValueOf(operands[S::kDstIdx]);
  c.values[mr::kImm] = Value::Number(attributes[S::kImm].real());
  c.values[mr::kName] = Value::None();
  return true;
}

constexpr OperationInfo kNcMatchReplace8 = {
    "nc_match_replace8",
    kReplaceParameters,
    kReplaceRules,
    OnVector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kLoadMatchValues, {OperandOf(c[mr::kVals])}, {});
      EmitOne(c, e, Opcode::kMatchReplace8,
              {OperandOf(c[mr::kDst]), OperandOf(c[mr::kData]),
               OperandOf(c[mr::kDstIdx])},
              {Attribute::Real(c[mr::kImm].number)});
    },
    LiftReplace,
    "Replaces the first occurrence of each of eight values.",
    "vals are taken in reverse order, 7 to 0; each replaces the first element "
    "of data that equals it as fp32 and that none has taken before. dst is "
    "data in fp32 with imm at these positions, cast once.",
    "nki/api/nki/isa/__init__.py:3193-3219"};

constexpr std::array kOperations = {&kMax8, &kNcFindIndex8, &kNcMatchReplace8};

}  // namespace

std::span<const OperationInfo* const> SearchOperations() { return kOperations; }

}  // namespace trnemu::rows
