// Decoding the header: everything but instructions and data.
#include <limits>

#include "absl/strings/str_cat.h"
#include "isa/codec_internal.h"

namespace trnemu::codec {
namespace {

constexpr uint64_t kMaxPartitions = 128;

Result CheckEnum(int value, size_t size, std::string_view path) {
  if (value >= 1 && value < static_cast<int>(size)) return nullptr;
  return Wrong("enum", path,
               absl::StrCat("is ", value, ", not 1 to ", size - 1));
}

Result DecodeShape(const pb::Tensor& from, Tensor& to) {
  const int least = to.on_chip() ? 2 : 0;
  if (from.shape_size() < least || from.shape_size() > kMaxTensorRank) {
    return Wrong("rank", "shape",
                 absl::StrCat("has ", from.shape_size(), " entries, not ",
                              least, " to ", kMaxTensorRank));
  }
  to.shape.assign(from.shape().begin(), from.shape().end());
  for (int i = 0; i < from.shape_size(); ++i) {
    if (from.shape(i) >= 1) continue;
    return In(Wrong("count", "", absl::StrCat("is ", from.shape(i))), "shape",
              i);
  }
  if (to.nbytes() == std::numeric_limits<int64_t>::max()) {
    return Wrong("too_large", "shape", "has more than 2^63 bytes");
  }
  return nullptr;
}

Result DecodePlace(const pb::Tensor& from, size_t cores, Tensor& to) {
  if (!from.has_core()) return Unset("core");
  if (!from.has_start_partition()) return Unset("start_partition");
  if (!from.has_byte_address()) return Unset("byte_address");
  if (!from.has_pinned()) return Unset("pinned");
  if (Result r = CheckIndex(from.core(), cores, "core", "cores")) return r;
  const uint64_t end =
      static_cast<uint64_t>(to.shape[0]) + from.start_partition();
  if (end > kMaxPartitions) {
    return Wrong(
        "partitions", "start_partition",
        absl::StrCat("is ", from.start_partition(), "; with ", to.shape[0],
                     " partitions that is beyond ", kMaxPartitions));
  }
  constexpr uint64_t kMaxAddress = std::numeric_limits<uint32_t>::max();
  if (from.byte_address() > kMaxAddress) {
    return Wrong("address", "byte_address",
                 absl::StrCat("is ", from.byte_address(), ", beyond 2^32"));
  }
  to.core = from.core();
  to.start_partition = from.start_partition();
  to.byte_address = from.byte_address();
  to.pinned = from.pinned();
  return nullptr;
}

Result DecodeData(const pb::Tensor& from, uint64_t data_bytes, Tensor& to) {
  if (!from.has_data_offset()) return Unset("data_offset");
  to.data_offset = from.data_offset();
  const auto size = static_cast<uint64_t>(to.nbytes());
  if (to.data_offset <= data_bytes && size <= data_bytes - to.data_offset) {
    return nullptr;
  }
  return Wrong(
      "data", "data_offset",
      absl::StrCat("is ", to.data_offset, "; its ", size,
                   " bytes end beyond the data section of ", data_bytes));
}

// A field that does not go with the tensor's kind.
Result CheckUnused(const pb::Tensor& from, const Tensor& to) {
  std::string_view used;
  if (!to.on_chip()) {
    if (from.has_core()) used = "core";
    if (from.has_start_partition()) used = "start_partition";
    if (from.has_byte_address()) used = "byte_address";
    if (from.has_pinned()) used = "pinned";
  }
  if (to.kind != TensorKind::kConstant && from.has_data_offset()) {
    used = "data_offset";
  }
  if (used.empty()) return nullptr;
  const auto kind = kTensorKindNames[static_cast<size_t>(to.kind)];
  return Wrong(
      "unused_field", used,
      absl::StrCat("is set, though the tensor's kind is ", std::string(kind)));
}

Result DecodeTensor(const pb::Tensor& from, const Program& program,
                    uint64_t data_bytes, Tensor& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_name()) return Unset("name");
  if (!from.has_kind()) return Unset("kind");
  if (!from.has_dtype()) return Unset("dtype");
  if (Result r = CheckEnum(from.kind(), kTensorKindNames.size(), "kind")) {
    return r;
  }
  if (Result r = CheckEnum(from.dtype(), kDtypes.size() + 1, "dtype")) {
    return r;
  }
  to.name = from.name();
  to.kind = static_cast<TensorKind>(static_cast<int>(from.kind()));
  to.dtype = static_cast<Dtype>(static_cast<int>(from.dtype()));
  if (Result r = CheckUnused(from, to)) return r;
  if (Result r = DecodeShape(from, to)) return r;
  if (from.has_source()) {
    if (Result r = CheckIndex(from.source(), program.sources.size(), "source",
                              "sources")) {
      return r;
    }
    to.source = from.source();
  }
  if (to.on_chip()) return DecodePlace(from, program.cores.size(), to);
  if (to.kind == TensorKind::kConstant) return DecodeData(from, data_bytes, to);
  return nullptr;
}

Result DecodeQueueSet(const pb::QueueSet& from, size_t cores, QueueSet& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_core()) return Unset("core");
  if (!from.has_owner()) return Unset("owner");
  if (!from.has_queues()) return Unset("queues");
  if (Result r = CheckIndex(from.core(), cores, "core", "cores")) return r;
  if (Result r = CheckEnum(from.owner(), kEngineNames.size(), "owner")) {
    return r;
  }
  if (from.queues() == 0 || from.queues() > 65535) {
    return Wrong("count", "queues",
                 absl::StrCat("is ", from.queues(), ", not 1 to 65535"));
  }
  to = {from.core(), static_cast<Engine>(static_cast<int>(from.owner())),
        from.queues()};
  return nullptr;
}

