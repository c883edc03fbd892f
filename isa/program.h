// A program in memory: decoded, not yet tied to a device.
//
// Instructions are small and refer to pools of their core (operands,
// attributes, waits, signals), so that a million of them load quickly. Built by
// ProgramBuilder, by the decoder (isa/container.h) or by the text form; the
// fields mirror program.proto. A Program is immutable once built and may be
// shared between threads.
#ifndef TRNEMU_ISA_PROGRAM_H_
#define TRNEMU_ISA_PROGRAM_H_

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/access.h"
#include "isa/hardware.h"
#include "isa/opcodes.h"

namespace trnemu {

enum class TensorKind : uint8_t {
  kInvalid = 0,
  kInput = 1,
  kOutput = 2,
  kInOut = 3,
  kConstant = 4,
  kScratch = 5,
  kSbuf = 6,
  kPsum = 7,
};
inline constexpr std::array<std::string_view, 8> kTensorKindNames = {
    "invalid",  "input",   "output", "inout",
    "constant", "scratch", "sbuf",   "psum"};

constexpr Space SpaceOf(TensorKind kind) {
  return kind == TensorKind::kSbuf   ? Space::kSbuf
         : kind == TensorKind::kPsum ? Space::kPsum
                                     : Space::kHbm;
}

inline constexpr uint32_t kNoSource = 0xffffffff;

struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::kInvalid;
  Dtype dtype = Dtype::kInvalid;
  std::vector<int64_t> shape;  // on chip shape[0] is partitions
  // Tiles: where. In the partition, bytes.
  uint32_t core = 0;
  uint32_t start_partition = 0;
  uint64_t byte_address = 0;
  bool pinned = false;  // placed by the user, may alias on purpose
  // Constants: where in the data section.
  uint64_t data_offset = 0;
  uint32_t source = kNoSource;

  Space space() const { return SpaceOf(kind); }
  bool on_chip() const { return space() != Space::kHbm; }
  int64_t size() const;    // elements
  int64_t nbytes() const;  // all of it
  // Tiles: bytes in each partition.
  int64_t bytes_per_partition() const;
};

struct SourceLocation {
  uint32_t file = 0;  // index into Program::files
  uint32_t line = 0;
  std::string function;
  std::string label;  // the operation's name= argument
};

struct QueueSet {
  uint32_t core = 0;
  Engine owner = Engine::kSync;
  uint32_t queues = 16;
  bool operator==(const QueueSet&) const = default;
};

// Ranks that meet: each list among itself, in the order given. Also pairs of a
// source and a target.
using ReplicaGroups = std::vector<std::vector<uint32_t>>;

struct SemaphoreInfo {
  uint32_t core = 0;
  std::string name;
};

enum class SignalOp : uint8_t { kAdd = 1, kSub, kInc, kDec, kSet };
enum class SignalAt : uint8_t { kComplete = 1, kRead = 2 };
inline constexpr std::array<std::string_view, 6> kSignalOpNames = {
    "unset", "add", "sub", "inc", "dec", "set"};
inline constexpr std::array<std::string_view, 3> kSignalAtNames = {
    "unset", "complete", "read"};

// Start when the semaphore is at least `value`; then subtract it if `consume`.
struct Wait {
  uint32_t semaphore = 0;
  int64_t value = 0;
  bool consume = false;
  bool is_register = false;  // value is the number of a register
  bool operator==(const Wait&) const = default;
};
// For DmaCopy each of its queues signals when its part is complete (or read).
struct Signal {
  uint32_t semaphore = 0;
  SignalOp op = SignalOp::kAdd;
  SignalAt at = SignalAt::kComplete;
  int64_t value = 1;
  bool is_register = false;  // value is the number of a register
  bool operator==(const Signal&) const = default;
};

// One operand slot of an instruction.
struct Operand {
  enum class Kind : uint8_t {
    kAbsent,
    kAccess,
    kImmediate,
    kPattern,
    kRegister
  };
  Kind kind = Kind::kAbsent;
  // kAccess; for kPattern only rank and dims are used (steps and counts).
  Access access;
  double immediate = 0;  // kImmediate; the number of a kRegister
  uint32_t reg() const { return static_cast<uint32_t>(immediate); }
  // The same bits: NaN equals itself, and -0 is not 0.
  bool operator==(const Operand& o) const {
    return kind == o.kind && access == o.access &&
           std::bit_cast<uint64_t>(immediate) ==
               std::bit_cast<uint64_t>(o.immediate);
  }
};

