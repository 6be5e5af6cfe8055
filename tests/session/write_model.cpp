// write_model OUT: the random int8 model with a tokenizer, for programs that are not linked with these tests.
#include <fstream>

#include "tests/session/tokenizer_model.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<uint8_t> bytes = bantam::testing::model_with_tokenizer(bantam::testing::WeightType::kI8);
  std::ofstream file(argv[1], std::ios::binary);
  for (const uint8_t byte : bytes) file.put(static_cast<char>(byte));
  return file.good() ? 0 : 1;
}
