// ProgramBuilder::Add: an operation, from its arguments to the instructions of
// the draft.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "isa/builder.h"
#include "isa/call_form.h"
#include "isa/operations/rows.h"

namespace trnemu {
namespace {

// The identity a tensor-engine transpose multiplies with: whole array.
constexpr int64_t kMaxIdentity = 128;

absl::Status Illegal(std::string_view id, std::string message) {
  return MakeFault(Category::kIllegal, id, message);
}

// 2-byte identities etc. as raw bytes: 1.0 of each float dtype.
uint32_t OneOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E4M3FN:
      return 0x38;
    case Dtype::kFloat8E5M2:
      return 0x3c;
    case Dtype::kFloat16:
      return 0x3c00;
    case Dtype::kBFloat16:
      return 0x3f80;
    default:
      return 0x3f800000;
  }
}

std::vector<std::byte> IdentityBytes(Dtype dtype, int64_t n) {
  const size_t size = SizeOf(dtype);
  std::vector<std::byte> bytes(n * n * size);
  const uint32_t one = OneOf(dtype);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(&bytes[(i * n + i) * size], &one, size);
  }
  return bytes;
}

// Software descriptor generation, asked for or needed for rows with an index
// each: it takes a part of SBUF.
bool GeneratesDescriptors(const Call& call, const CallForm& form) {
  if (form.dge_mode >= 0 &&
      call[form.dge_mode].as<DgeMode>() == DgeMode::kSwdge) {
    return true;
  }
  return std::any_of(call.values.begin(),
                     call.values.begin() + form.defaults.size(),
                     [&](const Value& v) { return VecOff(call, v); });
}

}  // namespace

// The counter of a loop is the loop's alone.
absl::Status ProgramBuilder::CheckRegisterWrites(const Call& call) const {
  const auto& parameters = call.operation->parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (call[static_cast<int>(p)].kind != Value::Kind::kRegister ||
        !parameters[p].name.starts_with("dst")) {
      continue;
    }
    const auto number =
        static_cast<uint32_t>(call[static_cast<int>(p)].integer);
    const std::vector<uint32_t>& counters = counters_[core_];
    if (number >= counters.size() || counters[number] == 0) continue;
    return Illegal(
        "fori_loop.counter_written",
        absl::StrCat(std::string(call.operation->name), ": register ", number,
                     " counts a fori_loop, and only the loop may write it"));
  }
  return absl::OkStatus();
}

absl::Status ProgramBuilder::CheckConstants(const Call& call) const {
  const auto& parameters = call.operation->parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Value& value = call[static_cast<int>(p)];
    if (!value.is_tile() || parameters[p].role == Role::kIn ||
        call.operation->name == "core_barrier") {
      continue;
    }
    const Tensor& t = draft_.program.tensors[value.access.tensor];
    if (t.kind != TensorKind::kConstant) continue;
    return Illegal("tensor.constant_written",
                   absl::StrCat(std::string(call.operation->name), ": ",
                                std::string(parameters[p].name), " is ", t.name,
                                ", a constant of the program, which every run "
                                "shares"));
  }
  return absl::OkStatus();
}

absl::Status ProgramBuilder::CheckRegister(uint32_t number, int core) const {
  if (core >= 0 && core != core_) {
    return Illegal("register.core",
                   absl::StrCat("register ", number, " is of core ", core,
                                "; core ", core_, " has registers of its own"));
  }
  const std::vector<uint32_t>& counters = counters_[core_];
  if (!counters_end_ || number >= counters.size() || counters[number] == 0) {
    return absl::OkStatus();
  }
  const auto& open = open_loops_[core_];
  if (std::find(open.begin(), open.end(), counters[number] - 1) != open.end()) {
    return absl::OkStatus();
  }
  return Illegal("fori_loop.counter_ended",
                 absl::StrCat("register ", number,
                              " counts a loop that has ended: it has no value "
                              "outside the loop's body"));
}

absl::Status ProgramBuilder::CheckRegisters(const Call& call) const {
  for (size_t p = 0; p < call.operation->parameters.size(); ++p) {
    const Value& value = call[static_cast<int>(p)];
    absl::Status ok;
    if (value.kind == Value::Kind::kRegister) {
      ok = CheckRegister(static_cast<uint32_t>(value.integer), value.core);
    } else if (value.indirection && !value.indirection->has_index()) {
      ok = CheckRegister(value.indirection->reg, value.indirection->core);
    }
    if (!ok.ok()) return ok;
  }
  return absl::OkStatus();
}

uint32_t ProgramBuilder::QueueSetFor(Engine owner, uint32_t queues) {
  const QueueSet wanted{static_cast<uint32_t>(core_), owner, queues};
  auto& sets = draft_.program.queue_sets;
  for (uint32_t i = 0; i < sets.size(); ++i) {
    if (sets[i] == wanted && !pipe_sets_.contains(i)) return i;
  }
  sets.push_back(wanted);
  return static_cast<uint32_t>(sets.size() - 1);
}

