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
  /// Counts a reply that went out `seconds` after its request began. `endpoint` takes few values.
  void count_reply(const std::string& endpoint, int code, double seconds);

  std::atomic<uint64_t> runs{0};         // calls of a predictor, for one or several requests
  std::atomic<uint64_t> texts{0};        // answered
  std::atomic<uint64_t> tokens{0};       // of them
  std::atomic<uint64_t> waiting{0};      // texts in queues
  std::atomic<uint64_t> connections{0};  // open

  /// Returns the counters in Prometheus' text format, version 0.0.4.
  std::string text() const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> replies_;
  std::array<uint64_t, kBounds.size()> below_{};  // replies of at most so many seconds, each counted once
  uint64_t timed_ = 0;
  double seconds_ = 0;
};

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_METRICS_H_
