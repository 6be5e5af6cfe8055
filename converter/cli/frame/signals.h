// Handles Ctrl-C, closed pipes, and mapped files that another process truncates.
#ifndef BANTAM_CONVERTER_CLI_FRAME_SIGNALS_H_
#define BANTAM_CONVERTER_CLI_FRAME_SIGNALS_H_

namespace bantam::cli {

/// Ignores SIGPIPE and SIGXFSZ (writes then fail with EPIPE and EFBIG). SIGINT, SIGTERM and SIGHUP end the process at
/// once with exit code 128 + the signal's number, after unlinking the temporary file of every convert::OutputFile.
/// SIGBUS, which reading a truncated mapped file raises, ends it with a message and exit code 3.
void install_signal_handlers();

/// Sets whether standard error ends with an unfinished line; if so, an interrupt ends the line before the shell's
/// prompt appears.
void end_line_on_interrupt(bool on);

/// Defers SIGINT, SIGTERM and SIGHUP while an object lives, for work whose files a handler could not remove. The
/// signals are delivered when the object is destroyed.
class DeferredInterrupts {
 public:
  DeferredInterrupts();
  ~DeferredInterrupts();
  DeferredInterrupts(const DeferredInterrupts&) = delete;
  DeferredInterrupts& operator=(const DeferredInterrupts&) = delete;

  /// Returns true if a signal is waiting.
  bool pending() const;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_SIGNALS_H_
