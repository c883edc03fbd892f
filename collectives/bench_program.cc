#include "collectives/bench_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/numerics/convert.h"
#include "isa/builder.h"

namespace trnemu {
namespace {

constexpr int64_t kPartitions = 128;
// What a rank does.
enum Role : int { kAll = 0, kSends, kReceives, kNothing };

// The largest divisor of n that is at most `most`.
int64_t DivisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

// -1 to 1, or whole numbers of a size that any integer has; of `seed` alone.
float Number(uint64_t seed, Dtype dtype) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  if (!IsFloat(dtype)) return static_cast<float>(z >> 58);
  return static_cast<float>(z >> 40) / static_cast<float>(1 << 23) - 1;
}

// Half of the distance from 1 to the next number, of what the dtype keeps.
double UnitRoundoff(Dtype dtype) {
  constexpr int kNone = 24;
  int bits = kNone;  // of the significand
  switch (dtype) {
    case Dtype::kBFloat16:
      bits = 8;
      break;
    case Dtype::kFloat16:
    case Dtype::kTFloat32:
      bits = 11;
      break;
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E4M3FN:
      bits = 4;
      break;
    case Dtype::kFloat8E5M2:
      bits = 3;
      break;
    default:
      break;
  }
  return std::ldexp(1, -bits);
}

// Half of the smallest step, which is what subnormals are rounded by.
double SmallestRoundoff(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return std::ldexp(1, -25);
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E4M3FN:
      return std::ldexp(1, -10);
    case Dtype::kFloat8E5M2:
      return std::ldexp(1, -17);
    default:
      return 0x1p-126;
  }
}

std::string NameOf(const char* base, size_t stream) {
  return absl::StrCat(base, stream);
}

std::vector<float> Widened(Dtype dtype, std::span<const std::byte> bytes) {
  const size_t size = SizeOf(dtype);
  std::vector<float> values(bytes.size() / size);
  WidenRow(dtype, bytes.data(), static_cast<ptrdiff_t>(size), values.size(), {},
           values.data());
  return values;
}

}  // namespace

CollectiveCase::CollectiveCase(const CollectiveQuery& query,
                               const CollectiveSubject& subject, int64_t size)
    : query_(query), subject_(subject) {
  using enum CollectiveKind;
  const auto element = static_cast<int64_t>(SizeOf(query.dtype));
  const bool divided = subject.kind == kAllGather ||
                       subject.kind == kReduceScatter ||
                       subject.kind == kAllToAll;
  // The least that can be asked for: an element for each rank.
  const int64_t unit = divided ? group_size() * element : element;
  const int64_t units =
      std::max<int64_t>((size + unit - 1) / unit, query.streams);
  for (int64_t s = 0; s < query.streams; ++s) {
    parts_.push_back(
        PartOf(units * (s + 1) / query.streams - units * s / query.streams));
  }
}

CollectiveCase::Part CollectiveCase::PartOf(int64_t units) const {
  using enum CollectiveKind;
  const int64_t n = group_size();
  Part part;
  part.in = part.out = units;
  if (subject_.kind == kAllGather) part.out = units * n;
  if (subject_.kind == kReduceScatter) part.in = units * n;
  if (subject_.kind == kAllToAll) part.in = part.out = units * n;
  if (!in_sbuf()) {
    part.in_shape = {part.in};
    part.out_shape = {part.out};
    return part;
  }
  if (subject_.kind == kReduceScatter) {  // partitions are divided
    const int64_t p = DivisorUpTo(units, std::max<int64_t>(1, kPartitions / n));
    part.in_shape = {p * n, units / p};
    part.out_shape = {p, units / p};
    return part;
  }
  const int64_t p = DivisorUpTo(units, kPartitions);
  part.in_shape = {p, part.in / p};
  part.out_shape = {p, part.out / p};
  return part;
}

int64_t CollectiveCase::bytes() const {
  int64_t elements = 0;
  for (const Part& p : parts_) elements += std::max(p.in, p.out);
  if (subject_.kind == CollectiveKind::kBarrier) elements = 0;
  return elements * static_cast<int64_t>(SizeOf(query_.dtype));
}

int64_t CollectiveCase::data_bytes() const {
  int64_t elements = 0;
  for (const Part& p : parts_) elements += p.in + p.out;
  return elements * static_cast<int64_t>(SizeOf(query_.dtype));
}

