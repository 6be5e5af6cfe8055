// The static form of a graph (`Integer` in the schema): every activation int8 with scales that calibration fixes,
// requantisation, softmax, layer norm and activation functions in integers.
#ifndef BANTAM_CONVERTER_QUANTIZE_STATIC_H_
#define BANTAM_CONVERTER_QUANTIZE_STATIC_H_

#include "quantize/static_ranges.h"

namespace bantam::convert {

/// Throws Error (unsupported) naming everything in an importer's graph that has no static form.
void check_static(const Graph& graph);

/// The same function as `graph`, with what epilogues compute between their steps as activations of their own: NAME.linear
/// before activation and residual, NAME.sum before a norm. For measure_static.
Graph unfuse(const Graph& graph);

/// Rewrites all ops to their static form. An importer's graph that check_static accepts, its tied weights merged;
/// `ranges` of its unfused form.
void make_static(Graph& graph, const StaticRanges& ranges);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_STATIC_H_
