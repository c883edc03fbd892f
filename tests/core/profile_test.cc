// Profiles of a timeline made by hand: a load of two parts, a tensor_tensor
// that waits for both, a store that waits for it. No time model takes part, so
// every expected figure is arithmetic on the times below.
//
//   sync    0- 50  load: parts 700-1050, signal at 1300 and 1350
//   vector  1372-1900, done and signals at 2000
//   sync    2022-2072  store: parts 2580-2950, signal at 3200 and 3250
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/profile/compare.h"
#include "core/profile/report.h"
#include "isa/diagnostic.h"
#include "isa/text.h"

namespace trnemu {
namespace {

using Json = nlohmann::json;

constexpr char kProgram[] = R"(trnemu-text 1
name "k"
target trn2
producer "test"
cores 1
swdge false
file 0 "k.py"
source 0 file=0 line=7 function="k" label=""
queue_set 0 core=0 owner=sync queues=2
semaphore 0 core=0 name="loaded"
semaphore 1 core=0 name="added"
operation 0 dma_copy
operation 1 tensor_tensor
tensor 0 x input float32 (128, 512)
tensor 1 y output float32 (128, 512)
tensor 2 t sbuf float32 (128, 512) core=0 partition=0 address=0
core 0
  sync #0 dma_copy.0 DmaCopy dst=t[0:128, 0+512x1]:float32 src=x[0+65536x1]:float32 queue_set=0 dge_mode=unknown oob_mode=error priority=-1 signal s0+=1 @src0
  vector #1 tensor_tensor.0 TensorTensor dst=t[0:128, 0+512x1]:float32 data1=t[0:128, 0+512x1]:float32 data2=t[0:128, 0+512x1]:float32 op=add wait s0>=2 signal s1+=1 @src0
  sync #2 dma_copy.0 DmaCopy dst=y[0+65536x1]:float32 src=t[0:128, 0+512x1]:float32 queue_set=0 dge_mode=unknown oob_mode=error priority=-1 wait s1>=1 @src0
)";

constexpr Ticks Ns(double ns) { return static_cast<Ticks>(ns * 1e6); }

void AddParts(Timeline& t, double trigger, double payload, double notify,
              DmaDirection direction) {
  for (int p = 0; p < 2; ++p) {
    DmaRecord d;
    d.instruction = t.next_instruction();
    d.trigger = Ns(trigger);
    d.payload_from = d.start = Ns(payload);
    d.busy = Ns(200 + 50 * p);
    d.free = d.start + d.busy;
    d.end = Ns(payload + 300 + 50 * p);
    d.notify = Ns(notify + 50 * p);
    d.bytes = 131072;
    d.descriptors = 64;
    d.queue = d.engine = static_cast<uint8_t>(p);
    d.direction = direction;
    if (direction == DmaDirection::kLoad) d.hbm_read = d.bytes;
    if (direction == DmaDirection::kStore) d.hbm_written = d.bytes;
    t.Add(d);
  }
}

void AddRow(Timeline& t, const Instruction& i, double ready, double start,
            double issue_end, double end) {
  t.Add({&i, Ns(ready), Ns(start), Ns(issue_end), Ns(end)});
}

class ProfileTest : public ::testing::Test {
 protected:
  ProfileTest() {
    absl::StatusOr<Program> parsed = FromText(kProgram);
    EXPECT_TRUE(parsed.ok()) << Render(DiagnosticOf(parsed.status()));
    program_ = std::make_shared<const Program>(*std::move(parsed));
    const auto& sync = program_->cores[0].stream(Engine::kSync);
    const auto& vector = program_->cores[0].stream(Engine::kVector);
    auto timeline = std::make_shared<Timeline>();
    Timeline& t = *timeline;
    t.Begin(*program_);
    AddParts(t, 0, 700, 1300, DmaDirection::kLoad);
    AddRow(t, sync[0], 0, 0, 50, 50);
    const Signal loaded{.semaphore = 0}, added{.semaphore = 1};
    t.FromPart(0, Ns(1300));
    t.Update(loaded, 1, Ns(1300));
    t.FromPart(1, Ns(1350));
    t.Update(loaded, 2, Ns(1350));
    t.Woke(0, Engine::kVector);
    t.Needs(0, 2);
    AddRow(t, vector[0], 0, 1372, 1900, 2000);
    t.FromInstruction(0, Engine::kVector);
    t.Update(added, 1, Ns(2000));
    t.Woke(0, Engine::kSync);
    t.Needs(1, 1);
    AddParts(t, 2022, 2580, 3200, DmaDirection::kStore);
    AddRow(t, sync[1], 50, 2022, 2072, 2072);
    report_ = MakeProfileReport(
        program_, {&HardwareFor(Target::kTrn2), [](const Hardware*) {}},
        std::move(timeline), Ns(3250), "k");
  }

