// Measures the cost of work on a machine: processor time, cycles, energy.
#ifndef BANTAM_CONVERTER_PROBE_COST_H_
#define BANTAM_CONVERTER_PROBE_COST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bantam::probe {

/// The cost of one text, or of another unit by which a total was divided.
struct Cost {
  double cpu_seconds = 0;        // of all threads of this process together
  std::optional<double> cycles;  // at the core's clock rate; none: it cannot be measured here
  std::optional<double>
      joules;  // of the whole processor, including other processes; none: the system does not report it

  /// Returns the number of such units per hour of one core.
  double per_core_hour() const { return cpu_seconds > 0 ? 3600 / cpu_seconds : 0; }
};

/// Measures the cycles per second of this core with a chain of dependent additions, one per cycle; takes the best of
/// several runs, about 10 ms. Returns 0 if there is no loop for this processor family.
double measure_clock();

/// Energy counters of processor packages (powercap in Linux, "RAPL" of Intel and AMD). On most systems only root may
/// read them.
class EnergyCounter {
 public:
  explicit EnergyCounter(const std::string& folder = "/sys/class/powercap");
  /// Returns the joules since the last call, or since construction. Handles one wrap-around of a counter. Returns none
  /// if no counter can be read. Counters advance about every millisecond.
  std::optional<double> take();

 private:
  struct Package {
    std::string path;
    uint64_t last = 0, range = 0;  // in microjoules
  };
  std::vector<Package> packages_;
};

/// Measures the cost of work from its construction to take().
class CostMeter {
 public:
  CostMeter();
  /// Returns the cost of one of `count` equal parts of the work since construction.
  Cost take(double count);

 private:
  EnergyCounter energy_;
  double clock_;
  double cpu_begin_;
};

}  // namespace bantam::probe

#endif  // BANTAM_CONVERTER_PROBE_COST_H_
