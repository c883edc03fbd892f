// nc_matmul_mx and quantize_mx: microscaling formats, on trn3.
//
// A group of 32 values, 8 partitions x the 4 of a packed element, shares one
// scale. The scale of data partition p lies in row 32 * (p / 32) + p % 32 / 8
// of its tile, which is a view that starts at offset 0, 4, 8 or 12 of the
// quadrant that the data start in (nki/deep-dives/mxfp-matmul.rst:107, 223).
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

constexpr DtypeSet kMxFp8 =
    SetOf(Dtype::kFloat8E5M2X4) | SetOf(Dtype::kFloat8E4M3FNX4);
constexpr DtypeSet kMxTypes = kMxFp8 | SetOf(Dtype::kFloat4E2M1FNX4);

namespace mx {
enum {
  kDst,
  kStationary,
  kMoving,
  kStationaryScale,
  kMovingScale,
  kTilePosition,
  kTileSize,
  kAccumulate,
  kName
};
}

constexpr ParameterSpec kMatmulParameters[] = {
    {"dst", ParameterKind::kTile, true, "", Role::kInOut, kPsumOnly,
     SetOf(Dtype::kFloat32) | SetOf(Dtype::kBFloat16),
     "[M, N] = [free(stationary), free(moving)]"},
    In("stationary", kSbufOnly, kMxTypes, "[K, M] of packed elements"),
    In("moving", kSbufOnly, kMxTypes, "[K, N] of packed elements"),
    In("stationary_scale", kSbufOnly, kMxScaleTypes,
       "rows 0 to 3 of each 32 hold the scales of 8 partitions each, [, M]"),
    In("moving_scale", kSbufOnly, kMxScaleTypes, "the same of moving, [, N]"),
    Opt("tile_position", ParameterKind::kIntPair, "None",
        "(start row, 0) of the array tile"),
    Opt("tile_size", ParameterKind::kIntPair, "None",
        "(rows, 128) of the array tile"),
    Opt("accumulate", ParameterKind::kAccumulate, "None", "as nc_matmul"),
    kNameParameter,
};

bool OnGen4(const Call& c) { return c.gen() >= 4; }
bool Tiled(const Value& pair) { return pair.num_ints == 2; }
int64_t Rows(const Call& c) {
  return Tiled(c[mx::kTileSize]) ? c[mx::kTileSize].ints[0] : 128;
}
int64_t StartRow(const Call& c) {
  return Tiled(c[mx::kTilePosition]) ? c[mx::kTilePosition].ints[0] : 0;
}
// Rows of a scale view up to the last one that is used.
int64_t ScaleRows(const Value& data) { return 32 * (P(data) / 32 - 1) + 4; }
bool ReachesScales(const Value& scale, const Value& data) {
  return P(scale) >= ScaleRows(data);
}
bool StartsAtOffset(const Call& c, const Value& scale) {
  const int64_t offset = StartPartition(c, scale) % 32;
  return offset % 4 == 0 && offset <= 12;
}
bool SameQuadrant(const Call& c, const Value& scale, const Value& data) {
  return StartPartition(c, scale) / 32 == StartPartition(c, data) / 32;
}

