// core_barrier and sendrecv: how the two cores of a logical core meet.
#include <algorithm>
#include <bit>

#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

bool Two(const Call& c) { return c.program->cores.size() == 2; }
int64_t OwnCore(const Call& c) { return c.core - c.program->cores.data(); }

namespace barrier {
enum { kData, kCores, kEngine, kName };
}

constexpr ParameterSpec kBarrierParameters[] = {
    {"data", ParameterKind::kTile, true, "", Role::kInOut, SetOf(Space::kHbm),
     kAnyTypeOrPacked, "the tensor that the cores share, or a part of it"},
    Attr("cores", ParameterKind::kInts,
         "who meets: (0, 1), or one core alone, which waits for nobody"),
    Opt("engine", ParameterKind::kEngine, "gpsimd", "the engine that waits"),
    kNameParameter,
};

// The cores of a call, as bits. Cores that no mask has are left out.
int64_t MaskOf(const Value& cores) {
  int64_t mask = 0;
  for (int i = 0; i < cores.num_ints; ++i) {
    if (cores.ints[i] >= 0 && cores.ints[i] < 63) {
      mask |= int64_t{1} << cores.ints[i];
    }
  }
  return mask;
}

bool OneCore(const Value& cores) {
  return cores.num_ints > 0 &&
         std::all_of(cores.ints.begin(), cores.ints.begin() + cores.num_ints,
                     [&](int64_t core) { return core == cores.ints[0]; });
}

constexpr Rule kBarrierRules[] = {
    {"core_barrier.generation",
     "len(set(cores)) == 1 or (gen >= 3 and lnc == 2)",
     "nki/api/nki/isa/__init__.py:2605",
     [](const Call& c) {
       return OneCore(c[barrier::kCores]) || c.hardware->features.lnc2;
     },
     "cores",
     "{target} cannot join two cores to one logical core, trn2 and trn3 can; "
     "cores is {value:cores}",
     "leave the barrier out: a program has one core there"},
    {"core_barrier.two_cores",
     "len(set(cores)) == 1 or (gen >= 3 and lnc == 2)",
     "nki/api/nki/isa/__init__.py:2618",
     [](const Call& c) { return OneCore(c[barrier::kCores]) || Two(c); },
     "cores",
     "cores is {value:cores}, which needs a logical core of two physical "
     "cores, but the program has one",
     "build the program with cores=2, or name the one core that it has"},
    {"core_barrier.cores", "set(cores) <= {0, 1} and len(cores) >= 1",
     "nki/api/nki/isa/__init__.py:2620",
     [](const Call& c) {
       const Value& v = c[barrier::kCores];
       return v.num_ints >= 1 &&
              std::all_of(v.ints.begin(), v.ints.begin() + v.num_ints,
                          [](int64_t core) { return core == 0 || core == 1; });
     },
     "cores",
     "cores must name core 0, core 1 or both, but it is {value:cores}"},
    {"core_barrier.own_core", "core in cores",
     "nki/api/nki/isa/__init__.py:2607",
     [](const Call& c) {
       return (MaskOf(c[barrier::kCores]) >> OwnCore(c) & 1) != 0;
     },
     "cores",
     "cores is {value:cores}, without core {core}, which executes the barrier",
     "add the core, or call core_barrier on the cores that meet",
     Layer::kDevice, Evidence::kInferred},
    {"core_barrier.engine",
     "engine in ('gpsimd', 'vector', 'scalar', 'tensor', 'sync')",
     "nki/api/nki/isa/__init__.py:2628",
     [](const Call& c) {
       return c.engine != Engine::kUnknown && c.engine != Engine::kDma;
     },
     "engine",
     "the barrier blocks an engine: gpsimd, vector, scalar, tensor or sync, "
     "but engine is {value:engine}",
     "", Layer::kDevice, Evidence::kInferred},
};

Engine BarrierEngine(const Call&, Engine requested) {
  return requested == Engine::kUnknown ? Engine::kGpsimd : requested;
}

void ExpandBarrier(const Call& c, Emitter& e) {
  const int64_t mask = MaskOf(c[barrier::kCores]);
  for (int64_t phase : {0, 1}) {
    EmitOne(c, e, Opcode::kCoreBarrier, {OperandOf(c[barrier::kData])},
            {Int(mask), Int(phase)});
  }
}

