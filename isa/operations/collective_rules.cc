#include "isa/operations/collective_rules.h"

#include <algorithm>
#include <set>

namespace trnemu::rows {
namespace {

constexpr std::string_view kApi = "nki/api/nki/collectives/__init__.py";

template <typename Holds>
bool AllTensors(const Call& c, Holds holds) {
  for (const TensorList& list :
       {SourcesOf(c), SecondSourcesOf(c), DestinationsOf(c)}) {
    for (int i = 0; i < list.count; ++i) {
      if (!holds(list.at(c, i))) return false;
    }
  }
  return true;
}

const Value& FirstTensor(const Call& c) {
  const TensorList srcs = SourcesOf(c);
  return srcs.count > 0 ? srcs.at(c, 0) : DestinationsOf(c).at(c, 0);
}

// numel(dst) * to == numel(src) * from, of each pair.
bool Sizes(const Call& c, int64_t from, int64_t to) {
  const TensorList srcs = SourcesOf(c);
  const TensorList dsts = DestinationsOf(c);
  for (int i = 0; i < std::min(srcs.count, dsts.count); ++i) {
    if (srcs.at(c, i).access.size() * from !=
        dsts.at(c, i).access.size() * to) {
      return false;
    }
  }
  return true;
}

AluOp OpOf(const Call& c) {
  const int index = ParameterIndex(*c.operation, "op");
  return index < 0 ? AluOp::kNone : Alu(c[index]);
}

bool Is32(Dtype d) { return d == Dtype::kInt32 || d == Dtype::kUint32; }
bool HoldsIntegers(Dtype d) { return (SetOf(d) & kIntegerTypes) != 0; }

bool HasEqualGroups(const Call& c) {
  const ReplicaGroups& groups = GroupsOf(c);
  return std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    return group.size() == groups[0].size();
  });
}

int64_t MetadataRows(const Call& c) {
  const int d = ParameterIndex(*c.operation, "has_rdispls");
  return c[d].boolean() ? 4 : 3;
}
const Value& Metadata(const Call& c) {
  return c[ParameterIndex(*c.operation, "metadata_tensor")];
}

}  // namespace

TensorList ListOf(const Call& c, std::string_view name) {
  TensorList list;
  list.first = ParameterIndex(*c.operation, name);
  if (list.first < 0) return list;
  const int repeats = c.operation->parameters[list.first].repeats;
  while (list.count < repeats && c[list.first + list.count].is_tile()) {
    ++list.count;
  }
  return list;
}

TensorList SourcesOf(const Call& c) {
  for (const char* name :
       {"srcs", "srcs_by_channel", "srcs0_by_channel", "src"}) {
    const TensorList list = ListOf(c, name);
    if (list.first >= 0) return list;
  }
  return {};
}

TensorList SecondSourcesOf(const Call& c) {
  return ListOf(c, "srcs1_by_channel");
}

TensorList DestinationsOf(const Call& c) {
  for (const char* name : {"dsts", "dsts_by_channel", "dst", "data"}) {
    const TensorList list = ListOf(c, name);
    if (list.first >= 0) return list;
  }
  return {};
}

const ReplicaGroups& GroupsOf(const Call& c) {
  static const auto* const none = new ReplicaGroups;
  for (const char* name : {"replica_group", "source_target_pairs"}) {
    const int index = ParameterIndex(*c.operation, name);
    if (index < 0) continue;
    const auto at = static_cast<size_t>(c[index].integer);
    const auto& all = c.program->replica_groups;
    return at < all.size() ? all[at] : *none;
  }
  return *none;
}

int64_t GroupSize(const Call& c) {
  const ReplicaGroups& groups = GroupsOf(c);
  return groups.empty() ? 0 : static_cast<int64_t>(groups[0].size());
}

int64_t IntegerOf(const Call& c, std::string_view parameter, int64_t none) {
  const int index = ParameterIndex(*c.operation, parameter);
  return index < 0 || c[index].is_none() ? none : c[index].integer;
}

