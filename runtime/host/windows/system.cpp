#include "host/system.h"

#include <windows.h>

#include "bantam/host.h"

namespace bantam::host {

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value) {
  WaitOnAddress(const_cast<std::atomic<uint32_t>*>(&word), &value, sizeof(value), INFINITE);
}

void wake_one(const std::atomic<uint32_t>& word) { WakeByAddressSingle(const_cast<std::atomic<uint32_t>*>(&word)); }

int current_processor() {
  PROCESSOR_NUMBER number = {};
  GetCurrentProcessorNumberEx(&number);
  constexpr int kInGroup = 64;
  return number.Group * kInGroup + number.Number;
}

uint32_t processors() {
  DWORD_PTR own = 0, all = 0;
  // The mask names processors of one group; Windows runs threads of a process in all groups.
  const bool known =
      GetActiveProcessorGroupCount() == 1 && GetProcessAffinityMask(GetCurrentProcess(), &own, &all) != 0;
  const int found = known ? __builtin_popcountll(own) : static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  return found < 1 ? 1 : static_cast<uint32_t>(found);
}

}  // namespace bantam::host
