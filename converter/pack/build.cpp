#include "pack/build.h"

#include <functional>

#include "graph/access.h"
#include "graph/tensor_classes.h"
#include "pack/layout.h"
#include "pack/lower.h"
#include "pack/plan.h"
#include "prune/costs.h"
#include "quantize/static.h"

namespace bantam::convert {
namespace {

template <typename Run>
void run_pass(Built& built, const char* name, const Run& run) {
  run();
  built.passes.emplace_back(name);
}

/// The passes that every form shares, around `quantize`, which gives constants and activations their types. `small`: steps
/// for the small plan.
Built run_passes(const Graph& graph, bool small, const std::function<void(Built&)>& quantize) {
  Built built;
  built.graph = clone(graph);
  Graph& g = built.graph;
  run_pass(built, "merge tied weights", [&] { merge_tied(g); });
  quantize(built);
  tag_constants(g);
  run_pass(built, "make steps", [&] { make_steps(g, small); });
  run_pass(built, "share storage", [&] { share_storage(g); });
  run_pass(built, "plan memory", [&] { plan_memory(g); });
  DataSection data;
  run_pass(built, "lay out constants", [&] { data = lay_out(g); });
  run_pass(built, "write", [&] { built.bytes = assemble_file(g.model, data.bytes()); });
  run_pass(built, "verify", [&] { check_file(built.bytes); });
  return built;
}

}  // namespace

Built build_model(const Graph& graph, const TypeOptions& options, const Measured& measured) {
  return run_passes(graph, options.small_plan(), [&](Built& built) {
    Graph& g = built.graph;
    run_pass(built, "choose types", [&] { choose_types(g, options); });
    if (options.small_plan()) run_pass(built, "split queries", [&] { split_queries(g); });
    // Small plans never hold all rows that attention gives.
    if (!options.small_plan()) run_pass(built, "pool early", [&] { pool_early(g); });
    run_pass(built, "quantize activations", [&] { quantize_activations(g, options.residual); });
    if (!measured.maxima.empty()) run_pass(built, "migrate outliers", [&] { migrate_outliers(g, measured.maxima); });
    run_pass(built, "choose sparse layers", [&] { choose_sparse(g, options); });
    if (measured.moments.empty()) return;
    run_pass(built, "round weights", [&] { round_weights(g, measured.moments, measured.rounding); });
  });
}

Graph split_for_small_plan(const Graph& graph) {
  Graph result = clone(graph);
  merge_tied(result);  // layers that share weights share their pieces
  split_queries(result);
  return result;
}

Built build_static(const Graph& graph, const StaticRanges& ranges, bool small) {
  return run_passes(graph, small, [&](Built& built) {
    Graph& g = built.graph;
    run_pass(built, "choose types", [&] { choose_types(g, {}); });
    run_pass(built, "integers only", [&] { make_static(g, ranges); });
  });
}

FileBytes build(const Graph& graph, const TypeOptions& options) { return build_model(graph, options).bytes; }

}  // namespace bantam::convert
