#include "frontend/testing/testing.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/device.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"
#include "isa/diagnostic_catalog.h"
#include "isa/text.h"

namespace trnemu::testing {

struct Tile::View {
  trnemu::View view;
  // Where Slice leaves what is wrong, for the kernel to find.
  absl::Status status;
};

// Builder or program: one of them is there.
struct Kernel::State {
  std::unique_ptr<ProgramBuilder> builder;
  std::shared_ptr<const Program> program;
  absl::Status status;  // the first thing that is wrong
  std::map<std::string, Bytes> inputs;

  void Note(const absl::Status& fault) {
    if (status.ok()) status = fault;
  }
  Tile Make(TensorKind kind, const std::string& name, const Shape& shape,
            const std::string& dtype);
  absl::StatusOr<Value> Read(const OperationInfo& operation,
                             const std::string& name,
                             const Argument& argument) const;
  absl::StatusOr<std::shared_ptr<const Program>> Build() const;
};

namespace {

Fault ToFault(const Diagnostic& d) {
  Fault fault;
  fault.category = Name(d.category);
  fault.id = d.id;
  fault.message = d.message;
  fault.operation = d.operation;
  fault.operand = d.operand;
  fault.engine = d.engine;
  fault.source = d.source;
  fault.remedy = RemedyOf(d);
  fault.report = Render(d);
  fault.json = ToJson(d);
  fault.warning = d.severity == Severity::kWarning;
  return fault;
}

absl::Status WrongOption(std::string_view id, const std::string& message) {
  return MakeFault(Category::kInput, id, message);
}

absl::Status AtParameter(std::string_view id, const OperationInfo& operation,
                         const ParameterSpec& spec,
                         const std::string& message) {
  Diagnostic d;
  d.category = Category::kIllegal;
  d.id = id;
  d.operation = operation.name;
  d.operand = spec.name;
  d.message = absl::StrCat(d.operation, ": ", d.operand, message);
  return ToStatus(std::move(d));
}

absl::Status TooMany(const OperationInfo& operation, const ParameterSpec& spec,
                     size_t count) {
  return AtParameter(
      "argument.count", operation, spec,
      absl::StrCat(" has ", count, " items; it takes at most ", kMaxInts));
}

absl::Status NoSuchName(const OperationInfo& operation,
                        const ParameterSpec& spec, const std::string& name) {
  std::string list;
  for (const std::string_view known : EnumNames(spec.kind)) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(known));
  }
  return AtParameter(
      "operand.value", operation, spec,
      absl::StrCat(" cannot be \"", name, "\"; it takes ", list));
}

absl::Status SetSchedule(const std::string& schedule, RunOptions& options) {
  if (schedule == "timed") return absl::OkStatus();
  if (schedule == "program") {
    options.order = Order::kProgram;
    return absl::OkStatus();
  }
  options.order = Order::kRandom;
  const char* const end = schedule.data() + schedule.size();
  const auto [rest, error] =
      std::from_chars(schedule.data(), end, options.schedule_seed);
  if (error == std::errc() && rest == end) return absl::OkStatus();
  return WrongOption("option.schedule",
                     absl::StrCat("schedule must be timed, program or a seed, "
                                  "not \"",
                                  schedule, "\""));
}

absl::Status SetChecks(const std::string& checks, RunOptions& options) {
  if (checks == "full") return absl::OkStatus();
  if (checks != "memory" && checks != "off") {
    return WrongOption(
        "input.usage",
        absl::StrCat("checks must be full, memory or off, not \"", checks,
                     "\""));
  }
  options.checks = checks == "off" ? Checks::kOff : Checks::kMemory;
  return absl::OkStatus();
}

absl::StatusOr<RunOptions> ToRunOptions(const Options& from) {
  RunOptions to;
  to.strict = from.strict;
  to.allow = from.allow;
  to.seed = from.seed;
  to.max_instructions = from.max_instructions;
  if (absl::Status s = SetSchedule(from.schedule, to); !s.ok()) return s;
  if (absl::Status s = SetChecks(from.checks, to); !s.ok()) return s;
  for (const auto& [key, value] : from.numerics) {
    const std::string problem = SetNumericsOption(to.numerics, key, value);
    if (!problem.empty()) return WrongOption("option.numerics", problem);
  }
  return to;
}

Inputs ToInputs(const Program& program,
                const std::map<std::string, Bytes>& given) {
  Inputs inputs;
  for (const auto& [name, bytes] : given) {
    InputArray& array = inputs[name];
    array.bytes = bytes;
    array.raw_bits = true;
    array.dtype = Dtype::kUint8;
    for (const Tensor& tensor : program.tensors) {
      if (tensor.name != name) continue;
      array.dtype = tensor.dtype;
      array.shape = tensor.shape;
    }
  }
  return inputs;
}

