#include "core/nan_watch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/engines/dma_pieces.h"
#include "core/numerics/convert.h"
#include "core/shadow.h"

namespace trnemu {
namespace {

// Element e of an output depends on element e of inputs of its shape, and on
// its partition of columns. Of other instructions it depends on all of their
// inputs, or on its lane of them.
bool IsElementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTensorTensor:
    case Opcode::kTensorScalar:
    case Opcode::kScalarTensorTensor:
    case Opcode::kTensorCopy:
    case Opcode::kReciprocal:
    case Opcode::kActivate:
    case Opcode::kActivate2:
      return true;
    default:
      return false;
  }
}

bool StaysInLanes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTensorReduce:
    case Opcode::kTensorTensorScan:
    case Opcode::kTensorScalarReduce:
    case Opcode::kTensorScalarCumulative:
    case Opcode::kBnStats:
    case Opcode::kMax8:
      return true;
    default:
      return false;
  }
}

// These write bits that are no result of arithmetic.
bool MovesBits(Opcode opcode) {
  return opcode == Opcode::kRegisterStore || opcode == Opcode::kRng ||
         opcode == Opcode::kRandGetState;
}

bool OnArray(Opcode opcode) {
  return opcode == Opcode::kMultiplyMoving ||
         opcode == Opcode::kMultiplyMovingMx;
}

bool Loads(Opcode opcode) {
  return opcode == Opcode::kLoadStationary ||
         opcode == Opcode::kLoadStationaryMx;
}

// The index of an attribute; -1 if the opcode has none of that name.
int IndexOf(Opcode opcode, std::string_view name) {
  const auto specs = Info(opcode).attributes;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// One byte of a packed element, as fp32; fp4 is always finite.
float Byte(Dtype packed, std::byte byte) {
  if (packed == Dtype::kFloat4E2M1FNX4) return 0;
  float value = 0;
  WidenRow(packed == Dtype::kFloat8E5M2X4 ? Dtype::kFloat8E5M2
                                          : Dtype::kFloat8E4M3FN,
           &byte, 1, 1, {}, &value);
  return value;
}

// Elements as fp32; of a packed one a NaN or an infinity if it holds one, and
// integers as 0.
void Read(Dtype dtype, const std::byte* from, ptrdiff_t step, int64_t n,
          float* out) {
  if (IsFloat(dtype) || dtype == Dtype::kFloat8E8M0FNU) {
    WidenRow(dtype, from, step, static_cast<size_t>(n), {}, out);
    return;
  }
  std::fill_n(out, n, 0.0f);
  if (!IsPacked(dtype)) return;
  for (int64_t i = 0; i < n; ++i, from += step) {
    for (size_t b = 0; b < SizeOf(dtype); ++b) {
      const float value = Byte(dtype, from[b]);
      if (!std::isfinite(value)) out[i] = value;
    }
  }
}

std::string Text(float value) { return absl::StrFormat("%g", value); }

}  // namespace

void NanWatch::Taint::Add(float value) {
  if (std::isfinite(value)) return;
  (std::isnan(value) ? nan : infinite) = true;
}

void NanWatch::Taint::Add(const Taint& other) {
  infinite = infinite || other.infinite;
  nan = nan || other.nan;
}

absl::Status NanWatch::Before(const Effect& effect) {
  num_inputs_ = 0;
  whole_ = {};
  by_element_ = IsElementwise(effect.instruction->opcode);
  by_lane_ = by_element_ || StaysInLanes(effect.instruction->opcode);
  if (effect.kind == Effect::Kind::kPart) return BeforePart(effect);
  return BeforeInstruction(effect);
}

absl::Status NanWatch::BeforeInstruction(const Effect& effect) {
  ReadInputs(effect);
  ReadNumbers(effect);
  ReadHidden(effect);
  return absl::OkStatus();
}

// Whether an operand that is also written counts as an input: of a matmul where
// it is added to.
bool NanWatch::AddsToOutput(const Effect& effect, size_t operand) const {
  const Opcode opcode = effect.instruction->opcode;
  if (!OnArray(opcode) || operand != 0) return true;
  const auto attributes =
      program_.cores[effect.core].AttributesOf(*effect.instruction);
  const int index = IndexOf(opcode, "accumulate");
  const auto accumulate =
      attributes[static_cast<size_t>(index)].as<Accumulate>();
  if (accumulate == Accumulate::kFalse) return false;
  if (accumulate == Accumulate::kTrue) return true;
  const unsigned matmul = 1u << static_cast<unsigned>(PsumWriter::kMatmul);
  return (PsumWriters(effect.slots[0].tile) & matmul) != 0;
}

