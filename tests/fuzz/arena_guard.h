// In builds with the address sanitizer: while an operator runs, nothing of the arena's rows is there but its operands and the scratch
// memory that it said it needs. One worker.
#ifndef BANTAM_TESTS_FUZZ_ARENA_GUARD_H_
#define BANTAM_TESTS_FUZZ_ARENA_GUARD_H_

#include "bantam/session.h"

namespace bantam::fuzz {

class ArenaGuard {
 public:
  /// Guards the arena of a session with one worker, until it is destroyed.
  explicit ArenaGuard(Session* session);
  ~ArenaGuard();
  ArenaGuard(const ArenaGuard&) = delete;
  ArenaGuard& operator=(const ArenaGuard&) = delete;

  /// After a run: a failure leaves the guard where the operator stood.
  void lift() const;

 private:
  void close(uint32_t op) const;

  Session* session_;
  Session::Observer observer_;
};

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_ARENA_GUARD_H_