const Rule kLists = {
    "collective.lists", "len(srcs) == len(dsts)", kApi,
    [](const Call& c) {
      const int dsts = DestinationsOf(c).count;
      const TensorList second = SecondSourcesOf(c);
      return SourcesOf(c).count == dsts &&
             (second.first < 0 || second.count == dsts);
    },
    "dsts", "each source needs a destination, but the lists differ in length",
    "give as many dsts as srcs"};

const Rule kOneTensor = {
    "collective.one_tensor", "len(srcs) == 1 and len(dsts) == 1",
    "nki/api/nki/collectives/__init__.py:266",
    [](const Call& c) {
      return SourcesOf(c).count == 1 && DestinationsOf(c).count == 1;
    },
    "srcs", "exactly one source and one destination are supported",
    "call it once for each tensor"};

const Rule kMemory = {
    "collective.memory", "all(buf(x) == buf(srcs[0]) for x in srcs + dsts)",
    "nki/api/nki/collectives/__init__.py:17",
    [](const Call& c) {
      const Space space = Buf(FirstTensor(c));
      return AllTensors(c, [&](const Value& v) { return Buf(v) == space; });
    },
    "dsts", "all tensors must be in HBM, or all in SBUF; {operand} is in {buf}",
    "copy with dma_copy first"};

const Rule kHbmOnly = {
    "collective.hbm", "all(buf(x) == 'hbm' for x in srcs + dsts)",
    "nki/api/nki/collectives/__init__.py:166",
    [](const Call& c) {
      return AllTensors(c,
                        [](const Value& v) { return Buf(v) == Space::kHbm; });
    },
    "srcs", "the tensors must be in HBM; SBUF is not supported here",
    "copy to an HBM tensor with dma_copy first", Layer::kApi,
    Evidence::kDocumented, Severity::kError, Category::kIllegal, false};

const Rule kTwoDimensions = {
    "collective.sbuf_dimensions",
    "buf(srcs[0]) != 'sbuf' or all(len(shape(x)) <= 2 for x in srcs + dsts)",
    "nki/api/nki/collectives/__init__.py:54",
    [](const Call& c) {
      return AllTensors(c, [](const Value& v) {
        return Buf(v) != Space::kSbuf || v.access.Shape().size() <= 2;
      });
    },
    "srcs",
    "collectives of tiles in SBUF work on one free dimension, but {operand} "
    "is {shape}",
    "reshape the tile", Layer::kApi, Evidence::kDocumented, Severity::kError,
    Category::kIllegal, false};

const Rule kCoalesced = {
    "collective.coalesced", "len(srcs) == 1 or buf(srcs[0]) == 'hbm'",
    "nki/api/nki/collectives/__init__.py:25",
    [](const Call& c) {
      return SourcesOf(c).count == 1 || Buf(FirstTensor(c)) == Space::kHbm;
    },
    "srcs", "several tensors in one collective must be in HBM",
    "call it once for each tile", Layer::kApi, Evidence::kDocumented,
    Severity::kError, Category::kIllegal, false};

const Rule kDtypes = {
    "collective.dtype", "all(dt(x) == dt(srcs[0]) for x in srcs + dsts)", kApi,
    [](const Call& c) {
      const Dtype dtype = Dt(FirstTensor(c));
      return AllTensors(c, [&](const Value& v) { return Dt(v) == dtype; });
    },
    "dsts", "all tensors of a collective must have the same dtype; {operand} is {dt}",
    "cast with tensor_copy or dma_copy before", Layer::kDevice,
    Evidence::kInferred};

const Rule kReduction = {
    "collective.op", "op in ('add', 'minimum', 'maximum')",
    "nki/api/nki/collectives/__init__.py:30",
    [](const Call& c) {
      const AluOp op = OpOf(c);
      return op == AluOp::kAdd || op == AluOp::kMinimum ||
             op == AluOp::kMaximum;
    },
    "op", "op must be add, minimum or maximum, but it is {value:op}"};

const Rule kInteger = {
    "collective.integer",
    "not is_int(dt(srcs[0])) or (op != 'add' and size(dt(srcs[0])) < 4)",
    "spec/decisions.md; nki/guides/architecture/trainium2_arch.rst",
    [](const Call& c) {
      const Dtype dtype = Dt(FirstTensor(c));
      return OpOf(c) == AluOp::kAdd ? !HoldsIntegers(dtype) : !Is32(dtype);
    },
    "op",
    "reductions of collectives are computed in fp32, which does not hold every "
    "result of integers; op is {value:op}",
    "reduce in float32, or accept fp32's rounding", Layer::kDevice,
    Evidence::kInferred, Severity::kError, Category::kUnspecified, false};

