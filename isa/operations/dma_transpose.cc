// dma_transpose.
#include <algorithm>

#include "isa/operations/dma_rows.h"

namespace trnemu::rows {
namespace {

constexpr DtypeSet kTransposeTypes =
    SetOf(Dtype::kUint16) | SetOf(Dtype::kInt16) | SetOf(Dtype::kUint32) |
    SetOf(Dtype::kInt32) | SetOf(Dtype::kFloat16) | SetOf(Dtype::kBFloat16) |
    SetOf(Dtype::kTFloat32) | SetOf(Dtype::kFloat32);

constexpr ParameterSpec KeepDims(ParameterSpec spec) {
  spec.keep_dims = true;
  return spec;
}
namespace tr {
enum {
  kDst,
  kSrc,
  kAxes,
  kPriority,
  kDgeMode,
  kOobMode,
  kName,
  kTrigger,
  kQueues
};
}

constexpr ParameterSpec kTransposeParameters[] = {
    Out("dst", kOnChip, kTransposeTypes,
        "the permuted shape; 2-byte types with hwdge or rows"),
    KeepDims(In("src", kAnywhere, kTransposeTypes, "2 to 4 dimensions")),
    Opt("axes", ParameterKind::kInts, "None",
        "dst's axis i is src's axes[i]: (1, 0), (2, 1, 0) or (3, 1, 2, 0)"),
    Opt("priority", ParameterKind::kInteger, "None",
        "0 to 3, lower is more urgent (trn3)"),
    Opt("dge_mode", ParameterKind::kDgeMode, "unknown",
        "where descriptors come from: none, swdge or hwdge"),
    Opt("oob_mode", ParameterKind::kOobMode, "error",
        "what a dynamic index out of range does"),
    kNameParameter,
    kTriggerParameter,
    kQueuesParameter,
};

DgeMode Mode(const Call& c) { return c[tr::kDgeMode].as<DgeMode>(); }
const Access& Src(const Call& c) { return c[tr::kSrc].access; }
bool Rows(const Call& c) { return VecOff(c, c[tr::kSrc]); }
const Access& IndexOf(const Call& c) {
  return c.IndirectionOf(c[tr::kSrc])->index;
}
size_t RankOf(const Access& a) { return a.rank + (a.on_chip() ? 1u : 0u); }
int64_t LastDim(const Access& a) { return a.dims[a.rank - 1u].count; }

bool AxesAre(const Value& v, std::initializer_list<int64_t> axes) {
  return v.num_ints == axes.size() &&
         std::equal(axes.begin(), axes.end(), v.ints.begin());
}

// Of a rank from 2 to 4 and axes that fit it.
std::vector<int64_t> PermutedShape(const Call& c) {
  constexpr std::array<std::array<int64_t, 4>, 3> kDefaults = {
      {{1, 0}, {2, 1, 0}, {3, 1, 2, 0}}};
  const std::vector<int64_t> shape = Src(c).Shape();
  const Value& axes = c[tr::kAxes];
  std::vector<int64_t> permuted(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t axis =
        axes.is_none() ? kDefaults[shape.size() - 2][i] : axes.ints[i];
    permuted[i] = shape[static_cast<size_t>(axis)];
  }
  return permuted;
}

bool AxesFit(const Call& c) {
  const Value& axes = c[tr::kAxes];
  const size_t rank = RankOf(Src(c));
  return rank >= 2 && rank <= 4 && (axes.is_none() || axes.num_ints == rank);
}
bool AxesExist(const Call& c) {
  const Value& axes = c[tr::kAxes];
  return AxesFit(c) &&
         std::all_of(axes.ints.begin(), axes.ints.begin() + axes.num_ints,
                     [&](int64_t a) { return a >= 0 && a < axes.num_ints; });
}

constexpr Rule kTransposeRules[] = {
    {"dma_transpose.dtype", "dt(dst) == dt(src)",
     "nki/api/nki/isa/__init__.py:1007",
     [](const Call& c) { return Dt(c[tr::kDst]) == Dt(c[tr::kSrc]); }, "dst",
     "a transpose moves bits: dst is {dt:dst}, src {dt:src}",
     "cast with tensor_copy"},
    {"dma_transpose.psum", "buf(dst) == 'sbuf' and buf(src) in ('hbm', 'sbuf')",
     "nki/api/nki/isa/__init__.py:1006",
     [](const Call& c) {
       return Buf(c[tr::kDst]) == Space::kSbuf &&
              Buf(c[tr::kSrc]) != Space::kPsum;
     },
     "src",
     "NKI 0.3 and later refuse a DMA to or from PSUM: dst is in {buf:dst}, src "
     "in {buf:src}",
     "tensor_copy to SBUF first", Layer::kApi, Evidence::kDocumented,
     Severity::kError, Category::kIllegal, false},
    {"dma_transpose.axes", "axes in (None, (1, 0), (2, 1, 0), (3, 1, 2, 0))",
     "nki/api/nki/isa/__init__.py:1009",
     [](const Call& c) {
       const Value& a = c[tr::kAxes];
       return a.is_none() || AxesAre(a, {1, 0}) || AxesAre(a, {2, 1, 0}) ||
              AxesAre(a, {3, 1, 2, 0});
     },
     "axes",
     "axes must be (1, 0), (2, 1, 0) or (3, 1, 2, 0), not {value:axes}"},
    {"dma_transpose.src_rank", "2 <= rank(src) <= 4",
     "nki/api/nki/isa/__init__.py:873",
     [](const Call& c) { return RankOf(Src(c)) >= 2 && RankOf(Src(c)) <= 4; },
     "src", "src has shape {shape:src}; it must have 2, 3 or 4 dimensions",
     "reshape it"},
    {"dma_transpose.rank", "len(shape(dst)) == len(shape(src))",
     "release-notes/components/nki.rst:271",
     [](const Call& c) { return RankOf(c[tr::kDst].access) == RankOf(Src(c)); },
     "dst",
     "dst and src must have as many dimensions, but dst has shape {shape:dst} "
     "and src {shape:src}",
     "reshape one of them"},
    {"dma_transpose.priority",
     "priority is None or (gen >= 4 and priority in (0, 1, 2, 3))",
     "nki/api/nki/isa/__init__.py:1010",
     [](const Call& c) {
       const Value& p = c[tr::kPriority];
       return p.is_none() || (c.hardware->features.dma_priority &&
                              p.integer >= 0 && p.integer <= 3);
     },
     "priority",
     "priority must be None, or 0 to 3 on trn3; it is {value:priority} on "
     "{target}"},
    {"dma_transpose.hwdge",
     "not dge_mode == 'hwdge' or (gen >= 3 and size(dt(src)) == 2 and "
     "(shape(src)[-1] <= 128))",
     "nki/api/nki/isa/__init__.py:886",
     [](const Call& c) {
       return Mode(c) != DgeMode::kHwdge ||
              (c.hardware->features.dge_transpose &&
               SizeOf(Dt(c[tr::kSrc])) == 2 && LastDim(Src(c)) <= 128);
     },
     "dge_mode",
     "hwdge transposes 2-byte types with at most 128 elements in src's last "
     "dimension, on trn2 and trn3: src is {shape:src} of {dt:src}, on {target}",
     "leave dge_mode out"},
    {"dma_transpose.hwdge_2d",
     "not (dge_mode == 'hwdge' and rank(src) == 2) or shape(src)[0] == 16",
     "nki/api/nki/isa/__init__.py:883",
     [](const Call& c) {
       return Mode(c) != DgeMode::kHwdge || RankOf(Src(c)) != 2 ||
              P(c[tr::kSrc]) == 16;
     },
     "src", "hwdge transposes 16 rows, but src has shape {shape:src}",
     "leave dge_mode out, or transpose 16 rows at a time"},
    {"dma_transpose.hwdge_3d",
     "not (dge_mode == 'hwdge' and rank(src) > 2) or (shape(src)[0] in (1, 2, "
     "4, 8, 16) and shape(src)[0] * shape(src)[-2] % 16 == 0)",
     "nki/api/nki/isa/__init__.py:884",
     [](const Call& c) {
       if (Mode(c) != DgeMode::kHwdge || RankOf(Src(c)) <= 2) return true;
       const std::vector<int64_t> shape = Src(c).Shape();
       const int64_t first = shape[0];
       return (first == 1 || first == 2 || first == 4 || first == 8 ||
               first == 16) &&
              first * shape[shape.size() - 2] % 16 == 0;
     },
     "src",
     "hwdge transposes 1, 2, 4, 8 or 16 first rows, so that they times the "
     "last but one dimension are a multiple of 16; src has shape {shape:src}",
     "leave dge_mode out"},
    {"dma_transpose.rows_mode",
     "not vec_off(src) or (gen >= 3 and dge_mode in ('unknown', 'swdge'))",
     "nki/api/nki/isa/__init__.py:905",
     [](const Call& c) {
       return !Rows(c) ||
              (c.hardware->features.dge_transpose &&
               (Mode(c) == DgeMode::kUnknown || Mode(c) == DgeMode::kSwdge));
     },
     "src",
     "a transpose of rows with an index each is software descriptor "
     "generation, of trn2 and trn3: dge_mode is {value:dge_mode}, on {target}",
     "leave dge_mode out; on trn1 gather with dma_copy first"},
    {"dma_transpose.rows",
     "not vec_off(src) or (buf(src) == 'hbm' and size(dt(src)) == 2 and "
     "(shape(src)[-1] <= 128) and (shape(src)[0] % 16 == 0))",
     "nki/api/nki/isa/__init__.py:900",
     [](const Call& c) {
       return !Rows(c) || (Buf(c[tr::kSrc]) == Space::kHbm &&
                           SizeOf(Dt(c[tr::kSrc])) == 2 &&
                           LastDim(Src(c)) <= 128 && P(c[tr::kSrc]) % 16 == 0);
     },
     "src",
     "a transpose of rows with an index each takes multiples of 16 rows, at "
     "most 128 elements in the last dimension and 2-byte types; src has shape "
     "{shape:src} of {dt:src}",
     "gather with dma_copy first, or use more rows"},
    {"dma_transpose.rows_4d",
     "not (vec_off(src) and rank(src) == 4) or (shape(src)[1] == 1 or "
     "shape(src)[2] == 1)",
     "nki/api/nki/isa/__init__.py:894",
     [](const Call& c) {
       return !Rows(c) || RankOf(Src(c)) != 4 || Src(c).dims[1].count == 1 ||
              Src(c).dims[2].count == 1;
     },
     "src",
     "a transpose of rows of four dimensions needs one of the middle two to be "
     "1; src has shape {shape:src}",
     "split it"},
    {"dma_transpose.rows_index",
     "not vec_off(src) or (rank(off_idx(src)) == 2 and dt(off_idx(src)) == "
     "'uint32' and (buf(off_idx(src)) == 'sbuf') and (numel(off_idx(src)) >= "
     "shape(src)[0]))",
     "nki/api/nki/isa/__init__.py:898",
     [](const Call& c) {
       return !Rows(c) ||
              (RankOf(IndexOf(c)) == 2 && IndexOf(c).dtype == Dtype::kUint32 &&
               IndexOf(c).space == Space::kSbuf &&
               IndexOf(c).size() >= P(c[tr::kSrc]));
     },
     "src",
     "the index must be a two-dimensional SBUF tile of uint32 with an element "
     "for each of the {P:src} rows",
     "cast or load the index as uint32"},
    {"dma_transpose.rows_index_shape",
     "not vec_off(src) or (shape(off_idx(src))[0] in range(16, 129, 16) and "
     "(not shape(off_idx(src))[1] > 1 or shape(off_idx(src))[0] == 128))",
     "nki/api/nki/isa/__init__.py:901",
     [](const Call& c) {
       if (!Rows(c)) return true;
       const int64_t partitions = IndexOf(c).partitions;
       return partitions % 16 == 0 &&
              (IndexOf(c).free_size() == 1 || partitions == 128);
     },
     "src",
     "the index must have 16 to 128 partitions, a multiple of 16, and 128 if "
     "it has several columns",
     "use an index tile of (128, columns)"},
    {"dma_transpose.skip",
     "not oob_mode == 'skip' or (vec_off(src) or scl_off(src))",
     "nki/api/nki/isa/__init__.py:1016",
     [](const Call& c) {
       return c[tr::kOobMode].as<OobMode>() != OobMode::kSkip || Rows(c) ||
              SclOff(c, c[tr::kSrc]);
     },
     "oob_mode", "oob_mode=skip is for a src with a dynamic offset",
     "leave oob_mode out"},
    {"dma_transpose.axes_rank", "axes is None or len(axes) == rank(src)",
     "nki/api/nki/isa/__init__.py:872", AxesFit, "axes",
     "axes {value:axes} do not fit src, of shape {shape:src}",
     "leave axes out: there is one permutation a rank"},
    {"dma_transpose.shape", "shape(dst) == permuted(shape(src), axes)",
     "release-notes/components/nki.rst:271",
     [](const Call& c) {
       return !AxesExist(c) || c[tr::kDst].access.Shape() == PermutedShape(c);
     },
     "dst",
     "dst must have the permuted shape of src, but src has shape {shape:src} "
     "and dst {shape:dst}",
     "swap the first and the last dimension"},
    {"dma_transpose.swdge",
     "vec_off(src) or scl_off(src) or dge_mode != 'swdge'",
     "nki/deep-dives/nki-dge.rst:199",
     [](const Call& c) {
       return Mode(c) != DgeMode::kSwdge || Rows(c) || SclOff(c, c[tr::kSrc]);
     },
     "dge_mode", "swdge transposes only a src with a dynamic offset",
     "leave dge_mode out"},
    {"dma_transpose.trigger",
     "trigger of hwdge in ('sync', 'scalar'), of swdge 'gpsimd'",
     "nki/deep-dives/nki-dge.rst:132",
     [](const Call& c) {
       if (!IsSequencer(c.engine)) return false;
       if (Mode(c) == DgeMode::kSwdge || Rows(c)) {
         return c.engine == Engine::kGpsimd;
       }
       return Mode(c) != DgeMode::kHwdge || c.engine == Engine::kSync ||
              c.engine == Engine::kScalar;
     },
     "trigger",
     "hwdge is triggered by sync or scalar, swdge and rows with an index each "
     "by gpsimd, but the trigger is {engine} with dge_mode {value:dge_mode}"},
    {"dma_transpose.queues", "1 <= queues <= 16",
     "nki/get-started/about/nki-dma-overview.rst:29",
     [](const Call& c) { return QueuesFit(c, c[tr::kQueues]); }, "queues",
     "queues must be 1 to 16, but it is {value:queues}"},
};

Engine TransposeEngine(const Call& c, Engine) {
  const Engine trigger = Asked(c[tr::kTrigger]);
  if (trigger != Engine::kUnknown) return trigger;
  return Mode(c) == DgeMode::kSwdge || Rows(c) ? Engine::kGpsimd
                                               : Engine::kSync;
}

uint64_t AxesAttribute(const Value& axes) {
  if (axes.is_none()) return kNoAxes;
  uint64_t bits = kNoAxes;
  for (int i = 0; i < axes.num_ints; ++i) {
    bits &= ~(uint64_t{0xf} << (4 * i));
    bits |= static_cast<uint64_t>(axes.ints[static_cast<size_t>(i)] & 0xf)
            << (4 * i);
  }
  return bits;
}

Value AxesValue(uint64_t bits) {
  if (bits == kNoAxes) return Value::None();
  std::vector<int64_t> axes;
  for (int i = 0; i < 4 && (bits >> (4 * i) & 0xf) != 0xf; ++i) {
    axes.push_back(static_cast<int64_t>(bits >> (4 * i) & 0xf));
  }
  return Value::Ints(axes);
}

bool LiftTranspose(const Expansion& e, Call& c) {
  using S = slot::DmaTranspose;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kDmaTranspose) {
    return false;
  }
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[tr::kDst] = ValueOf(operands[S::kDst]);
  c.values[tr::kSrc] = ValueOf(operands[S::kSrc]);
  c.values[tr::kAxes] = AxesValue(attributes[S::kAxes].bits);
  const int64_t priority = attributes[S::kPriority].integer();
  c.values[tr::kPriority] =
      priority == -1 ? Value::None() : Value::Integer(priority);
  c.values[tr::kDgeMode] = Value::OfEnum(attributes[S::kDgeMode].as<DgeMode>());
  c.values[tr::kOobMode] = Value::OfEnum(attributes[S::kOobMode].as<OobMode>());
  c.values[tr::kName] = Value::None();
  c.values[tr::kTrigger] = Value::OfEnum(i.engine);
  c.queue_set = static_cast<uint32_t>(attributes[S::kQueueSet].integer());
  c.values[tr::kQueues] =
      Value::Integer(c.program->queue_sets[c.queue_set].queues);
  return true;
}

}  // namespace

const OperationInfo kDmaTranspose = {
    "dma_transpose",
    kTransposeParameters,
    kTransposeRules,
    TransposeEngine,
    [](const Call& c, Emitter& e) {
      const Value& priority = c[tr::kPriority];
      EmitOne(c, e, Opcode::kDmaTranspose,
              {OperandOf(c[tr::kDst]), OperandOf(c[tr::kSrc])},
              {Int(c.queue_set),
               Int(static_cast<int64_t>(AxesAttribute(c[tr::kAxes]))),
               Int(c[tr::kDgeMode].integer), Int(c[tr::kOobMode].integer),
               Int(priority.is_none() ? -1 : priority.integer)});
    },
    LiftTranspose,
    "Moves a tensor with its dimensions permuted.",
    "dst[i, ..] = src permuted by axes: (1, 0), (2, 1, 0) or (3, 1, 2, 0), "
    "bits. A src with a vector_offset is rows at index.T.flatten(), read when "
    "the transfer is triggered.",
    "nki/api/nki/isa/__init__.py:868-1016",
    true};

}  // namespace trnemu::rows
