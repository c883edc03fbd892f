// The public header of trnemu for GoogleTest: pin down what one instruction
// does, in a ten-line test.
//
//   #include <trnemu/testing.h>
//   using trnemu::testing::FaultsWith, trnemu::testing::RunsTo;
//
//   class Copy : public trnemu::testing::TrnTest {};
//
//   TEST_F(Copy, RoundsToNearestEven) {
//     auto x = kernel.Input("x", {1, 3}, "float32", {0.5f, 1.5f, 2.5f});
//     auto t = kernel.Sbuf({1, 3}, "float32"), i = kernel.Sbuf({1, 3},
//     "int32"); kernel.Do("dma_copy", {{"dst", t}, {"src", x}});
//     kernel.Do("tensor_copy", {{"dst", i}, {"src", t}});
//     kernel.Do("dma_copy", {{"dst", kernel.Output("y", {1, 3}, "int32")},
//                            {"src", i}});
//     EXPECT_THAT(kernel, RunsTo(std::vector<int32_t>{0, 2, 2}));
//   }
//
// Only std types and plain structs: nothing of Abseil or protobuf is seen. No
// function throws; what is wrong with a program is the Fault of its Outcome.
// docs/first-hardware-test.md is the guide, cmake/ what find_package reads.
#ifndef TRNEMU_TESTING_H_
#define TRNEMU_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trnemu::testing {

using Shape = std::vector<int64_t>;
using Bytes = std::vector<std::byte>;