uint16_t ProgramBuilder::OperationIndex(const Call& call) {
  const size_t number = call.form->number;
  if (operation_index_.size() <= number) operation_index_.resize(number + 1);
  uint16_t& index = operation_index_[number];
  if (index == 0) {
    draft_.program.operations.emplace_back(call.operation->name);
    index = static_cast<uint16_t>(draft_.program.operations.size());
  }
  return static_cast<uint16_t>(index - 1);
}

// Appends what an expansion emits to the current core's draft.
class ProgramBuilder::DraftEmitter : public Emitter {
 public:
  DraftEmitter(Draft& draft, int core, uint16_t operation, uint32_t source)
      : pools_(draft.program.cores[core]),
        list_(draft.instructions[core]),
        operation_(operation),
        source_(source) {}

  void Emit(Opcode opcode, Engine engine, std::span<const Operand> operands,
            std::span<const Attribute> attributes) override {
    Instruction i;
    i.opcode = opcode;
    i.engine = engine;
    i.step = step_++;
    i.operation = operation_;
    i.source = source_;
    i.first_operand = static_cast<uint32_t>(pools_.operands.size());
    i.first_attribute = static_cast<uint32_t>(pools_.attributes.size());
    pools_.operands.insert(pools_.operands.end(), operands.begin(),
                           operands.end());
    pools_.attributes.insert(pools_.attributes.end(), attributes.begin(),
                             attributes.end());
    list_.push_back(i);
  }

  // The caller's waits go to the first instruction, its signals to the last.
  void Attach(const CallOptions& options, const Meeting& meeting) {
    if (step_ == 0) return;
    Instruction& first = list_[list_.size() - step_];
    Instruction& last = list_.back();
    AddWaits(first, options.waits);
    AddWaits(first, meeting.arriving);
    if (!meeting.arrived.empty()) AddSignals(first, meeting.arrived);
    if (!meeting.leaving.empty()) AddWaits(last, meeting.leaving);
    AddSignals(last, options.signals);
  }

 private:
  // An instruction's waits lie together, so all of one come before the next's.
  void AddWaits(Instruction& i, std::span<const Wait> waits) {
    if (i.num_waits == 0) {
      i.first_wait = static_cast<uint32_t>(pools_.waits.size());
    }
    i.num_waits = static_cast<uint8_t>(i.num_waits + waits.size());
    pools_.waits.insert(pools_.waits.end(), waits.begin(), waits.end());
  }
  void AddSignals(Instruction& i, std::span<const Signal> signals) {
    i.first_signal = static_cast<uint32_t>(pools_.signals.size());
    i.num_signals = static_cast<uint8_t>(signals.size());
    pools_.signals.insert(pools_.signals.end(), signals.begin(), signals.end());
  }

  CoreProgram& pools_;
  std::vector<Instruction>& list_;
  uint16_t operation_;
  uint32_t source_;
  uint8_t step_ = 0;
};

absl::Status ProgramBuilder::Add(std::string_view name,
                                 const NamedArguments& arguments,
                                 const CallOptions& options) {
  const OperationInfo* operation = FindOperation(name);
  if (operation == nullptr) {
    std::vector<std::string_view> names;
    for (const OperationInfo* o : Operations()) names.push_back(o->name);
    return Illegal("operation.name",
                   absl::StrCat("there is no operation \"", std::string(name),
                                "\"; the nearest is \"",
                                std::string(NearestName(name, names)), "\""));
  }
  std::unique_ptr<Call> call = NewCall(*operation);
  for (const auto& [key, value] : arguments) {
    const int index = ParameterIndex(*operation, key);
    if (index < 0) {
      std::vector<std::string_view> names;
      for (const ParameterSpec& p : operation->parameters) {
        names.push_back(p.name);
      }
      return Illegal("argument.name",
                     absl::StrCat(std::string(name), " has no parameter \"",
                                  std::string(key), "\"; the nearest is \"",
                                  std::string(NearestName(key, names)), "\""));
    }
    if (!value.is_none()) call->values[index] = value;
  }
  return Add(std::move(call), options);
}

std::unique_ptr<Call> ProgramBuilder::NewCall(const OperationInfo& operation) {
  std::unique_ptr<Call> call;
  if (spare_.calls.empty()) {
    call = std::make_unique<Call>();
  } else {
    call = std::move(spare_.calls.back());
    spare_.calls.pop_back();
  }
  call->operation = &operation;
  call->form = &FormOf(operation);
  const std::vector<Value>& defaults = call->form->defaults;
  std::copy(defaults.begin(), defaults.end(), call->values.begin());
  return call;
}

absl::Status ProgramBuilder::Add(std::unique_ptr<Call> call,
                                 const CallOptions& options) {
  absl::Status status = Add(*call, options);
  spare_.calls.push_back(std::move(call));
  return status;
}

