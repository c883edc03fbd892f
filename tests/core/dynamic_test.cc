// Dynamic addressing on a device: rows by index, transposes, sums, elements by
// offset, in every order; and what a run says of a bad index. tests/python has
// the values of documents; these run under the sanitizers.
#include <numeric>

#include "tests/core/run_harness.h"

namespace trnemu {
namespace {

constexpr Dtype kF32 = Dtype::kFloat32;
constexpr Dtype kI32 = Dtype::kInt32;
constexpr int32_t kFar = 2147483647;

Value Dynamic(const absl::StatusOr<View>& view, bool keep_dims = false) {
  EXPECT_TRUE(view.ok()) << view.status();
  return *ToValue(*view, keep_dims);
}
Value Skip() { return Value::OfEnum(OobMode::kSkip); }

// x (5, 4) counts from 0; idx (3, 1) is given; y (3, 4) is 7 before.
class Rows {
 public:
  explicit Rows(std::vector<int32_t> indices, Target target = Target::kTrn2)
      : p(target), indices_(std::move(indices)), x_values_(20) {
    std::iota(x_values_.begin(), x_values_.end(), 0.0f);
    x = p.Input("x", {5, 4});
    const View from = p.Input("idx", {n(), 1}, kI32);
    y = p.Output("y", {n(), 4});
    index = p.Sbuf({n(), 1}, kI32);
    tile = p.Sbuf({n(), 4});
    p.Copy(index, from);
    p.Add("memset", {{"dst", Arg(tile)}, {"value", Arg(7.0)}});
  }
  int64_t n() const { return static_cast<int64_t>(indices_.size()); }

  absl::StatusOr<RunResult> Run(const RunOptions& options) {
    if (!program_) {
      p.Copy(y, tile);
      program_ = p.Build();
    }
    return RunProgram(program_,
                      {{"x", HostInput(kF32, {5, 4}, x_values_)},
                       {"idx", HostInput(kI32, {n(), 1}, indices_)}},
                      options);
  }
  // y in every order, which is the same.
  std::vector<float> Result() {
    std::vector<float> first;
    for (int order = 0; order < 8; ++order) {
      RunOptions options;
      options.order = order == 0   ? Order::kTimed
                      : order == 1 ? Order::kProgram
                                   : Order::kRandom;
      options.schedule_seed = static_cast<uint64_t>(order);
      auto result = Run(options);
      EXPECT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
      if (!result.ok()) return {};
      const auto values = Values<float>(*result, "y");
      if (order == 0) first = values;
      EXPECT_EQ(values, first) << order;
    }
    return first;
  }

  TestProgram p;
  View x, y, index, tile;

