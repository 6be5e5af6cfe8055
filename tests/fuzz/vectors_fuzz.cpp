// Files of word vectors and fastText models: the readers read them or throw their own Error.
#include <cstdint>
#include <sstream>
#include <string>

#include "source/fasttext.h"
#include "source/vector_file.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::fasttext_tree;
  using bantam::convert::FastTextLoss;
  using bantam::convert::FastTextModel;
  using bantam::convert::read_fasttext;
  using bantam::convert::read_vectors;
  using bantam::convert::VectorFormat;
  const bantam::fuzz::Limits limits(size);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  bantam::fuzz::may_refuse([&] {
    std::istringstream in(bytes);
    const FastTextModel model = read_fasttext(in, size, "model");
    if (model.loss == FastTextLoss::kHierarchical) fasttext_tree(model.label_counts);
  });
  for (const VectorFormat format : {VectorFormat::kText, VectorFormat::kBinary}) {
    bantam::fuzz::may_refuse([&] {
      std::istringstream in(bytes);
      read_vectors(in, size, format, "vectors", 0);
    });
  }
  return 0;
}
