// Tensor indirection: the rules that the operations which take views made by
// indirect() have of them. They are the same for all but the matmuls, so that
// they are made here from what differs: names, engines, what else is refused.
#include "isa/operations/indirect.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "isa/operations/rows.h"

namespace trnemu {
namespace {

using Holds = bool (*)(const Call&);

// An operation whose `dst` and `data` can be such views.
struct Taker {
  std::string_view operation;
  std::string_view data;     // the parameter's name
  std::string_view engines;  // as isa.json lists them
  std::string_view source;
  // Parameters that cannot, at most three.
  std::array<std::string_view, 3> refused{};
  bool all_generations_that_have_it = false;
};

constexpr std::string_view kIsa = "nki/api/nki/isa/__init__.py:";
constexpr Taker kTakers[] = {
    {"activation", "data", "'scalar'", "1420", {"bias", "scale", "reduce_res"}},
    {"activation_reduce",
     "data",
     "'scalar'",
     "1499",
     {"bias", "scale", "reduce_res"}},
    {"activate2",
     "data",
     "'scalar'",
     "1581",
     {"imm0", "imm1", "relu_param"},
     true},
    {"tensor_reduce", "data", "'vector'", "1215"},
    {"tensor_tensor", "data1", "'vector', 'gpsimd'", "1054", {"data2"}},
    {"tensor_scalar",
     "data",
     "'vector', 'scalar', 'gpsimd'",
     "1119",
     {"operand0", "operand1"}},
    {"tensor_scalar_reduce",
     "data",
     "'vector'",
     "2557",
     {"operand0", "reduce_res", "reduce_init"}},
    {"tensor_scalar_cumulative", "src", "'vector'", "1307", {"imm0", "imm1"}},
    {"tensor_copy", "src", "'vector', 'scalar'", "405"},
    {"tensor_copy_predicated", "predicate", "'vector'", "465", {"src"}},
    {"exponential",
     "src",
     "'vector'",
     "2316",
     {"max_value", "reduce_res", "reduce_init"},
     true},
};

const Taker* TakerOf(std::string_view operation) {
  for (const Taker& taker : kTakers) {
    if (taker.operation == operation) return &taker;
  }
  return nullptr;
}

const Value& Named(const Call& c, std::string_view parameter) {
  static const Value none;
  const int index = ParameterIndex(*c.operation, parameter);
  return index < 0 ? none : c[index];
}
const Value& Dst(const Call& c) { return Named(c, "dst"); }
const Value& Data(const Call& c) {
  return Named(c, TakerOf(c.operation->name)->data);
}
bool Any(const Call& c) { return Ti(c, Dst(c)) || Ti(c, Data(c)); }
bool IndexOnQuadrant(const Call& c, const Value& v) {
  return !Ti(c, v) || StartOfIndex(c, v) % 32 == 0;
}
bool StartsWithIndex(const Call& c, const Value& v) {
  return !Ti(c, v) || StartPartition(c, v) == StartOfIndex(c, v);
}
template <int position>
bool NotRefused(const Call& c) {
  return !Ti(c, Named(c, TakerOf(c.operation->name)->refused[position]));
}
bool OnItsEngine(const Call& c) {
  const std::string_view engines = TakerOf(c.operation->name)->engines;
  return !Any(c) || engines.find(absl::StrCat("'", std::string(Name(c.engine)),
                                              "'")) != engines.npos;
}
constexpr Holds kNotRefused[] = {NotRefused<0>, NotRefused<1>, NotRefused<2>};

// Owns rules and their texts, for the life of the process.
class Maker {
 public:
  explicit Maker(const OperationInfo& operation) : operation_(operation) {
    rules_.assign(operation.rules.begin(), operation.rules.end());
  }

  // `text`, `message` and `operand` may hold {in} and {engines}.
  void Add(std::string_view id, std::string_view text, std::string_view source,
           Holds holds, std::string_view operand, std::string_view message,
           std::string_view remedy = "") {
    rules_.push_back({Keep(absl::StrCat(std::string(operation_.name),
                                        ".indirect_", std::string(id))),
                      Keep(std::string(text)), Keep(std::string(source)), holds,
                      Keep(std::string(operand)), Keep(std::string(message)),
                      remedy});
  }
  std::vector<Rule> Take() { return std::move(rules_); }

