// Attention that skips most of a long text: windows, with global tokens that have their own projections (Longformer,
// arXiv 2004.05150), and blocks (Big Bird, arXiv 2007.14062).
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

/// Choices that neither settings nor weights state.
struct LongTexts {
  fb::GlobalTokens globals = fb::GlobalTokens::none;
  /// The seed of random blocks; without it they are block 0, as in transformers' evaluation mode.
  std::optional<unsigned> random_blocks;
};

/// The words by which users choose global tokens, in the order of fb::GlobalTokens.
std::vector<std::string> global_words();
/// The global tokens of `globals`, or transformers' default for a task of these parts (runtime/model/task_traits.h):
/// the first token for labels of texts, the question for spans, the second text for choices. Throws Error (usage) if an
/// option does not apply to the family.
LongTexts long_texts_of(const Family& family, uint32_t parts, const std::string& globals,
                        std::optional<unsigned> random_blocks);

/// The global tokens of an encoder-decoder's source: none, as in transformers, unless `globals` says otherwise. Throws
/// Error (usage) for words other than none and first.
fb::GlobalTokens globals_of_source(const Family& family, const std::string& globals);

/// Draws the random blocks that each block sees in addition: `heads` * `blocks` * `random` block numbers, head by head.
/// Candidates are the blocks that exist in every text long enough for blocks, without those that the block sees anyway.
/// transformers draws them like this in training, but with other random numbers.
std::vector<int32_t> draw_blocks(uint64_t seed, uint32_t heads, uint32_t blocks, uint32_t random);

class LongAttention {
 public:
  /// References must outlive the object. `positions`: tokens of the longest text.
  LongAttention(Builder& builder, Weights& weights, const EncoderConfig& config, const LongTexts& texts,
                uint32_t positions)
      : builder_(builder), weights_(weights), config_(config), texts_(texts), positions_(positions) {}

  /// Adds the operator that finds global tokens, if the model has some.
  void begin();
  /// Adds the attention of the layer over `heads`, computed from `x`: by windows, by blocks, or as `scores` defines if
  /// the family has neither.
  int32_t attend(uint32_t layer, int32_t x, const Heads& heads, AttentionSpec scores);

 private:
  bool has_globals() const;
  void see_blocks(uint32_t layer, AttentionSpec* scores);
  /// Queries, keys and values of global tokens, by their own projections.
  Heads split_globals(uint32_t layer, int32_t x);
  /// A linear layer of concatenated modules, without an epilogue.
  int32_t dense(uint32_t layer, Slot name, int32_t x, const std::vector<Slot>& modules, uint32_t columns);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const LongTexts& texts_;
  const uint32_t positions_;
  int32_t blocks_ = kAbsent;  // the list of random blocks, if all layers share it
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_LONG_ATTENTION_H_
