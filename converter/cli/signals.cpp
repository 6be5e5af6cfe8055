#include "cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace bantam::cli {
namespace {

// Written before `g_armed` is set and read by the handler only after: no lock is possible in a handler.
char g_path[4096];
std::atomic<bool> g_armed{false};

extern "C" void leave(int signal_number) {
  if (g_armed.load(std::memory_order_acquire)) unlink(g_path);
  _exit(128 + signal_number);
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = leave;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

void remove_on_interrupt(const char* path) {
  g_armed.store(false, std::memory_order_release);
  if (path == nullptr || std::strlen(path) >= sizeof g_path) return;
  std::strcpy(g_path, path);
  g_armed.store(true, std::memory_order_release);
}

DeferredInterrupts::DeferredInterrupts() {
  const sigset_t set = interrupts();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

DeferredInterrupts::~DeferredInterrupts() {
  const sigset_t set = interrupts();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

bool DeferredInterrupts::pending() const {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1;
}

}  // namespace bantam::cli
