// A run that processes share gives what one process gives alone.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "collectives/cluster.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"
#include "isa/system.h"
#include "tests/processes/processes.h"

namespace trnemu {
namespace {

using ::testing::HasSubstr;
using Programs = std::vector<std::shared_ptr<const Program>>;

std::shared_ptr<const Topology> System(const char* name, int ranks,
                                       int lnc = 2) {
  auto system = FindSystem(name);
  EXPECT_TRUE(system.ok()) << system.status();
  auto topology = Topology::Make(*system, ranks, lnc, {});
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *topology;
}

struct What {
  const char* operation = "all_reduce";
  ReplicaGroups groups;
  int64_t in = 0, out = 0;  // elements of x and y
  AluOp op = AluOp::kAdd;
  Dtype dtype = Dtype::kFloat32;
  int times = 1;  // y of one call, so many
  int cores = 1;
  bool unwritten = false;  // x is of nobody
  int copies = 0;          // of x, one after the other, that come first
};

std::shared_ptr<const Program> Make(const What& what) {
  ProgramBuilder b(Target::kTrn2, what.operation, what.cores,
                   ProgramBuilder::Sync::kAuto);
  const int64_t in[] = {what.in}, out[] = {what.out};
  auto x =
      b.AddTensor(what.unwritten ? TensorKind::kScratch : TensorKind::kInput,
                  "x", what.dtype, in);
  Value from = *ToValue(*x);
  for (int i = 0; i < what.copies; ++i) {
    auto copy = b.AddTensor(TensorKind::kScratch, "copy" + std::to_string(i),
                            what.dtype, in);
    const Value to = *ToValue(*copy);
    const absl::Status ok = b.Add("dma_copy", {{"dst", to}, {"src", from}});
    EXPECT_TRUE(ok.ok()) << ok;
    from = to;
  }
  const Value groups = Value::Integer(b.AddReplicaGroups(what.groups));
  const std::string name = what.operation;
  for (int i = 0; i < what.times; ++i) {
    auto y =
        b.AddTensor(TensorKind::kOutput, i == 0 ? "y" : "y" + std::to_string(i),
                    what.dtype, out);
    NamedArguments arguments = {
        {"srcs", from}, {"dsts", *ToValue(*y)}, {"replica_group", groups}};
    if (name == "all_reduce" || name == "reduce_scatter") {
      arguments.push_back({"op", Value::OfEnum(what.op)});
    }
    if (name != "all_reduce") {
      arguments.push_back({"collective_dim", Value::Integer(0)});
    }
    const absl::Status ok = b.Add(name, arguments);
    EXPECT_TRUE(ok.ok()) << ok;
  }
  auto program = b.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  return *program;
}

ReplicaGroups All(int ranks) {
  ReplicaGroups groups(1);
  for (int r = 0; r < ranks; ++r) {
    groups[0].push_back(static_cast<uint32_t>(r));
  }
  return groups;
}

// Bits that differ between ranks and elements; sums of them round.
struct Data {
  Data(int ranks, int64_t n) : values(static_cast<size_t>(ranks)) {
    uint32_t state = 1;
    for (auto& v : values) {
      for (int64_t i = 0; i < n; ++i) {
        state = state * 1664525 + 1013904223;
        v.push_back(static_cast<float>(state >> 8) * 0x1p-20f - 8);
      }
      Inputs in;
      in["x"] = {Dtype::kFloat32, false, {n}, std::as_bytes(std::span(v))};
      inputs.push_back(std::move(in));
    }
  }
  std::vector<std::vector<float>> values;
  std::vector<Inputs> inputs;
};

using Result = absl::StatusOr<ClusterResult>;

// What one process gives alone, and what all give together. Of ranks of other
// processes a process has neither program nor inputs.
struct Runs {
  Runs(const std::shared_ptr<const Topology>& topology, Programs programs,
       std::vector<Inputs> inputs, const RunOptions& options = {}) {
    ClusterOptions cluster;
    cluster.threads = 1;
    cluster.record_links = true;
    alone = RunCluster(topology, programs, inputs, options, cluster);
    auto spread = SpreadRanks(*topology, Together().processes());
    EXPECT_TRUE(spread.ok()) << spread.status();
    process = *spread;
    for (size_t r = 0; r < process.size(); ++r) {
      if (process[r] == Together().process()) continue;
      if (programs.size() > 1) programs[r] = nullptr;
      if (inputs.size() > 1) inputs[r].clear();
    }
    together = RunCluster(topology, programs, inputs, options, cluster, {},
                          &Together());
  }
  bool Here(size_t rank) const { return process[rank] == Together().process(); }
  std::vector<int32_t> process;
  Result alone, together;
};

void ExpectTheSame(const Runs& runs, bool values = true) {
  ASSERT_TRUE(runs.alone.ok()) << runs.alone.status();
  ASSERT_TRUE(runs.together.ok()) << runs.together.status();
  const ClusterResult &a = *runs.alone, &b = *runs.together;
  EXPECT_EQ(a.time_ns, b.time_ns);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t r = 0; r < a.ranks.size(); ++r) {
    const RunResult &one = a.ranks[r], &two = b.ranks[r];
    EXPECT_EQ(one.time_ns, two.time_ns) << "rank " << r;
    EXPECT_EQ(one.target, two.target);
    EXPECT_EQ(one.profile.end, two.profile.end);
    EXPECT_EQ(one.profile.instructions, two.profile.instructions);
    EXPECT_EQ(one.profile.hbm_read_bytes, two.profile.hbm_read_bytes);
    EXPECT_EQ(one.profile.hbm_write_bytes, two.profile.hbm_write_bytes);
    EXPECT_EQ(one.profile.opcodes, two.profile.opcodes);
    ASSERT_EQ(one.diagnostics.size(), two.diagnostics.size());
    for (size_t i = 0; i < one.diagnostics.size(); ++i) {
      EXPECT_EQ(ToJson(one.diagnostics[i]), ToJson(two.diagnostics[i]));
    }
    if (!runs.Here(r) || !values) {
      EXPECT_TRUE(two.outputs.empty());
      continue;
    }
    ASSERT_FALSE(two.outputs.empty());
    for (const auto& [name, array] : one.outputs) {
      EXPECT_EQ(array.bytes, two.outputs.at(name).bytes)
          << name << " of rank " << r;
    }
  }
  ASSERT_EQ(a.collectives.size(), b.collectives.size());
  for (size_t i = 0; i < a.collectives.size(); ++i) {
    EXPECT_EQ(a.collectives[i].algorithm, b.collectives[i].algorithm);
    EXPECT_EQ(a.collectives[i].ranks, b.collectives[i].ranks);
    EXPECT_EQ(a.collectives[i].start, b.collectives[i].start);
    EXPECT_EQ(a.collectives[i].end, b.collectives[i].end);
    EXPECT_EQ(a.collectives[i].link_bytes, b.collectives[i].link_bytes);
    EXPECT_EQ(a.collectives[i].hbm_read, b.collectives[i].hbm_read);
    EXPECT_EQ(a.collectives[i].source, b.collectives[i].source);
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].link, b.links[i].link);
    EXPECT_EQ(a.links[i].start, b.links[i].start);
    EXPECT_EQ(a.links[i].end, b.links[i].end);
  }
}

