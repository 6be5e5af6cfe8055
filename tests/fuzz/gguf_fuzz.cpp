// A GGUF file: reading it, its settings, its tensors and its tokenizer succeeds or throws the reader's Error.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "source/gguf/gguf_file.h"
#include "source/gguf/gguf_models.h"
#include "source/gguf/gguf_tokenizer.h"
#include "source/gguf/gguf_weights.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/refusals.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::GgufFile;
  using bantam::convert::GgufModel;
  using bantam::convert::GgufWeights;
  using bantam::convert::Graph;
  using bantam::convert::Problems;
  const bantam::fuzz::Limits limits(size);
  static const bantam::fuzz::InputFile place(".gguf");
  place.write(data, size);
  bantam::fuzz::may_refuse([] {
    const auto file = std::make_shared<const GgufFile>(place.path());
    bantam::fuzz::may_refuse([&] {
      const GgufModel& model = bantam::convert::gguf_model(*file);
      Problems problems;
      std::vector<std::string> notes;
      static_cast<void>(gguf_config(model, *file, problems, notes));
      const GgufWeights weights(file, model);
      for (const auto& [name, tensor] : weights.tensors()) {
        if (weights.read_bytes(name).size() != tensor.size) std::abort();
      }
    });
    bantam::fuzz::may_refuse([&] {
      Graph graph;
      std::vector<std::string> problems;
      const bool made = import_tokenizer(read_gguf_tokenizer(*file), graph, problems);
      if (made != (graph.model.tokenizers.size() == 1)) std::abort();
    });
  });
  return 0;
}
