// Building and running small programs in tests, without ceremony.
#ifndef TRNEMU_TESTS_CORE_RUN_HARNESS_H_
#define TRNEMU_TESTS_CORE_RUN_HARNESS_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device.h"
#include "isa/builder.h"

namespace trnemu {

using Shape = std::vector<int64_t>;

inline Value Arg(const View& view) {
  auto access = ToAccess(view);
  EXPECT_TRUE(access.ok()) << access.status();
  return Value::Of(*access);
}
inline Value Arg(AluOp op) { return Value::OfEnum(op); }
inline Value Arg(ActFunction f) { return Value::OfEnum(f); }
inline Value Arg(Engine e) { return Value::OfEnum(e); }
inline Value Arg(double number) { return Value::Number(number); }

// A ProgramBuilder whose failures end the test.
class TestProgram {
 public:
  explicit TestProgram(Target target = Target::kTrn2,
                       ProgramBuilder::Sync sync = ProgramBuilder::Sync::kAuto,
                       int cores = 1)
      : builder(target, "test", cores, sync) {}

  View Input(const std::string& name, const Shape& shape,
             Dtype dtype = Dtype::kFloat32) {
    return *builder.AddTensor(TensorKind::kInput, name, dtype, shape);
  }
  View Output(const std::string& name, const Shape& shape,
              Dtype dtype = Dtype::kFloat32) {
    return *builder.AddTensor(TensorKind::kOutput, name, dtype, shape);
  }
  View Sbuf(const Shape& shape, Dtype dtype = Dtype::kFloat32,
            std::optional<TileAddress> at = {}) {
    return *builder.AddTile(TensorKind::kSbuf, "", dtype, shape, at);
  }
  View Psum(const Shape& shape, Dtype dtype = Dtype::kFloat32,
            std::optional<TileAddress> at = {}) {
    return *builder.AddTile(TensorKind::kPsum, "", dtype, shape, at);
  }
  void Add(std::string_view operation, const NamedArguments& arguments,
           std::vector<Wait> waits = {}, std::vector<Signal> signals = {}) {
    CallOptions options;
    options.waits = waits;
    options.signals = signals;
    const absl::Status status = builder.Add(operation, arguments, options);
    ASSERT_TRUE(status.ok()) << Render(DiagnosticOf(status));
  }
  void Copy(const View& dst, const View& src, std::vector<Wait> waits = {},
            std::vector<Signal> signals = {}) {
    Add("dma_copy", {{"dst", Arg(dst)}, {"src", Arg(src)}}, std::move(waits),
        std::move(signals));
  }
  std::shared_ptr<const Program> Build() {
    auto program = builder.Build();
    EXPECT_TRUE(program.ok()) << Render(DiagnosticOf(program.status()));
    return program.ok() ? *program : nullptr;
  }

  ProgramBuilder builder;
};

template <typename T>
InputArray HostInput(Dtype dtype, const Shape& shape,
                     const std::vector<T>& values) {
  InputArray array;
  array.dtype = dtype;
  array.shape = shape;
  array.bytes = std::as_bytes(std::span(values));
  return array;
}

template <typename T>
std::vector<T> Values(const RunResult& result, const std::string& name) {
  const HostArray& array = result.outputs.at(name);
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

// The id of the fault a status carries.
inline std::string FaultId(const absl::Status& status) {
  return status.ok() ? "ok" : DiagnosticOf(status).id;
}

}  // namespace trnemu

#endif  // TRNEMU_TESTS_CORE_RUN_HARNESS_H_
