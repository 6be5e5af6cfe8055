#include "network/blocks/long_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "format/split_mix.h"
#include "model/task_traits.h"

namespace bantam::convert {

namespace {

/// The tokens that transformers makes global for a task of these parts.
fb::GlobalTokens usual_globals(uint32_t parts) {
  if ((parts & kLabelsPart) != 0) return fb::GlobalTokens::first;
  if ((parts & kSpanPart) != 0) return fb::GlobalTokens::before;
  return (parts & kChoicePart) != 0 ? fb::GlobalTokens::behind : fb::GlobalTokens::none;
}

}  // namespace

std::vector<std::string> global_words() { return {"none", "first", "question", "second", "marked"}; }

LongTexts long_texts_of(const Family& family, uint32_t parts, const std::string& globals,
                        std::optional<unsigned> random_blocks) {
  LongTexts out;
  out.globals = usual_globals(parts);
  out.random_blocks = random_blocks;
  if (random_blocks && !family.settings.blocks) {
    throw Error(ExitCode::kUsage, "--random-blocks: the model has no blocks of tokens; leave it out");
  }
  if (globals.empty()) return out;
  if (!family.has(Slot::kGlobalQuery)) {
    throw Error(ExitCode::kUsage, "--globals: the model has no global tokens; leave it out");
  }
  const std::vector<std::string> words = global_words();
  const auto found = std::find(words.begin(), words.end(), globals);
  if (found == words.end()) {
    throw Error(ExitCode::kUsage, fmt::format("--globals {}: expected {}", globals, fmt::join(words, ", ")));
  }
  out.globals = static_cast<fb::GlobalTokens>(found - words.begin());
  return out;
}

fb::GlobalTokens globals_of_source(const Family& family, const std::string& globals) {
  const fb::GlobalTokens kind = long_texts_of(family, 0, globals, std::nullopt).globals;
  if (kind == fb::GlobalTokens::none || kind == fb::GlobalTokens::first) return kind;
  throw Error(ExitCode::kUsage, fmt::format("--globals {}: the global tokens of a source are none or first", globals));
}

std::vector<int32_t> draw_blocks(uint64_t seed, uint32_t heads, uint32_t blocks, uint32_t random) {
  const uint32_t last = 2 * random + 3;  // the last candidate block; every text has one more
  std::vector<int32_t> list;
  uint64_t state = seed;
  for (uint32_t head = 0; head < heads; ++head) {
    for (uint32_t block = 0; block < blocks; ++block) {
      std::vector<int32_t> others;
      for (uint32_t other = 1; other <= last; ++other) {
        const bool near = other + 1 >= block && other <= block + 1;
        if (!near) others.push_back(static_cast<int32_t>(other));
      }
      for (uint32_t i = 0; i < random; ++i) {
        const uint64_t left = others.size() - i;
        std::swap(others[i], others[i + static_cast<size_t>(split_mix(state += kSplitMixStep) % left)]);
        list.push_back(others[i]);
      }
    }
  }
  return list;
}

bool LongAttention::has_globals() const {
  return config_.family->has(Slot::kGlobalQuery) && texts_.globals != fb::GlobalTokens::none;
}

void LongAttention::begin() {
  const auto dilated = [](const LayerPlaces& places) { return places.dilation != 1; };
  const bool steps = std::any_of(config_.places.begin(), config_.places.end(), dilated);
  if (!has_globals() && !steps) return;
  const fb::GlobalTokens kind = has_globals() ? texts_.globals : fb::GlobalTokens::none;
  const bool separated = kind == fb::GlobalTokens::before || kind == fb::GlobalTokens::behind;
  builder_.globals(kind, separated ? static_cast<int32_t>(config_.separator) : -1);
  if (kind == fb::GlobalTokens::marked) builder_.input("global_attention_mask", fb::InputKind::marks, 2);
}

void LongAttention::see_blocks(uint32_t layer, AttentionSpec* scores) {
  const TokenBlocks& tokens = config_.blocks;
  const uint32_t blocks = (positions_ + tokens.size - 1) / tokens.size, heads = config_.widths.heads[layer];
  scores->mask = fb::MaskKind::blocks;
  scores->block = tokens.size;
  scores->full_until = tokens.full_until();
  scores->random = tokens.random;
  if (tokens.random == 0) return;
  if (texts_.random_blocks) {
    const std::string name = graph_name(config_, layer, Slot::kAttention) + ".random_blocks";
    scores->random_blocks =
        builder_.numbers(name, draw_blocks(split_mix(*texts_.random_blocks + layer), heads, blocks, tokens.random));
    return;
  }
  if (blocks_ == kAbsent) {
    blocks_ = builder_.numbers("random_blocks", std::vector<int32_t>(size_t{blocks} * tokens.random));
  }
  scores->random_blocks = blocks_;
}

int32_t LongAttention::dense(uint32_t layer, Slot slot, int32_t x, const std::vector<Slot>& modules, uint32_t columns) {
  const uint32_t in = builder_.width(x);
  std::vector<Values> weights, biases;
  for (const Slot module : modules) {
    const std::string name = layer_prefix(config_, layer) + config_.family->name(module);
    weights.push_back(weights_.encoder(name + ".weight", {columns, in}));
    biases.push_back(weights_.encoder(name + ".bias", {columns}));
  }
  const std::string op = graph_name(config_, layer, slot);
  const auto rows = static_cast<uint32_t>(modules.size()) * columns;
  const int32_t weight = builder_.linear_weight(op + ".weight", rows, in, concatenate(std::move(weights)));
  return builder_.linear(op, x, weight, builder_.vector(op + ".bias", concatenate(std::move(biases))), {});
}

Heads LongAttention::split_globals(uint32_t layer, int32_t x) {
  const uint32_t heads = config_.widths.heads[layer], columns = heads * config_.head_width;
  const std::string name = graph_name(config_, layer, Slot::kGlobalHeads);
  const int32_t queries = dense(layer, Slot::kGlobalQuery, x, {Slot::kGlobalQuery}, columns);
  builder_.make_globals_only(queries);
  Heads all = builder_.split_keys(
      name, dense(layer, Slot::kGlobalKeysValues, x, {Slot::kGlobalKey, Slot::kGlobalValue}, columns), heads);
  all.q = builder_.split_queries(name + ".query", queries, heads);
  return all;
}

int32_t LongAttention::attend(uint32_t layer, int32_t x, const Heads& heads, AttentionSpec scores) {
  const std::string name = graph_name(config_, layer, Slot::kAttention);
  if (config_.blocks.size != 0 && positions_ > config_.blocks.full_until()) see_blocks(layer, &scores);
  if (config_.family->has(Slot::kGlobalQuery)) {
    scores.dilation = config_.places[layer].dilation;
    if (has_globals() || scores.dilation != 1) scores.mask = fb::MaskKind::globals;
  }
  if (!has_globals()) return builder_.attention(name, heads, scores);
  // Add it before the attention to windows, so that the window attention's output need not be kept longer.
  const Heads globals = split_globals(layer, x);
  AttentionSpec all;
  all.mask = fb::MaskKind::of_globals;
  all.residual = builder_.attention(name, heads, scores);
  return builder_.attention(graph_name(config_, layer, Slot::kGlobalAttention), globals, all);
}

}  // namespace bantam::convert
