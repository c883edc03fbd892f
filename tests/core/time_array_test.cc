#include "core/time_array.h"

#include <gtest/gtest.h>

namespace trnemu {
namespace {

constexpr ArrayTile kWhole{0xffff, 128};

TensorEngineLimits Limits() {
  TensorEngineLimits limits;
  limits.throttled_rate = 0.5;
  limits.throttle_utilization = 0.5;
  limits.throttle_window_ns = 3000;
  limits.throttle_full_rows = 128;
  return limits;
}
constexpr Ticks kNs = 1'000'000;

TEST(BusyWindowTest, CountsWhatLiesInTheWindow) {
  BusyWindow window;
  EXPECT_EQ(window.BusyUntil(50, 200), 0);
  window.Add(0, 100, 1);
  window.Add(200, 300, 2);
  EXPECT_EQ(window.BusyUntil(200, 200), 100);
  EXPECT_EQ(window.BusyUntil(250, 200), 50 + 2 * 50);
  EXPECT_EQ(window.BusyUntil(300, 200), 2 * 100);
  EXPECT_EQ(window.BusyUntil(450, 200), 2 * 50);
  EXPECT_EQ(window.BusyUntil(1000, 200), 0);
}

TEST(BusyWindowTest, CountsIntervalsThatOverlap) {
  BusyWindow window;
  window.Add(0, 100, 1);
  window.Add(20, 60, 1);
  EXPECT_EQ(window.BusyUntil(50, 50), 50 + 30);
}

// tools/neuron-explorer/overview-summary-page.rst: from idle at about half
// rate; the limit is back when less than half of about 3 us was busy.
TEST(ArrayTimeTest, IsLimitedUnlessMoreThanHalfOfTheWindowWasBusy) {
  ArrayTime array;
  const TensorEngineLimits limits = Limits();
  EXPECT_TRUE(array.Throttled(0, limits));
  array.Multiply(kWhole, 128, 0, 1500 * kNs, 0, limits);
  EXPECT_TRUE(array.Throttled(1500 * kNs, limits));
  array.Multiply(kWhole, 128, 1500 * kNs, 1 * kNs, 0, limits);
  EXPECT_FALSE(array.Throttled(1501 * kNs, limits));
  EXPECT_FALSE(array.Throttled(3000 * kNs, limits));
  EXPECT_TRUE(array.Throttled(3002 * kNs, limits));
}

// spec/timing.md 1.4: K = 64 stays at half rate in a stream.
TEST(ArrayTimeTest, CountsHalfOfTheRowsAsHalfBusy) {
  ArrayTime array;
  const TensorEngineLimits limits = Limits();
  array.Multiply(kWhole, 64, 0, 100'000 * kNs, 0, limits);
  EXPECT_TRUE(array.Throttled(100'000 * kNs, limits));
  array.Multiply(kWhole, 65, 100'000 * kNs, 100'000 * kNs, 0, limits);
  EXPECT_FALSE(array.Throttled(200'000 * kNs, limits));
}

TEST(ArrayTimeTest, LoadsOneAheadOfAMultiplication) {
  ArrayTime array;
  const TensorEngineLimits limits = Limits();
  array.Load(kWhole, 0, 10);
  EXPECT_EQ(array.MultiplyStart(kWhole), 10);
  array.Multiply(kWhole, 128, 10, 100, 5, limits);
  // Beside the multiplication, whose own load is in.
  EXPECT_EQ(array.LoadStart(kWhole), 10);
  array.Load(kWhole, 10, 10);
  EXPECT_EQ(array.MultiplyStart(kWhole), 110);
  EXPECT_EQ(array.AllFree(), 110);
}

// nki/api/nki/isa/__init__.py:513: row and column tiles run in parallel.
TEST(ArrayTimeTest, RunsTilesThatShareNothingSideBySide) {
  ArrayTime array;
  const TensorEngineLimits limits = Limits();
  const ArrayTile top{0x00ff, 128}, bottom{0xff00, 128}, left{0x3333, 64};
  array.Load(top, 0, 10);
  array.Load(bottom, 10, 10);
  array.Multiply(top, 64, 10, 100, 5, limits);
  EXPECT_EQ(array.MultiplyStart(bottom), 20);
  array.Multiply(bottom, 64, 20, 100, 5, limits);
  EXPECT_EQ(array.MultiplyStart(bottom), 120);
  EXPECT_EQ(array.MultiplyStart(left), 120);
  EXPECT_EQ(array.MultiplyStart(top), 110);
}

}  // namespace
}  // namespace trnemu
