// The cost of work: energy counters as Linux presents them, and the meter.
#include "probe/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace bantam::probe {
namespace {

/// A folder like /sys/class/powercap; removed at the end.
class Powercap {
 public:
  explicit Powercap(const std::string& name) : path_(std::filesystem::path(::testing::TempDir()) / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Powercap() { std::filesystem::remove_all(path_); }

  void put(const std::string& zone, const std::string& energy, const std::string& range = "1000000000") const {
    std::filesystem::create_directories(path_ / zone);
    std::ofstream(path_ / zone / "energy_uj") << energy << "\n";
    std::ofstream(path_ / zone / "max_energy_range_uj") << range << "\n";
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Energy, IsTheSumOfPackagesAndNotOfTheirParts) {
  const Powercap powercap("bantam_powercap_sum");
  powercap.put("intel-rapl:0", "5000000");
  powercap.put("intel-rapl:1", "7000000");
  powercap.put("intel-rapl:0:0", "100");
  powercap.put("intel-rapl-mmio:0", "100");
  powercap.put("dtpm", "100");
  EnergyCounter counter(powercap.path());
  ASSERT_TRUE(counter.take().has_value());
  powercap.put("intel-rapl:0", "6500000");
  powercap.put("intel-rapl:1", "7250000");
  powercap.put("intel-rapl:0:0", "900000");
  powercap.put("intel-rapl-mmio:0", "900000");
  EXPECT_DOUBLE_EQ(counter.take().value(), 1.75);
  EXPECT_DOUBLE_EQ(counter.take().value(), 0);
}

TEST(Energy, FollowsACounterOverItsEnd) {
  const Powercap powercap("bantam_powercap_end");
  powercap.put("intel-rapl:0", "9000000", "10000000");
  EnergyCounter counter(powercap.path());
  powercap.put("intel-rapl:0", "500000", "10000000");
  EXPECT_DOUBLE_EQ(counter.take().value(), 1.5);
}

TEST(Energy, IsUnknownWhereNothingCanBeRead) {
  EXPECT_FALSE(EnergyCounter("/nowhere/powercap").take().has_value());
  const Powercap powercap("bantam_powercap_unread");
  EXPECT_FALSE(EnergyCounter(powercap.path()).take().has_value());
  powercap.put("intel-rapl:0", "no number");
  EXPECT_FALSE(EnergyCounter(powercap.path()).take().has_value());
  powercap.put("intel-rapl:0", "5");
  EnergyCounter counter(powercap.path());
  powercap.put("intel-rapl:0", "broken");
  EXPECT_FALSE(counter.take().has_value());
}

TEST(Energy, AStepBackWithoutARangeIsUnknown) {
  const Powercap powercap("bantam_powercap_back");
  powercap.put("intel-rapl:0", "900", "no number");
  EnergyCounter counter(powercap.path());
  powercap.put("intel-rapl:0", "800", "no number");
  EXPECT_FALSE(counter.take().has_value());
}

TEST(Cost, CountsTheProcessorsTime) {
  CostMeter meter;
  volatile double sum = 0;
  for (int i = 1; i < 3000000; ++i) sum = sum + std::sqrt(static_cast<double>(i));
  const Cost cost = meter.take(2);
  EXPECT_GT(cost.cpu_seconds, 0);
  EXPECT_GT(cost.per_core_hour(), 0);
  EXPECT_EQ(cost.cycles.has_value(), measure_clock() > 0);
  EXPECT_EQ(Cost{}.per_core_hour(), 0);
}

}  // namespace
}  // namespace bantam::probe
