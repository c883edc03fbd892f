// tensor_copy, memset, reciprocal.
#include <cmath>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

namespace cp {
enum { kDst, kSrc, kEngine, kName };
}

constexpr ParameterSpec kCopyParameters[] = {
    Out("dst", kOnChip, kAnyTypeOrPacked, "as many elements as src"),
    In("src", kOnChip, kAnyTypeOrPacked, "[P, ...]"), kEngineParameter,
    kNameParameter};

bool IsAnyOf(Engine e, uint8_t engines) { return (engines & Bit(e)) != 0; }

// Packed types and scales have no values that arithmetic could cast.
bool Castable(Dtype d) { return !IsPacked(d); }

constexpr Rule kCopyRules[] = {
    {"tensor_copy.engine", "engine in ('vector', 'scalar', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:393",
     [](const Call& c) {
       return IsAnyOf(c.engine, Bit(Engine::kVector) | Bit(Engine::kScalar) |
                                    Bit(Engine::kGpsimd));
     },
     "engine",
     "tensor_copy runs on the vector, scalar or gpsimd engine, not on "
     "{engine}"},
    {"tensor_copy.shape", "P(dst) == P(src) and F(dst) == F(src)",
     "nki/api/nki/isa/__init__.py:387",
     [](const Call& c) {
       return P(c[cp::kDst]) == P(c[cp::kSrc]) &&
              F(c[cp::kDst]) == F(c[cp::kSrc]);
     },
     "dst",
     "dst must match src, but dst has {P:dst} partitions of {F:dst} elements "
     "and src {P:src} of {F:src}"},
    {"tensor_copy.gpsimd_psum",
     "not engine == 'gpsimd' or (buf(src) == 'sbuf' and buf(dst) == 'sbuf')",
     "nki/api/nki/isa/__init__.py:399",
     [](const Call& c) {
       return c.engine != Engine::kGpsimd ||
              (Buf(c[cp::kDst]) == Space::kSbuf &&
               Buf(c[cp::kSrc]) == Space::kSbuf);
     },
     "src",
     "the gpsimd engine cannot access PSUM, but dst is in {buf:dst} and src in "
     "{buf:src}",
     "use engine=\"vector\" or engine=\"scalar\""},
    {"tensor_copy.packed_cast",
     "dt(src) == dt(dst) or (dt(src) not in X4 and dt(dst) not in X4)",
     "nki/get-started/about/nki-dma-overview.rst:19",
     [](const Call& c) {
       return Dt(c[cp::kDst]) == Dt(c[cp::kSrc]) ||
              (Castable(Dt(c[cp::kDst])) && Castable(Dt(c[cp::kSrc])));
     },
     "dst",
     "packed types are copied, never cast: src is {dt:src}, dst {dt:dst}", "",
     Layer::kDevice, Evidence::kInferred},
};

namespace ms {
enum { kDst, kValue, kEngine, kName };
}

constexpr ParameterSpec kMemsetParameters[] = {
    Out("dst", kOnChip, kAnyTypeOrPacked, "any shape"),
    Attr("value", ParameterKind::kNumber, "a constant"), kEngineParameter,
    kNameParameter};

constexpr Rule kMemsetRules[] = {
    {"memset.engine", "engine in ('vector', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:431",
     [](const Call& c) {
       return IsAnyOf(c.engine, Bit(Engine::kVector) | Bit(Engine::kGpsimd));
     },
     "engine",
     "memset runs on the vector or the gpsimd engine, not on {engine}"},
    {"memset.packed", "not dt(dst) in X4 or value == 0",
     "nki/api/nki/isa/__init__.py:443",
     [](const Call& c) {
       return !IsPacked(Dt(c[ms::kDst])) || c[ms::kValue].number == 0;
     },
     "value",
     "a {dt:dst} tile can only be filled with 0, but value is {value:value}"},
    {"memset.integer_value",
     "not dt(dst) in INT or exactly_representable(value, dt(dst))",
     "release-notes/components/nki.rst:396",
     [](const Call& c) {
       return ExactlyRepresentable(c[ms::kValue].number, Dt(c[ms::kDst]));
     },
     "value", "value {value:value} is not a value of {dt:dst}"},
    {"memset.gpsimd_psum", "not engine == 'gpsimd' or buf(dst) == 'sbuf'",
     "nki/api/nki/isa/__init__.py:1914",
     [](const Call& c) {
       return c.engine != Engine::kGpsimd || Buf(c[ms::kDst]) == Space::kSbuf;
     },
     "dst", "the gpsimd engine cannot access PSUM, but dst is in {buf:dst}",
     "use engine=\"vector\""},
};

namespace rc {
enum { kDst, kData, kName };
}

constexpr ParameterSpec kReciprocalParameters[] = {
    Out("dst", kOnChip, kAnyType, "as many elements as data"),
    In("data", kOnChip, kAnyType, "[P, ...]"), kNameParameter};

constexpr Rule kReciprocalRules[] = {
    {"reciprocal.partitions", "P(dst) == P(data) and P(data) <= 128",
     "nki/api/nki/isa/__init__.py:2407",
     [](const Call& c) { return P(c[rc::kDst]) == P(c[rc::kData]); }, "dst",
     "dst must have the partitions of data, but dst has {P:dst} and data "
     "{P:data}"},
    {"reciprocal.free_size", "F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:2408",
     [](const Call& c) { return F(c[rc::kDst]) == F(c[rc::kData]); }, "dst",
     "dst must have as many elements per partition as data, but dst has "
     "{F:dst} and data {F:data}"},
};

Engine VectorByDefault(const Call&, Engine requested) {
  return requested == Engine::kUnknown ? Engine::kVector : requested;
}

}  // namespace

bool ExactlyRepresentable(double number, Dtype dtype) {
  if (!IsInteger(dtype)) return true;
  const bool is_signed =
      dtype == Dtype::kInt8 || dtype == Dtype::kInt16 || dtype == Dtype::kInt32;
  const int bits = static_cast<int>(SizeOf(dtype)) * 8;
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  return number >= low && number <= high && number == std::floor(number);
}

const OperationInfo kTensorCopy = {
    "tensor_copy",
    kCopyParameters,
    kCopyRules,
    VectorByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kTensorCopy,
              {OperandOf(c[cp::kDst]), OperandOf(c[cp::kSrc])}, {});
    },
    nullptr,
    "Copies a tile, casting where the dtypes differ.",
    "Equal dtypes: bits (through fp32 on trn1's scalar engine). Otherwise "
    "through fp32.",
    "nki/api/nki/isa/__init__.py:383-429"};

const OperationInfo kMemset = {
    "memset",
    kMemsetParameters,
    kMemsetRules,
    VectorByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kMemset, {OperandOf(c[ms::kDst])},
              {Attribute::Real(c[ms::kValue].number)});
    },
    nullptr,
    "Fills a tile with a constant.",
    "dst[...] = value in dst's dtype.",
    "nki/api/nki/isa/__init__.py:431-444"};

const OperationInfo kReciprocal = {
    "reciprocal",
    kReciprocalParameters,
    kReciprocalRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kReciprocal,
              {OperandOf(c[rc::kDst]), OperandOf(c[rc::kData])}, {});
    },
    nullptr,
    "dst = 1 / data on the vector engine.",
    "fp32 division, one cast to dst.",
    "nki/api/nki/isa/__init__.py:2388-2413"};

}  // namespace trnemu::rows
