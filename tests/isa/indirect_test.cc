// Indirect views, their operands, their form in files and text, and what the
// passes make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "isa/call.h"
#include "isa/container.h"
#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "isa/passes/footprint.h"
#include "isa/text.h"
#include "tests/isa/draft_maker.h"
#include "tests/isa/example_program.h"
#include "tests/isa/view_helpers.h"

namespace trnemu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

View IndexTile(const Sizes& shape, Dtype dtype = Dtype::kInt32) {
  return WholeTensor(2, "idx", Space::kSbuf, dtype, shape);
}
DynamicIndex One() { return {false, 0, IndexTile({1, 1})}; }
DynamicIndex Reg(uint32_t number) { return {true, number, {}}; }

// "step x limit" of a view's indirection, or what refused it.
std::string Moves(const absl::StatusOr<View>& view) {
  if (!view.ok()) return DiagnosticOf(view.status()).id;
  return std::to_string(view->indirection->step) + " x " +
         std::to_string(view->indirection->limit);
}

absl::StatusOr<View> Ap(const View& view, const Dims& pattern, int64_t offset,
                        int64_t dim, Dtype dtype = Dtype::kFloat32) {
  return AccessPattern(view, pattern, offset, dtype, dim, One());
}
absl::StatusOr<View> Rows(const View& view, const Dims& pattern, int64_t offset,
                          const View& index, int64_t dim = 0) {
  return AccessPattern(view, pattern, offset, view.dtype, dim, index);
}

// A 4 x 4 tensor and pattern [[4, 2], [1, 2]]: behaviours.md row 26.
TEST(ScalarOffset, LeavesAsManyIndicesAsTheDimensionHasRoomFor) {
  EXPECT_EQ(Moves(Ap(Tile({4, 4}), {{4, 2}, {1, 2}}, 0, 1)), "1 x 3");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{4, 2}, {1, 2}}, 0, 1)), "1 x 3");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{4, 2}, {1, 2}}, 1, 1)), "1 x 2");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{4, 2}, {1, 2}}, 0, 0)), "4 x 3");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{4, 2}, {1, 2}}, 8, 0)), "4 x 1");
  // Backwards: the largest coordinate is the first.
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{4, 2}, {-1, 2}}, 2, 1)), "1 x 2");
  EXPECT_EQ(Moves(Ap(Hbm({2, 3, 4}), {{12, 2}, {4, 2}, {1, 4}}, 0, 1)),
            "4 x 2");
}

TEST(ScalarOffset, CountsToTheEndOfTheStorageWhereThePatternCrosses) {
  // Elements 2 to 6 lie in two rows of 4: no coordinate along dimension 1.
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{1, 5}}, 2, 1)), "1 x 10");
}

TEST(ScalarOffset, IsOfAWholeTensorAndItsOwnWidth) {
  const Index half = Sl(0, 2);
  const View part = *Slice(Hbm({4, 4}), {&half, 1});
  EXPECT_EQ(Moves(Ap(part, {{1, 2}}, 0, 1)), "access.indirect_base");
  EXPECT_EQ(Moves(Ap(*Permute(Hbm({4, 5}), Sizes{1, 0}), {{1, 2}}, 0, 1)),
            "access.indirect_base");
  EXPECT_EQ(Moves(Ap(*Reshape(Hbm({4, 4}), Sizes{2, 8}), {{1, 2}}, 0, 0)),
            "8 x 2");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{1, 2}}, 0, 1, Dtype::kBFloat16)),
            "access.indirect_dtype");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{1, 2}}, 0, 1, Dtype::kInt32)), "1 x 3");
  EXPECT_EQ(Moves(Ap(Tile({4, 4}), {{4, 2}, {1, 2}}, 0, 0)),
            "access.indirect_partition");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{1, 2}}, 0, 2)), "access.axis");
  EXPECT_EQ(Moves(Ap(Hbm({4, 4}), {{1, 17}}, 0, 0)),
            "access.pattern_out_of_bounds");
}