  std::shared_ptr<const Program> program_;
  ProfileReport report_;
};

TEST_F(ProfileTest, IdleTimesNameWhatTheyWaitFor) {
  ASSERT_EQ(report_.stalls.size(), 2u);
  const Stall& vector = report_.stalls[0];
  EXPECT_EQ(vector.engine, Engine::kVector);
  EXPECT_EQ(vector.from, Ns(0));
  EXPECT_EQ(vector.to, Ns(1372));
  EXPECT_EQ(vector.cause, Cause::kLoad);
  EXPECT_EQ(vector.producer, 0);
  EXPECT_EQ(vector.producer_dma, 1);  // the later part
  const Stall& sync = report_.stalls[1];
  EXPECT_EQ(sync.engine, Engine::kSync);
  EXPECT_EQ(sync.from, Ns(50));
  EXPECT_EQ(sync.to, Ns(2022));
  EXPECT_EQ(sync.cause, Cause::kVector);
  EXPECT_EQ(sync.producer, 1);
  EXPECT_EQ(sync.producer_dma, -1);
}

TEST_F(ProfileTest, CriticalPathJoinsUpFromStartToEnd) {
  struct Want {
    PathStep::Kind kind;
    double from, to;
    int32_t row;
    Cause cause;
  };
  const Want want[] = {
      {PathStep::Kind::kDma, 0, 1350, 1, Cause::kLoad},
      {PathStep::Kind::kWait, 1350, 1372, 1, Cause::kHandOff},
      {PathStep::Kind::kInstruction, 1372, 2000, 1, Cause::kVector},
      {PathStep::Kind::kWait, 2000, 2022, 2, Cause::kHandOff},
      {PathStep::Kind::kDma, 2022, 3250, 3, Cause::kStore},
  };
  ASSERT_EQ(report_.critical_path.size(), std::size(want));
  for (size_t i = 0; i < std::size(want); ++i) {
    const PathStep& got = report_.critical_path[i];
    EXPECT_EQ(got.kind, want[i].kind) << i;
    EXPECT_EQ(got.from, Ns(want[i].from)) << i;
    EXPECT_EQ(got.to, Ns(want[i].to)) << i;
    EXPECT_EQ(got.row, want[i].row) << i;
    EXPECT_EQ(got.cause, want[i].cause) << i;
  }
}

TEST_F(ProfileTest, MetricsFollowTheirFormulas) {
  EXPECT_DOUBLE_EQ(report_.metric("total_time"), 3250e-9);
  // 1372 to 2000 of 3250.
  EXPECT_DOUBLE_EQ(report_.metric("vector_engine_active_time"), 628e-9);
  EXPECT_DOUBLE_EQ(report_.metric("vector_engine_active_time_percent"),
                   628.0 / 3250);
  // 700 to 1050 and 2580 to 2930.
  EXPECT_DOUBLE_EQ(report_.metric("dma_active_time"), 700e-9);
  EXPECT_EQ(report_.metric("dma_transfer_count"), 2);
  EXPECT_EQ(report_.metric("dma_transfer_average_bytes"), 262144);
  EXPECT_EQ(report_.metric("dma_descriptor_average_bytes"), 2048);
  EXPECT_EQ(report_.metric("hbm_read_bytes"), 262144);
  EXPECT_EQ(report_.metric("hbm_write_bytes"), 262144);
  // Of a stack of 750 GB/s: 3000 of four.
  EXPECT_DOUBLE_EQ(report_.metric("mbu_estimated_percent"),
                   524288 / (750.0 * 3250));
  // The DMAs' side on chip, and two operands and the result of 128 x 512 x 4.
  EXPECT_EQ(report_.metric("sbuf_read_bytes"), 3 * 262144);
  EXPECT_EQ(report_.metric("sbuf_write_bytes"), 2 * 262144);
  EXPECT_EQ(report_.metric("hfu_estimated_percent"), 0);
}

TEST_F(ProfileTest, EngineTotalsAddUp) {
  ASSERT_EQ(report_.engines.size(), 3u);
  const EngineTotals& vector = report_.engines[0];
  EXPECT_EQ(vector.busy, Ns(528));
  EXPECT_EQ(vector.active, Ns(628));
  EXPECT_EQ(vector.waiting, Ns(1372));
  const EngineTotals& sync = report_.engines[1];
  EXPECT_EQ(sync.instructions, 2);
  EXPECT_EQ(sync.busy, Ns(100));
  EXPECT_EQ(sync.waiting, Ns(1972));
  const EngineTotals& dma = report_.engines[2];
  EXPECT_EQ(dma.engine, Engine::kDma);
  EXPECT_EQ(dma.busy, Ns(900.0 / 16));  // 200 + 250, twice
}

TEST_F(ProfileTest, HbmBandwidthIsTheSumOfThePartsUnderWay) {
  const Series& s = report_.hbm_bandwidth;
  const std::vector<Ticks> times = {Ns(700),  Ns(900),  Ns(950),
                                    Ns(2580), Ns(2780), Ns(2830)};
  EXPECT_EQ(s.times, times);
  // 131072 bytes in 200 ns and in 250 ns.
  EXPECT_NEAR(s.values[0], 655.36 + 524.288, 1e-9);
  EXPECT_NEAR(s.values[1], 524.288, 1e-9);
  EXPECT_NEAR(s.values[2], 0, 1e-9);
}

TEST_F(ProfileTest, ATileIsInUseFromItsFirstToItsLastUse) {
  ASSERT_EQ(report_.tiles.size(), 1u);
  EXPECT_EQ(report_.tiles[0].from, Ns(0));
  EXPECT_EQ(report_.tiles[0].to, Ns(3250));
  EXPECT_EQ(report_.sbuf_bytes[0].values, (std::vector<double>{262144, 0}));
}

TEST_F(ProfileTest, JsonHasColumnsOfEqualLength) {
  const Json json = Json::parse(ProfileJson(report_));
  EXPECT_EQ(json["format"], "trnemu-profile");
  EXPECT_EQ(json["time_ns"], 3250);
  for (const auto& [name, column] : json["instructions"].items()) {
    EXPECT_EQ(column.size(), 3u) << name;
  }
  for (const auto& [name, column] : json["dma"].items()) {
    EXPECT_EQ(column.size(), 4u) << name;
  }
  const Json& i = json["instructions"];
  EXPECT_EQ(i["engine"], Json({"sync", "vector", "sync"}));
  EXPECT_EQ(i["start"], Json({0, 1372, 2022}));
  EXPECT_EQ(i["wait_semaphore"], Json({-1, 0, 1}));
  EXPECT_EQ(i["producer"], Json({-1, 0, 1}));
  EXPECT_EQ(i["producer_dma"], Json({-1, 1, -1}));
  EXPECT_EQ(json["sources"], Json({"k.py:7 in k"}));
  EXPECT_EQ(json["semaphores"]["value"], Json({1, 2, 1}));
  EXPECT_EQ(json["semaphores"]["dma"], Json({0, 1, -1}));
}

TEST_F(ProfileTest, TraceHasATrackPerEngineAndQueueAndArrowsBetweenThem) {
  const Json trace = Json::parse(ProfileTrace(report_));
  std::map<std::pair<int, int>, std::string> tracks;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M" && e["name"] == "thread_name") {
      tracks[{e["pid"], e["tid"]}] = e["args"]["name"];
    }
  }
  // Slices by track and start; flows by id.
  std::map<std::pair<std::string, double>, std::string> slices;
  std::map<int, std::pair<std::string, std::string>> flows;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "X") {
      slices[{tracks.at({e["pid"], e["tid"]}), e["ts"]}] = e["name"];
    }
  }
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "s" && e["ph"] != "f") continue;
    const std::string name =
        slices.at({tracks.at({e["pid"], e["tid"]}), e["ts"]});
    auto& ends = flows[e["id"]];
    (e["ph"] == "s" ? ends.first : ends.second) = name;
  }
  const auto at = [&](const std::string& track, double us) {
    const auto found = slices.find({track, us});
    return found == slices.end() ? "none" : found->second;
  };
  EXPECT_EQ(at("sync", 0), "DmaCopy");
  EXPECT_EQ(at("vector", 0), "wait for loaded");
  EXPECT_EQ(at("vector", 1.372), "TensorTensor");
  EXPECT_EQ(at("sync", 0.05), "wait for added");
  EXPECT_EQ(at("qSync0 queue 1 (engine 1)", 0.7), "dma load");
  EXPECT_EQ(at("qSync0 queue 0 (engine 0)", 2.58), "dma store");
  std::multiset<std::pair<std::string, std::string>> arrows,
      want = {{"dma load", "TensorTensor"}, {"TensorTensor", "DmaCopy"},
              {"DmaCopy", "dma load"},      {"DmaCopy", "dma load"},
              {"DmaCopy", "dma store"},     {"DmaCopy", "dma store"}};
  for (const auto& [id, ends] : flows) arrows.insert(ends);
  EXPECT_EQ(arrows, want);
}