bool LiftBarrier(const Expansion& e, Call& c) {
  using S = slot::CoreBarrier;
  const Instruction& i = *e.instructions[0];
  if (i.opcode != Opcode::kCoreBarrier) return false;
  const auto mask =
      static_cast<uint64_t>(e.core->AttributesOf(i)[S::kCores].integer());
  if (std::popcount(mask) > kMaxInts) return false;
  std::array<int64_t, kMaxInts> cores{};
  size_t count = 0;
  for (int64_t core = 0; core < 63; ++core) {
    if (mask >> core & 1) cores[count++] = core;
  }
  c.values[barrier::kData] = ValueOf(e.core->OperandsOf(i)[S::kData]);
  c.values[barrier::kCores] = Value::Ints({cores.data(), count});
  c.values[barrier::kEngine] = Value::OfEnum(i.engine);
  c.values[barrier::kName] = Value::None();
  return true;
}

namespace exchange {
enum { kSrc, kDst, kSendTo, kReceiveFrom, kPipe, kPath, kName };
}

constexpr ParameterSpec kExchangeParameters[] = {
    In("src", kSbufOnly, kAnyTypeOrPacked, "what this core sends"),
    Out("dst", kSbufOnly, kAnyTypeOrPacked,
        "where it receives; shape and dtype of src"),
    Attr("send_to_rank", ParameterKind::kInteger,
         "the core, 0 or 1, whose dst gets src"),
    Attr("recv_from_rank", ParameterKind::kInteger,
         "the core, 0 or 1, whose src comes into dst"),
    Attr("pipe_id", ParameterKind::kInteger,
         "the first of a pipe meets the other core's first, and so on"),
    Opt("dma_engine", ParameterKind::kDmaEngine, "dma",
        "the path: dma, or gpsimd_dma for small tiles"),
    kNameParameter,
};

DmaEngine Path(const Call& c) { return c[exchange::kPath].as<DmaEngine>(); }
bool IsRank(const Value& v) { return v.integer == 0 || v.integer == 1; }

constexpr int64_t kGpsimdDmaElements = 256;

constexpr Rule kExchangeRules[] = {
    {"sendrecv.generation", "gen >= 3", "nki/api/nki/isa/__init__.py:2976",
     [](const Call& c) { return c.hardware->features.lnc2; }, "send_to_rank",
     "{target} cannot join two cores to one logical core, so there is nobody "
     "to exchange with; trn2 and trn3 can",
     "copy through HBM with dma_copy"},
    {"sendrecv.two_cores", "gen >= 3 and lnc == 2",
     "nki/api/nki/isa/__init__.py:2988", [](const Call& c) { return Two(c); },
     "send_to_rank",
     "an exchange needs a logical core of two physical cores, but the program "
     "has one",
     "build the program with cores=2"},
    {"sendrecv.ranks", "send_to_rank in (0, 1) and recv_from_rank in (0, 1)",
     "nki/api/nki/isa/__init__.py:2991",
     [](const Call& c) {
       return IsRank(c[exchange::kSendTo]) && IsRank(c[exchange::kReceiveFrom]);
     },
     "send_to_rank",
     "ranks are the cores 0 and 1 of the logical core, but send_to_rank is "
     "{value:send_to_rank} and recv_from_rank {value:recv_from_rank}"},
    {"sendrecv.dtype", "dt(src) == dt(dst)", "nki/api/nki/isa/__init__.py:3012",
     [](const Call& c) {
       return Dt(c[exchange::kSrc]) == Dt(c[exchange::kDst]);
     },
     "dst",
     "src and dst must have the same dtype, but src is {dt:src} and dst "
     "{dt:dst}",
     "cast with tensor_copy before or after; the exchange moves bits"},
    {"sendrecv.shape", "shape(src) == shape(dst)",
     "nki/api/nki/isa/__init__.py:3013",
     [](const Call& c) {
       return c[exchange::kSrc].access.Shape() ==
              c[exchange::kDst].access.Shape();
     },
     "dst",
     "src and dst must have the same shape, but src is {shape:src} and dst "
     "{shape:dst}"},
    {"sendrecv.gpsimd_size", "not dma_engine == 'gpsimd_dma' or F(src) <= 256",
     "nki/api/nki/isa/__init__.py:3005",
     [](const Call& c) {
       return Path(c) != DmaEngine::kGpsimdDma ||
              F(c[exchange::kSrc]) <= kGpsimdDmaElements;
     },
     "src",
     "dma_engine=gpsimd_dma moves at most 256 elements per partition (1024, "
     "512 or 256 bytes of 4-, 2- or 1-byte types), but src has {F:src} of "
     "{dt:src}",
     "use dma_engine=\"dma\", or split the tile"},
    {"sendrecv.trigger", "not dma_engine == 'gpsimd_dma' or engine == 'gpsimd'",
     "nki/api/nki/isa/__init__.py:3004",
     [](const Call& c) {
       return Path(c) != DmaEngine::kGpsimdDma || c.engine == Engine::kGpsimd;
     },
     "dma_engine",
     "gpsimd_dma is triggered by the gpsimd engine, but the trigger is "
     "{engine}"},
};

