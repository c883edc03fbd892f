// CheckCall: which rules a call breaks, and what is said of it.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "isa/operations.h"
#include "isa/operations/indirect.h"
#include "isa/operations/rows.h"

namespace trnemu {
namespace {

// A rule of one operand of a compute engine. The Rule's own `holds` is null.
struct OperandRule {
  Rule rule;
  bool (*holds)(const Call&, const Value&);
};

bool VectorOrScalar(const Call& c) {
  return c.engine == Engine::kVector || c.engine == Engine::kScalar;
}

bool StartIsLegal(const Call& c, const Value& v) {
  const int64_t start = StartPartition(c, v);
  const int64_t count = P(v);
  if (count > 64) return start == 0;
  if (count > 32) return start == 0 || start == 64;
  return start % 32 == 0 && start < 128;
}

bool CountsFit(const Call& c, const Value& v) {
  if (v.access.contiguous()) return true;
  for (const Dim& d : v.access.active_dims()) {
    if (d.count > c.hardware->access.max_count) return false;
  }
  return true;
}

bool StepsFit(const Call& c, const Value& v) {
  for (const Dim& d : v.access.active_dims()) {
    if (d.count > 1 && (d.step < c.hardware->access.min_step ||
                        d.step > c.hardware->access.max_step)) {
      return v.access.contiguous();
    }
  }
  return true;
}

constexpr std::array<OperandRule, 6> kOperandRules = {{
    {{"operand.start_partition",
      "start_p(x) == 0 if P(x) > 64 else start_p(x) in (0, 64) if P(x) > 32 "
      "else start_p(x) in (0, 32, 64, 96)",
      "nki/guides/architecture/trainium_inferentia2_arch.rst:711", nullptr, "",
      "{operand} has {P} partitions starting at partition {start}; legal start "
      "partitions for {P} partitions are {starts}",
      "place the tile at a legal start partition, or move the data by DMA, "
      "which may start anywhere",
      Layer::kDevice, Evidence::kDocumented, Severity::kError,
      Category::kIllegal, false},
     StartIsLegal},
    {{"operand.count", "0 < n <= 65535 for s, n in free_ap(x)",
      "nki/guides/architecture/trainium_inferentia2_arch.rst:718", nullptr, "",
      "{operand} has the free [step, count] pairs {steps}; a count is at most "
      "65535",
      "split the dimension in two", Layer::kBackend, Evidence::kDocumented,
      Severity::kError, Category::kIllegal, false},
     CountsFit},
    {{"operand.step", "-32768 <= s <= 32767 for s, n in free_ap(x)",
      "nki/guides/architecture/trainium_inferentia2_arch.rst:718", nullptr, "",
      "{operand} has the free [step, count] pairs {steps}; a step is -32768 to "
      "32767 elements",
      "split the access, so that no dimension steps that far", Layer::kBackend,
      Evidence::kDocumented, Severity::kError, Category::kIllegal, false},
     StepsFit},
    {{"operand.sbuf_free_size", "F(x) <= 65536 if buf(x) == 'sbuf'",
      "nki/guides/architecture/trainium_inferentia2_arch.rst:336", nullptr, "",
      "{operand} has {F} elements per partition; the limit of the {engine} "
      "engine in SBUF is 65536",
      "split the free dimension"},
     [](const Call& c, const Value& v) {
       return !VectorOrScalar(c) || Buf(v) != Space::kSbuf ||
              F(v) <= c.hardware->access.sbuf_free_max;
     }},
    {{"operand.psum_free_size", "F(x) <= 4096 if buf(x) == 'psum'",
      "nki/guides/architecture/trainium_inferentia2_arch.rst:336", nullptr, "",
      "{operand} has {F} elements per partition; the limit of the {engine} "
      "engine in PSUM is 4096",
      "split the free dimension", Layer::kDevice, Evidence::kDocumented,
      Severity::kError, Category::kIllegal, false},
     [](const Call& c, const Value& v) {
       return !VectorOrScalar(c) || Buf(v) != Space::kPsum ||
              F(v) <= c.hardware->access.psum_free_max;
     }},
    {{"operand.gpsimd_psum",
      "engine != 'gpsimd' or all(buf(x) == 'sbuf' for x in onchip_operands)",
      "nki/api/nki/isa/__init__.py:399", nullptr, "",
      "the gpsimd engine cannot access PSUM, but {operand} is in PSUM",
      "use the vector or scalar engine, or copy to SBUF first"},
     [](const Call& c, const Value& v) {
       return c.engine != Engine::kGpsimd || Buf(v) != Space::kPsum;
     }},
}};

// Of every operand that is an indirect view, whatever runs the operation.
constexpr std::array<OperandRule, 3> kIndirectRules = {{
    {{"operand.indirect",
      "no vector_offset outside DMA, no indirect() where it is not listed",
      "nki/get-started/nki-language-guide.rst:269", nullptr, "",
      "{operand} cannot be that indirect view: rows with an index each are for "
      "DMA, views made by indirect() for the operands that list them, and a "
      "dynamic offset cannot place what a matmul writes",
      "copy what is indexed to a tile, and use that"},
     rows::AllowsIndirection},
    {{"operand.index_dtype", "dt(off_idx(x)) in ('int32', 'uint32')",
      "nki/api/nki/isa/__init__.py:303", nullptr, "",
      "the index of {operand} must be of int32 or uint32, not {index_dt}",
      "cast it with tensor_copy", Layer::kDevice, Evidence::kInferred},
     rows::IndexIsLong},
    {{"operand.index_count",
      "numel(x) / P(x) <= G * K if P(x) % G == 0 else P(x) % G",
      "nki/api/nki/language/__init__.py:556", nullptr, "",
      "{operand} has {F} elements per partition, but its index of "
      "{index_shape} holds {offsets} offsets for each on the {engine} engine",
      "use an index tile of more columns, or whole groups of partitions"},
     rows::IndexHoldsOffsets},
}};

constexpr std::array<Rule, 5> kParameterRules = {{
    {"argument.missing", "", "", nullptr, "", "{operand} is missing",
     "pass it: it has no default"},
    {"argument.kind", "", "", nullptr, "", "{operand} must be {expected}",
     "pass what the signature says: trnemu info OPERATION prints it"},
    {"operand.buffer", "", "", nullptr, "",
     "{operand} must be in {expected}, but it is in {buf}",
     "bring HBM data into an SBUF tile with dma_copy first; matmuls and "
     "tensor-engine transposes write PSUM tiles"},
    {"operand.dtype", "", "", nullptr, "",
     "{operand} cannot be {dt}; it takes {expected}",
     "cast it with tensor_copy to a dtype that it takes, or reinterpret its "
     "bytes with view()"},
    {"operand.value", "", "", nullptr, "",
     "{operand} must be one of {expected}",
     "pass one of the values: trnemu info OPERATION lists them"},
}};

// The lists of RulesOfOperands, put together once.
const std::vector<Rule>& OperandRuleList() {
  static const auto* const list = [] {
    auto* rules = new std::vector<Rule>;
    for (const Rule& r : kParameterRules) rules->push_back(r);
    for (const OperandRule& r : kOperandRules) rules->push_back(r.rule);
    for (const OperandRule& r : kIndirectRules) rules->push_back(r.rule);
    return rules;
  }();
  return *list;
}

std::string LegalStarts(int64_t partitions) {
  if (partitions > 64) return "0";
  if (partitions > 32) return "0 and 64";
  return "0, 32, 64 and 96";
}

std::string NumberText(const Value& v) {
  return v.is_integer ? absl::StrCat(v.integer)
                      : absl::StrFormat("%.9g", v.number);
}

std::string EnumText(ParameterKind kind, int64_t value) {
  auto name = [value](const auto& names) {
    return value >= 0 && value < static_cast<int64_t>(names.size())
               ? std::string(names[value])
               : absl::StrCat(value);
  };
  switch (kind) {
    case ParameterKind::kAluOp:
      return std::string(Name(static_cast<AluOp>(value)));
    case ParameterKind::kAluOpOrBypass:
      return value == 0 ? "bypass"
                        : std::string(Name(static_cast<AluOp>(value)));
    case ParameterKind::kActFunction:
      return std::string(Name(static_cast<ActFunction>(value)));
    case ParameterKind::kReduceCmd:
      return name(kReduceCmdNames);
    case ParameterKind::kEngine:
      return name(kEngineNames);
    case ParameterKind::kDgeMode:
      return name(kDgeModeNames);
    case ParameterKind::kOobMode:
      return name(kOobModeNames);
    case ParameterKind::kPerfMode:
      return name(kPerfModeNames);
    case ParameterKind::kAccumulate:
      return name(kAccumulateNames);
    case ParameterKind::kRegisterOp:
      return name(kRegisterOpNames);
    case ParameterKind::kPartitionOp:
      return name(kPartitionOpNames);
    case ParameterKind::kDmaEngine:
      return name(kDmaEngineNames);
    default:
      return absl::StrCat(value);
  }
}

std::string StepsText(const Access& access) {
  std::string text = "[";
  for (const Dim& d : access.active_dims()) {
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", "[", d.step, ", ",
                    d.count, "]");
  }
  return text + "]";
}

std::string ValueText(const ParameterSpec& spec, const Value& v) {
  switch (v.kind) {
    case Value::Kind::kNone:
      return "None";
    case Value::Kind::kAccess:
      return absl::StrCat("a ", DescribeShape(v.access.Shape()), " ",
                          std::string(Name(v.access.dtype)), " tile in ",
                          std::string(Name(v.access.space)));
    case Value::Kind::kNumber:
      return NumberText(v);
    case Value::Kind::kBool:
      return v.boolean() ? "True" : "False";
    case Value::Kind::kEnum:
      return EnumText(spec.kind, v.integer);
    case Value::Kind::kPattern:
      return StepsText(v.access);
    case Value::Kind::kRegister:
      return absl::StrCat("register ", v.integer);
    case Value::Kind::kMask: {
      std::string text = "(";
      for (int i = 0; i < std::min<int>(v.num_ints, 32); ++i) {
        absl::StrAppend(&text, i > 0 ? ", " : "", v.lane(i));
      }
      return text + (v.num_ints > 32 ? ", ...)" : ")");
    }
    case Value::Kind::kInts: {
      std::string text = "(";
      for (int i = 0; i < v.num_ints; ++i) {
        absl::StrAppend(&text, i > 0 ? ", " : "", v.ints[i]);
      }
      return text + ")";
    }
  }
  return "";
}

// "[[0, 1], [2, 3], ...]"
std::string GroupsText(const Call& c, const Value& v) {
  const auto at = static_cast<size_t>(v.integer);
  if (at >= c.program->replica_groups.size()) return "none";
  std::string text = "[";
  for (const auto& group : c.program->replica_groups[at]) {
    if (text.size() > 60) return text + ", ...]";
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", "[",
                    absl::StrJoin(group, ", "), "]");
  }
  return text + "]";
}

// "{P:data}" -> key "P", parameter "data"; a key alone speaks of the operand.
std::string Placeholder(std::string_view key, std::string_view parameter,
                        const Call& c) {
  if (key == "gen") return absl::StrCat(c.gen());
  if (key == "target") return c.hardware->name;
  if (key == "engine") return std::string(Name(c.engine));
  if (key == "core") return absl::StrCat(c.core - c.program->cores.data());
  const int index = ParameterIndex(*c.operation, parameter);
  if (index < 0) return absl::StrCat("{", std::string(key), "}");
  const Value& v = c[index];
  if (key == "operand") return std::string(parameter);
  if (key == "groups") return GroupsText(c, v);
  if (key == "value") return ValueText(c.operation->parameters[index], v);
  if (!v.is_tile()) return ValueText(c.operation->parameters[index], v);
  if (key == "size") return absl::StrCat(v.access.size());
  if (key == "steps") return StepsText(v.access);
  if (key == "P") return absl::StrCat(P(v));
  if (key == "F") return absl::StrCat(F(v));
  if (key == "dt") return std::string(Name(Dt(v)));
  if (key == "buf") return std::string(Name(Buf(v)));
  if (key == "start") return absl::StrCat(StartPartition(c, v));
  if (key == "starts") return LegalStarts(P(v));
  if (key == "shape") return DescribeShape(v.access.Shape());
  if (key == "offsets") return absl::StrCat(rows::OffsetsHeld(c, v));
  if (key == "index_dt" || key == "index_shape") {
    const Indirection* i = c.IndirectionOf(v);
    if (i == nullptr || !i->has_index()) return "none";
    return key == "index_dt" ? std::string(Name(i->index.dtype))
                             : DescribeShape(i->index.Shape());
  }
  return absl::StrCat("{", std::string(key), "}");
}

std::string Fill(std::string_view text, const Call& call,
                 std::string_view operand, std::string_view expected) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t close = text[at] == '{' ? text.find('}', at) : text.npos;
    if (text[at] != '{' || close == text.npos) {
      out += text[at];
      continue;
    }
    const std::string_view inside = text.substr(at + 1, close - at - 1);
    const size_t colon = inside.find(':');
    if (inside == "expected") {
      out += expected;
    } else if (colon == inside.npos) {
      out += Placeholder(inside, operand, call);
    } else {
      out +=
          Placeholder(inside.substr(0, colon), inside.substr(colon + 1), call);
    }
    at = close;
  }
  return out;
}

