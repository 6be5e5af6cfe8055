// Sensitivity: what each matrix costs when it alone is quantised, measured on the user's data with the runtime itself.
#ifndef BANTAM_CONVERTER_CALIBRATE_SENSITIVITY_H_
#define BANTAM_CONVERTER_CALIBRATE_SENSITIVITY_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/texts.h"
#include "graph/graph.h"
#include "quantize/budget.h"
#include "quantize/types.h"

namespace bantam::convert {

/// A regular expression that matches `name` alone.
std::string exactly(const std::string& name);

/// Measures every matrix of an importer's `graph` in each of `types` (i4: linear layers only), with the rest in f32.
/// Takes the loss from labels if the texts have them and the model gives one label to a text. Uses native kernels only,
/// so that the result is the same on every machine. O(matrices * types * texts). Throws Error: a model without a
/// tokenizer, labels that it does not have.
Sensitivity measure_sensitivity(const Graph& graph, const std::vector<LabelledText>& texts,
                                const std::vector<fb::DType>& types, const std::function<void(double)>& progress);

/// One JSON object, schema "bantam.sensitivity/1".
std::string sensitivity_json(const Sensitivity& measured);
/// Throws Error: I/O, or invalid with the name of what is missing.
Sensitivity read_sensitivity(const std::filesystem::path& file);

/// Adapts a measurement to a graph whose matrices may have become smaller since (pruned structures): scales bytes and
/// products with their elements.
Sensitivity fitted(Sensitivity measured, const Graph& graph);

/// Writes the choice as --keep options that name every matrix. Throws Error (invalid) when the measured matrices are
/// not the graph's.
std::vector<Keep> choice_as_keeps(const Graph& graph, const Sensitivity& measured, const Choice& choice);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_SENSITIVITY_H_
