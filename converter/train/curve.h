// The learning curve: one row per epoch, as CSV and as a self-contained HTML page.
#ifndef BANTAM_CONVERTER_TRAIN_CURVE_H_
#define BANTAM_CONVERTER_TRAIN_CURVE_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bantam::train {

using Named = std::vector<std::pair<std::string, double>>;

struct CurvePoint {
  uint32_t epoch = 0;  // 1: after the first epoch
  uint64_t step = 0;
  double rate = 0;      // learning rate
  double sparsity = 0;  // of the encoder's linear weights
  Named losses;         // means over the epoch: "loss", then those of its parts that are used
  Named scores;         // of the validation data; empty without them
};

/// Returns a header and a row per point, with the same columns in every row.
std::string curve_csv(const std::vector<CurvePoint>& points);

/// Returns line charts of losses and scores over epochs, and the table.
std::string curve_html(const std::vector<CurvePoint>& points, const std::string& title);

/// Conversion to and from JSON, with exact numbers.
nlohmann::json to_json(const std::vector<CurvePoint>& points);
std::vector<CurvePoint> curve_from_json(const nlohmann::json& json);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_CURVE_H_
