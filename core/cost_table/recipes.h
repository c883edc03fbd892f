// How each operation of a cost table is called for N elements a partition.
#ifndef TRNEMU_CORE_COST_TABLE_RECIPES_H_
#define TRNEMU_CORE_COST_TABLE_RECIPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/cost_table/cost_table.h"
#include "isa/builder.h"

namespace trnemu {

// One program under construction. Inputs are shared by all copies of the
// operation; copies write to three tiles by turns, so that none reads what one
// of the two before it writes, even where it keeps a part of what was there.
class CostProgram {
 public:
  CostProgram(const CostQuery& query, Target target, Dtype dtype,
              CostPlacement placement, int64_t size);

  // What recipes ask for. Errors are kept for Build.
  int64_t n() const { return size_; }
  int64_t partitions() const { return partitions_; }
  Dtype dtype() const { return dtype_; }
  const CostPlacement& placement() const { return placement_; }
  Value In() { return Tile("in", partitions_, size_, dtype_, placement_.in); }
  Value Out() { return OutOf(partitions_, size_, dtype_, placement_.out); }
  Value OutOf(int64_t partitions, int64_t size, Dtype dtype, Space space);
  Value Tile(std::string_view name, int64_t partitions, int64_t size,
             Dtype dtype, Space space = Space::kSbuf);
  Value Hbm(std::string_view name, int64_t rows, int64_t columns,
            TensorKind kind);
  // Whether it was asked for with --op.
  const std::string& op() const { return query_.op; }
  // A name of the parameter's vocabulary.
  Value Name(std::string_view parameter, std::string_view name);

  // Adds a copy of the operation; `chained` waits for the one before.
  void Add(bool chained);
  absl::StatusOr<std::shared_ptr<const Program>> Build();

 private:
  // Keeps what was made under that name; an error for Build.
  Value Keep(std::string_view name, const absl::StatusOr<View>& view);

  const CostQuery& query_;
  const OperationInfo& operation_;
  ProgramBuilder builder_;
  Dtype dtype_;
  CostPlacement placement_;
  int64_t size_, partitions_;
  int64_t copies_ = 0;
  uint32_t semaphore_ = 0;
  std::map<std::string, Value, std::less<>> tiles_;
  absl::Status status_;
};

struct CostRecipe {
  CostSubject subject;
  NamedArguments (*arguments)(CostProgram&);
  // Of one, at N elements: floating-point operations, bytes moved.
  int64_t (*flops)(const CostProgram&) = nullptr;
  bool moves_bytes = false;
};
const std::vector<CostRecipe>& CostRecipes();
const CostRecipe* FindCostRecipe(std::string_view operation);

}  // namespace trnemu

#endif  // TRNEMU_CORE_COST_TABLE_RECIPES_H_