void ExpectTheSameFault(const Runs& runs) {
  ASSERT_FALSE(runs.alone.ok());
  ASSERT_FALSE(runs.together.ok());
  EXPECT_EQ(ToJson(DiagnosticOf(runs.alone.status())),
            ToJson(DiagnosticOf(runs.together.status())));
}

// Chips enough for every process: 4 ranks of 2 cores are on one.
int Ranks(int least) { return std::max(least, 4 * Together().processes()); }

TEST(Together, AllReduceHasTheSameBitsAndTimes) {
  for (const int ranks : {Ranks(8), 32, 64}) {
    // Small and large: a mesh and rings.
    for (const int64_t n : {int64_t{ranks}, int64_t{16384}}) {
      const Data data(ranks, n);
      ExpectTheSame(Runs(System("trn2.48xlarge", ranks),
                         {Make({.groups = All(ranks), .in = n, .out = n})},
                         data.inputs));
    }
  }
}

// Beside what one process gives: the sum itself, of numbers that are exact.
TEST(Together, EveryRankHasTheSum) {
  const int ranks = Ranks(8);
  Data data(ranks, 16);
  for (int r = 0; r < ranks; ++r) {
    for (float& v : data.values[static_cast<size_t>(r)]) {
      v = static_cast<float>(r + 1);
    }
  }
  const Runs runs(System("trn2.48xlarge", ranks),
                  {Make({.groups = All(ranks), .in = 16, .out = 16})},
                  data.inputs);
  ASSERT_TRUE(runs.together.ok()) << runs.together.status();
  for (size_t r = 0; r < runs.process.size(); ++r) {
    if (!runs.Here(r)) continue;
    const auto& bytes = runs.together->ranks[r].outputs.at("y").bytes;
    for (size_t i = 0; i < 16; ++i) {
      float y = 0;
      std::memcpy(&y, bytes.data() + 4 * i, 4);
      EXPECT_EQ(y, static_cast<float>(ranks * (ranks + 1)) / 2);
    }
  }
}

