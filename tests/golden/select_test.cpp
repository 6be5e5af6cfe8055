// Rows that scores select (XLNet's search for answers): the same bits for every instruction set, tile and company in the batch.
#include <gtest/gtest.h>

#include "golden/expected.h"
#include "golden/same_bits.h"
#include "import/hugging_face.h"

namespace bantam::golden {
namespace {

TEST(Select, SameBitsEverywhereAndInAnyCompany) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < 23; ++i) lengths.push_back(1 + i * 7 % 37);
  const testing::Ids all = testing::random_ids(lengths, 60, 1, 5);
  for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
    SCOPED_TRACE(fb::EnumNameDType(type));
    convert::TypeOptions types;
    types.weights = type;
    types.small_matrix = 0;
    expect_same_bits(convert::build(convert::import_hugging_face(model_directory("xlnet-search")), types), all);
  }
}

}  // namespace
}  // namespace bantam::golden
