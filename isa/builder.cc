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
  counters_.resize(cores);
  open_loops_.resize(cores);
}

absl::Status ProgramBuilder::Refuse(std::string_view id, std::string message,
                                    uint32_t source) const {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = id;
  d.message = std::move(message);
  d.source = draft_.program.DescribeSource(source);
  return ToStatus(std::move(d));
}

absl::Status ProgramBuilder::CheckShape(std::string_view name, Dtype dtype,
                                        std::span<const int64_t> shape,
                                        bool on_chip, uint32_t source) const {
  if (!IsValid(dtype)) return Refuse("tensor.dtype", "unknown dtype", source);
  if (shape.size() > kMaxTensorRank) {
    return Refuse(
        "tensor.rank",
        absl::StrCat("tensor ", std::string(name), " has ", shape.size(),
                     " dimensions; the limit is ", kMaxTensorRank),
        source);
  }
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (int64_t n : shape) {
    if (n < 1 || bytes > INT64_MAX / n) {
      return Refuse("tensor.shape",
                    absl::StrCat("tensor ", std::string(name), " has shape ",
                                 DescribeShape(shape),
                                 "; every dimension must be at least 1 and "
                                 "the size must fit 63 bits"),
                    source);
    }
    bytes *= n;
  }
  if (!on_chip) return absl::OkStatus();
  if (shape.size() < 2) {
    return Refuse("tile.rank",
                  absl::StrCat("tile ", std::string(name), " has shape ",
                               DescribeShape(shape),
                               "; a tile has a partition dimension and at "
                               "least one free dimension"),
                  source);
  }
  if (shape[0] > hardware_->memory.partitions) {
    return Refuse(
        "tile.partitions",
        absl::StrCat("tile ", std::string(name), " has ", shape[0],
                     " partitions; there are ", hardware_->memory.partitions),
        source);
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
    if (hbm_names_.contains(name)) {
      return Refuse(
          "tensor.name",
          absl::StrCat("there is a tensor named \"", name, "\" already"),
          source);
    }
  }
  Tensor t;
  t.name = name.empty() ? absl::StrCat("scratch", draft_.program.tensors.size())
                        : std::move(name);
  t.kind = kind;
  t.dtype = dtype;
  t.shape.assign(shape.begin(), shape.end());
  t.source = source;
  hbm_names_.insert(t.name);
  const uint32_t index = static_cast<uint32_t>(draft_.program.tensors.size());
  draft_.program.tensors.push_back(std::move(t));
  return WholeTensor(index, draft_.program.tensors[index].name, Space::kHbm,
                     dtype, shape);
}

absl::StatusOr<View> ProgramBuilder::AddConstant(
    std::string name, Dtype dtype, std::span<const int64_t> shape,
    std::span<const std::byte> bytes, uint32_t source) {
  absl::StatusOr<View> view =
      AddTensor(TensorKind::kConstant, std::move(name), dtype, shape, source);
  if (!view.ok()) return view;
  if (static_cast<int64_t>(bytes.size()) != view->nbytes()) {
    draft_.program.tensors.pop_back();
    hbm_names_.erase(view->name);
    return Refuse("tensor.data", absl::StrCat("constant ", view->name,
                                              " needs ", view->nbytes(),
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
    const int64_t partitions = hardware_->memory.partitions;
    const std::string where =
        absl::StrCat("tile ", t.name, " is pinned at partition ",
                     address->start_partition, ", byte ", address->byte);
    if (address->start_partition < 0 || address->byte < 0) {
      return Refuse("tile.partitions",
                    absl::StrCat(where, "; partitions and bytes count from 0"),
                    source);
    }
    if (address->start_partition + shape[0] > partitions) {
      return Refuse("tile.partitions",
                    absl::StrCat(where, ", with ", shape[0],
                                 " partitions; there are ", partitions),
                    source);
    }
    t.pinned = true;
    t.start_partition = static_cast<uint32_t>(address->start_partition);
    t.byte_address = static_cast<uint64_t>(address->byte);
  }
  const uint32_t index = static_cast<uint32_t>(draft_.program.tensors.size());
  draft_.program.tensors.push_back(std::move(t));
  draft_.tensor_loop.resize(index, -1);
  draft_.tensor_loop.push_back(
      open_loops_[core_].empty()
          ? -1
          : static_cast<int32_t>(open_loops_[core_].back()));
  return WholeTensor(index, draft_.program.tensors[index].name, SpaceOf(kind),
                     dtype, shape);
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
    return Refuse("program.core", absl::StrCat("core ", core,
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
  if (step < 1 || step > INT32_MAX) {
    return Refuse("fori_loop.step",
                  absl::StrCat("fori_loop: step must be 1 to 2^31-1, but it "
                               "is ",
                               step),
                  source);
  }
  for (const Value* bound : {&lo, &hi}) {
    if (bound->kind == Value::Kind::kRegister) {
      absl::Status ok =
          CheckRegister(static_cast<uint32_t>(bound->integer), bound->core);
      if (!ok.ok()) return ok;
      continue;
    }
    // The counter goes past hi by less than a step.
    if (bound->integer < INT32_MIN || bound->integer > INT32_MAX - step + 1) {
      return Refuse(
          "fori_loop.bounds",
          absl::StrCat("fori_loop: ", bound == &lo ? "lo" : "hi", " is ",
                       bound->integer,
                       "; with its step the counter must stay within 32 bits"),
          source);
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
  std::vector<uint32_t>& counters = counters_[core_];
  if (counters.size() <= counter) counters.resize(counter + 1);
  counters[counter] = static_cast<uint32_t>(draft_.loops[core_].size() + 1);
  BeginLoop(std::move(loop));
  return counter;
}

absl::Status ProgramBuilder::BeginWhile(const Value& condition,
                                        uint32_t source) {
  const auto number = static_cast<uint32_t>(condition.integer);
  absl::Status ok = CheckRegister(number, condition.core);
  if (!ok.ok()) return ok;
  Loop loop;
  loop.kind = Loop::Kind::kConditional;
  loop.condition = number;
  loop.source = source;
  BeginLoop(std::move(loop));
  return absl::OkStatus();
}

absl::Status ProgramBuilder::EndLoop() {
  if (open_loops_[core_].empty()) {
    return Refuse("loop.open", "there is no loop to end");
  }
  const uint32_t number = open_loops_[core_].back();
  open_loops_[core_].pop_back();
  draft_.instructions[core_].push_back(LoopMarker(false, number));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Program>> ProgramBuilder::Build() {
  for (int core = 0; core < num_cores(); ++core) {
    if (open_loops_[core].empty()) continue;
    const Loop& loop = draft_.loops[core][open_loops_[core].back()];
    return Refuse("loop.open", "build() inside a loop", loop.source);
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
