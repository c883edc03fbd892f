// The table of operations: the nki.isa names that people write. The only list.
//
// A row holds the signature, the rules, how the operation becomes opcodes
// (expand) and how it is read back from them (lift), and its documentation.
// To add one: a row in isa/operations/, listed in isa/operations.cc; its
// opcodes if they are new (isa/opcodes.h); tests. CONTRIBUTING.md has an
// example. Rules keep the text of spec/isa.json beside the C++ that checks it.
#ifndef TRNEMU_ISA_OPERATIONS_H_
#define TRNEMU_ISA_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "isa/call.h"
#include "isa/diagnostic.h"
#include "isa/opcodes.h"

namespace trnemu {

enum class Layer : uint8_t { kDevice, kBackend, kApi, kLint };
enum class Evidence : uint8_t { kDocumented, kObserved, kInferred, kAssumed };
inline constexpr std::array<std::string_view, 4> kLayerNames = {
    "device", "backend", "api", "lint"};
inline constexpr std::array<std::string_view, 4> kEvidenceNames = {
    "documented", "observed", "inferred", "assumed"};

// A constraint on a Call. `message` is a sentence with placeholders that
// Explain fills in: {P:data} partitions, {F:data} free size, {dt:data} dtype,
// {buf:data} memory, {start:data} start partition, {shape:data}, {value:op}
// the argument as written, {gen} and {target}, {engine}.
struct Rule {
  std::string_view id;
  std::string_view text;    // the expression of spec/isa.json
  std::string_view source;  // documentation reference
  bool (*holds)(const Call&);
  std::string_view operand;  // the parameter it speaks of; may be empty
  std::string_view message;
  std::string_view remedy = "";
  Layer layer = Layer::kDevice;
  Evidence evidence = Evidence::kDocumented;
  Severity severity = Severity::kError;
  Category category = Category::kIllegal;
  // The emulator's own code relies on it: --allow cannot lift it.
  bool structural = true;
};

enum class ParameterKind : uint8_t {
  kTile,          // a view
  kTileOrNumber,  // a view or a number
  kNumber,
  kInteger,
  kBool,
  kAluOp,  // None is a value where it is optional
  kActFunction,
  kReduceCmd,
  kEngine,
  kDgeMode,
  kOobMode,
  kPerfMode,
  kAccumulate,  // None, False, True
  kPattern,     // [[step, count], ...], up to four
  kAxes,        // an int or several
  kIntPair,     // (a, b) or ()
  kText,        // name=
  kRegister,
  kRegisterOrInteger,
  kRegisterOp,
  kPartitionOp,
  kDmaEngine,
  kMask,           // 32 lanes
  kInts,           // up to kMaxInts whole numbers
  kScales,         // numbers; all are 1, or the first that is not
  kAluOpOrBypass,  // AluOp::kNone is bypass
  kReplicaGroups,  // an index into the program's; pairs too
};

// Sets of dtypes and of memories a tile parameter takes, as bit masks.
using DtypeSet = uint32_t;
using SpaceSet = uint8_t;
constexpr DtypeSet SetOf(Dtype d) { return 1u << static_cast<unsigned>(d); }
constexpr SpaceSet SetOf(Space s) {
  return static_cast<SpaceSet>(1u << static_cast<unsigned>(s));
}
inline constexpr SpaceSet kSbufOnly = SetOf(Space::kSbuf);
inline constexpr SpaceSet kPsumOnly = SetOf(Space::kPsum);
inline constexpr SpaceSet kOnChip = kSbufOnly | kPsumOnly;
inline constexpr SpaceSet kAnywhere = kOnChip | SetOf(Space::kHbm);
inline constexpr DtypeSet kIntegerTypes =
    SetOf(Dtype::kUint8) | SetOf(Dtype::kInt8) | SetOf(Dtype::kUint16) |
    SetOf(Dtype::kInt16) | SetOf(Dtype::kUint32) | SetOf(Dtype::kInt32);
inline constexpr DtypeSet kFloatTypes =
    SetOf(Dtype::kFloat8E4M3) | SetOf(Dtype::kFloat8E5M2) |
    SetOf(Dtype::kFloat8E4M3FN) | SetOf(Dtype::kFloat16) |
    SetOf(Dtype::kBFloat16) | SetOf(Dtype::kTFloat32) | SetOf(Dtype::kFloat32);
inline constexpr DtypeSet kAnyType =
    kIntegerTypes | kFloatTypes | SetOf(Dtype::kBool);
inline constexpr DtypeSet kAnyTypeOrPacked =
    kAnyType | SetOf(Dtype::kFloat8E8M0FNU) | SetOf(Dtype::kFloat8E5M2X4) |
    SetOf(Dtype::kFloat8E4M3FNX4) | SetOf(Dtype::kFloat4E2M1FNX4);

struct ParameterSpec {
  std::string_view name;
  ParameterKind kind;
  bool required = true;
  // As the signature prints it. "None" where it is required: None is a value.
  std::string_view default_text = "";
  Role role = Role::kIn;  // tiles
  SpaceSet spaces = 0;    // tiles
  DtypeSet dtypes = 0;    // tiles
  std::string_view doc = "";
  // A list of tiles is as many parameters in a row; those after the first have
  // a name like "srcs[1]" and are not in signatures.
  uint8_t repeats = 1;
  // An operand in HBM keeps the dimensions of its view, not merged.
  bool keep_dims = false;
};

// Where an expansion puts its instructions.
class Emitter {
 public:
  virtual ~Emitter() = default;
  // Operands and attributes in the order of the opcode's row.
  virtual void Emit(Opcode opcode, Engine engine,
                    std::span<const Operand> operands,
                    std::span<const Attribute> attributes) = 0;
};

// The instructions of one use of an operation, with their core's pools.
struct Expansion {
  const CoreProgram* core;
  std::span<const Instruction* const> instructions;
};

struct OperationInfo {
  std::string_view name;
  std::span<const ParameterSpec> parameters;
  std::span<const Rule> rules;
  // The engine that runs it when the author asks for `requested`.
  Engine (*engine)(const Call&, Engine requested);
  void (*expand)(const Call&, Emitter&);
  // Fills the values of a Call from instructions; false if they are not an
  // expansion of this operation. Where null, names tell: each parameter is the
  // operand or attribute of that name of the single instruction.
  bool (*lift)(const Expansion&, Call&);
  std::string_view summary;
  std::string_view semantics;  // a line or more, as documentation
  std::string_view source;
  // Its tiles may start at any partition and have any size: it is run by DMA
  // or by a sequencer alone.
  bool exempt = false;
  // People do not write it: other operations become it.
  bool internal = false;
};

std::span<const OperationInfo* const> Operations();
// The row's rules, then those of indirect views that it takes
// (isa/operations/indirect.cc).
std::span<const Rule> RulesOf(const OperationInfo& operation);
const OperationInfo* FindOperation(std::string_view name);
// The position of a parameter, or -1.
int ParameterIndex(const OperationInfo& operation, std::string_view name);
// "tensor_tensor(dst, data1, data2, op, engine=unknown, name=None)"
std::string Signature(const OperationInfo& operation);

// Every rule the call breaks: parameter kinds, memories and dtypes first (if
// any of those is broken the rest is not asked), then the operand rules, then
// the row's. `layers` is a bit set of 1 << Layer.
inline constexpr unsigned kDefaultLayers =
    (1u << static_cast<unsigned>(Layer::kDevice)) |
    (1u << static_cast<unsigned>(Layer::kBackend));
void CheckCall(const Call& call, unsigned layers,
               std::vector<Diagnostic>& findings);

// The first part of CheckCall alone: what must hold before an engine can be
// chosen. False if something is broken.
bool CheckParameterKinds(const Call& call, std::vector<Diagnostic>& findings);
// The rest of it.
void CheckRules(const Call& call, unsigned layers,
                std::vector<Diagnostic>& findings);

// Rules of every on-chip operand of a compute engine, rules of tiles; for
// documentation and self-tests.
std::span<const Rule> RulesOfOperands();
// All rules: of operands and of every operation.
std::vector<const Rule*> AllRules();
const Rule* FindRule(std::string_view id);
// Fills in a rule's message.
std::string Explain(const Rule& rule, const Call& call);

// The call that instructions stand for, or `malformed` if they are no
// expansion of their operation. `call` is reused, to spare allocations.
absl::Status Lift(const Program& program, const Hardware& hardware,
                  const Expansion& expansion, Call& call);

}  // namespace trnemu

#endif  // TRNEMU_ISA_OPERATIONS_H_