absl::Status CollectiveCase::AddCollective(ProgramBuilder& b, int role,
                                           size_t stream, const View& in,
                                           const View& in2,
                                           const View& out) const {
  using enum CollectiveKind;
  const auto tile = [](const View& view) { return *ToValue(view); };
  NamedArguments arguments;
  const auto add = [&](std::string_view name, const Value& value) {
    arguments.emplace_back(name, value);
  };
  std::string_view operation = Name(subject_.kind);
  const auto groups = [&] {
    add("replica_group", Value::Integer(b.AddReplicaGroups(query_.groups)));
  };
  switch (subject_.kind) {
    case kPermute: {
      ReplicaGroups pairs;
      for (const auto& group : query_.groups) {
        for (size_t i = 0; i < group.size(); ++i) {
          pairs.push_back({group[i], group[(i + 1) % group.size()]});
        }
      }
      add("srcs", tile(in));
      add("dsts", tile(out));
      add("source_target_pairs", Value::Integer(b.AddReplicaGroups(pairs)));
      break;
    }
    case kPermuteImplicit:
      add("srcs_by_channel", tile(in));
      add("dsts_by_channel", tile(out));
      groups();
      break;
    case kPermuteImplicitReduce:
      add("srcs0_by_channel", tile(in));
      add("srcs1_by_channel", tile(in2));
      add("dsts_by_channel", tile(out));
      groups();
      break;
    case kSend: {
      const auto& pair = query_.groups[static_cast<size_t>(role) >> 2];
      const bool sends = (role & 3) == kSends;
      operation = Name(sends ? kSend : kRecv);
      add(sends ? "src" : "dst", tile(sends ? in : out));
      add(sends ? "to_rank" : "from_rank", Value::Integer(pair[sends ? 1 : 0]));
      break;
    }
    case kBarrier:
      add("data", tile(in));
      groups();
      break;
    default:
      add("srcs", tile(in));
      add("dsts", tile(out));
      groups();
      if (subject_.kind == kAllGather) {
        add("collective_dim", Value::Integer(in_sbuf() ? 1 : 0));
      } else if (subject_.kind == kReduceScatter ||
                 subject_.kind == kAllToAll) {
        add("collective_dim", Value::Integer(0));
      }
  }
  if (subject_.reduces) add("op", Value::OfEnum(query_.op));
  add("stream", Value::Integer(static_cast<int64_t>(stream)));
  return b.Add(operation, arguments);
}

absl::StatusOr<std::shared_ptr<const Program>> CollectiveCase::ProgramOf(
    int role) const {
  ProgramBuilder b(query_.topology->system().target, query_.operation,
                   query_.topology->lnc(), ProgramBuilder::Sync::kAuto);
  b.SetLayers(kDefaultLayers | 1u << static_cast<unsigned>(Layer::kApi));
  const bool sends = (role & 3) != kReceives;
  const bool receives =
      (role & 3) != kSends && subject_.kind != CollectiveKind::kBarrier;
  absl::Status status;
  const auto keep = [&](const absl::Status& s) {
    if (status.ok()) status = s;
  };
  const auto tensor = [&](TensorKind kind, const std::string& name,
                          const std::vector<int64_t>& shape) {
    auto made = b.AddTensor(kind, name, query_.dtype, shape);
    keep(made.status());
    return made.ok() ? *made : View();
  };
  const auto on_chip = [&](const View& of, const std::string& name,
                           const std::vector<int64_t>& shape) {
    if (!in_sbuf() || !status.ok()) return of;
    auto made = b.AddTile(TensorKind::kSbuf, name, query_.dtype, shape);
    keep(made.status());
    return made.ok() ? *made : View();
  };
  const auto copy = [&](const View& dst, const View& src) {
    if (!in_sbuf() || !status.ok()) return;
    keep(b.Add("dma_copy", {{"dst", *ToValue(dst)}, {"src", *ToValue(src)}}));
  };
  const bool two = subject_.kind == CollectiveKind::kPermuteImplicitReduce;
  struct Views {
    View x, x2, y, in, in2, out;
  };
  std::vector<Views> all;
  for (size_t s = 0; role != kNothing && s < parts_.size(); ++s) {
    const Part& part = parts_[s];
    Views v;
    if (sends) {
      v.x =
          tensor(subject_.kind == CollectiveKind::kBarrier ? TensorKind::kInOut
                                                           : TensorKind::kInput,
                 NameOf("x", s), part.in_shape);
      v.in = on_chip(v.x, NameOf("in", s), part.in_shape);
      copy(v.in, v.x);
    }
    if (two) {
      v.x2 = tensor(TensorKind::kInput, NameOf("second", s), part.in_shape);
      v.in2 = on_chip(v.x2, NameOf("in_second", s), part.in_shape);
      copy(v.in2, v.x2);
    }
    if (receives) {
      v.y = tensor(TensorKind::kOutput, NameOf("y", s), part.out_shape);
      v.out = on_chip(v.y, NameOf("out", s), part.out_shape);
    }
    if (!status.ok()) return status;
    all.push_back(v);
  }
  for (size_t s = 0; s < all.size(); ++s) {
    keep(AddCollective(b, role, s, all[s].in, all[s].in2, all[s].out));
    if (!status.ok()) return status;
  }
  for (const Views& v : all) {
    if (receives) copy(v.y, v.out);
  }
  if (!status.ok()) return status;
  return b.Build();
}