TEST(ScalarOffset, IsARegisterOrATileOfOneElementInSbuf) {
  const View x = Hbm({4, 4});
  const auto by = [&](const DynamicIndex& index) {
    return Moves(Select(x, 0, index));
  };
  EXPECT_EQ(by(Reg(5)), "4 x 4");
  EXPECT_EQ(by(One()), "4 x 4");
  EXPECT_EQ(by({false, 0, IndexTile({2, 1})}), "access.indirect_index");
  EXPECT_EQ(by({false, 0, IndexTile({1, 1}, Dtype::kFloat32)}),
            "access.indirect_index");
  EXPECT_EQ(by({false, 0, IndexTile({1, 1}, Dtype::kInt8)}),
            "access.indirect_index");
  EXPECT_EQ(by({false, 0, Hbm({1}, Dtype::kInt32)}), "access.indirect_index");
}

TEST(DynamicSelect, DropsItsDimensionAndComposesWithWhatIsStatic) {
  const Index slices[] = {Sl(1, 4, 2), Sl({}, {}), Sl(1, 3)};
  const View part = *Slice(Hbm({5, 3, 4}), slices);  // (2, 3, 2)
  const auto view = Select(part, 0, Reg(0));
  EXPECT_EQ(Show(view), "13: 3x4 2x1");
  EXPECT_EQ(Moves(view), "24 x 2");
  const Index last = At(1);
  EXPECT_EQ(Show(Slice(*view, {&last, 1})), "17: 2x1");
  EXPECT_EQ(Moves(Select(*view, 0, Reg(0))), "access.indirect_again");
  EXPECT_EQ(Moves(Reinterpret(*view, Dtype::kInt8)), "access.indirect_again");
  EXPECT_EQ(Moves(Select(Tile({4, 4}), 0, Reg(0))),
            "access.indirect_partition");
  EXPECT_EQ(Moves(Select(Tile({4, 4}), 1, Reg(0))), "1 x 4");
  EXPECT_EQ(Moves(Select(*Broadcast(Hbm({1, 4}), 0, 8), 0, Reg(0))),
            "access.indirect_dim");
}

TEST(VectorOffset, RowsComeFromTheTensorNotFromThePattern) {
  const View x = Hbm({6, 5});
  const View index = IndexTile({4, 1});
  for (int64_t step : {5, 1, 0, 100}) {
    const auto view = Rows(x, {{step, 4}, {2, 2}}, 1, index);
    EXPECT_EQ(Show(view), "1: 4x0 2x2");
    EXPECT_EQ(Moves(view), "5 x 6");
  }
  // Rows that reach into the next one leave room for one index less.
  EXPECT_EQ(Moves(Rows(x, {{5, 4}, {1, 6}}, 0, index)), "5 x 5");
  EXPECT_EQ(Moves(Rows(x, {{5, 5}, {1, 5}}, 0, index)),
            "access.indirect_index");
  EXPECT_EQ(Moves(Rows(x, {{5, 2}, {1, 2}}, 0, index, 1)),
            "access.vector_select");
  EXPECT_EQ(Moves(Rows(Tile({6, 5}), {{5, 4}, {1, 5}}, 0, index)),
            "access.indirect_partition");
}

