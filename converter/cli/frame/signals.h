// Ctrl-C, closed pipes and mapped files that are cut short.
#ifndef BANTAM_CONVERTER_CLI_FRAME_SIGNALS_H_
#define BANTAM_CONVERTER_CLI_FRAME_SIGNALS_H_

namespace bantam::cli {

/// Ignores SIGPIPE and SIGXFSZ (writes then fail with EPIPE and EFBIG) and makes SIGINT, SIGTERM and SIGHUP leave at
/// once with 128 + the signal's number, after unlinking every convert::OutputFile's temporary file. So does SIGBUS, which reading a
/// mapped file raises that somebody cuts short: with a message and exit code 3.
void install_signal_handlers();

/// Sets whether an unfinished line stands on standard error; if so, an interrupt ends it before the shell's prompt.
void end_line_on_interrupt(bool on);

/// While an object lives, SIGINT, SIGTERM and SIGHUP wait: for work whose traces a handler could not remove. They
/// arrive when it ends.
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
