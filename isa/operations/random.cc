// rng, rand2, rand_set_state, rand_get_state, set_rng_seed, dropout.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

Engine Vector(const Call&, Engine) { return Engine::kVector; }
Engine VectorByDefault(const Call&, Engine requested) {
  return requested == Engine::kUnknown ? Engine::kVector : requested;
}
Engine GpsimdByDefault(const Call&, Engine requested) {
  return requested == Engine::kUnknown ? Engine::kGpsimd : requested;
}

bool VectorOrGpsimd(const Call& c) {
  return c.engine == Engine::kVector || c.engine == Engine::kGpsimd;
}
bool OnGpsimd(const Call& c) { return c.engine == Engine::kGpsimd; }
bool OnVector(const Call& c) { return c.engine == Engine::kVector; }

// Words of a lane's state.
int64_t StateWords(const Call& c) { return OnGpsimd(c) ? 6 : 24; }
int64_t Rank(const Value& v) { return v.access.rank + 1; }
bool IsColumn(const Value& v, const Value& like) {
  return !v.is_tile() || (P(v) == P(like) && F(v) == 1);
}

constexpr ParameterSpec EngineParameter(std::string_view default_engine) {
  return Opt("engine", ParameterKind::kEngine, default_engine,
             "vector or gpsimd");
}
constexpr ParameterSpec TileOrNumber(std::string_view name, DtypeSet dtypes,
                                     std::string_view doc) {
  return {
      name, ParameterKind::kTileOrNumber, true, "", Role::kIn, kOnChip, dtypes,
      doc};
}

namespace rn {
enum { kDst, kEngine, kName };
}

constexpr ParameterSpec kRngParameters[] = {
    Out("dst", kOnChip, kIntegerTypes, "the low bits of 32 random ones"),
    EngineParameter("vector"), kNameParameter};

constexpr Rule kRngRules[] = {
    {"rng.engine", "engine in ('vector', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:2115", VectorOrGpsimd, "engine",
     "rng runs on the vector or the gpsimd engine, not on {engine}"},
    {"rng.gpsimd_generation", "not engine == 'gpsimd' or gen >= 3",
     "nki/api/nki/isa/__init__.py:2115",
     [](const Call& c) { return !OnGpsimd(c) || c.gen() >= 3; }, "engine",
     "rng on the gpsimd engine needs trn2 or trn3, and this is {target}",
     "leave engine out, or pass engine=\"vector\""},
};

namespace r2 {
enum { kDst, kMin, kMax, kName };
}

constexpr DtypeSet kRand2Types =
    kIntegerTypes | (kFloatTypes & ~SetOf(Dtype::kFloat8E4M3FN));

constexpr ParameterSpec kRand2Parameters[] = {
    Out("dst", kOnChip, kRand2Types, "any size"),
    TileOrNumber("min", SetOf(Dtype::kFloat32), "[P, 1] or a number"),
    TileOrNumber("max", SetOf(Dtype::kFloat32), "[P, 1] or a number"),
    kNameParameter};

constexpr Rule kRand2Rules[] = {
    {"rand2.generation", "gen >= 4", "nki/api/nki/isa/__init__.py:2247",
     [](const Call& c) { return c.gen() >= 4; }, "dst",
     "rand2 needs trn3, and this is {target}",
     "use rng, tensor_copy to float32 and tensor_scalar"},
    {"rand2.bounds_shape",
     "all(not is_tile(x) or (P(x) == P(dst) and F(x) == 1) for x in (min, "
     "max))",
     "nki/api/nki/isa/__init__.py:2279",
     [](const Call& c) {
       return IsColumn(c[r2::kMin], c[r2::kDst]) &&
              IsColumn(c[r2::kMax], c[r2::kDst]);
     },
     "min",
     "min and max are numbers or [{P:dst}, 1] columns, but they are "
     "{value:min} and {value:max}",
     "", Layer::kDevice, Evidence::kInferred},
    // Columns are looked at when it executes.
    {"rand2.range", "all((a < b for a, b in zip(val(min), val(max))))",
     "nki/api/nki/isa/__init__.py:2276",
     [](const Call& c) {
       if (c[r2::kMin].is_tile() || c[r2::kMax].is_tile()) return true;
       return static_cast<float>(c[r2::kMin].number) <
              static_cast<float>(c[r2::kMax].number);
     },
     "min", "min must be below max, but they are {value:min} and {value:max}",
     "", Layer::kDevice, Evidence::kDocumented, Severity::kError,
     Category::kUnspecified, false},
};

namespace st {
enum { kTile, kEngine, kName };
}

constexpr ParameterSpec kSetStateParameters[] = {
    In("src_seeds", kSbufOnly, SetOf(Dtype::kUint32),
       "[P, 6] on gpsimd, [P, 24] on vector"),
    EngineParameter("gpsimd"), kNameParameter};