// What a finding says of an operand that is a tile.
std::string OperandText(const ParameterSpec& spec, const Call& call,
                        const Value& value) {
  const Access& a = value.access;
  std::string text = ValueText(spec, value);
  if (a.tensor >= call.program->tensors.size()) return text;
  const Tensor& t = call.program->tensors[a.tensor];
  if (a.on_chip()) {
    absl::StrAppend(&text, ", of ", t.name, ", from partition ",
                    StartPartition(call, value));
  } else {
    // An access has merged dimensions: the tensor as people have it.
    const std::string slice =
        a.dtype == t.dtype ? DescribeSlice(a, t.shape) : "";
    if (!slice.empty()) text = absl::StrCat(t.name, slice);
    absl::StrAppend(&text, ", of ", slice.empty() ? t.name + " " : "",
                    DescribeShape(t.shape), " ", std::string(Name(t.dtype)),
                    " in hbm");
  }
  const std::string source = call.program->DescribeSource(t.source);
  if (!source.empty()) absl::StrAppend(&text, ", made at ", source);
  return text;
}

void Report(const Rule& rule, const Call& call, std::string_view operand,
            std::string_view expected, std::vector<Diagnostic>& findings) {
  Diagnostic d;
  d.category = rule.category;
  d.severity = rule.severity;
  d.id = rule.id;
  d.message = absl::StrCat(std::string(call.operation->name), ": ",
                           Fill(rule.message, call, operand, expected));
  d.operation = call.operation->name;
  d.operand = operand;
  if (call.engine != Engine::kUnknown) d.engine = Name(call.engine);
  d.remedy = Fill(rule.remedy, call, operand, expected);
  d.reference = rule.source;
  d.details.emplace_back("target", call.hardware->name);
  for (size_t i = 0; i < call.operation->parameters.size(); ++i) {
    if (!call[i].is_tile()) continue;
    const ParameterSpec& spec = call.operation->parameters[i];
    d.details.emplace_back(std::string(spec.name),
                           OperandText(spec, call, call[i]));
  }
  if (rule.layer != Layer::kDevice) {
    d.details.emplace_back(
        "layer", std::string(kLayerNames[static_cast<size_t>(rule.layer)]));
  }
  findings.push_back(std::move(d));
}

