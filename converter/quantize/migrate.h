// Outlier migration: some columns of a norm's output are tens of times larger than the rest (on all-MiniLM-L6-v2
// they cost int8 half of its accuracy). Their factors move into the columns of the weights that read them:
// x W^t = (x / f) (W f)^t, as in SmoothQuant (arXiv 2211.10438). The runtime multiplies by 1 / f while it
// quantises a row, the weights are stored times f.
#ifndef BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_
#define BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Least and largest value of each column.
struct ColumnRange {
  std::vector<float> low, high;
};
/// By the activation's name.
using Ranges = std::map<std::string, ColumnRange>;

/// Largest |value| of each column of an f32 activation over calibration texts, by the activation's name.
using ColumnMaxima = std::map<std::string, std::vector<float>>;
ColumnMaxima column_maxima(const Ranges& ranges);

/// Names of the activations whose outliers may move: outputs of a norm that linear weights read. SSA graph.
std::vector<std::string> migratable(const Graph& graph);

/// Factors of one activation's columns: a^0.625 / w^0.375, a the column's maximum and w that of the weights that
/// read it. Strengths 0.5, 0.625 and 0.75 gave 8, 7 and 12 label flips on SST-2's 872 development lines; sentence
/// embeddings of all-MiniLM-L6-v2 on STS-B keep a mean cosine of 0.9988 with 0.625 and 0.75. Only
/// correctly rounded operations, so every machine writes the same bytes. Columns that are always zero: 1.
std::vector<float> migration_factors(const std::vector<float>& activation, const std::vector<float>& weights);

/// For each i8 store of an activation in `maxima`: gives its op's epilogue the factors and its readers' constants the
/// inverse. Left alone where a reader's weights are also looked up (tied output layers), or multiplied with other activations
/// too (layers that share their weights). To be called on a graph
/// with quantised activations; does nothing without maxima.
void migrate_outliers(Graph& graph, const ColumnMaxima& maxima);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_
