// In builds with the address sanitizer: while an operator runs, the only accessible rows of the arena are its operands
// and the scratch memory that it requested. Supports one worker.
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

  /// Call after a run, because a failed run leaves the guard in the state of the failing operator.
  void lift() const;

 private:
  void close(uint32_t op) const;

  Session* session_;
  Session::Observer observer_;
};

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_ARENA_GUARD_H_