constexpr Rule kMatmulRules[] = {
    {"nc_matmul_mx.generation", "gen >= 4", "nki/api/nki/isa/__init__.py:719",
     OnGen4, "dst", "nc_matmul_mx needs trn3, and this is {target}",
     "dequantize to bfloat16 and use nc_matmul, or target trn3"},
    {"nc_matmul_mx.contraction",
     "P(stationary) == P(moving) and P(stationary) % 32 == 0 and "
     "(P(stationary) <= 128)",
     "nki/api/nki/isa/__init__.py:779",
     [](const Call& c) {
       const int64_t rows = P(c[mx::kStationary]);
       return rows == P(c[mx::kMoving]) && rows % 32 == 0 && rows <= 128;
     },
     "stationary",
     "stationary and moving must both have 32, 64, 96 or 128 partitions, but "
     "stationary has {P:stationary} and moving {P:moving}",
     "pad the contraction with zeros to whole quadrants of 32 partitions"},
    {"nc_matmul_mx.columns", "F(stationary) % 2 == 0 and F(stationary) <= 128",
     "nki/api/nki/isa/__init__.py:781",
     [](const Call& c) {
       return F(c[mx::kStationary]) % 2 == 0 && F(c[mx::kStationary]) <= 128;
     },
     "stationary",
     "stationary must have an even number of columns, at most 128, but it has "
     "{F:stationary}",
     "pad stationary with a column, or split it"},
    {"nc_matmul_mx.moving_free_size",
     "F(moving) <= (4096 if dt(dst) == 'float32' else 8192)",
     "nki/api/nki/isa/__init__.py:782",
     [](const Call& c) {
       return F(c[mx::kMoving]) <=
              (Dt(c[mx::kDst]) == Dtype::kFloat32 ? 4096 : 8192);
     },
     "moving",
     "moving has {F:moving} columns; the limit is 4096 with a float32 dst, "
     "8192 with a bfloat16 one, and dst is {dt:dst}",
     "split the moving tile"},
    {"nc_matmul_mx.dst_shape",
     "P(dst) == F(stationary) and F(dst) == F(moving)",
     "nki/api/nki/isa/__init__.py:772",
     [](const Call& c) {
       return P(c[mx::kDst]) == F(c[mx::kStationary]) &&
              F(c[mx::kDst]) == F(c[mx::kMoving]);
     },
     "dst",
     "dst must be [{F:stationary}, {F:moving}] = [free(stationary), "
     "free(moving)], but it has {P:dst} partitions and a free size of {F:dst}"},
    {"nc_matmul_mx.scale_rows",
     "P(stationary_scale) >= 32 * (P(stationary) // 32 - 1) + 4 and "
     "P(moving_scale) >= 32 * (P(moving) // 32 - 1) + 4",
     "nki/deep-dives/src/mxfp-matmul/mx_kernels.py:256",
     [](const Call& c) {
       return ReachesScales(c[mx::kStationaryScale], c[mx::kStationary]) &&
              ReachesScales(c[mx::kMovingScale], c[mx::kMoving]);
     },
     "stationary_scale",
     "a scale view must reach the last row that is used, 4 rows for 32 data "
     "partitions, then 36, 68 and 100: stationary_scale has "
     "{P:stationary_scale} for {P:stationary}, moving_scale {P:moving_scale} "
     "for {P:moving}",
     "allocate the scales with as many partitions as the data"},
    {"nc_matmul_mx.scale_columns",
     "F(stationary_scale) >= F(stationary) and F(moving_scale) >= F(moving)",
     "nki/deep-dives/mxfp-matmul.rst:125",
     [](const Call& c) {
       return F(c[mx::kStationaryScale]) >= F(c[mx::kStationary]) &&
              F(c[mx::kMovingScale]) >= F(c[mx::kMoving]);
     },
     "stationary_scale",
     "there is a scale for each column: stationary_scale has "
     "{F:stationary_scale} for {F:stationary}, moving_scale {F:moving_scale} "
     "for {F:moving}"},
    {"nc_matmul_mx.scale_start",
     "start_p(stationary_scale) % 32 in (0, 4, 8, 12) and "
     "start_p(moving_scale) % 32 in (0, 4, 8, 12)",
     "nki/deep-dives/mxfp-matmul.rst:228",
     [](const Call& c) {
       return StartsAtOffset(c, c[mx::kStationaryScale]) &&
              StartsAtOffset(c, c[mx::kMovingScale]);
     },
     "stationary_scale",
     "scale views start at offset 0, 4, 8 or 12 of a quadrant of 32 "
     "partitions, but stationary_scale starts at partition "
     "{start:stationary_scale} and moving_scale at {start:moving_scale}",
     "", Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kIllegal, false},
    {"nc_matmul_mx.scale_quadrant",
     "start_p(stationary_scale) // 32 == start_p(stationary) // 32 and "
     "start_p(moving_scale) // 32 == start_p(moving) // 32",
     "nki/deep-dives/mxfp-matmul.rst:107",
     [](const Call& c) {
       return SameQuadrant(c, c[mx::kStationaryScale], c[mx::kStationary]) &&
              SameQuadrant(c, c[mx::kMovingScale], c[mx::kMoving]);
     },
     "stationary_scale",
     "scales lie in the quadrant of 32 partitions of their data: stationary "
     "starts at partition {start:stationary} and its scales at "
     "{start:stationary_scale}, moving at {start:moving} and its scales at "
     "{start:moving_scale}",
     "place the scales from the first partition of the data on, or 4, 8 or 12 "
     "further",
     Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kIllegal, false},
    {"nc_matmul_mx.tile_pair", "(tile_position is None) == (tile_size is None)",
     "nki/api/nki/isa/__init__.py:747",
     [](const Call& c) {
       return Tiled(c[mx::kTilePosition]) == Tiled(c[mx::kTileSize]);
     },
     "tile_size",
     "tile_position and tile_size go together, but they are "
     "{value:tile_position} and {value:tile_size}"},
    {"nc_matmul_mx.tile_size",
     "not tile_size is not None or (tile_size[1] == 128 and tile_size[0] in "
     "(32, 64, 128) and (P(stationary) <= tile_size[0]))",
     "nki/api/nki/isa/__init__.py:737",
     [](const Call& c) {
       if (!Tiled(c[mx::kTileSize])) return true;
       const int64_t rows = Rows(c);
       return c[mx::kTileSize].ints[1] == 128 &&
              (rows == 32 || rows == 64 || rows == 128) &&
              P(c[mx::kStationary]) <= rows;
     },
     "tile_size",
     "tile_size is {value:tile_size}; it must be (32, 128), (64, 128) or (128, "
     "128), with rows for the {P:stationary} partitions of stationary"},
    {"nc_matmul_mx.tile_position",
     "not tile_position is not None or (tile_position[1] == 0 and "
     "tile_position[0] % tile_size[0] == 0 and (tile_position[0] + "
     "tile_size[0] <= 128))",
     "nki/api/nki/isa/__init__.py:741",
     [](const Call& c) {
       if (!Tiled(c[mx::kTilePosition])) return true;
       const int64_t row = StartRow(c);
       const int64_t rows = Rows(c);
       return c[mx::kTilePosition].ints[1] == 0 && rows > 0 && row >= 0 &&
              row % rows == 0 && row + rows <= 128;
     },
     "tile_position",
     "tile_position {value:tile_position} must be (start row, 0), the row a "
     "multiple of the tile's rows, and the tile must end within 128"},
    {"nc_matmul_mx.tile_partitions",
     "tile_size is None or (start_p(stationary) == tile_position[0] and "
     "start_p(moving) == tile_position[0])",
     "nki/guides/architecture/trainium2_arch.rst:89",
     [](const Call& c) {
       return !Tiled(c[mx::kTilePosition]) ||
              (StartPartition(c, c[mx::kStationary]) == StartRow(c) &&
               StartPartition(c, c[mx::kMoving]) == StartRow(c));
     },
     "stationary",
     "operands lie on the partitions of their array tile: with tile_position "
     "{value:tile_position} stationary starts at partition "
     "{start:stationary}, moving at {start:moving}",
     "", Layer::kDevice, Evidence::kInferred},
};

