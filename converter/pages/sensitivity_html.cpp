#include "pages/sensitivity_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/readable.h"
#include "pages/html.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

constexpr size_t kColours = 6;  // k0 to k5

/// The decades that the bars cover.
struct Scale {
  double low = -6, high = 0;
  double share(double value) const {
    const double at = value > 0 ? std::clamp(std::log10(value), low, high) : low;
    return std::max(0.01, (at - low) / (high - low));
  }
};

Scale scale_of(const Sensitivity& measured) {
  double least = 1e300, most = 0;
  for (const MatrixCosts& matrix : measured.matrices) {
    for (const TypeCost& cost : matrix.types) {
      if (cost.divergence > 0) least = std::min(least, cost.divergence);
      most = std::max(most, cost.divergence);
    }
  }
  if (most <= 0) return {};
  const double low = std::max(std::floor(std::log10(least)) - 0.2, std::floor(std::log10(most)) - 8);
  return {low, std::max(std::ceil(std::log10(most)), low + 1)};
}

/// Returns the color class of a type; types get colors in the order of their first occurrence.
std::string colour_of(fb::DType type, std::vector<fb::DType>* types) {
  auto place = std::find(types->begin(), types->end(), type);
  if (place == types->end()) place = types->insert(types->end(), type);
  return fmt::format("k{}", static_cast<size_t>(place - types->begin()) % kColours);
}

}  // namespace

std::string sensitivity_html(const Sensitivity& measured) {
  const Scale scale = scale_of(measured);
  std::vector<fb::DType> types;
  std::vector<std::string> head = {"Matrix", "Kind", "Type", "Divergence", "Flips", "Saved"};
  if (measured.has_loss) head.insert(head.begin() + 4, "Loss");
  std::vector<std::vector<HtmlCell>> rows;
  for (const MatrixCosts& matrix : measured.matrices) {
    for (const TypeCost& cost : matrix.types) {
      const std::string colour = colour_of(cost.type, &types);
      rows.push_back({text_cell(matrix.name), text_cell(matrix.kind),
                      HtmlCell{html_swatch(colour) + html_escaped(type_name(cost.type)), 0, false},
                      number_cell(cost.divergence, fmt::format("{:.3g}", cost.divergence) +
                                                       html_bar(scale.share(cost.divergence), colour)),
                      number_cell(static_cast<double>(cost.flips), fmt::format("{}", cost.flips)),
                      number_cell(static_cast<double>(cost.saved), readable_bytes(cost.saved))});
      if (measured.has_loss)
        rows.back().insert(rows.back().begin() + 4, number_cell(cost.loss, fmt::format("{:+.5f}", cost.loss)));
    }
  }
  const std::string labels = measured.has_loss ? fmt::format(", whose labels cost f32 {:.4f} nats (accuracy {:.2f} %)",
                                                             measured.loss, 100 * measured.accuracy)
                                               : "";
  return html_page(
      "Sensitivity of " + measured.model,
      fmt::format(
          "<p>Each matrix alone in another type, the rest f32, on {} texts{}. Divergence: of the answers from f32's, "
          "in nats a decision; its bars are logarithmic, from 1e{:.0f} to 1e{:.0f}. Flips: of {} decisions. The f32 "
          "file has {}.</p>\n",
          measured.texts, labels, std::ceil(scale.low), scale.high, measured.decisions,
          readable_bytes(measured.file_bytes)) +
          html_table("Costs of matrices", head, rows));
}

}  // namespace bantam::convert
