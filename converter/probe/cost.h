// Measures the cost of work on a machine: processor time, cycles, energy.
#ifndef BANTAM_CONVERTER_PROBE_COST_H_
#define BANTAM_CONVERTER_PROBE_COST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bantam::probe {

/// The cost of one text, or of another unit that a total was divided by.
struct Cost {
  double cpu_seconds = 0;        // of this process, all its threads together
  std::optional<double> cycles;  // the same at the core's clock; none: it cannot be measured here
  std::optional<double>
      joules;  // of the whole processor, other processes' work included; none: the system does not tell

  /// The number of such units in an hour of one core.
  double per_core_hour() const { return cpu_seconds > 0 ? 3600 / cpu_seconds : 0; }
};

/// Measures the cycles per second of this core with a chain of additions that wait for each other, one per cycle; takes
/// the best of several runs, about 10 ms. 0: there is no loop for this processor family.
double measure_clock();

/// Energy counters of processor packages (Linux' powercap, "RAPL" of Intel and AMD), which only root may read on most systems.
class EnergyCounter {
 public:
  explicit EnergyCounter(const std::string& folder = "/sys/class/powercap");
  /// Returns the joules since the last call, or since construction; handles one wrap-around of a counter. None: nothing
  /// can be read. Counters advance about every millisecond.
  std::optional<double> take();

 private:
  struct Package {
    std::string path;
    uint64_t last = 0, range = 0;  // microjoules
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
