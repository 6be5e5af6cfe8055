// Ctrl-C and closed pipes.
#ifndef BANTAM_CONVERTER_CLI_SIGNALS_H_
#define BANTAM_CONVERTER_CLI_SIGNALS_H_

namespace bantam::cli {

/// Ignores SIGPIPE (writes then fail with EPIPE) and makes SIGINT and SIGTERM leave at once with 128 + the
/// signal's number, after unlinking the temporary file that remove_on_interrupt() named.
void install_signal_handlers();

/// `path` (at most 4,095 bytes, copied) is unlinked when the command is interrupted; null: nothing is.
void remove_on_interrupt(const char* path);

/// While one lives, SIGINT and SIGTERM wait: for work whose traces a handler could not remove. They arrive when it ends.
class DeferredInterrupts {
 public:
  DeferredInterrupts();
  ~DeferredInterrupts();
  DeferredInterrupts(const DeferredInterrupts&) = delete;
  DeferredInterrupts& operator=(const DeferredInterrupts&) = delete;

  /// Whether one is waiting.
  bool pending() const;
};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_SIGNALS_H_