std::string SpacesText(SpaceSet spaces) {
  std::string text;
  for (Space s : {Space::kHbm, Space::kSbuf, Space::kPsum}) {
    if (!(spaces & SetOf(s))) continue;
    absl::StrAppend(&text, text.empty() ? "" : " or ", std::string(Name(s)));
  }
  return text;
}

std::string DtypesText(DtypeSet dtypes) {
  std::string text;
  for (const DtypeInfo& info : kDtypes) {
    if (!(dtypes & SetOf(info.dtype))) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", std::string(info.name));
  }
  return text;
}

bool TakesTile(ParameterKind kind) {
  return kind == ParameterKind::kTile || kind == ParameterKind::kTileOrNumber;
}

bool KindFits(const ParameterSpec& spec, const Value& v) {
  using K = Value::Kind;
  switch (spec.kind) {
    case ParameterKind::kTile:
      return v.kind == K::kAccess;
    case ParameterKind::kTileOrNumber:
      return v.kind == K::kAccess || v.kind == K::kNumber;
    case ParameterKind::kNumber:
    case ParameterKind::kInteger:
      return v.kind == K::kNumber;
    case ParameterKind::kBool:
      return v.kind == K::kBool;
    case ParameterKind::kPattern:
      return v.kind == K::kPattern;
    case ParameterKind::kAxes:
    case ParameterKind::kIntPair:
    case ParameterKind::kInts:
      return v.kind == K::kInts;
    case ParameterKind::kMask:
      return v.kind == K::kMask;
    case ParameterKind::kScales:
    case ParameterKind::kReplicaGroups:
      return v.kind == K::kNumber;
    case ParameterKind::kRegister:
      return v.kind == K::kRegister;
    case ParameterKind::kRegisterOrInteger:
      return v.kind == K::kRegister || v.kind == K::kNumber;
    case ParameterKind::kText:
      return true;
    default:
      return v.kind == K::kEnum;
  }
}

