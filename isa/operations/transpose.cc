// nc_transpose.
#include "isa/operations/rows.h"
#include "isa/operations/tensor_passes.h"

namespace trnemu::rows {
namespace {

namespace tr {
enum { kDst, kData, kEngine, kName };
}

constexpr ParameterSpec kTransposeParameters[] = {
    Out("dst", kOnChip, kAnyType, "[F(data), P(data)]"),
    In("data", kOnChip, kAnyType, "[P, F]"), kEngineParameter, kNameParameter};

bool OnTensor(const Call& c) { return c.engine == Engine::kTensor; }

constexpr Rule kTransposeRules[] = {
    {"nc_transpose.engine", "engine in ('tensor', 'vector')",
     "nki/api/nki/isa/__init__.py:845",
     [](const Call& c) { return OnTensor(c) || c.engine == Engine::kVector; },
     "engine",
     "the operation runs on the tensor or the vector engine, not on "
     "{engine}"},
    {"nc_transpose.tensor_memories",
     "not engine == 'tensor' or (buf(data) == 'sbuf' and buf(dst) == 'psum')",
     "nki/api/nki/isa/__init__.py:845",
     [](const Call& c) {
       return !OnTensor(c) || (Buf(c[tr::kData]) == Space::kSbuf &&
                               Buf(c[tr::kDst]) == Space::kPsum);
     },
     "dst",
     "the tensor engine transposes from SBUF to PSUM, but data is in "
     "{buf:data} and dst in {buf:dst}",
     "use engine=\"vector\" for blocks of at most 32 x 32"},
    {"nc_transpose.tensor_size",
     "not engine == 'tensor' or (P(data) <= 128 and F(data) <= 128)",
     "nki/api/nki/isa/__init__.py:858",
     [](const Call& c) {
       return !OnTensor(c) ||
              (P(c[tr::kData]) <= 128 && F(c[tr::kData]) <= 128);
     },
     "data",
     "the tensor engine transposes at most 128 x 128, but data has {P:data} "
     "partitions and a free size of {F:data}"},
    {"nc_transpose.vector_size",
     "not engine == 'vector' or (P(data) <= 32 and F(data) <= 32)",
     "nki/api/nki/isa/__init__.py:859",
     [](const Call& c) {
       return OnTensor(c) || (P(c[tr::kData]) <= 32 && F(c[tr::kData]) <= 32);
     },
     "data",
     "the vector engine transposes at most 32 x 32, but data has {P:data} "
     "partitions and a free size of {F:data}",
     "use the tensor engine (dst in PSUM), or several 32 x 32 blocks"},
    {"nc_transpose.dst_shape", "P(dst) == F(data) and F(dst) == P(data)",
     "nki/api/nki/isa/__init__.py:854",
     [](const Call& c) {
       return P(c[tr::kDst]) == F(c[tr::kData]) &&
              F(c[tr::kDst]) == P(c[tr::kData]);
     },
     "dst",
     "dst must be [{F:data}, {P:data}], the transpose of data, but it has "
     "{P:dst} partitions and a free size of {F:dst}"},
    {"nc_transpose.dtype",
     "(engine == 'tensor' and gen == 2 and dt(dst) == 'float32') or dt(dst) == "
     "dt(data) or (engine == 'tensor' and gen >= 3 and dt(data) in FP8 and "
     "size(dt(dst)) == 2)",
     "nki/api/nki/isa/__init__.py:851",
     [](const Call& c) {
       const Dtype to = Dt(c[tr::kDst]);
       const Dtype from = Dt(c[tr::kData]);
       return to == from ||
              (OnTensor(c) && c.gen() == 2 && to == Dtype::kFloat32) ||
              (OnTensor(c) && c.gen() >= 3 && IsFp8(from) && SizeOf(to) == 2);
     },
     "dst", "dst must have the dtype of data ({dt:data}), but it is {dt:dst}"},
    {"nc_transpose.tensor_integers",
     "not engine == 'tensor' or dt(data) in PE_IN",
     "nki/api/nki/isa/__init__.py:851",
     [](const Call& c) { return !OnTensor(c) || IsFloat(Dt(c[tr::kData])); },
     "data",
     "the tensor engine's transpose of {dt:data} is not documented and not "
     "implemented",
     "view the data as a float type of the same width, or use the vector "
     "engine for blocks of at most 32 x 32",
     Layer::kDevice, Evidence::kAssumed, Severity::kError,
     Category::kUnsupported},
};

Engine TransposeEngine(const Call& c, Engine requested) {
  if (requested != Engine::kUnknown) return requested;
  return Buf(c[tr::kDst]) == Space::kPsum ? Engine::kTensor : Engine::kVector;
}

void ExpandTranspose(const Call& c, Emitter& emitter) {
  if (!OnTensor(c)) {
    EmitOne(c, emitter, Opcode::kVectorTranspose,
            {OperandOf(c[tr::kDst]), OperandOf(c[tr::kData])}, {});
    return;
  }
  TensorTile t;
  t.transpose = true;
  EmitPasses(c, emitter, c[tr::kData], c.identity, c[tr::kDst], t,
             Accumulate::kFalse);
}

bool LiftTranspose(const Expansion& e, Call& c) {
  c.values[tr::kName] = Value::None();
  c.values[tr::kEngine] = Value::OfEnum(e.instructions[0]->engine);
  if (e.instructions[0]->opcode == Opcode::kVectorTranspose) {
    const auto operands = e.core->OperandsOf(*e.instructions[0]);
    c.values[tr::kDst] = ValueOf(operands[slot::VectorTranspose::kDst]);
    c.values[tr::kData] = ValueOf(operands[slot::VectorTranspose::kData]);
    return true;
  }
  const Instruction* load;
  const Instruction* multiply;
  if (!FirstPair(e, load, multiply)) return false;
  const auto operands = e.core->OperandsOf(*multiply);
  c.values[tr::kData] =
      ValueOf(e.core->OperandsOf(*load)[slot::LoadStationary::kStationary]);
  c.values[tr::kDst] = ValueOf(operands[slot::MultiplyMoving::kDst]);
  c.identity = ValueOf(operands[slot::MultiplyMoving::kMoving]);
  // What the tensor engine relies on of its second operand.
  return P(c.identity) == P(c[tr::kData]) && F(c.identity) == P(c[tr::kData]) &&
         Buf(c.identity) == Space::kSbuf && IsFloat(Dt(c.identity)) &&
         SizeOf(Dt(c.identity)) == SizeOf(Dt(c[tr::kData]));
}

}  // namespace

const OperationInfo kNcTranspose = {
    "nc_transpose",
    kTransposeParameters,
    kTransposeRules,
    TransposeEngine,
    ExpandTranspose,
    LiftTranspose,
    "dst[f, p] = data[p, f] on the tensor or the vector engine.",
    "Tensor engine (dst in PSUM): a matmul with the identity on trn1, where "
    "NaN "
    "and infinity spread; bits from trn2 on. Vector engine: a move of bits.",
    "nki/api/nki/isa/__init__.py:816-903"};

}  // namespace trnemu::rows
