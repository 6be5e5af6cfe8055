#include "network/blocks/label_tree.h"

#include <utility>
#include <vector>

#include "source/word_vectors.h"

namespace bantam::convert {

bool has_label_tree(const Weights& weights) { return weights.has_head(kLabelTree); }

int32_t add_label_tree(Builder& builder, Weights& weights, int32_t x, uint32_t labels) {
  const uint32_t inner = labels - 1, in = builder.width(x);
  Values rows = weights.head(kLabelTree, {inner, in});
  const Values below = weights.head(kLabelNodes, {inner, 2});
  // sigmoid(-s) keeps digits that 1 - sigmoid(s) loses.
  const size_t count = rows.values.size();
  for (size_t i = 0; i < count; ++i) rows.values.push_back(-rows.values[i]);
  EpilogueSpec shares;
  shares.activation = fb::ActivationKind::sigmoid;
  const int32_t weight = builder.linear_weight(kLabelTree, 2 * inner, in, std::move(rows));
  const int32_t factors = builder.linear("classifier.tree", x, weight, kAbsent, shares);
  std::vector<int32_t> nodes;
  for (const float node : below.values) nodes.push_back(static_cast<int32_t>(node));
  nodes.resize(size_t{2} * inner);  // in case their shape was a problem
  return builder.tree("classifier.leaves", factors, std::move(nodes));
}

}  // namespace bantam::convert
