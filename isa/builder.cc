#include "isa/builder.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "isa/operations/rows.h"
#include "isa/verify.h"

namespace trnemu {
namespace {

constexpr uint64_t kDataAlignment = 64;
// Rank of a tensor at most, as NumPy's and the file's.
constexpr size_t kMaxTensorRank = 64;
// The identity a tensor-engine transpose multiplies with: whole array.
constexpr int64_t kMaxIdentity = 128;

absl::Status Illegal(std::string_view id, std::string message,
                     std::string source = "") {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = id;
  d.message = std::move(message);
  d.source = std::move(source);
  return ToStatus(std::move(d));
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
bool GeneratesDescriptors(const Call& call) {
  const int mode = ParameterIndex(*call.operation, "dge_mode");
  if (mode >= 0 && call[mode].as<DgeMode>() == DgeMode::kSwdge) return true;
  return std::any_of(call.values.begin(), call.values.end(),
                     [&](const Value& v) { return VecOff(call, v); });
}

}  // namespace

ProgramBuilder::ProgramBuilder(Target target, std::string name, int cores,
                               Sync sync)
    : hardware_(&HardwareFor(target)), sync_(sync) {
  draft_.program.target = target;
  draft_.program.name = std::move(name);
  draft_.program.producer = "trnemu";
  draft_.program.cores.resize(cores);
  draft_.instructions.resize(cores);
  draft_.loops.resize(cores);
  registers_.resize(cores);
  put_before_.resize(cores);
  draft_.orderings.resize(cores);
  open_loops_.resize(cores);
}

absl::Status ProgramBuilder::CheckShape(std::string_view name, Dtype dtype,
                                        std::span<const int64_t> shape,
                                        bool on_chip, uint32_t source) const {
  const std::string at = draft_.program.DescribeSource(source);
  if (!IsValid(dtype)) return Illegal("tensor.dtype", "unknown dtype", at);
  if (shape.size() > kMaxTensorRank) {
    return Illegal(
        "tensor.rank",
        absl::StrCat("tensor ", std::string(name), " has ", shape.size(),
                     " dimensions; the limit is ", kMaxTensorRank),
        at);
  }
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (int64_t n : shape) {
    if (n < 1 || bytes > INT64_MAX / n) {
      return Illegal("tensor.shape",
                     absl::StrCat("tensor ", std::string(name), " has shape ",
                                  DescribeShape(shape),
                                  "; every dimension must be at least 1 and "
                                  "the size must fit 63 bits"),
                     at);
    }
    bytes *= n;
  }
  if (!on_chip) return absl::OkStatus();
  if (shape.size() < 2) {
    return Illegal("tile.rank",
                   absl::StrCat("tile ", std::string(name), " has shape ",
                                DescribeShape(shape),
                                "; a tile has a partition dimension and at "
                                "least one free dimension"),
                   at);
  }
  if (shape[0] > hardware_->memory.partitions) {
    return Illegal(
        "tile.partitions",
        absl::StrCat("tile ", std::string(name), " has ", shape[0],
                     " partitions; there are ", hardware_->memory.partitions),
        at);
  }
  return absl::OkStatus();
}

absl::StatusOr<View> ProgramBuilder::AddTensor(TensorKind kind,
                                               std::string name, Dtype dtype,
                                               std::span<const int64_t> shape,
                                               uint32_t source) {
  absl::Status ok = CheckShape(name, dtype, shape, false, source);
  if (!ok.ok()) return ok;
  if (kind != TensorKind::kScratch || !name.empty()) {
    for (const Tensor& t : draft_.program.tensors) {
      if (t.name == name && !t.on_chip()) {
        return Illegal(
            "tensor.name",
            absl::StrCat("there is a tensor named \"", name, "\" already"),
            draft_.program.DescribeSource(source));
      }
    }
  }
  Tensor t;
  t.name = name.empty() ? absl::StrCat("scratch", draft_.program.tensors.size())
                        : std::move(name);
  t.kind = kind;
  t.dtype = dtype;
  t.shape.assign(shape.begin(), shape.end());
  t.source = source;
  const uint32_t index = static_cast<uint32_t>(draft_.program.tensors.size());
  draft_.program.tensors.push_back(t);
  return WholeTensor(index, t.name, Space::kHbm, dtype, shape);
}

absl::StatusOr<View> ProgramBuilder::AddConstant(
    std::string name, Dtype dtype, std::span<const int64_t> shape,
    std::span<const std::byte> bytes, uint32_t source) {
  absl::StatusOr<View> view =
      AddTensor(TensorKind::kConstant, std::move(name), dtype, shape, source);
  if (!view.ok()) return view;
  if (static_cast<int64_t>(bytes.size()) != view->nbytes()) {
    draft_.program.tensors.pop_back();
    return Illegal(
        "tensor.data",
        absl::StrCat("constant ", view->name, " needs ", view->nbytes(),
                     " bytes but got ", bytes.size()));
  }
  data_.resize((data_.size() + kDataAlignment - 1) / kDataAlignment *
               kDataAlignment);
  draft_.program.tensors.back().data_offset = data_.size();
  data_.insert(data_.end(), bytes.begin(), bytes.end());
  return view;
}

absl::StatusOr<View> ProgramBuilder::AddTile(TensorKind kind, std::string name,
                                             Dtype dtype,
                                             std::span<const int64_t> shape,
                                             std::optional<TileAddress> address,
                                             uint32_t source) {
  Tensor t;
  t.name = name.empty() ? absl::StrCat(std::string(Name(SpaceOf(kind))),
                                       draft_.program.tensors.size())
                        : std::move(name);
  absl::Status ok = CheckShape(t.name, dtype, shape, true, source);
  if (!ok.ok()) return ok;
  t.kind = kind;
  t.dtype = dtype;
  t.shape.assign(shape.begin(), shape.end());
  t.core = static_cast<uint32_t>(core_);
  t.source = source;
  if (address) {
    if (address->start_partition < 0 || address->byte < 0 ||
        address->start_partition + shape[0] > hardware_->memory.partitions) {
      return Illegal(
          "tile.partitions",
          absl::StrCat("tile ", t.name, " is pinned at partition ",
                       address->start_partition, ", byte ", address->byte,
                       ", with ", shape[0], " partitions; there are ",
                       hardware_->memory.partitions),
          draft_.program.DescribeSource(source));
    }
    t.pinned = true;
    t.start_partition = static_cast<uint32_t>(address->start_partition);
    t.byte_address = static_cast<uint64_t>(address->byte);
  }
  const uint32_t index = static_cast<uint32_t>(draft_.program.tensors.size());
  draft_.program.tensors.push_back(t);
  draft_.tensor_loop.resize(index, -1);
  draft_.tensor_loop.push_back(
      open_loops_[core_].empty()
          ? -1
          : static_cast<int32_t>(open_loops_[core_].back()));
  return WholeTensor(index, t.name, t.space(), dtype, shape);
}

uint32_t ProgramBuilder::AddSemaphore(std::string name) {
  auto& semaphores = draft_.program.semaphores;
  if (name.empty()) name = absl::StrCat("s", semaphores.size());
  semaphores.push_back({static_cast<uint32_t>(core_), std::move(name)});
  return static_cast<uint32_t>(semaphores.size() - 1);
}

uint32_t ProgramBuilder::AddSource(std::string_view file, uint32_t line,
                                   std::string_view function,
                                   std::string_view label) {
  Program& p = draft_.program;
  auto it = file_index_.find(file);
  if (it == file_index_.end()) {
    it = file_index_.emplace(std::string(file), p.files.size()).first;
    p.files.emplace_back(file);
  }
  const auto key =
      std::tuple(it->second, line, std::string(function), std::string(label));
  const auto [entry, added] = source_index_.emplace(key, p.sources.size());
  if (added) {
    p.sources.push_back(
        {it->second, line, std::string(function), std::string(label)});
  }
  return entry->second;
}

absl::Status ProgramBuilder::SelectCore(int core) {
  if (core < 0 || core >= num_cores()) {
    return Illegal("program.core", absl::StrCat("core ", core,
                                                " of a program "
                                                "with ",
                                                num_cores(), " core(s)"));
  }
  core_ = core;
  return absl::OkStatus();
}

uint32_t ProgramBuilder::AddRegister() { return registers_[core_]++; }

void ProgramBuilder::BeginLoop(Loop loop) {
  const auto number = static_cast<uint32_t>(draft_.loops[core_].size());
  draft_.loops[core_].push_back(std::move(loop));
  draft_.instructions[core_].push_back(LoopMarker(true, number));
  open_loops_[core_].push_back(number);
}

absl::StatusOr<uint32_t> ProgramBuilder::BeginLoop(const Value& lo,
                                                   const Value& hi,
                                                   int64_t step,
                                                   uint32_t source) {
  const std::string at = draft_.program.DescribeSource(source);
  if (step < 1 || step > INT32_MAX) {
    return Illegal("fori_loop.step",
                   absl::StrCat("fori_loop: step must be 1 to 2^31-1, but it "
                                "is ",
                                step),
                   at);
  }
  for (const Value* bound : {&lo, &hi}) {
    if (bound->kind == Value::Kind::kRegister) continue;
    // The counter goes past hi by less than a step.
    if (bound->integer < INT32_MIN || bound->integer > INT32_MAX - step + 1) {
      return Illegal(
          "fori_loop.bounds",
          absl::StrCat("fori_loop: ", bound == &lo ? "lo" : "hi", " is ",
                       bound->integer,
                       "; with its step the counter must stay within 32 bits"),
          at);
    }
  }
  Loop loop;
  loop.kind = Loop::Kind::kCounted;
  loop.induction = AddRegister();
  loop.lo = rows::OperandOf(lo);
  loop.hi = rows::OperandOf(hi);
  if (hi.kind == Value::Kind::kRegister) {  // the body may change it
    const Value copy = Value::Register(AddRegister());
    absl::Status ok =
        Add("register_move", {{"dst", copy}, {"src", hi}}, {{}, {}, source});
    if (!ok.ok()) return ok;
    loop.hi = rows::OperandOf(copy);
    loop.owns_hi = true;
  }
  loop.step = static_cast<int32_t>(step);
  loop.source = source;
  const uint32_t counter = loop.induction;
  BeginLoop(std::move(loop));
  return counter;
}

absl::Status ProgramBuilder::BeginWhile(uint32_t condition, uint32_t source) {
  Loop loop;
  loop.kind = Loop::Kind::kConditional;
  loop.condition = condition;
  loop.source = source;
  BeginLoop(std::move(loop));
  return absl::OkStatus();
}

absl::Status ProgramBuilder::EndLoop() {
  if (open_loops_[core_].empty()) {
    return Illegal("loop.open", "there is no loop to end");
  }
  const uint32_t number = open_loops_[core_].back();
  open_loops_[core_].pop_back();
  draft_.instructions[core_].push_back(LoopMarker(false, number));
  return absl::OkStatus();
}

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
    for (const Loop& loop : draft_.loops[core_]) {
      if (loop.kind != Loop::Kind::kCounted || loop.induction != number) {
        continue;
      }
      return Illegal(
          "fori_loop.counter_written",
          absl::StrCat(std::string(call.operation->name), ": register ", number,
                       " counts a fori_loop, and only the loop may "
                       "write it"));
    }
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

uint16_t ProgramBuilder::OperationIndex(std::string_view name) {
  auto& names = draft_.program.operations;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<uint16_t>(it - names.begin());
  names.emplace_back(name);
  return static_cast<uint16_t>(names.size() - 1);
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
  std::vector<Value> values(operation->parameters.size());
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
    values[index] = value;
  }
  return Add(*operation, values, options);
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

absl::Status ProgramBuilder::Add(const OperationInfo& operation,
                                 std::span<const Value> values,
                                 const CallOptions& given) {
  CallOptions options = given;
  Call call;
  call.operation = &operation;
  call.hardware = hardware_;
  call.program = &draft_.program;
  CoreProgram& pools = draft_.program.cores[core_];
  call.core = &pools;
  const size_t indirections = pools.indirections.size();
  Engine requested = Engine::kUnknown;
  for (size_t p = 0; p < operation.parameters.size(); ++p) {
    const ParameterSpec& spec = operation.parameters[p];
    call.values[p] = p < values.size() && !values[p].is_none()
                         ? values[p]
                         : DefaultValue(spec);
    Value& value = call.values[p];
    if (value.indirection) {
      pools.indirections.push_back(*value.indirection);
      value.access.indirection =
          static_cast<uint32_t>(pools.indirections.size());
    }
    if (spec.name == "engine" && !call.values[p].is_none()) {
      requested = call.values[p].as<Engine>();
    }
  }
  std::vector<Diagnostic> findings;
  CheckParameterKinds(call, findings);
  if (findings.empty()) {
    call.engine = operation.engine(call, requested);
    CheckCall(call, layers_, findings);
  }
  for (Diagnostic& d : findings) {
    if (d.severity == Severity::kWarning) continue;
    pools.indirections.resize(indirections);
    d.core = core_;
    d.source = draft_.program.DescribeSource(options.source);
    return ToStatus(std::move(d));
  }
  if (absl::Status ok = CheckRegisterWrites(call); !ok.ok()) return ok;
  std::vector<Wait> waits;
  if (operation.name == "nc_transpose" && call.engine == Engine::kTensor) {
    absl::StatusOr<Value> identity =
        IdentityFor(call[ParameterIndex(operation, "data")], options, waits);
    if (!identity.ok()) return identity.status();
    call.identity = *identity;
  }
  if (const int q = ParameterIndex(operation, "queues"); q >= 0) {
    call.queue_set =
        QueueSetFor(call.engine, static_cast<uint32_t>(call[q].integer));
    if (GeneratesDescriptors(call)) draft_.program.swdge = true;
  }
  if (operation.name == "sendrecv") {
    const Value& pipe = call[ParameterIndex(operation, "pipe_id")];
    call.queue_set = QueueSetOfPipe(call.engine, pipe.integer);
  }
  absl::StatusOr<Meeting> meeting = MeetingOf(call, options);
  if (!meeting.ok()) return meeting.status();
  DraftEmitter emitter(draft_, core_, OperationIndex(operation.name),
                       options.source);
  const size_t count = draft_.instructions[core_].size();
  operation.expand(call, emitter);
  emitter.Attach(options, *meeting);
  last_count_ =
      static_cast<int64_t>(draft_.instructions[core_].size() - count);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Program>> ProgramBuilder::Build() {
  for (int core = 0; core < num_cores(); ++core) {
    if (open_loops_[core].empty()) continue;
    const Loop& loop = draft_.loops[core][open_loops_[core].back()];
    return Illegal("loop.open", "build() inside a loop",
                   draft_.program.DescribeSource(loop.source));
  }
  Draft draft = draft_;
  draft.program.data = data_.empty() ? nullptr : OwnData(data_);
  absl::Status ok = Allocate(draft, *hardware_);
  if (!ok.ok()) return ok;
  ReuseRegisters(draft);
  ok = Replicate(draft);
  if (!ok.ok()) return ok;
  if (sync_ == Sync::kAuto) {
    ok = Synchronise(draft, *hardware_);
    if (!ok.ok()) return ok;
  }
  auto program = std::make_shared<Program>(FinishDraft(std::move(draft)));
  for (Diagnostic& d : VerifyProgram(*program, *hardware_)) {
    if (d.severity == Severity::kError) return ToStatus(std::move(d));
  }
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace trnemu
