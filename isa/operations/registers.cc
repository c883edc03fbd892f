// Registers: register_alloc, register_move, register_load, register_store,
// register_alu; and branch, which loops become.
#include "isa/operations/rows.h"

namespace trnemu::rows {
namespace {

constexpr SpaceSet kMemory = SetOf(Space::kHbm) | kSbufOnly;

bool IsInt32(const Value& v) {
  return v.is_none() || v.kind == Value::Kind::kRegister ||
         (v.number >= -2147483648.0 && v.number <= 4294967295.0);
}

bool OneElement(const Value& v) { return v.access.size() == 1; }

// A sequencer runs it, whichever needs the register; the draft says none.
Engine Anywhere(const Call&, Engine requested) { return requested; }

namespace alloc {
enum { kX, kDst };
}
constexpr ParameterSpec kAllocParameters[] = {
    Opt("x", ParameterKind::kInteger, "None", "its first value"),
    {"dst[x]", ParameterKind::kRegister, false, "None", Role::kOut, 0, 0,
     "the new register"}};
constexpr Rule kAllocRules[] = {
    {"register_alloc.value", "x is None or is_int32_const(x)",
     "nki/api/nki/isa/__init__.py:3074",
     [](const Call& c) { return IsInt32(c[alloc::kX]); }, "x",
     "x is {value:x}, which does not fit a register of 32 bits"}};

namespace mv {
enum { kDst, kSrc };
}
constexpr ParameterSpec kMoveParameters[] = {
    Attr("dst", ParameterKind::kRegister, "the register that is written"),
    Attr("src", ParameterKind::kRegisterOrInteger, "a register or a number")};
constexpr Rule kMoveRules[] = {
    {"register_move.value",
     "is_reg(dst) and (is_reg(src) or is_int32_const(src))",
     "nki/api/nki/isa/__init__.py:3095",
     [](const Call& c) { return IsInt32(c[mv::kSrc]); }, "src",
     "src is {value:src}, which does not fit a register of 32 bits"}};

namespace ld {
enum { kDst, kSrc };
}
constexpr ParameterSpec kLoadParameters[] = {
    Attr("dst", ParameterKind::kRegister, "the register that is written"),
    In("src", kMemory, kAnyType, "one element")};
constexpr Rule kLoadRules[] = {
    {"register_load.one", "numel(src) == 1", "nki/api/nki/isa/__init__.py:3124",
     [](const Call& c) { return OneElement(c[ld::kSrc]); }, "src",
     "src must be one element, but it is {shape:src}",
     "take a slice of one element"},
    {"register_load.size", "size(dt(src)) <= 4",
     "nki/api/nki/isa/__init__.py:3122",
     [](const Call& c) { return SizeOf(Dt(c[ld::kSrc])) <= 4; }, "src",
     "src has elements of more than 4 bytes: {dt:src}"},
    {"register_load.memory", "buf(src) in ('hbm', 'sbuf')",
     "nki/api/nki/isa/__init__.py:3122",
     [](const Call& c) { return Buf(c[ld::kSrc]) != Space::kPsum; }, "src",
     "src must be in HBM or SBUF, but is in {buf:src}"}};

namespace st {
enum { kDst, kSrc };
}
constexpr ParameterSpec kStoreParameters[] = {
    Out("dst", kMemory, kAnyType, "one element"),
    Attr("src", ParameterKind::kRegister, "the register")};
constexpr Rule kStoreRules[] = {
    {"register_store.one", "numel(dst) == 1",
     "nki/api/nki/isa/__init__.py:3148",
     [](const Call& c) { return OneElement(c[st::kDst]); }, "dst",
     "dst must be one element, but it is {shape:dst}",
     "take a slice of one element"},
    {"register_store.size", "size(dt(dst)) <= 4",
     "nki/api/nki/isa/__init__.py:3147",
     [](const Call& c) { return SizeOf(Dt(c[st::kDst])) <= 4; }, "dst",
     "dst has elements of more than 4 bytes: {dt:dst}"},
    {"register_store.memory", "buf(dst) in ('hbm', 'sbuf')",
     "nki/api/nki/isa/__init__.py:3148",
     [](const Call& c) { return Buf(c[st::kDst]) != Space::kPsum; }, "dst",
     "dst must be in HBM or SBUF, but is in {buf:dst}"}};

namespace alu {
enum { kDst, kOp, kA, kB };
}
constexpr ParameterSpec kAluParameters[] = {
    Attr("dst", ParameterKind::kRegister, "the register that is written"),
    Attr("op", ParameterKind::kRegisterOp),
    Attr("a", ParameterKind::kRegisterOrInteger, "a register or a number"),
    Attr("b", ParameterKind::kRegisterOrInteger, "a register or a number")};
constexpr Rule kAluRules[] = {
    {"register_alu.value", "is_int32_const(a) and is_int32_const(b)", "",
     [](const Call& c) { return IsInt32(c[alu::kA]) && IsInt32(c[alu::kB]); },
     "a", "a is {value:a} and b {value:b}; registers have 32 bits", "",
     Layer::kDevice, Evidence::kInferred}};

namespace br {
enum { kA, kOp, kB, kTarget, kLoop };
}
constexpr ParameterSpec kBranchParameters[] = {
    Attr("a", ParameterKind::kRegisterOrInteger, "a register or a number"),
    Attr("op", ParameterKind::kRegisterOp),
    Attr("b", ParameterKind::kRegisterOrInteger, "a register or a number"),
    Attr("target", ParameterKind::kInteger,
         "the instruction of the stream to go to"),
    Opt("loop", ParameterKind::kInteger, "-1", "the loop it belongs to")};

bool LiftAlloc(const Expansion& e, Call& c) {
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kRegisterMove) {
    return false;
  }
  const auto operands = e.core->OperandsOf(i);
  c.values[alloc::kX] = ValueOf(operands[slot::RegisterMove::kSrc]);
  c.values[alloc::kDst] = ValueOf(operands[slot::RegisterMove::kDst]);
  return c[alloc::kX].is_number();
}

constexpr OperationInfo kRegisterAlloc = {
    "register_alloc",
    kAllocParameters,
    kAllocRules,
    Anywhere,
    [](const Call& c, Emitter& e) {
      if (c[alloc::kX].is_none()) return;
      EmitOne(c, e, Opcode::kRegisterMove,
              {OperandOf(c[alloc::kDst]), OperandOf(c[alloc::kX])}, {});
    },
    LiftAlloc,
    "A new register of 32 bits.",
    "Without x, reading it before something sets it is reported. A register "
    "belongs to a core; each engine that needs it has a copy, computed by its "
    "own sequencer.",
    "nki/api/nki/isa/__init__.py:3053-3080",
    true};

constexpr OperationInfo kRegisterMove = {
    "register_move",
    kMoveParameters,
    kMoveRules,
    Anywhere,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRegisterMove,
              {OperandOf(c[mv::kDst]), OperandOf(c[mv::kSrc])}, {});
    },
    nullptr,
    "dst = src.",
    "The bits of a number or of another register.",
    "nki/api/nki/isa/__init__.py:3083-3100",
    true};

