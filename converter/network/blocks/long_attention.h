// Attention that leaves most of a long text out: windows with global tokens that have projections of their own (Longformer, arXiv
// 2004.05150), and blocks (Big Bird, arXiv 2007.14062).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// Choices that neither settings nor weights contain.
struct LongTexts {
  fb::GlobalTokens globals = fb::GlobalTokens::none;
  /// Draws random blocks; without it they are block 0, as transformers has them when it evaluates.
  std::optional<unsigned> random_blocks;
};

/// The words by which users choose global tokens, in the order of fb::GlobalTokens.
std::vector<std::string> global_words();
/// The choice of the options, or transformers' default for answers of these parts (runtime/model/task_traits.h): the
/// first token for labels of texts, the question for spans, the second text for choices. Throws Error (usage) where the
/// family has no use for an option.
LongTexts long_texts_of(const Family& family, uint32_t parts, const std::string& globals,
                        std::optional<unsigned> random_blocks);

/// Draws the random blocks that each block sees besides: `heads` times `blocks` times `random` numbers of blocks, one
/// head after the other. They are drawn from the blocks of every text that is long enough for blocks, without those
/// that the block sees anyway, as transformers draws them for training, but from other random numbers.
std::vector<int32_t> draw_blocks(uint64_t seed, uint32_t heads, uint32_t blocks, uint32_t random);

class LongAttention {
 public:
  /// All outlive the object. `positions`: tokens of the longest text.
  LongAttention(Builder& builder, Weights& weights, const EncoderConfig& config, const LongTexts& texts,
                uint32_t positions)
      : builder_(builder), weights_(weights), config_(config), texts_(texts), positions_(positions) {}

  /// Says which tokens are global, where some are.
  void begin();
  /// Adds the attention of the layer over `heads`, whose queries, keys and values are made of `x`: by windows, by
  /// blocks, or as `scores` defines where the family has neither.
  int32_t attend(uint32_t layer, int32_t x, const Heads& heads, AttentionSpec scores);

 private:
  bool has_globals() const;
  void see_blocks(uint32_t layer, AttentionSpec* scores);
  /// Queries, keys and values of global tokens, by their own projections.
  Heads split_globals(uint32_t layer, int32_t x);
  /// A linear layer of modules above each other, without an epilogue.
  int32_t dense(uint32_t layer, Slot name, int32_t x, const std::vector<Slot>& modules, uint32_t columns);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const LongTexts& texts_;
  const uint32_t positions_;
  int32_t blocks_ = kAbsent;  // the list, where all layers have one
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_
