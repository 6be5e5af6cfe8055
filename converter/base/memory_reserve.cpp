#include "base/memory_reserve.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace bantam::convert {
namespace {

constexpr size_t kReserve = size_t{1} << 20;

std::atomic<void*> g_reserve{nullptr};

/// operator new calls it repeatedly until the allocation succeeds or this throws; the reserve helps only once.
void give_back() {
  void* memory = g_reserve.exchange(nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
}

}  // namespace

void keep_memory_reserve() {
  std::set_new_handler(give_back);
  if (g_reserve.load() != nullptr) return;
  void* memory = std::malloc(kReserve);
  if (memory == nullptr) throw std::bad_alloc();
  void* none = nullptr;
  if (!g_reserve.compare_exchange_strong(none, memory)) std::free(memory);
}

}  // namespace bantam::convert
