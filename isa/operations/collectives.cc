// nki.collectives, and what the runtime has beside it: broadcast, send, recv,
// collective_barrier.
#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "isa/operations/collective_rules.h"

namespace trnemu::rows {
namespace {

// Arrays of parameters, one after the other.
template <size_t... N>
constexpr auto Join(const std::array<ParameterSpec, N>&... parts) {
  std::array<ParameterSpec, (N + ...)> all{};
  size_t at = 0;
  const auto add = [&](const auto& part) {
    for (const ParameterSpec& p : part) all[at++] = p;
  };
  (add(parts), ...);
  return all;
}

constexpr std::array<std::string_view, kMaxCoalesced> kSrcNames = {
    "srcs",    "srcs[1]", "srcs[2]", "srcs[3]",
    "srcs[4]", "srcs[5]", "srcs[6]", "srcs[7]"};
constexpr std::array<std::string_view, kMaxCoalesced> kDstNames = {
    "dsts",    "dsts[1]", "dsts[2]", "dsts[3]",
    "dsts[4]", "dsts[5]", "dsts[6]", "dsts[7]"};
// Where a list of one is wanted, more are for the rule to refuse.
constexpr std::array<std::string_view, 4> kOneSrc = {"srcs", "srcs[1]",
                                                     "srcs[2]", "srcs[3]"};
constexpr std::array<std::string_view, 4> kOneDst = {"dsts", "dsts[1]",
                                                     "dsts[2]", "dsts[3]"};
constexpr std::array<std::string_view, kMaxChannels> kSrcsByChannel = {
    "srcs_by_channel", "srcs_by_channel[1]", "srcs_by_channel[2]",
    "srcs_by_channel[3]"};
constexpr std::array<std::string_view, kMaxChannels> kSrcs0ByChannel = {
    "srcs0_by_channel", "srcs0_by_channel[1]", "srcs0_by_channel[2]",
    "srcs0_by_channel[3]"};
constexpr std::array<std::string_view, kMaxChannels> kSrcs1ByChannel = {
    "srcs1_by_channel", "srcs1_by_channel[1]", "srcs1_by_channel[2]",
    "srcs1_by_channel[3]"};
constexpr std::array<std::string_view, kMaxChannels> kDstsByChannel = {
    "dsts_by_channel", "dsts_by_channel[1]", "dsts_by_channel[2]",
    "dsts_by_channel[3]"};

template <size_t N>
constexpr std::array<ParameterSpec, N> List(
    const std::array<std::string_view, N>& names, Role role,
    std::string_view doc, DtypeSet dtypes = kAnyTypeOrPacked) {
  std::array<ParameterSpec, N> list{};
  for (size_t i = 0; i < N; ++i) {
    list[i] = {names[i], ParameterKind::kTile, i == 0, i == 0 ? "" : "None",
               role,     kHbmOrSbuf,           dtypes, i == 0 ? doc : ""};
    list[i].repeats = i == 0 ? N : 1;
  }
  return list;
}
template <typename... P>
constexpr std::array<ParameterSpec, sizeof...(P)> Some(const P&... p) {
  return {p...};
}

constexpr DtypeSet kReduced = kIntegerTypes | kFloatTypes;
constexpr ParameterSpec kGroupParameter =
    Attr("replica_group", ParameterKind::kReplicaGroups,
         "lists of ranks, each of which meets among itself");
constexpr ParameterSpec kDimParameter =
    Attr("collective_dim", ParameterKind::kInteger,
         "the dimension that is joined or split");
constexpr ParameterSpec kOpParameter =
    Attr("op", ParameterKind::kAluOp, "add, minimum or maximum");
constexpr auto kRest =
    Some(Opt("priority", ParameterKind::kInteger, "None",
             "0 to 3, lower is more urgent (trn3)"),
         kNameParameter,
         Opt("stream", ParameterKind::kInteger, "0",
             "of trnemu: the collective stream; those of one go in order"),
         Opt("trigger", ParameterKind::kEngine, "unknown",
             "of trnemu: the sequencer that triggers and waits; sync"),
         Opt("both_cores", ParameterKind::kBool, "False",
             "of trnemu: the program's other core calls it too, with the same "
             "tensors: one collective"));

constexpr auto kSrcs = List(kSrcNames, Role::kIn, "what this rank has");
constexpr auto kDsts = List(kDstNames, Role::kOut, "what it receives");
constexpr auto kReducedSrcs =
    List(kSrcNames, Role::kIn, "what this rank has", kReduced);
constexpr auto kReducedDsts =
    List(kDstNames, Role::kOut, "what it receives", kReduced);

constexpr auto kAllReduceParameters = Join(
    kReducedSrcs, kReducedDsts, Some(kGroupParameter, kOpParameter), kRest);
constexpr auto kGatherParameters =
    Join(kSrcs, kDsts, Some(kGroupParameter, kDimParameter), kRest);
constexpr auto kReduceScatterParameters =
    Join(kReducedSrcs, kReducedDsts,
         Some(kGroupParameter, kDimParameter, kOpParameter), kRest);
constexpr auto kPermuteParameters =
    Join(kSrcs, kDsts,
         Some(Attr("source_target_pairs", ParameterKind::kReplicaGroups,
                   "(source, target) ranks")),
         kRest);
constexpr ParameterSpec kChannelIds =
    Opt("channel_ids", ParameterKind::kInts, "None",
        "0, 1, ... of the channels; (0,) if it is left out");
constexpr auto kImplicitParameters = Join(
    List(kSrcsByChannel, Role::kIn, "what this rank sends, a channel each"),
    List(kDstsByChannel, Role::kOut, "what it receives, a channel each"),
    Some(kGroupParameter, kChannelIds), kRest);
constexpr auto kImplicitReduceParameters = Join(
    List(kSrcs0ByChannel, Role::kIn, "left operands, a channel each", kReduced),
    List(kSrcs1ByChannel, Role::kIn, "right operands", kReduced),
    List(kDstsByChannel, Role::kOut, "what it receives", kReduced),
    Some(kGroupParameter, kOpParameter, kChannelIds), kRest);
constexpr auto kBroadcastParameters =
    Join(kSrcs, kDsts,
         Some(kGroupParameter,
              Opt("root", ParameterKind::kInteger, "0",
                  "the position, in each group, of who has the data")),
         kRest);
constexpr auto kVParameters =
    Join(List(kOneSrc, Role::kIn, "one tensor: what this rank has"),
         List(kOneDst, Role::kOut, "one tensor: what it receives"),
         Some(kGroupParameter,
              ParameterSpec{"metadata_tensor", ParameterKind::kTile, true, "",
                            Role::kInOut, kHbmOrSbuf, SetOf(Dtype::kUint32),
                            "uint32: rows of counts and displacements"},
              Opt("recv_counts_known", ParameterKind::kBool, "False",
                  "leaves the row of received counts as it is"),
              Opt("has_rdispls", ParameterKind::kBool, "False",
                  "a fourth row says where received blocks go")),
         // priority and name; stream, trigger and both_cores
         kRest);
static_assert(kVParameters.size() <= kMaxParameters);
constexpr auto kSendParameters =
    Join(Some(In("src", kHbmOrSbuf, kAnyTypeOrPacked, "what this rank sends"),
              Attr("to_rank", ParameterKind::kInteger, "who receives it")),
         kRest);
constexpr auto kRecvParameters =
    Join(Some(Out("dst", kHbmOrSbuf, kAnyTypeOrPacked, "where it goes"),
              Attr("from_rank", ParameterKind::kInteger, "who sends it")),
         kRest);
constexpr auto kBarrierParameters = Join(
    Some(ParameterSpec{"data", ParameterKind::kTile, true, "", Role::kInOut,
                       SetOf(Space::kHbm), kAnyTypeOrPacked,
                       "earlier accesses of it come before, later ones after"},
         kGroupParameter),
    kRest);

Engine TriggerOf(const Call& c, Engine) {
  const Engine asked = Asked(c[ParameterIndex(*c.operation, "trigger")]);
  return asked == Engine::kUnknown ? Engine::kSync : asked;
}

CollectiveKind KindOf(const Call& c) {
  const auto found = std::find(kCollectiveKindNames.begin(),
                               kCollectiveKindNames.end(), c.operation->name);
  return static_cast<CollectiveKind>(found - kCollectiveKindNames.begin());
}

bool ByChannel(CollectiveKind kind) {
  return kind == CollectiveKind::kPermuteImplicit ||
         kind == CollectiveKind::kPermuteImplicitReduce;
}

int64_t GroupIndex(const Call& c) {
  return IntegerOf(c, "replica_group", IntegerOf(c, "source_target_pairs", 0));
}

Operand TensorAt(const Call& c, const TensorList& list, int i) {
  return i < list.count ? OperandOf(list.at(c, i)) : Operand();
}

Attribute Flag(const Call& c, std::string_view name) {
  return Attribute::Boolean(c[ParameterIndex(*c.operation, name)].boolean());
}

// An instruction for each tensor of a list, or each channel.
void Expand(const Call& c, Emitter& e) {
  const CollectiveKind kind = KindOf(c);
  const TensorList srcs = SourcesOf(c);
  const TensorList second = SecondSourcesOf(c);
  const TensorList dsts = DestinationsOf(c);
  const int count = std::max(srcs.count, dsts.count);
  const int op = ParameterIndex(*c.operation, "op");
  const int64_t peer = IntegerOf(
      c, "root", IntegerOf(c, "to_rank", IntegerOf(c, "from_rank", 0)));
  for (int i = 0; i < count; ++i) {
    const bool channel = ByChannel(kind);
    EmitOne(
        c, e, Opcode::kCollective,
        {TensorAt(c, dsts, i), TensorAt(c, srcs, i), TensorAt(c, second, i)},
        {Int(c.queue_set), Int(static_cast<int64_t>(kind)),
         Int(static_cast<int64_t>(op < 0 ? AluOp::kNone : Alu(c[op]))),
         Int(GroupIndex(c)), Int(IntegerOf(c, "collective_dim", 0)),
         Int(channel ? i : 0), Int(channel ? 0 : i), Int(channel ? 1 : count),
         Int(peer), Int(IntegerOf(c, "stream", 0)),
         Int(IntegerOf(c, "priority", -1)), Flag(c, "both_cores")});
  }
}

// A call is used again: lists that are shorter now must not keep what was
// there.
void Clear(Call& c) {
  for (size_t i = 0; i < c.operation->parameters.size(); ++i) {
    c.values[i] = Value::None();
  }
}

// Of a parameter that not every collective has.
void SetIfThere(Call& c, std::string_view name, const Value& value) {
  const int index = ParameterIndex(*c.operation, name);
  if (index >= 0) c.values[static_cast<size_t>(index)] = value;
}

// The values of parameters that every collective has.
void LiftRest(const Expansion& e, Call& c, int64_t groups, int64_t stream,
              int64_t priority, bool both_cores) {
  SetIfThere(c, "replica_group", Value::Integer(groups));
  SetIfThere(c, "source_target_pairs", Value::Integer(groups));
  SetIfThere(c, "stream", Value::Integer(stream));
  SetIfThere(c, "priority",
             priority < 0 ? Value::None() : Value::Integer(priority));
  SetIfThere(c, "name", Value::None());
  SetIfThere(c, "both_cores", Value::Bool(both_cores));
  SetIfThere(c, "trigger", Value::OfEnum(e.instructions[0]->engine));
}

// The collectives of a stream go in order, as the parts of one queue do.
bool HasOneQueue(const Call& c) {
  return c.program->queue_sets[c.queue_set].queues == 1;
}

bool Lift(const Expansion& e, Call& c) {
  using S = slot::Collective;
  const size_t count = e.instructions.size();
  const CollectiveKind kind = KindOf(c);
  Clear(c);
  const auto set_tensor = [&](std::string_view name, size_t i,
                              const Operand& operand) {
    const int first = ParameterIndex(*c.operation, name);
    if (first < 0) return operand.kind == Operand::Kind::kAbsent;
    const size_t repeats =
        c.operation->parameters[static_cast<size_t>(first)].repeats;
    if (i >= repeats) return false;
    c.values[static_cast<size_t>(first) + i] = ValueOf(operand);
    return true;
  };
  for (size_t i = 0; i < count; ++i) {
    const Instruction& instruction = *e.instructions[i];
    if (instruction.opcode != Opcode::kCollective) return false;
    const auto operands = e.core->OperandsOf(instruction);
    const auto a = e.core->AttributesOf(instruction);
    if (a[S::kKind].as<CollectiveKind>() != kind) return false;
    const bool implicit = kind == CollectiveKind::kPermuteImplicit;
    const bool reduce = kind == CollectiveKind::kPermuteImplicitReduce;
    const bool ok = set_tensor(ByChannel(kind) ? "dsts_by_channel"
                               : kind == CollectiveKind::kRecv    ? "dst"
                               : kind == CollectiveKind::kBarrier ? "data"
                                                                  : "dsts",
                               i, operands[S::kDst]) &&
                    set_tensor(implicit ? "srcs_by_channel"
                               : reduce ? "srcs0_by_channel"
                               : kind == CollectiveKind::kSend ? "src"
                                                               : "srcs",
                               i, operands[S::kSrc]) &&
                    set_tensor("srcs1_by_channel", i, operands[S::kSrc1]);
    if (!ok) return false;
  }
  const auto a = e.core->AttributesOf(*e.instructions[0]);
  SetIfThere(c, "op", Value::OfEnum(a[S::kOp].as<AluOp>()));
  SetIfThere(c, "collective_dim", Value::Integer(a[S::kDim].integer()));
  for (const char* name : {"root", "to_rank", "from_rank"}) {
    SetIfThere(c, name, Value::Integer(a[S::kPeer].integer()));
  }
  if (ByChannel(kind)) {
    std::array<int64_t, kMaxChannels> ids = {0, 1, 2, 3};
    SetIfThere(
        c, "channel_ids",
        Value::Ints({ids.data(), std::min<size_t>(count, kMaxChannels)}));
  }
  LiftRest(e, c, a[S::kGroups].integer(), a[S::kStream].integer(),
           a[S::kPriority].integer(), a[S::kBothCores].boolean());
  c.queue_set = static_cast<uint32_t>(a[S::kQueueSet].integer());
  return HasOneQueue(c);
}

void ExpandV(const Call& c, Emitter& e) {
  EmitOne(c, e, Opcode::kCollectiveV,
          {TensorAt(c, DestinationsOf(c), 0), TensorAt(c, SourcesOf(c), 0),
           OperandOf(c[ParameterIndex(*c.operation, "metadata_tensor")])},
          {Int(c.queue_set), Int(static_cast<int64_t>(KindOf(c))),
           Int(GroupIndex(c)), Flag(c, "recv_counts_known"),
           Flag(c, "has_rdispls"), Int(IntegerOf(c, "stream", 0)),
           Int(IntegerOf(c, "priority", -1)), Flag(c, "both_cores")});
}

bool LiftV(const Expansion& e, Call& c) {
  using S = slot::CollectiveV;
  const Instruction& i = *e.instructions[0];
  if (e.instructions.size() != 1 || i.opcode != Opcode::kCollectiveV) {
    return false;
  }
  Clear(c);
  const auto operands = e.core->OperandsOf(i);
  const auto a = e.core->AttributesOf(i);
  if (a[S::kKind].as<CollectiveKind>() != KindOf(c)) return false;
  const auto at = [&](std::string_view name) -> Value& {
    return c.values[static_cast<size_t>(ParameterIndex(*c.operation, name))];
  };
  at("dsts") = ValueOf(operands[S::kDst]);
  at("srcs") = ValueOf(operands[S::kSrc]);
  at("metadata_tensor") = ValueOf(operands[S::kMetadata]);
  at("recv_counts_known") = Value::Bool(a[S::kRecvCountsKnown].boolean());
  at("has_rdispls") = Value::Bool(a[S::kHasRdispls].boolean());
  LiftRest(e, c, a[S::kGroups].integer(), a[S::kStream].integer(),
           a[S::kPriority].integer(), a[S::kBothCores].boolean());
  c.queue_set = static_cast<uint32_t>(a[S::kQueueSet].integer());
  return HasOneQueue(c);
}

// A rule that speaks of a parameter by the name that it has here.
Rule Of(Rule rule, std::string_view parameter) {
  rule.operand = parameter;
  return rule;
}

// The rules of a row, by name.
template <typename... R>
std::span<const Rule> RuleList(const R&... rule) {
  static auto* const all = new std::deque<std::vector<Rule>>;  // kept
  return all->emplace_back(std::vector<Rule>{rule...});
}

OperationInfo Row(std::string_view name,
                  std::span<const ParameterSpec> parameters,
                  std::span<const Rule> rules, std::string_view summary,
                  std::string_view semantics, std::string_view source) {
  return {name, parameters, rules,     TriggerOf, Expand,
          Lift, summary,    semantics, source,    true};
}

OperationInfo RowV(std::string_view name, std::span<const Rule> rules,
                   std::string_view summary, std::string_view semantics,
                   std::string_view source) {
  OperationInfo row =
      Row(name, kVParameters, rules, summary, semantics, source);
  row.expand = ExpandV;
  row.lift = LiftV;
  return row;
}

namespace rank {
enum { kDst, kIteration, kGroups, kChannel, kName };
}
constexpr ParameterSpec kRankParameters[] = {
    Attr("dst", ParameterKind::kRegister, "the register that is written"),
    kNameParameter};
constexpr ParameterSpec kProcessingParameters[] = {
    Attr("dst", ParameterKind::kRegister, "the register that is written"),
    Attr("iteration_id", ParameterKind::kRegisterOrInteger,
         "the step of the ring, from 0"),
    kGroupParameter,
    Opt("channel_id", ParameterKind::kInteger, "0", "the channel"),
    kNameParameter};
Engine Anywhere(const Call&, Engine requested) { return requested; }

bool LiftProcessing(const Expansion& e, Call& c) {
  using S = slot::ProcessingRank;
  const Instruction& i = *e.instructions[0];
  if (i.opcode != Opcode::kProcessingRank) return false;
  const auto operands = e.core->OperandsOf(i);
  const auto a = e.core->AttributesOf(i);
  c.values[rank::kDst] = ValueOf(operands[S::kDst]);
  c.values[rank::kIteration] = ValueOf(operands[S::kIteration]);
  c.values[rank::kGroups] = Value::Integer(a[S::kGroups].integer());
  c.values[rank::kChannel] = Value::Integer(a[S::kChannel].integer());
  c.values[rank::kName] = Value::None();
  return true;
}

std::vector<OperationInfo> Registers() {
  return {
      {"rank_id",
       kRankParameters,
       {},
       Anywhere,
       [](const Call& c, Emitter& e) {
         EmitOne(c, e, Opcode::kRankId, {OperandOf(c[rank::kDst])}, {});
       },
       [](const Expansion& e, Call& c) {
         const Instruction& i = *e.instructions[0];
         if (i.opcode != Opcode::kRankId) return false;
         c.values[0] = ValueOf(e.core->OperandsOf(i)[0]);
         c.values[1] = Value::None();
         return true;
       },
       "The rank that executes it, into a register.",
       "Ranks are numbered over the system (docs/collectives.md).",
       "nki/api/nki/collectives/__init__.py:393",
       true},
      {"collective_permute_implicit_current_processing_rank_id",
       kProcessingParameters, RuleList(kGroups, kChannelId), Anywhere,
       [](const Call& c, Emitter& e) {
         EmitOne(
             c, e, Opcode::kProcessingRank,
             {OperandOf(c[rank::kDst]), OperandOf(c[rank::kIteration])},
             {Int(c[rank::kGroups].integer), Int(c[rank::kChannel].integer)});
       },
       LiftProcessing,
       "The rank whose data a step of an implicit ring has, into a register.",
       "Of iteration 0 the rank's own; of iteration i that of the i-th rank "
       "before it in its replica group, around.",
       "nki/api/nki/collectives/__init__.py:357", true}};
}

std::vector<OperationInfo> Table() {
  std::vector<OperationInfo> rows = {
      Row("all_reduce", kAllReduceParameters,
          RuleList(kLists, kMemory, kTwoDimensions, kCoalesced, kDtypes,
                   kSameSize, kReduction, kInteger, kGroups, kPriority, kStream,
                   kTrigger, kBothCores),
          "Reduces the sources of all ranks of a group, to each of them.",
          "Element by element, in fp32, in the order in which the algorithm "
          "adds. Starts when every rank of the group has triggered it; src and "
          "dst may be the same tensor.",
          "nki/api/nki/collectives/__init__.py:17-35"),
      Row("all_gather", kGatherParameters,
          RuleList(kLists, kMemory, kTwoDimensions, kCoalesced, kDtypes,
                   kGroups, kEqualGroups, kGathered, kGatherDim, kPriority,
                   kStream, kTrigger, kBothCores),
          "Joins the sources of all ranks of a group, in its order, on each.",
          "Bits. Along dimension 0, or 1 for tiles in SBUF.",
          "nki/api/nki/collectives/__init__.py:37-58"),
      Row("reduce_scatter", kReduceScatterParameters,
          RuleList(kLists, kMemory, kTwoDimensions, kCoalesced, kDtypes,
                   kReduction, kInteger, kGroups, kEqualGroups, kScattered,
                   kFirstDim, kPriority, kStream, kTrigger, kBothCores),
          "Reduces the sources of all ranks; the i-th of a group gets part i.",
          "As all_reduce, of which each rank has its part along dimension 0.",
          "nki/api/nki/collectives/__init__.py:144-164"),
      Row("all_to_all", kGatherParameters,
          RuleList(kLists, kHbmOnly, kDtypes, kGroups, kEqualGroups, kSwapped,
                   kFirstDim, kPriority, kStream, kTrigger, kBothCores),
          "Part j of rank i's source becomes part i of rank j's destination.",
          "Bits; parts along dimension 0, ranks by their place in the group.",
          "nki/api/nki/collectives/__init__.py:166-183"),
      Row("collective_permute", kPermuteParameters,
          RuleList(kOneTensor, kHbmOnly, kDtypes, kSameSize, kPairs, kPriority,
                   kStream, kTrigger, kBothCores),
          "Sends from the first rank of each pair to the second.",
          "Bits. The destination of a rank that no pair sends to stays as it "
          "is.",
          "nki/api/nki/collectives/__init__.py:266-287"),
      Row("collective_permute_implicit", kImplicitParameters,
          RuleList(
              Of(kLists, "dsts_by_channel"), Of(kMemory, "dsts_by_channel"),
              Of(kTwoDimensions, "srcs_by_channel"),
              Of(kDtypes, "dsts_by_channel"), Of(kSameSize, "dsts_by_channel"),
              kGroups, kChannels, kPriority, kStream, kTrigger, kBothCores),
          "Sends to the next rank of the group, around, a tensor a channel.",
          "Bits.", "nki/api/nki/collectives/__init__.py:289-319"),
      Row("collective_permute_implicit_reduce", kImplicitReduceParameters,
          RuleList(
              Of(kLists, "dsts_by_channel"), Of(kMemory, "dsts_by_channel"),
              Of(kTwoDimensions, "srcs0_by_channel"),
              Of(kDtypes, "dsts_by_channel"), Of(kSameSize, "dsts_by_channel"),
              kReduction, kInteger, kGroups, kChannels, kPriority, kStream,
              kTrigger, kBothCores),
          "Sends srcs0 op srcs1 to the next rank of the group, around.",
          "Computed in fp32 and rounded to the tensors' dtype by the sender.",
          "nki/api/nki/collectives/__init__.py:321-355"),
      RowV("all_gather_v",
           RuleList(kOneTensor, kHbmOnly, kDtypes, kGroups, kFourRanks,
                    kMetadata, kMetadataShape, kNoDisplacements, kPriority,
                    kStream, kTrigger, kBothCores),
           "all_gather of as many elements as each rank's metadata say.",
           "Flat elements src[displ : displ + count] of rank s go to slot s of "
           "dst, numel(dst) / ranks elements each; the rest of a slot stays as "
           "it is. Row 0 of the metadata is the count, row 1 the displacement "
           "(first column); row 2 gets the received counts unless "
           "recv_counts_known.",
           "nki/api/nki/collectives/__init__.py:60-142"),
      RowV("all_to_all_v",
           RuleList(kOneTensor, kHbmOnly, kDtypes, kGroups, kEqualGroups,
                    kMetadata, kMetadataShape, kPriority, kStream, kTrigger,
                    kBothCores),
           "all_to_all of as many elements as each rank's metadata say.",
           "src[displs[r] : displs[r] + counts[r]] goes to rank r, to its slot "
           "of this rank or, with has_rdispls, where row 3 of the receiver's "
           "metadata says; other bytes of dst stay as they are.",
           "nki/api/nki/collectives/__init__.py:185-264"),
      Row("broadcast", kBroadcastParameters,
          RuleList(kLists, kMemory, kTwoDimensions, kCoalesced, kDtypes,
                   kSameSize, kGroups, kRoot, kPriority, kStream, kTrigger,
                   kBothCores),
          "The sources of the group's root, on each rank; of trnemu.",
          "Bits. Not in nki.collectives.", ""),
      Row("send", kSendParameters,
          RuleList(kPeer, kPriority, kStream, kTrigger, kBothCores),
          "Sends a tensor to the rank that receives it with recv; of trnemu.",
          "The k-th send to a rank meets the k-th recv of it there; size and "
          "dtype must agree. Not in nki.collectives.",
          ""),
      Row("recv", kRecvParameters,
          RuleList(Of(kPeer, "from_rank"), kPriority, kStream, kTrigger,
                   kBothCores),
          "Receives a tensor from the rank that sends it; of trnemu.",
          "See send.", ""),
      Row("collective_barrier", kBarrierParameters,
          RuleList(kGroups, kPriority, kStream, kTrigger, kBothCores),
          "Is complete when all ranks of a group have triggered it; of trnemu.",
          "After this rank's earlier accesses to data, and before its later "
          "ones. Not in nki.collectives.",
          "")};
  for (OperationInfo& row : Registers()) rows.push_back(row);
  return rows;
}

}  // namespace

std::span<const OperationInfo* const> CollectiveOperations() {
  static const auto* const list = [] {
    static const auto* const rows = new std::vector<OperationInfo>(Table());
    auto* pointers = new std::vector<const OperationInfo*>;
    for (const OperationInfo& row : *rows) pointers->push_back(&row);
    return pointers;
  }();
  return *list;
}

}  // namespace trnemu::rows
