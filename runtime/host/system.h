// Functions of the operating system for a thread pool. linux/, macos/ and windows/ each implement them and processors().
#ifndef BANTAM_HOST_SYSTEM_H_
#define BANTAM_HOST_SYSTEM_H_

#include <atomic>
#include <cstdint>

namespace bantam::host {

/// Sleeps while `word` holds `value`. May return early; the caller checks again.
void sleep_while(const std::atomic<uint32_t>& word, uint32_t value);

/// Wakes one thread that sleeps on `word`.
void wake_one(const std::atomic<uint32_t>& word);

/// The number of the processor that runs this thread now. -1: the system does not say.
int current_processor();

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "systems sleep on a word of 32 bits");

}  // namespace bantam::host

#endif  // BANTAM_HOST_SYSTEM_H_