// One attribute of an instruction; which member follows from the row's type.
struct Attribute {
  uint64_t bits = 0;
  int64_t integer() const { return static_cast<int64_t>(bits); }
  bool boolean() const { return bits != 0; }
  double real() const { return std::bit_cast<double>(bits); }
  static Attribute Integer(int64_t v) { return {static_cast<uint64_t>(v)}; }
  static Attribute Boolean(bool v) { return {v ? 1u : 0u}; }
  static Attribute Real(double v) { return {std::bit_cast<uint64_t>(v)}; }
  template <typename Enum>
  Enum as() const {
    return static_cast<Enum>(bits);
  }
  bool operator==(const Attribute&) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::kNop;
  Engine engine = Engine::kUnknown;  // the stream it is in
  uint8_t step = 0;                  // position in the operation's expansion
  uint8_t num_waits = 0;
  uint8_t num_signals = 0;
  uint16_t operation = 0;  // index into Program::operations
  uint32_t order = 0;      // program order within the core
  uint32_t source = kNoSource;
  // Into the core's pools; counts of operands and attributes are the row's.
  uint32_t first_operand = 0;
  uint32_t first_attribute = 0;
  uint32_t first_wait = 0;
  uint32_t first_signal = 0;
};

struct CoreProgram {
  // Indexed by engine (kUnknown and kDma stay empty).
  std::array<std::vector<Instruction>, 7> streams;
  std::vector<Operand> operands;
  std::vector<Indirection> indirections;  // of dynamic operands
  std::vector<Attribute> attributes;
  std::vector<Wait> waits;
  std::vector<Signal> signals;

  std::vector<Instruction>& stream(Engine e) {
    return streams[static_cast<size_t>(e)];
  }
  const std::vector<Instruction>& stream(Engine e) const {
    return streams[static_cast<size_t>(e)];
  }
  std::span<const Operand> OperandsOf(const Instruction& i) const {
    return {operands.data() + i.first_operand, Info(i.opcode).operands.size()};
  }
  // Null if the access is static.
  const Indirection* IndirectionOf(const Access& access) const {
    return access.is_dynamic() ? &indirections[access.indirection - 1]
                               : nullptr;
  }
  std::span<const Attribute> AttributesOf(const Instruction& i) const {
    return {attributes.data() + i.first_attribute,
            Info(i.opcode).attributes.size()};
  }
  std::span<const Wait> WaitsOf(const Instruction& i) const {
    return {waits.data() + i.first_wait, i.num_waits};
  }
  std::span<const Signal> SignalsOf(const Instruction& i) const {
    return {signals.data() + i.first_signal, i.num_signals};
  }
  int64_t num_instructions() const;
};

// The bytes of the constants: owned, or a mapping of the file.
class DataSection {
 public:
  virtual ~DataSection() = default;
  virtual std::span<const std::byte> bytes() const = 0;
};

struct Program {
  std::string name;
  Target target = Target::kTrn2;
  std::string producer;
  bool swdge = false;
  std::vector<Tensor> tensors;
  std::vector<QueueSet> queue_sets;
  std::vector<SemaphoreInfo> semaphores;
  std::vector<ReplicaGroups> replica_groups;
  std::vector<std::string> operations;  // names, of the operations table
  std::vector<std::string> files;
  std::vector<SourceLocation> sources;
  std::vector<CoreProgram> cores;
  std::shared_ptr<const DataSection> data;  // null: no constants

  int64_t num_instructions() const;
  // "file.py:12 in function", or "" for kNoSource.
  std::string DescribeSource(uint32_t source) const;
  const Tensor* FindTensor(std::string_view tensor_name) const;
};

// A data section that owns its bytes.
std::shared_ptr<const DataSection> OwnData(std::vector<std::byte> bytes);

}  // namespace trnemu

#endif  // TRNEMU_ISA_PROGRAM_H_
