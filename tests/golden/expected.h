// expected.jsonl: token ids and what the original library answers, one case a line.
#ifndef BANTAM_TESTS_GOLDEN_EXPECTED_H_
#define BANTAM_TESTS_GOLDEN_EXPECTED_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::golden {

struct Case {
  std::vector<int32_t> ids;
  std::vector<int32_t> segments, marks;                       // empty: all 0
  std::vector<int32_t> decoder_ids;                           // of encoder-decoders
  std::vector<std::vector<std::vector<int32_t>>> neighbours;  // of each chunk, of models that take them
  std::map<std::string, std::vector<double>> outputs;         // flattened, row-major
  /// Rows that a token output's values belong to (the first ones of these), when not all rows are stored.
  std::vector<uint32_t> first_piece;
};

/// All cases of `path`; keys that do not end in "logits", "state", "output" or "embedding" are no outputs.
std::vector<Case> read_expected(const std::filesystem::path& path);

/// Folders of committed models, sorted by name.
std::vector<std::string> model_names();
std::filesystem::path model_directory(const std::string& name);

/// A parameter that is a model's name, as GoogleTest takes it.
std::string test_name(const ::testing::TestParamInfo<std::string>& info);

/// A folder of larger models that is not part of the project: $BANTAM_SHARED or ../shared. Empty: absent.
std::filesystem::path shared_directory();

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_EXPECTED_H_
