// The larger models outside the project, if they are present, satisfy the README's promise about f32 files.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "golden/compare.h"
#include "golden/expected.h"
#include "tests/effort.h"

namespace bantam::golden::shared_models_test {
namespace {

/// The larger models run every n-th case. With sanitizers, the smallest model already covers the same code.
constexpr size_t kStride = testing::rounds(1, 25);

#if defined(BANTAM_SANITIZED)
const std::vector<std::string> kSharedModels = {"voice-commands"};
#else
const std::vector<std::string> kSharedModels = {"minilm-sst2", "minilm-snips-joint", "voice-commands"};
#endif

class SharedModel : public ::testing::TestWithParam<std::string> {};

TEST_P(SharedModel, F32EqualsTransformers) {
  const std::filesystem::path shared = shared_directory();
  if (shared.empty()) GTEST_SKIP() << "no folder of larger models: set BANTAM_SHARED to one";
  const std::filesystem::path directory = shared / "models" / GetParam();
  if (!std::filesystem::exists(directory / "expected.jsonl")) GTEST_SKIP() << directory << " is not there";
  expect_equal(directory, kStride);
}

INSTANTIATE_TEST_SUITE_P(Models, SharedModel, ::testing::ValuesIn(kSharedModels), test_name);

}  // namespace
}  // namespace bantam::golden::shared_models_test
