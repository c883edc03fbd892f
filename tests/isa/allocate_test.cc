#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "isa/diagnostic.h"
#include "isa/draft.h"
#include "tests/isa/draft_maker.h"
#include "tests/isa/random_draft.h"

namespace trnemu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr Engine kVector = Engine::kVector;
constexpr Engine kScalar = Engine::kScalar;

Hardware WithSbuf(int64_t bytes) {
  Hardware h = TinyHardware();
  h.memory.sbuf_usable_partition_bytes = bytes;
  return h;
}

int64_t AddressOf(const DraftMaker& m, uint32_t tensor) {
  return static_cast<int64_t>(m.draft.program.tensors[tensor].byte_address);
}

Diagnostic Fault(DraftMaker& m, const Hardware& hardware) {
  const absl::Status status = Allocate(m.draft, hardware);
  EXPECT_FALSE(status.ok());
  return status.ok() ? Diagnostic() : DiagnosticOf(status);
}

TEST(AllocateTest, TilesLiveTogetherDoNotOverlap) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("a"), b = m.Sbuf("b"), c = m.Sbuf("c");
  m.Emit(Opcode::kTensorTensor, kVector, {m.Whole(a), m.Whole(b), m.Whole(c)});
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  EXPECT_EQ(AddressOf(m, a), 0);
  EXPECT_EQ(AddressOf(m, b), 64);
  EXPECT_EQ(AddressOf(m, c), 128);
}

TEST(AllocateTest, SpaceIsReusedAsLateAsPossible) {
  DraftMaker m;
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 4; ++i) {
    tiles.push_back(m.Sbuf("t" + std::to_string(i)));
    m.Memset(kVector, tiles.back());
  }
  ASSERT_TRUE(Allocate(m.draft, WithSbuf(192)).ok());
  EXPECT_EQ(AddressOf(m, tiles[0]), 0);
  EXPECT_EQ(AddressOf(m, tiles[1]), 64);
  EXPECT_EQ(AddressOf(m, tiles[2]), 128);
  EXPECT_EQ(AddressOf(m, tiles[3]), 0);
}

TEST(AllocateTest, ATileMayFillSbufAndNotAByteMore) {
  for (int64_t bytes : {2048, 2049}) {
    DraftMaker m;
    const uint32_t t =
        m.Tile(TensorKind::kSbuf, "big", 128, bytes, Dtype::kUint8);
    m.Memset(kVector, t);
    if (bytes == 2048) {
      EXPECT_TRUE(Allocate(m.draft, TinyHardware()).ok());
    } else {
      const Diagnostic d = Fault(m, TinyHardware());
      EXPECT_EQ(d.category, Category::kCapacity);
      EXPECT_THAT(d.message, AllOf(HasSubstr("'big'"), HasSubstr("2049"),
                                   HasSubstr("2048"), HasSubstr("tiny")));
    }
  }
}

TEST(AllocateTest, TilesMayFillSbufTogetherWithoutPadding) {
  for (int64_t last : {1, 2}) {
    DraftMaker m;
    const uint32_t a = m.Tile(TensorKind::kSbuf, "a", 128, 99, Dtype::kUint8);
    const uint32_t b = m.Tile(TensorKind::kSbuf, "b", 128, last, Dtype::kUint8);
    m.Copy(kVector, a, b);
    EXPECT_EQ(Allocate(m.draft, WithSbuf(100)).ok(), last == 1);
  }
}

// behaviours.md row 20; sdk#1060.
TEST(AllocateTest, ThreeTilesThatOverflowSbufAreListed) {
  DraftMaker m;
  const uint32_t a = m.Sbuf("mean", 888 / 4);
  const uint32_t b = m.Sbuf("x", 98568 / 4), c = m.Sbuf("y", 98568 / 4);
  m.draft.program.files = {"kernel.py"};
  m.draft.program.sources.push_back({0, 7, "norm", ""});
  m.draft.program.tensors[c].source = 0;
  m.Memset(kVector, a);
  m.Memset(kVector, b);
  m.Emit(Opcode::kTensorTensor, kVector, {m.Whole(c), m.Whole(b), m.Whole(a)});
  const Diagnostic d = Fault(m, HardwareFor(Target::kTrn1));
  EXPECT_EQ(d.category, Category::kCapacity);
  EXPECT_EQ(d.id, "allocate.sbuf");
  EXPECT_EQ(d.instruction, 2);
  EXPECT_EQ(d.source, "kernel.py:7 in norm");
  EXPECT_THAT(d.message, AllOf(HasSubstr("3 tiles"), HasSubstr("198024"),
                               HasSubstr("196608"), HasSubstr("trn1")));
  EXPECT_THAT(d.related,
              ElementsAre(HasSubstr("x     98568 bytes per partition"),
                          AllOf(HasSubstr("y     98568 bytes per partition"),
                                HasSubstr("kernel.py:7 in norm")),
                          HasSubstr("mean    888 bytes per partition")));
  EXPECT_THAT(d.details, Contains(Pair("total", "198024 bytes per partition")));
  EXPECT_THAT(d.details,
              Contains(Pair("limit source", SizeIs(::testing::Gt(0u)))));
}