void ExpandMatmul(const Call& c, Emitter& emitter) {
  EmitOne(c, emitter, Opcode::kLoadStationaryMx,
          {OperandOf(c[mx::kStationary]), OperandOf(c[mx::kStationaryScale])},
          {Int(StartRow(c)), Int(Rows(c))});
  EmitOne(c, emitter, Opcode::kMultiplyMovingMx,
          {OperandOf(c[mx::kDst]), OperandOf(c[mx::kMoving]),
           OperandOf(c[mx::kMovingScale])},
          {AttributeOf(c[mx::kAccumulate].as<Accumulate>()), Int(StartRow(c)),
           Int(Rows(c))});
}

bool LiftMatmul(const Expansion& e, Call& c) {
  using L = slot::LoadStationaryMx;
  using M = slot::MultiplyMovingMx;
  if (e.instructions.size() != 2) return false;
  const Instruction& load = *e.instructions[0];
  const Instruction& multiply = *e.instructions[1];
  if (load.opcode != Opcode::kLoadStationaryMx ||
      multiply.opcode != Opcode::kMultiplyMovingMx) {
    return false;
  }
  const auto loaded = e.core->OperandsOf(load);
  const auto moved = e.core->OperandsOf(multiply);
  const auto attributes = e.core->AttributesOf(multiply);
  c.values[mx::kDst] = ValueOf(moved[M::kDst]);
  c.values[mx::kStationary] = ValueOf(loaded[L::kStationary]);
  c.values[mx::kMoving] = ValueOf(moved[M::kMoving]);
  c.values[mx::kStationaryScale] = ValueOf(loaded[L::kStationaryScale]);
  c.values[mx::kMovingScale] = ValueOf(moved[M::kMovingScale]);
  c.values[mx::kAccumulate] =
      Value::OfEnum(attributes[M::kAccumulate].as<Accumulate>());
  c.values[mx::kName] = Value::None();
  const int64_t position[] = {attributes[M::kStartRow].integer(), 0};
  const int64_t size[] = {attributes[M::kRows].integer(), 128};
  const bool whole = position[0] == 0 && size[0] == 128;
  c.values[mx::kTilePosition] = whole ? Value::Ints({}) : Value::Ints(position);
  c.values[mx::kTileSize] = whole ? Value::Ints({}) : Value::Ints(size);
  return true;
}

