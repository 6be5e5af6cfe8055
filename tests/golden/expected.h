// expected.jsonl: token ids and the answers of the original library, one case per line.
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
  std::vector<int32_t> decoder_ids;                           // for encoder-decoders
  std::vector<std::vector<std::vector<int32_t>>> neighbours;  // of each chunk, for models that read them
  std::map<std::string, std::vector<double>> outputs;         // flattened, row-major
  /// If not all rows are stored: the rows to which a token output's values belong (the values may be fewer than these).
  std::vector<uint32_t> first_piece;
};

/// Reads all cases of `path`. Outputs are the keys that end in "logits", "state", "output" or "embedding".
std::vector<Case> read_expected(const std::filesystem::path& path);

/// Returns the folders of committed models, sorted by name.
std::vector<std::string> model_names();
std::filesystem::path model_directory(const std::string& name);

/// Returns a GoogleTest name for a parameter that is a model's name.
std::string test_name(const ::testing::TestParamInfo<std::string>& info);

/// Returns the folder of larger models that are not part of the project: $BANTAM_SHARED or ../shared; empty if it is
/// absent.
std::filesystem::path shared_directory();

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_EXPECTED_H_