TEST(AllocateTest, APinnedTileOutsideIsRefused) {
  DraftMaker m;
  const uint32_t t = m.Sbuf("far");
  m.Pin(t, 400000);
  const Diagnostic d = Fault(m, HardwareFor(Target::kTrn1));
  EXPECT_EQ(d.category, Category::kCapacity);
  EXPECT_EQ(d.operand, "far");
  EXPECT_THAT(d.message, AllOf(HasSubstr("'far'"), HasSubstr("400000"),
                               HasSubstr("64"), HasSubstr("196608")));
  m.Pin(t, ~uint64_t{0});
  EXPECT_EQ(Fault(m, HardwareFor(Target::kTrn1)).category, Category::kCapacity);
  m.Pin(t, 196608 - 64);
  EXPECT_TRUE(Allocate(m.draft, HardwareFor(Target::kTrn1)).ok());
  m.Pin(t, 196608 - 63);
  EXPECT_EQ(Fault(m, HardwareFor(Target::kTrn1)).category, Category::kCapacity);
}

TEST(AllocateTest, SoftwareDescriptorGenerationTakesSpace) {
  DraftMaker m;
  m.Sbuf("t", 1028 / 4);
  EXPECT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  m.draft.program.swdge = true;
  const Diagnostic d = Fault(m, TinyHardware());
  EXPECT_THAT(d.message, HasSubstr("1024"));
}

TEST(AllocateTest, TilesAvoidPinnedOnesOnlyWhileTheyLive) {
  DraftMaker m;
  const uint32_t pinned = m.Sbuf("pinned");
  m.Pin(pinned, 0);
  const uint32_t before = m.Sbuf("before"), during = m.Sbuf("during");
  m.Memset(kVector, before);
  m.Memset(kVector, pinned);
  m.Copy(kVector, during, pinned);
  ASSERT_TRUE(Allocate(m.draft, WithSbuf(128)).ok());
  EXPECT_EQ(AddressOf(m, before), 0);
  EXPECT_EQ(AddressOf(m, during), 64);
}

TEST(AllocateTest, ATileAvoidsAPinnedOneThatComesLater) {
  DraftMaker m;
  const uint32_t pinned = m.Sbuf("pinned"), tile = m.Sbuf("tile");
  m.Pin(pinned, 0);
  m.Memset(kVector, tile);
  m.Copy(kVector, pinned, tile);
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  EXPECT_EQ(AddressOf(m, tile), 64);
}

TEST(AllocateTest, LargeTilesGoFirstWhereOrderWouldFragment) {
  // a a b b, a ends, c needs what a and the rest leave in one piece.
  DraftMaker m;
  const uint32_t a = m.Sbuf("a", 16), b = m.Sbuf("b", 16), c = m.Sbuf("c", 32);
  m.Memset(kVector, a);
  m.Copy(kVector, b, a);
  m.Copy(kVector, c, b);
  EXPECT_TRUE(Allocate(m.draft, WithSbuf(192)).ok());
  EXPECT_EQ(AddressOf(m, c) % 4, 0);
  EXPECT_NE(AddressOf(m, c), AddressOf(m, b));
}

TEST(AllocateTest, ATileOfABankLiesInOneAndALargerStartsOne) {
  DraftMaker m;
  const uint32_t small = m.Psum("small", 8), bank = m.Psum("bank", 32);
  const uint32_t large = m.Psum("large", 33);
  m.Memset(kVector, small);
  m.Copy(kVector, bank, small);
  m.Copy(kVector, large, bank);
  m.Copy(kVector, large, small);
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  EXPECT_EQ(AddressOf(m, bank) % 128, 0);
  EXPECT_EQ(AddressOf(m, large) % 128, 0);
}

TEST(AllocateTest, TwoByteTilesInPsumAreAlignedToFour) {
  Hardware h = TinyHardware();
  h.memory.psum_partition_bytes = h.memory.psum_bank_bytes = 12;
  DraftMaker m;
  const uint32_t a = m.Tile(TensorKind::kPsum, "a", 128, 3, Dtype::kBFloat16);
  const uint32_t b = m.Tile(TensorKind::kPsum, "b", 128, 2, Dtype::kBFloat16);
  m.Copy(kVector, a, b);
  ASSERT_TRUE(Allocate(m.draft, h).ok());
  EXPECT_EQ(AddressOf(m, b), 8);
}

TEST(AllocateTest, PsumOverflowListsTheTiles) {
  DraftMaker m;
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 9; ++i) {
    tiles.push_back(m.Psum("bank" + std::to_string(i), 32));
    m.Memset(kVector, tiles.back());
  }
  m.Copy(kVector, tiles[0], tiles[1]);
  EXPECT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  for (uint32_t t : tiles) m.Memset(kVector, t);
  const Diagnostic d = Fault(m, TinyHardware());
  EXPECT_EQ(d.id, "allocate.psum");
  EXPECT_THAT(d.message,
              AllOf(HasSubstr("psum"), HasSubstr("1152"), HasSubstr("1024")));
  EXPECT_THAT(d.related, SizeIs(9));
}

