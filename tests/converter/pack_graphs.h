// Small graphs for the packing tests, made with the importers' Builder.
#ifndef BANTAM_TESTS_CONVERTER_PACK_GRAPHS_H_
#define BANTAM_TESTS_CONVERTER_PACK_GRAPHS_H_

#include <cmath>
#include <random>
#include <string>

#include "graph/builder.h"
#include "prune/prune.h"

namespace bantam::convert::fixture {

/// Returns values in about [-1, 1], the same for the same seed.
inline Values random_values(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  Values values;
  values.source_bytes = count * 4;
  for (size_t i = 0; i < count; ++i) {
    values.values.push_back(static_cast<float>(generator() % 20001) / 10000.0f - 1.0f);
  }
  return values;
}

struct Shape {
  uint32_t layers = 2;
  uint32_t hidden = 40;
  uint32_t heads = 5;
  uint32_t inner = 72;
  uint32_t vocabulary = 211;
  uint32_t labels = 3;
  bool tied_output = false;  // a token output that multiplies with the word embeddings
  uint32_t positions = 64;
  uint32_t tags = 0;  // number of labels of a token output "tags"
};

/// A BERT encoder with a pooled classification head (output "logits") and, if requested, a tied token output
/// ("prediction_logits").
inline Graph bert_graph(const Shape& shape) {
  Graph graph;
  Builder build(graph);
  uint32_t seed = 1;
  const auto vector = [&](const std::string& name, uint32_t width) {
    return build.vector(name, random_values(width, ++seed));
  };
  const auto linear = [&](const std::string& name, int32_t x, uint32_t rows, EpilogueSpec epilogue) {
    const uint32_t columns = build.width(x);
    const int32_t w =
        build.linear_weight(name + ".weight", rows, columns, random_values(size_t{rows} * columns, ++seed));
    return build.linear(name, x, w, vector(name + ".bias", rows), epilogue);
  };
  const auto norm = [&](const std::string& name) {
    EpilogueSpec epilogue;
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = vector(name + ".gamma", shape.hidden);
    epilogue.beta = vector(name + ".beta", shape.hidden);
    return epilogue;
  };
  build.enter(fb::Part::embeddings);
  build.input("input_ids", fb::InputKind::ids, shape.vocabulary);
  const int32_t words = build.embedding("words", shape.vocabulary, shape.hidden,
                                        random_values(size_t{shape.vocabulary} * shape.hidden, ++seed));
  const int32_t places = build.embedding("positions", shape.positions, shape.hidden,
                                         random_values(size_t{shape.positions} * shape.hidden, ++seed));
  int32_t x = build.embed("embeddings", {{words, fb::IndexSource::ids}, {places, fb::IndexSource::positions}},
                          norm("embeddings.norm"));
  for (uint32_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "layer." + std::to_string(i);
    build.enter(fb::Part::attention, static_cast<int32_t>(i));
    const int32_t qkv = linear(layer + ".qkv", x, 3 * shape.hidden, {});
    const int32_t context =
        build.attention(layer + ".attention", build.split_heads(layer + ".split", qkv, shape.heads));
    EpilogueSpec after = norm(layer + ".norm1");
    after.residual = x;
    x = linear(layer + ".out", context, shape.hidden, after);
    build.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    EpilogueSpec gelu;
    gelu.activation = fb::ActivationKind::gelu;
    const int32_t inner = linear(layer + ".ffn1", x, shape.inner, gelu);
    after = norm(layer + ".norm2");
    after.residual = x;
    x = linear(layer + ".ffn2", inner, shape.hidden, after);
  }
  build.enter(fb::Part::head);
  EpilogueSpec tanh;
  tanh.activation = fb::ActivationKind::tanh;
  const int32_t pooled = linear("pooler", build.pool("first", x, fb::PoolKind::first, false), shape.hidden, tanh);
  build.output("logits", fb::OutputRole::labels, linear("classifier", pooled, shape.labels, {}));
  if (shape.tags != 0) build.output("tags", fb::OutputRole::tags, linear("tagger", x, shape.tags, {}));
  if (shape.tied_output) {
    build.tie(words);
    build.output("prediction_logits", fb::OutputRole::words,
                 build.linear("predictions", x, words, vector("predictions.bias", shape.vocabulary), {}));
  }
  graph.model.max_sequence = shape.positions;
  return graph;
}

/// Sets 85 % of each matrix's weights to 0, in whole units of `pattern`.
inline void prune_most(Graph& graph, PrunePattern pattern) {
  PruneOptions options;
  options.share = 0.85;
  options.scope = PruneScope::kUniform;
  options.pattern = pattern;
  prune(graph, options, {}, {});
}

}  // namespace bantam::convert::fixture

#endif  // BANTAM_TESTS_CONVERTER_PACK_GRAPHS_H_
