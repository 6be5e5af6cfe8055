// Rows of entities beside those of tokens (ERNIE, arXiv 1905.07129, as its authors' code computes it). They are looked
// up by marks, attend to each other, are added to the tokens' feed-forward layers, and are recomputed from them. Only
// rows of marked tokens and of a text's first token count; the others are 0 wherever they are read.
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_ENTITIES_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_ENTITIES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "network/settings/config.h"
#include "source/weights.h"

namespace bantam::convert {

class EntityRows {
 public:
  /// References must outlive the object. Builds nothing if the family has no entities.
  EntityRows(Builder& builder, Weights& weights, const EncoderConfig& config)
      : builder_(builder), weights_(weights), config_(config), family_(*config.family) {}

  /// Returns true if this layer has entities.
  bool in(uint32_t layer) const {
    return !config_.entity_layers.empty() && config_.entity_layers[layer] != EncoderConfig::Entities::kNone;
  }
  /// Adds the input of marks and the lookup in the table.
  void embed();
  /// Adds attention among entities in layers that have it.
  void attend(uint32_t layer);
  /// Adds the entities' part of the input of the feed-forward layer's activation, `columns` wide.
  int32_t up(uint32_t layer, uint32_t columns);
  /// Adds the rows that the next layer with entities reads, from the activated `wide`; adds nothing if there is no such
  /// layer.
  void down(uint32_t layer, int32_t wide);

 private:
  EpilogueSpec norm(uint32_t layer, Slot slot);
  /// A linear layer of concatenated modules, each with as many outputs as entities have columns, or `rows`.
  int32_t dense(uint32_t layer, Slot slot, int32_t x, const std::vector<Slot>& modules, uint32_t rows,
                const EpilogueSpec& epilogue);
  /// Sets the rows of `rows_` that do not count to 0.
  void mask(uint32_t layer);

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  int32_t rows_ = kAbsent;    // [tokens, entity width]
  bool masked_ = false;       // rows that do not count are 0
  int32_t counts_ = kAbsent;  // 1 if a row counts, otherwise 0
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_ENTITIES_H_
