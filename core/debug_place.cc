#include "core/debug_place.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/debug_tensor.h"
#include "core/layout.h"
#include "isa/builder.h"

namespace trnemu {
namespace {

absl::Status Unknown(const std::string& message, const std::string& remedy) {
  Diagnostic d;
  d.category = Category::kInput;
  d.id = "debug.place";
  d.message = message;
  d.remedy = remedy;
  return ToStatus(std::move(d));
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || text.empty()) return std::nullopt;
  return value;
}

std::string Nearest(std::string_view name,
                    const std::vector<std::string_view>& names) {
  const std::string_view nearest = NearestName(name, names);
  return nearest.empty()
             ? ""
             : absl::StrCat("; did you mean \"", std::string(nearest), "\"?");
}

// "dir/k.py" for "k.py", not "dir/ok.py".
bool IsFile(std::string_view file, std::string_view given) {
  if (!file.ends_with(given)) return false;
  return file.size() == given.size() ||
         file[file.size() - given.size() - 1] == '/';
}

template <typename Found>
bool AnyInstruction(const Program& program, Found found) {
  for (const CoreProgram& core : program.cores) {
    for (const auto& stream : core.streams) {
      for (const Instruction& i : stream) {
        if (found(i)) return true;
      }
    }
  }
  return false;
}

absl::Status NoSuchLine(const std::string& text, std::string_view file,
                        const Program& program) {
  std::set<uint32_t> numbers;
  AnyInstruction(program, [&](const Instruction& i) {
    if (i.source == kNoSource) return false;
    const SourceLocation& s = program.sources[i.source];
    if (IsFile(program.files[s.file], file)) numbers.insert(s.line);
    return false;
  });
  std::string lines;
  int listed = 0;
  for (const uint32_t line : numbers) {
    if (++listed > 8) break;
    absl::StrAppend(&lines, lines.empty() ? "" : ", ", line);
  }
  std::vector<std::string_view> files(program.files.begin(),
                                      program.files.end());
  if (lines.empty()) {
    return Unknown(absl::StrCat("no instruction comes from a file ",
                                std::string(file), Nearest(file, files)),
                   files.empty()
                       ? "the program does not say where its instructions come "
                         "from: name an operation or a number"
                       : absl::StrCat("name a file of the program, such as ",
                                      program.files[0], ":LINE"));
  }
  return Unknown(absl::StrCat("no instruction comes from ", text,
                              "; instructions come from lines ", lines,
                              listed > 8 ? ", ..." : "", " of it"),
                 "choose one of those lines");
}

absl::StatusOr<Index> ParseIndex(std::string_view text,
                                 const std::string& whole) {
  Index index;
  const std::string item(
      absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
  const absl::Status wrong =
      Unknown(absl::StrCat("\"", item, "\" in ", whole, " is no index"),
              "write numbers and slices as in NumPy: t[0:4, 8]");
  if (item == "...") {
    index.kind = Index::Kind::kEllipsis;
    return index;
  }
  const std::vector<std::string> ends = absl::StrSplit(item, ':');
  if (ends.size() == 1) {
    const auto value = Number(item);
    if (!value) return wrong;
    index.kind = Index::Kind::kInteger;
    index.value = *value;
    return index;
  }
  if (ends.size() > 3) return wrong;
  std::optional<int64_t> values[3];
  for (size_t i = 0; i < ends.size(); ++i) {
    const std::string end(absl::StripAsciiWhitespace(ends[i]));
    if (end.empty()) continue;
    values[i] = Number(end);
    if (!values[i]) return wrong;
  }
  index.start = values[0];
  index.stop = values[1];
  index.step = values[2].value_or(1);
  return index;
}

// "3:4096+4": partition, first byte, count; empty if it is not that.
std::vector<int64_t> ParseBytes(std::string_view text) {
  std::vector<int64_t> numbers;
  const size_t colon = std::min(text.find(':'), text.size());
  const size_t plus = std::min(text.find('+'), text.size());
  if (colon > plus) return {};
  const std::string_view pieces[] = {
      text.substr(0, colon),
      text.substr(std::min(colon + 1, plus), plus - std::min(colon + 1, plus)),
      plus == text.size() ? "1" : text.substr(plus + 1)};
  for (const std::string_view piece : pieces) {
    const auto number = Number(piece);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

WatchPlace::Range RangeOf(const Runner& runner, size_t core, Space space,
                          int64_t partition, int64_t begin, int64_t end) {
  CoreMemory& memory = *runner.machine().cores[core];
  OnChipMemory& on_chip = space == Space::kPsum ? memory.psum : memory.sbuf;
  WatchPlace::Range r;
  r.core = core;
  r.space = space;
  r.partition = partition;
  r.begin = begin;
  r.end = end;
  r.data = on_chip.at(static_cast<uint32_t>(partition), begin);
  r.shadow = on_chip.shadow_at(static_cast<uint32_t>(partition), begin);
  return r;
}

}  // namespace

bool Breakpoint::Matches(const Instruction& i) const {
  switch (kind) {
    case Kind::kNumber:
      return i.order == number;
    case Kind::kOperation:
      return operations[i.operation] && i.step == 0;
    case Kind::kLine:
      return i.source != kNoSource && sources[i.source];
  }
  return false;
}

absl::StatusOr<Breakpoint> ParseBreakpoint(const std::string& text,
                                           const Program& program) {
  Breakpoint b;
  b.text = text;
  const auto matches = [&](const Instruction& i) { return b.Matches(i); };
  if (const auto number = Number(text)) {
    b.number = *number;
    if (AnyInstruction(program, matches)) return b;
    return Unknown(absl::StrCat("the program has no instruction ", text),
                   "choose a number that trnemu disasm shows, as #12");
  }
  const size_t colon = text.rfind(':');
  if (colon != text.npos) {
    b.kind = Breakpoint::Kind::kLine;
    const auto line = Number(std::string_view(text).substr(colon + 1));
    if (!line) {
      return Unknown(absl::StrCat("\"", text, "\" is no FILE:LINE"),
                     "write the number of a line behind the colon: k.py:7");
    }
    const std::string_view file = std::string_view(text).substr(0, colon);
    for (const SourceLocation& s : program.sources) {
      b.sources.push_back(s.line == *line &&
                          IsFile(program.files[s.file], file));
    }
    if (AnyInstruction(program, matches)) return b;
    return NoSuchLine(text, file, program);
  }
  b.kind = Breakpoint::Kind::kOperation;
  for (const std::string& name : program.operations) {
    b.operations.push_back(name == text);
  }
  if (AnyInstruction(program, matches)) return b;
  std::vector<std::string_view> names(program.operations.begin(),
                                      program.operations.end());
  return Unknown(
      absl::StrCat("the program has no operation ", text, Nearest(text, names)),
      "name an operation of the program (trnemu disasm lists "
      "them), an instruction's number or FILE:LINE");
}

absl::StatusOr<TensorPlace> ParseTensorPlace(const std::string& text,
                                             const Program& program) {
  TensorPlace place;
  place.text = text;
  auto named = FindNamedTensor(text, program);
  if (!named.ok()) return named.status();
  const Tensor* const tensor = &program.tensors[named->tensor];
  const std::string_view bracketed = named->rest;
  View view = WholeTensor(named->tensor, tensor->name, tensor->space(),
                          tensor->dtype, tensor->shape);
  if (!bracketed.empty()) {
    if (bracketed.back() != ']') {
      return Unknown(absl::StrCat(text, " has no ] at its end"),
                     "close the index: t[0:4]");
    }
    std::vector<Index> indices;
    const std::string inside(bracketed.substr(1, bracketed.size() - 2));
    for (const auto item : absl::StrSplit(inside, ',')) {
      auto index = ParseIndex(std::string_view(item.data(), item.size()), text);
      if (!index.ok()) return index.status();
      indices.push_back(*index);
    }
    auto sliced = Slice(view, indices);
    if (!sliced.ok()) {
      return Unknown(
          absl::StrCat(text, ": ", DiagnosticOf(sliced.status()).message),
          absl::StrCat("stay inside ", tensor->name, ", which is ",
                       DescribeShape(tensor->shape)));
    }
    view = *std::move(sliced);
  }
  auto access = PatternOf(view, true);
  if (!access.ok()) access = ToAccess(view);
  if (!access.ok()) return access.status();
  place.access = *access;
  place.shape = view.Shape();
  place.core = tensor->core;
  return place;
}

TensorValues ReadTensor(const Runner& runner, const TensorPlace& place) {
  Tile tile;
  runner.placement().Resolve(place.core, place.access, tile);
  const auto size = static_cast<int64_t>(SizeOf(tile.dtype));
  TensorValues values;
  values.dtype = tile.dtype;
  values.shape = place.shape;
  const int64_t elements = tile.partitions * tile.free_size;
  values.bytes.reserve(static_cast<size_t>(elements * size));
  values.written.reserve(static_cast<size_t>(elements * size));
  ForEachRun(
      FlatLayout(tile), 0, elements, [&](ptrdiff_t offset, int64_t, int64_t n) {
        const ptrdiff_t step = FlatLayout(tile).step();
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t b = 0; b < size; ++b) {
            const ptrdiff_t at = offset + i * step + b;
            values.bytes.push_back(tile.base[at]);
            values.written.push_back(!tile.shadow.tracked() || tile.shadow[at]);
          }
        }
      });
  return values;
}

WatchPlace WatchOf(const TensorPlace& place, const Runner& runner) {
  Tile tile;
  runner.placement().Resolve(place.core, place.access, tile);
  const auto size = static_cast<int64_t>(SizeOf(tile.dtype));
  WatchPlace watch;
  watch.text = place.text;
  watch.dtype = tile.dtype;
  const Layout layout = RowLayout(tile);
  for (uint32_t p = 0; p < tile.partitions; ++p) {
    ForEachRun(layout, 0, tile.free_size,
               [&](ptrdiff_t offset, int64_t, int64_t n) {
                 const bool dense = n == 1 || layout.step() == size;
                 for (int64_t i = 0; i < (dense ? 1 : n); ++i) {
                   WatchPlace::Range r;
                   r.core = place.core;
                   r.space = tile.space;
                   r.tensor = place.access.tensor;
                   r.partition = tile.first_partition + p;
                   const ptrdiff_t at = offset + i * layout.step();
                   r.begin = tile.address + at;
                   r.end = r.begin + (dense ? n * size : size);
                   const ptrdiff_t from = p * tile.partition_stride + at;
                   r.data = tile.base + from;
                   if (tile.shadow.tracked()) r.shadow = tile.shadow + from;
                   watch.ranges.push_back(r);
                 }
               });
  }
  return watch;
}

absl::StatusOr<WatchPlace> ParseWatch(const std::string& text,
                                      const Runner& runner) {
  const Program& program = runner.program();
  std::string_view rest = text;
  int64_t core = 0;
  if (const size_t slash = rest.find('/');
      slash != rest.npos && Number(rest.substr(0, slash))) {
    core = *Number(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  const bool psum = rest.starts_with("psum:");
  if (!psum && !rest.starts_with("sbuf:")) {
    auto place = ParseTensorPlace(text, program);
    if (!place.ok()) {
      Diagnostic d = DiagnosticOf(place.status());
      if (text.find('[') == text.npos) {
        absl::StrAppend(&d.remedy, "; bytes are written sbuf:3:4096+4");
      }
      return ToStatus(std::move(d));
    }
    return WatchOf(*place, runner);
  }
  const Space space = psum ? Space::kPsum : Space::kSbuf;
  rest.remove_prefix(5);
  const auto numbers = ParseBytes(rest);
  if (numbers.empty()) {
    return Unknown(
        absl::StrCat("\"", text, "\" is no place"),
        "write sbuf:3:4096+4: four bytes from byte 4096 of partition 3 on");
  }
  const int64_t partition = numbers[0], first = numbers[1], count = numbers[2];
  const MemoryLimits& limits = runner.machine().hardware->memory;
  const int64_t row =
      psum ? limits.psum_partition_bytes : limits.sbuf_partition_bytes;
  if (core < 0 || core >= static_cast<int64_t>(program.cores.size()) ||
      partition < 0 || partition >= kPartitions || first < 0 || count < 1 ||
      first > row || count > row - first) {
    return Unknown(absl::StrCat(text, " is not there: cores 0 to ",
                                program.cores.size() - 1, ", partitions 0 to ",
                                kPartitions - 1, ", bytes 0 to ", row - 1),
                   "choose a place inside them");
  }
  WatchPlace watch;
  watch.text = text;
  watch.ranges.push_back(RangeOf(runner, static_cast<size_t>(core), space,
                                 partition, first, first + count));
  return watch;
}

}  // namespace trnemu
