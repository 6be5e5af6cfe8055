// Figures for people.
#ifndef BANTAM_CONVERTER_BASE_READABLE_H_
#define BANTAM_CONVERTER_BASE_READABLE_H_

#include <cstdint>
#include <string>

namespace bantam::convert {

/// "812 B", "34.2 KB", "22.9 MB" (1 KB = 1024 B).
std::string readable_bytes(uint64_t bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_READABLE_H_
