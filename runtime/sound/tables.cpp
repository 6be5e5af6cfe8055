#include "sound/tables.h"

namespace bantam::sound {

// Made while compiling: nothing runs at start-up, and it lies in flash.
constexpr Tables kMade = make_tables();
const Tables kTables = kMade;

}  // namespace bantam::sound
