// Sizes of files and memory in readable form: powers of ten (kB, MB, GB) and of two (KiB, MiB, GiB).
#ifndef BANTAM_CONVERTER_BASE_READABLE_H_
#define BANTAM_CONVERTER_BASE_READABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bantam::convert {

/// "812 B", "34.2 kB", "24.1 MB", "2.0 GB": 1 MB = 10^6 bytes.
std::string readable_bytes(uint64_t bytes);

/// Parses "24095393", "16MB" (kB, MB, GB: powers of 1000; small or capital k) or "16MiB" (KiB, MiB, GiB: powers of
/// 1024) to bytes, with or without a space or a fraction. Returns nullopt for other text and for less than one byte.
std::optional<uint64_t> parse_bytes(std::string_view text);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_READABLE_H_