void NanWatch::ReadInputs(const Effect& effect) {
  const auto specs = Info(effect.instruction->opcode).operands;
  size_t last = SIZE_MAX;
  bool used = false;
  ForEachRead(effect, [&](const Stretch& s) {
    if (s.operand != last) {
      last = s.operand;
      used = AddsToOutput(effect, s.operand) && !IsInteger(s.tile->dtype);
      if (used) {
        if (num_inputs_ == inputs_.size()) inputs_.emplace_back();
        Input& input = inputs_[num_inputs_++];
        input.name = std::string(specs[s.operand].name);
        input.partitions = s.tile->partitions;
        input.size = s.tile->free_size;
        input.values.resize(static_cast<size_t>(input.partitions * input.size));
        input.taint = {};
      }
    }
    if (!used) return;
    Input& input = inputs_[num_inputs_ - 1];
    float* const to =
        input.values.data() + s.partition * input.size + s.element;
    Read(s.tile->dtype, s.data(), s.step, s.count, to);
    for (int64_t i = 0; i < s.count; ++i) input.taint.Add(to[i]);
  });
}

// Immediates, fill values.
void NanWatch::ReadNumbers(const Effect& effect) {
  for (const Slot& slot : effect.slots) {
    if (slot.kind == Operand::Kind::kImmediate) whole_.Add(slot.immediate);
  }
  const auto specs = Info(effect.instruction->opcode).attributes;
  const auto attributes =
      program_.cores[effect.core].AttributesOf(*effect.instruction);
  for (size_t a = 0; a < specs.size(); ++a) {
    if (specs[a].type != AttributeType::kDouble) continue;
    whole_.Add(static_cast<float>(attributes[a].real()));
  }
}

// What an instruction reads besides its operands: the loaded tile, the running
// sums of the lanes.
void NanWatch::ReadHidden(const Effect& effect) {
  const Opcode opcode = effect.instruction->opcode;
  const auto attributes =
      program_.cores[effect.core].AttributesOf(*effect.instruction);
  if (Loads(opcode) || OnArray(opcode)) {
    const int row = IndexOf(opcode, "start_row");
    const int column = IndexOf(opcode, "start_column");
    const Place place = {
        effect.core, attributes[static_cast<size_t>(row)].integer(),
        column < 0 ? 0 : attributes[static_cast<size_t>(column)].integer()};
    if (OnArray(opcode)) {
      whole_.Add(loaded_[place]);
      return;
    }
    Taint taint;
    for (size_t i = 0; i < num_inputs_; ++i) taint.Add(inputs_[i].taint);
    loaded_[place] = taint;
    return;
  }
  accumulators_[0] = effect.state->scalar_accumulators;
  accumulators_[1] = effect.state->vector_accumulators;
  const bool scalar = opcode == Opcode::kReadAccumulator;
  const bool vector = opcode == Opcode::kReadVectorAccumulator ||
                      opcode == Opcode::kTensorScalarCumulative;
  if (!scalar && !vector) return;
  for (const float value : accumulators_[vector ? 1 : 0]) whole_.Add(value);
}

// Bits that are moved are no birth; casts and sums go by the order in which
// they are moved.
absl::Status NanWatch::BeforePart(const Effect& effect) {
  const DmaTransfer& t = *effect.dma;
  if (t.opcode != Opcode::kDmaCompute &&
      t.srcs[0].tile.dtype == t.dst.tile.dtype) {
    return absl::OkStatus();
  }
  by_element_ = true;
  const auto specs = Info(effect.instruction->opcode).operands;
  num_inputs_ = static_cast<size_t>(t.num_srcs);
  if (inputs_.size() < num_inputs_) inputs_.resize(num_inputs_);
  for (size_t s = 0; s < num_inputs_; ++s) {
    inputs_[s].name = std::string(specs[s + 1].name);
    inputs_[s].partitions = 1;
    inputs_[s].size = effect.elements.count;
    inputs_[s].values.assign(static_cast<size_t>(effect.elements.count), 0);
    inputs_[s].taint = {};
  }
  std::vector<int64_t> at(num_inputs_, 0);
  ForEachRead(effect, [&](const Stretch& s) {
    const size_t source = s.operand - 1;
    Input& input = inputs_[source];
    float* const to = input.values.data() + at[source];
    Read(s.tile->dtype, s.data(), s.step, s.count, to);
    for (int64_t i = 0; i < s.count; ++i) input.taint.Add(to[i]);
    at[source] += s.count;
  });
  return absl::OkStatus();
}

NanWatch::Taint NanWatch::Causes(const Spot& spot) const {
  Taint causes = whole_;
  for (size_t i = 0; i < num_inputs_; ++i) {
    const Input& input = inputs_[i];
    if (!input.taint.nan && !input.taint.infinite) continue;
    if (!by_lane_ || input.partitions != spot.partitions) {
      causes.Add(input.taint);
      continue;
    }
    const float* const row = input.values.data() + spot.partition * input.size;
    if (by_element_ && (input.size == spot.size || input.size == 1)) {
      causes.Add(row[input.size == 1 ? 0 : spot.element]);
      continue;
    }
    for (int64_t e = 0; e < input.size; ++e) causes.Add(row[e]);
  }
  return causes;
}