constexpr Rule kSetStateRules[] = {
    {"rand_set_state.engine", "engine in ('vector', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:2202", VectorOrGpsimd, "engine",
     "rand_set_state runs on the gpsimd or the vector engine, not on {engine}"},
    {"rand_set_state.generation", "gen >= 3",
     "nki/api/nki/isa/__init__.py:2201",
     [](const Call& c) { return c.gen() >= 3; }, "src_seeds",
     "rand_set_state needs trn2 or trn3, and this is {target}",
     "use set_rng_seed"},
    {"rand_set_state.vector_generation", "not engine == 'vector' or gen >= 4",
     "nki/api/nki/isa/__init__.py:2202",
     [](const Call& c) { return !OnVector(c) || c.gen() >= 4; }, "engine",
     "the state of the vector engine's generator is set on trn3 only, and this "
     "is {target}",
     "use set_rng_seed for the vector engine"},
    {"rand_set_state.free_size",
     "F(src_seeds) == (6 if engine == 'gpsimd' else 24)",
     "nki/api/nki/isa/__init__.py:2197",
     [](const Call& c) { return F(c[st::kTile]) == StateWords(c); },
     "src_seeds",
     "src_seeds must have 6 elements per partition on gpsimd and 24 on vector, "
     "but it has {F:src_seeds} on {engine}"},
    {"rand_set_state.rank", "rank(src_seeds) == 2",
     "nki/api/nki/isa/__init__.py:2205",
     [](const Call& c) { return Rank(c[st::kTile]) == 2; }, "src_seeds",
     "src_seeds must have two dimensions, but it is {shape:src_seeds}"},
};

constexpr ParameterSpec kGetStateParameters[] = {
    Out("dst", kOnChip, SetOf(Dtype::kUint32),
        "[P, 6] on gpsimd, [P, 24] on vector"),
    EngineParameter("gpsimd"), kNameParameter};

constexpr Rule kGetStateRules[] = {
    {"rand_get_state.engine", "engine in ('vector', 'gpsimd')",
     "nki/api/nki/isa/__init__.py:2234", VectorOrGpsimd, "engine",
     "rand_get_state runs on the gpsimd or the vector engine, not on {engine}"},
    {"rand_get_state.generation", "gen >= 3",
     "nki/api/nki/isa/__init__.py:2233",
     [](const Call& c) { return c.gen() >= 3; }, "dst",
     "rand_get_state needs trn2 or trn3, and this is {target}"},
    {"rand_get_state.vector_generation", "not engine == 'vector' or gen >= 4",
     "nki/api/nki/isa/__init__.py:2234",
     [](const Call& c) { return !OnVector(c) || c.gen() >= 4; }, "engine",
     "the state of the vector engine's generator is read on trn3 only, and "
     "this is {target}"},
    {"rand_get_state.sbuf",
     "not (gen == 3 or engine == 'gpsimd') or buf(dst) == 'sbuf'",
     "nki/api/nki/isa/__init__.py:2221",
     [](const Call& c) {
       return !(c.gen() == 3 || OnGpsimd(c)) ||
              Buf(c[st::kTile]) == Space::kSbuf;
     },
     "dst",
     "dst must be in sbuf on trn2 and on gpsimd, but it is in {buf:dst}"},
    {"rand_get_state.free_size", "F(dst) == (6 if engine == 'gpsimd' else 24)",
     "nki/api/nki/isa/__init__.py:2229",
     [](const Call& c) { return F(c[st::kTile]) == StateWords(c); }, "dst",
     "dst must have 6 elements per partition on gpsimd and 24 on vector, but "
     "it has {F:dst} on {engine}"},
    {"rand_get_state.rank", "rank(dst) == 2",
     "nki/api/nki/isa/__init__.py:2237",
     [](const Call& c) { return Rank(c[st::kTile]) == 2; }, "dst",
     "dst must have two dimensions, but it is {shape:dst}"},
};

constexpr DtypeSet kSeedTypes = SetOf(Dtype::kInt32) | SetOf(Dtype::kUint32) |
                                SetOf(Dtype::kFloat32) |
                                SetOf(Dtype::kTFloat32);

constexpr ParameterSpec kSeedParameters[] = {
    In("src_seeds", kOnChip, kSeedTypes, "[1, 1], its 32 bits"),
    kNameParameter};

constexpr Rule kSeedRules[] = {
    {"set_rng_seed.one", "numel(src_seeds) == 1",
     "nki/api/nki/isa/__init__.py:2172",
     [](const Call& c) { return c[0].access.size() == 1 && P(c[0]) == 1; },
     "src_seeds", "src_seeds must be one element, but it is {shape:src_seeds}",
     "one seed serves all lanes; rand_set_state takes a state for each"},
};

namespace dr {
enum { kDst, kData, kProb, kName };
}

constexpr ParameterSpec kDropoutParameters[] = {
    Out("dst", kOnChip, kAnyType, "as data"),
    In("data", kOnChip, kAnyType, "[P, ...]"),
    TileOrNumber("prob", kFloatTypes,
                 "[P, 1] or a number: how likely an element becomes 0"),
    kNameParameter};

