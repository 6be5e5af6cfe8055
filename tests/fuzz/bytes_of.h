// Reads files for programs that pass them to a fuzz target.
#ifndef BANTAM_TESTS_FUZZ_BYTES_OF_H_
#define BANTAM_TESTS_FUZZ_BYTES_OF_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace bantam::fuzz {

/// Returns all bytes of the file; none if it cannot be opened.
inline std::vector<uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_BYTES_OF_H_
