#include "bantam/steps.h"

#include "session/layout.h"
#include "session/state.h"

namespace bantam {

Status SteppedRun::start(Session* session, bool texts, SteppedRun* out) {
  SessionState& s = state(session);
  out->session_ = session;
  out->texts_ = texts;
  out->operators_ = begin_steps(s, &out->at_);
  out->number_ = ++s.step_runs;
  s.filled = Filled::kSteps;
  return Status::kOk;
}

Status SteppedRun::begin(Session* session, const Batch& batch, SteppedRun* out) {
  if (session == nullptr || out == nullptr) return Status::kInvalidArgument;
  *out = {};
  const Status status = take_batch(state(session), batch);
  return status == Status::kOk ? start(session, false, out) : status;
}

Status SteppedRun::begin(Session* session, SteppedRun* out) {
  if (session == nullptr || out == nullptr) return Status::kInvalidArgument;
  *out = {};
  SessionState& s = state(session);
  s.has_run = false;
  if (s.filled != Filled::kText || s.sequences == 0) return Status::kInvalidArgument;
  if (reads_sources(s.limits)) return Status::kUnsupported;
  const Status status = take_texts(s, nullptr, 0);
  return status == Status::kOk ? start(session, true, out) : status;
}

Status SteppedRun::advance(uint32_t operators, bool* done) {
  if (session_ == nullptr || done == nullptr) return Status::kInvalidArgument;
  *done = done_;
  if (done_) return Status::kOk;
  SessionState& s = state(session_);
  if (s.filled != Filled::kSteps || s.step_runs != number_) return Status::kInvalidArgument;
  const Status status = execute_some(s, operators, &at_, &done_);
  if (status != Status::kOk) {
    s.filled = Filled::kNothing;
    done_ = false;
    return status;
  }
  if (done_) s.filled = texts_ ? Filled::kText : Filled::kIds;
  *done = done_;
  return Status::kOk;
}

}  // namespace bantam
