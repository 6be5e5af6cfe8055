#include "sound/tables.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Sound)

namespace bantam::sound {

// Computed at compile time: nothing runs at startup, and the tables lie in flash.
constexpr Tables kMade = make_tables();
const Tables kTables = kMade;

}  // namespace bantam::sound

#endif  // BANTAM_IF_LINKED(Sound)