namespace qz {
enum { kDst, kSrc, kDstScale, kName };
}

constexpr ParameterSpec kQuantizeParameters[] = {
    Out("dst", kSbufOnly, kMxFp8, "[P, F / 4] of packed elements"),
    In("src", kSbufOnly, SetOf(Dtype::kFloat16) | SetOf(Dtype::kBFloat16),
       "[P, F]"),
    Out("dst_scale", kSbufOnly, kMxScaleTypes,
        "rows 0 to 3 of each 32 get the scales of 8 partitions each, [, F / "
        "4]; the other rows stay"),
    kNameParameter,
};

constexpr Rule kQuantizeRules[] = {
    {"quantize_mx.generation", "gen >= 4", "nki/api/nki/isa/__init__.py:2746",
     OnGen4, "dst", "quantize_mx needs trn3, and this is {target}",
     "scale and cast to float8_e4m3 with tensor_scalar, or target trn3"},
    {"quantize_mx.partitions", "P(src) % 32 == 0 and P(src) <= 128",
     "nki/api/nki/isa/__init__.py:2784",
     [](const Call& c) {
       return P(c[qz::kSrc]) % 32 == 0 && P(c[qz::kSrc]) <= 128;
     },
     "src", "src must have 32, 64, 96 or 128 partitions, but it has {P:src}",
     "pad src to whole quadrants of 32 partitions"},
    {"quantize_mx.free_size", "F(src) % 4 == 0",
     "nki/api/nki/isa/__init__.py:2785",
     [](const Call& c) { return F(c[qz::kSrc]) % 4 == 0; }, "src",
     "src must have a multiple of 4 elements a partition, but it has {F:src}"},
    {"quantize_mx.dst_shape", "P(dst) == P(src) and F(dst) * 4 == F(src)",
     "nki/api/nki/isa/__init__.py:2788",
     [](const Call& c) {
       return P(c[qz::kDst]) == P(c[qz::kSrc]) &&
              F(c[qz::kDst]) * 4 == F(c[qz::kSrc]);
     },
     "dst",
     "dst packs 4 elements of src into one: src has {P:src} partitions of "
     "{F:src} elements, and dst {P:dst} of {F:dst}"},
    {"quantize_mx.scale_start", "start_p(dst_scale) % 32 in (0, 4, 8, 12)",
     "nki/deep-dives/mxfp-matmul.rst:228",
     [](const Call& c) { return StartsAtOffset(c, c[qz::kDstScale]); },
     "dst_scale",
     "the scale view starts at offset 0, 4, 8 or 12 of a quadrant of 32 "
     "partitions, but dst_scale starts at partition {start:dst_scale}",
     "", Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kIllegal, false},
    {"quantize_mx.scale_quadrant",
     "start_p(dst_scale) // 32 == start_p(src) // 32",
     "nki/deep-dives/mxfp-matmul.rst:223",
     [](const Call& c) {
       return SameQuadrant(c, c[qz::kDstScale], c[qz::kSrc]);
     },
     "dst_scale",
     "scales lie in the quadrant of 32 partitions of their values, but src "
     "starts at partition {start:src} and dst_scale at {start:dst_scale}",
     "place the scales from the first partition of src on, or 4, 8 or 12 "
     "further",
     Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kIllegal, false},
    {"quantize_mx.scale_columns", "F(dst_scale) == F(dst)",
     "nki/deep-dives/src/mxfp-matmul/mx_kernels.py:236",
     [](const Call& c) { return F(c[qz::kDstScale]) == F(c[qz::kDst]); },
     "dst_scale",
     "dst_scale must have a column for each of dst, but dst_scale has "
     "{F:dst_scale} and dst {F:dst}",
     "take as many columns of a larger scale tile"},
    {"quantize_mx.scale_rows", "P(dst_scale) >= 32 * (P(src) // 32 - 1) + 4",
     "nki/deep-dives/src/mxfp-matmul/mx_kernels.py:256",
     [](const Call& c) { return ReachesScales(c[qz::kDstScale], c[qz::kSrc]); },
     "dst_scale",
     "the scale view must reach the last row that is used, 4 rows for 32 "
     "partitions of src, then 36, 68 and 100: dst_scale has {P:dst_scale} for "
     "{P:src}",
     "allocate the scales with as many partitions as src"},
};

}  // namespace