absl::Status NanWatch::After(const Effect& effect) {
  if (effect.kind != Effect::Kind::kInstruction &&
      effect.kind != Effect::Kind::kPart) {
    return absl::OkStatus();
  }
  if (MovesBits(effect.instruction->opcode)) return absl::OkStatus();
  const bool part = effect.kind == Effect::Kind::kPart;
  if (part && num_inputs_ == 0) return absl::OkStatus();
  absl::Status status;
  int64_t flat = 0;
  ForEachWritten(effect, [&](const Stretch& s) {
    if (status.ok()) status = LookAt(effect, s, part ? flat : -1);
    flat += s.count;
  });
  if (status.ok() && !part) status = LookAtAccumulators(effect);
  return status;
}

absl::Status NanWatch::LookAt(const Effect& effect, const Stretch& s,
                              int64_t flat) {
  const Tile& tile = *s.tile;
  if (!IsFloat(tile.dtype)) return absl::OkStatus();
  row_.resize(static_cast<size_t>(s.count));
  Read(tile.dtype, s.data(), s.step, s.count, row_.data());
  const auto size = static_cast<int64_t>(SizeOf(tile.dtype));
  for (int64_t i = 0; i < s.count; ++i) {
    const float value = row_[static_cast<size_t>(i)];
    if (std::isfinite(value)) continue;
    // What an instruction has left out may never have been written.
    const ptrdiff_t at =
        s.partition * tile.partition_stride + s.offset + i * s.step;
    if (tile.shadow.tracked() && !tile.shadow.AllSet(at, size)) continue;
    Spot spot = {
        s.partition, s.element + i, tile.partitions, tile.free_size, "", ""};
    if (flat >= 0) spot = {0, flat + i, 1, effect.elements.count, "", ""};
    const Taint causes = Causes(spot);
    if (causes.nan || (causes.infinite && std::isinf(value))) continue;
    const auto& spec = Info(effect.instruction->opcode).operands[s.operand];
    spot.operand = std::string(spec.name);
    const int64_t address = s.address() + i * s.step;
    spot.where =
        tile.space == Space::kHbm
            ? absl::StrCat("element ", address / size, " of the HBM tensor")
            : absl::StrCat("partition ", tile.first_partition + s.partition,
                           ", element ", s.element + i);
    return Report(value, spot, causes);
  }
  return absl::OkStatus();
}

absl::Status NanWatch::LookAtAccumulators(const Effect& effect) {
  const Opcode opcode = effect.instruction->opcode;
  const int index = IndexOf(opcode, "reduce_cmd");
  if (index < 0) return absl::OkStatus();
  const auto command =
      program_.cores[effect.core]
          .AttributesOf(*effect.instruction)[static_cast<size_t>(index)]
          .as<ReduceCmd>();
  // What a reset leaves is no birth.
  if (command == ReduceCmd::kIdle || command == ReduceCmd::kReset) {
    return absl::OkStatus();
  }
  const bool scalar = effect.instruction->engine == Engine::kScalar;
  const auto& now = scalar ? effect.state->scalar_accumulators
                           : effect.state->vector_accumulators;
  const auto& before = accumulators_[scalar ? 0 : 1];
  const bool by_element = by_element_;
  by_element_ = false;  // a lane's sum is over the lane
  absl::Status status;
  Spot spot;
  spot.partitions = effect.slots[0].tile.partitions;
  spot.operand = "reduce_res";
  for (spot.partition = 0; spot.partition < spot.partitions; ++spot.partition) {
    const auto lane = static_cast<size_t>(spot.partition);
    if (std::isfinite(now[lane])) continue;
    Taint causes = Causes(spot);
    if (command == ReduceCmd::kReduce) causes.Add(before[lane]);
    if (causes.nan || (causes.infinite && std::isinf(now[lane]))) continue;
    spot.where = absl::StrCat("lane ", lane, " of the accumulators");
    status = Report(now[lane], spot, causes);
    break;
  }
  by_element_ = by_element;
  return status;
}

absl::Status NanWatch::Report(float value, const Spot& spot,
                              const Taint& causes) {
  const bool nan = std::isnan(value);
  Diagnostic d;
  d.category = Category::kLimit;
  d.id = nan ? "nan.produced" : "nan.infinity_produced";
  d.operand = spot.operand;
  d.message = absl::StrCat(
      spot.operand, " became ", Text(value), " at ", spot.where, "; ",
      causes.infinite
          ? "an input that it depends on was infinite, and none was NaN"
          : "every input that it depends on was finite");
  d.details.emplace_back("place", spot.where);
  d.details.emplace_back("value", Text(value));
  for (size_t i = 0; i < num_inputs_ && by_element_; ++i) {
    const Input& input = inputs_[i];
    if (input.partitions != spot.partitions ||
        (input.size != spot.size && input.size != 1)) {
      continue;
    }
    const int64_t e = input.size == 1 ? 0 : spot.element;
    d.details.emplace_back(absl::StrCat("value_of_", input.name),
                           Text(input.values[static_cast<size_t>(
                               spot.partition * input.size + e)]));
  }
  d.remedy = absl::StrCat("repair what led here; --allow ", d.id,
                          " reports it and goes on");
  if (std::find(options_.allow.begin(), options_.allow.end(), d.id) !=
      options_.allow.end()) {
    sink_.Warn(std::move(d));
    return absl::OkStatus();
  }
  return ToStatus(std::move(d));
}

}  // namespace trnemu