constexpr Rule kDropoutRules[] = {
    // Earlier versions of the API cast to another dtype; so does this.
    {"dropout.dtype", "dt(dst) == dt(data)", "nki/api/nki/isa/__init__.py:2145",
     [](const Call& c) { return Dt(c[dr::kDst]) == Dt(c[dr::kData]); }, "dst",
     "dst must have the dtype of data, but dst is {dt:dst} and data {dt:data}",
     "cast with tensor_copy before or after", Layer::kDevice,
     Evidence::kDocumented, Severity::kError, Category::kIllegal, false},
    {"dropout.shape", "P(dst) == P(data) and F(dst) == F(data)",
     "nki/api/nki/isa/__init__.py:2147",
     [](const Call& c) {
       return P(c[dr::kDst]) == P(c[dr::kData]) &&
              F(c[dr::kDst]) == F(c[dr::kData]);
     },
     "dst",
     "dst must match data, but dst has {P:dst} partitions of {F:dst} elements "
     "and data {P:data} of {F:data}"},
    {"dropout.integer_prob",
     "not (dt(data) in INT and is_tile(prob)) or dt(prob) == 'float32'",
     "nki/api/nki/isa/__init__.py:2141",
     [](const Call& c) {
       return !IsInteger(Dt(c[dr::kData])) || !c[dr::kProb].is_tile() ||
              Dt(c[dr::kProb]) == Dtype::kFloat32;
     },
     "prob",
     "prob must be float32 where data is an integer, but prob is {dt:prob} and "
     "data {dt:data}"},
    {"dropout.prob_shape",
     "not is_tile(prob) or (P(prob) == P(data) and F(prob) == 1)",
     "nki/api/nki/isa/__init__.py:2132",
     [](const Call& c) { return IsColumn(c[dr::kProb], c[dr::kData]); }, "prob",
     "prob is a number or a [{P:data}, 1] column, but it is {value:prob}"},
};

constexpr OperationInfo kRng = {
    "rng",
    kRngParameters,
    kRngRules,
    VectorByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRng, {OperandOf(c[rn::kDst])}, {});
    },
    nullptr,
    "Random bits.",
    "Each element draws 32 bits from its lane's generator and keeps the low "
    "ones. The bits are repeatable, but not a device's: no document gives the "
    "generators' details.",
    "nki/api/nki/isa/__init__.py:2087-2121"};

constexpr OperationInfo kRand2 = {
    "rand2",
    kRand2Parameters,
    kRand2Rules,
    Vector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRand2,
              {OperandOf(c[r2::kDst]), OperandOf(c[r2::kMin]),
               OperandOf(c[r2::kMax])},
              {});
    },
    nullptr,
    "Uniform random numbers.",
    "u = 32 random bits times 2^-32; min + u * (max - min), each step in fp32, "
    "one cast to dst.",
    "nki/api/nki/isa/__init__.py:2242-2281"};

constexpr OperationInfo kRandSetState = {
    "rand_set_state",
    kSetStateParameters,
    kSetStateRules,
    GpsimdByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRandSetState, {OperandOf(c[st::kTile])}, {});
    },
    nullptr,
    "Sets the XORWOW words of the lanes of an engine.",
    "The words x, y, z, w, v, d of one generator on gpsimd, of four on vector.",
    "nki/api/nki/isa/__init__.py:2177-2210"};

constexpr OperationInfo kRandGetState = {
    "rand_get_state",
    kGetStateParameters,
    kGetStateRules,
    GpsimdByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRandGetState, {OperandOf(c[st::kTile])}, {});
    },
    nullptr,
    "Reads the XORWOW words of the lanes of an engine.",
    "What rand_set_state has set comes back.",
    "nki/api/nki/isa/__init__.py:2212-2240"};

constexpr OperationInfo kSetRngSeed = {
    "set_rng_seed",
    kSeedParameters,
    kSeedRules,
    Vector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kSetRngSeed, {OperandOf(c[0])}, {});
    },
    nullptr,
    "Seeds all lanes of the vector engine's generator.",
    "The same seed gives the same numbers of rng on the vector engine.",
    "nki/api/nki/isa/__init__.py:2153-2175"};

constexpr OperationInfo kDropout = {
    "dropout",
    kDropoutParameters,
    kDropoutRules,
    Vector,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kDropout,
              {OperandOf(c[dr::kDst]), OperandOf(c[dr::kData]),
               OperandOf(c[dr::kProb])},
              {});
    },
    nullptr,
    "Zeroes elements with probability prob.",
    "u = 24 random bits times 2^-24; 0 if u < prob, else the element's bits. "
    "Nothing is rescaled.",
    "nki/api/nki/isa/__init__.py:2123-2151"};

constexpr const OperationInfo* kOperations[] = {
    &kRng, &kRand2, &kRandSetState, &kRandGetState, &kSetRngSeed, &kDropout,
};

}  // namespace

std::span<const OperationInfo* const> RandomOperations() { return kOperations; }

}  // namespace trnemu::rows
