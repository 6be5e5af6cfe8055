// build: converts the importer's graph to the bytes of a .bantam file.
#ifndef BANTAM_CONVERTER_PACK_BUILD_H_
#define BANTAM_CONVERTER_PACK_BUILD_H_

#include <string>
#include <vector>

#include "format/file.h"
#include "graph/graph.h"
#include "quantize/migrate.h"
#include "quantize/round.h"
#include "quantize/types.h"

namespace bantam::convert {

struct StaticRanges;

struct Built {
  FileBytes bytes;  // empty if bytes are only counted
  uint64_t file_bytes = 0;
  /// The graph of the file: stored types, errors, offsets. Constants still hold source values.
  Graph graph;
  /// Names of the passes that ran, in order.
  std::vector<std::string> passes;
};

/// Measurements of a graph on calibration texts. A pass whose measurement is empty is skipped.
struct Measured {
  ColumnMaxima maxima;   // for migrating outliers into the weights
  InputMoments moments;  // for rounding weights to minimize the error of layer outputs
  std::function<void(double)> rounding = [](double) {};
};

/// Runs all passes on a copy of `graph`, writes the file's bytes and opens them with Model::open. The same graph,
/// options and measurements give the same bytes. Throws Error. Memory: the file's bytes, in the location `in`, and some
/// rows of each matrix.
Built build_model(const Graph& graph, const TypeOptions& options, const Measured& measured = {},
                  DataSection::In in = DataSection::In::kMemory);

/// Builds with static quantization, from the ranges of `graph` in its unfused form (quantize/static_ranges.h). `small`:
/// for the small plan, with a `graph` from split_for_small_plan. `options` determines which layers are sparse; weights
/// are int8 in any case.
Built build_static(const Graph& graph, const StaticRanges& ranges, bool small = false, const TypeOptions& options = {});

/// Returns an equivalent graph with queries separate from keys and values, so that each part is calibrated under its
/// own name.
Graph split_for_small_plan(const Graph& graph);

/// Builds the model and returns only the file's bytes.
FileBytes build(const Graph& graph, const TypeOptions& options = {}, DataSection::In in = DataSection::In::kMemory);
/// Returns the size of these bytes.
uint64_t size_of_build(const Graph& graph, const TypeOptions& options);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PACK_BUILD_H_