TEST(AllocateTest, FragmentationIsSaidToBeThat) {
  DraftMaker m;
  const uint32_t left = m.Sbuf("left", 16), right = m.Sbuf("right", 16);
  const uint32_t t = m.Sbuf("t", 24);
  m.Pin(left, 32);
  m.Pin(right, 128);
  m.Emit(Opcode::kTensorTensor, kVector,
         {m.Whole(t), m.Whole(left), m.Whole(right)});
  const Diagnostic d = Fault(m, WithSbuf(224));
  EXPECT_THAT(d.message, HasSubstr("not in one piece"));
  EXPECT_THAT(d.related, Contains(HasSubstr("pinned")));
}

TEST(AllocateTest, UnusedTilesTakeNoSpaceButMustFit) {
  DraftMaker m;
  for (int i = 0; i < 100; ++i) m.Sbuf("t" + std::to_string(i), 512);
  EXPECT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  m.Sbuf("large", 513);
  EXPECT_EQ(Fault(m, TinyHardware()).category, Category::kCapacity);
}

TEST(AllocateTest, CoresHaveMemoriesOfTheirOwn) {
  DraftMaker m(2);
  for (m.core = 0; m.core < 2; ++m.core) {
    m.Memset(kVector, m.Sbuf("t", 512));
  }
  EXPECT_TRUE(Allocate(m.draft, TinyHardware()).ok());
}

TEST(AllocateTest, APsumResetPrecedesTheFirstUseOnItsEngine) {
  DraftMaker m;
  const uint32_t p = m.Psum("p", 32), q = m.Psum("q", 8), s = m.Sbuf("s", 32);
  m.Pin(q, 512);
  m.Emit(Opcode::kMultiplyMoving, Engine::kTensor, {m.Whole(p), m.Whole(s)});
  m.Copy(kScalar, q, p);
  m.Copy(kScalar, s, q);
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  const auto& code = m.draft.instructions[0];
  ASSERT_THAT(code, SizeIs(5));
  EXPECT_EQ(code[0].opcode, Opcode::kPsumReset);
  EXPECT_EQ(code[0].engine, Engine::kTensor);
  EXPECT_EQ(m.draft.program.operations[code[0].operation], "psum_reset");
  EXPECT_EQ(code[1].opcode, Opcode::kMultiplyMoving);
  EXPECT_EQ(code[2].opcode, Opcode::kPsumReset);
  EXPECT_EQ(code[2].engine, kScalar);
  const Operand& operand = m.draft.program.cores[0].OperandsOf(code[0])[0];
  EXPECT_EQ(operand, m.Whole(p));
}

TEST(AllocateTest, APsumResetTakesOverTheWaitsOfItsInstruction) {
  DraftMaker m;
  const uint32_t s = m.Semaphore("mine");
  m.AddWait(m.Memset(kVector, m.Psum("p")), {s, 5, true});
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  const auto& code = m.draft.instructions[0];
  ASSERT_THAT(code, SizeIs(2));
  EXPECT_THAT(m.draft.program.cores[0].WaitsOf(code[0]),
              ElementsAre(Wait{s, 5, true}));
  EXPECT_EQ(code[1].num_waits, 0);
}

TEST(AllocateTest, AResetWrittenByTheAuthorIsNotRepeated) {
  DraftMaker m;
  const uint32_t p = m.Psum("p");
  m.Emit(Opcode::kPsumReset, kVector, {m.Whole(p)});
  m.Memset(kVector, p);
  ASSERT_TRUE(Allocate(m.draft, TinyHardware()).ok());
  EXPECT_THAT(m.draft.instructions[0], SizeIs(2));
}

// Bytes that two tiles share while both live.
bool Overlap(const Tensor& a, const Tensor& b) {
  const auto begin_a = static_cast<int64_t>(a.byte_address);
  const auto begin_b = static_cast<int64_t>(b.byte_address);
  return begin_a < begin_b + b.bytes_per_partition() &&
         begin_b < begin_a + a.bytes_per_partition();
}

TEST(AllocateTest, RandomTilesNeverOverlapWhileLive) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Draft draft = RandomDraft(seed).Make(30);
    Hardware h = WithSbuf(300 + 20 * (seed % 8));
    if (!Allocate(draft, h).ok()) continue;
    const auto& tensors = draft.program.tensors;
    std::vector<std::pair<int, int>> range(tensors.size(), {1 << 30, -1});
    int order = 0;
    for (const Instruction& i : draft.instructions[0]) {
      for (const Operand& o : draft.program.cores[0].OperandsOf(i)) {
        if (o.kind != Operand::Kind::kAccess) continue;
        auto& r = range[o.access.tensor];
        r = {std::min(r.first, order), order};
      }
      ++order;
    }
    for (size_t a = 0; a < tensors.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (!tensors[a].on_chip() || tensors[a].kind != tensors[b].kind ||
            (tensors[a].pinned && tensors[b].pinned) ||
            range[a].first > range[b].second ||
            range[b].first > range[a].second) {
          continue;
        }
        EXPECT_FALSE(Overlap(tensors[a], tensors[b])) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace trnemu