// The bytes of values as they lie in memory; and back.
template <typename T>
Bytes BytesOf(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> ValuesOf(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// One thing that is wrong, or doubtful, with a program: the fields of a report.
struct Fault {
  std::string category, id, message;
  std::string operation, operand, engine;
  std::string source;  // "file:line in function"
  std::string remedy;  // what to do
  std::string report;  // all of it, as people read it
  std::string json;    // all of it, as docs/json.md says
  bool warning = false;
};

// What a run gave: outputs, unless there is a fault.
struct Outcome {
  std::optional<Fault> fault;
  std::map<std::string, Bytes> outputs;
  std::vector<Fault> warnings;
  double time_ns = 0;
};

struct Options {
  std::string checks = "full";     // full, memory, off
  std::string schedule = "timed";  // timed, program, or a seed: "7"
  bool strict = false;             // warnings are errors
  std::vector<std::string> allow;  // ids
  std::map<std::string, std::string> numerics;
  uint64_t seed = 0;  // of the device's random generators
  std::optional<int64_t> max_instructions;
};

// A tile or tensor of a Kernel, or a part of one. Cheap to copy; of no use
// without its Kernel.
class Tile {
 public:
  // `count` entries of dimension `axis`, from `first` on.
  Tile Slice(int axis, int64_t first, int64_t count) const;

 private:
  friend class Kernel;
  struct View;
  std::shared_ptr<const View> view_;
};

// A semaphore, for explicit synchronisation.
struct Semaphore {
  uint32_t number = 0;
};
// What an operation waits for before it starts, and adds when it is complete.
struct Sync {
  std::vector<std::pair<Semaphore, int64_t>> wait, signal;
};

// An argument: a tile, a number, a bool, a name of the vocabulary, numbers, or
// a pattern of [step, count] pairs.
using Pattern = std::vector<std::array<int64_t, 2>>;
class Argument {
 public:
  Argument(Tile tile) : value(std::move(tile)) {}
  Argument(bool flag) : value(flag) {}
  Argument(int number) : value(int64_t{number}) {}
  Argument(int64_t number) : value(number) {}
  Argument(double number) : value(number) {}
  Argument(const char* name) : value(std::string(name)) {}
  Argument(std::string name) : value(std::move(name)) {}
  Argument(std::vector<int64_t> numbers) : value(std::move(numbers)) {}
  Argument(Pattern pattern) : value(std::move(pattern)) {}

  std::variant<Tile, bool, int64_t, double, std::string, std::vector<int64_t>,
               Pattern>
      value;
};
using Arguments = std::vector<std::pair<std::string, Argument>>;

// A program under construction, with its inputs. The first thing that is wrong
// with it is kept, and is what every Run then gives.
class Kernel {
 public:
  enum class Waits { kAutomatic, kExplicit };
  explicit Kernel(const std::string& target = "trn2",
                  Waits waits = Waits::kAutomatic);
  // A program in text form (trnemu disasm).
  static Kernel FromText(const std::string& text);
  ~Kernel();
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;

  // Tensors in HBM; an input comes with its value.
  Tile Input(const std::string& name, const Shape& shape,
             const std::string& dtype, Bytes bytes);
  template <typename T>
  Tile Input(const std::string& name, const Shape& shape,
             const std::string& dtype, const std::vector<T>& values) {
    return Input(name, shape, dtype, BytesOf(values));
  }
  template <typename T>
  Tile Input(const std::string& name, const Shape& shape,
             const std::string& dtype, std::initializer_list<T> values) {
    return Input(name, shape, dtype, BytesOf(std::vector<T>(values)));
  }
  Tile Output(const std::string& name, const Shape& shape,
              const std::string& dtype);
  // Tiles; shape[0] is partitions.
  Tile Sbuf(const Shape& shape, const std::string& dtype);
  Tile Psum(const Shape& shape, const std::string& dtype);
  Semaphore NewSemaphore();

  // Adds an operation, by its nki.isa name and parameter names.
  void Do(const std::string& operation, const Arguments& arguments,
          const Sync& sync = {},
          std::source_location where = std::source_location::current());
  // The value of an input of a program that came as text.
  void Set(const std::string& name, Bytes bytes);

  // Builds and runs on a fresh device. May be called again.
  Outcome Run(const Options& options = {}) const;

 private:
  struct State;
  Kernel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "byte 4: 0x40, expected 0x3f" for the first that differ; "" if none does.
std::string FirstDifferences(const Bytes& actual, const Bytes& expected);

// ---- matchers, of a Kernel ----

class RunsToMatcher {
 public:
  using is_gtest_matcher = void;
  RunsToMatcher(std::string name, Bytes expected, Options options)
      : name_(std::move(name)),
        expected_(std::move(expected)),
        options_(std::move(options)) {}

  bool MatchAndExplain(const Kernel& kernel,
                       ::testing::MatchResultListener* listener) const {
    const Outcome outcome = kernel.Run(options_);
    if (outcome.fault) {
      *listener << "which faults:\n" << outcome.fault->report;
      return false;
    }
    const auto output =
        name_.empty() ? outcome.outputs.begin() : outcome.outputs.find(name_);
    if (output == outcome.outputs.end() ||
        (name_.empty() && outcome.outputs.size() != 1)) {
      *listener << "which has " << outcome.outputs.size() << " outputs"
                << (name_.empty() ? "; name the one that is meant"
                                  : ", none of that name");
      return false;
    }
    const std::string said = FirstDifferences(output->second, expected_);
    *listener << (said.empty() ? "" : "whose output differs:\n" + said);
    return said.empty();
  }
  void DescribeTo(std::ostream* os) const {
    *os << "runs to the " << expected_.size() << " expected bytes";
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "does not run to the expected bytes";
  }

 private:
  std::string name_;
  Bytes expected_;
  Options options_;
};

// The output `name` (the only one, unless named) has these bytes.
inline RunsToMatcher RunsTo(Bytes bytes, Options options = {}) {
  return RunsToMatcher("", std::move(bytes), std::move(options));
}
inline RunsToMatcher RunsTo(std::string name, Bytes bytes,
                            Options options = {}) {
  return RunsToMatcher(std::move(name), std::move(bytes), std::move(options));
}
template <typename T>
RunsToMatcher RunsTo(const std::vector<T>& values, Options options = {}) {
  return RunsToMatcher("", BytesOf(values), std::move(options));
}
template <typename T>
RunsToMatcher RunsTo(std::string name, const std::vector<T>& values,
                     Options options = {}) {
  return RunsToMatcher(std::move(name), BytesOf(values), std::move(options));
}

// "" if reports have this id; else that there is none, and the nearest.
std::string UnknownId(const std::string& id);

class ReportsMatcher {
 public:
  using is_gtest_matcher = void;
  ReportsMatcher(std::string id, bool warning, Options options)
      : id_(std::move(id)), warning_(warning), options_(std::move(options)) {}

  bool MatchAndExplain(const Kernel& kernel,
                       ::testing::MatchResultListener* listener) const {
    // Not only a mismatch: under Not() that would pass.
    if (const std::string unknown = UnknownId(id_); !unknown.empty()) {
      ADD_FAILURE() << unknown;
      *listener << unknown;
      return false;
    }
    const Outcome outcome = kernel.Run(options_);
    if (outcome.fault) {
      *listener << "which faults:\n" << outcome.fault->report;
      return !warning_ && outcome.fault->id == id_;
    }
    *listener << "which runs, with " << outcome.warnings.size() << " warnings";
    for (const Fault& f : outcome.warnings) {
      *listener << "\n" << f.report;
      if (warning_ && f.id == id_) return true;
    }
    return false;
  }
  void DescribeTo(std::ostream* os) const {
    *os << (warning_ ? "warns with [" : "faults with [") << id_ << "]";
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "does not report [" << id_ << "]";
  }

 private:
  std::string id_;
  bool warning_;
  Options options_;
};

// Building or running it is refused with this id.
inline ReportsMatcher FaultsWith(std::string id, Options options = {}) {
  return ReportsMatcher(std::move(id), false, std::move(options));
}
// It runs, and this id is among its warnings and allowed errors.
inline ReportsMatcher WarnsWith(std::string id, Options options = {}) {
  return ReportsMatcher(std::move(id), true, std::move(options));
}

// ---- fixtures ----

// The environment's TRNEMU_TARGET, or trn2.
inline std::string DefaultTarget() {
  const char* target = std::getenv("TRNEMU_TARGET");
  return target == nullptr ? "trn2" : target;
}

// For TEST_F: an empty kernel of the default target.
class TrnTest : public ::testing::Test {
 protected:
  Kernel kernel{DefaultTarget()};
};

// For TEST_P with TRNEMU_EVERY_TARGET(Suite): once for each generation.
class EveryTarget : public ::testing::TestWithParam<const char*> {
 protected:
  Kernel kernel{GetParam()};
};
#define TRNEMU_EVERY_TARGET(suite)                           \
  INSTANTIATE_TEST_SUITE_P(                                  \
      trn, suite, ::testing::Values("trn1", "trn2", "trn3"), \
      [](const auto& target) { return std::string(target.param); })

// What a failed EXPECT_THAT prints of a kernel.
inline void PrintTo(const Kernel&, std::ostream* os) { *os << "the kernel"; }

}  // namespace trnemu::testing

#endif  // TRNEMU_TESTING_H_