const Rule kGroups = {
    "collective.groups",
    "all(len(g) > 0 for g in replica_group) and no rank twice",
    "nki/api/nki/collectives/__init__.py:9",
    [](const Call& c) {
      const ReplicaGroups& groups = GroupsOf(c);
      std::set<uint32_t> seen;
      for (const auto& group : groups) {
        if (group.empty()) return false;
        for (uint32_t rank : group) {
          if (!seen.insert(rank).second) return false;
        }
      }
      return !groups.empty();
    },
    "replica_group",
    "replica_group is {groups:replica_group}: it needs a list of ranks for "
    "each group, and no rank twice"};

const Rule kEqualGroups = {
    "collective.equal_groups", "all lists of replica_group have one length",
    kApi, HasEqualGroups, "replica_group",
    "the shapes of this collective follow from the number of ranks, so all "
    "groups must have as many: replica_group is {groups:replica_group}",
    "", Layer::kDevice, Evidence::kInferred};

const Rule kPairs = {
    "collective.pairs",
    "all(len(p) == 2 for p in source_target_pairs) and no source or target "
    "twice",
    "nki/api/nki/collectives/__init__.py:266",
    [](const Call& c) {
      std::set<uint32_t> from, to;
      for (const auto& pair : GroupsOf(c)) {
        if (pair.size() != 2 || !from.insert(pair[0]).second ||
            !to.insert(pair[1]).second) {
          return false;
        }
      }
      return !from.empty();
    },
    "source_target_pairs",
    "source_target_pairs is {groups:source_target_pairs}: it needs (source, "
    "target) pairs, and no rank sends or receives twice"};

const Rule kPriority = {
    "collective.priority", "priority is None or (gen >= 4 and 0 <= priority <= 3)",
    "nki/api/nki/collectives/__init__.py:31",
    [](const Call& c) {
      const int index = ParameterIndex(*c.operation, "priority");
      const Value& v = c[index];
      return v.is_none() ||
             (c.gen() >= 4 && v.integer >= 0 && v.integer <= 3);
    },
    "priority",
    "priority is 0 to 3, from NeuronCore-v4 (trn3) on, but it is "
    "{value:priority} on {target}",
    "leave it out"};

const Rule kStream = {
    "collective.stream", "0 <= stream < 2 * cores",
    "neuron-runtime/explore/compute-comm-overlap.rst:110",
    [](const Call& c) {
      const int64_t stream = IntegerOf(c, "stream", 0);
      return stream >= 0 &&
             stream < 2 * static_cast<int64_t>(c.program->cores.size());
    },
    "stream",
    "a core has two collective cores, and each runs one stream: stream is "
    "{value:stream}",
    "use stream 0 or 1; 0 to 3 in a program of two cores"};

const Rule kTrigger = {
    "collective.trigger",
    "trigger in ('sync', 'gpsimd', 'vector', 'scalar', 'tensor')",
    "neuron-runtime/explore/compute-comm-overlap.rst:17",
    [](const Call& c) { return IsSequencer(c.engine); }, "trigger",
    "a collective is triggered by an engine's sequencer, not by "
    "{value:trigger}"};

const Rule kSameSize = {
    "collective.size", "numel(dsts[i]) == numel(srcs[i])", kApi,
    [](const Call& c) {
      const TensorList second = SecondSourcesOf(c);
      const TensorList dsts = DestinationsOf(c);
      for (int i = 0; i < std::min(second.count, dsts.count); ++i) {
        if (second.at(c, i).access.size() != dsts.at(c, i).access.size()) {
          return false;
        }
      }
      return Sizes(c, 1, 1);
    },
    "dsts",
    "each destination must have as many elements as its source; the first "
    "{operand} has {size}",
    "give both the same number of elements"};

