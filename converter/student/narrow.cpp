#include "student/narrow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bantam::convert {
namespace {

/// bias += weight[:, removed] * mean[removed]; does nothing without means or without a bias.
void compensate(Draft& draft, uint32_t layer, Slot slot, const std::vector<double>& mean, const Indices& kept) {
  if (mean.empty() || !draft.has_bias(layer, slot)) return;
  const MemoryTensor& weight = draft.weight(layer, slot);
  MemoryTensor& bias = draft.bias(layer, slot);
  const size_t width = static_cast<size_t>(weight.shape[1]);
  for (size_t row = 0; row < bias.values.size(); ++row) {
    double sum = double{bias.values[row]};
    for (uint32_t i = 0; i < width; ++i) {
      if (!std::binary_search(kept.begin(), kept.end(), i)) sum += double{weight.values[row * width + i]} * mean[i];
    }
    bias.values[row] = static_cast<float>(sum);
  }
}

void scale(MemoryTensor& tensor, double factor) {
  for (float& value : tensor.values) value = static_cast<float>(double{value} * factor);
}

/// Returns the best `width` of the `old_width` columns of each of these heads. Does not read `importance` if all
/// columns stay.
Indices head_columns(const Indices& heads, const std::vector<double>& importance, uint32_t old_width, uint32_t width) {
  Indices columns;
  for (const uint32_t head : heads) {
    if (width >= old_width) {
      for (uint32_t i = 0; i < old_width; ++i) columns.push_back(head * old_width + i);
      continue;
    }
    const double* begin = importance.data() + size_t{head} * old_width;
    for (const uint32_t i : largest({begin, begin + old_width}, width)) columns.push_back(head * old_width + i);
  }
  return columns;
}

std::vector<uint32_t> counts_of(const Importance& importance, std::vector<double> LayerImportance::*part,
                                uint32_t count, bool across, uint32_t step) {
  if (!across) return std::vector<uint32_t>(importance.layers.size(), count);
  size_t total = 0;
  for (const LayerImportance& layer : importance.layers) total += std::min<size_t>(count, (layer.*part).size());
  return across_layers(shares_of(importance, part), total, step);
}

}  // namespace

Indices narrow_heads(Draft& draft, uint32_t layer, uint32_t heads, uint32_t width, const LayerImportance& importance) {
  const uint32_t old_width = draft.config().head_width;
  Indices kept = largest(importance.heads, heads);
  const Indices scores = head_columns(kept, importance.scores, old_width, width);
  const Indices values = head_columns(kept, importance.values, old_width, width);
  compensate(draft, layer, Slot::kAttentionOut, importance.value_mean, values);
  draft.keep(Axis::kScores, layer, scores);
  draft.keep(Axis::kValues, layer, values);
  // Scores are divided by the square root of the head's width, so queries are scaled to compensate.
  if (width != old_width) {
    const double factor = std::sqrt(static_cast<double>(width) / static_cast<double>(old_width));
    scale(draft.weight(layer, Slot::kQuery), factor);
    if (draft.has_bias(layer, Slot::kQuery)) scale(draft.bias(layer, Slot::kQuery), factor);
  }
  draft.set_heads(layer, static_cast<uint32_t>(kept.size()));
  return kept;
}

Indices narrow_ffn(Draft& draft, uint32_t layer, uint32_t width, const LayerImportance& importance) {
  Indices kept = largest(importance.ffn, width);
  compensate(draft, layer, Slot::kDown, importance.ffn_mean, kept);
  draft.keep(Axis::kFfn, layer, kept);
  return kept;
}

std::vector<std::vector<double>> shares_of(const Importance& importance, std::vector<double> LayerImportance::*part) {
  std::vector<std::vector<double>> all;
  for (const LayerImportance& layer : importance.layers) {
    all.push_back(layer.*part);
    // Lengths instead of energies, as fractions of the layer's total, because a few outliers and a layer's part of the
    // residual stream say little about how much depends on a unit. (Half of minilm-snips-joint's feed-forward columns,
    // slot F1 on SNIPS test: by energy 78.0, by fractions of energy 75.6, by fractions of lengths 91.7; the same number
    // in each layer 92.3.)
    for (double& value : all.back()) value = std::sqrt(value);
    const double sum = std::accumulate(all.back().begin(), all.back().end(), 0.0);
    for (double& value : all.back()) value /= sum > 0 ? sum : 1;
  }
  return all;
}

std::vector<uint32_t> across_layers(const std::vector<std::vector<double>>& importance, size_t total, uint32_t step) {
  // Whole steps compete by the sum of their units. Units of a layer are sorted, best first, so a layer's next step is
  // never better than its previous one.
  struct Step {
    double sum;
    size_t layer;
    uint32_t units;
  };
  std::vector<Step> steps;
  std::vector<uint32_t> kept;
  size_t left = total;
  for (size_t layer = 0; layer < importance.size(); ++layer) {
    std::vector<double> sorted = importance[layer];
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a > b; });
    const uint32_t first = std::min(step, static_cast<uint32_t>(sorted.size()));
    kept.push_back(first);
    left -= std::min<size_t>(left, first);
    for (size_t begin = first; begin < sorted.size(); begin += step) {
      const size_t end = std::min(begin + step, sorted.size());
      double sum = 0;
      for (size_t i = begin; i < end; ++i) sum += sorted[i];
      steps.push_back({sum, layer, static_cast<uint32_t>(end - begin)});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.sum > b.sum; });
  for (const Step& next : steps) {
    if (left < next.units) break;
    kept[next.layer] += next.units;
    left -= next.units;
  }
  return kept;
}

std::vector<std::string> narrow(Draft& draft, const Widths& widths, const Importance& importance) {
  std::vector<std::string> steps;
  const EncoderConfig before = draft.config();
  if (widths.heads < before.heads || widths.head_width < before.head_width) {
    const auto counts = counts_of(importance, &LayerImportance::heads, widths.heads, widths.heads_across, 1);
    for (uint32_t i = 0; i < before.layers; ++i) {
      narrow_heads(draft, i, counts[i], widths.head_width, importance.layers[i]);
    }
    draft.set_head_width(widths.head_width);
    steps.push_back(fmt::format("heads: {} of {} columns ({} of {})", fmt::join(counts, ", "), widths.head_width,
                                before.heads, before.head_width));
  }
  if (widths.ffn < before.intermediate) {
    const auto counts = counts_of(importance, &LayerImportance::ffn, widths.ffn, widths.ffn_across, kFfnStep);
    for (uint32_t i = 0; i < before.layers; ++i) narrow_ffn(draft, i, counts[i], importance.layers[i]);
    steps.push_back(fmt::format("feed-forward columns: {} of {}", fmt::join(counts, ", "), before.intermediate));
  }
  if (widths.hidden < before.hidden) {
    draft.keep(Axis::kHidden, 0, largest(importance.hidden, widths.hidden));
    steps.push_back(fmt::format("hidden columns: {} of {}", widths.hidden, before.hidden));
  }
  return steps;
}

}  // namespace bantam::convert