 private:
  std::vector<int32_t> indices_;
  std::vector<float> x_values_;
  std::shared_ptr<const Program> program_;
};

TEST(DynamicRun, GathersRows) {
  Rows r({4, 0, 2});
  r.p.Add("dma_copy", {{"dst", Arg(r.tile)},
                       {"src", Dynamic(VectorSelect(r.x, 0, r.index))}});
  EXPECT_EQ(r.Result(),
            (std::vector<float>{16, 17, 18, 19, 0, 1, 2, 3, 8, 9, 10, 11}));
}

TEST(DynamicRun, SkipsRowsThatAreOutOfBounds) {
  Rows r({4, kFar, -1});
  r.p.Add("dma_copy", {{"dst", Arg(r.tile)},
                       {"src", Dynamic(VectorSelect(r.x, 0, r.index))},
                       {"oob_mode", Skip()}});
  EXPECT_EQ(r.Result(),
            (std::vector<float>{16, 17, 18, 19, 7, 7, 7, 7, 7, 7, 7, 7}));
}

TEST(DynamicRun, FailsWhereARowIsOutOfBounds) {
  Rows r({4, 5, 0});
  r.p.Add("dma_copy", {{"dst", Arg(r.tile)},
                       {"src", Dynamic(VectorSelect(r.x, 0, r.index))}});
  const auto result = r.Run({});
  ASSERT_FALSE(result.ok());
  const Diagnostic d = DiagnosticOf(result.status());
  EXPECT_EQ(d.id, "access.dynamic_out_of_bounds");
  EXPECT_EQ(d.category, Category::kOutOfBounds);
  EXPECT_EQ(d.message,
            "src: index 5 at position 1 is outside 0 to 4 of dimension 0 of "
            "'x'");
}

TEST(DynamicRun, TimeAloneNeedsNoIndices) {
  Rows r({4, 5, 0});
  r.p.Add("dma_copy", {{"dst", Arg(r.tile)},
                       {"src", Dynamic(VectorSelect(r.x, 0, r.index))}});
  RunOptions options;
  options.values = false;
  EXPECT_TRUE(r.Run(options).ok());
}

TEST(DynamicRun, AddsRowsAndScattersThem) {
  Rows r({2, 1, 2});
  const Value rows = Dynamic(VectorSelect(r.x, 0, r.index));
  r.p.Add("dma_compute", {{"dst", Arg(r.tile)},
                          {"srcs", Arg(r.tile)},
                          {"srcs[1]", rows},
                          {"reduce_op", Arg(AluOp::kAdd)}});
  // What was added goes to rows of scratch, and comes back.
  const View s = *r.p.builder.AddTensor(TensorKind::kScratch, "s", kF32,
                                        std::vector<int64_t>{3, 4});
  r.p.Copy(s, r.tile);
  r.p.Add("dma_copy",
          {{"dst", Dynamic(AccessPattern(s, std::vector<Dim>{{4, 3}, {1, 4}}, 0,
                                         kF32, 0, r.index))},
           {"src", Arg(r.tile)}});
  r.p.Copy(r.tile, s);
  // Rows 2, 1, 2 of x, plus 7; then row 0 goes to 2, 1 to 1, 2 to 2.
  const std::vector<float> added = {15, 16, 17, 18, 11, 12,
                                    13, 14, 15, 16, 17, 18};
  EXPECT_EQ(r.Result(), added);
  const auto result = r.Run({});
  ASSERT_EQ(result->diagnostics.size(), 1u);
  EXPECT_EQ(result->diagnostics[0].id, "dma.duplicate_rows");
}

TEST(DynamicRun, MovesAnEnginesOperandByAScalar) {
  for (const bool far : {false, true}) {
    Rows r({far ? 4 : 3, 0, 0});
    const View wide = r.p.Sbuf({3, 8});
    r.p.Add("memset", {{"dst", Arg(wide)}, {"value", Arg(1.0)}});
    const std::vector<Index> last = {{Index::Kind::kSlice, 0, 0, 1, 1}};
    DynamicIndex one;
    one.tile = *Slice(r.index, last);
    const View pairs = *Reshape(wide, std::vector<int64_t>{3, 4, 2});
    r.p.Add("memset",
            {{"dst", Dynamic(Select(pairs, 1, one))}, {"value", Arg(5.0)}});
    const std::vector<Index> half = {{Index::Kind::kSlice, 0, {}, {}, 1},
                                     {Index::Kind::kSlice, 0, 4, 8, 1}};
    r.p.Copy(r.tile, *Slice(wide, half));
    if (far) {
      EXPECT_EQ(FaultId(r.Run({}).status()), "access.dynamic_out_of_bounds");
    } else {
      EXPECT_EQ(r.Result(),
                (std::vector<float>{1, 1, 5, 5, 1, 1, 5, 5, 1, 1, 5, 5}));
    }
  }
}

TEST(DynamicRun, TransposesRowsAndPlainTensors) {
  TestProgram p;
  const View x = p.Input("x", {20, 3}, Dtype::kUint16);
  const View from = p.Input("idx", {16, 1}, Dtype::kUint32);
  const View y = p.Output("y", {3, 16}, Dtype::kUint16);
  const View z = p.Output("z", {20, 3}, Dtype::kUint16);
  const View index = p.Sbuf({16, 1}, Dtype::kUint32);
  const View t = p.Sbuf({3, 16}, Dtype::kUint16);
  const View u = p.Sbuf({3, 20}, Dtype::kUint16);
  const View v = p.Sbuf({20, 3}, Dtype::kUint16);
  p.Copy(index, from);
  p.Add("memset", {{"dst", Arg(t)}, {"value", Value::Integer(9)}});
  p.Add("dma_transpose", {{"dst", Arg(t)},
                          {"src", Dynamic(VectorSelect(x, 0, index), true)},
                          {"oob_mode", Skip()}});
  p.Add("dma_transpose", {{"dst", Arg(u)}, {"src", Dynamic(x, true)}});
  p.Add("dma_transpose", {{"dst", Arg(v)}, {"src", Dynamic(u, true)}});
  p.Copy(y, t);
  p.Copy(z, v);
  std::vector<uint16_t> values(60);
  std::iota(values.begin(), values.end(), uint16_t{0});
  std::vector<uint32_t> indices(16);
  for (uint32_t i = 0; i < 16; ++i) indices[i] = 19 - i;
  indices[5] = 20;
  const auto result =
      RunProgram(p.Build(),
                 {{"x", HostInput(Dtype::kUint16, {20, 3}, values)},
                  {"idx", HostInput(Dtype::kUint32, {16, 1}, indices)}},
                 {});
  ASSERT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
  EXPECT_EQ(Values<uint16_t>(*result, "z"), values);
  const auto got = Values<uint16_t>(*result, "y");
  for (uint32_t c = 0; c < 3; ++c) {
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(got[c * 16 + i], i == 5 ? 9 : (19 - i) * 3 + c);
    }
  }
}

TEST(DynamicRun, GathersAndScattersElementsOnChip) {
  TestProgram p(Target::kTrn3);
  const View x = p.Input("x", {32, 8});
  const View from = p.Input("idx", {32, 1}, kI32);
  const View y = p.Output("y", {32, 8});
  const View t = p.Sbuf({32, 8});
  const View u = p.Sbuf({32, 8});
  const View index = p.Sbuf({32, 1}, kI32);
  p.Copy(t, x);
  p.Copy(index, from);
  p.Add("memset", {{"dst", Arg(u)}, {"value", Arg(-1.0)}});
  p.Add("tensor_copy", {{"dst", Dynamic(Indirect(u, index, 4))},
                        {"src", Dynamic(Indirect(t, index, 4))},
                        {"engine", Arg(Engine::kVector)}});
  p.Copy(y, u);
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  // Two groups of 16 partitions, of which the first four hold the list.
  std::vector<int32_t> indices(32);
  for (int i = 0; i < 4; ++i) {
    indices[static_cast<size_t>(i)] = 2 * i;
    indices[static_cast<size_t>(16 + i)] = 2 * i + 1;
  }
  const auto result = RunProgram(p.Build(),
                                 {{"x", HostInput(kF32, {32, 8}, values)},
                                  {"idx", HostInput(kI32, {32, 1}, indices)}},
                                 {});
  ASSERT_TRUE(result.ok()) << Render(DiagnosticOf(result.status()));
  EXPECT_TRUE(result->diagnostics.empty());
  const auto got = Values<float>(*result, "y");
  for (size_t i = 0; i < 256; ++i) {
    const bool named = i % 2 == (i < 128 ? 0u : 1u);
    EXPECT_EQ(got[i], named ? values[i] : -1.0f) << i;
  }
}

}  // namespace
}  // namespace trnemu