TEST(VectorOffset, KeepsItsRowsWholeAndFirst) {
  const auto view = VectorSelect(Hbm({6, 4, 5}), 0, IndexTile({3, 1}));
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(Show(view), "0: 3x0 4x5 5x1");
  EXPECT_EQ(Moves(view), "20 x 6");
  const Index whole[] = {Sl({}, {}), Sl(1, 3)};
  EXPECT_EQ(Show(Slice(*view, whole)), "5: 3x0 2x5 5x1");
  const Index dots[] = {Dots(), At(4)};
  EXPECT_EQ(Show(Slice(*view, dots)), "4: 3x0 4x5");
  for (const Index& first : {At(0), Sl(0, 2), Sl({}, {}, -1), New()}) {
    EXPECT_EQ(Moves(Slice(*view, {&first, 1})), "access.indirect_dim");
  }
  EXPECT_EQ(Show(Reshape(*view, Sizes{3, 20})), "0: 3x0 20x1");
  EXPECT_EQ(Moves(Reshape(*view, Sizes{60})), "access.indirect_dim");
  EXPECT_EQ(Show(Permute(*view, Sizes{0, 2, 1})), "0: 3x0 5x1 4x5");
  EXPECT_EQ(Moves(Permute(*view, Sizes{1, 0, 2})), "access.indirect_dim");
  EXPECT_EQ(Moves(VectorSelect(*view, 0, IndexTile({3, 1}))),
            "access.indirect_again");
  EXPECT_EQ(Moves(VectorSelect(Hbm({6, 4}), 1, IndexTile({3, 1}))),
            "access.vector_select");
  EXPECT_EQ(Moves(VectorSelect(Tile({6, 4}), 0, IndexTile({3, 1}))),
            "access.vector_select");
  EXPECT_EQ(Moves(VectorSelect(Hbm({6, 4}), 0, IndexTile({3, 2}))),
            "access.indirect_index");
}

TEST(Indirect, IsElementsOfOneStride) {
  const View t = Tile({32, 4, 6});
  const auto view = Indirect(t, IndexTile({32, 2}), {});
  EXPECT_EQ(Show(view), "0: 32x0 32x0");  // 16 * 2 offsets
  EXPECT_EQ(Moves(view), "1 x 24");
  EXPECT_EQ(view->Shape(), (Sizes{32, 32}));
  EXPECT_EQ(Indirect(t, IndexTile({32, 2}), 5)->Shape(), (Sizes{32, 5}));
  // Every second element; a group of 4 partitions has a list of 4.
  const Index second[] = {Sl(0, 4), Sl({}, {}, 2)};
  const View part = *Slice(Tile({32, 8}), second);
  EXPECT_EQ(Moves(Indirect(part, IndexTile({4, 1}), {})), "2 x 4");
  EXPECT_EQ(Indirect(part, IndexTile({4, 1}), {})->Shape(), (Sizes{4, 4}));
  EXPECT_EQ(Moves(Indirect(t, IndexTile({16, 2}), {})),
            "access.indirect_index");
  EXPECT_EQ(
      Moves(Indirect(*Permute(t, Sizes{0, 2, 1}), IndexTile({32, 2}), {})),
      "access.reshape_copy");
  EXPECT_EQ(Moves(Indirect(Hbm({4, 4}), IndexTile({4, 1}), {})),
            "access.indirect");
  EXPECT_EQ(Moves(Slice(*view, {})), "access.indirect_again");
  EXPECT_EQ(Moves(Reshape(*view, Sizes{32, 4, 8})), "access.indirect_again");
}

TEST(DynamicOperand, KeepsRowsApartFromWhatMerges) {
  const auto view = VectorSelect(Hbm({6, 4, 5}), 0, IndexTile({3, 1}));
  const auto value = ToValue(*view);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(Describe(value->access), "hbm[0+3x0,20x1] float32");
  EXPECT_EQ(*value->indirection, *view->indirection);
  EXPECT_EQ(Describe(ToValue(*view, true)->access),
            "hbm[0+3x0,4x5,5x1] float32");
  EXPECT_EQ(FaultOf(ToAccess(*view)).id, "access.indirect_operand");
  // Without an indirection, dimensions merge unless they are to be kept.
  EXPECT_EQ(Describe(ToValue(Hbm({6, 1, 5}))->access), "hbm[0+30x1] float32");
  EXPECT_EQ(Describe(ToValue(Hbm({6, 1, 5}), true)->access),
            "hbm[0+6x5,1x5,5x1] float32");
}