const Rule kGathered = {
    "collective.gathered_size", "numel(dsts[i]) == numel(srcs[i]) * ranks",
    "nki/api/nki/collectives/__init__.py:37",
    [](const Call& c) { return Sizes(c, GroupSize(c), 1); }, "dsts",
    "each destination holds the sources of all ranks of a group, but the "
    "first has {size:dsts} elements, and its source {size:srcs}; "
    "replica_group is {groups:replica_group}",
    "make the destination as many times larger as a group has ranks"};

const Rule kScattered = {
    "collective.scattered_size", "numel(srcs[i]) == numel(dsts[i]) * ranks",
    "nki/api/nki/collectives/__init__.py:144",
    [](const Call& c) { return Sizes(c, 1, GroupSize(c)); }, "dsts",
    "each rank of a group gets its part of the source, but the first source "
    "has {size:srcs} elements, and its destination {size:dsts}; replica_group "
    "is {groups:replica_group}",
    "make the source as many times larger as a group has ranks"};

const Rule kSwapped = {
    "collective.swapped_size",
    "numel(dsts[i]) == numel(srcs[i]) and numel(srcs[i]) % ranks == 0",
    "nki/api/nki/collectives/__init__.py:166",
    [](const Call& c) {
      if (!Sizes(c, 1, 1)) return false;
      const TensorList srcs = SourcesOf(c);
      for (int i = 0; i < srcs.count; ++i) {
        if (srcs.at(c, i).access.size() % std::max<int64_t>(1, GroupSize(c))) {
          return false;
        }
      }
      return true;
    },
    "dsts",
    "source and destination have as many elements, a multiple of the ranks of "
    "a group: the first have {size:srcs} and {size:dsts}; replica_group is "
    "{groups:replica_group}"};

const Rule kGatherDim = {
    "collective.gather_dim",
    "collective_dim == 0 or (collective_dim == 1 and buf(srcs[0]) == 'sbuf')",
    "nki/api/nki/collectives/__init__.py:52",
    [](const Call& c) {
      const int64_t dim = IntegerOf(c, "collective_dim", 0);
      if (Buf(FirstTensor(c)) != Space::kSbuf) return dim == 0;
      const Value& src = FirstTensor(c);
      const Value& dst = DestinationsOf(c).at(c, 0);
      const int64_t ranks = GroupSize(c);
      return dim == 0 ? P(dst) == P(src) * ranks
                      : dim == 1 && P(dst) == P(src) &&
                            F(dst) == F(src) * ranks;
    },
    "collective_dim",
    "tensors in HBM are joined along dimension 0, tiles of SBUF along 0 "
    "(partitions) or 1; collective_dim is {value:collective_dim}, srcs "
    "{shape:srcs} in {buf:srcs} and dsts {shape:dsts}"};

const Rule kFirstDim = {
    "collective.first_dim",
    "collective_dim == 0", "nki/api/nki/collectives/__init__.py:152",
    [](const Call& c) {
      if (IntegerOf(c, "collective_dim", 0) != 0) return false;
      const Value& src = FirstTensor(c);
      const Value& dst = DestinationsOf(c).at(c, 0);
      return c.operation->name != "reduce_scatter" ||
             Buf(src) != Space::kSbuf || P(src) == P(dst) * GroupSize(c);
    },
    "collective_dim",
    "only dimension 0 is supported: collective_dim is {value:collective_dim}, "
    "srcs {shape:srcs}, dsts {shape:dsts}",
    "permute the tensor before", Layer::kApi};

const Rule kChannels = {
    "collective.channels", "channel_ids == list(range(len(srcs_by_channel)))",
    "nki/api/nki/collectives/__init__.py:312",
    [](const Call& c) {
      const Value& ids = c[ParameterIndex(*c.operation, "channel_ids")];
      const int channels = DestinationsOf(c).count;
      if (ids.is_none()) return channels == 1;
      if (ids.num_ints != channels) return false;
      for (int i = 0; i < channels; ++i) {
        if (ids.ints[i] != i) return false;
      }
      return true;
    },
    "channel_ids",
    "channel_ids must be 0, 1, ... for the channels that were given, but it is "
    "{value:channel_ids}"};