TEST(Together, AllGatherHasTheSameBitsAndTimes) {
  for (const int ranks : {Ranks(8), 64}) {
    const int64_t n = 300;
    const Data data(ranks, n);
    ExpectTheSame(Runs(System("trn2.48xlarge", ranks),
                       {Make({.operation = "all_gather",
                              .groups = All(ranks),
                              .in = n,
                              .out = n * ranks})},
                       data.inputs));
  }
}

TEST(Together, ReduceScatterHasTheSameBitsAndTimes) {
  for (const int ranks : {Ranks(8), 64}) {
    const int64_t n = 300;
    const Data data(ranks, n * ranks);
    ExpectTheSame(Runs(System("trn2.48xlarge", ranks),
                       {Make({.operation = "reduce_scatter",
                              .groups = All(ranks),
                              .in = n * ranks,
                              .out = n})},
                       data.inputs));
  }
}

TEST(Together, AllToAllHasTheSameBitsAndTimes) {
  for (const int ranks : {Ranks(8), 64}) {
    const int64_t n = 40;
    const Data data(ranks, n * ranks);
    ExpectTheSame(Runs(System("trn2.48xlarge", ranks),
                       {Make({.operation = "all_to_all",
                              .groups = All(ranks),
                              .in = n * ranks,
                              .out = n * ranks})},
                       data.inputs));
  }
}

