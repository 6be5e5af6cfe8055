// own_program: the file that this process runs.
#ifndef BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_
#define BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_

#include <filesystem>

namespace bantam::convert {

/// Its path, symbolic links followed; empty where the system does not say. While it runs nobody can write into that file
/// (ETXTBSY), so that it may be mapped however long the process waits.
std::filesystem::path own_program();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_OWN_PROGRAM_H_
