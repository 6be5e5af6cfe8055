// A folder for a test's files.
#ifndef BANTAM_TESTS_HOST_FOLDER_H_
#define BANTAM_TESTS_HOST_FOLDER_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace bantam::host {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest() : folder_(std::filesystem::temp_directory_path() / ("bantam_host_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

}  // namespace bantam::host

#endif  // BANTAM_TESTS_HOST_FOLDER_H_
