#include "core/debug_tensor.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "isa/builder.h"
#include "isa/diagnostic.h"
#include "isa/text_internal.h"

namespace trnemu {
namespace {

constexpr size_t kMaxListed = 12;

std::string_view Stripped(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Diagnostic Wrong(std::string message, std::string remedy) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = "debug.place";
  d.message = std::move(message);
  d.remedy = std::move(remedy);
  return d;
}

std::string Reference(const Program& program, size_t tensor) {
  return absl::StrCat("%", tensor, text::Quote(program.tensors[tensor].name));
}

std::string Describe(const Program& program, size_t tensor) {
  const Tensor& t = program.tensors[tensor];
  std::string line = absl::StrCat(
      Reference(program, tensor), ", ", DescribeShape(t.shape), " ",
      std::string(Name(t.dtype)), " in ", std::string(Name(t.space())));
  if (t.on_chip() && program.cores.size() > 1) {
    absl::StrAppend(&line, " of core ", t.core);
  }
  const std::string source = program.DescribeSource(t.source);
  if (!source.empty()) absl::StrAppend(&line, ", made at ", source);
  return line;
}

std::vector<size_t> TensorsNamed(std::string_view name,
                                 const Program& program) {
  std::vector<size_t> found;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (program.tensors[i].name == name) found.push_back(i);
  }
  return found;
}

absl::Status NoTensor(std::string_view name, const Program& program) {
  std::vector<std::string_view> names;
  for (const Tensor& t : program.tensors) {
    if (std::find(names.begin(), names.end(), t.name) == names.end()) {
      names.push_back(t.name);
    }
  }
  std::string message =
      absl::StrCat("the program has no tensor ", std::string(name));
  const std::string_view nearest = NearestName(name, names);
  if (!nearest.empty()) {
    absl::StrAppend(&message, "; did you mean \"", std::string(nearest), "\"?");
  }
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", std::string(names[i]));
  }
  if (names.size() > kMaxListed) absl::StrAppend(&list, ", ...");
  return ToStatus(Wrong(std::move(message),
                        list.empty() ? "the program has no tensors at all"
                                     : "name one of its tensors: " + list));
}

absl::Status Ambiguous(std::string_view name, const std::vector<size_t>& found,
                       const Program& program) {
  const std::string first = Reference(program, found[0]);
  Diagnostic d =
      Wrong(absl::StrCat("the program has ", found.size(), " tensors named ",
                         std::string(name)),
            absl::StrCat("write which: ", first, " or %", found[0],
                         " (in single quotes for a shell: '", first, "')"));
  for (size_t i = 0; i < std::min(found.size(), kMaxListed); ++i) {
    d.related.push_back(Describe(program, found[i]));
  }
  if (found.size() > kMaxListed) {
    d.related.push_back(absl::StrCat("and ", found.size() - kMaxListed,
                                     " more; trnemu disasm lists them"));
  }
  return ToStatus(std::move(d));
}

// Text that begins with %INDEX; nothing if it does not.
std::optional<absl::StatusOr<NamedTensor>> FindByIndex(std::string_view text,
                                                       const Program& program) {
  if (!text.starts_with('%')) return std::nullopt;
  uint32_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + 1, end, index);
  if (at == text.data() + 1) return std::nullopt;
  const std::string number(text.data(), at);
  if (error != std::errc() || index >= program.tensors.size()) {
    return ToStatus(Wrong(absl::StrCat("the program has no tensor ", number),
                          program.tensors.empty()
                              ? "the program has no tensors at all"
                              : absl::StrCat("its tensors are %0 to %",
                                             program.tensors.size() - 1,
                                             "; trnemu disasm lists them")));
  }
  std::string_view rest(at, static_cast<size_t>(end - at));
  const std::string quoted = text::Quote(program.tensors[index].name);
  if (rest.starts_with(quoted)) rest.remove_prefix(quoted.size());
  rest = Stripped(rest);
  if (!rest.empty() && !rest.starts_with('[')) {
    return ToStatus(
        Wrong(absl::StrCat("tensor ", number, " is called ", quoted, ", but ",
                           std::string(text), " says otherwise"),
              absl::StrCat("write ", number, " or ", number, quoted,
                           ", then perhaps an index")));
  }
  return NamedTensor{index, rest};
}

}  // namespace

absl::StatusOr<NamedTensor> FindNamedTensor(std::string_view text,
                                            const Program& program) {
  const size_t bracket = std::min(text.find('['), text.size());
  const std::string_view name = Stripped(text.substr(0, bracket));
  const auto found = TensorsNamed(name, program);
  if (found.empty()) {
    if (auto by_index = FindByIndex(Stripped(text), program)) {
      return *std::move(by_index);
    }
    return NoTensor(name, program);
  }
  if (found.size() > 1) return Ambiguous(name, found, program);
  return NamedTensor{static_cast<uint32_t>(found[0]), text.substr(bracket)};
}

}  // namespace trnemu
