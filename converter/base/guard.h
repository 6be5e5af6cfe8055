// guarded: turns exceptions into an Outcome at the border of the library, which no exception crosses.
#ifndef BANTAM_CONVERTER_BASE_GUARD_H_
#define BANTAM_CONVERTER_BASE_GUARD_H_

#include <functional>
#include <system_error>

#include "bantam/outcome.h"
#include "base/error.h"

namespace bantam::convert {

/// Returns the Error for a system call that failed inside a library: out of space if memory, threads or the disk are
/// exhausted, else I/O. The message contains the file's name if the library provides it.
Error error_of(const std::system_error& cause);

/// Calls `work` and converts any exception to an outcome: an Error to its code and problems, out of memory to code 7,
/// everything else to code 70.
bantam::Outcome guarded(const std::function<void()>& work);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_GUARD_H_
