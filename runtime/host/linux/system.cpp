#include "host/system.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bantam/host.h"

namespace bantam::host {
namespace {

/// Number of processors whose time a container's quota allows (control group v2); 0: no quota is visible to this
/// process.
uint32_t quota() {
  FILE* file = fopen("/sys/fs/cgroup/cpu.max", "re");
  if (file == nullptr) return 0;
  unsigned long long time = 0, period = 0;
  const bool limited = fscanf(file, "%llu %llu", &time, &period) == 2 && period != 0;  // NOLINT(cert-err34-c)
  fclose(file);
  if (!limited) return 0;
  const unsigned long long whole = time / period;
  return whole < 1 ? 1 : whole > 1024 ? 1024 : static_cast<uint32_t>(whole);
}

void futex(const std::atomic<uint32_t>& word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value) { futex(word, FUTEX_WAIT_PRIVATE, value); }

void wake_one(const std::atomic<uint32_t>& word) { futex(word, FUTEX_WAKE_PRIVATE, 1); }

int current_processor() { return sched_getcpu(); }

uint32_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // The mask has 1,024 bits; on machines with more processors, all that are online count.
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0;
  const long found = known ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t count = found < 1 ? 1 : static_cast<uint32_t>(found);
  const uint32_t most = quota();
  return most != 0 && most < count ? most : count;
}

}  // namespace bantam::host