TEST(DynamicOperand, IsInBoundsWhicheverIndexItHas) {
  Access a;
  a.space = Space::kHbm;
  a.dtype = Dtype::kFloat32;
  a.rank = 1;
  a.dims[0] = {1, 4};
  Indirection i;
  i.step = 4;
  i.limit = 3;
  EXPECT_TRUE(CheckBounds(a, 12, 0, "x", &i).ok());
  EXPECT_FALSE(CheckBounds(a, 11, 0, "x", &i).ok());
  i.step = -4;
  EXPECT_FALSE(CheckBounds(a, 12, 0, "x", &i).ok());
  a.offset = 8;
  EXPECT_TRUE(CheckBounds(a, 12, 0, "x", &i).ok());
  i.limit = kHuge;  // saturates
  EXPECT_FALSE(CheckBounds(a, kHuge, 0, "x", &i).ok());
}

TEST(DynamicOperand, TouchesAllOfItsTensor) {
  Tensor t = example::Make("t", TensorKind::kSbuf, Dtype::kFloat32, {16, 32});
  t.byte_address = 512;
  t.start_partition = 32;
  Access a;
  a.space = Space::kSbuf;
  a.dtype = Dtype::kBFloat16;
  a.partitions = 2;
  a.rank = 1;
  a.dims[0] = {1, 2};
  a.indirection = 1;
  const Footprint f = FootprintOf(a, t);
  EXPECT_EQ(f.begin, 512);
  EXPECT_EQ(f.end, 512 + 128);
  EXPECT_EQ(f.first_partition, 32u);
  EXPECT_EQ(f.end_partition, 48u);
  EXPECT_TRUE(f.dense());
}

TEST(DynamicOperand, ReadsAsText) {
  const Program p = ExampleProgram();
  const std::string text = ToText(p);
  EXPECT_THAT(text, HasSubstr("src=%0\"x\"[0+64x0,16x1 @vector idx[0:64, 0+1x1]"
                              ":uint32 dim=0 step=512 limit=128]:float32"));
  EXPECT_THAT(text, HasSubstr("dst=t3[0:64, 0+20x0 @tensor idx[0:64, 0+4x1]:"
                              "int16 dim=1 step=-3 limit=77]:float32"));
  EXPECT_THAT(text, HasSubstr("@scalar idx[0:1, 0+1x1]:int32 dim=255 "
                              "step=1099511627776 limit=1048576]:float32"));
  EXPECT_THAT(text, HasSubstr("@register r63 dim=2 step=1 limit=1]:float32"));
}

// What reading says after a part of the text is another.
std::string Edited(const std::string& part, const std::string& by) {
  std::string text = ToText(ExampleProgram());
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), by);
  const auto program = FromText(text);
  if (program.ok()) return "";
  const Diagnostic d = DiagnosticOf(program.status());
  return d.id + ": " + d.message;
}

TEST(DynamicOperand, IsRefusedWhereItDoesNotFit) {
  const std::string rows = "@vector idx[0:64, 0+1x1]:uint32 dim=0 ";
  const std::string bad = "malformed.indirection: ";
  EXPECT_EQ(Edited(rows, rows), "");
  EXPECT_THAT(Edited("@vector idx[0:64,", "@vector idx[0:63,"),
              HasSubstr("fewer indices than rows"));
  EXPECT_THAT(Edited("@vector idx[0:64, 0+1x1]:uint32",
                     "@vector idx[0:64, 0+1x1]:float32"),
              HasSubstr("not of 16- or 32-bit integers"));
  EXPECT_THAT(Edited("64x0,16x1 @vector", "64x1,16x1 @vector"),
              HasSubstr("src.indirection indexes a first dimension"));
  EXPECT_THAT(Edited("step=512 limit=128", "step=0 limit=128"),
              HasSubstr("has step 0"));
  EXPECT_THAT(Edited("step=512 limit=128", "step=512 limit=0"),
              HasSubstr("has no valid index"));
  EXPECT_THAT(Edited("@scalar idx[0:1,", "@scalar idx[0:2,"),
              HasSubstr("more than one element"));
  EXPECT_THAT(Edited("@tensor idx[0:64,", "@tensor idx[0:63,"),
              HasSubstr("other partitions"));
  EXPECT_THAT(Edited("20x0 @tensor", "20x0,1x1 @tensor"),
              HasSubstr("more than one dimension"));
  EXPECT_THAT(Edited("@vector idx[0:64, 0+1x1]:uint32", "@vector r3"),
              HasSubstr("expected"));
  EXPECT_THAT(Edited("@register r63", "@register r70000"),
              HasSubstr("malformed.register"));
  EXPECT_THAT(Edited("@register r63", "@registers r63"),
              HasSubstr("register, scalar, vector or tensor"));
  EXPECT_THAT(Edited("dim=255", "dim=256"), HasSubstr("is 256"));
  EXPECT_THAT(Edited("idx[0:1, 0+1x1]:int32",
                     "idx[0:1, 0+1x1 @register r1 dim=0 step=1 limit=1]:int32"),
              HasSubstr("expected `]`"));
}

