#include "frontend/cli/tensors.h"

#include <algorithm>
#include <optional>

#include "frontend/cli/common.h"
#include "isa/access.h"

namespace trnemu::cli {
namespace {

using Tensors = std::vector<const Tensor*>;

std::vector<std::string_view> NamesOf(const Tensors& tensors) {
  std::vector<std::string_view> names;
  for (const Tensor* t : tensors) names.push_back(t->name);
  return names;
}

std::string ListOf(const Tensors& tensors) {
  std::string list;
  for (const Tensor* t : tensors) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", t->name);
  }
  return list.empty() ? "none" : list;
}

std::string Describe(const Tensor& t) {
  return Cat(DescribeShape(t.shape), " ", Name(t.dtype));
}

const Tensor* Find(const Tensors& tensors, std::string_view name) {
  for (const Tensor* t : tensors) {
    if (t->name == name) return t;
  }
  return nullptr;
}

// The options that name tensors of one kind.
class Matcher {
 public:
  Matcher(const Program& program, Tensors tensors, std::string_view option,
          std::string_view noun, std::vector<Diagnostic>& problems)
      : program_(program),
        tensors_(std::move(tensors)),
        option_(option),
        noun_(noun),
        problems_(problems) {}

  // Splits at the "=" that makes NAME a tensor, or at the first one.
  std::optional<std::pair<std::string, std::string>> Split(
      const std::string& text) const;
  // The tensor of that name; otherwise a problem that says what it is.
  const Tensor* FindOrExplain(const std::string& name, const std::string& file);
  // Reads `file` for `tensor`; shape and dtype must fit.
  std::optional<npy::Array> ReadFor(const Tensor& tensor,
                                    const std::string& file,
                                    bool (*fits)(const npy::Array&, Dtype));
  std::vector<NamedArray> ReadAll(const std::vector<std::string>& options,
                                  bool (*fits)(const npy::Array&, Dtype));

  void Add(std::string_view id, const std::string& message,
           std::string_view remedy = "") {
    problems_.push_back(InputError(id, message, remedy));
  }

 private:
  void WrongDtype(const Tensor& t, const std::string& file,
                  const npy::Array& array);

  const Program& program_;
  const Tensors tensors_;
  const std::string option_, noun_;
  std::vector<Diagnostic>& problems_;
};

std::optional<std::pair<std::string, std::string>> Matcher::Split(
    const std::string& text) const {
  for (size_t at = text.find('='); at != text.npos;
       at = text.find('=', at + 1)) {
    if (Find(tensors_, text.substr(0, at)) != nullptr) {
      return std::pair(text.substr(0, at), text.substr(at + 1));
    }
  }
  const size_t first = text.find('=');
  if (first == text.npos) return std::nullopt;
  return std::pair(text.substr(0, first), text.substr(first + 1));
}

const Tensor* Matcher::FindOrExplain(const std::string& name,
                                     const std::string& file) {
  if (const Tensor* t = Find(tensors_, name)) return t;
  const Tensor* other = program_.FindTensor(name);
  if (other != nullptr) {
    const std::string_view kind =
        kTensorKindNames[static_cast<size_t>(other->kind)];
    Add("not_" + noun_,
        Cat(option_, " ", name, "=", file, ": tensor ", name, " is of kind ",
            kind, ", not an ", noun_, " of this program; its ", noun_, "s are ",
            ListOf(tensors_)));
    return nullptr;
  }
  Add("unknown_tensor",
      Cat(option_, " ", name, "=", file, ": the program has no ", noun_,
          " named ", name, DidYouMean(name, NamesOf(tensors_))),
      Cat("its ", noun_, "s are ", ListOf(tensors_)));
  return nullptr;
}

// "float32" where .npy can say it, else what may stand for it.
std::string Spellings(Dtype dtype) {
  const std::string descr = npy::DescrOf(dtype);
  if (descr[1] != 'V') return std::string(Info(dtype).carrier);
  return Cat(Name(dtype), " (in a file: ", descr.substr(1), " or uint",
             SizeOf(dtype) * 8, ")");
}

void Matcher::WrongDtype(const Tensor& t, const std::string& file,
                         const npy::Array& array) {
  const std::string have = npy::TypeName(array.type(), array.descr());
  std::string remedy;
  if (array.type().big_endian && array.type().bytes > 1) {
    remedy = Cat("save array.astype(\"<", array.descr().substr(1), "\")");
  } else if (npy::DescrOf(t.dtype)[1] == 'V') {
    remedy = Cat("save array.astype(ml_dtypes.", Name(t.dtype), ")");
  } else {
    remedy = Cat("save array.astype(\"", Info(t.dtype).carrier,
                 "\"): trnemu never casts silently");
  }
  Add("dtype",
      Cat(noun_, " ", t.name, " is ", Spellings(t.dtype), ", but ", file,
          " holds ", have),
      remedy);
}

std::optional<npy::Array> Matcher::ReadFor(const Tensor& t,
                                           const std::string& file,
                                           bool (*fits)(const npy::Array&,
                                                        Dtype)) {
  absl::StatusOr<npy::Array> array = npy::Read(file);
  if (!array.ok()) {
    Diagnostic d = DiagnosticOf(array.status());
    d.details.emplace_back(noun_, Cat(t.name, ", ", Describe(t)));
    problems_.push_back(std::move(d));
    return std::nullopt;
  }
  if (!fits(*array, t.dtype)) {
    WrongDtype(t, file, *array);
    return std::nullopt;
  }
  if (array->shape() != t.shape) {
    Add("shape",
        Cat(noun_, " ", t.name, " has shape ", DescribeShape(t.shape), ", but ",
            file, " holds an array of shape ", DescribeShape(array->shape())));
    return std::nullopt;
  }
  return *std::move(array);
}

std::vector<NamedArray> Matcher::ReadAll(
    const std::vector<std::string>& options,
    bool (*fits)(const npy::Array&, Dtype)) {
  std::vector<NamedArray> arrays;
  std::vector<std::string> seen;
  for (const std::string& text : options) {
    const auto split = Split(text);
    if (!split || split->second.empty()) {
      Add("usage",
          Cat(option_, " takes NAME=FILE.npy, but was given \"", text, "\""));
      continue;
    }
    const auto& [name, file] = *split;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      Add("usage", Cat(option_, " names ", name, " twice"));
      continue;
    }
    seen.push_back(name);
    const Tensor* tensor = FindOrExplain(name, file);
    if (tensor == nullptr) continue;
    auto array = ReadFor(*tensor, file, fits);
    if (array) arrays.push_back({tensor, file, *std::move(array)});
  }
  return arrays;
}