Result DecodeSemaphore(const pb::Semaphore& from, size_t cores,
                       SemaphoreInfo& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_core()) return Unset("core");
  if (!from.has_name()) return Unset("name");
  if (Result r = CheckIndex(from.core(), cores, "core", "cores")) return r;
  to = {from.core(), from.name()};
  return nullptr;
}

// Up to the largest system and some; a rank may be in several lists, since
// pairs are lists, too.
constexpr uint32_t kMaxRanks = 1 << 16;

Result DecodeGroups(const pb::ReplicaGroups& from, ReplicaGroups& to) {
  if (Result r = CheckKnown(from)) return r;
  for (int g = 0; g < from.groups_size(); ++g) {
    const pb::ReplicaGroups::Group& group = from.groups(g);
    if (Result r = CheckKnown(group)) return In(std::move(r), "groups", g);
    for (int i = 0; i < group.ranks_size(); ++i) {
      if (group.ranks(i) < kMaxRanks) continue;
      return In(In(Wrong("rank", "",
                         absl::StrCat("is ", group.ranks(i), ", not below ",
                                      kMaxRanks)),
                   "ranks", i),
                "groups", g);
    }
    to.emplace_back(group.ranks().begin(), group.ranks().end());
  }
  return nullptr;
}

Result DecodeSource(const pb::Source& from, size_t files, SourceLocation& to) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_file()) return Unset("file");
  if (!from.has_line()) return Unset("line");
  if (!from.has_function()) return Unset("function");
  if (!from.has_label()) return Unset("label");
  if (Result r = CheckIndex(from.file(), files, "file", "files")) return r;
  to = {from.file(), from.line(), from.function(), from.label()};
  return nullptr;
}

Result DecodeScalars(const pb::Header& from, Program& to, FileLayout& layout) {
  if (Result r = CheckKnown(from)) return r;
  if (!from.has_name()) return Unset("name");
  if (!from.has_target()) return Unset("target");
  if (!from.has_producer()) return Unset("producer");
  if (!from.has_cores()) return Unset("cores");
  if (!from.has_swdge()) return Unset("swdge");
  if (!from.has_data_bytes()) return Unset("data_bytes");
  if (!from.has_chunks()) return Unset("chunks");
  const auto target = TargetFromName(from.target());
  if (!target || Name(*target) != from.target()) {
    return Wrong(
        "enum", "target",
        absl::StrCat("is \"", from.target(), "\", not trn1, trn2 or trn3"));
  }
  if (from.cores() < 1 || from.cores() > kMaxCores) {
    return Wrong("count", "cores",
                 absl::StrCat("is ", from.cores(), ", not 1 to ", kMaxCores));
  }
  to.name = from.name();
  to.target = *target;
  to.producer = from.producer();
  to.swdge = from.swdge();
  to.cores.resize(from.cores());
  layout = {from.data_bytes(), from.chunks()};
  return nullptr;
}

// Decodes `from` into `to`, element by element.
template <typename Field, typename T, typename Decode>
Result DecodeAll(const Field& from, std::string_view path, std::vector<T>& to,
                 Decode decode) {
  to.resize(static_cast<size_t>(from.size()));
  for (int i = 0; i < from.size(); ++i) {
    if (Result r = decode(from[i], to[static_cast<size_t>(i)])) {
      return In(std::move(r), path, i);
    }
  }
  return nullptr;
}

}  // namespace

Result DecodeHeader(const pb::Header& from, Program& to, FileLayout& layout) {
  if (Result r = DecodeScalars(from, to, layout)) return r;
  to.operations.assign(from.operations().begin(), from.operations().end());
  if (to.operations.size() > kMaxOperations) {
    return Wrong("too_many", "operations",
                 absl::StrCat("has ", to.operations.size(),
                              " entries; the limit is ", kMaxOperations));
  }
  to.files.assign(from.files().begin(), from.files().end());
  const size_t cores = to.cores.size();
  Result r = DecodeAll(from.sources(), "sources", to.sources,
                       [&](const pb::Source& f, SourceLocation& t) {
                         return DecodeSource(f, to.files.size(), t);
                       });
  if (r) return r;
  r = DecodeAll(from.queue_sets(), "queue_sets", to.queue_sets,
                [&](const pb::QueueSet& f, QueueSet& t) {
                  return DecodeQueueSet(f, cores, t);
                });
  if (r) return r;
  r = DecodeAll(from.semaphores(), "semaphores", to.semaphores,
                [&](const pb::Semaphore& f, SemaphoreInfo& t) {
                  return DecodeSemaphore(f, cores, t);
                });
  if (r) return r;
  r = DecodeAll(from.replica_groups(), "replica_groups", to.replica_groups,
                DecodeGroups);
  if (r) return r;
  return DecodeAll(from.tensors(), "tensors", to.tensors,
                   [&](const pb::Tensor& f, Tensor& t) {
                     return DecodeTensor(f, to, layout.data_bytes, t);
                   });
}

}  // namespace trnemu::codec
