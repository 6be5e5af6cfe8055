// The bytes of a file, for programs that give files to a fuzz target.
#ifndef BANTAM_TESTS_FUZZ_BYTES_OF_H_
#define BANTAM_TESTS_FUZZ_BYTES_OF_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace bantam::fuzz {

/// All bytes of the file; none where it cannot be opened.
inline std::vector<uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_BYTES_OF_H_
