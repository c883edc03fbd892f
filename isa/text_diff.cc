// The first difference of two programs, for `trnemu diff`.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/text.h"
#include "isa/text_internal.h"

namespace trnemu {
namespace {

std::string Both(const std::string& where, const std::string& a,
                 const std::string& b) {
  return absl::StrCat(where, "\n- ", a, "\n+ ", b);
}

// Where two lists of lines part; "" if nowhere.
std::string CompareHeaders(const Program& a, const Program& b) {
  const auto lines_a = text::HeaderLines(a);
  const auto lines_b = text::HeaderLines(b);
  for (size_t i = 0; i < std::max(lines_a.size(), lines_b.size()); ++i) {
    const std::string in_a = i < lines_a.size() ? lines_a[i] : "(no more)";
    const std::string in_b = i < lines_b.size() ? lines_b[i] : "(no more)";
    if (in_a != in_b) return Both("header", in_a, in_b);
  }
  return "";
}

std::span<const std::byte> DataOf(const Program& program) {
  return program.data ? program.data->bytes() : std::span<const std::byte>();
}

// The constant that holds byte `at` of the data section.
std::string Owner(const Program& program, size_t at) {
  for (const Tensor& tensor : program.tensors) {
    if (tensor.kind != TensorKind::kConstant || at < tensor.data_offset) {
      continue;
    }
    const uint64_t inside = at - tensor.data_offset;
    if (inside < static_cast<uint64_t>(tensor.nbytes())) {
      return absl::StrCat("constant ", text::Quote(tensor.name), ", byte ",
                          inside);
    }
  }
  return absl::StrCat("data section, byte ", at);
}

std::string CompareData(const Program& a, const Program& b) {
  const auto data_a = DataOf(a);
  const auto data_b = DataOf(b);
  const auto [at_a, at_b] =
      std::mismatch(data_a.begin(), data_a.end(), data_b.begin(), data_b.end());
  if (at_a == data_a.end() && at_b == data_b.end()) return "";
  const auto at = static_cast<size_t>(at_a - data_a.begin());
  auto byte = [at](std::span<const std::byte> data) {
    return at < data.size() ? absl::StrCat(std::to_integer<int>(data[at]))
                            : std::string("(no more)");
  };
  return Both(Owner(a, at), byte(data_a), byte(data_b));
}

// As operator==, whatever the pools' layout.
bool SameOperand(const CoreProgram& a, const Operand& in_a,
                 const CoreProgram& b, const Operand& in_b) {
  const Indirection* of_a = a.IndirectionOf(in_a.access);
  const Indirection* of_b = b.IndirectionOf(in_b.access);
  if ((of_a == nullptr) != (of_b == nullptr)) return false;
  if (of_a == nullptr) return in_a == in_b;
  Operand same_place = in_b;
  same_place.access.indirection = in_a.access.indirection;
  return in_a == same_place && *of_a == *of_b;
}

bool SameOperands(const CoreProgram& a, const Instruction& in_a,
                  const CoreProgram& b, const Instruction& in_b) {
  return std::ranges::equal(a.OperandsOf(in_a), b.OperandsOf(in_b),
                            [&](const Operand& x, const Operand& y) {
                              return SameOperand(a, x, b, y);
                            });
}

// Pools may be laid out differently: compares what the instructions refer to.
bool Same(const CoreProgram& a, const Instruction& in_a, const CoreProgram& b,
          const Instruction& in_b) {
  return in_a.opcode == in_b.opcode && in_a.step == in_b.step &&
         in_a.operation == in_b.operation && in_a.order == in_b.order &&
         in_a.source == in_b.source && SameOperands(a, in_a, b, in_b) &&
         std::ranges::equal(a.AttributesOf(in_a), b.AttributesOf(in_b)) &&
         std::ranges::equal(a.WaitsOf(in_a), b.WaitsOf(in_b)) &&
         std::ranges::equal(a.SignalsOf(in_a), b.SignalsOf(in_b));
}

// Of programs whose headers agree.
class StreamComparer {
 public:
  StreamComparer(const Program& a, const Program& b)
      : a_(a), b_(b), text_a_(a), text_b_(b) {}

  std::string Run() const {
    for (size_t core = 0; core < a_.cores.size(); ++core) {
      for (const Engine engine : kSequencers) {
        const std::string difference = Compare(static_cast<int>(core), engine);
        if (!difference.empty()) return difference;
      }
    }
    return "";
  }

 private:
  std::string Compare(int core, Engine engine) const {
    const CoreProgram& in_a = a_.cores[static_cast<size_t>(core)];
    const CoreProgram& in_b = b_.cores[static_cast<size_t>(core)];
    const auto& stream_a = in_a.stream(engine);
    const auto& stream_b = in_b.stream(engine);
    for (size_t i = 0; i < std::max(stream_a.size(), stream_b.size()); ++i) {
      const bool both = i < stream_a.size() && i < stream_b.size();
      if (both && Same(in_a, stream_a[i], in_b, stream_b[i])) continue;
      auto line = [&](const Disassembler& text, const auto& stream) {
        return i < stream.size() ? text.Line(core, stream[i])
                                 : std::string("(no more)");
      };
      const std::string line_a = line(text_a_, stream_a);
      const std::string line_b = line(text_b_, stream_b);
      // A NaN differs from itself, its text does not.
      if (line_a == line_b) continue;
      return Both(absl::StrCat("core ", core, ", ", std::string(Name(engine)),
                               " stream, instruction ", i),
                  line_a, line_b);
    }
    return "";
  }

  const Program& a_;
  const Program& b_;
  const Disassembler text_a_;
  const Disassembler text_b_;
};

}  // namespace

std::string FirstDifference(const Program& a, const Program& b) {
  std::string difference = CompareHeaders(a, b);
  if (difference.empty()) difference = CompareData(a, b);
  if (difference.empty()) difference = StreamComparer(a, b).Run();
  return difference;
}

}  // namespace trnemu
