// The programs of a cost table.
#include <array>

#include "absl/strings/str_cat.h"
#include "core/cost_table/recipes.h"
#include "isa/operations.h"

namespace trnemu {

CostProgram::CostProgram(const CostQuery& query, Target target, Dtype dtype,
                         CostPlacement placement, int64_t size)
    : query_(query),
      operation_(*FindOperation(query.operation)),
      builder_(target, query.operation, 1, ProgramBuilder::Sync::kExplicit),
      dtype_(dtype),
      placement_(placement),
      size_(size),
      partitions_(query.partitions) {
  semaphore_ = builder_.AddSemaphore("before");
}

Value CostProgram::Keep(std::string_view name,
                        const absl::StatusOr<View>& view) {
  if (!view.ok()) {
    status_.Update(view.status());
    return Value::None();
  }
  auto value = ToValue(*view);
  if (!value.ok()) {
    status_.Update(value.status());
    return Value::None();
  }
  return tiles_.emplace(name, *std::move(value)).first->second;
}

Value CostProgram::Tile(std::string_view name, int64_t partitions, int64_t size,
                        Dtype dtype, Space space) {
  const auto found = tiles_.find(name);
  if (found != tiles_.end()) return found->second;
  const std::array<int64_t, 2> shape = {partitions, size};
  if (space == Space::kHbm) {
    const auto side =
        name.starts_with("out") ? TensorKind::kOutput : TensorKind::kInput;
    return Keep(name,
                builder_.AddTensor(side, std::string(name), dtype, shape));
  }
  const auto kind =
      space == Space::kPsum ? TensorKind::kPsum : TensorKind::kSbuf;
  const auto view = builder_.AddTile(kind, std::string(name), dtype, shape);
  return Keep(name, view);
}

Value CostProgram::OutOf(int64_t partitions, int64_t size, Dtype dtype,
                         Space space) {
  constexpr int64_t kTurns = 3;
  return Tile(absl::StrCat("out", copies_ % kTurns), partitions, size, dtype,
              space);
}

Value CostProgram::Hbm(std::string_view name, int64_t rows, int64_t columns,
                       TensorKind kind) {
  const auto found = tiles_.find(name);
  if (found != tiles_.end()) return found->second;
  const std::array<int64_t, 2> shape = {rows, columns};
  const auto view = builder_.AddTensor(kind, std::string(name), dtype_, shape);
  return Keep(name, view);
}

Value CostProgram::Name(std::string_view parameter, std::string_view name) {
  const int index = ParameterIndex(operation_, parameter);
  return EnumFromName(operation_.parameters[static_cast<size_t>(index)].kind,
                      name);
}

void CostProgram::Add(bool chained) {
  if (!status_.ok()) return;
  NamedArguments arguments = FindCostRecipe(query_.operation)->arguments(*this);
  if (!status_.ok()) return;
  if (!query_.engine.empty()) {
    arguments.emplace_back("engine", Name("engine", query_.engine));
  }
  // A transfer signals once for each of its queues.
  const bool dma = FindCostRecipe(query_.operation)->moves_bytes;
  const std::array<Wait, 1> waits = {
      {{semaphore_, copies_ * (dma ? 16 : 1), false, false}}};
  const std::array<Signal, 1> signals = {{{semaphore_}}};
  CallOptions options;
  if (chained && copies_ > 0) options.waits = waits;
  if (chained) options.signals = signals;
  status_.Update(builder_.Add(query_.operation, arguments, options));
  ++copies_;
}

absl::StatusOr<std::shared_ptr<const Program>> CostProgram::Build() {
  if (!status_.ok()) return status_;
  return builder_.Build();
}

}  // namespace trnemu
