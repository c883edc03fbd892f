#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/cost_table/law_text.h"
#include "core/cost_table/recipes.h"
#include "core/device.h"
#include "core/observer.h"
#include "core/runner.h"
#include "core/time_array.h"
#include "isa/operations.h"

namespace trnemu {
namespace {

// Copies in a stream. Twice as many run, too; the tensor engine is at its full
// rate long before (3 us of work).
constexpr int64_t kStream = 64;
constexpr int64_t kTensorStream = 512;

// When each copy of an operation started, and what its instructions cost by
// their laws.
class Starts : public Observer {
 public:
  Starts(const Program& program, const Hardware& hardware, int64_t size)
      : program_(program), hardware_(hardware), time_(hardware), size_(size) {
    const auto it = std::find(program.operations.begin(),
                              program.operations.end(), program.name);
    operation_ = static_cast<uint16_t>(it - program.operations.begin());
  }

  absl::Status After(const Effect& effect) override {
    const Instruction& i = *effect.instruction;
    const bool begins = effect.kind == Effect::Kind::kInstruction ||
                        effect.kind == Effect::Kind::kTrigger;
    if (!begins || i.operation != operation_) return absl::OkStatus();
    if (i.step == 0) {
      first.push_back(effect.time);
      formulas.clear();
    }
    if (i.step == 0 || !multiplied_) {
      last = effect.time;
      multiplied_ = UsesArray(i.opcode) && !LoadsArray(i.opcode);
    }
    engine = i.engine;
    if (want_formulas) formulas.push_back(FormulaOfEffect(effect));
    return absl::OkStatus();
  }

  bool want_formulas = false;
  std::vector<Ticks> first;  // starts of each copy's first instruction
  // Start of the last copy's last instruction; on the tensor engine, of its
  // first multiplication, which a second pass may follow.
  Ticks last = 0;
  Engine engine = Engine::kUnknown;
  std::vector<CostFormula> formulas;  // of the last copy

 private:
  CostFormula FormulaOfEffect(const Effect& effect) const {
    const Instruction& i = *effect.instruction;
    if (effect.kind == Effect::Kind::kTrigger) {
      DmaTransfer transfer;
      transfer.opcode = i.opcode;
      transfer.dst.tile = effect.slots[slot::DmaCopy::kDst].tile;
      transfer.num_srcs = 0;
      for (size_t o = slot::DmaCopy::kSrc; o < effect.slots.size(); ++o) {
        if (effect.slots[o].kind != Operand::Kind::kAccess) break;
        transfer.srcs[static_cast<size_t>(transfer.num_srcs++)].tile =
            effect.slots[o].tile;
      }
      return FormulaOfDma(hardware_, time_, transfer, i.engine, size_);
    }
    const CoreProgram& core = program_.cores[effect.core];
    return FormulaOf(
        hardware_, time_, i.opcode,
        {effect.slots, core.AttributesOf(i), core.OperandsOf(i), i.engine},
        CountsSize(i.opcode) ? size_ : 0);
  }

  // Whether what an instruction counts is N. A matmul's stationary tile is as
  // wide as it is, whatever is moved; a transpose loads what it transposes, and
  // moves a row for each partition.
  bool CountsSize(Opcode opcode) const {
    if (!UsesArray(opcode)) return true;
    return LoadsArray(opcode) == (program_.name == "nc_transpose");
  }

