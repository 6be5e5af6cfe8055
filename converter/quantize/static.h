// The static form of a graph (`Integer` in the schema): all activations are int8 with scales that calibration
// determines; requantization, softmax, layer norm and activation functions use integers.
#ifndef BANTAM_CONVERTER_QUANTIZE_STATIC_H_
#define BANTAM_CONVERTER_QUANTIZE_STATIC_H_

#include "quantize/static_ranges.h"

namespace bantam::convert {

/// Throws Error (unsupported) that lists everything in an importer's graph that has no static form.
void check_static(const Graph& graph);

/// Returns an equivalent graph in which intermediate values of epilogues are activations of their own: NAME.linear
/// before activation and residual, NAME.sum before a norm. For measure_static.
Graph unfuse(const Graph& graph);

/// Rewrites all ops to their static form. `graph` is an importer's graph that check_static accepts, with merged tied
/// weights; `ranges` are those of its unfused form.
void make_static(Graph& graph, const StaticRanges& ranges);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_STATIC_H_
