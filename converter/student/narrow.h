// Fewer heads, feed-forward columns and hidden columns: the least important go.
#ifndef BANTAM_CONVERTER_STUDENT_NARROW_H_
#define BANTAM_CONVERTER_STUDENT_NARROW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "student/check.h"
#include "student/draft.h"
#include "student/importance.h"

namespace bantam::convert {

/// `widths` of a draft with this importance. What a removed unit adds on average goes into the bias of the layer that read
/// it; queries are scaled so that fewer columns of a head are divided by the same. Returns a sentence for each step.
std::vector<std::string> narrow(Draft& draft, const Widths& widths, const Importance& importance);

/// One layer of it: the most important `heads`, with `width` columns each, or feed-forward columns stay. Returns which heads,
/// or columns. Biases stay as they are where `importance` has no means.
Indices narrow_heads(Draft& draft, uint32_t layer, uint32_t heads, uint32_t width, const LayerImportance& importance);
Indices narrow_ffn(Draft& draft, uint32_t layer, uint32_t width, const LayerImportance& importance);

/// The heads, or feed-forward columns, of all layers so that they can be compared: [layer][unit], each layer's sum being 1.
std::vector<std::vector<double>> shares_of(const Importance& importance, std::vector<double> LayerImportance::*part);

/// Feed-forward widths of layers of their own are multiples of a tile's outputs: the rest would be padding.
constexpr uint32_t kFfnStep = 16;

/// How many units each layer keeps when the `total` best of all stay, or some fewer: whole steps, the last of a layer being
/// what is left of it, and at least one a layer. `importance`: [layer][unit].
std::vector<uint32_t> across_layers(const std::vector<std::vector<double>>& importance, size_t total, uint32_t step);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_NARROW_H_
