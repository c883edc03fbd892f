// dma_copy, and the operations that the passes and reports use.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

namespace dma {
enum {
  kDst,
  kSrc,
  kPriority,
  kOobMode,
  kDgeMode,
  kEngine,
  kName,
  kTrigger,
  kQueues
};
}

constexpr ParameterSpec kDmaParameters[] = {
    Out("dst", kAnywhere, kAnyTypeOrPacked, "as many elements as src"),
    In("src", kAnywhere, kAnyTypeOrPacked, "any shape"),
    Opt("priority", ParameterKind::kInteger, "None",
        "0 to 3, lower is more urgent (trn3)"),
    Opt("oob_mode", ParameterKind::kOobMode, "error",
        "what a dynamic index out of range does"),
    Opt("dge_mode", ParameterKind::kDgeMode, "unknown",
        "where descriptors come from: none, swdge or hwdge"),
    Opt("engine", ParameterKind::kEngine, "unknown",
        "the sequencer that triggers hwdge: sync or scalar"),
    kNameParameter,
    Opt("trigger", ParameterKind::kEngine, "unknown",
        "the sequencer that triggers and waits; sync unless dge_mode=swdge "
        "makes it gpsimd"),
    Opt("queues", ParameterKind::kInteger, "16",
        "how many queues share the transfer; each signals its part"),
};

DgeMode Mode(const Call& c) { return c[dma::kDgeMode].as<DgeMode>(); }
Engine Asked(const Call& c, int parameter) {
  return c[parameter].is_none() ? Engine::kUnknown : c[parameter].as<Engine>();
}

bool HasRows(const Call& c) {
  return VecOff(c, c[dma::kDst]) || VecOff(c, c[dma::kSrc]);
}
// holds(x) for both sides.
template <typename Holds>
bool BothSides(const Call& c, Holds holds) {
  return holds(c, c[dma::kSrc]) && holds(c, c[dma::kDst]);
}

// Rows with an index each are software descriptor generation
// (nki/deep-dives/nki-dge.rst:213), which gpsimd does.
Engine DmaEngine(const Call& c, Engine requested) {
  if (const Engine trigger = Asked(c, dma::kTrigger);
      trigger != Engine::kUnknown) {
    return trigger;
  }
  if (requested != Engine::kUnknown) return requested;
  return Mode(c) == DgeMode::kSwdge || HasRows(c) ? Engine::kGpsimd
                                                  : Engine::kSync;
}