bool FitsInput(const npy::Array& array, Dtype dtype) {
  return npy::Holds(array.type(), dtype);
}

// Numbers compare with numbers, whatever holds them; raw bytes are taken for
// the tensor's own format.
bool FitsExpected(const npy::Array& array, Dtype dtype) {
  return npy::Holds(array.type(), dtype) ||
         (array.IsNumber() && !IsPacked(dtype));
}

// A byte that is neither 0 nor 1 is no bool.
void CheckBools(const NamedArray& input, std::vector<Diagnostic>& problems) {
  if (input.tensor->dtype != Dtype::kBool) return;
  const auto bytes = input.array.bytes();
  const auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) {
    return std::to_integer<int>(b) > 1;
  });
  if (bad == bytes.end()) return;
  problems.push_back(InputError(
      "bool", Cat(input.file, ": element ", bad - bytes.begin(),
                  " of the bool array is the byte ", std::to_integer<int>(*bad),
                  "; 0 and 1 are bools")));
}

}  // namespace

std::vector<const Tensor*> InputsOf(const Program& program) {
  Tensors tensors;
  for (const Tensor& t : program.tensors) {
    if (t.kind == TensorKind::kInput || t.kind == TensorKind::kInOut) {
      tensors.push_back(&t);
    }
  }
  return tensors;
}

std::vector<const Tensor*> OutputsOf(const Program& program) {
  Tensors tensors;
  for (const Tensor& t : program.tensors) {
    if (t.kind == TensorKind::kOutput || t.kind == TensorKind::kInOut) {
      tensors.push_back(&t);
    }
  }
  return tensors;
}

std::vector<NamedArray> ReadInputs(const Program& program,
                                   const std::vector<std::string>& options,
                                   bool need_all,
                                   std::vector<Diagnostic>& problems) {
  const Tensors wanted = InputsOf(program);
  Matcher matcher(program, wanted, "--input", "input", problems);
  std::vector<NamedArray> arrays = matcher.ReadAll(options, FitsInput);
  for (const NamedArray& array : arrays) CheckBools(array, problems);
  if (!need_all) return arrays;
  for (const Tensor* t : wanted) {
    const std::string prefix = t->name + "=";
    const bool given =
        std::any_of(options.begin(), options.end(), [&](const auto& text) {
          return text.compare(0, prefix.size(), prefix) == 0;
        });
    if (given) continue;
    matcher.Add("missing",
                Cat("input ", t->name, ", ", Describe(*t), ", is missing"),
                Cat("add --input ", t->name, "=FILE.npy"));
  }
  return arrays;
}

std::vector<NamedArray> ReadExpected(const Program& program,
                                     const std::vector<std::string>& options,
                                     std::vector<Diagnostic>& problems) {
  return Matcher(program, OutputsOf(program), "--expect", "output", problems)
      .ReadAll(options, FitsExpected);
}

Inputs AsInputs(const std::vector<NamedArray>& arrays) {
  Inputs inputs;
  for (const NamedArray& a : arrays) {
    inputs[a.tensor->name] = {a.tensor->dtype, true, a.tensor->shape,
                              a.array.bytes()};
  }
  return inputs;
}

}  // namespace trnemu::cli
