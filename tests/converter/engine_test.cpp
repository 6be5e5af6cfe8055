// To be run, a file must meet conditions beyond those that Model::open checks.
#include "run/engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "converter/import_fixture.h"
#include "tests/session/bert.h"

namespace bantam::convert {
namespace {

void run(const bantam::testing::ModelBuilder& builder) {
  const fixture::Directory directory;
  const std::vector<uint8_t> bytes = builder.finish();
  directory.write("m.bantam", std::string(bytes.begin(), bytes.end()));
  const ModelFile file((directory.path() / "m.bantam").string());
  const Engine engine(file, {});
}

/// Such a file would give other answers on another processor: security trial, finding 14.
TEST(Engine, RefusesSumsThatAreNotThoseOfTheWeights) {
  bantam::testing::ModelBuilder builder =
      bantam::testing::build(bantam::testing::random_bert({}, 3), bantam::testing::WeightType::kI8);
  EXPECT_NO_THROW(run(builder));
  for (const auto& tensor : builder.model.tensors) {
    if (tensor->name != "pool") continue;
    uint8_t* place = builder.data.data() + tensor->sums->offset();
    int32_t sum = 0;
    std::memcpy(&sum, place, sizeof(sum));
    ++sum;
    std::memcpy(place, &sum, sizeof(sum));
  }
  const std::string said = fixture::problems_of(ExitCode::kInvalid, [&] { run(builder); });
  EXPECT_NE(said.find("m.bantam: tensor pool: the sum of row 0"), std::string::npos) << said;
  EXPECT_NE(said.find("bantam verify"), std::string::npos) << said;
}

}  // namespace
}  // namespace bantam::convert
