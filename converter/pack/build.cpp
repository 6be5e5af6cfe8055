#include "pack/build.h"

#include <functional>
#include <utility>

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

/// Runs the passes that all forms share, with `quantize`, which sets the types of constants and activations, between
/// them. `small`: makes steps for the small plan.
Built run_passes(const Graph& graph, bool small, DataSection::In in, const std::function<void(Built&)>& quantize) {
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
  uint64_t front = 0;
  // In memory the data can be moved later; in a scratch file everything is written to its final position.
  if (in == DataSection::In::kScratch) {
    const DataSection counted = lay_out(g, DataSection::In::kNothing);
    front = size_of_file(g.model, counted) - counted.size();
  }
  run_pass(built, "lay out constants", [&] { data = lay_out(g, in, front); });
  built.file_bytes = size_of_file(g.model, data);
  if (in == DataSection::In::kNothing) return built;
  run_pass(built, "write", [&] { built.bytes = assemble_file(g.model, std::move(data)); });
  run_pass(built, "verify", [&] { check_file(built.bytes); });
  return built;
}

}  // namespace

Built build_model(const Graph& graph, const TypeOptions& options, const Measured& measured, DataSection::In in) {
  return run_passes(graph, options.small_plan(), in, [&](Built& built) {
    Graph& g = built.graph;
    run_pass(built, "choose types", [&] { choose_types(g, options); });
    if (options.small_plan()) run_pass(built, "split queries", [&] { split_queries(g); });
    // Skipped for small plans, which never hold all of attention's f32 output rows.
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
  merge_tied(result);  // layers that share weights also share their parts
  split_queries(result);
  return result;
}

Built build_static(const Graph& graph, const StaticRanges& ranges, bool small, const TypeOptions& options) {
  return run_passes(graph, small, DataSection::In::kMemory, [&](Built& built) {
    Graph& g = built.graph;
    run_pass(built, "choose types", [&] { choose_types(g, {}); });
    // Also for small plans: attention's rows are i8 and reuse the storage of the residual.
    run_pass(built, "pool early", [&] { pool_early(g); });
    run_pass(built, "integers only", [&] { make_static(g, ranges); });
    run_pass(built, "choose sparse layers", [&] { choose_sparse(g, options); });
  });
}

FileBytes build(const Graph& graph, const TypeOptions& options, DataSection::In in) {
  return build_model(graph, options, {}, in).bytes;
}

uint64_t size_of_build(const Graph& graph, const TypeOptions& options) {
  return build_model(graph, options, {}, DataSection::In::kNothing).file_bytes;
}

}  // namespace bantam::convert
