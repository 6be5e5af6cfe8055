// guarded: the border of the library, which no exception crosses.
#ifndef BANTAM_CONVERTER_BASE_GUARD_H_
#define BANTAM_CONVERTER_BASE_GUARD_H_

#include <functional>
#include <system_error>

#include "bantam/outcome.h"
#include "base/error.h"

namespace bantam::convert {

/// Returns the Error for a call of the system that failed inside a library: out of space where memory, threads or the disk
/// are exhausted, else I/O. Its message has the file's name where the library gives it.
Error error_of(const std::system_error& cause);

/// Calls `work`; what it throws becomes the outcome: an Error its code and problems, out of memory code 7, everything else code 70.
bantam::Outcome guarded(const std::function<void()>& work);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_GUARD_H_
