// Code that fuzzers of the converter's readers share: a refusal must be an Error with a reason, and some readers need a
// file.
#ifndef BANTAM_TESTS_FUZZ_REFUSALS_H_
#define BANTAM_TESTS_FUZZ_REFUSALS_H_

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/error.h"

namespace bantam::fuzz {

/// Runs work(), which may throw an Error with a reason. Any other exception, or an Error without a reason, ends the
/// process.
template <typename Work>
void may_refuse(const Work& work) {
  try {
    work();
  } catch (const convert::Error& error) {
    if (error.problems().empty()) std::abort();
  }
}

/// A file for this process alone, whose name ends in `ending`; removed at exit.
class InputFile {
 public:
  explicit InputFile(const std::string& ending)
      : path_(std::filesystem::temp_directory_path() / ("bantam-fuzz-" + std::to_string(getpid()) + ending)) {}
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const uint8_t* data, size_t size) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_REFUSALS_H_
