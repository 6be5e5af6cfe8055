#include "network/blocks/vectors.h"

#include "graph/task_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "network/blocks/attention_pooling.h"

namespace bantam::convert {
namespace {

/// Adds a head's layer if the file has it and no module of sentence-transformers computes the vectors.
void add_own_layer(const HeadLayer& layer, uint32_t in, Weights& weights, SentencePooling* modules) {
  const std::string weight = std::string(layer.name) + ".weight", bias = std::string(layer.name) + ".bias";
  constexpr uint64_t kMostOwnColumns = 1U << 16;
  const auto rows = layer.of_base ? weights.encoder_rows(weight) : weights.head_rows(weight);
  const auto width = static_cast<uint32_t>(std::min(rows.value_or(0), kMostOwnColumns));
  if (!modules->dense.empty() || width == 0) return;
  const auto read = [&](const std::string& name, const std::vector<uint32_t>& shape) {
    return layer.of_base ? weights.encoder(name, shape) : weights.head(name, shape);
  };
  DenseModule own;
  own.name = own.tensors = layer.name;
  own.in = in;
  own.out = width;
  own.weight = read(weight, {own.out, own.in});
  if (layer.of_base ? weights.has_encoder(bias) : weights.has_head(bias)) own.bias = read(bias, {own.out});
  modules->dense.push_back(std::move(own));
}

/// x / |x| is the RMS norm with gamma 1 / sqrt(width).
EpilogueSpec unit_length(Builder& builder, uint32_t width) {
  EpilogueSpec epilogue;
  epilogue.norm = fb::NormKind::rms;
  epilogue.epsilon = 1e-24F;
  Values gamma;
  gamma.values.assign(width, 1.0F / std::sqrt(static_cast<float>(width)));
  epilogue.gamma = builder.vector("normalize.gamma", std::move(gamma));
  return epilogue;
}

int32_t dense_modules(Builder& builder, int32_t x, const SentencePooling& pooling) {
  for (size_t i = 0; i < pooling.dense.size(); ++i) {
    const DenseModule& module = pooling.dense[i];
    const bool last = pooling.normalize && i + 1 == pooling.dense.size();
    EpilogueSpec epilogue = last ? unit_length(builder, module.out) : EpilogueSpec{};
    epilogue.activation = module.activation;
    const int32_t weight = builder.linear_weight(module.tensors + ".weight", module.out, module.in, module.weight);
    const int32_t bias = module.bias.values.empty() ? kAbsent : builder.vector(module.tensors + ".bias", module.bias);
    x = builder.linear(module.name, x, weight, bias, epilogue);
  }
  return x;
}

/// Reads the pooling from a source whose settings state it.
SentencePooling read_stated_pooling(const Fields& config) {
  SentencePooling pooling;
  const std::string stated = config.text(kTextPooling, "mean");
  pooling.pool = stated == "cls" ? fb::PoolKind::first : stated == "last" ? fb::PoolKind::last : fb::PoolKind::mean;
  return pooling;
}

/// Vectors are divided by their length if the model's own settings say so: averages of a static table's rows, or states
/// of recurrent layers.
SentencePooling read_own_pooling(const Fields& config) {
  SentencePooling pooling;
  pooling.normalize = config.flag("normalize", false);
  return pooling;
}

}  // namespace

SentencePooling read_vectors(const ModelSource& source, const Head& head, const EncoderConfig& config,
                             const Fields& fields, Weights& weights, Problems& problems,
                             std::vector<std::string>& notes) {
  if (fields.has(kTextPooling)) return read_stated_pooling(fields);
  const bool modules = !source.modules.empty();
  const bool own = config.family->block.averaged || head.rows == Rows::kState;
  if (own && !modules) return read_own_pooling(fields);
  if (modules || (head.layers.empty() && head.rows != Rows::kProbe)) {
    return read_sentence_pooling(source, config.hidden, problems, notes);
  }
  SentencePooling pooling;
  pooling.attends = head.rows == Rows::kProbe;
  if (pooling.attends) return pooling;
  pooling.pool = head.rows == Rows::kLast ? fb::PoolKind::last : fb::PoolKind::first;
  add_own_layer(head.layers.front(), config.hidden, weights, &pooling);
  return pooling;
}

SentencePooling read_token_vectors(const ModelSource& source, const Head& head, const EncoderConfig& config,
                                   Weights& weights, Problems& problems) {
  SentencePooling pooling = read_token_modules(source, config.hidden, problems);
  pooling.normalize = true;
  add_own_layer(head.layers.front(), config.hidden, weights, &pooling);
  return pooling;
}

int32_t add_vector(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                   const SentencePooling& pooling) {
  if (pooling.attends) {
    return add_attention_pooling(builder, weights, config, encoder, unit_length(builder, config.hidden));
  }
  return add_pooled_vector(builder, encoder.hidden, pooling);
}

int32_t add_pooled_vector(Builder& builder, int32_t rows, const SentencePooling& pooling) {
  fb::PoolT pool;
  pool.kind = pooling.pool;
  pool.l2 = pooling.normalize && pooling.dense.empty();
  // "cls" and "lasttoken" read their row even if the prompt is excluded.
  const bool skips = pool.kind != fb::PoolKind::first && pool.kind != fb::PoolKind::last;
  if (!pooling.include_prompt && skips) pool.skip_first = kPromptRows;
  const int32_t vector = dense_modules(builder, builder.pool("pooling", rows, pool), pooling);
  const uint32_t columns = builder.width(vector);
  const uint32_t kept = pooling.width(columns);
  return kept == columns ? vector : builder.slice("truncate", vector, 0, kept);
}

int32_t add_unit_rows(Builder& builder, int32_t x) {
  return builder.row("normalize", x, unit_length(builder, builder.width(x)));
}

int32_t add_token_vectors(Builder& builder, int32_t rows, const SentencePooling& pooling) {
  return dense_modules(builder, pooling.dense.empty() ? add_unit_rows(builder, rows) : rows, pooling);
}

}  // namespace bantam::convert
