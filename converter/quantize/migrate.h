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

/// Largest |value| of each column of an f32 activation over calibration texts, by the activation's name.
using ColumnMaxima = std::map<std::string, std::vector<float>>;

/// Names of the activations whose outliers may move: outputs of a norm that linear weights read. SSA graph.
std::vector<std::string> migratable(const Graph& graph);

/// Factors of one activation's columns: sqrt(sqrt(a^3 / w)), a the column's maximum and w that of the weights
/// that read it (strength 0.75: of 0.3, 0.5, 0.7 and 0.85, 0.7 did best on all-MiniLM-L6-v2 and SST-2). Only
/// correctly rounded operations, so every machine writes the same bytes. Columns that are always zero: 1.
std::vector<float> migration_factors(const std::vector<float>& activation, const std::vector<float>& weights);

/// For each i8 store of an activation in `maxima`: gives its op's tail the factors and its readers' constants the
/// inverse. Left alone where a reader's weights are also looked up (tied output layers). To be called on a graph
/// with quantised activations; does nothing without maxima.
void migrate_outliers(Graph& graph, const ColumnMaxima& maxima);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_MIGRATE_H_