// Every argument but tiles, as the parameter reads it.
absl::StatusOr<Value> ToPlainValue(const OperationInfo& operation,
                                   const ParameterSpec& spec,
                                   const Argument& argument) {
  const auto& value = argument.value;
  if (const auto* flag = std::get_if<bool>(&value)) {
    if (spec.kind != ParameterKind::kAccumulate) return Value::Bool(*flag);
    return Value::OfEnum(*flag ? Accumulate::kTrue : Accumulate::kFalse);
  }
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    const bool several = spec.kind == ParameterKind::kAxes;
    return several ? Value::Ints({whole, 1}) : Value::Integer(*whole);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return Value::Number(*number);
  }
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) {
    if (spec.kind == ParameterKind::kMask) return Value::Mask(*numbers);
    if (numbers->size() <= kMaxInts) return Value::Ints(*numbers);
    return TooMany(operation, spec, numbers->size());
  }
  if (const auto* pattern = std::get_if<Pattern>(&value)) {
    if (pattern->size() > kMaxInts) {
      return TooMany(operation, spec, pattern->size());
    }
    std::vector<Dim> dims;
    for (const auto& [step, count] : *pattern) dims.push_back({step, count});
    return Value::Pattern(dims);
  }
  const std::string& name = std::get<std::string>(value);
  const Value found = EnumFromName(spec.kind, name);
  return found.is_none() ? NoSuchName(operation, spec, name)
                         : absl::StatusOr<Value>(found);
}

}  // namespace

Tile Tile::Slice(int axis, int64_t first, int64_t count) const {
  Tile part;
  if (view_ == nullptr) return part;
  auto made = std::make_shared<View>();
  std::vector<Index> indices(static_cast<size_t>(std::max(axis, 0)) + 1);
  indices.back().start = first;
  indices.back().stop = first + count;
  auto sliced = trnemu::Slice(view_->view, indices);
  if (sliced.ok()) {
    made->view = *std::move(sliced);
  } else {
    made->status = sliced.status();
  }
  part.view_ = std::move(made);
  return part;
}

Kernel::Kernel(std::unique_ptr<State> state) : state_(std::move(state)) {}

Kernel::Kernel(const std::string& target, Waits waits)
    : state_(std::make_unique<State>()) {
  const auto known = TargetFromName(target);
  if (!known) {
    state_->Note(WrongOption(
        "input.usage", absl::StrCat("there is no target \"", target,
                                    "\"; there are trn1, trn2 and trn3")));
  }
  state_->builder = std::make_unique<ProgramBuilder>(
      known.value_or(Target::kTrn2), "kernel", 1,
      waits == Waits::kExplicit ? ProgramBuilder::Sync::kExplicit
                                : ProgramBuilder::Sync::kAuto);
}

Kernel Kernel::FromText(const std::string& text) {
  auto state = std::make_unique<State>();
  auto program = trnemu::FromText(text);
  if (program.ok()) {
    state->program = std::make_shared<const Program>(*std::move(program));
  } else {
    state->Note(program.status());
  }
  return Kernel(std::move(state));
}

Kernel::~Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;

Tile Kernel::State::Make(TensorKind kind, const std::string& name,
                         const Shape& shape, const std::string& dtype) {
  Tile tile;
  if (builder == nullptr) {
    Note(WrongOption("input.usage",
                     "a kernel that came as text cannot be added to"));
    return tile;
  }
  const auto known = DtypeFromName(dtype);
  if (!known) {
    Note(MakeFault(
        Category::kIllegal, "tensor.dtype",
        absl::StrCat("there is no dtype \"", dtype, "\" on the device")));
    return tile;
  }
  const bool on_chip = kind == TensorKind::kSbuf || kind == TensorKind::kPsum;
  auto made = on_chip ? builder->AddTile(kind, name, *known, shape)
                      : builder->AddTensor(kind, name, *known, shape);
  if (!made.ok()) {
    Note(made.status());
    return tile;
  }
  auto view = std::make_shared<Tile::View>();
  view->view = *std::move(made);
  tile.view_ = std::move(view);
  return tile;
}