  const Program& program_;
  const Hardware& hardware_;
  const TimeModel time_;
  const int64_t size_;
  uint16_t operation_ = 0;
  bool multiplied_ = false;  // the copy has
};

// One run of `copies` of the operation.
struct Run {
  Ticks end = 0;
  std::vector<Ticks> first;
  Ticks last = 0;
  Engine engine = Engine::kUnknown;
  std::vector<CostFormula> formulas;
};

struct Combination {
  std::shared_ptr<const Hardware> hardware;
  CostPlacement placement;
  Dtype dtype = Dtype::kInvalid;
  int64_t size = 0;
};

absl::StatusOr<Run> RunCopies(const CostQuery& query, const Combination& of,
                              int64_t copies, bool chained, bool formulas) {
  CostProgram maker(query, of.hardware->target, of.dtype, of.placement,
                    of.size);
  for (int64_t i = 0; i < copies; ++i) maker.Add(chained);
  auto program = maker.Build();
  if (!program.ok()) return program.status();
  auto device = Device::Create(of.hardware->target, 1, of.hardware);
  if (!device.ok()) return device.status();
  auto executable = (*device)->Load(*program);
  if (!executable.ok()) return executable.status();
  std::vector<std::vector<std::byte>> bytes;
  Inputs inputs;
  for (const Tensor& t : (*program)->tensors) {
    if (t.kind != TensorKind::kInput) continue;
    bytes.emplace_back(static_cast<size_t>(t.nbytes()));
    inputs[t.name] = {t.dtype, true, t.shape, bytes.back()};
  }
  RunOptions options;
  options.values = false;
  Starts starts(**program, *of.hardware, of.size);
  starts.want_formulas = formulas;
  auto run = (*executable)->Start(inputs, options, &starts);
  if (!run.ok()) return run.status();
  absl::Status status = (*run)->Continue();
  if (!status.ok()) return status;
  auto result = (*run)->Finish();
  if (!result.ok()) return result.status();
  return Run{result->profile.end, std::move(starts.first), starts.last,
             starts.engine, std::move(starts.formulas)};
}

double Ns(Ticks ticks) { return static_cast<double>(ticks) / kTicksPerNs; }

absl::Status Measure(const CostQuery& query, const Combination& of,
                     CostRow& row) {
  auto once = RunCopies(query, of, 1, false, false);
  if (!once.ok()) return once.status();
  const bool tensor = once->engine == Engine::kTensor;
  const bool dma = FindCostRecipe(query.operation)->moves_bytes;
  const int64_t n = tensor ? kTensorStream : kStream;
  auto alone = RunCopies(query, of, 2, true, true);
  auto stream = RunCopies(query, of, n, false, false);
  auto longer = RunCopies(query, of, 2 * n, false, false);
  for (const auto* run : {&alone, &stream, &longer}) {
    if (!run->ok()) return run->status();
  }
  row.engine = std::string(Name(once->engine));
  row.first_ns = Ns(once->end);
  const auto& starts = dma ? alone->first : longer->first;
  row.issue_ns = Ns(starts[starts.size() - 1] - starts[starts.size() - 2]);
  if (dma) row.issue_ns = Ns(stream->first[1] - stream->first[0]);
  // The tensor engine is at its full rate only in a stream, where a
  // multiplication's load is behind the one before.
  row.completion_ns = tensor ? Ns(longer->end - longer->last)
                             : Ns(alone->end - alone->first[1]);
  row.interval_ns = Ns(longer->end - stream->end) / static_cast<double>(n);
  row.formulas = std::move(alone->formulas);
  return absl::OkStatus();
}

void AddRates(const CostRecipe& recipe, const CostQuery& query,
              const Combination& of, CostRow& row) {
  if (row.interval_ns <= 0) return;
  if (recipe.moves_bytes) {
    const double bytes = static_cast<double>(of.size * query.partitions) *
                         static_cast<double>(SizeOf(of.dtype));
    row.bytes_per_ns = bytes / row.interval_ns;
  }
  if (recipe.flops != nullptr) {
    const CostProgram program(query, of.hardware->target, of.dtype,
                              of.placement, of.size);
    row.flops_per_ns =
        static_cast<double>(recipe.flops(program)) / row.interval_ns;
  }
}

absl::StatusOr<CostRow> RowOf(const CostQuery& query, const Combination& of) {
  CostRow row;
  row.operation = query.operation;
  row.target = of.hardware->name;
  row.dtype = std::string(Name(of.dtype));
  row.placement = Name(of.placement);
  row.size = of.size;
  row.partitions = query.partitions;
  const absl::Status status = Measure(query, of, row);
  if (!status.ok()) {
    const Diagnostic d = DiagnosticOf(status);
    if (d.category == Category::kInternal) return status;
    row.refused = d.message;
    return row;
  }
  AddRates(*FindCostRecipe(query.operation), query, of, row);
  return row;
}

absl::Status Wrong(std::string message) {
  return MakeFault(Category::kInput, "option.bench", std::move(message));
}

// That names mean something for the operation; fills in what is left out.
absl::Status Complete(CostQuery& query) {
  const CostSubject* const subject = FindCostSubject(query.operation);
  if (subject == nullptr) {
    std::vector<std::string_view> names;
    for (const CostRecipe& r : CostRecipes()) names.push_back(r.subject.name);
    std::string near(NearestName(query.operation, names));
    if (!near.empty()) near = absl::StrCat("; the nearest is ", near);
    return Wrong(absl::StrCat("there is no cost table of \"", query.operation,
                              "\"", near));
  }
  if (query.sizes.empty()) query.sizes = subject->sizes;
  if (query.dtypes.empty()) query.dtypes = subject->dtypes;
  if (query.placements.empty()) query.placements = {subject->placements[0]};
  if (query.partitions < 1 || query.partitions > 128) {
    return Wrong(
        absl::StrCat("partitions must be 1 to 128, not ", query.partitions));
  }
  for (const int64_t size : query.sizes) {
    if (size >= 1) continue;
    return Wrong(absl::StrCat("a size must be at least 1, not ", size));
  }
  if (!query.op.empty() && subject->op.empty()) {
    return Wrong(absl::StrCat(query.operation, " takes no op"));
  }
  if (query.op.empty()) query.op = std::string(subject->op);
  const OperationInfo& operation = *FindOperation(query.operation);
  const auto name_of = [&](std::string_view parameter,
                           const std::string& name) -> absl::Status {
    const int index = ParameterIndex(operation, parameter);
    if (name.empty()) return absl::OkStatus();
    if (index < 0) {
      return Wrong(
          absl::StrCat(query.operation, " takes no ", std::string(parameter)));
    }
    const auto kind = operation.parameters[static_cast<size_t>(index)].kind;
    if (!EnumFromName(kind, name).is_none()) return absl::OkStatus();
    std::string near(NearestName(name, EnumNames(kind)));
    if (!near.empty()) near = absl::StrCat("; the nearest is \"", near, "\"");
    return Wrong(absl::StrCat(query.operation, " has no ",
                              std::string(parameter), " \"", name, "\"", near));
  };
  const bool op0 = ParameterIndex(operation, "op") < 0;
  absl::Status status = name_of(op0 ? "op0" : "op", query.op);
  return status.ok() ? name_of("engine", query.engine) : status;
}

}  // namespace

absl::StatusOr<std::vector<CostRow>> CostTableOf(const CostQuery& given) {
  CostQuery query = given;
  absl::Status status = Complete(query);
  if (!status.ok()) return status;
  std::vector<CostRow> rows;
  for (const auto& hardware : query.targets) {
    for (const CostPlacement& placement : query.placements) {
      for (const Dtype dtype : query.dtypes) {
        for (const int64_t size : query.sizes) {
          if (query.interrupted && query.interrupted()) {
            return MakeFault(Category::kLimit, "limit.interrupted",
                             "the run was interrupted");
          }
          auto row = RowOf(query, {hardware, placement, dtype, size});
          if (!row.ok()) return row.status();
          rows.push_back(*std::move(row));
        }
      }
    }
  }
  return rows;
}

std::vector<CostSubject> CostSubjects() {
  std::vector<CostSubject> subjects;
  for (const CostRecipe& r : CostRecipes()) subjects.push_back(r.subject);
  return subjects;
}

const CostSubject* FindCostSubject(std::string_view name) {
  const CostRecipe* const recipe = FindCostRecipe(name);
  return recipe == nullptr ? nullptr : &recipe->subject;
}

}  // namespace trnemu
