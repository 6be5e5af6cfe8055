// Model directories made on the spot: a tiny BERT whose tensors and settings a test then spoils.
#ifndef BANTAM_TESTS_CONVERTER_IMPORT_FIXTURE_H_
#define BANTAM_TESTS_CONVERTER_IMPORT_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace bantam::convert::fixture {

struct TensorData {
  std::string dtype = "F32";
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;
};
using TensorMap = std::map<std::string, TensorData>;

/// An F32 tensor whose elements are small and all different.
TensorData tensor(std::vector<uint64_t> shape);

/// The bytes of a safetensors file.
std::string safetensors_bytes(const TensorMap& tensors, const std::map<std::string, std::string>& metadata = {});
/// The same with a header of one's own.
std::string with_header(const std::string& header, const std::string& data);

/// BertForSequenceClassification, 2 layers, hidden 8, 2 heads, intermediate 12, vocabulary 10, 6 positions, 3 labels.
TensorMap tiny_bert();
nlohmann::json tiny_config();

void rename(TensorMap& tensors, const std::string& from, const std::string& to);
/// Replaces `from` by `to` in every name.
TensorMap renamed(const TensorMap& tensors, const std::string& from, const std::string& to);

/// A directory of the running test's own, removed with the object.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const;
  /// config.json and model.safetensors.
  void write_model(const nlohmann::json& config, const TensorMap& tensors) const;

 private:
  std::filesystem::path path_;
};

/// Runs `work`, which must throw an Error with this code, and returns all its problems, one a line.
std::string problems_of(ExitCode code, const std::function<void()>& work);

}  // namespace bantam::convert::fixture

#endif  // BANTAM_TESTS_CONVERTER_IMPORT_FIXTURE_H_
