// guarded: the border of the library, which no exception crosses.
#ifndef BANTAM_CONVERTER_BASE_GUARD_H_
#define BANTAM_CONVERTER_BASE_GUARD_H_

#include <functional>

#include "bantam/outcome.h"

namespace bantam::convert {

/// Calls `work`; what it throws becomes the outcome: an Error its code and problems, out of memory code 7, everything else code 70.
bantam::Outcome guarded(const std::function<void()>& work);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_GUARD_H_
