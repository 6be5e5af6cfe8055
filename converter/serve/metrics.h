// The server's counters, for Prometheus.
#ifndef BANTAM_CONVERTER_SERVE_METRICS_H_
#define BANTAM_CONVERTER_SERVE_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace bantam::serve {

class Metrics {
 public:
  /// Counts a reply that was sent `seconds` after its request began. `endpoint` must have few different values.
  void count_reply(const std::string& endpoint, int code, double seconds);

  std::atomic<uint64_t> runs{0};         // predictor calls, each for one or several requests
  std::atomic<uint64_t> texts{0};        // texts answered
  std::atomic<uint64_t> tokens{0};       // tokens of these texts
  std::atomic<uint64_t> waiting{0};      // texts in queues
  std::atomic<uint64_t> connections{0};  // open connections

  /// Returns the counters in Prometheus' text format, version 0.0.4.
  std::string text() const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> replies_;
  // Counts of replies by their time limits; each reply is counted once.
  std::array<uint64_t, kBounds.size()> below_{};
  uint64_t timed_ = 0;
  double seconds_ = 0;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_METRICS_H_
