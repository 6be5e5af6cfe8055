#include "network/blocks/entities.h"

#include <algorithm>

namespace bantam::convert {

void EntityRows::embed() {
  if (!family_.has(Slot::kEntities)) return;
  const uint32_t count = config_.entities, width = config_.entity_width;
  const std::string base = std::string(family_.base) + ".", name = family_.name(Slot::kEntities);
  builder_.enter(fb::Part::embeddings);
  builder_.input("entity_ids", fb::InputKind::marks, count + 1);
  // Row 0 stands for no entity.
  Values table = weights_.encoder(name, {count, width});
  if (!table.values.empty()) table.values.insert(table.values.begin(), width, 0.0F);
  const int32_t vectors = builder_.embedding(base + name, count + 1, width, std::move(table));
  rows_ = builder_.embed("entities", {{vectors, fb::IndexSource::marks}}, {});
  masked_ = true;
  Values flags;
  flags.values.assign(size_t{2} * width, 0.0F);
  std::fill(flags.values.begin() + static_cast<ptrdiff_t>(width), flags.values.end(), 1.0F);
  const int32_t two = builder_.table(base + "entities.flags", 2, width, std::move(flags));
  counts_ = builder_.embed("entities.count", {{two, fb::IndexSource::marked}}, {});
}

EpilogueSpec EntityRows::norm(uint32_t layer, Slot slot) {
  const std::string name = layer_prefix(config_, layer) + family_.name(slot), base = std::string(family_.base) + ".";
  EpilogueSpec epilogue;
  epilogue.norm = fb::NormKind::layer;
  epilogue.gamma = builder_.vector(base + name + ".weight", weights_.encoder(name + ".weight", {config_.entity_width}));
  epilogue.beta = builder_.vector(base + name + ".bias", weights_.encoder(name + ".bias", {config_.entity_width}));
  epilogue.epsilon = config_.epsilon;
  return epilogue;
}

int32_t EntityRows::dense(uint32_t layer, Slot slot, int32_t x, const std::vector<Slot>& modules, uint32_t rows,
                          const EpilogueSpec& epilogue) {
  const uint32_t in = builder_.width(x), out = rows * static_cast<uint32_t>(modules.size());
  std::vector<Values> weights, biases;
  for (const Slot module : modules) {
    const std::string name = layer_prefix(config_, layer) + family_.name(module);
    weights.push_back(weights_.encoder(name + ".weight", {rows, in}));
    biases.push_back(weights_.encoder(name + ".bias", {rows}));
  }
  const std::string op = graph_name(config_, layer, slot);
  const int32_t weight = builder_.linear_weight(op + ".weight", out, in, concatenate(std::move(weights)));
  return builder_.linear(op, x, weight, builder_.vector(op + ".bias", concatenate(std::move(biases))), epilogue);
}

void EntityRows::attend(uint32_t layer) {
  if (!in(layer) || config_.entity_layers[layer] != EncoderConfig::Entities::kAttend) return;
  builder_.enter(fb::Part::attention, static_cast<int32_t>(layer));
  const int32_t qkv = dense(layer, Slot::kEntityQkv, rows_, {Slot::kEntityQuery, Slot::kEntityKey, Slot::kEntityValue},
                            config_.entity_width, {});
  const Heads heads = builder_.split_heads(graph_name(config_, layer, Slot::kEntityHeads), qkv, config_.entity_heads);
  AttentionSpec marked;
  marked.mask = fb::MaskKind::marked;
  const int32_t context = builder_.attention(graph_name(config_, layer, Slot::kEntityAttention), heads, marked);
  EpilogueSpec sum = norm(layer, Slot::kEntityAttentionNorm);
  sum.residual = rows_;
  rows_ = dense(layer, Slot::kEntityOut, context, {Slot::kEntityOut}, config_.entity_width, sum);
  masked_ = false;
}

void EntityRows::mask(uint32_t layer) {
  if (masked_) return;
  EpilogueSpec counting;
  counting.gate = counts_;
  rows_ = builder_.row(graph_name(config_, layer, Slot::kEntityUp) + ".marked", rows_, counting);
  masked_ = true;
}

int32_t EntityRows::up(uint32_t layer, uint32_t columns) {
  mask(layer);
  return dense(layer, Slot::kEntityUp, rows_, {Slot::kEntityUp}, columns, {});
}

void EntityRows::down(uint32_t layer, int32_t wide) {
  bool more = false;
  for (uint32_t i = layer + 1; i < config_.layers; ++i) more = more || in(i);
  if (!more) return;
  EpilogueSpec sum = norm(layer, Slot::kEntityNorm);
  sum.residual = rows_;
  rows_ = dense(layer, Slot::kEntityDown, wide, {Slot::kEntityDown}, config_.entity_width, sum);
  masked_ = false;
}

}  // namespace bantam::convert
