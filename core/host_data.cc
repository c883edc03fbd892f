#include "core/host_data.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "isa/builder.h"
#include "isa/passes/accesses.h"

namespace trnemu {
namespace {

bool IsInput(const Tensor& t) {
  return t.kind == TensorKind::kInput || t.kind == TensorKind::kInOut;
}
// As what malloc gives, so that no element lies across its own size.
bool IsAligned(const std::byte* data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(std::max_align_t) == 0;
}
bool IsOutput(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kInOut;
}

absl::Status InputFault(std::string_view id, std::string message) {
  return MakeFault(Category::kInput, id, message);
}

std::string ShapeAndDtype(std::span<const int64_t> shape, Dtype dtype) {
  return absl::StrCat(DescribeShape(shape), " ", std::string(Name(dtype)));
}

absl::Status CheckInput(const Tensor& t, const InputArray& a) {
  if (a.shape != t.shape) {
    return InputFault("input.shape",
                      absl::StrCat("input ", t.name, " must have shape ",
                                   DescribeShape(t.shape), ", but it has ",
                                   DescribeShape(a.shape)));
  }
  const bool same_carrier = Info(t.dtype).carrier == Info(a.dtype).carrier;
  const bool raw = a.raw_bits && SizeOf(a.dtype) == SizeOf(t.dtype);
  if (!same_carrier && !raw) {
    return InputFault(
        "input.dtype",
        absl::StrCat("input ", t.name, " must be ", std::string(Name(t.dtype)),
                     ", but it is ", std::string(Name(a.dtype)),
                     "; nothing is cast silently"));
  }
  if (static_cast<int64_t>(a.bytes.size()) != t.nbytes()) {
    return InputFault(
        "input.size",
        absl::StrCat("input ", t.name, " of ", ShapeAndDtype(t.shape, t.dtype),
                     " needs ", t.nbytes(), " bytes but has ", a.bytes.size()));
  }
  return absl::OkStatus();
}

// "[0, 3]": the index of a flat element.
std::string IndexOf(std::span<const int64_t> shape, int64_t element) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

// Bytes and elements that have not been written.
struct Missing {
  int64_t first_end = 0;  // of the first bytes without a gap
  int64_t bytes = 0;
  int64_t elements = 0;
};

Missing CountMissing(const WrittenBits& shadow, int64_t first, int64_t nbytes,
                     int64_t size) {
  Missing missing;
  missing.first_end = first;
  int64_t last = -1;  // element
  for (int64_t at = first; at < nbytes;) {
    ++missing.bytes;
    if (at / size != last) ++missing.elements;
    last = at / size;
    if (missing.first_end == at) ++missing.first_end;
    ++at;
    at += shadow.FirstClear(at, nbytes - at);
  }
  return missing;
}

absl::Status CheckOutput(const Program& program, const Tensor& t,
                         const WrittenBits& shadow) {
  const int64_t at = shadow.FirstClear(0, t.nbytes());
  if (at == t.nbytes()) return absl::OkStatus();
  const auto size = static_cast<int64_t>(SizeOf(t.dtype));
  const Missing missing = CountMissing(shadow, at, t.nbytes(), size);
  Diagnostic d;
  d.category = Category::kUninitialized;
  d.id = "output.unwritten";
  d.operand = t.name;
  d.message =
      absl::StrCat("output ", t.name, " of ", ShapeAndDtype(t.shape, t.dtype),
                   " was not written in full: ", missing.elements, " of ",
                   t.size(), " elements were not, the first at ",
                   IndexOf(t.shape, at / size), " (byte ", at, ")");
  d.details = {
      {"first_element", IndexOf(t.shape, at / size)},
      {"byte_range", absl::StrCat("[", at, ", ", missing.first_end, ")")},
      {"unwritten_bytes", absl::StrCat(missing.bytes)},
      {"unwritten_elements", absl::StrCat(missing.elements)}};
  d.source = program.DescribeSource(t.source);
  d.remedy = "write every element of the output, or make it smaller";
  return ToStatus(std::move(d));
}

std::vector<std::string_view> InputNames(const Program& program) {
  std::vector<std::string_view> names;
  for (const Tensor& t : program.tensors) {
    if (IsInput(t)) names.push_back(t.name);
  }
  return names;
}

}  // namespace

absl::Status CheckInputs(const Program& program, const Inputs& inputs,
                         bool have_inouts, bool values) {
  const auto names = InputNames(program);
  for (const auto& [name, array] : inputs) {
    const Tensor* tensor = nullptr;
    for (const Tensor& t : program.tensors) {
      if (IsInput(t) && t.name == name) tensor = &t;
    }
    if (tensor == nullptr) {
      std::string message =
          absl::StrCat("the program has no input named \"", name, "\"");
      const std::string_view nearest = NearestName(name, names);
      if (!nearest.empty()) {
        absl::StrAppend(&message, "; the nearest is \"", std::string(nearest),
                        "\"");
      }
      if (names.empty()) absl::StrAppend(&message, "; it has no inputs");
      return InputFault("input.unknown", message);
    }
    absl::Status ok = CheckInput(*tensor, array);
    if (!ok.ok()) return ok;
  }
  if (!values) return absl::OkStatus();
  for (const Tensor& t : program.tensors) {
    if (!IsInput(t) || inputs.find(t.name) != inputs.end()) continue;
    if (t.kind == TensorKind::kInOut && have_inouts) continue;
    return InputFault(
        "input.missing",
        absl::StrCat("input ", t.name, " of ", ShapeAndDtype(t.shape, t.dtype),
                     " is missing"));
  }
  return absl::OkStatus();
}

std::vector<InputUse> FindInputUses(const Program& program) {
  std::vector<bool> read(program.tensors.size()), written(read.size());
  for (const CoreProgram& core : program.cores) {
    for (const auto& stream : core.streams) {
      for (const Instruction& i : stream) {
        ForEachAccess(core, i, [&](const Access& access, Role role, bool) {
          if (role != Role::kOut) read[access.tensor] = true;
          if (role != Role::kIn) written[access.tensor] = true;
        });
      }
    }
  }
  std::vector<InputUse> uses(read.size(), InputUse::kCopied);
  for (size_t i = 0; i < uses.size(); ++i) {
    const TensorKind kind = program.tensors[i].kind;
    if (kind == TensorKind::kInput && !written[i]) uses[i] = InputUse::kLent;
    if (kind == TensorKind::kInOut && !read[i]) uses[i] = InputUse::kGaps;
  }
  return uses;
}

void PrepareHbm(const Program& program, const Inputs& inputs,
                std::span<const InputUse> uses, bool zero,
                std::vector<HbmBlock>& blocks) {
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& t = program.tensors[i];
    if (t.on_chip()) continue;
    HbmBlock& block = blocks[i];
    bool written = IsInput(t) || t.kind == TensorKind::kConstant;
    if (const auto it = inputs.find(t.name); it != inputs.end() && IsInput(t)) {
      const auto& bytes = it->second.bytes;
      const InputUse use = uses.empty() ? InputUse::kCopied : uses[i];
      if (use == InputUse::kGaps) {
        written = false;
      } else if (use == InputUse::kLent && IsAligned(bytes.data())) {
        block.Lend(const_cast<std::byte*>(bytes.data()));
      } else {
        std::memcpy(block.data(), bytes.data(), bytes.size());
      }
    }
    if (written) {
      block.shadow().Set(0, t.nbytes());
    } else {
      block.ClearShadow();
      if (zero) block.ClearData();
    }
  }
}