// Rank r gives r % 3 + 1 elements; all have room for 4 of each.
TEST(Together, AllGatherVHasTheSameBitsTimesAndReceivedCounts) {
  const int ranks = Ranks(8);
  const auto n = static_cast<uint32_t>(ranks);
  ProgramBuilder b(Target::kTrn2, "gather", 1, ProgramBuilder::Sync::kAuto);
  const int64_t in[] = {4}, out[] = {4 * int64_t{n}}, rows[] = {3 * int64_t{n}};
  auto x = b.AddTensor(TensorKind::kInput, "x", Dtype::kFloat32, in);
  auto y = b.AddTensor(TensorKind::kInOut, "y", Dtype::kFloat32, out);
  auto counts = b.AddTensor(TensorKind::kInOut, "counts", Dtype::kUint32, rows);
  const Value groups = Value::Integer(b.AddReplicaGroups(All(ranks)));
  const absl::Status ok =
      b.Add("all_gather_v", {{"srcs", *ToValue(*x)},
                             {"dsts", *ToValue(*y)},
                             {"replica_group", groups},
                             {"metadata_tensor", *ToValue(*counts)}});
  ASSERT_TRUE(ok.ok()) << ok;
  auto program = b.Build();
  ASSERT_TRUE(program.ok()) << program.status();

  Data data(ranks, 4);
  const std::vector<float> zeros(4 * n);
  std::vector<std::vector<uint32_t>> metadata(n);
  for (uint32_t r = 0; r < n; ++r) {
    metadata[r].assign(3 * n, 0);
    metadata[r][0] = r % 3 + 1;
    data.inputs[r]["y"] = {Dtype::kFloat32,
                           false,
                           {4 * int64_t{n}},
                           std::as_bytes(std::span(zeros))};
    data.inputs[r]["counts"] = {Dtype::kUint32,
                                false,
                                {3 * int64_t{n}},
                                std::as_bytes(std::span(metadata[r]))};
  }
  RunOptions options;  // of several chips
  options.allow = {"all_gather_v.system"};
  const Runs runs(System("trn2.48xlarge", ranks), {*program}, data.inputs,
                  options);
  ExpectTheSame(runs);
  ASSERT_TRUE(runs.together.ok());
  for (size_t r = 0; r < n; ++r) {
    if (!runs.Here(r)) continue;
    const auto& bytes = runs.together->ranks[r].outputs.at("counts").bytes;
    for (uint32_t from = 0; from < n; ++from) {
      uint32_t count = 0;
      std::memcpy(&count, bytes.data() + 4 * (2 * n + from), 4);
      EXPECT_EQ(count, from % 3 + 1);
    }
  }
}

// Each rank to the next one; of two, one sends first.
TEST(Together, SendsAndReceivesHaveTheSameBitsAndTimes) {
  const int ranks = Ranks(8);
  Programs programs;
  for (int r = 0; r < ranks; ++r) {
    ProgramBuilder b(Target::kTrn2, "next", 1, ProgramBuilder::Sync::kAuto);
    const int64_t shape[] = {100};
    auto x = b.AddTensor(TensorKind::kInput, "x", Dtype::kFloat32, shape);
    auto y = b.AddTensor(TensorKind::kOutput, "y", Dtype::kFloat32, shape);
    const Value next = Value::Integer((r + 1) % ranks);
    const Value previous = Value::Integer((r + ranks - 1) % ranks);
    absl::Status ok;
    for (const bool send : {r % 2 == 0, r % 2 != 0}) {
      if (!ok.ok()) break;
      ok = send ? b.Add("send", {{"src", *ToValue(*x)}, {"to_rank", next}})
                : b.Add("recv",
                        {{"dst", *ToValue(*y)}, {"from_rank", previous}});
    }
    ASSERT_TRUE(ok.ok()) << ok;
    auto program = b.Build();
    ASSERT_TRUE(program.ok()) << program.status();
    programs.push_back(*program);
  }
  const Data data(ranks, 100);
  ExpectTheSame(Runs(System("trn2.48xlarge", ranks), programs, data.inputs));
}

TEST(Together, TwoNodesHaveTheSameBitsAndTimes) {
  const Data data(128, 4096);
  ExpectTheSame(Runs(System("trn2.48xlarge*2", 128),
                     {Make({.groups = All(128), .in = 4096, .out = 4096})},
                     data.inputs));
}

TEST(Together, RanksOfOneCoreHaveTheSameBitsAndTimes) {
  const int ranks = 8 * std::max(2, Together().processes());
  const Data data(ranks, 1000);
  ExpectTheSame(Runs(System("trn2.48xlarge", ranks, 1),
                     {Make({.groups = All(ranks), .in = 1000, .out = 1000})},
                     data.inputs));
}

// Collectives one after the other, of groups in one process and across.
TEST(Together, GroupsInsideAndAcrossProcessesHaveTheSameBitsAndTimes) {
  ReplicaGroups columns(4);
  for (uint32_t r = 0; r < 32; ++r) columns[r % 4].push_back(r);
  ReplicaGroups rows(8);
  for (uint32_t r = 0; r < 32; ++r) rows[r / 4].push_back(r);
  for (const ReplicaGroups& groups : {columns, rows}) {
    const Data data(32, 500);
    ExpectTheSame(
        Runs(System("trn2.48xlarge", 32),
             {Make({.groups = groups, .in = 500, .out = 500, .times = 3})},
             data.inputs));
  }
}

