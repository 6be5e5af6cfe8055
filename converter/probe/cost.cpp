#include "probe/cost.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace bantam::probe {
namespace {

/// Returns the processor time of all threads of the process. Falls back to std::clock, which overflows within hours and
/// is coarse, only if the system lacks CLOCK_PROCESS_CPUTIME_ID.
double cpu_seconds() {
#if defined(CLOCK_PROCESS_CPUTIME_ID)
  timespec now = {};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0) {
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
#endif
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

constexpr uint64_t kAdditions = 16;  // additions per round

/// Runs `rounds` rounds of additions, each of which depends on the previous one. It adds registers, because some cores
/// add constants for free.
[[maybe_unused]] void add_in_turn([[maybe_unused]] uint64_t rounds) {
#if defined(__x86_64__)
  uint64_t value = 1;
  __asm__ volatile(
      "1:\n"
      ".rept 16\n"
      "add %1, %1\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds), "+r"(value)
      :
      : "cc");
#elif defined(__aarch64__)
  uint64_t value = 1;
  __asm__ volatile(
      "1:\n"
      ".rept 16\n"
      "add %1, %1, %1\n"
      ".endr\n"
      "subs %0, %0, #1\n"
      "b.ne 1b\n"
      : "+r"(rounds), "+r"(value)
      :
      : "cc");
#endif
}

bool read_number(const std::string& path, uint64_t* number) {
  std::ifstream file(path);
  return static_cast<bool>(file >> *number);
}

}  // namespace

double measure_clock() {
#if defined(__x86_64__) || defined(__aarch64__)
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t kRounds = 20000;
  double best = 0;
  for (int i = 0; i < 100; ++i) {
    const Clock::time_point begin = Clock::now();
    add_in_turn(kRounds);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, static_cast<double>(kRounds * kAdditions) / seconds);
  }
  return best;
#else
  return 0;
#endif
}

EnergyCounter::EnergyCounter(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    // "intel-rapl:0" is a package and "intel-rapl:0:1" a part of it; "intel-rapl-mmio:0" would count the same package
    // twice.
    const std::string name = entry.path().filename().string();
    if (name.rfind("intel-rapl:", 0) != 0 || std::count(name.begin(), name.end(), ':') != 1) continue;
    Package package;
    package.path = entry.path().string() + "/energy_uj";
    if (!read_number(package.path, &package.last)) continue;
    if (!read_number(entry.path().string() + "/max_energy_range_uj", &package.range)) package.range = 0;
    packages_.push_back(std::move(package));
  }
}

std::optional<double> EnergyCounter::take() {
  if (packages_.empty()) return std::nullopt;
  double joules = 0;
  for (Package& package : packages_) {
    uint64_t now = 0;
    if (!read_number(package.path, &now)) return std::nullopt;
    if (now < package.last && package.range < package.last) return std::nullopt;
    const uint64_t spent = now >= package.last ? now - package.last : package.range - package.last + now;
    joules += static_cast<double>(spent) * 1e-6;
    package.last = now;
  }
  return joules;
}

CostMeter::CostMeter() : clock_(measure_clock()), cpu_begin_(0) {
  energy_.take();
  cpu_begin_ = cpu_seconds();
}

Cost CostMeter::take(double count) {
  Cost cost;
  cost.cpu_seconds = (cpu_seconds() - cpu_begin_) / count;
  cost.joules = energy_.take();
  if (cost.joules) *cost.joules /= count;
  // Cores change their clock rate, so the faster of the clocks measured before and after the work is used.
  const double clock = std::max(clock_, measure_clock());
  if (clock > 0) cost.cycles = cost.cpu_seconds * clock;
  return cost;
}

}  // namespace bantam::probe
