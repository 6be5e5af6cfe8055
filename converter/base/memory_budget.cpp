#include "base/memory_budget.h"

#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/readable.h"

namespace bantam::convert {

void MemoryBudget::add_source(uint64_t bytes) {
  const uint64_t room = std::numeric_limits<uint64_t>::max() - source_;
  source_ += bytes < room ? bytes : room;
}

uint64_t MemoryBudget::most() const {
  constexpr uint64_t kLargest = (std::numeric_limits<uint64_t>::max() - kFree) / kTimes;
  return kFree + kTimes * (source_ < kLargest ? source_ : kLargest);
}

void MemoryBudget::take(uint64_t bytes, std::string_view what) {
  if (bytes > most() - taken_) fail(what);
  taken_ += bytes;
}

void MemoryBudget::take(uint64_t count, uint64_t size, std::string_view what) {
  if (size != 0 && count > (most() - taken_) / size) fail(what);
  taken_ += count * size;
}

void MemoryBudget::fail(std::string_view what) const {
  convert::fail(ExitCode::kUnsupported,
                "{}: {} would take more memory than {}, {} times the source's {} and {}, which no usual model does; "
                "export the model anew, with fewer numbers made of others",
                name_, what, readable_bytes(most()), kTimes, readable_bytes(source_), readable_bytes(kFree));
}

}  // namespace bantam::convert