absl::StatusOr<Value> Kernel::State::Read(const OperationInfo& operation,
                                          const std::string& name,
                                          const Argument& argument) const {
  const int index = ParameterIndex(operation, name);
  // The builder says which name is nearest.
  if (index < 0) return Value::None();
  const ParameterSpec& spec = operation.parameters[index];
  if (const Tile* tile = std::get_if<Tile>(&argument.value)) {
    if (tile->view_ == nullptr) return Value::None();
    if (!tile->view_->status.ok()) return tile->view_->status;
    return ToValue(tile->view_->view, spec.keep_dims);
  }
  return ToPlainValue(operation, spec, argument);
}

absl::StatusOr<std::shared_ptr<const Program>> Kernel::State::Build() const {
  if (!status.ok()) return status;
  if (program != nullptr) return program;
  return builder->Build();
}

Tile Kernel::Input(const std::string& name, const Shape& shape,
                   const std::string& dtype, Bytes bytes) {
  state_->inputs[name] = std::move(bytes);
  return state_->Make(TensorKind::kInput, name, shape, dtype);
}

Tile Kernel::Output(const std::string& name, const Shape& shape,
                    const std::string& dtype) {
  return state_->Make(TensorKind::kOutput, name, shape, dtype);
}

Tile Kernel::Sbuf(const Shape& shape, const std::string& dtype) {
  return state_->Make(TensorKind::kSbuf, "", shape, dtype);
}

Tile Kernel::Psum(const Shape& shape, const std::string& dtype) {
  return state_->Make(TensorKind::kPsum, "", shape, dtype);
}

Semaphore Kernel::NewSemaphore() {
  if (state_->builder == nullptr) return {};
  return {state_->builder->AddSemaphore()};
}

void Kernel::Set(const std::string& name, Bytes bytes) {
  state_->inputs[name] = std::move(bytes);
}

void Kernel::Do(const std::string& operation, const Arguments& arguments,
                const Sync& sync, std::source_location where) {
  if (!state_->status.ok() || state_->builder == nullptr) return;
  ProgramBuilder& b = *state_->builder;
  CallOptions options;
  options.source =
      b.AddSource(where.file_name(), where.line(), where.function_name());
  std::vector<Wait> waits;
  for (const auto& [semaphore, value] : sync.wait) {
    waits.push_back({.semaphore = semaphore.number, .value = value});
  }
  std::vector<Signal> signals;
  for (const auto& [semaphore, count] : sync.signal) {
    signals.push_back({.semaphore = semaphore.number, .value = count});
  }
  options.waits = waits;
  options.signals = signals;
  NamedArguments named;
  if (const OperationInfo* info = FindOperation(operation)) {
    for (const auto& [name, argument] : arguments) {
      auto value = state_->Read(*info, name, argument);
      if (!value.ok()) return state_->Note(value.status());
      named.emplace_back(name, *std::move(value));
    }
  }
  state_->Note(b.Add(operation, named, options));
}

std::string UnknownId(const std::string& id) {
  if (CategoryOfId(id)) return "";
  const auto ids = DiagnosticIds();
  const std::string nearest(NearestName(id, ids));
  return absl::StrCat("there is no diagnostic \"", id, "\"",
                      nearest.empty() ? "" : "; the nearest is \"", nearest,
                      nearest.empty() ? "" : "\"");
}

Outcome Kernel::Run(const Options& options) const {
  Outcome outcome;
  const auto fail = [&outcome](const absl::Status& status) {
    outcome.fault = ToFault(DiagnosticOf(status));
    return outcome;
  };
  const auto run_options = ToRunOptions(options);
  if (!run_options.ok()) return fail(run_options.status());
  const auto program = state_->Build();
  if (!program.ok()) return fail(program.status());
  auto result =
      RunProgram(*program, ToInputs(**program, state_->inputs), *run_options);
  if (!result.ok()) return fail(result.status());
  for (auto& [name, array] : result->outputs) {
    outcome.outputs[name] = std::move(array.bytes);
  }
  for (const Diagnostic& d : result->diagnostics) {
    outcome.warnings.push_back(ToFault(d));
  }
  outcome.time_ns = result->time_ns;
  return outcome;
}

std::string FirstDifferences(const Bytes& actual, const Bytes& expected) {
  if (actual.size() != expected.size()) {
    return absl::StrCat("  it has ", actual.size(), " bytes, expected ",
                        expected.size());
  }
  constexpr int kShown = 8;
  std::string text;
  int64_t differ = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    if (++differ > kShown) continue;
    absl::StrAppendFormat(&text, "  byte %d: 0x%02x, expected 0x%02x\n", i,
                          static_cast<int>(actual[i]),
                          static_cast<int>(expected[i]));
  }
  if (differ == 0) return "";
  return absl::StrCat(text, "  ", differ, " of ", actual.size(),
                      " bytes differ");
}

}  // namespace trnemu::testing
