#include "core/cost_table/recipes.h"

#include <utility>

#include "isa/operations.h"

namespace trnemu {
namespace {

using P = CostProgram;
using A = NamedArguments;

constexpr CostPlacement kInSbuf{Space::kSbuf, Space::kSbuf};
constexpr CostPlacement kFromPsum{Space::kPsum, Space::kSbuf};
constexpr CostPlacement kToPsum{Space::kSbuf, Space::kPsum};
constexpr CostPlacement kLoad{Space::kHbm, Space::kSbuf};
constexpr CostPlacement kStore{Space::kSbuf, Space::kHbm};
constexpr CostPlacement kOverHbm{Space::kHbm, Space::kHbm};

constexpr char kElements[] = "elements of a partition";

std::vector<Dtype> Floats() { return {Dtype::kFloat32, Dtype::kBFloat16}; }
std::vector<int64_t> Sizes(int64_t last, int64_t first = 64) {
  std::vector<int64_t> sizes;
  for (int64_t n = first; n <= last; n *= 2) sizes.push_back(n);
  return sizes;
}
// Most operations: one input, one output.
CostSubject Simple(std::string_view name, std::string_view op = "",
                   std::vector<CostPlacement> placements = {kInSbuf,
                                                            kFromPsum}) {
  return {name, kElements, op, Sizes(4096), Floats(), std::move(placements)};
}

Value Column(P& p, std::string_view name) {
  return p.Tile(name, p.partitions(), 1, Dtype::kFloat32);
}
Value ColumnOut(P& p, Dtype dtype = Dtype::kFloat32) {
  return p.OutOf(p.partitions(), 1, dtype, Space::kSbuf);
}
Value Pattern(int64_t n) {
  const Dim dims[] = {{1, n}};
  return Value::Pattern(dims);
}

A DataToDst(P& p) { return {{"dst", p.Out()}, {"data", p.In()}}; }
A SrcToDst(P& p) { return {{"dst", p.Out()}, {"src", p.In()}}; }

A With(A arguments, A more) {
  for (auto& argument : more) arguments.push_back(std::move(argument));
  return arguments;
}
A Op(P& p, A more) {
  A all = {{"op", p.Name("op", p.op())}};
  return With(std::move(all), std::move(more));
}

A TensorTensor(P& p) {
  return Op(p, {{"dst", p.Out()},
                {"data1", p.In()},
                {"data2", p.Tile("in2", p.partitions(), p.n(), p.dtype())}});
}
A TensorScalar(P& p) {
  return With(DataToDst(p),
              {{"op0", p.Name("op0", p.op())}, {"operand0", Value::Number(2)}});
}
A ScalarTensorTensor(P& p) {
  return With(DataToDst(p),
              {{"op0", p.Name("op0", p.op())},
               {"operand0", Value::Number(2)},
               {"op1", p.Name("op1", "add")},
               {"operand1", p.Tile("in2", p.partitions(), p.n(), p.dtype())}});
}
A TensorReduce(P& p) {
  const int64_t axis[] = {1};
  return Op(p, {{"dst", ColumnOut(p, p.dtype())},
                {"data", p.In()},
                {"axis", Value::Ints(axis)}});
}
A Memset(P& p) { return {{"dst", p.Out()}, {"value", Value::Number(1)}}; }
A Activation(P& p) { return Op(p, DataToDst(p)); }
A ActivationReduce(P& p) {
  return With(Activation(p), {{"reduce_op", p.Name("reduce_op", "add")},
                              {"reduce_res", Column(p, "sum")}});
}
A Scan(P& p) {
  return {{"dst", p.Out()},
          {"data0", p.In()},
          {"data1", p.Tile("in2", p.partitions(), p.n(), p.dtype())},
          {"initial", Value::Number(0)},
          {"op0", p.Name("op0", "multiply")},
          {"op1", p.Name("op1", "add")}};
}
A CopyPredicated(P& p) {
  return With(SrcToDst(p), {{"predicate", p.Tile("predicate", p.partitions(),
                                                 p.n(), Dtype::kUint8)}});
}
A BnStats(P& p) {
  return {{"dst", p.OutOf(p.partitions(), 6, Dtype::kFloat32, Space::kSbuf)},
          {"data", p.In()}};
}
A Max8(P& p) {
  return {{"dst", p.OutOf(p.partitions(), 8, p.dtype(), Space::kSbuf)},
          {"src", p.In()}};
}
A FindIndex8(P& p) {
  return {{"dst", p.OutOf(p.partitions(), 8, Dtype::kUint32, Space::kSbuf)},
          {"data", p.In()},
          {"vals", p.Tile("vals", p.partitions(), 8, p.dtype())}};
}
A Shuffle(P& p) {
  int64_t lanes[32];
  for (int64_t i = 0; i < 32; ++i) lanes[i] = 31 - i;
  return With(SrcToDst(p), {{"shuffle_mask", Value::Mask(lanes)}});
}
A Iota(P& p) { return {{"dst", p.Out()}, {"pattern", Pattern(p.n())}}; }
A AffineSelect(P& p) {
  return {{"dst", p.Out()},
          {"pattern", Pattern(p.n())},
          {"channel_multiplier", Value::Integer(1)},
          {"on_true_tile", p.In()},
          {"on_false_value", Value::Number(0)},
          {"cmp_op", p.Name("cmp_op", "greater_equal")}};
}
A RangeSelect(P& p) {
  return {{"dst", p.Out()},
          {"on_true_tile", p.In()},
          {"comp_op0", p.Name("comp_op0", "greater_equal")},
          {"comp_op1", p.Name("comp_op1", "less")},
          {"bound0", Column(p, "low")},
          {"bound1", Column(p, "high")}};
}
A Dropout(P& p) { return With(DataToDst(p), {{"prob", Value::Number(0.5)}}); }
A TensorScalarReduce(P& p) {
  return With(TensorScalar(p), {{"reduce_op", p.Name("reduce_op", "add")},
                                {"reduce_res", Column(p, "sum")}});
}

// stationary [P, 128], moving [P, N].
A Matmul(P& p) {
  return {{"dst", p.OutOf(128, p.n(), Dtype::kFloat32, Space::kPsum)},
          {"stationary", p.Tile("stationary", p.partitions(), 128, p.dtype())},
          {"moving", p.In()},
          {"accumulate", p.Name("accumulate", "false")}};
}
int64_t MatmulFlops(const P& p) { return 2 * p.partitions() * 128 * p.n(); }
// [P, N] to [N, P] on the tensor engine.
A Transpose(P& p) {
  return {{"dst", p.OutOf(p.n(), p.partitions(), p.dtype(), Space::kPsum)},
          {"data", p.In()},
          {"engine", p.Name("engine", "tensor")}};
}

Value Side(P& p, bool out) {
  const Space space = out ? p.placement().out : p.placement().in;
  if (space == Space::kHbm) {
    return p.Hbm(out ? "y" : "x", p.partitions(), p.n(),
                 out ? TensorKind::kOutput : TensorKind::kInput);
  }
  return out ? p.Out() : p.In();
}
A DmaCopy(P& p) { return {{"dst", Side(p, true)}, {"src", Side(p, false)}}; }
A DmaCompute(P& p) {
  return {{"dst", Side(p, true)},
          {"srcs", Side(p, false)},
          {"srcs[1]", p.Hbm("x1", p.partitions(), p.n(), TensorKind::kInput)},
          {"reduce_op", p.Name("reduce_op", "add")}};
}

std::vector<CostRecipe> MakeRecipes() {
  const std::vector<CostPlacement> sbuf = {kInSbuf};
  const std::vector<CostPlacement> dma = {kLoad, kStore, kInSbuf, kOverHbm};
  const std::vector<Dtype> fp32 = {Dtype::kFloat32};
  return {
      {Simple("tensor_tensor", "add"), TensorTensor},
      {Simple("tensor_scalar", "multiply"), TensorScalar},
      {Simple("scalar_tensor_tensor", "multiply"), ScalarTensorTensor},
      {Simple("tensor_scalar_reduce", "multiply"), TensorScalarReduce},
      {Simple("tensor_reduce", "add"), TensorReduce},
      {Simple("tensor_tensor_scan"), Scan},
      {Simple("tensor_copy"), SrcToDst},
      {Simple("tensor_copy_predicated", "", sbuf), CopyPredicated},
      {Simple("memset", "", {kInSbuf, kToPsum}), Memset},
      {Simple("reciprocal"), DataToDst},
      {Simple("activation", "exp", {kInSbuf, kFromPsum, kToPsum}), Activation},
      {Simple("activation_reduce", "exp"), ActivationReduce},
      {{"bn_stats", kElements, "", Sizes(512), Floats(), sbuf}, BnStats},
      {Simple("max8", "", sbuf), Max8},
      {Simple("nc_find_index8", "", sbuf), FindIndex8},
      {Simple("nc_stream_shuffle", "", sbuf), Shuffle},
      {Simple("iota", "", sbuf), Iota},
      {Simple("affine_select", "", sbuf), AffineSelect},
      {{"range_select", kElements, "", Sizes(4096), fp32, sbuf}, RangeSelect},
      {Simple("dropout", "", sbuf), Dropout},
      {{"nc_matmul",
        "columns of the moving tile",
        "",
        Sizes(512),
        {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat8E4M3},
        sbuf},
       Matmul,
       MatmulFlops},
      {{"nc_transpose", "columns that become partitions", "", Sizes(128, 32),
        Floats(), sbuf},
       Transpose},
      {{"dma_copy", "elements of each of the rows (partitions)", "",
        Sizes(8192), Floats(), dma},
       DmaCopy,
       nullptr,
       true},
      {{"dma_compute",
        "elements of each of the rows (partitions)",
        "",
        Sizes(8192),
        fp32,
        {kLoad, kStore}},
       DmaCompute,
       nullptr,
       true},
  };
}

}  // namespace

const std::vector<CostRecipe>& CostRecipes() {
  static const auto* const recipes = new std::vector(MakeRecipes());
  return *recipes;
}

const CostRecipe* FindCostRecipe(std::string_view operation) {
  for (const CostRecipe& recipe : CostRecipes()) {
    if (recipe.subject.name == operation) return &recipe;
  }
  return nullptr;
}

}  // namespace trnemu