bool Wanted(const Rule& rule, unsigned layers) {
  return (layers >> static_cast<unsigned>(rule.layer)) & 1;
}

// MX scales are views inside a quadrant, whose operations have rules of their
// own for where they start (nki/deep-dives/mxfp-matmul.rst:228).
bool Applies(const OperandRule& rule, const ParameterSpec& spec) {
  return rule.holds != StartIsLegal || spec.dtypes != rows::kMxScaleTypes;
}

// DMA is exempt: it addresses any partition and any size.
bool OnComputeEngine(const Call& call) { return !call.operation->exempt; }

}  // namespace

bool CheckParameterKinds(const Call& call, std::vector<Diagnostic>& findings) {
  const size_t before = findings.size();
  for (size_t i = 0; i < call.operation->parameters.size(); ++i) {
    const ParameterSpec& spec = call.operation->parameters[i];
    const Value& v = call[i];
    if (v.is_none()) {
      if (spec.required && spec.default_text != "None") {
        Report(kParameterRules[0], call, spec.name, "", findings);
      }
      continue;
    }
    if (!KindFits(spec, v)) {
      Report(kParameterRules[1], call, spec.name,
             TakesTile(spec.kind) ? "a tile" : "of its documented kind",
             findings);
      continue;
    }
    if (!v.is_tile()) continue;
    if (!(spec.spaces & SetOf(Buf(v)))) {
      Report(kParameterRules[2], call, spec.name, SpacesText(spec.spaces),
             findings);
    } else if (!(spec.dtypes & SetOf(Dt(v)))) {
      Report(kParameterRules[3], call, spec.name, DtypesText(spec.dtypes),
             findings);
    }
  }
  return findings.size() == before;
}

