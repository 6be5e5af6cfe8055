// Attention that leaves most of a long text out: windows with global tokens that have projections of their own (Longformer, arXiv
// 2004.05150), and blocks (Big Bird, arXiv 2007.14062).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "network/families/config.h"
#include "source/weights.h"

namespace bantam::convert {

/// What neither settings nor weights say of it.
struct LongTexts {
  fb::GlobalTokens globals = fb::GlobalTokens::none;
  /// Draws random blocks; without it they are block 0, as transformers has them when it evaluates.
  std::optional<unsigned> random_blocks;
};

/// What users call kinds of global tokens, in the order of fb::GlobalTokens.
std::vector<std::string> global_words();
/// What the options say, or transformers for answers of these parts (runtime/model/task_traits.h): of labels of texts the first token, of
/// spans the question, of choices the second text; throws Error (usage) where options are of no use to the family.
LongTexts long_texts_of(const Family& family, uint32_t parts, const std::string& globals,
                        std::optional<unsigned> random_blocks);

/// `blocks` of a text times `random`: numbers of the blocks that each sees besides, a head after the other. They are drawn from those
/// that every text has that is long enough for blocks, without those that the block sees anyway; as transformers draws them for
/// training, by other random numbers.
std::vector<int32_t> draw_blocks(uint64_t seed, uint32_t heads, uint32_t blocks, uint32_t random);

class LongAttention {
 public:
  /// All outlive the object. `positions`: tokens of the longest text.
  LongAttention(Builder& builder, Weights& weights, const EncoderConfig& config, const LongTexts& texts,
                uint32_t positions)
      : builder_(builder), weights_(weights), config_(config), texts_(texts), positions_(positions) {}

  /// Says which tokens are global, where some are.
  void begin();
  /// What attention of the layer makes of `heads`, whose queries, keys and values are made of `x`: by windows, by blocks, or as `scores`
  /// says, where the family has none of these.
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
