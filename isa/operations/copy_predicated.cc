// tensor_copy_predicated, listed with the selects (SelectOperations).
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

bool SameShape(const Value& a, const Value& b) {
  return P(a) == P(b) && F(a) == F(b);
}

enum { kDst, kSrc, kPredicate, kReversePred, kName };

constexpr DtypeSet kPredicateTypes =
    SetOf(Dtype::kUint8) | SetOf(Dtype::kUint16) | SetOf(Dtype::kUint32);

constexpr ParameterSpec kParameters[] = {
    {"dst", ParameterKind::kTile, true, "", Role::kInOut, kOnChip, kAnyType,
     "as many elements as predicate; those that are not copied stay"},
    {"src", ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip,
     kAnyType, "of dst's shape and dtype, or a number"},
    In("predicate", kOnChip, kPredicateTypes, "nonzero: copy"),
    Opt("reverse_pred", ParameterKind::kBool, "False", "zero: copy"),
    kNameParameter,
};

constexpr Rule kRules[] = {
    {"tensor_copy_predicated.dtype", "not is_tile(src) or dt(src) == dt(dst)",
     "nki/api/nki/isa/__init__.py:458",
     [](const Call& c) {
       return !c[kSrc].is_tile() || Dt(c[kSrc]) == Dt(c[kDst]);
     },
     "src", "src must have dst's dtype {dt:dst}, but it is {dt:src}",
     "convert with tensor_copy first"},
    {"tensor_copy_predicated.shape",
     "P(dst) == P(predicate) and F(dst) == F(predicate) and (not is_tile(src) "
     "or (P(src) == P(dst) and F(src) == F(dst)))",
     "nki/api/nki/isa/__init__.py:456",
     [](const Call& c) {
       return SameShape(c[kDst], c[kPredicate]) &&
              (!c[kSrc].is_tile() || SameShape(c[kSrc], c[kDst]));
     },
     "dst",
     "dst, predicate and src must have the same partitions and elements per "
     "partition, but they are {shape:dst}, {shape:predicate} and {shape:src}"},
    {"tensor_copy_predicated.both_in_psum",
     "not (is_tile(src) and buf(src) == 'psum' and (buf(predicate) == 'psum'))",
     "nki/api/nki/isa/__init__.py:452",
     [](const Call& c) {
       return !(c[kSrc].is_tile() && Buf(c[kSrc]) == Space::kPsum &&
                Buf(c[kPredicate]) == Space::kPsum);
     },
     "predicate", "src and predicate cannot both be in PSUM, but both are",
     "copy one of them to SBUF first"},
};

}  // namespace

extern const OperationInfo kTensorCopyPredicated;
const OperationInfo kTensorCopyPredicated = {
    "tensor_copy_predicated",
    kParameters,
    kRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(
          c, e, Opcode::kTensorCopyPredicated,
          {OperandOf(c[kDst]), OperandOf(c[kSrc]), OperandOf(c[kPredicate])},
          {Int(c[kReversePred].integer)});
    },
    nullptr,
    "Copies the elements whose predicate is nonzero; the others stay.",
    "Bits, as dtypes are equal; a number is fp32 that is cast to dst. Elements "
    "that are not copied keep their bytes and need not have been written.",
    "nki/api/nki/isa/__init__.py:446-487"};

}  // namespace trnemu::rows