constexpr OperationInfo kNcMatmulMx = {
    "nc_matmul_mx",
    kMatmulParameters,
    kMatmulRules,
    [](const Call&, Engine) { return Engine::kTensor; },
    ExpandMatmul,
    LiftMatmul,
    "dst = stationary^T @ moving of MXFP8 and MXFP4 tiles, with their scales.",
    "sum over partitions p, then the four j of an element, of stationary[p, m, "
    "j] * moving[p, n, j] times both scales, products exact, summed in fp32 as "
    "nc_matmul does: four chains of 32 partitions. A scale is 2^(code - 127); "
    "code 255 is NaN.",
    "nki/api/nki/isa/__init__.py:714-814"};

constexpr OperationInfo kQuantizeMx = {
    "quantize_mx",
    kQuantizeParameters,
    kQuantizeRules,
    [](const Call&, Engine) { return Engine::kVector; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kQuantizeMx,
              {OperandOf(c[qz::kDst]), OperandOf(c[qz::kSrc]),
               OperandOf(c[qz::kDstScale])},
              {});
    },
    nullptr,
    "Quantizes fp16 or bf16 to MXFP8 elements and scales.",
    "Of 8 partitions x 4 elements with the largest magnitude a: scale = "
    "2^(floor(log2 a) - (Emax - 1)), Emax 8 (e4m3fn) or 15 (e5m2), 2^-127 if a "
    "is 0; elements are divided by it and rounded to nearest even. Rows of "
    "dst_scale that hold no scale keep their bytes.",
    "nki/api/nki/isa/__init__.py:2741-2814"};

std::span<const OperationInfo* const> MxOperations() {
  static constexpr std::array<const OperationInfo*, 2> kOperations = {
      &kNcMatmulMx, &kQuantizeMx};
  return kOperations;
}

}  // namespace trnemu::rows