const Rule kChannelId = {
    "collective.channel_id", "0 <= channel_id < 4",
    "nki/api/nki/collectives/__init__.py:383",
    [](const Call& c) {
      const int64_t channel = IntegerOf(c, "channel_id", 0);
      return channel >= 0 && channel < kMaxChannels;
    },
    "channel_id", "channels are 0 to 3, but channel_id is {value:channel_id}",
    "use the channel of the permute"};

const Rule kMetadata = {
    "collective.metadata",
    "dt(metadata_tensor) == 'uint32' and buf(metadata_tensor) != 'psum'",
    "nki/api/nki/collectives/__init__.py:97",
    [](const Call& c) {
      return Dt(Metadata(c)) == Dtype::kUint32 &&
             Buf(Metadata(c)) != Space::kPsum;
    },
    "metadata_tensor",
    "metadata_tensor must be uint32 in HBM or SBUF, but it is "
    "{dt:metadata_tensor} in {buf:metadata_tensor}"};

const Rule kMetadataShape = {
    "collective.metadata_shape",
    "numel(metadata_tensor) == (4 if has_rdispls else 3) * ranks",
    "nki/api/nki/collectives/__init__.py:99",
    [](const Call& c) {
      const Value& m = Metadata(c);
      return m.access.size() == MetadataRows(c) * GroupSize(c) &&
             (Buf(m) != Space::kSbuf || P(m) == 1);
    },
    "metadata_tensor",
    "metadata_tensor has a row of counts, one of displacements, one of "
    "received counts and, with has_rdispls, one of their displacements, a "
    "column a rank (in SBUF on one partition), but it is "
    "{shape:metadata_tensor}; replica_group is {groups:replica_group}"};

const Rule kFourRanks = {
    "all_gather_v.ranks", "all lists of replica_group have 4 ranks",
    "nki/api/nki/collectives/__init__.py:134",
    [](const Call& c) { return HasEqualGroups(c) && GroupSize(c) == 4; },
    "replica_group",
    "each list must have the 4 ranks of a chip, but replica_group is "
    "{groups:replica_group}",
    "", Layer::kApi, Evidence::kDocumented, Severity::kError,
    Category::kIllegal, false};

const Rule kNoDisplacements = {
    "all_gather_v.has_rdispls", "not has_rdispls",
    "nki/api/nki/collectives/__init__.py:133",
    [](const Call& c) { return MetadataRows(c) == 3; }, "has_rdispls",
    "has_rdispls=True is not supported by all_gather_v", "leave it out",
    Layer::kApi};

const Rule kRoot = {
    "broadcast.root", "0 <= root < ranks", "docs/collectives.md",
    [](const Call& c) {
      const int64_t root = IntegerOf(c, "root", 0);
      const ReplicaGroups& groups = GroupsOf(c);
      return std::all_of(groups.begin(), groups.end(), [&](const auto& g) {
        return root >= 0 && root < static_cast<int64_t>(g.size());
      });
    },
    "root",
    "root is a position in each replica group, but it is {value:root}; "
    "replica_group is {groups:replica_group}",
    "name a position below the length of the lists", Layer::kDevice,
    Evidence::kAssumed};

const Rule kPeer = {
    "collective.peer", "0 <= peer < 65536", "docs/collectives.md",
    [](const Call& c) {
      const int64_t peer =
          IntegerOf(c, "to_rank", IntegerOf(c, "from_rank", 0));
      return peer >= 0 && peer < 65536;
    },
    "to_rank", "{operand} must be a rank, 0 to 65535, but it is {value}",
    "name a rank of the system", Layer::kDevice, Evidence::kAssumed};

// A tile in SBUF is one core's.
const Rule kBothCores = {
    "collective.both_cores",
    "not both_cores or (lnc == 2 and all in HBM)",
    "nki/get-started/about/lnc.rst:147",
    [](const Call& c) {
      return !c[ParameterIndex(*c.operation, "both_cores")].boolean() ||
             (c.program->cores.size() == 2 && AllTensors(c, [](const Value& v) {
                return Buf(v) == Space::kHbm;
              }));
    },
    "both_cores",
    "a collective of both cores needs a program of two cores and tensors in "
    "HBM, which they share",
    "leave both_cores out: each core's call is one of its own",
    Layer::kDevice,
    Evidence::kAssumed};

}  // namespace trnemu::rows