absl::StatusOr<Value> ProgramBuilder::IdentityFor(const Value& data,
                                                  CallOptions& options,
                                                  std::vector<Wait>& waits) {
  const Dtype dtype = Dt(data);
  const int64_t n = kMaxIdentity;
  auto it = identities_.find({core_, dtype});
  if (it == identities_.end()) {
    const std::string name =
        absl::StrCat("identity.", std::string(Name(dtype)), ".", core_);
    const int64_t shape[] = {n, n};
    auto constant = AddConstant(name, dtype, shape, IdentityBytes(dtype, n));
    if (!constant.ok()) return constant.status();
    auto tile = AddTile(TensorKind::kSbuf, name, dtype, shape);
    if (!tile.ok()) return tile.status();
    uint32_t semaphore = 0;
    std::vector<Signal> signals;
    if (sync_ == Sync::kExplicit) {
      semaphore = AddSemaphore(name);
      signals.push_back({semaphore});
    }
    CallOptions load;
    load.signals = signals;
    load.source = options.source;
    draft_.tensor_loop.back() = -1;
    std::vector<Instruction>& list = draft_.instructions[core_];
    const size_t before = list.size();
    absl::Status ok = Add("dma_copy",
                          {{"dst", Value::Of(*ToAccess(*tile))},
                           {"src", Value::Of(*ToAccess(*constant))}},
                          load);
    if (!ok.ok()) return ok;
    // Once, before any loop.
    if (!open_loops_[core_].empty()) {
      std::rotate(list.begin(), list.begin() + static_cast<ptrdiff_t>(before),
                  list.end());
      put_before_[core_] += static_cast<int64_t>(list.size() - before);
      for (auto& [cores, barrier] : barriers_) {
        const auto last = barrier.last.find(core_);
        if (last == barrier.last.end()) continue;
        last->second.instruction += list.size() - before;
      }
    }
    it = identities_
             .emplace(std::pair(core_, dtype), std::pair(*tile, semaphore))
             .first;
    if (sync_ == Sync::kExplicit) {
      waits.assign(options.waits.begin(), options.waits.end());
      waits.push_back({semaphore, hardware_->dma.engines});
      options.waits = waits;
    }
  }
  // The rows the data comes in by, and as many columns.
  const Tensor& from = draft_.program.tensors[data.access.tensor];
  const int64_t start = from.start_partition + data.access.start_partition;
  Access a = *ToAccess(it->second.first);
  a.start_partition = static_cast<uint16_t>(start);
  a.partitions = data.access.partitions;
  a.offset = start;
  a.dims[0].count = data.access.partitions;
  return Value::Of(a);
}

absl::Status ProgramBuilder::Add(Call& call, const CallOptions& given) {
  CallOptions options = given;
  const OperationInfo& operation = *call.operation;
  const CallForm& form = *call.form;
  call.hardware = hardware_;
  call.program = &draft_.program;
  CoreProgram& pools = draft_.program.cores[core_];
  call.core = &pools;
  call.engine = Engine::kUnknown;
  call.queue_set = 0;
  call.identity.kind = Value::Kind::kNone;
  if (absl::Status ok = CheckRegisters(call); !ok.ok()) return ok;
  const size_t indirections = pools.indirections.size();
  for (size_t p = 0; p < operation.parameters.size(); ++p) {
    Value& value = call.values[p];
    if (!value.indirection) continue;
    pools.indirections.push_back(*value.indirection);
    pools.indirections.back().core = -1;
    value.access.indirection = static_cast<uint32_t>(pools.indirections.size());
    value.indirection.reset();
  }
  std::vector<Diagnostic> findings;
  if (CheckParameterKinds(call, findings)) {
    const bool named = form.engine >= 0 && !call[form.engine].is_none();
    call.engine = operation.engine(
        call, named ? call[form.engine].as<Engine>() : Engine::kUnknown);
    CheckRules(call, layers_, findings);
  }
  for (Diagnostic& d : findings) {
    if (d.severity == Severity::kWarning) continue;
    pools.indirections.resize(indirections);
    d.core = core_;
    d.source = draft_.program.DescribeSource(options.source);
    return ToStatus(std::move(d));
  }
  if (absl::Status ok = CheckRegisterWrites(call); !ok.ok()) return ok;
  if (absl::Status ok = CheckConstants(call); !ok.ok()) return ok;
  std::vector<Wait> waits;
  if (operation.name == "nc_transpose" && call.engine == Engine::kTensor) {
    absl::StatusOr<Value> identity =
        IdentityFor(call[ParameterIndex(operation, "data")], options, waits);
    if (!identity.ok()) return identity.status();
    call.identity = *std::move(identity);
  }
  if (form.queues >= 0) {
    call.queue_set = QueueSetFor(
        call.engine, static_cast<uint32_t>(call[form.queues].integer));
    if (GeneratesDescriptors(call, form)) draft_.program.swdge = true;
  }
  if (operation.name == "sendrecv") {
    const Value& pipe = call[ParameterIndex(operation, "pipe_id")];
    call.queue_set = QueueSetOfPipe(call.engine, pipe.integer);
  }
  absl::StatusOr<Meeting> meeting = MeetingOf(call, options);
  if (!meeting.ok()) return meeting.status();
  DraftEmitter emitter(draft_, core_, OperationIndex(call), options.source);
  const size_t count = draft_.instructions[core_].size();
  operation.expand(call, emitter);
  emitter.Attach(options, *meeting);
  last_count_ = static_cast<int64_t>(draft_.instructions[core_].size() - count);
  return absl::OkStatus();
}

}  // namespace trnemu
