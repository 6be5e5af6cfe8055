// Parses token ids that a person writes.
#ifndef BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_
#define BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bantam::cli {

/// Parses "101, 2054,102"; errors name the option and the position.
std::vector<int32_t> parse_numbers(const std::string& list, const char* option);

/// Throws if a number is not in [0, limit). The message names the number, which a Status could not.
void check_range(const std::vector<int32_t>& numbers, uint32_t limit, const char* option);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_NUMBERS_H_
