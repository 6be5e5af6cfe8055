#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace bantam::serve {
namespace {

void add(std::string* text, const char* name, const char* kind, const char* help, uint64_t value) {
  *text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n{0} {3}\n", name, kind, help, value);
}

uint64_t resident_bytes() {
  unsigned long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  const bool read = std::fscanf(file, "%lu %lu", &pages, &resident) == 2;
  std::fclose(file);
  return read ? uint64_t{resident} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

void Metrics::count_reply(const std::string& endpoint, int code, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++replies_[{endpoint, code}];
  ++timed_;
  seconds_ += seconds;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    if (seconds > kBounds.at(i)) continue;
    ++below_.at(i);
    break;
  }
}

std::string Metrics::text() const {
  std::string text =
      "# HELP bantam_requests_total Replies by endpoint and code.\n# TYPE bantam_requests_total counter\n";
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, count] : replies_) {
      text += fmt::format("bantam_requests_total{{endpoint=\"{}\",code=\"{}\"}} {}\n", key.first, key.second, count);
    }
    text += "# HELP bantam_request_seconds From a request's first line to its reply.\n";
    text += "# TYPE bantam_request_seconds histogram\n";
    uint64_t sum = 0;
    for (size_t i = 0; i < kBounds.size(); ++i) {
      text += fmt::format("bantam_request_seconds_bucket{{le=\"{}\"}} {}\n", kBounds.at(i), sum += below_.at(i));
    }
    text += fmt::format("bantam_request_seconds_bucket{{le=\"+Inf\"}} {}\nbantam_request_seconds_sum {}\n", timed_,
                        seconds_);
    text += fmt::format("bantam_request_seconds_count {}\n", timed_);
  }
  add(&text, "bantam_runs_total", "counter", "Times that waiting texts were answered together.", runs.load());
  add(&text, "bantam_texts_total", "counter", "Texts answered.", texts.load());
  add(&text, "bantam_tokens_total", "counter", "Tokens of the texts answered.", tokens.load());
  add(&text, "bantam_waiting_texts", "gauge", "Texts in queues.", waiting.load());
  add(&text, "bantam_connections", "gauge", "Open connections.", connections.load());
  add(&text, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
  return text;
}

}  // namespace bantam::serve