// When all else waits for rank 0, other processes have nothing to do but wait.
TEST(Together, RanksThatComeLateHaveTheSameBitsAndTimes) {
  const int ranks = Ranks(8);
  const int64_t n = 4096;
  Programs programs;
  for (int r = 0; r < ranks; ++r) {
    programs.push_back(Make({.groups = All(ranks),
                             .in = n,
                             .out = n,
                             .times = 2,
                             .copies = r == 0 ? 9 : r % 3}));
  }
  const Data data(ranks, n);
  ExpectTheSame(Runs(System("trn2.48xlarge", ranks), programs, data.inputs));
}

TEST(Together, TimesWithValuesOffAreTheSame) {
  RunOptions options;
  options.values = false;
  const Data data(64, 1 << 14);
  ExpectTheSame(Runs(System("trn2.48xlarge", 64),
                     {Make({.groups = All(64), .in = 1 << 14, .out = 1 << 14})},
                     data.inputs, options),
                false);
}

// For docs/collectives.md: --gtest_also_run_disabled_tests shows it.
TEST(Together, DISABLED_HowLongAMebibyteOf64RanksTakes) {
  const int64_t n = 1 << 18;
  const Data data(64, n);
  const auto program = Make({.groups = All(64), .in = n, .out = n});
  for (int i = 0; i < 5; ++i) {
    const auto before = std::chrono::steady_clock::now();
    ClusterOptions cluster;
    cluster.threads = 1;
    auto result = RunCluster(System("trn2.48xlarge", 64), {program},
                             data.inputs, {}, cluster, {}, &Together());
    ASSERT_TRUE(result.ok());
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - before;
    if (Together().process() == 0) std::printf("%.3f s\n", took.count());
  }
}

// The last rank, another process's than the first one's.
TEST(Together, RanksThatDisagreeAreNamedOnAllProcesses) {
  const int ranks = Ranks(8);
  const Data data(ranks, 16);
  const What what = {.groups = All(ranks), .in = 16, .out = 16};
  Programs programs(static_cast<size_t>(ranks), Make(what));
  What other = what;
  other.op = AluOp::kMaximum;
  programs.back() = Make(other);
  const Runs runs(System("trn2.48xlarge", ranks), programs, data.inputs);
  ExpectTheSameFault(runs);
  EXPECT_EQ(DiagnosticOf(runs.together.status()).id, "collective.mismatch");
}

TEST(Together, ARankThatNeverComesIsNamedOnAllProcesses) {
  const int ranks = Ranks(8);
  const Data data(ranks, 16);
  Programs programs(static_cast<size_t>(ranks),
                    Make({.groups = All(ranks), .in = 16, .out = 16}));
  programs.back() = Make(
      {.groups = {{static_cast<uint32_t>(ranks - 1)}}, .in = 16, .out = 16});
  const Runs runs(System("trn2.48xlarge", ranks), programs, data.inputs);
  ExpectTheSameFault(runs);
  const Diagnostic d = DiagnosticOf(runs.together.status());
  EXPECT_EQ(d.id, "collective.deadlock");
  EXPECT_THAT(d.message, HasSubstr("has come to the end of its program"));
}

TEST(Together, AProgramThatOneProcessCannotLoadEndsAll) {
  const int ranks = 8 * std::max(2, Together().processes());
  const Data data(ranks, 16);
  const What what = {.groups = All(ranks), .in = 16, .out = 16};
  Programs programs(static_cast<size_t>(ranks), Make(what));
  What wide = what;
  wide.cores = 2;
  programs.back() = Make(wide);
  const Runs runs(System("trn2.48xlarge", ranks, 1), programs, data.inputs);
  ExpectTheSameFault(runs);
  const Diagnostic d = DiagnosticOf(runs.together.status());
  EXPECT_EQ(d.id, "option.lnc");
  EXPECT_EQ(d.rank, ranks - 1);
}

