// Token ids as a person writes them.
#ifndef BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_
#define BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::cli {

/// "101, 2054,102" to numbers; throws with the option's name and the place.
std::vector<int32_t> parse_numbers(const std::string& list, const char* option);

/// Throws where a number is not in [0, limit): which, for a message better than the status alone.
void check_range(const std::vector<int32_t>& numbers, uint32_t limit, const char* option);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_