TEST(DynamicOperand, IsComparedByWhatItMeans) {
  Program a = ExampleProgram();
  Program b = ExampleProgram();
  // Another layout of the pool is no difference.
  CoreProgram& core = b.cores[0];
  core.indirections.insert(core.indirections.begin(), Indirection{});
  for (Operand& operand : core.operands) {
    if (operand.access.is_dynamic()) ++operand.access.indirection;
  }
  EXPECT_EQ(FirstDifference(a, b), "");
  core.indirections.back().limit += 1;
  EXPECT_THAT(FirstDifference(a, b), HasSubstr("@register"));
  for (Operand& operand : core.operands) operand.access.indirection = 0;
  EXPECT_THAT(FirstDifference(a, b), HasSubstr("@"));
}

TEST(DynamicOperand, KeepsItsIndexAliveAndWaitsForIt) {
  DraftMaker m;
  const uint32_t index = m.Sbuf("index", 1), x = m.Hbm("x"), y = m.Sbuf("y");
  const uint32_t z = m.Sbuf("z");
  m.Memset(Engine::kVector, index);
  Operand src = m.Whole(x);
  Indirection i;
  i.kind = IndirectionKind::kVector;
  i.step = 16;
  i.limit = 128;
  i.index = m.Whole(index).access;
  src.access.rank = 2;
  src.access.dims = {{{0, 128}, {1, 16}}};
  m.Move(src.access, i);
  const uint32_t set = m.QueueSetOf(Engine::kSync, 1);
  m.Dma(Engine::kSync, m.Whole(y), src, set);
  m.Memset(Engine::kScalar, z);  // must not get the bytes of the index
  m.Memset(Engine::kVector, index);
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  ASSERT_TRUE(Synchronise(m.draft, TinyHardware()).ok());
  const auto& list = m.draft.instructions[0];
  EXPECT_EQ(list[1].num_waits, 1);  // for the memset
  EXPECT_EQ(list[3].num_waits, 1);  // for the DMA that reads the index
}

// The queue is in order, but the second DMA reads its index when it is
// triggered, before the first has written it.
TEST(DynamicOperand, IsNotOrderedByItsQueue) {
  DraftMaker m;
  const uint32_t index = m.Sbuf("index", 1), x = m.Hbm("x"), y = m.Sbuf("y");
  const uint32_t from = m.Hbm("from", 128, 1);
  const uint32_t set = m.QueueSetOf(Engine::kSync, 1);
  m.Dma(Engine::kSync, m.Whole(index), m.Whole(from), set);
  Operand src = m.Whole(x);
  Indirection i;
  i.step = 1;
  i.limit = 1;
  i.index = m.Whole(index).access;
  i.index.partitions = 1;
  m.Move(src.access, i);
  m.Dma(Engine::kSync, m.Whole(y), src, set);
  m.Dma(Engine::kSync, m.Whole(y), m.Whole(index), set);  // in order
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  ASSERT_TRUE(Synchronise(m.draft, TinyHardware()).ok());
  const auto& list = m.draft.instructions[0];
  EXPECT_EQ(list[1].num_waits, 1);
  EXPECT_EQ(list[2].num_waits, 0);
}

}  // namespace
}  // namespace trnemu
