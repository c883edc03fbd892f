// nc_matmul.
#include "isa/operations/rows.h"
#include "isa/operations/tensor_passes.h"

namespace trnemu::rows {
namespace {

constexpr DtypeSet kTensorInputs = kFloatTypes;

namespace mm {
enum {
  kDst,
  kStationary,
  kMoving,
  kStationaryOnezero,
  kMovingOnezero,
  kTranspose,
  kAccumulate,
  kTilePosition,
  kTileSize,
  kPerfMode,
  kName
};
}

constexpr ParameterSpec kMatmulParameters[] = {
    {"dst", ParameterKind::kTile, true, "", Role::kInOut, kPsumOnly,
     SetOf(Dtype::kFloat32) | SetOf(Dtype::kBFloat16) | SetOf(Dtype::kFloat16),
     "[M, N] = [free(stationary), free(moving)]"},
    In("stationary", kSbufOnly, kTensorInputs, "[K, M]"),
    In("moving", kSbufOnly, kTensorInputs, "[K, N]"),
    Opt("is_stationary_onezero", ParameterKind::kBool, "False",
        "hint: stationary holds only 0 and 1; speed of fp32 only"),
    Opt("is_moving_onezero", ParameterKind::kBool, "False",
        "hint: moving holds only 0 and 1; speed of fp32 only"),
    Opt("is_transpose", ParameterKind::kBool, "False",
        "gen3 and later: pass the bits of stationary through, transposed; "
        "moving is an identity. gen2: a tag"),
    Opt("accumulate", ParameterKind::kAccumulate, "None",
        "False overwrites, True adds, None overwrites each element unless a "
        "matmul wrote it last since the PSUM tile was allocated"),
    Opt("tile_position", ParameterKind::kIntPair, "()",
        "(start row, start column) of the array tile"),
    Opt("tile_size", ParameterKind::kIntPair, "()",
        "(rows, columns) of the array tile"),
    Opt("perf_mode", ParameterKind::kPerfMode, "none", "none or double_row"),
    kNameParameter,
};

int64_t Rows(const Call& c) {
  return c[mm::kTileSize].num_ints == 2 ? c[mm::kTileSize].ints[0] : 128;
}
int64_t Columns(const Call& c) {
  return c[mm::kTileSize].num_ints == 2 ? c[mm::kTileSize].ints[1] : 128;
}
int64_t Position(const Call& c, int i) {
  return c[mm::kTilePosition].num_ints == 2 ? c[mm::kTilePosition].ints[i] : 0;
}
bool DoubleRow(const Call& c) {
  return c[mm::kPerfMode].as<PerfMode>() == PerfMode::kDoubleRow;
}
// The columns of the array that a tile is multiplied as.
int64_t Width(const Call& c, int parameter) {
  return F(c[parameter]) / (DoubleRow(c) ? 2 : 1);
}
bool HasTwoRows(const Value& v) {
  return v.access.rank >= 2 && v.access.dims[0].count == 2;
}
bool Wide(Dtype d) { return d == Dtype::kFloat32 || d == Dtype::kTFloat32; }
bool Transposed(const Call& c) { return c[mm::kTranspose].boolean(); }
bool Either(const Call& c, Dtype d) {
  return Dt(c[mm::kStationary]) == d || Dt(c[mm::kMoving]) == d;
}
bool TileSizeOk(const Call& c, int i) {
  if (c[mm::kTileSize].num_ints != 2) return true;
  const int64_t n = c[mm::kTileSize].ints[i];
  return n == 64 || n == 128 || (n == 32 && c.gen() >= 3);
}
bool TilePositionOk(const Call& c, int i) {
  if (c[mm::kTileSize].num_ints != 2) return true;
  const int64_t size = c[mm::kTileSize].ints[i];
  const int64_t at = Position(c, i);
  return size > 0 && at >= 0 && at % size == 0 && at + size <= 128;
}

constexpr Rule kMatmulRules[] = {
    {"nc_matmul.double_row_generation",
     "not perf_mode == 'double_row' or gen >= 3",
     "nki/api/nki/isa/__init__.py:506",
     [](const Call& c) {
       return !DoubleRow(c) || c.hardware->features.fp8_double_row;
     },
     "perf_mode",
     "perf_mode=double_row needs trn2 or later, and this is "
     "{target}"},
    {"nc_matmul.double_row_dtype",
     "not perf_mode == 'double_row' or (dt(stationary) in FP8 and dt(moving) "
     "in FP8)",
     "nki/api/nki/isa/__init__.py:582",
     [](const Call& c) {
       return !DoubleRow(c) ||
              (IsFp8(Dt(c[mm::kStationary])) && IsFp8(Dt(c[mm::kMoving])));
     },
     "stationary",
     "perf_mode=double_row takes float8 operands, but stationary is "
     "{dt:stationary} and moving {dt:moving}",
     "cast both operands to float8_e4m3 or float8_e5m2, or use "
     "perf_mode=none"},
    {"nc_matmul.double_row_shape",
     "not perf_mode == 'double_row' or (rank(stationary) >= 3 and rank(moving) "
     ">= 3 and (shape(stationary)[1] == 2) and (shape(moving)[1] == 2))",
     "nki/api/nki/isa/__init__.py:598",
     [](const Call& c) {
       return !DoubleRow(c) ||
              (HasTwoRows(c[mm::kStationary]) && HasTwoRows(c[mm::kMoving]));
     },
     "stationary",
     "perf_mode=double_row splits the contraction over the partitions and a "
     "first free dimension of 2: stationary must be [K, 2, M] and moving "
     "[K, 2, N], but they are {shape:stationary} and {shape:moving}",
     "reshape the tiles; pad with zeros if the contraction is odd"},
    {"nc_matmul.double_row_columns",
     "not perf_mode == 'double_row' or (len(tile_size) == 0 or tile_size[1] "
     "== 128)",
     "nki/api/nki/isa/__init__.py:511",
     [](const Call& c) { return !DoubleRow(c) || Columns(c) == 128; },
     "tile_size",
     "perf_mode=double_row cannot be combined with column tiling: tile_size "
     "{value:tile_size} must have 128 columns",
     "use row tiles, such as (64, 128), or perf_mode=none"},
    {"nc_matmul.double_row_transpose",
     "not perf_mode == 'double_row' or not is_transpose",
     "nki/guides/architecture/trainium2_arch.rst:121",
     [](const Call& c) { return !DoubleRow(c) || !Transposed(c); },
     "is_transpose",
     "perf_mode=double_row cannot be combined with is_transpose=True",
     "transpose with perf_mode=none"},
    {"nc_matmul.contraction", "P(stationary) == P(moving)",
     "nki/api/nki/isa/__init__.py:607",
     [](const Call& c) { return P(c[mm::kStationary]) == P(c[mm::kMoving]); },
     "moving",
     "stationary and moving must have the same number of partitions (K), but "
     "stationary has {P:stationary} and moving {P:moving}",
     "put the contraction on the partitions of both: stationary is [K, M], not "
     "[M, K]; nc_transpose turns a tile"},
    {"nc_matmul.rows",
     "P(stationary) <= (tile_size[0] if len(tile_size) else 128)",
     "nki/api/nki/isa/__init__.py:608",
     [](const Call& c) { return P(c[mm::kStationary]) <= Rows(c); },
     "stationary",
     "stationary has {P:stationary} partitions; the array tile has 128 rows, "
     "or the first number of tile_size (here {value:tile_size}, where () is "
     "the whole array)"},
    {"nc_matmul.columns",
     "F(stationary) // (2 if perf_mode == 'double_row' else 1) <= "
     "(tile_size[1] if len(tile_size) else 128)",
     "nki/api/nki/isa/__init__.py:609",
     [](const Call& c) { return Width(c, mm::kStationary) <= Columns(c); },
     "stationary",
     "stationary has a free size of {F:stationary}; the array tile has 128 "
     "columns, or the second number of tile_size (here {value:tile_size}, "
     "where () is the whole array); double_row has two elements for each",
     "split the stationary tile into tiles of at most 128 columns"},
    {"nc_matmul.moving_free_size",
     "not gen <= 3 or F(moving) // (2 if perf_mode == 'double_row' else 1) <= "
     "512",
     "nki/api/nki/isa/__init__.py:612",
     [](const Call& c) { return c.gen() > 3 || Width(c, mm::kMoving) <= 512; },
     "moving",
     "moving has a free size of {F:moving}; on {target} the limit is 512, "
     "twice "
     "that with double_row",
     "split the moving tile into tiles of at most 512 columns"},
    {"nc_matmul.moving_free_size_fp32",
     "not (gen >= 4 and dt(dst) == 'float32') or F(moving) // (2 if perf_mode "
     "== 'double_row' else 1) <= 4096",
     "nki/api/nki/isa/__init__.py:614",
     [](const Call& c) {
       return c.gen() < 4 || Dt(c[mm::kDst]) != Dtype::kFloat32 ||
              Width(c, mm::kMoving) <= 4096;
     },
     "moving",
     "moving has a free size of {F:moving}; with a float32 dst the limit is "
     "4096, twice that with double_row"},
    {"nc_matmul.moving_free_size_bf16",
     "not (gen >= 4 and dt(dst) == 'bfloat16') or F(moving) // (2 if perf_mode "
     "== 'double_row' else 1) <= 8192",
     "nki/api/nki/isa/__init__.py:614",
     [](const Call& c) {
       return c.gen() < 4 || Dt(c[mm::kDst]) != Dtype::kBFloat16 ||
              Width(c, mm::kMoving) <= 8192;
     },
     "moving",
     "moving has a free size of {F:moving}; with a bfloat16 dst the limit is "
     "8192, twice that with double_row"},
    {"nc_matmul.one_bank", "not gen <= 3 or psum_banks(dst) == 1",
     "nki/guides/architecture/trainium_inferentia2_arch.rst:791",
     [](const Call& c) {
       return c.gen() > 3 || PsumBanks(c, c[mm::kDst]) == 1;
     },
     "dst",
     "dst must lie within one PSUM bank of 2048 bytes a partition on {target}, "
     "but {shape:dst} {dt:dst} spans several",
     "let each matmul write at most 512 float32 columns of one bank"},
    {"nc_matmul.dst_shape",
     "P(dst) == F(stationary) // (2 if perf_mode == 'double_row' else 1) and "
     "F(dst) == F(moving) // (2 if perf_mode == 'double_row' else 1)",
     "nki/api/nki/isa/__init__.py:601",
     [](const Call& c) {
       return P(c[mm::kDst]) == Width(c, mm::kStationary) &&
              F(c[mm::kDst]) == Width(c, mm::kMoving);
     },
     "dst",
     "dst must be [{F:stationary}, {F:moving}] = [free(stationary), "
     "free(moving)], half of each with double_row, but it has {P:dst} "
     "partitions and a free size of {F:dst}"},
    {"nc_matmul.e4m3fn_generation",
     "not 'float8_e4m3fn' in (dt(stationary), dt(moving)) or gen >= 4",
     "nki/api/nki/isa/__init__.py:578",
     [](const Call& c) {
       return c.gen() >= 4 || !Either(c, Dtype::kFloat8E4M3FN);
     },
     "stationary",
     "float8_e4m3fn operands need trn3, and this is {target}: stationary is "
     "{dt:stationary}, moving {dt:moving}",
     "use float8_e4m3 (largest value 240) or target trn3"},
    {"nc_matmul.mixed_e4m3",
     "not ('float8_e4m3' in (dt(stationary), dt(moving)) and 'float8_e4m3fn' "
     "in (dt(stationary), dt(moving)))",
     "nki/api/nki/isa/__init__.py:579",
     [](const Call& c) {
       return !(Either(c, Dtype::kFloat8E4M3) &&
                Either(c, Dtype::kFloat8E4M3FN));
     },
     "moving",
     "float8_e4m3 and float8_e4m3fn cannot meet in one matmul: stationary is "
     "{dt:stationary}, moving {dt:moving}"},
    {"nc_matmul.fp32_pairing",
     "(dt(stationary) in ('float32', 'tfloat32')) == (dt(moving) in "
     "('float32', 'tfloat32'))",
     "nki/api/nki/isa/__init__.py:581",
     [](const Call& c) {
       return Wide(Dt(c[mm::kStationary])) == Wide(Dt(c[mm::kMoving]));
     },
     "moving",
     "float32 and tfloat32 operands only pair with each other: stationary is "
     "{dt:stationary}, moving {dt:moving}",
     "copy the narrower operand to float32, or the wider to the narrower"},
    {"nc_matmul.dst_dtype",
     "not (gen <= 3 and (not is_transpose)) or dt(dst) == 'float32'",
     "nki/api/nki/isa/__init__.py:588",
     [](const Call& c) {
       return c.gen() > 3 || Transposed(c) ||
              Dt(c[mm::kDst]) == Dtype::kFloat32;
     },
     "dst", "dst must be float32 on {target}, but it is {dt:dst}",
     "accumulate in a float32 PSUM tile and cast while copying it to SBUF"},
    {"nc_matmul.dst_dtype_gen4",
     "not (gen >= 4 and (not is_transpose)) or dt(dst) in ('float32', "
     "'bfloat16')",
     "nki/api/nki/isa/__init__.py:589",
     [](const Call& c) {
       return c.gen() < 4 || Transposed(c) ||
              Dt(c[mm::kDst]) == Dtype::kFloat32 ||
              Dt(c[mm::kDst]) == Dtype::kBFloat16;
     },
     "dst", "dst must be float32 or bfloat16 on {target}, but it is {dt:dst}"},
    {"nc_matmul.transpose_dst_dtype",
     "not is_transpose or gen == 2 or dt(dst) in (dt(stationary), 'float32') "
     "or (dt(stationary) in FP8 and size(dt(dst)) == 2)",
     "nki/guides/architecture/trainium2_arch.rst:199",
     [](const Call& c) {
       const Dtype from = Dt(c[mm::kStationary]);
       const Dtype to = Dt(c[mm::kDst]);
       return !Transposed(c) || c.gen() == 2 || to == from ||
              to == Dtype::kFloat32 || (IsFp8(from) && SizeOf(to) == 2);
     },
     "dst",
     "a transpose passes the bits of stationary ({dt:stationary}) through, but "
     "dst is {dt:dst}",
     "give dst the dtype of stationary, or float32"},
    {"nc_matmul.tile_pair",
     "(len(tile_position) == 0) == (len(tile_size) == 0)",
     "nki/api/nki/isa/__init__.py:531",
     [](const Call& c) {
       return c[mm::kTilePosition].num_ints == c[mm::kTileSize].num_ints;
     },
     "tile_size",
     "tile_position and tile_size go together, but they are "
     "{value:tile_position} and {value:tile_size}"},
    {"nc_matmul.tile_size",
     "not len(tile_size) == 2 or (tile_size[0] in ((64, 128) if gen == 2 else "
     "(32, 64, 128)) and tile_size[1] in ((64, 128) if gen == 2 else (32, 64, "
     "128)))",
     "nki/api/nki/isa/__init__.py:518",
     [](const Call& c) { return TileSizeOk(c, 0) && TileSizeOk(c, 1); },
     "tile_size",
     "tile_size is {value:tile_size}; on {target} rows and columns are 64 or "
     "128, from trn2 on also 32"},
    {"nc_matmul.tile_row",
     "not len(tile_size) == 2 or (tile_position[0] % tile_size[0] == 0 and "
     "tile_position[0] + tile_size[0] <= 128)",
     "nki/api/nki/isa/__init__.py:525",
     [](const Call& c) { return TilePositionOk(c, 0); }, "tile_position",
     "the start row of tile_position {value:tile_position} must be a multiple "
     "of the tile's rows and the tile must end within 128"},
    {"nc_matmul.tile_column",
     "not len(tile_size) == 2 or (tile_position[1] % tile_size[1] == 0 and "
     "tile_position[1] + tile_size[1] <= 128)",
     "nki/api/nki/isa/__init__.py:526",
     [](const Call& c) { return TilePositionOk(c, 1); }, "tile_position",
     "the start column of tile_position {value:tile_position} must be a "
     "multiple of the tile's columns and the tile must end within 128"},
    {"nc_matmul.tile_partitions",
     "len(tile_size) == 0 or (start_p(stationary) == tile_position[0] and "
     "start_p(moving) == tile_position[0] and start_p(dst) == "
     "tile_position[1])",
     "nki/guides/architecture/trainium2_arch.rst:89",
     [](const Call& c) {
       if (c[mm::kTileSize].num_ints != 2) return true;
       return StartPartition(c, c[mm::kStationary]) == Position(c, 0) &&
              StartPartition(c, c[mm::kMoving]) == Position(c, 0) &&
              StartPartition(c, c[mm::kDst]) == Position(c, 1);
     },
     "stationary",
     "operands lie on the partitions of their array tile: with tile_position "
     "{value:tile_position} stationary starts at partition "
     "{start:stationary}, moving at {start:moving}, dst at {start:dst}"},
};

void ExpandMatmul(const Call& c, Emitter& emitter) {
  TensorTile t;
  t.transpose = Transposed(c);
  t.stationary_onezero = c[mm::kStationaryOnezero].boolean();
  t.moving_onezero = c[mm::kMovingOnezero].boolean();
  t.start_row = Position(c, 0);
  t.start_column = Position(c, 1);
  t.rows = Rows(c);
  t.columns = Columns(c);
  t.perf_mode = c[mm::kPerfMode].as<PerfMode>();
  EmitPasses(c, emitter, c[mm::kStationary], c[mm::kMoving], c[mm::kDst], t,
             c[mm::kAccumulate].as<Accumulate>());
}

bool LiftMatmul(const Expansion& e, Call& c) {
  const Instruction* load;
  const Instruction* multiply;
  if (!FirstPair(e, load, multiply)) return false;
  using L = slot::LoadStationary;
  using M = slot::MultiplyMoving;
  const auto a = e.core->AttributesOf(*load);
  const auto b = e.core->AttributesOf(*multiply);
  c.values[mm::kStationary] =
      ValueOf(e.core->OperandsOf(*load)[L::kStationary]);
  c.values[mm::kDst] = ValueOf(e.core->OperandsOf(*multiply)[M::kDst]);
  c.values[mm::kMoving] = ValueOf(e.core->OperandsOf(*multiply)[M::kMoving]);
  c.values[mm::kStationaryOnezero] = Value::Bool(a[L::kOnezero].boolean());
  c.values[mm::kMovingOnezero] = Value::Bool(b[M::kOnezero].boolean());
  c.values[mm::kTranspose] = Value::Bool(b[M::kTranspose].boolean());
  c.values[mm::kAccumulate] = Value::OfEnum(b[M::kAccumulate].as<Accumulate>());
  const int64_t position[] = {b[M::kStartRow].integer(),
                              b[M::kStartColumn].integer()};
  const int64_t size[] = {b[M::kRows].integer(), b[M::kColumns].integer()};
  const bool whole =
      position[0] == 0 && position[1] == 0 && size[0] == 128 && size[1] == 128;
  c.values[mm::kTilePosition] = whole ? Value::Ints({}) : Value::Ints(position);
  c.values[mm::kTileSize] = whole ? Value::Ints({}) : Value::Ints(size);
  c.values[mm::kPerfMode] = Value::OfEnum(b[M::kPerfMode].as<PerfMode>());
  c.values[mm::kName] = Value::None();
  return true;
}

}  // namespace

const OperationInfo kNcMatmul = {
    "nc_matmul",
    kMatmulParameters,
    kMatmulRules,
    [](const Call&, Engine) { return Engine::kTensor; },
    ExpandMatmul,
    LiftMatmul,
    "dst = stationary^T @ moving on the tensor engine.",
    "sum over k of stationary[k, m] * moving[k, n] in fp32: four chains of 32 "
    "rows, added in order, one add into PSUM; float32 operands take two such "
    "passes (LO, HI).",
    "nki/api/nki/isa/__init__.py:489-712"};

}  // namespace trnemu::rows
