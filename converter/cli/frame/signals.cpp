#include "cli/frame/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"
#include "base/output_file.h"

namespace bantam::cli {
namespace {

std::atomic<bool> g_in_line{false};

extern "C" void leave(int signal_number) {
  convert::unlink_temporaries();
  if (g_in_line.load(std::memory_order_relaxed)) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "\n", 1);
  }
  _exit(128 + signal_number);
}

/// Handles SIGBUS: a page of a mapped file no longer exists.
extern "C" void leave_torn_file(int) {
  convert::unlink_temporaries();
  constexpr char kText[] = "bantam: a file was cut short while it was read, or its disk cannot be read\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(static_cast<int>(convert::ExitCode::kIo));
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = leave;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);  // sent when the terminal closes
  action.sa_handler = leave_torn_file;
  sigaction(SIGBUS, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);  // writing beyond ulimit -f then fails with EFBIG
}

void end_line_on_interrupt(bool on) { g_in_line.store(on, std::memory_order_relaxed); }

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
  return sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 || sigismember(&set, SIGHUP) == 1;
}

}  // namespace bantam::cli
