// Outlier migration: some columns of a norm's output are tens of times larger than the rest (in all-MiniLM-L6-v2 they
// cost int8 half of its accuracy). Factors move from them to the columns of the weights that read them: x W^t = (x / f)
// (W f)^t, as in SmoothQuant (arXiv 2211.10438). The runtime multiplies by 1 / f while it quantizes a row; the weights
// are stored multiplied by f.
#ifndef BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_
#define BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Minimum and maximum of each column.
struct ColumnRange {
  std::vector<float> low, high;
};
/// By activation name.
using Ranges = std::map<std::string, ColumnRange>;

/// Maximum |value| of each column of an f32 activation over calibration texts, by activation name.
using ColumnMaxima = std::map<std::string, std::vector<float>>;
ColumnMaxima column_maxima(const Ranges& ranges);

/// Names of the activations whose outliers can be migrated: outputs of a norm that linear weights read. Requires an SSA
/// graph.
std::vector<std::string> migratable(const Graph& graph);

/// Returns the factors of an activation's columns: a^0.625 / w^0.375, where a is the column's maximum and w that of the
/// weights that read it; 1 for columns that are always zero. Exponents 0.5, 0.625 and 0.75 gave 8, 7 and 12 label flips
/// on SST-2's 872 development lines; sentence embeddings of all-MiniLM-L6-v2 on STS-B keep a mean cosine of 0.9988 with
/// 0.625 and 0.75. Uses only correctly rounded operations, so that all machines write the same bytes.
std::vector<float> migration_factors(const std::vector<float>& activation, const std::vector<float>& weights);

/// For each i8 output of an activation in `maxima`: adds the factors to its op's epilogue, and their inverses to the
/// constants of its readers. Skips activations with readers whose weights are ternary, also looked up (tied output
/// layers) or multiplied with other activations (layers that share weights). Requires a graph with quantized
/// activations; does nothing without maxima.
void migrate_outliers(Graph& graph, const ColumnMaxima& maxima);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_
