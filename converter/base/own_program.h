// own_program: the executable file of this process.
#ifndef BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_
#define BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_

#include <filesystem>

namespace bantam::convert {

/// Its path, with symbolic links resolved; empty if the system does not provide it. Nobody can write to that file while
/// it runs (ETXTBSY), so that it may stay mapped as long as the process runs.
std::filesystem::path own_program();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_
