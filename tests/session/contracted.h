// What computes_as_written says in a file that is compiled with -ffp-contract=fast.
#ifndef BANTAM_TESTS_SESSION_CONTRACTED_H_
#define BANTAM_TESTS_SESSION_CONTRACTED_H_

namespace bantam {

/// Whether this file's compiler and this machine know fused multiply-adds; else the other must not be called.
bool has_fma();
bool computes_as_written_when_contracted();

}  // namespace bantam

#endif  // BANTAM_TESTS_SESSION_CONTRACTED_H_
