// Sensitivity: the cost of quantizing each matrix alone, measured on the user's data with the runtime.
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

/// Returns a regular expression that matches only `name`.
std::string exactly(const std::string& name);

/// Measures all matrices of an importer's `graph` in each of `types` (i4: linear layers only), with the rest in f32.
/// Computes the loss if the texts have labels and the model gives one label per text. Uses native kernels only, so that
/// the result is the same on all machines. O(matrices * types * texts). Throws Error for a model without a tokenizer,
/// and for labels that it does not have.
Sensitivity measure_sensitivity(const Graph& graph, const std::vector<LabelledText>& texts,
                                const std::vector<fb::DType>& types, const std::function<void(double)>& progress);

/// Returns one JSON object, schema "bantam.sensitivity/1".
std::string sensitivity_json(const Sensitivity& measured);
/// Throws Error: I/O, or invalid that names what is missing.
Sensitivity read_sensitivity(const std::filesystem::path& file);

/// Adapts a measurement to a graph whose matrices have become smaller since (pruned structures): scales bytes and
/// products with their numbers of elements.
Sensitivity fitted(Sensitivity measured, const Graph& graph);

/// Converts the choice to --keep options that name every matrix. Throws Error (invalid) if the measured matrices are
/// not those of the graph.
std::vector<Keep> choice_as_keeps(const Graph& graph, const Sensitivity& measured, const Choice& choice);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_SENSITIVITY_H_