constexpr Rule kDmaRules[] = {
    {"dma_copy.size", "numel(src) == numel(dst)",
     "nki/api/nki/isa/__init__.py:289",
     [](const Call& c) {
       return c[dma::kDst].access.size() == c[dma::kSrc].access.size();
     },
     "dst",
     "dst and src must have the same number of elements, but dst has "
     "{size:dst} and src {size:src}",
     "check the slices: as in NumPy, a stop past the end is clipped"},
    {"dma_copy.psum",
     "buf(src) in ('hbm', 'sbuf') and buf(dst) in ('hbm', 'sbuf')",
     "release-notes/components/nki.rst:388",
     [](const Call& c) {
       return Buf(c[dma::kDst]) != Space::kPsum &&
              Buf(c[dma::kSrc]) != Space::kPsum;
     },
     "src",
     "NKI 0.3 and later refuse a DMA to or from PSUM: dst is in {buf:dst}, src "
     "in {buf:src}",
     "tensor_copy to SBUF first", Layer::kApi, Evidence::kDocumented,
     Severity::kError, Category::kIllegal, false},
    {"dma_copy.hwdge_generation", "not dge_mode == 'hwdge' or gen >= 3",
     "nki/api/nki/isa/__init__.py:372",
     [](const Call& c) {
       return Mode(c) != DgeMode::kHwdge || c.hardware->features.hardware_dge;
     },
     "dge_mode", "{target} has no hardware descriptor generation",
     "use dge_mode=\"none\" or \"swdge\""},
    {"dma_copy.hwdge_cast", "not dge_mode == 'hwdge' or dt(src) == dt(dst)",
     "release-notes/components/nki.rst:390",
     [](const Call& c) {
       return Mode(c) != DgeMode::kHwdge ||
              Dt(c[dma::kDst]) == Dt(c[dma::kSrc]);
     },
     "dst", "dge_mode=hwdge moves bytes and cannot cast {dt:src} to {dt:dst}",
     "use dge_mode=\"swdge\", or cast with tensor_copy"},
    {"dma_copy.hwdge_rows",
     "not dge_mode == 'hwdge' or (not vec_off(src) and (not vec_off(dst)))",
     "nki/deep-dives/nki-dge.rst:125",
     [](const Call& c) { return Mode(c) != DgeMode::kHwdge || !HasRows(c); },
     "dge_mode", "hardware descriptor generation cannot gather or scatter rows",
     "use dge_mode=\"swdge\", or leave it out"},
    {"dma_copy.rows_mode",
     "not (vec_off(src) or vec_off(dst)) or dge_mode in ('unknown', 'swdge')",
     "nki/deep-dives/nki-dge.rst:206",
     [](const Call& c) {
       return !HasRows(c) || Mode(c) == DgeMode::kUnknown ||
              Mode(c) == DgeMode::kSwdge;
     },
     "dge_mode",
     "rows with an index each need software descriptor generation, but "
     "dge_mode is {value:dge_mode}",
     "use dge_mode=\"swdge\", or leave it out"},
    {"dma_copy.one_offset",
     "all((not (vec_off(x) and scl_off(x)) for x in (src, dst)))",
     "nki/api/nki/isa/__init__.py:310",
     [](const Call& c) {
       return BothSides(c, [](const Call& call, const Value& v) {
         return !VecOff(call, v) || !SclOff(call, v);
       });
     },
     "src", "a view has a scalar_offset or a vector_offset, not both"},
    {"dma_copy.rows_in_hbm",
     "all((buf(x) == 'hbm' and indirect_dim(x) == 0 for x in (src, dst) if "
     "vec_off(x)))",
     "nki/api/nki/isa/__init__.py:304",
     [](const Call& c) {
       return BothSides(c, [](const Call& call, const Value& v) {
         return !VecOff(call, v) ||
                (Buf(v) == Space::kHbm && call.IndirectionOf(v)->dim == 0);
       });
     },
     "src", "rows with an index each are of dimension 0 of a tensor in HBM"},
    {"dma_copy.rows_index",
     "all((buf(off_idx(x)) == 'sbuf' and F(off_idx(x)) == 1 for x in (src, "
     "dst) if vec_off(x)))",
     "nki/api/nki/isa/__init__.py:303",
     [](const Call& c) {
       return BothSides(c, [](const Call& call, const Value& v) {
         if (!VecOff(call, v)) return true;
         const Access& index = call.IndirectionOf(v)->index;
         return index.space == Space::kSbuf && index.free_size() == 1;
       });
     },
     "src",
     "the index of rows must be an SBUF tile of one element per partition",
     "put each index on a partition of its own; dma_transpose takes more"},
    {"dma_copy.single_index",
     "all((is_reg(off_idx(x)) or numel(off_idx(x)) == 1 for x in (src, dst) "
     "if scl_off(x)))",
     "nki/api/nki/isa/__init__.py:308",
     [](const Call& c) {
       return BothSides(c, [](const Call& call, const Value& v) {
         const Indirection* i = call.IndirectionOf(v);
         return !SclOff(call, v) || !i->has_index() || i->index.size() == 1;
       });
     },
     "src", "a scalar_offset is a register or a tile of one element"},
    {"dma_copy.priority",
     "priority is None or (gen >= 4 and priority in (0, 1, 2, 3))",
     "nki/api/nki/isa/__init__.py:371",
     [](const Call& c) {
       const Value& p = c[dma::kPriority];
       return p.is_none() || (c.hardware->features.dma_priority &&
                              p.integer >= 0 && p.integer <= 3);
     },
     "priority",
     "priority must be None, or 0 to 3 on trn3; it is {value:priority} on "
     "{target}"},
    {"dma_copy.engine",
     "not engine_attr != 'unknown' or (dge_mode == 'hwdge' and engine_attr in "
     "('sync', 'scalar'))",
     "nki/api/nki/isa/__init__.py:381",
     [](const Call& c) {
       const Engine e = Asked(c, dma::kEngine);
       return e == Engine::kUnknown ||
              (Mode(c) == DgeMode::kHwdge && c.engine == e &&
               (e == Engine::kSync || e == Engine::kScalar));
     },
     "engine",
     "engine is for dge_mode=hwdge, must be sync or scalar, and is the "
     "trigger, "
     "but it is {value:engine} with dge_mode {value:dge_mode} and trigger "
     "{engine}",
     "use trigger= to choose the triggering sequencer of another mode"},
    {"dma_copy.trigger",
     "trigger of hwdge in ('sync', 'scalar'), of swdge 'gpsimd'",
     "nki/api/nki/isa/__init__.py:374",
     [](const Call& c) {
       if (c.engine == Engine::kUnknown || c.engine == Engine::kDma) {
         return false;
       }
       if (Mode(c) == DgeMode::kSwdge || HasRows(c)) {
         return c.engine == Engine::kGpsimd;
       }
       if (Mode(c) != DgeMode::kHwdge) return true;
       return c.engine == Engine::kSync || c.engine == Engine::kScalar;
     },
     "trigger",
     "hwdge is triggered by sync or scalar, swdge and rows with an index each "
     "by gpsimd, but the trigger is {engine} with dge_mode {value:dge_mode}"},
    {"dma_copy.queues", "1 <= queues <= 16",
     "nki/get-started/about/nki-dma-overview.rst:29",
     [](const Call& c) {
       const Value& q = c[dma::kQueues];
       return q.is_none() ||
              (q.integer >= 1 && q.integer <= c.hardware->dma.engines);
     },
     "queues", "queues must be 1 to 16, but it is {value:queues}"},
    {"dma_copy.packed_cast",
     "not dt(src) != dt(dst) or (dt(src) not in X4 and dt(dst) not in X4)",
     "nki/get-started/about/nki-dma-overview.rst:19",
     [](const Call& c) {
       return Dt(c[dma::kDst]) == Dt(c[dma::kSrc]) ||
              (!IsPacked(Dt(c[dma::kDst])) && !IsPacked(Dt(c[dma::kSrc])));
     },
     "dst",
     "packed types are copied, never cast: src is {dt:src}, dst {dt:dst}"},
};