 private:
  static std::string_view Keep(std::string text) {
    static auto* const texts = new std::deque<std::string>;
    return texts->emplace_back(std::move(text));
  }
  const OperationInfo& operation_;
  std::vector<Rule> rules_;
};

// Fills in what differs between the takers.
std::string For(const Taker& taker, std::string_view text) {
  return absl::StrReplaceAll(std::string(text),
                             {{"{in}", std::string(taker.data)},
                              {"{engines}", std::string(taker.engines)}});
}

// A position in a partition that index and operand share.
constexpr std::string_view kMove =
    "place the index tile at the partition that the rule names";

void AddRefused(const Taker& taker, const std::string& source, Maker& maker) {
  for (size_t i = 0; i < taker.refused.size() && !taker.refused[i].empty();
       ++i) {
    const std::string name(taker.refused[i]);
    const bool either = taker.operation == "tensor_copy_predicated";
    maker.Add(name,
              either ? "not is_tile(src) or not ti(src)"
                     : absl::StrCat("not ti(", name, ")"),
              source, kNotRefused[i], name,
              "{operand} cannot be a view made by indirect()",
              "copy its elements to a tile first");
  }
  // The fourth of activate2, which no slot of `refused` is left for.
  if (taker.operation == "activate2") {
    maker.Add(
        "reduce_res", "not ti(reduce_res)", source,
        [](const Call& c) { return !Ti(c, Named(c, "reduce_res")); },
        "reduce_res", "{operand} cannot be a view made by indirect()");
  }
}

void AddStarts(const Taker& taker, const std::string& source, Maker& maker) {
  maker.Add(
      "dst_index", "not ti(dst) or start_p(ti_idx(dst)) % 32 == 0", source,
      [](const Call& c) { return IndexOnQuadrant(c, Dst(c)); }, "dst",
      "the index of {operand} must start at partition 0, 32, 64 or 96", kMove);
  maker.Add(
      "data_index",
      For(taker, "not ti({in}) or start_p(ti_idx({in})) % 32 == 0"), source,
      [](const Call& c) { return IndexOnQuadrant(c, Data(c)); }, taker.data,
      "the index of {operand} must start at partition 0, 32, 64 or 96", kMove);
  maker.Add(
      "data_start",
      For(taker, "not ti({in}) or start_p({in}) == start_p(ti_idx({in}))"),
      source, [](const Call& c) { return StartsWithIndex(c, Data(c)); },
      taker.data,
      "{operand} starts at partition {start}, and so must its index", kMove);
  maker.Add(
      "dst_start_sbuf",
      For(taker,
          "not (ti(dst) and buf({in}) == 'sbuf') or start_p(ti_idx(dst)) == "
          "start_p({in})"),
      source,
      [](const Call& c) {
        return !Ti(c, Dst(c)) || Buf(Data(c)) != Space::kSbuf ||
               StartOfIndex(c, Dst(c)) == StartPartition(c, Data(c));
      },
      "dst",
      For(taker,
          "the index of dst must start where {in} does, at partition "
          "{start:{in}}"),
      kMove);
  maker.Add(
      "dst_start_psum",
      For(taker,
          "not (ti(dst) and buf({in}) == 'psum' and ti({in})) or "
          "start_p(ti_idx(dst)) == start_p(ti_idx({in}))"),
      source,
      [](const Call& c) {
        return !Ti(c, Dst(c)) || Buf(Data(c)) != Space::kPsum ||
               !Ti(c, Data(c)) ||
               StartOfIndex(c, Dst(c)) == StartOfIndex(c, Data(c));
      },
      "dst",
      For(taker, "the index of dst must start at the partition of {in}'s"),
      kMove);
}

void AddTaker(const Taker& taker, Maker& maker) {
  const std::string source =
      absl::StrCat(std::string(kIsa), std::string(taker.source));
  if (!taker.all_generations_that_have_it) {
    maker.Add(
        "generation", For(taker, "not (ti(dst) or ti({in})) or gen >= 4"),
        source,
        [](const Call& c) {
          return !Any(c) || c.hardware->features.tensor_indirection;
        },
        "dst", "views made by indirect() came with trn3, not on {target}",
        "gather with nc_n_gather or local_gather, or with strided views");
  }
  AddRefused(taker, source, maker);
  maker.Add("engine",
            For(taker, "not (ti(dst) or ti({in})) or engine in [{engines}]"),
            source, OnItsEngine, "dst",
            For(taker,
                "with a view made by indirect() it runs on {engines} only, not "
                "on the {engine} engine"));
  AddStarts(taker, source, maker);
  if (taker.engines.find("scalar") != taker.engines.npos) {
    maker.Add(
        "dst_psum",
        "not (engine == 'scalar' and ti(dst)) or buf(dst) != 'psum'", source,
        [](const Call& c) {
          return c.engine != Engine::kScalar || !Ti(c, Dst(c)) ||
                 Buf(Dst(c)) != Space::kPsum;
        },
        "dst", "the scalar engine cannot scatter to PSUM",
        "write to SBUF, or use the vector engine");
  }
  if (taker.operation != "tensor_scalar") return;
  maker.Add(
      "int32",
      "not (ti(dst) or ti(data)) or not (dt(data) in INT32S and dt(dst) in "
      "INT32S)",
      "nki/api/nki/isa/__init__.py:1126",
      [](const Call& c) {
        auto whole = [](Dtype d) {
          return d == Dtype::kInt32 || d == Dtype::kUint32;
        };
        return !Any(c) || !whole(Dt(Data(c))) || !whole(Dt(Dst(c)));
      },
      "dst",
      "a view made by indirect() cannot go from {dt:data} to {dt:dst}: 32-bit "
      "integers on both sides are the address form of the instruction");
}

// ---- matmuls: groups of 32, three operands ----

const Value& Stationary(const Call& c) { return Named(c, "stationary"); }
const Value& Moving(const Call& c) { return Named(c, "moving"); }
bool AnyOfMatmul(const Call& c) {
  return Ti(c, Dst(c)) || Ti(c, Stationary(c)) || Ti(c, Moving(c));
}
bool AtOrigin(const Call& c) {
  const Value& v = Named(c, "tile_position");
  return v.is_none() || v.num_ints == 0 || (v.ints[0] == 0 && v.ints[1] == 0);
}
bool IsPeTi(const Call& c, const Value& v) {
  if (!Ti(c, v)) return true;
  switch (Dt(v)) {
    case Dtype::kFloat16:
    case Dtype::kBFloat16:
    case Dtype::kFloat8E4M3:
    case Dtype::kFloat8E5M2:
    case Dtype::kFloat8E4M3FN:
      return true;
    default:
      return false;
  }
}
bool DstWithStationary(const Call& c) {
  return !Ti(c, Dst(c)) ||
         StartOfIndex(c, Dst(c)) == StartPartition(c, Stationary(c));
}

void AddMatmul(Maker& maker) {
  const std::string source = absl::StrCat(std::string(kIsa), "643");
  maker.Add(
      "dst_generation", "not ti(dst) or gen >= 4", source,
      [](const Call& c) {
        return !Ti(c, Dst(c)) || c.hardware->features.tensor_indirection;
      },
      "dst", "views made by indirect() came with trn3, not on {target}");
  maker.Add(
      "engine", "not ti(dst) or engine in ['tensor']", source,
      [](const Call& c) {
        return !Ti(c, Dst(c)) || c.engine == Engine::kTensor;
      },
      "dst", "it runs on the tensor engine, not on the {engine} engine");
  maker.Add(
      "dst_index", "not ti(dst) or start_p(ti_idx(dst)) % 32 == 0", source,
      [](const Call& c) { return IndexOnQuadrant(c, Dst(c)); }, "dst",
      "the index of {operand} must start at partition 0, 32, 64 or 96", kMove);
  maker.Add(
      "data_generation", "not (ti(stationary) or ti(moving)) or gen >= 4",
      source,
      [](const Call& c) {
        return (!Ti(c, Stationary(c)) && !Ti(c, Moving(c))) ||
               c.hardware->features.tensor_indirection;
      },
      "stationary", "views made by indirect() came with trn3, not on {target}");
  maker.Add(
      "stationary_start",
      "not ti(stationary) or (start_p(stationary) == start_p(ti_idx(stationary)"
      ") and start_p(stationary) % 32 == 0)",
      source,
      [](const Call& c) {
        return StartsWithIndex(c, Stationary(c)) &&
               IndexOnQuadrant(c, Stationary(c));
      },
      "stationary",
      "{operand} starts at partition {start}; it and its index must start at "
      "the same multiple of 32",
      kMove);
  maker.Add(
      "moving_start",
      "not ti(moving) or (start_p(moving) == start_p(ti_idx(moving)) and "
      "start_p(moving) % 32 == 0)",
      source,
      [](const Call& c) {
        return StartsWithIndex(c, Moving(c)) && IndexOnQuadrant(c, Moving(c));
      },
      "moving",
      "{operand} starts at partition {start}; it and its index must start at "
      "the same multiple of 32",
      kMove);
  maker.Add("dst_start",
            "not ti(dst) or start_p(ti_idx(dst)) == start_p(stationary)",
            absl::StrCat(std::string(kIsa), "659"), DstWithStationary, "dst",
            "the index of dst must start where stationary does, at partition "
            "{start:stationary}",
            kMove);
  maker.Add(
      "transpose", "not is_transpose or not ti(moving)",
      absl::StrCat(std::string(kIsa), "647"),
      [](const Call& c) {
        return !Named(c, "is_transpose").boolean() || !Ti(c, Moving(c));
      },
      "moving", "a transpose cannot move a view made by indirect()");
  maker.Add(
      "tile_position",
      "not (ti(dst) or ti(stationary) or ti(moving)) or (len(tile_position) == "
      "0 or tuple(tile_position) == (0, 0))",
      absl::StrCat(std::string(kIsa), "648"),
      [](const Call& c) { return !AnyOfMatmul(c) || AtOrigin(c); },
      "tile_position",
      "with a view made by indirect() it must be (0, 0), but it is "
      "{value:tile_position}");
  maker.Add(
      "dtype", "all((dt(x) in PE_TI for x in (stationary, moving) if ti(x)))",
      absl::StrCat(std::string(kIsa), "649"),
      [](const Call& c) {
        return IsPeTi(c, Stationary(c)) && IsPeTi(c, Moving(c));
      },
      "stationary",
      "the tensor engine gathers fp16, bf16 and fp8, not {dt:stationary} and "
      "{dt:moving}");
}

bool SameIndex(const Call& c, const Value& a, const Value& b) {
  const Indirection* i = c.IndirectionOf(a);
  const Indirection* j = c.IndirectionOf(b);
  return i != nullptr && j != nullptr && i->index == j->index;
}

void AddMatmulMx(Maker& maker) {
  maker.Add(
      "scales",
      "ti(stationary) == ti(stationary_scale) and ti(moving) == "
      "ti(moving_scale)",
      absl::StrCat(std::string(kIsa), "797"),
      [](const Call& c) {
        return Ti(c, Stationary(c)) == Ti(c, Named(c, "stationary_scale")) &&
               Ti(c, Moving(c)) == Ti(c, Named(c, "moving_scale"));
      },
      "stationary_scale",
      "an operand and its scales are both views made by indirect(), or "
      "neither");
  maker.Add(
      "scale_index",
      "(not ti(stationary) or same_index(stationary, stationary_scale)) and "
      "(not ti(moving) or same_index(moving, moving_scale))",
      absl::StrCat(std::string(kIsa), "798"),
      [](const Call& c) {
        return (!Ti(c, Stationary(c)) ||
                SameIndex(c, Stationary(c), Named(c, "stationary_scale"))) &&
               (!Ti(c, Moving(c)) ||
                SameIndex(c, Moving(c), Named(c, "moving_scale")));
      },
      "stationary_scale", "an operand and its scales must share one index");
  maker.Add(
      "tile_position",
      "not (ti(dst) or ti(stationary) or ti(moving)) or (tile_position is None "
      "or tuple(tile_position) == (0, 0))",
      absl::StrCat(std::string(kIsa), "800"),
      [](const Call& c) { return !AnyOfMatmul(c) || AtOrigin(c); },
      "tile_position",
      "with a view made by indirect() it must be (0, 0), but it is "
      "{value:tile_position}");
  maker.Add(
      "index",
      "all((start_p(ti_idx(x)) % 32 == 0 for x in (dst, stationary, moving) if "
      "ti(x)))",
      absl::StrCat(std::string(kIsa), "806"),
      [](const Call& c) {
        return IndexOnQuadrant(c, Dst(c)) &&
               IndexOnQuadrant(c, Stationary(c)) &&
               IndexOnQuadrant(c, Moving(c));
      },
      "dst", "an index must start at partition 0, 32, 64 or 96", kMove);
  maker.Add(
      "data_start",
      "(not ti(stationary) or start_p(stationary) == "
      "start_p(ti_idx(stationary))) and (not ti(moving) or start_p(moving) == "
      "start_p(ti_idx(moving)))",
      absl::StrCat(std::string(kIsa), "808"),
      [](const Call& c) {
        return StartsWithIndex(c, Stationary(c)) &&
               StartsWithIndex(c, Moving(c));
      },
      "stationary", "an operand and its index must start at one partition",
      kMove);
  maker.Add("dst_start",
            "not ti(dst) or start_p(ti_idx(dst)) == start_p(stationary)",
            absl::StrCat(std::string(kIsa), "810"), DstWithStationary, "dst",
            "the index of dst must start where stationary does, at partition "
            "{start:stationary}",
            kMove);
}

const std::map<const OperationInfo*, std::vector<Rule>>& Tables() {
  static const auto* const tables = [] {
    auto* all = new std::map<const OperationInfo*, std::vector<Rule>>;
    for (const OperationInfo* operation : Operations()) {
      Maker maker(*operation);
      if (const Taker* taker = TakerOf(operation->name)) {
        AddTaker(*taker, maker);
      } else if (operation->name == "nc_matmul") {
        AddMatmul(maker);
      } else if (operation->name == "nc_matmul_mx") {
        AddMatmulMx(maker);
      } else {
        continue;
      }
      all->emplace(operation, maker.Take());
    }
    return all;
  }();
  return *tables;
}

bool IsDma(std::string_view operation) {
  return operation == "dma_copy" || operation == "dma_transpose" ||
         operation == "dma_compute";
}

// Those whose rules are about the place of a tile, or that exchange it.
bool TakesScalarOffsets(const Call& c, std::string_view parameter) {
  const std::string_view operation = c.operation->name;
  if (operation == "psum_reset" || operation == "core_barrier" ||
      operation == "sendrecv") {
    return false;
  }
  // The banks that a matmul may write follow from the place of dst.
  return parameter != "dst" || c.engine != Engine::kTensor;
}

bool TakesOffsets(const Call& c, std::string_view parameter) {
  const std::string_view operation = c.operation->name;
  if (operation == "nc_matmul" || operation == "nc_matmul_mx") {
    return parameter == "dst" || parameter.starts_with("stationary") ||
           parameter.starts_with("moving");
  }
  // Which of their parameters is a rule of their own.
  return TakerOf(operation) != nullptr;
}

}  // namespace

namespace rows {

bool AllowsIndirection(const Call& c, const Value& v) {
  const Indirection* i = c.IndirectionOf(v);
  if (i == nullptr) return true;
  const auto parameter = static_cast<size_t>(&v - c.values.data());
  const std::string_view name = c.operation->parameters[parameter].name;
  switch (i->kind) {
    case IndirectionKind::kScalarRegister:
    case IndirectionKind::kScalarTile:
      return TakesScalarOffsets(c, name);
    case IndirectionKind::kVector:
      return IsDma(c.operation->name);
    case IndirectionKind::kTensor:
      return TakesOffsets(c, name);
  }
  return false;
}

bool IndexIsLong(const Call& c, const Value& v) {
  const Indirection* i = c.IndirectionOf(v);
  if (i == nullptr || i->kind == IndirectionKind::kTensor) return true;
  return !i->has_index() || SizeOf(i->index.dtype) == 4;
}

int64_t OffsetsHeld(const Call& c, const Value& v) {
  const int64_t group = TensorGroup(c.engine);
  const int64_t part = P(v) % group;
  // A group that is not whole: the offsets go on in the next column only after
  // G partitions that it does not have.
  return part == 0 ? group * c.IndirectionOf(v)->index.free_size() : part;
}

bool IndexHoldsOffsets(const Call& c, const Value& v) {
  return !Ti(c, v) || F(v) <= OffsetsHeld(c, v);
}

}  // namespace rows

std::span<const Rule> RulesOf(const OperationInfo& operation) {
  const auto& tables = Tables();
  const auto at = tables.find(&operation);
  return at == tables.end() ? operation.rules : std::span(at->second);
}

}  // namespace trnemu
