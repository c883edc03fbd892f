// Programs that use everything the format has, for the tests of isa/.
#ifndef TRNEMU_TESTS_ISA_EXAMPLE_PROGRAM_H_
#define TRNEMU_TESTS_ISA_EXAMPLE_PROGRAM_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "isa/program.h"

namespace trnemu {
namespace example {

// Tensors of ExampleProgram, by index.
enum : uint32_t {
  kInput,
  kOutput,
  kConstant,
  kOther,
  kTile,
  kPsum,
  kFar,
  kIndex
};

inline Tensor Make(std::string name, TensorKind kind, Dtype dtype,
                   std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.kind = kind;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  return tensor;
}

inline void AddTensors(Program& p) {
  p.tensors = {
      Make("x", TensorKind::kInput, Dtype::kFloat32, {128, 512}),
      Make("y", TensorKind::kOutput, Dtype::kBFloat16, {}),
      Make("a \"quoted\"\nname", TensorKind::kConstant, Dtype::kFloat32,
           {3, 9}),
      Make("x", TensorKind::kConstant, Dtype::kUint8, {5}),
      Make("t3", TensorKind::kSbuf, Dtype::kFloat32, {128, 16, 32}),
      Make("acc", TensorKind::kPsum, Dtype::kFloat32, {64, 512}),
      Make("", TensorKind::kSbuf, Dtype::kFloat8E4M3, {7, 1}),
      Make("idx", TensorKind::kSbuf, Dtype::kInt32, {64, 4}),
  };
  p.tensors[kConstant].data_offset = 16;
  p.tensors[kOther].data_offset = 200;
  p.tensors[kTile].byte_address = 4096;
  p.tensors[kTile].source = 1;
  p.tensors[kPsum].start_partition = 64;
  p.tensors[kPsum].pinned = true;
  p.tensors[kFar].core = 1;
  p.tensors[kIndex].byte_address = 8192;
}

inline Access OnChip(uint32_t tensor, Space space, Dtype dtype, uint16_t start,
                     uint16_t partitions) {
  Access access;
  access.tensor = tensor;
  access.space = space;
  access.dtype = dtype;
  access.start_partition = start;
  access.partitions = partitions;
  access.rank = 2;
  access.dims[0] = {32, 16};
  access.dims[1] = {1, 32};
  return access;
}

inline Operand Operands(OperandKind kind, size_t position, bool number) {
  Operand operand;
  if (kind == OperandKind::kRegister ||
      kind == OperandKind::kRegisterOrImmediate) {
    const bool reg = kind == OperandKind::kRegister || !number;
    operand.kind = reg ? Operand::Kind::kRegister : Operand::Kind::kImmediate;
    operand.immediate = reg ? 63 : -2147483648.0;
    return operand;
  }
  operand.kind = Operand::Kind::kAccess;
  if (kind == OperandKind::kPattern) {
    operand.kind = Operand::Kind::kPattern;
    operand.access.rank = 2;
    operand.access.dims[0] = {-3, 16};
    operand.access.dims[1] = {1, 32};
  } else if (kind == OperandKind::kAccessOrImmediate && number) {
    operand.kind = Operand::Kind::kImmediate;
    operand.immediate = position == 2 ? 0.1 : -0.0;
  } else if (position == 0) {
    operand.access = OnChip(kPsum, Space::kPsum, Dtype::kBFloat16, 32, 32);
  } else {
    operand.access = OnChip(kTile, Space::kSbuf, Dtype::kFloat32, 0, 128);
    operand.access.offset = 511;
    operand.access.dims[1].step = -1;
  }
  return operand;
}

inline Attribute Value(AttributeType type, bool large) {
  switch (type) {
    case AttributeType::kBool:
      return Attribute::Boolean(large);
    case AttributeType::kInteger:
      return Attribute::Integer(large ? 4000000000 : 0);
    case AttributeType::kDouble:
      return Attribute::Real(large ? -std::numeric_limits<double>::infinity()
                                   : 1e-320);
    case AttributeType::kAluOp:
      return Attribute::Integer(large ? 28 : 0);
    case AttributeType::kActFunction:
      return Attribute::Integer(large ? 26 : 1);
    case AttributeType::kReduceCmd:
      return Attribute::Integer(large ? 4 : 0);
    case AttributeType::kDgeMode:
      return Attribute::Integer(large ? 3 : 0);
    case AttributeType::kOobMode:
    case AttributeType::kPerfMode:
      return Attribute::Integer(large ? 1 : 0);
    case AttributeType::kAccumulate:
    case AttributeType::kPass:
      return Attribute::Integer(large ? 2 : 0);
    case AttributeType::kQueueSet:
    case AttributeType::kReplicaGroups:
    case AttributeType::kDmaEngine:
      return Attribute::Integer(large ? 1 : 0);
    case AttributeType::kRegisterOp:
      return Attribute::Integer(large ? 15 : 0);
    case AttributeType::kPartitionOp:
      return Attribute::Integer(large ? 4 : 0);
    case AttributeType::kCollectiveKind:
      return Attribute::Integer(large ? 12 : 0);
    case AttributeType::kMask:
      return {large ? ~uint64_t{0} : 0};
    case AttributeType::kAxes:
      return Attribute::Integer(large ? 0xffff : 0);
  }
  return {};
}

inline Instruction& Add(CoreProgram& core, Opcode opcode, Engine engine,
                        uint32_t order) {
  Instruction i;
  i.opcode = opcode;
  i.engine = engine;
  i.order = order;
  i.operation = static_cast<uint16_t>(order % 3);
  i.source = order % 2 == 0 ? order / 2 % 2 : kNoSource;
  i.first_operand = static_cast<uint32_t>(core.operands.size());
  i.first_attribute = static_cast<uint32_t>(core.attributes.size());
  i.first_wait = static_cast<uint32_t>(core.waits.size());
  i.first_signal = static_cast<uint32_t>(core.signals.size());
  core.stream(engine).push_back(i);
  return core.stream(engine).back();
}

inline void AddOpcode(CoreProgram& core, const OpcodeInfo& info, Engine engine,
                      bool variant, uint32_t order) {
  Instruction& i = Add(core, info.opcode, engine, order);
  for (size_t k = 0; k < info.operands.size(); ++k) {
    const OperandSpec& spec = info.operands[k];
    core.operands.push_back(
        variant && spec.optional ? Operand{} : Operands(spec.kind, k, variant));
  }
  for (const AttributeSpec& spec : info.attributes) {
    // A branch goes to an instruction of its stream.
    core.attributes.push_back(spec.name == "target"
                                  ? Attribute::Integer(variant ? 1 : 0)
                                  : Value(spec.type, variant));
  }
  if (order % 4 == 1) {
    core.waits.push_back({0, 16, false});
    core.waits.push_back({1, order, true, variant});
    i.num_waits = 2;
  }
  if (order % 4 == 3) {
    const auto op = static_cast<SignalOp>(1 + order / 4 % 5);
    const auto at = static_cast<SignalAt>(1 + order / 8 % 2);
    core.signals.push_back({1, op, at, -static_cast<int64_t>(order)});
    i.num_signals = 1;
  }
}

inline void AddAllOpcodes(CoreProgram& core) {
  uint32_t order = 0;
  for (const OpcodeInfo& info : Opcodes()) {
    for (const Engine engine : kSequencers) {
      if ((info.engines & Bit(engine)) == 0) continue;
      AddOpcode(core, info, engine, false, order++);
      AddOpcode(core, info, engine, true, order++);
    }
  }
}

// An expansion of two steps over HBM operands, on core 1.
inline void AddExpansion(CoreProgram& core) {
  for (uint8_t step = 0; step < 2; ++step) {
    Instruction& i = Add(core, Opcode::kDmaCopy, Engine::kSync, 10u + step);
    i.operation = 2;
    i.step = step;
    Operand operand;
    operand.kind = Operand::Kind::kAccess;
    operand.access.space = Space::kHbm;
    operand.access.tensor = kOutput;
    operand.access.dtype = Dtype::kBFloat16;
    operand.access.rank = 1;
    operand.access.dims[0] = {1, 1};
    core.operands.push_back(operand);
    operand.access.tensor = kInput;
    operand.access.dtype = Dtype::kFloat32;
    operand.access.rank = 5;
    operand.access.offset = -7;  // well formed: bounds are no part of it
    operand.access.dims = {{{0, 4294967295}, {3, 1}, {2, 2}, {1, 1}, {9, 2}}};
    core.operands.push_back(operand);
    for (const AttributeSpec& spec : Info(Opcode::kDmaCopy).attributes) {
      core.attributes.push_back(Value(spec.type, step == 1));
    }
  }
}

inline Operand Dynamic(CoreProgram& core, const Access& access,
                       Indirection indirection) {
  Operand operand;
  operand.kind = Operand::Kind::kAccess;
  operand.access = access;
  core.indirections.push_back(indirection);
  operand.access.indirection = static_cast<uint32_t>(core.indirections.size());
  return operand;
}

inline Access Index(uint16_t partitions, int64_t columns, Dtype dtype) {
  Access index = OnChip(kIndex, Space::kSbuf, dtype, 0, partitions);
  index.rank = 1;
  index.dims = {{{1, columns}}};
  return index;
}

// Operands whose place a run decides, one of each kind.
inline void AddDynamic(CoreProgram& core, uint32_t order) {
  Access hbm;
  hbm.tensor = kInput;
  hbm.space = Space::kHbm;
  hbm.dtype = Dtype::kFloat32;
  hbm.rank = 2;
  hbm.dims = {{{0, 64}, {1, 16}}};
  Access offsets = OnChip(kTile, Space::kSbuf, Dtype::kFloat32, 0, 64);
  offsets.rank = 1;
  offsets.dims = {{{0, 20}}};
  const Access tile = OnChip(kTile, Space::kSbuf, Dtype::kFloat32, 0, 64);
  using enum IndirectionKind;
  const Indirection rows = {kVector, 0,  0, Index(64, 1, Dtype::kUint32),
                            512,     128};
  const Indirection elements = {kTensor, 1, 0, Index(64, 4, Dtype::kInt16),
                                -3,      77};
  const Indirection one = {
      kScalarTile,     255, 0, Index(1, 1, Dtype::kInt32), int64_t{1} << 40,
      int64_t{1} << 20};
  const Indirection reg = {kScalarRegister, 2, 63, {}, 1, 1};
  for (int i = 0; i < 2; ++i) {
    Instruction& dma = Add(core, Opcode::kDmaCopy, Engine::kSync, order++);
    dma.operation = 2;
    core.operands.push_back(i == 0 ? Dynamic(core, tile, one)
                                   : Dynamic(core, offsets, elements));
    core.operands.push_back(i == 0 ? Dynamic(core, hbm, rows)
                                   : Dynamic(core, tile, reg));
    for (const AttributeSpec& spec : Info(Opcode::kDmaCopy).attributes) {
      core.attributes.push_back(Value(spec.type, false));
    }
  }
}

}  // namespace example

// Two cores; every opcode on core 0, on each of its engines, with every
// operand present and then with the optional ones absent; colliding and odd
// names; constants with data. Well formed, not meant to run. The same program
// each time.
inline Program ExampleProgram() {
  using namespace example;
  Program p;
  p.name = "example";
  p.target = Target::kTrn3;
  p.producer = "tests/isa \\ \t ; not a comment";
  p.swdge = true;
  p.files = {"kernel.py", "dir with space/b.py"};
  p.sources = {{0, 12, "softmax", ""}, {1, 4000000000, "", "my label"}};
  p.operations = {"tensor_tensor", "odd name", "dma_copy"};
  p.queue_sets = {{0, Engine::kSync, 16}, {1, Engine::kGpsimd, 1}};
  p.replica_groups = {{{0, 1}, {2, 3}}, {{65535}}};
  p.semaphores = {{0, "s"}, {1, ""}};
  AddTensors(p);
  std::vector<std::byte> data(205);
  for (size_t i = 100; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>(i);
  }
  p.data = OwnData(std::move(data));
  p.cores.resize(2);
  AddAllOpcodes(p.cores[0]);
  AddDynamic(p.cores[0], 10000);
  AddExpansion(p.cores[1]);
  return p;
}

// `n` TensorTensor instructions of three accesses, of one or two dimensions.
inline Program LargeProgram(int64_t n) {
  using namespace example;
  Program p;
  p.name = "large";
  p.operations = {"tensor_tensor"};
  p.semaphores = {{0, "s"}};
  p.tensors = {Make("t", TensorKind::kSbuf, Dtype::kFloat32, {128, 16, 32})};
  p.cores.resize(1);
  CoreProgram& core = p.cores[0];
  for (int64_t k = 0; k < n; ++k) {
    Instruction& i = Add(core, Opcode::kTensorTensor,
                         k % 2 == 0 ? Engine::kVector : Engine::kGpsimd,
                         static_cast<uint32_t>(k));
    i.operation = 0;
    i.source = kNoSource;
    for (int j = 0; j < 3; ++j) {
      Operand operand;
      operand.kind = Operand::Kind::kAccess;
      operand.access = OnChip(0, Space::kSbuf, Dtype::kFloat32, 0, 128);
      operand.access.rank = j == 2 ? 1 : 2;
      if (j == 2) operand.access.dims[1] = {};
      core.operands.push_back(operand);
    }
    core.attributes.push_back(Attribute::Integer(7));
    core.waits.push_back({0, k, false});
    core.signals.push_back({0, SignalOp::kAdd, SignalAt::kComplete, 1});
    i.num_waits = 1;
    i.num_signals = 1;
  }
  return p;
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_ISA_EXAMPLE_PROGRAM_H_