bool LiftDma(const Expansion& e, Call& c) {
  using S = slot::DmaCopy;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kDmaCopy) return false;
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[dma::kDst] = ValueOf(operands[S::kDst]);
  c.values[dma::kSrc] = ValueOf(operands[S::kSrc]);
  c.values[dma::kOobMode] =
      Value::OfEnum(attributes[S::kOobMode].as<OobMode>());
  c.values[dma::kDgeMode] =
      Value::OfEnum(attributes[S::kDgeMode].as<DgeMode>());
  const int64_t priority = attributes[S::kPriority].integer();
  c.values[dma::kPriority] =
      priority == -1 ? Value::None() : Value::Integer(priority);
  c.values[dma::kEngine] = Value::None();
  c.values[dma::kName] = Value::None();
  c.values[dma::kTrigger] = Value::OfEnum(i.engine);
  c.queue_set = static_cast<uint32_t>(attributes[S::kQueueSet].integer());
  c.values[dma::kQueues] =
      Value::Integer(c.program->queue_sets[c.queue_set].queues);
  return true;
}

constexpr ParameterSpec kPsumResetParameters[] = {
    Out("dst", kPsumOnly, kAnyTypeOrPacked, "the region of a PSUM tile"),
    kEngineParameter};

bool LiftPsumReset(const Expansion& e, Call& c) {
  if (e.instructions[0]->opcode != Opcode::kPsumReset) return false;
  c.values[0] = ValueOf(e.core->OperandsOf(*e.instructions[0])[0]);
  c.values[1] = Value::OfEnum(e.instructions[0]->engine);
  return true;
}

constexpr ParameterSpec kNopParameters[] = {kEngineParameter};

Engine SyncByDefault(const Call&, Engine requested) {
  return requested == Engine::kUnknown ? Engine::kSync : requested;
}

}  // namespace

const OperationInfo kDmaCopy = {
    "dma_copy",
    kDmaParameters,
    kDmaRules,
    DmaEngine,
    [](const Call& c, Emitter& e) {
      const Value& priority = c[dma::kPriority];
      EmitOne(c, e, Opcode::kDmaCopy,
              {OperandOf(c[dma::kDst]), OperandOf(c[dma::kSrc])},
              {Int(c.queue_set), Int(c[dma::kDgeMode].integer),
               Int(c[dma::kOobMode].integer),
               Int(priority.is_none() ? -1 : priority.integer)});
    },
    LiftDma,
    "Moves elements between HBM, SBUF and PSUM.",
    "dst.flat[k] = src.flat[k]: bits where the dtypes are equal, else through "
    "fp32. A side with a vector_offset is rows at the indices read when the "
    "transfer is triggered; one out of bounds is an error, or with "
    "oob_mode=\"skip\" leaves its row as it is. Split over the queues, eight "
    "partitions each; every queue signals its part.",
    "nki/api/nki/isa/__init__.py:246-382",
    true};

const OperationInfo kPsumReset = {
    "psum_reset",
    kPsumResetParameters,
    {},
    SyncByDefault,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kPsumReset, {OperandOf(c[0])}, {});
    },
    LiftPsumReset,
    "Marks a PSUM region as newly allocated.",
    "accumulate=None starts afresh there; the bytes count as never written. "
    "Placed by the allocator.",
    "nki/api/nki/isa/__init__.py:546",
    true,
    true};

const OperationInfo kNop = {
    "nop",
    kNopParameters,
    {},
    SyncByDefault,
    [](const Call& c, Emitter& e) { EmitOne(c, e, Opcode::kNop, {}, {}); },
    [](const Expansion& e, Call& c) {
      c.values[0] = Value::OfEnum(e.instructions[0]->engine);
      return e.instructions[0]->opcode == Opcode::kNop;
    },
    "Waits and signals only.",
    "Takes the time of a semaphore instruction.",
    "nki/guides/architecture/trainium_inferentia2_arch.rst:58"};

}  // namespace trnemu::rows