void CheckCall(const Call& call, unsigned layers,
               std::vector<Diagnostic>& findings) {
  if (CheckParameterKinds(call, findings)) CheckRules(call, layers, findings);
}

void CheckRules(const Call& call, unsigned layers,
                std::vector<Diagnostic>& findings) {
  const size_t before = findings.size();
  bool dynamic = false;
  for (size_t i = 0; i < call.operation->parameters.size(); ++i) {
    if (!call[i].is_tile() || !call[i].access.is_dynamic()) continue;
    dynamic = true;
    for (const OperandRule& r : kIndirectRules) {
      if (r.holds(call, call[i])) continue;
      Report(r.rule, call, call.operation->parameters[i].name, "", findings);
    }
  }
  if (OnComputeEngine(call)) {
    for (size_t i = 0; i < call.operation->parameters.size(); ++i) {
      const Value& v = call[i];
      if (!v.is_tile() || !v.access.on_chip()) continue;
      for (const OperandRule& r : kOperandRules) {
        const ParameterSpec& spec = call.operation->parameters[i];
        if (Applies(r, spec) && Wanted(r.rule, layers) && !r.holds(call, v)) {
          Report(r.rule, call, spec.name, "", findings);
        }
      }
    }
  }
  const bool psum_said = std::any_of(
      findings.begin() + static_cast<ptrdiff_t>(before), findings.end(),
      [](const Diagnostic& d) { return d.id == "operand.gpsimd_psum"; });
  // Those of indirect views hold where there is no such view.
  for (const Rule& rule :
       dynamic ? RulesOf(*call.operation) : call.operation->rules) {
    if (!Wanted(rule, layers) || rule.holds(call)) continue;
    // The operations' own rows of the same rule name no operand.
    if (psum_said && rule.id.ends_with(".gpsimd_psum")) continue;
    Report(rule, call, rule.operand, "", findings);
  }
}

std::string Explain(const Rule& rule, const Call& call) {
  return Fill(rule.message, call, rule.operand, "");
}

std::span<const Rule> RulesOfOperands() { return OperandRuleList(); }

std::vector<const Rule*> AllRules() {
  std::vector<const Rule*> all;
  for (const Rule& r : OperandRuleList()) all.push_back(&r);
  for (const OperationInfo* operation : Operations()) {
    for (const Rule& r : RulesOf(*operation)) all.push_back(&r);
  }
  return all;
}

const Rule* FindRule(std::string_view id) {
  for (const Rule* rule : AllRules()) {
    if (rule->id == id) return rule;
  }
  return nullptr;
}

}  // namespace trnemu
