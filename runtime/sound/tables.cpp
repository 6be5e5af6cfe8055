#include "sound/tables.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Sound)

namespace bantam::sound {

// Made while compiling: nothing runs at start-up, and it lies in flash.
constexpr Tables kMade = make_tables();
const Tables kTables = kMade;

}  // namespace bantam::sound

#endif  // BANTAM_IF_LINKED(Sound)
