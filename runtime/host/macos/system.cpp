#include "host/system.h"

#include <pthread.h>
#include <sys/sysctl.h>

#include "bantam/host.h"

// The C++ libraries of LLVM and Rust sleep by these functions. Apple declares one for it only from macOS 14.4 on.
extern "C" int __ulock_wait(uint32_t operation, void* word, uint64_t value, uint32_t microseconds);  // 0: without end
extern "C" int __ulock_wake(uint32_t operation, void* word, uint64_t value);

namespace bantam::host {
namespace {

constexpr uint32_t kCompareAndWait = 1;  // a word of 32 bits of this process

void* address_of(const std::atomic<uint32_t>& word) { return const_cast<std::atomic<uint32_t>*>(&word); }

}  // namespace

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value) {
  __ulock_wait(kCompareAndWait, address_of(word), value, 0);
}

void wake_one(const std::atomic<uint32_t>& word) { __ulock_wake(kCompareAndWait, address_of(word), 0); }

int current_processor() {
  size_t number = 0;
  return pthread_cpu_number_np(&number) == 0 ? static_cast<int>(number) : -1;
}

uint32_t processors() {
  int count = 0;
  size_t size = sizeof(count);
  return sysctlbyname("hw.activecpu", &count, &size, nullptr, 0) != 0 || count < 1 ? 1 : static_cast<uint32_t>(count);
}

}  // namespace bantam::host