absl::StatusOr<std::vector<std::shared_ptr<const Program>>>
CollectiveCase::Programs() const {
  const auto ranks = static_cast<size_t>(query_.topology->ranks());
  std::vector<int> roles(ranks, kNothing);
  for (size_t g = 0; g < query_.groups.size(); ++g) {
    const auto& group = query_.groups[g];
    for (size_t i = 0; i < group.size(); ++i) {
      roles[group[i]] =
          subject_.kind != CollectiveKind::kSend
              ? int{kAll}
              : static_cast<int>(g * 4) + (i == 0 ? kSends : kReceives);
    }
  }
  std::vector<std::pair<int, std::shared_ptr<const Program>>> made;
  std::vector<std::shared_ptr<const Program>> programs;
  for (const int role : roles) {
    auto at = std::find_if(made.begin(), made.end(),
                           [&](const auto& m) { return m.first == role; });
    if (at == made.end()) {
      auto program = ProgramOf(role);
      if (!program.ok()) return program.status();
      at = made.insert(made.end(), {role, *std::move(program)});
    }
    programs.push_back(at->second);
  }
  return programs;
}

CollectiveCase::Data CollectiveCase::MakeData() const {
  const size_t element = SizeOf(query_.dtype);
  const auto ranks = static_cast<size_t>(query_.topology->ranks());
  std::vector<bool> taken(ranks, false);
  for (const auto& group : query_.groups) {
    for (size_t i = 0; i < group.size(); ++i) {
      taken[group[i]] = subject_.kind != CollectiveKind::kSend || i == 0;
    }
  }
  const bool two = subject_.kind == CollectiveKind::kPermuteImplicitReduce;
  Data data;
  data.bytes.resize(ranks);
  data.inputs.resize(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    if (!taken[r]) continue;
    for (size_t s = 0; s < parts_.size(); ++s) {
      for (const char* name : {"x", "second"}) {
        if (*name == 's' && !two) continue;
        std::vector<float> values(static_cast<size_t>(parts_[s].in));
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] =
              Number((r * 64 + s * 2 + (*name == 's')) << 36 | i, query_.dtype);
        }
        auto& bytes = data.bytes[r].emplace_back(values.size() * element);
        NarrowRow(values.data(), values.size(), query_.dtype, bytes.data(),
                  static_cast<ptrdiff_t>(element), {});
        data.inputs[r][NameOf(name, s)] = {
            query_.dtype, false, parts_[s].in_shape, {}};
      }
    }
    // The bytes stay where they are from here on.
    size_t next = 0;
    for (size_t s = 0; s < parts_.size(); ++s) {
      data.inputs[r][NameOf("x", s)].bytes = data.bytes[r][next++];
      if (two)
        data.inputs[r][NameOf("second", s)].bytes = data.bytes[r][next++];
    }
  }
  return data;
}

CollectiveCase::Want CollectiveCase::WantOf(
    const std::vector<std::vector<float>>& values, size_t at, const Part& part,
    int64_t i) const {
  using enum CollectiveKind;
  const auto n = static_cast<int64_t>(values.size());
  const auto position = static_cast<int64_t>(at);
  const auto value = [&](int64_t of, int64_t element) {
    return static_cast<double>(
        values[static_cast<size_t>(of)][static_cast<size_t>(element)]);
  };
  const auto moved = [&](int64_t of, int64_t element) {
    return Want{value(of, element), 0};
  };
  const auto reduced = [&](int64_t element) {
    Want want{value(0, element), std::abs(value(0, element))};
    for (int64_t m = 1; m < n; ++m) {
      const double v = value(m, element);
      want.value = Reduced(want.value, v);
      want.magnitude += std::abs(v);
    }
    return want;
  };
  switch (subject_.kind) {
    case kReduceScatter:
      return reduced(position * part.out + i);
    case kAllGather: {
      if (!in_sbuf()) return moved(i / part.in, i % part.in);
      const int64_t columns = part.in_shape[1], all = part.out_shape[1];
      const int64_t row = i / all, column = i % all;
      return moved(column / columns, row * columns + column % columns);
    }
    case kAllToAll: {
      const int64_t block = part.in / n;
      return moved(i / block, position * block + i % block);
    }
    case kBroadcast:
    case kSend:
      return moved(0, i);
    default:
      return moved((position + n - 1) % n, i);
  }
}

