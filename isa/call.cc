#include "isa/call.h"

#include <algorithm>

namespace trnemu {

Value Value::Of(const Access& access) {
  Value v;
  v.kind = Kind::kAccess;
  v.access = access;
  return v;
}

Value Value::Number(double number) {
  Value v;
  v.kind = Kind::kNumber;
  v.number = number;
  return v;
}

Value Value::Integer(int64_t integer) {
  Value v;
  v.kind = Kind::kNumber;
  v.is_integer = true;
  v.integer = integer;
  v.number = static_cast<double>(integer);
  return v;
}

Value Value::Bool(bool value) {
  Value v;
  v.kind = Kind::kBool;
  v.integer = value ? 1 : 0;
  return v;
}

Value Value::Pattern(std::span<const Dim> dims) {
  Value v;
  v.kind = Kind::kPattern;
  v.access.rank = static_cast<uint8_t>(std::min<size_t>(dims.size(), kMaxDims));
  std::copy_n(dims.begin(), v.access.rank, v.access.dims.begin());
  return v;
}

Value Value::Register(uint32_t number) {
  Value v;
  v.kind = Kind::kRegister;
  v.integer = number;
  return v;
}

Value Value::Mask(std::span<const int64_t> lanes) {
  Value v;
  v.kind = Kind::kMask;
  v.num_ints = static_cast<uint8_t>(std::min<size_t>(lanes.size(), 255));
  constexpr int64_t kNoLane = 254;
  for (size_t i = 0; i < std::min<size_t>(lanes.size(), 32); ++i) {
    const int64_t lane = lanes[i] < 0 || lanes[i] > 255 ? kNoLane : lanes[i];
    v.ints[i / 8] |= lane << (i % 8 * 8);
  }
  return v;
}

Value Value::Ints(std::span<const int64_t> ints) {
  Value v;
  v.kind = Kind::kInts;
  v.num_ints = static_cast<uint8_t>(std::min<size_t>(ints.size(), kMaxInts));
  std::copy_n(ints.begin(), v.num_ints, v.ints.begin());
  return v;
}

namespace {

const Tensor& TensorOf(const Call& call, const Value& v) {
  return call.program->tensors[v.access.tensor];
}

}  // namespace

absl::StatusOr<Value> ToValue(const View& view, bool keep_dims) {
  Value value;
  absl::Status ok = SetTile(view, keep_dims, value);
  if (!ok.ok()) return ok;
  return value;
}

absl::Status SetTile(const View& view, bool keep_dims, Value& value) {
  absl::StatusOr<Access> access = PatternOf(view, keep_dims);
  if (!access.ok()) return std::move(access).status();
  value = Value::Of(*access);
  if (view.indirection) {
    value.indirection = std::make_shared<const Indirection>(*view.indirection);
  }
  return absl::OkStatus();
}

int64_t StartOfIndex(const Call& call, const Value& v) {
  const Indirection* i = call.IndirectionOf(v);
  if (i == nullptr || !i->has_index()) return -1;
  return call.program->tensors[i->index.tensor].start_partition +
         int64_t{i->index.start_partition};
}

int64_t StartPartition(const Call& call, const Value& v) {
  return TensorOf(call, v).start_partition + int64_t{v.access.start_partition};
}

int64_t ByteAddress(const Call& call, const Value& v) {
  return static_cast<int64_t>(TensorOf(call, v).byte_address) +
         v.access.offset * static_cast<int64_t>(SizeOf(v.access.dtype));
}

int64_t PsumBanks(const Call& call, const Value& v) {
  const int64_t bank = call.hardware->memory.psum_bank_bytes;
  const auto [low, high] = v.access.Extent();
  const int64_t size = static_cast<int64_t>(SizeOf(v.access.dtype));
  const int64_t start = ByteAddress(call, v);
  return (start + high * size + size - 1) / bank - (start + low * size) / bank +
         1;
}

}  // namespace trnemu