std::string LineOf(const std::string& text, int n) {
  size_t at = 0;
  for (; n > 0; --n) at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

TEST_F(ProfileTest, TablesHaveTheVendorsColumns) {
  std::map<std::string, std::string> tables;
  for (const auto& [name, text] : ProfileTables(report_)) tables[name] = text;
  const std::string& instructions = tables["Instruction"];
  EXPECT_TRUE(LineOf(instructions, 0)
                  .starts_with("start_ts,end_ts,duration_ns,engine,"
                               "timeline_track,pcore_idx,opcode,operands,id"))
      << LineOf(instructions, 0);
  EXPECT_TRUE(LineOf(instructions, 2)
                  .starts_with("1372,2000,628,Vector,Vector,0,TENSOR_TENSOR,"))
      << LineOf(instructions, 2);
  // Times are whole; the wait is what held it.
  EXPECT_NE(LineOf(instructions, 2).find(",1,0,1372,k.py:7 in k,"),
            std::string::npos)
      << LineOf(instructions, 2);
  EXPECT_EQ(LineOf(tables["DmaPacketAggregated"], 1),
            "700,1000,300,0,0,0,0,qSync0,hardware_dynamic,read,x,131072,131072,"
            "131072,436906666666.6667,[INPUT],[SB],S[0] (loaded),false,0,50");
  EXPECT_EQ(LineOf(tables["SemaphoreUpdate"], 2),
            "1350,S[0] (loaded),2,AXI,sem_add_imm,complete,0");
  EXPECT_EQ(LineOf(tables["SemaphoreUpdate"], 3),
            "2000,S[1] (added),1,Vector,sem_add_imm,complete,0");
  EXPECT_EQ(LineOf(tables["ActiveTime"], 1), "1372,2000,Vector,0,628");
  EXPECT_EQ(LineOf(tables["OpcodeSummary"], 1),
            "Sync,DMA_DIRECT2D,2,100,100,0.03076923076923077");
  // The later part woke the vector engine, 22 ns before it started.
  EXPECT_EQ(LineOf(tables["Flow"], 1),
            "1,1,DmaPacketAggregated,Instruction,FLOW_DEPENDENCE,22");
}

TEST(TimelineTest, FindsTheChangeThatAWaitNeededThoughOthersFollowed) {
  absl::StatusOr<Program> program = FromText(kProgram);
  ASSERT_TRUE(program.ok());
  const auto& sync = program->cores[0].stream(Engine::kSync);
  const auto& vector = program->cores[0].stream(Engine::kVector);
  Timeline t;
  t.Begin(*program);
  AddParts(t, 0, 700, 1300, DmaDirection::kLoad);
  AddRow(t, sync[0], 0, 0, 50, 50);
  for (int i = 0; i < 4; ++i) {
    t.FromPart(i % 2, 0);
    t.Update(Signal{.semaphore = 0}, i + 1, Ns(100 * i));
  }
  t.Needs(0, 2);  // the second change is the first after which it held
  AddRow(t, vector[0], 900, 900, 950, 990);
  EXPECT_EQ(t.instructions()[1].update, 1);
  EXPECT_FALSE(t.instructions()[1].waited());
}

// Two parts of one engine, of 200 and 250 ns of it: side by side each has half.
// The first, alone from 700, is done at 1000, having 100 of its own left at 800
// when the other comes; that one has 150 left then.
TEST(SharedEngineTest, TheHbmRateIsThatOfTheEngineHoweverManyShareIt) {
  absl::StatusOr<Program> text = FromText(kProgram);
  ASSERT_TRUE(text.ok());
  // Records point at its instructions.
  const auto program = std::make_shared<const Program>(*std::move(text));
  auto timeline = std::make_shared<Timeline>();
  timeline->Begin(*program);
  const auto part = [&](double from, double to, double busy, uint8_t queue) {
    DmaRecord d;
    d.instruction = 0;
    d.payload_from = d.start = Ns(from);
    d.free = d.end = d.notify = Ns(to);
    d.busy = Ns(busy);
    d.bytes = d.hbm_read = static_cast<int64_t>(20 * busy);
    d.descriptors = 1;
    d.queue_set = queue;
    timeline->Add(d);
  };
  part(700, 1000, 200, 0);
  part(800, 1150, 250, 1);
  AddRow(*timeline, program->cores[0].stream(Engine::kSync)[0], 0, 0, 50, 50);
  const ProfileReport report =
      MakeProfileReport(program,
                        {&HardwareFor(Target::kTrn2), [](const Hardware*) {}},
                        std::move(timeline), Ns(1150), "k");
  // 20 B/ns from 700 to 1150, and nothing after it.
  const Series& s = report.hbm_bandwidth;
  ASSERT_FALSE(s.times.empty());
  EXPECT_EQ(s.times.front(), Ns(700));
  EXPECT_EQ(s.times.back(), Ns(1150));
  EXPECT_EQ(s.values.back(), 0);
  for (size_t i = 0; i + 1 < s.values.size(); ++i) {
    EXPECT_DOUBLE_EQ(s.values[i], 20) << i;
  }
  // The engine was busy for 450 ns: not for the 650 of both stays.
  EXPECT_DOUBLE_EQ(report.metric("dma_packet_time"), 450e-9);
}

TEST(TimelineTest, APartThatIsDoneLaterThanForeseenEndsLater) {
  absl::StatusOr<Program> program = FromText(kProgram);
  ASSERT_TRUE(program.ok());
  Timeline t;
  t.Begin(*program);
  AddParts(t, 0, 700, 1300, DmaDirection::kLoad);
  t.Move(0, Ns(720), Ns(1000));
  t.FromPart(0, Ns(1400));
  EXPECT_EQ(t.dma()[0].start, Ns(720));
  EXPECT_EQ(t.dma()[0].free, Ns(1000));  // 100 late
  EXPECT_EQ(t.dma()[0].end, Ns(1100));   // as long after it as before
  EXPECT_EQ(t.dma()[0].busy, Ns(200));
  EXPECT_EQ(t.dma()[0].notify, Ns(1400));
  EXPECT_EQ(t.dma()[1].notify, Ns(1350));
}

TEST(TimelineTest, MoreRecordsThanAllowedAreAFault) {
  absl::StatusOr<Program> program = FromText(kProgram);
  ASSERT_TRUE(program.ok());
  Timeline t(2);
  t.Begin(*program);
  AddParts(t, 0, 700, 1300, DmaDirection::kLoad);
  EXPECT_TRUE(t.CheckLimit().ok());
  AddRow(t, program->cores[0].stream(Engine::kSync)[0], 0, 0, 50, 50);
  EXPECT_EQ(DiagnosticOf(t.CheckLimit()).id, "limit.profile_records");
}

constexpr char kOurs[] =
    "start_ts,duration_ns,engine,opcode\n"
    "0,100,Vector,TENSOR_TENSOR\n"
    "200,100,Vector,MEMSET\n"
    "400,50,Vector,TENSOR_TENSOR\n"
    "0,30,Tensor,MATMUL\n"
    "0,9,Sync,BRANCH\n";
constexpr char kTheirs[] =
    "opcode,engine,start_ts,end_ts,operands\n"
    "tensor_tensor,DVE,1000,1080,\"a, b\"\n"
    "EVENT_SEMAPHORE,DVE,1100,1110,\n"
    "TENSOR_TENSOR,DVE,1400,1450,\n"
    "MATMUL,PE,1000,1040,\n";

TEST(CompareTest, MatchesByEngineOrderAndOpcode) {
  const auto ours = ReadInstructionTable(kOurs, {});
  const auto theirs = ReadInstructionTable(kTheirs, {});
  ASSERT_TRUE(ours.ok() && theirs.ok());
  const TableComparison c = CompareTables(*ours, *theirs);
  EXPECT_EQ(c.matched, 3);
  std::map<std::string, OpcodeComparison> by;
  for (const OpcodeComparison& o : c.opcodes) by[o.opcode] = o;
  // 100 against 80 and 50 against 50: +25 % and 0.
  EXPECT_EQ(by["TENSOR_TENSOR"].matched, 2);
  EXPECT_DOUBLE_EQ(by["TENSOR_TENSOR"].median_error, 0.125);
  EXPECT_DOUBLE_EQ(by["TENSOR_TENSOR"].worst_error, 0.25);
  EXPECT_DOUBLE_EQ(by["MATMUL"].mean_error, -0.25);  // 30 against 40
  EXPECT_EQ(by["MEMSET"].matched, 0);
  EXPECT_EQ(by["EVENT_SEMAPHORE"].theirs, 1);
  EXPECT_EQ(by["BRANCH"].ours, 1);
  // Of 25, 0 and 25 %.
  EXPECT_DOUBLE_EQ(c.median_error, 0.25);
  EXPECT_EQ(c.ours_span, 450);
  EXPECT_EQ(c.theirs_span, 450);
  // Each row of both is there once.
  EXPECT_EQ(c.rows.size(), 3u + 2u + 1u);
}

TEST(CompareTest, LeavesOutTheFewestWhereStreamsDiffer) {
  const std::string head = "engine,opcode,start_ts,duration_ns\n";
  const auto table = [&](const std::string& opcodes) {
    std::string csv = head;
    int at = 0;
    for (char c : opcodes) {
      csv +=
          "Vector," + std::string(1, c) + "," + std::to_string(at++) + ",1\n";
    }
    return *ReadInstructionTable(csv, {});
  };
  // B is missing on their side, an extra C on ours.
  const TableComparison c = CompareTables(table("ABCABCCA"), table("ACABCAB"));
  std::string pairs;
  for (const MatchedRow& m : c.rows) {
    pairs += std::to_string(m.ours) + ":" + std::to_string(m.theirs) + " ";
  }
  EXPECT_EQ(pairs, "0:0 1:-1 2:1 3:2 4:3 5:4 6:-1 7:5 -1:6 ");
}

TEST(CompareTest, RenamesTheirOpcodes) {
  const auto theirs =
      ReadInstructionTable("engine,opcode,start_ts,duration_ns\nSP,WRITE,0,9\n",
                           {{"WRITE", "DMA_DIRECT2D"}});
  ASSERT_TRUE(theirs.ok());
  EXPECT_EQ(theirs->at(0).engine, "sync");
  EXPECT_EQ(theirs->at(0).opcode, "DMA_DIRECT2D");
}

TEST(CompareTest, SaysWhatIsWrongWithATable) {
  const auto message = [](const char* csv) {
    const auto rows = ReadInstructionTable(csv, {});
    return rows.ok() ? "" : DiagnosticOf(rows.status()).message;
  };
  EXPECT_EQ(message(""), "the table is empty");
  EXPECT_EQ(message("engine,start_ts,duration_ns\n"),
            "the table has no column opcode");
  EXPECT_EQ(message("engine,opcode,start_ts\n"),
            "the table has no column duration_ns, and no end_ts");
  EXPECT_EQ(message("engine,opcode,start_ts,end_ts\nA,B,0,1\nA,B,x,1\n"),
            "line 3: start_ts must be a number, not \"x\"");
}

}  // namespace
}  // namespace trnemu