void CollectiveCase::Error::Add(double got, double want, double most) {
  const double off = std::abs(got - want);
  ok = ok && off <= most;  // a NaN is no match, either
  largest = std::isnan(off) ? std::numeric_limits<double>::infinity()
                            : std::max(largest, off);
  bound = std::max(bound, most);
}

double CollectiveCase::Reduced(double a, double b) const {
  return query_.op == AluOp::kAdd       ? a + b
         : query_.op == AluOp::kMinimum ? std::min(a, b)
                                        : std::max(a, b);
}

// Every number is added, and what it is added to rounded, n - 1 times at most,
// once in fp32 and once when it is written.
CollectiveCase::Rounding CollectiveCase::RoundingOf() const {
  if (!subject_.reduces || query_.op != AluOp::kAdd) return {};
  const bool two = subject_.kind == CollectiveKind::kPermuteImplicitReduce;
  const auto n = static_cast<double>(two ? 2 : group_size());
  const double each = n * (UnitRoundoff(query_.dtype) + 0x1p-24);
  return {each * (1 + each), 2 * n * SmallestRoundoff(query_.dtype)};
}

// All ranks have the same: it is added once.
void CollectiveCase::CompareAllReduce(const Data& data,
                                      const std::vector<RunResult>& results,
                                      Error& error) const {
  constexpr size_t kBlock = 1 << 14;  // elements at a time
  const size_t size = SizeOf(query_.dtype);
  const Rounding rounding = RoundingOf();
  for (const auto& group : query_.groups) {
    for (size_t s = 0; s < parts_.size(); ++s) {
      const auto all = static_cast<size_t>(parts_[s].in);
      for (size_t first = 0; first < all; first += kBlock) {
        const size_t n = std::min(kBlock, all - first);
        std::vector<Want> want(n);
        for (size_t m = 0; m < group.size(); ++m) {
          const std::span bytes(data.bytes[group[m]][s]);
          const auto values =
              Widened(query_.dtype, bytes.subspan(first * size, n * size));
          for (size_t i = 0; i < n; ++i) {
            want[i].value =
                m == 0 ? values[i] : Reduced(want[i].value, values[i]);
            want[i].magnitude += std::abs(static_cast<double>(values[i]));
          }
        }
        for (const uint32_t rank : group) {
          const std::span bytes(results[rank].outputs.at(NameOf("y", s)).bytes);
          const auto got =
              Widened(query_.dtype, bytes.subspan(first * size, n * size));
          for (size_t i = 0; i < n; ++i) {
            error.Add(got[i], want[i].value,
                      rounding.relative * want[i].magnitude + rounding.least);
          }
        }
      }
    }
  }
}

CollectiveCase::Error CollectiveCase::Compare(
    const Data& data, const std::vector<RunResult>& results) const {
  using enum CollectiveKind;
  Error error;
  if (subject_.kind == kBarrier) return error;
  if (subject_.kind == kAllReduce) {
    CompareAllReduce(data, results, error);
    return error;
  }
  const bool two = subject_.kind == kPermuteImplicitReduce;
  const Rounding rounding = RoundingOf();
  for (const auto& group : query_.groups) {
    for (size_t s = 0; s < parts_.size(); ++s) {
      std::vector<std::vector<float>> values;
      for (const uint32_t rank : group) {
        auto& mine = values.emplace_back();
        const auto& bytes = data.bytes[rank];
        if (bytes.empty()) continue;
        mine = Widened(query_.dtype, bytes[two ? 2 * s : s]);
        if (!two) continue;
        const auto second = Widened(query_.dtype, bytes[2 * s + 1]);
        for (size_t i = 0; i < mine.size(); ++i) {
          mine[i] = static_cast<float>(Reduced(mine[i], second[i]));
        }
      }
      for (size_t at = 0; at < group.size(); ++at) {
        const auto& outputs = results[group[at]].outputs;
        const auto found = outputs.find(NameOf("y", s));
        if (found == outputs.end()) continue;
        const auto got = Widened(query_.dtype, found->second.bytes);
        for (size_t i = 0; i < got.size(); ++i) {
          const Want want =
              WantOf(values, at, parts_[s], static_cast<int64_t>(i));
          // Of the implicit reduce the magnitudes are not kept: 2 at most.
          const double magnitude = two ? 2 : want.magnitude;
          error.Add(got[i], want.value,
                    rounding.relative * magnitude + rounding.least);
        }
      }
    }
  }
  return error;
}

}  // namespace trnemu