TEST(Together, AnInputThatOneProcessLacksEndsAll) {
  const int ranks = Ranks(8);
  Data data(ranks, 16);
  data.inputs.back().clear();
  const Runs runs(System("trn2.48xlarge", ranks),
                  {Make({.groups = All(ranks), .in = 16, .out = 16})},
                  data.inputs);
  ExpectTheSameFault(runs);
  EXPECT_EQ(DiagnosticOf(runs.together.status()).rank, ranks - 1);
}

// Looked at when the collective starts, where the memory is.
TEST(Together, ASourceThatOneRankHasNotWrittenEndsAll) {
  const int ranks = Ranks(8);
  Data data(ranks, 16);
  data.inputs.back().clear();
  What what = {.groups = All(ranks), .in = 16, .out = 16};
  Programs programs(static_cast<size_t>(ranks), Make(what));
  what.unwritten = true;
  programs.back() = Make(what);
  const Runs runs(System("trn2.48xlarge", ranks), programs, data.inputs);
  ExpectTheSameFault(runs);
  const Diagnostic d = DiagnosticOf(runs.together.status());
  EXPECT_EQ(d.id, "memory.read_unwritten");
  EXPECT_EQ(d.rank, ranks - 1);
}

TEST(Together, ABudgetThatOneRankExceedsEndsAll) {
  const int ranks = Ranks(8);
  const Data data(ranks, 16);
  const What what = {.groups = All(ranks), .in = 16, .out = 16};
  Programs programs(static_cast<size_t>(ranks), Make(what));
  What longer = what;
  longer.times = 2;
  programs.back() = Make(longer);
  RunOptions options;
  options.max_instructions = programs[0]->num_instructions();
  const Runs runs(System("trn2.48xlarge", ranks), programs, data.inputs,
                  options);
  ExpectTheSameFault(runs);
  EXPECT_EQ(DiagnosticOf(runs.together.status()).id, "limit.instructions");
}

TEST(Together, AnInterruptOfOneProcessEndsAll) {
  const int ranks = Ranks(8);
  const Data data(ranks, 16);
  RunOptions options;
  const bool last = Together().process() == Together().processes() - 1;
  options.interrupted = [last] { return last; };
  auto result = RunCluster(System("trn2.48xlarge", ranks),
                           {Make({.groups = All(ranks), .in = 16, .out = 16})},
                           data.inputs, options, {}, {}, &Together());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(DiagnosticOf(result.status()).id, "limit.interrupted");
}

TEST(Together, MoreProcessesThanChipsAreRefused) {
  const int ranks = 4 * (Together().processes() - 1);
  const Data data(ranks, 16);
  auto result = RunCluster(System("trn2.48xlarge", ranks),
                           {Make({.groups = All(ranks), .in = 16, .out = 16})},
                           data.inputs, {}, {}, {}, &Together());
  ASSERT_FALSE(result.ok());
  const Diagnostic d = DiagnosticOf(result.status());
  EXPECT_EQ(d.id, "option.processes");
  EXPECT_THAT(d.message, HasSubstr("the ranks of a chip stay together"));
}

TEST(Together, WhatOneProcessCouldNotDoIsSaidByAll) {
  const bool last = Together().process() == Together().processes() - 1;
  std::optional<Failure> mine;
  Diagnostic d;
  d.category = Category::kInput;
  d.id = "input.file";
  d.message = "no such file";
  d.rank = 7;
  d.core = 1;
  d.instruction = 12;
  d.operation = "dma_copy";
  d.details = {{"path", "x.npy"}};
  d.related = {"one", "two"};
  d.remedy = "look";
  d.count = 3;
  if (last) mine = Failure{0, 7, ToStatus(d)};
  const absl::Status status = Together().Agree(std::move(mine));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(ToJson(DiagnosticOf(status)), ToJson(d));
}

}  // namespace
}  // namespace trnemu
