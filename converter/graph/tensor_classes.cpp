#include "graph/tensor_classes.h"

#include "graph/access.h"

namespace bantam::convert {

std::vector<std::string> tensor_classes(const Graph& graph) {
  std::vector<std::string> classes(graph.model.tensors.size());
  const fb::SubgraphT& subgraph = main_subgraph(graph);
  // In the executable form a tensor may be written by several ops: the last writer so far is the producer.
  std::vector<fb::OpAttributes> writer(classes.size(), fb::OpAttributes::NONE);
  const auto name = [&](int32_t t, const char* value) {
    if (is_constant(graph, t) && classes[static_cast<size_t>(t)].empty()) classes[static_cast<size_t>(t)] = value;
  };
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    const fb::OpT& op = *subgraph.ops[i];
    if (const fb::EmbedT* embed = op.attributes.AsEmbed()) {
      for (const auto& table : embed->tables) name(table->tensor, "embeddings");
    }
    if (op.attributes.type == fb::OpAttributes::Linear) {
      const bool after = writer[static_cast<size_t>(op.inputs[0])] == fb::OpAttributes::Attention;
      const bool before =
          i + 1 < subgraph.ops.size() && subgraph.ops[i + 1]->attributes.type == fb::OpAttributes::SplitHeads;
      const bool layer = op.name.find("layer.") != std::string::npos;
      name(op.inputs[1], after || before ? "attention" : layer ? "ffn" : "heads");
    }
    for_each_read(op, [&](int32_t t) { name(t, "norms and biases"); });
    for_each_write(op, [&](int32_t t) { writer[static_cast<size_t>(t)] = op.attributes.type; });
  }
  return classes;
}

}  // namespace bantam::convert