constexpr OperationInfo kRegisterLoad = {
    "register_load",
    kLoadParameters,
    kLoadRules,
    Anywhere,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRegisterLoad,
              {OperandOf(c[ld::kDst]), OperandOf(c[ld::kSrc])}, {});
    },
    nullptr,
    "Loads a register from one element of memory.",
    "Integers are extended by their sign (unsigned ones by zeros), other types "
    "give their bits.",
    "nki/api/nki/isa/__init__.py:3103-3130",
    true};

constexpr OperationInfo kRegisterStore = {
    "register_store",
    kStoreParameters,
    kStoreRules,
    [](const Call&, Engine) { return Engine::kSync; },
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRegisterStore,
              {OperandOf(c[st::kDst]), OperandOf(c[st::kSrc])}, {});
    },
    nullptr,
    "Stores a register to one element of memory.",
    "The low bytes, on the sync engine.",
    "nki/api/nki/isa/__init__.py:3133-3155",
    true};

constexpr OperationInfo kRegisterAlu = {
    "register_alu",
    kAluParameters,
    kAluRules,
    Anywhere,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kRegisterAlu,
              {OperandOf(c[alu::kDst]), OperandOf(c[alu::kA]),
               OperandOf(c[alu::kB])},
              {Int(c[alu::kOp].integer)});
    },
    nullptr,
    "dst = a op b, of trnemu.",
    "32 bits: add, subtract, multiply wrap; and, or, xor; shifts are logical "
    "and give 0 from 32 on; min, max and comparisons are signed, the latter "
    "give 1 or 0.",
    "",
    true};

constexpr OperationInfo kBranch = {
    "branch",
    kBranchParameters,
    {},
    Anywhere,
    [](const Call& c, Emitter& e) {
      EmitOne(c, e, Opcode::kBranch,
              {OperandOf(c[br::kA]), OperandOf(c[br::kB])},
              {Int(c[br::kOp].integer), Int(c[br::kTarget].integer),
               Int(c[br::kLoop].integer)});
    },
    nullptr,
    "Goes to an instruction of the stream if a op b, of trnemu.",
    "What the ends of loops become, in each stream that takes part.",
    "",
    true,
    true};

constexpr const OperationInfo* kList[] = {&kRegisterAlloc, &kRegisterMove,
                                          &kRegisterLoad,  &kRegisterStore,
                                          &kRegisterAlu,   &kBranch};

}  // namespace

std::span<const OperationInfo* const> RegisterOperations() { return kList; }

}  // namespace trnemu::rows
