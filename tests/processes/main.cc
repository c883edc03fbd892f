// Tests that several processes run together, started by mpirun: each process
// runs all of them; the first one reports, the others only what fails.
#include <cstdio>
#include <memory>

#include "gtest/gtest.h"
#include "tests/processes/processes.h"

namespace trnemu {
namespace {

std::unique_ptr<MpiExchange> exchange;

class FailuresOnly : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::fprintf(stderr, "process %d: %s:%d: %s\n", Together().process(),
                 part.file_name() == nullptr ? "" : part.file_name(),
                 part.line_number(), part.message());
  }
};

}  // namespace

MpiExchange& Together() { return *exchange; }

}  // namespace trnemu

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  trnemu::exchange = trnemu::MpiExchange::Connect();
  if (trnemu::Together().process() > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new trnemu::FailuresOnly);
  }
  const int code = RUN_ALL_TESTS();
  trnemu::Together().Close();
  trnemu::exchange.reset();
  return code;
}
