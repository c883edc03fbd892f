// The storage formats of the device, in one table.
//
// Numbers are those of program.proto's Dtype. Names are NumPy's or ml_dtypes'
// and are what users write; the device's own spelling of bool is "bool_".
// Source of widths and classes: nki/api/nki.api.shared.rst:21-55.
#ifndef TRNEMU_ISA_DTYPE_H_
#define TRNEMU_ISA_DTYPE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trnemu {

enum class Dtype : uint8_t {
  kInvalid = 0,
  kUint8 = 1,
  kInt8 = 2,
  kUint16 = 3,
  kInt16 = 4,
  kUint32 = 5,
  kInt32 = 6,
  kBool = 7,
  kFloat8E4M3 = 8,
  kFloat8E5M2 = 9,
  kFloat8E4M3FN = 10,
  kFloat8E8M0FNU = 11,
  kFloat16 = 12,
  kBFloat16 = 13,
  kTFloat32 = 14,
  kFloat32 = 15,
  kFloat8E5M2X4 = 16,
  kFloat8E4M3FNX4 = 17,
  kFloat4E2M1FNX4 = 18,
};

enum class DtypeClass : uint8_t { kInteger, kBool, kFloat, kScale, kPacked };

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;
  // The NumPy (ml_dtypes) dtype that carries it outside the device.
  std::string_view carrier;
  uint8_t bytes;  // of one element, as stored
  DtypeClass kind;
};

inline constexpr std::array<DtypeInfo, 18> kDtypes = {{
    {Dtype::kUint8, "uint8", "uint8", 1, DtypeClass::kInteger},
    {Dtype::kInt8, "int8", "int8", 1, DtypeClass::kInteger},
    {Dtype::kUint16, "uint16", "uint16", 2, DtypeClass::kInteger},
    {Dtype::kInt16, "int16", "int16", 2, DtypeClass::kInteger},
    {Dtype::kUint32, "uint32", "uint32", 4, DtypeClass::kInteger},
    {Dtype::kInt32, "int32", "int32", 4, DtypeClass::kInteger},
    {Dtype::kBool, "bool", "bool", 1, DtypeClass::kBool},
    {Dtype::kFloat8E4M3, "float8_e4m3", "float8_e4m3", 1, DtypeClass::kFloat},
    {Dtype::kFloat8E5M2, "float8_e5m2", "float8_e5m2", 1, DtypeClass::kFloat},
    {Dtype::kFloat8E4M3FN, "float8_e4m3fn", "float8_e4m3fn", 1,
     DtypeClass::kFloat},
    {Dtype::kFloat8E8M0FNU, "float8_e8m0fnu", "float8_e8m0fnu", 1,
     DtypeClass::kScale},
    {Dtype::kFloat16, "float16", "float16", 2, DtypeClass::kFloat},
    {Dtype::kBFloat16, "bfloat16", "bfloat16", 2, DtypeClass::kFloat},
    {Dtype::kTFloat32, "tfloat32", "float32", 4, DtypeClass::kFloat},
    {Dtype::kFloat32, "float32", "float32", 4, DtypeClass::kFloat},
    {Dtype::kFloat8E5M2X4, "float8_e5m2_x4", "uint32", 4, DtypeClass::kPacked},
    {Dtype::kFloat8E4M3FNX4, "float8_e4m3fn_x4", "uint32", 4,
     DtypeClass::kPacked},
    {Dtype::kFloat4E2M1FNX4, "float4_e2m1fn_x4", "uint16", 2,
     DtypeClass::kPacked},
}};

constexpr bool IsValid(Dtype d) {
  return d > Dtype::kInvalid && d <= Dtype::kFloat4E2M1FNX4;
}
constexpr const DtypeInfo& Info(Dtype d) {
  return kDtypes[static_cast<size_t>(d) - 1];
}
constexpr size_t SizeOf(Dtype d) { return Info(d).bytes; }
constexpr std::string_view Name(Dtype d) {
  return IsValid(d) ? Info(d).name : std::string_view("invalid");
}
constexpr bool IsInteger(Dtype d) {
  return Info(d).kind == DtypeClass::kInteger;
}
constexpr bool IsFloat(Dtype d) { return Info(d).kind == DtypeClass::kFloat; }
constexpr bool IsPacked(Dtype d) { return Info(d).kind == DtypeClass::kPacked; }
constexpr bool IsFp8(Dtype d) {
  return d == Dtype::kFloat8E4M3 || d == Dtype::kFloat8E5M2 ||
         d == Dtype::kFloat8E4M3FN;
}

// The dtype of that exact name ("bool_" too); nothing for any other.
constexpr std::optional<Dtype> DtypeFromName(std::string_view name) {
  if (name == "bool_") return Dtype::kBool;
  for (const DtypeInfo& info : kDtypes) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

}  // namespace trnemu

#endif  // TRNEMU_ISA_DTYPE_H_
