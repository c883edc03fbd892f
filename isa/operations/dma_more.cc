// dma_compute, and the list of DMA operations besides dma_copy.
#include "isa/operations/dma_rows.h"

namespace trnemu::rows {
namespace {

namespace sum {
enum {
  kDst,
  kSrc0,
  kReduceOp = kSrc0 + 16,
  kScales,
  kUniqueIndices,
  kOobMode,
  kName,
  kTrigger,
  kQueues
};
}
static_assert(sum::kQueues < kMaxParameters);
constexpr int kMaxSources = 16;

constexpr ParameterSpec Source(std::string_view name, bool first) {
  ParameterSpec spec =
      In(name, kAnywhere, kAnyType,
         first ? "up to 16 views of as many elements as dst" : "");
  spec.required = first;
  if (!first) spec.default_text = "None";
  spec.repeats = first ? kMaxSources : 1;
  return spec;
}

constexpr ParameterSpec kComputeParameters[] = {
    Out("dst", kAnywhere, kAnyType, "as many elements as each source"),
    Source("srcs", true),
    Source("srcs[1]", false),
    Source("srcs[2]", false),
    Source("srcs[3]", false),
    Source("srcs[4]", false),
    Source("srcs[5]", false),
    Source("srcs[6]", false),
    Source("srcs[7]", false),
    Source("srcs[8]", false),
    Source("srcs[9]", false),
    Source("srcs[10]", false),
    Source("srcs[11]", false),
    Source("srcs[12]", false),
    Source("srcs[13]", false),
    Source("srcs[14]", false),
    Source("srcs[15]", false),
    Attr("reduce_op", ParameterKind::kAluOp, "add"),
    Opt("scales", ParameterKind::kScales, "None", "a 1.0 for each source"),
    Opt("unique_indices", ParameterKind::kBool, "True",
        "must be True with a vector_offset"),
    Opt("oob_mode", ParameterKind::kOobMode, "error",
        "what a dynamic index out of range does"),
    kNameParameter,
    kTriggerParameter,
    kQueuesParameter,
};

// holds(source) for every source.
template <typename Holds>
bool AllSources(const Call& c, Holds holds) {
  for (int s = 0; s < kMaxSources; ++s) {
    if (c[sum::kSrc0 + s].is_tile() && !holds(c[sum::kSrc0 + s])) return false;
  }
  return true;
}
int CountSources(const Call& c) {
  int count = 0;
  AllSources(c, [&](const Value&) { return ++count > 0; });
  return count;
}
bool ComputesRows(const Call& c) {
  return VecOff(c, c[sum::kDst]) ||
         !AllSources(c, [&](const Value& v) { return !VecOff(c, v); });
}
bool IsStatic(const Value& v) { return !v.access.is_dynamic(); }

// The same region, at the same indices.
bool SameTensor(const Call& c, const Value& a, const Value& b) {
  Access as_b = b.access;
  as_b.indirection = a.access.indirection;
  if (a.access != as_b) return false;
  const Indirection* i = c.IndirectionOf(a);
  const Indirection* j = c.IndirectionOf(b);
  if (i == nullptr || j == nullptr) return i == j;
  return *i == *j;
}

constexpr Rule kComputeRules[] = {
    {"dma_compute.reduce_op", "reduce_op == 'add'",
     "nki/api/nki/isa/__init__.py:2664",
     [](const Call& c) { return Alu(c[sum::kReduceOp]) == AluOp::kAdd; },
     "reduce_op", "a DMA can only add, not {value:reduce_op}",
     "use tensor_tensor"},
    {"dma_compute.scales", "scales is None or all((s == 1.0 for s in scales))",
     "nki/api/nki/isa/__init__.py:2665",
     [](const Call& c) {
       return c[sum::kScales].is_none() || c[sum::kScales].number == 1;
     },
     "scales", "all scales must be 1.0, but one is {value:scales}",
     "scale with tensor_scalar"},
    {"dma_compute.scales_count", "scales is None or len(scales) == len(srcs)",
     "nki/api/nki/isa/__init__.py:2665",
     [](const Call& c) {
       const Value& scales = c[sum::kScales];
       return !scales.counted || scales.num_ints == CountSources(c);
     },
     "scales", "scales must have a number for each of srcs",
     "leave scales out: all are 1.0", Layer::kDevice, Evidence::kInferred},
    {"dma_compute.sources", "1 <= len(srcs) <= 16",
     "nki/api/nki/isa/__init__.py:2716",
     [](const Call& c) {
       // None after the first that is not there.
       const int count = CountSources(c);
       return count >= 1 && c[sum::kSrc0 + count - 1].is_tile();
     },
     "srcs", "there must be 1 to 16 sources"},
    {"dma_compute.size", "all((numel(s) == numel(dst) for s in srcs))",
     "nki/api/nki/isa/__init__.py:2715",
     [](const Call& c) {
       const int64_t size = c[sum::kDst].access.size();
       return AllSources(
           c, [size](const Value& v) { return v.access.size() == size; });
     },
     "dst",
     "every source must have as many elements as dst, which has {size:dst}; "
     "the first has {size:srcs}",
     "check the slices: as in NumPy, a stop past the end is clipped"},
    {"dma_compute.rows",
     "not (any((vec_off(s) for s in srcs)) or vec_off(dst)) or (len(srcs) == 2 "
     "and unique_indices)",
     "nki/api/nki/isa/__init__.py:2688",
     [](const Call& c) {
       return !ComputesRows(c) ||
              (CountSources(c) == 2 && c[sum::kUniqueIndices].boolean());
     },
     "srcs",
     "with rows that have an index each there must be two sources, and "
     "unique_indices True (it is {value:unique_indices})",
     "add to the rows one source at a time"},
    {"dma_compute.psum",
     "buf(dst) in ('hbm', 'sbuf') and all((buf(s) in ('hbm', 'sbuf') for s in "
     "srcs))",
     "nki/api/nki/isa/__init__.py:2698",
     [](const Call& c) {
       return Buf(c[sum::kDst]) != Space::kPsum &&
              AllSources(c,
                         [](const Value& v) { return Buf(v) != Space::kPsum; });
     },
     "dst", "NKI 0.3 and later refuse a DMA to or from PSUM",
     "tensor_copy to SBUF first", Layer::kApi, Evidence::kDocumented,
     Severity::kError, Category::kIllegal, false},
    {"dma_compute.static",
     "not not (vec_off(dst) or any((vec_off(s) for s in srcs))) or "
     "(static_addr(dst) and all((static_addr(s) for s in srcs)))",
     "nki/api/nki/isa/__init__.py:2699",
     [](const Call& c) {
       return ComputesRows(c) ||
              (IsStatic(c[sum::kDst]) && AllSources(c, IsStatic));
     },
     "srcs",
     "without a vector_offset all addresses must be known when the program is "
     "built",
     "copy what a scalar_offset names with dma_copy first"},
    {"dma_compute.skip",
     "not oob_mode == 'skip' or (vec_off(dst) or any((vec_off(s) for s in "
     "srcs)))",
     "release-notes/components/nki.rst:242",
     [](const Call& c) {
       return c[sum::kOobMode].as<OobMode>() != OobMode::kSkip ||
              ComputesRows(c);
     },
     "oob_mode", "oob_mode=skip is for rows that have an index each",
     "leave oob_mode out"},
    {"dma_compute.same_tensor",
     "not (vec_off(dst) or any(vec_off(s) for s in srcs)) or "
     "any(same_tensor(s, dst) for s in srcs)",
     "nki/api/nki/isa/__init__.py:2674",
     [](const Call& c) {
       return !ComputesRows(c) || !AllSources(c, [&](const Value& v) {
         return !SameTensor(c, v, c[sum::kDst]);
       });
     },
     "srcs",
     "with rows that have an index each, one source must be dst itself, with "
     "the same index: the other is added to it",
     "pass dst as a source"},
    {"dma_compute.trigger", "trigger of a vector_offset 'gpsimd'",
     "nki/api/nki/isa/__init__.py:2690",
     [](const Call& c) {
       return IsSequencer(c.engine) &&
              (!ComputesRows(c) || c.engine == Engine::kGpsimd);
     },
     "trigger",
     "rows that have an index each are triggered by gpsimd, but the trigger is "
     "{engine}"},
    {"dma_compute.queues", "1 <= queues <= 16",
     "nki/get-started/about/nki-dma-overview.rst:29",
     [](const Call& c) { return QueuesFit(c, c[sum::kQueues]); }, "queues",
     "queues must be 1 to 16, but it is {value:queues}"},
};

Engine ComputeEngine(const Call& c, Engine) {
  const Engine trigger = Asked(c[sum::kTrigger]);
  if (trigger != Engine::kUnknown) return trigger;
  return ComputesRows(c) ? Engine::kGpsimd : Engine::kSync;
}

void ExpandCompute(const Call& c, Emitter& e) {
  std::array<Operand, 1 + kMaxSources> operands;
  operands[0] = OperandOf(c[sum::kDst]);
  for (int s = 0; s < kMaxSources; ++s) {
    operands[static_cast<size_t>(1 + s)] = OperandOf(c[sum::kSrc0 + s]);
  }
  const Attribute attributes[] = {
      Int(c.queue_set), Int(c[sum::kOobMode].integer),
      Attribute::Boolean(c[sum::kUniqueIndices].boolean())};
  e.Emit(Opcode::kDmaCompute, c.engine, operands, attributes);
}

bool LiftCompute(const Expansion& e, Call& c) {
  using S = slot::DmaCompute;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kDmaCompute) {
    return false;
  }
  const auto operands = e.core->OperandsOf(i);
  const auto attributes = e.core->AttributesOf(i);
  c.values[sum::kDst] = ValueOf(operands[S::kDst]);
  for (int s = 0; s < kMaxSources; ++s) {
    c.values[static_cast<size_t>(sum::kSrc0 + s)] =
        ValueOf(operands[static_cast<size_t>(S::kSrc0 + s)]);
  }
  c.values[sum::kReduceOp] = Value::OfEnum(AluOp::kAdd);
  c.values[sum::kScales] = Value::None();
  c.values[sum::kUniqueIndices] =
      Value::Bool(attributes[S::kUniqueIndices].boolean());
  c.values[sum::kOobMode] =
      Value::OfEnum(attributes[S::kOobMode].as<OobMode>());
  c.values[sum::kName] = Value::None();
  c.values[sum::kTrigger] = Value::OfEnum(i.engine);
  c.queue_set = static_cast<uint32_t>(attributes[S::kQueueSet].integer());
  c.values[sum::kQueues] =
      Value::Integer(c.program->queue_sets[c.queue_set].queues);
  return true;
}

}  // namespace

const OperationInfo kDmaCompute = {
    "dma_compute",
    kComputeParameters,
    kComputeRules,
    ComputeEngine,
    ExpandCompute,
    LiftCompute,
    "Adds up to 16 tensors while moving them.",
    "dst.flat[k] = the sum of srcs[j].flat[k] in fp32, in ascending order of "
    "j, "
    "and one cast. With a vector_offset it adds to the rows at the indices "
    "(dst and one source), or the rows to dst.",
    "nki/api/nki/isa/__init__.py:2651-2740",
    true};

std::span<const OperationInfo* const> DmaOperations() {
  static constexpr const OperationInfo* kOperations[] = {&kDmaTranspose,
                                                         &kDmaCompute};
  return kOperations;
}

}  // namespace trnemu::rows
