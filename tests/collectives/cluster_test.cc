// A run of several ranks: values, times, faults (collectives/cluster.h).
#include "collectives/cluster.h"

#include <cstring>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"
#include "isa/system.h"

namespace trnemu {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Topology> Trn2(int ranks, int lnc = 2) {
  auto system = FindSystem("trn2.48xlarge");
  EXPECT_TRUE(system.ok()) << system.status();
  auto topology = Topology::Make(*system, ranks, lnc, {});
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *topology;
}

ReplicaGroups All(int ranks) {
  ReplicaGroups groups(1);
  for (int r = 0; r < ranks; ++r) {
    groups[0].push_back(static_cast<uint32_t>(r));
  }
  return groups;
}

// y = op over ranks of x, both `n` fp32 elements in HBM.
std::shared_ptr<const Program> AllReduce(const ReplicaGroups& groups,
                                         int64_t n,
                                         AluOp op = AluOp::kAdd) {
  ProgramBuilder b(Target::kTrn2, "all_reduce", 1, ProgramBuilder::Sync::kAuto);
  const int64_t shape[] = {n};
  auto x = b.AddTensor(TensorKind::kInput, "x", Dtype::kFloat32, shape);
  auto y = b.AddTensor(TensorKind::kOutput, "y", Dtype::kFloat32, shape);
  const absl::Status ok =
      b.Add("all_reduce",
            {{"srcs", *ToValue(*x)},
             {"dsts", *ToValue(*y)},
             {"replica_group", Value::Integer(b.AddReplicaGroups(groups))},
             {"op", Value::OfEnum(op)}});
  EXPECT_TRUE(ok.ok()) << ok;
  auto program = b.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  return *program;
}

struct Data {
  std::vector<std::vector<float>> values;
  std::vector<Inputs> inputs;
};

// Of rank r, element i: r + i % 7, exact sums.
Data Ramp(int ranks, int64_t n) {
  Data data;
  for (int r = 0; r < ranks; ++r) {
    auto& v = data.values.emplace_back(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      v[static_cast<size_t>(i)] = static_cast<float>(r + i % 7);
    }
  }
  for (auto& v : data.values) {
    Inputs in;
    in["x"] = {Dtype::kFloat32, false, {n}, std::as_bytes(std::span(v))};
    data.inputs.push_back(in);
  }
  return data;
}

float At(const RunResult& result, const char* name, size_t i) {
  float value = 0;
  std::memcpy(&value, result.outputs.at(name).bytes.data() + 4 * i, 4);
  return value;
}

TEST(Cluster, EveryRankHasTheSum) {
  for (const int ranks : {1, 2, 4, 8, 64}) {
    const Data data = Ramp(ranks, 1000);
    auto result = RunCluster(Trn2(ranks), {AllReduce(All(ranks), 1000)},
                             data.inputs, {}, {});
    ASSERT_TRUE(result.ok()) << result.status();
    for (int r = 0; r < ranks; ++r) {
      for (size_t i : {0u, 6u, 999u}) {
        float sum = 0;
        for (const auto& v : data.values) sum += v[i];
        EXPECT_EQ(At(result->ranks[static_cast<size_t>(r)], "y", i), sum)
            << ranks << " ranks, rank " << r << ", element " << i;
      }
    }
    ASSERT_EQ(result->collectives.size(), 1u);
    EXPECT_GT(result->time_ns, 0);
  }
}

// sdk#1107: groups were ignored, and 8 ranks had 28.
TEST(Cluster, SingletonGroupsKeepTheirOwn) {
  const Data data = Ramp(8, 4);
  ReplicaGroups groups;
  for (uint32_t r = 0; r < 8; ++r) groups.push_back({r});
  auto result =
      RunCluster(Trn2(8), {AllReduce(groups, 4)}, data.inputs, {}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  for (size_t r = 0; r < 8; ++r) {
    EXPECT_EQ(At(result->ranks[r], "y", 0), static_cast<float>(r));
  }
}

TEST(Cluster, BitsAndTimesDoNotDependOnThreads) {
  const Data data = Ramp(16, 5000);
  std::vector<ClusterResult> results;
  for (const int threads : {1, 2, 5}) {
    ClusterOptions options;
    options.threads = threads;
    auto result = RunCluster(Trn2(16), {AllReduce(All(16), 5000)}, data.inputs,
                             {}, options);
    ASSERT_TRUE(result.ok()) << result.status();
    results.push_back(*std::move(result));
  }
  for (size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(results[i].time_ns, results[0].time_ns);
    for (size_t r = 0; r < 16; ++r) {
      EXPECT_EQ(results[i].ranks[r].time_ns, results[0].ranks[r].time_ns);
      EXPECT_EQ(results[i].ranks[r].outputs.at("y").bytes,
                results[0].ranks[r].outputs.at("y").bytes);
    }
  }
}

TEST(Cluster, RanksThatDisagreeAreNamed) {
  const Data data = Ramp(4, 16);
  std::vector<std::shared_ptr<const Program>> programs(
      4, AllReduce(All(4), 16));
  programs[2] = AllReduce(All(4), 16, AluOp::kMaximum);
  auto result = RunCluster(Trn2(4), programs, data.inputs, {}, {});
  ASSERT_FALSE(result.ok());
  const Diagnostic d = DiagnosticOf(result.status());
  EXPECT_EQ(d.id, "collective.mismatch");
  EXPECT_THAT(d.message, HasSubstr("ranks 0 and 2"));
  EXPECT_THAT(d.message, HasSubstr("op: add on rank 0, maximum on rank 2"));
}

TEST(Cluster, ARankThatNeverComesIsNamed) {
  const Data data = Ramp(4, 16);
  std::vector<std::shared_ptr<const Program>> programs(
      4, AllReduce(All(4), 16));
  programs[3] = AllReduce({{3}}, 16);
  auto result = RunCluster(Trn2(4), programs, data.inputs, {}, {});
  ASSERT_FALSE(result.ok());
  const Diagnostic d = DiagnosticOf(result.status());
  EXPECT_EQ(d.id, "collective.deadlock");
  EXPECT_THAT(d.message, HasSubstr("rank 3 never comes to the all_reduce"));
  EXPECT_THAT(d.message, HasSubstr("has come to the end of its program"));
}

}  // namespace
}  // namespace trnemu
