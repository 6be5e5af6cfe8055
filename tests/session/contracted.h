// Calls computes_as_written in a file that is compiled with -ffp-contract=fast.
#ifndef BANTAM_TESTS_SESSION_CONTRACTED_H_
#define BANTAM_TESTS_SESSION_CONTRACTED_H_

namespace bantam {

/// Returns true if this file's compiler and this machine support fused multiply-adds; otherwise do not call the other
/// function.
bool has_fma();
bool computes_as_written_when_contracted();

}  // namespace bantam

#endif  // BANTAM_TESTS_SESSION_CONTRACTED_H_