void FillGaps(const Program& program, const Inputs& inputs,
              std::span<const InputUse> uses, std::vector<HbmBlock>& blocks) {
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto it = inputs.find(program.tensors[i].name);
    if (uses[i] != InputUse::kGaps || it == inputs.end()) continue;
    const auto& bytes = it->second.bytes;
    const auto end = static_cast<int64_t>(bytes.size());
    const WrittenBits shadow = blocks[i].shadow();
    for (int64_t at = shadow.FirstClear(0, end); at < end;) {
      const int64_t n = shadow.FirstSet(at, end - at);
      std::memcpy(blocks[i].data() + at, bytes.data() + at,
                  static_cast<size_t>(n));
      shadow.Set(at, n);
      at += n;
      at += shadow.FirstClear(at, end - at);
    }
  }
}

absl::StatusOr<std::map<std::string, HostArray>> CollectOutputs(
    const Program& program, const std::vector<HbmBlock>& blocks, bool check,
    const OutputMemory& into) {
  std::map<std::string, HostArray> outputs;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& t = program.tensors[i];
    if (!IsOutput(t)) continue;
    const size_t bytes = static_cast<size_t>(t.nbytes());
    if (check) {
      absl::Status written = CheckOutput(program, t, blocks[i].shadow());
      if (!written.ok()) return written;
    }
    if (into.contains(t.name)) continue;
    HostArray& array = outputs[t.name];
    array.dtype = t.dtype;
    array.shape = t.shape;
    array.bytes.assign(blocks[i].data(), blocks[i].data() + bytes);
  }
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& t = program.tensors[i];
    const auto to = into.find(t.name);
    if (!IsOutput(t) || to == into.end()) continue;
    std::memcpy(to->second.data(), blocks[i].data(), to->second.size());
  }
  return outputs;
}

}  // namespace trnemu