Engine ExchangeEngine(const Call& c, Engine) {
  return Path(c) == DmaEngine::kGpsimdDma ? Engine::kGpsimd : Engine::kSync;
}

void ExpandExchange(const Call& c, Emitter& e) {
  EmitOne(c, e, Opcode::kSendRecv,
          {OperandOf(c[exchange::kDst]), OperandOf(c[exchange::kSrc])},
          {Int(c.queue_set), Int(c[exchange::kSendTo].integer),
           Int(c[exchange::kReceiveFrom].integer),
           Int(c[exchange::kPipe].integer), AttributeOf(Path(c))});
}

bool LiftExchange(const Expansion& e, Call& c) {
  using S = slot::SendRecv;
  const Instruction& i = *e.instructions[0];
  if (i.opcode != Opcode::kSendRecv) return false;
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[exchange::kSrc] = ValueOf(operands[S::kSrc]);
  c.values[exchange::kDst] = ValueOf(operands[S::kDst]);
  c.values[exchange::kSendTo] =
      Value::Integer(attributes[S::kSendToRank].integer());
  c.values[exchange::kReceiveFrom] =
      Value::Integer(attributes[S::kRecvFromRank].integer());
  c.values[exchange::kPipe] = Value::Integer(attributes[S::kPipeId].integer());
  c.values[exchange::kPath] =
      Value::OfEnum(attributes[S::kDmaEngine].as<DmaEngine>());
  c.values[exchange::kName] = Value::None();
  c.queue_set = static_cast<uint32_t>(attributes[S::kQueueSet].integer());
  // As of any DMA (dma_copy.queues).
  return c.program->queue_sets[c.queue_set].queues <= 16;
}

constexpr OperationInfo kCoreBarrier = {
    "core_barrier",
    kBarrierParameters,
    kBarrierRules,
    BarrierEngine,
    ExpandBarrier,
    LiftBarrier,
    "Waits until the other core of a logical core has come as far.",
    "After this core's earlier accesses to data, and before its later ones: "
    "tells every other core of `cores` that it has arrived, then blocks the "
    "engine until all of them have. Other engines go on. The k-th barrier of "
    "a set of cores on one core meets the k-th on the others.",
    "nki/api/nki/isa/__init__.py:2601-2657",
    true};

constexpr OperationInfo kSendRecv = {
    "sendrecv",
    kExchangeParameters,
    kExchangeRules,
    ExchangeEngine,
    ExpandExchange,
    LiftExchange,
    "Exchanges tiles with the other core of a logical core.",
    "src goes to dst of core send_to_rank, and dst gets src of core "
    "recv_from_rank: bits. Nothing moves before both cores have come to their "
    "k-th sendrecv of a pipe_id and path; src and dst may be the same tile. "
    "Split over 16 queues, each of which signals its part on both cores.",
    "nki/api/nki/isa/__init__.py:2971-3049",
    true};

constexpr const OperationInfo* kOperations[] = {&kCoreBarrier, &kSendRecv};

}  // namespace

std::span<const OperationInfo* const> CoreOperations() { return kOperations; }

}  // namespace trnemu::rows
