#include "import/source/write_back.h"

namespace bantam::convert {

std::vector<std::string> not_written_back(const Graph& graph, const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const fb::TensorT& tensor = *graph.model.tensors[i];
    if (graph.constants[i] == nullptr || tensor.source.empty()) continue;
    uint64_t stored = 0;
    bool known = true;
    for (const std::string& name : tensor.source) {
      const auto found = checkpoint.tensors().find(name);
      known = known && found != checkpoint.tensors().end();
      if (known) stored += found->second.stored->elements;
    }
    if (!known || stored != graph.constants[i]->values.size()) names.push_back(tensor.name);
  }
  return names;
}

}  // namespace bantam::convert
