// write_model OUT: writes the random int8 model with a tokenizer, for programs that are not linked with these tests.
// write_model OUT f32|f16|int8: writes a tiny model, tests/fuzz/corpus/model/tiny-*.bin, which must be rewritten when
// the format changes.
#include <cstring>
#include <fstream>

#include "tests/session/tokenizer_model.h"

namespace {

using bantam::testing::WeightType;

std::vector<uint8_t> tiny(const char* type) {
  bantam::testing::BertShape shape;
  shape.layers = 1;
  shape.hidden = 16;
  shape.heads = 2;
  shape.ffn = 16;
  shape.vocabulary = 8;
  shape.positions = 8;
  const WeightType weights = std::strcmp(type, "f32") == 0   ? WeightType::kF32
                             : std::strcmp(type, "f16") == 0 ? WeightType::kF16
                                                             : WeightType::kI8;
  return bantam::testing::build(bantam::testing::random_bert(shape, 1), weights).finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const std::vector<uint8_t> bytes = argc == 3 ? tiny(argv[2]) : bantam::testing::model_with_tokenizer(WeightType::kI8);
  std::ofstream file(argv[1], std::ios::binary);
  for (const uint8_t byte : bytes) file.put(static_cast<char>(byte));
  return file.good() ? 0 : 1;
}
