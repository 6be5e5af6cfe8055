// A run in steps: for cores that must meanwhile do other work, feed a watchdog, show progress, or cancel the run.
#ifndef BANTAM_STEPS_H_
#define BANTAM_STEPS_H_

#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// Does the work of Session::run, one operator on one tile of rows at a time, on the thread that calls advance(). Its
/// outputs equal run()'s bit by bit.
///
///   SteppedRun run;
///   bool done = false;
///   Status status = SteppedRun::begin(session, batch, &run);
///   while (status == Status::kOk && !done) {
///     status = run.advance(4, &done);
///     feed_watchdog();
///   }
///
/// To cancel, stop calling advance(): the session is then in the state after a failure, its contexts unchanged. Every
/// other non-const call on the session ends the run: advance() then returns kInvalidArgument. The longest call takes as
/// long as the largest operator on a tile: SessionOptions::tile_rows rows of the widest layer.
class SteppedRun {
 public:
  /// Checks and takes the batch, as Session::run(batch) does, but computes nothing yet. The arrays of the batch, except
  /// features, need not outlive the call.
  static Status begin(Session* session, const Batch& batch, SteppedRun* out);
  /// Begins a run of the texts that add() added; they are lost if the run does not reach its end. kUnsupported: the
  /// texts are sources.
  static Status begin(Session* session, SteppedRun* out);

  /// Executes up to `operators` more operators (0: none), each on one tile. *done: all have run, and the outputs are
  /// there. A failure is final.
  Status advance(uint32_t operators, bool* done);

  /// Operators executed so far, and operators of the whole run.
  uint32_t executed() const { return at_.executed; }
  uint32_t operators() const { return operators_; }

  /// The position of the run. Internal.
  struct Place {
    uint32_t step, task, unit;  // `unit`: operator of the tile, or token of the sequence if layers run token by token
    uint32_t executed, linears;
    uint32_t longest, source;
    size_t worker_high, heads_high;
  };

 private:
  static Status start(Session* session, bool texts, SteppedRun* out);

  Session* session_ = nullptr;
  Place at_ = {};
  uint32_t operators_ = 0;
  uint8_t number_ = 0;  // the number of this run among the stepped runs of its session
  bool texts_ = false;
  bool done_ = false;
};

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_STEPS_H_
