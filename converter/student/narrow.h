// Removes the least important heads, feed-forward columns and hidden columns.
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

/// Reduces a draft with this importance to `widths`. The mean contribution of a removed unit is added to the bias of
/// the layer that reads it. Queries are scaled, because the narrower heads divide scores by the square root of a
/// smaller width. Returns a sentence for each step.
std::vector<std::string> narrow(Draft& draft, const Widths& widths, const Importance& importance);

/// Reduces one layer to the most important `heads`, with `width` columns each, or to `width` feed-forward columns.
/// Returns the indices of the heads or columns that stay. Biases do not change if `importance` has no means.
Indices narrow_heads(Draft& draft, uint32_t layer, uint32_t heads, uint32_t width, const LayerImportance& importance);
Indices narrow_ffn(Draft& draft, uint32_t layer, uint32_t width, const LayerImportance& importance);

/// Returns the importance of heads or feed-forward columns in a form that is comparable between layers: [layer][unit],
/// where the values of each layer add up to 1.
std::vector<std::vector<double>> shares_of(const Importance& importance, std::vector<double> LayerImportance::*part);

/// If layers have different feed-forward widths, these are multiples of the outputs of a tile; any other width would be
/// padded.
constexpr uint32_t kFfnStep = 16;

/// Returns the number of units to keep in each layer, so that the best `total` of all units stay, or slightly fewer.
/// Each layer keeps a multiple of `step` units (at least one step), or all of them. `importance`: [layer][unit].
std::vector<uint32_t> across_layers(const std::vector<std::vector<double>>& importance, size_t total, uint32_t step);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_STUDENT_NARROW_H_
